// Exercises answered on the page: the form holds the exercise as data, this script compares and shows
// the sentence that the check prints in Jupyter, word for word.
(() => {
  "use strict";

  // What Python replies to this answer. Text that is no number is told what is expected, and why.
  const replyToNumber = (exercise, text) => {
    const { right, within, low, high, wrong } = exercise;
    const because = (problem) => exercise.expected + (problem && `; ${problem}`);
    const near = (number, value) => Math.abs(value - number) <= within;
    const { value, problem } = window.readNumber(text, exercise.expects);
    const joined = text.trim().replaceAll(".", "");
    if (/^[+-]?\d{1,3}(?:\.\d{3})+$/.test(text.trim()) && near(right, Number(joined)))
      return because(`a point begins decimals; write ${joined}`);
    if (value === undefined) return because(problem);
    if (!(low <= value && value <= high))
      return because(/\d,\d/.test(text) ? "a comma groups thousands, decimals follow a point" : "");
    if (near(right, value)) return exercise.solved;
    return wrong.find(([number]) => near(number, value))?.[1] ?? exercise.otherwise;
  };

  const replyToChoice = (exercise, letter) =>
    Object.hasOwn(exercise.replies, letter) ? exercise.replies[letter] : exercise.expected;

  window.pageAnswers = { replyToNumber, replyToChoice }; // the tests call them

  // As `askable` of asking.js wants it. What is no answer yet is kept, so that it is there again, and no more.
  const begin = (form, before, told) => {
    const exercise = JSON.parse(form.dataset.exercise);
    const line = form.querySelector(".reply");
    const field = form.elements[0].matches("fieldset") ? form.elements[1].name : form.elements[0].name;
    const given = () => form.elements[field].value;
    const answer = () => {
      const reply = exercise.replies ? replyToChoice(exercise, given()) : replyToNumber(exercise, given());
      line.textContent = reply;
      form.dataset.state = reply.startsWith("✓") ? "held" : "failed";
      return !reply.startsWith(exercise.expected);
    };
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const isAnswer = answer();
      told(window.keptText(given()), form.dataset.state === "held", isAnswer);
    });
    // What was said of one answer is not said of the next one.
    form.addEventListener("input", () => {
      line.textContent = "";
      delete form.dataset.state;
    });
    if (before) {
      form.elements[field].value = before;
      if (given()) answer();
    }
  };

  // Asked anew, an exercise is judged by its first answer that makes sense.
  window.askable("form.page-answer", (form, before, told) =>
    begin(form, before, (said, right, isAnswer) => isAnswer && told(said, right)),
  );
  const memory = window.memoryOf("answers");
  const kept = memory.recall();
  for (const form of document.querySelectorAll("form.page-answer")) {
    const { number } = JSON.parse(form.dataset.exercise);
    begin(form, window.keptText(kept[number]), (said, _, isAnswer) => {
      if (isAnswer) window.met(number);
      memory.keep(number, said);
    });
  }
})();
