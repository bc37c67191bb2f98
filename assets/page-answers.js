// Exercises answered on the page: the form holds the exercise as data, this script compares and shows
// the sentence that the check prints in Jupyter, word for word.
(() => {
  "use strict";

  const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i;

  // The number that a reader typed, or null. A fraction is a number, too, as it is in Python.
  const readNumber = (text) => {
    const parts = text.replaceAll("−", "-").replaceAll(/[\s_]/g, "").split("/");
    if (parts.length > 2 || !parts.every((part) => NUMBER.test(part))) return null;
    const [over, under = 1] = parts.map(Number);
    return under === 0 ? null : over / under;
  };

  // What Python replies to this answer. Text that is no number is told what is expected.
  const replyToNumber = (exercise, text) => {
    const { right, within, low, high, wrong } = exercise;
    const value = readNumber(text);
    if (value === null) {
      const comma = /\d,\d/.test(text) ? "; decimals follow a point, not a comma" : "";
      return exercise.expected + comma;
    }
    if (!(low <= value && value <= high)) return exercise.expected;
    if (Math.abs(value - right) <= within) return exercise.solved;
    const named = wrong.find(([number]) => Math.abs(value - number) <= within);
    return named ? named[1] : exercise.otherwise;
  };

  const replyToChoice = (exercise, letter) =>
    Object.hasOwn(exercise.replies, letter) ? exercise.replies[letter] : exercise.expected;

  window.pageAnswers = { readNumber, replyToNumber, replyToChoice }; // the tests call them

  const forms = document.querySelectorAll("form.page-answer");
  if (!forms.length) return;
  const memory = window.memoryOf("answers");
  const kept = memory.recall();
  for (const form of forms) {
    const exercise = JSON.parse(form.dataset.exercise);
    const line = form.querySelector(".reply");
    const field = form.elements[0].matches("fieldset") ? form.elements[1].name : form.elements[0].name;
    const given = () => form.elements[field].value;
    const answer = () => {
      const reply = exercise.replies ? replyToChoice(exercise, given()) : replyToNumber(exercise, given());
      line.textContent = reply;
      form.dataset.state = reply.startsWith("✓") ? "held" : "failed";
    };
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      answer();
      memory.keep(exercise.number, window.keptText(given()));
    });
    // What was said of one answer is not said of the next one.
    form.addEventListener("input", () => {
      line.textContent = "";
      delete form.dataset.state;
    });
    const before = window.keptText(kept[exercise.number]);
    if (before) {
      form.elements[field].value = before;
      if (given()) answer();
    }
  }
})();
