// Exercises answered on the page: the form holds the exercise as data, this script compares and shows
// the sentence that the check prints in Jupyter, word for word.
(() => {
  "use strict";
  const AGAIN = "Once more, with other numbers";
  const made = (name, properties) => Object.assign(document.createElement(name), properties);

  // What Python replies to this answer. Text that is no number is told what is expected, and why.
  const replyToNumber = (exercise, text) => {
    const { right, within, low, high, wrong } = exercise;
    const because = (problem) => exercise.expected + (problem && `; ${problem}`);
    const near = (number, value) => Math.abs(value - number) <= within * (1 + 1e-6); // 0.38 is 0.005 from 0.375
    const { value, problem } = window.readNumber(text, exercise.expects);
    const [joined, pointed] = [text.trim().replaceAll(".", ""), text.trim().replace(",", ".")];
    if (/^[+-]?\d{1,3}(?:\.\d{3})+$/.test(text.trim()) && near(right, Number(joined)))
      return because(`a point begins decimals; write ${joined}`);
    if (/^[+-]?\d{1,3},\d{3}$/.test(text.trim()) && !near(right, value) && near(right, Number(pointed)))
      return because(`a comma groups thousands, decimals follow a point; write ${pointed}`);
    if (value === undefined) return because(problem);
    if (!(low <= value && value <= high))
      return because(/\d,\d/.test(text) ? "a comma groups thousands, decimals follow a point" : "");
    if (near(right, value)) return exercise.solved;
    const mistake = wrong.find(([number]) => near(number, value))?.[1];
    const rounded =
      Math.abs(value - right) <= exercise.reach * (1 + 1e-6) ? exercise.rounded : exercise.otherwise;
    return mistake ?? rounded;
  };

  const replyToChoice = (exercise, letter) =>
    Object.hasOwn(exercise.replies, letter) ? exercise.replies[letter] : exercise.expected;

  window.pageAnswers = { replyToNumber, replyToChoice }; // the tests call them

  // What an exercise has besides that has other numbers, or is asked anew: its question in words, and two buttons.
  const partsBeside = (name) => {
    const question = made("p", { className: "question", id: `${name}-question`, hidden: true });
    const show = made("button", { type: "button", textContent: "Show the answer", hidden: true });
    const again = made("button", { type: "button", textContent: AGAIN, hidden: true });
    return { question, show, again, seen: false }; // seen: the answer of the page, in its fold
  };

  // The fold with the solution of the page's own numbers, before the next exercise.
  const solutionOf = (form) => {
    let next = form.nextElementSibling;
    while (next && !next.matches(".page-answer, .exercise")) {
      if (next.matches("details.fold-solution")) return next;
      next = next.nextElementSibling;
    }
    return null;
  };

  const memory = window.memoryOf("answers");
  const nameOf = (number, place) => (place ? `${number}#${place}` : number); // of an answer that is kept

  // As `askable` of asking.js wants it. What is no answer yet is kept, so that it is there again, and no more.
  const begin = (form, before, told, anew = false) => {
    const first = JSON.parse(form.dataset.exercise);
    const { number } = first;
    let posed = first; // the variant that is asked now, and its place among all
    let place = 0;
    const line = form.querySelector(".reply");
    const field = form.elements[0].matches("fieldset") ? form.elements[1].name : form.elements[0].name;
    const given = () => form.elements[field].value;
    const varied = Boolean(form.dataset.variants);
    const parts = varied || anew ? partsBeside(field) : null;
    // What stands there belongs to this state: "" before anything is said, "held", "failed" or "shown".
    const say = (text, state) => {
      line.textContent = text;
      if (state) form.dataset.state = state;
      else delete form.dataset.state;
      if (!parts) return;
      const known = state === "held" || state === "shown";
      parts.show.hidden = (place === 0 && !anew) || known;
      parts.again.hidden = !varied || (!known && !parts.seen);
    };
    const answer = () => {
      const reply = posed.replies ? replyToChoice(posed, given()) : replyToNumber(posed, given());
      say(reply, reply.startsWith("✓") ? "held" : "failed");
      return !reply.startsWith(posed.expected);
    };
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const isAnswer = answer();
      if (place > 0) memory.keep(nameOf(number, place), window.keptText(given()));
      told(window.keptText(given()), form.dataset.state === "held", isAnswer, place);
    });
    // What was said of one answer is not said of the next one.
    form.addEventListener("input", () => say("", ""));

    // Ask with numbers that were not answered yet, or with those that come next.
    const poseAnother = async () => {
      const { [number]: variants } = await window.besidePage("variants", form.dataset.variants);
      if (!variants) return false;
      const kept = memory.recall();
      const order = variants.map((_, i) => (place + 1 + i) % variants.length);
      place = order.find((i) => !Object.hasOwn(kept, nameOf(number, i))) ?? order[0];
      posed = variants[place];
      parts.seen = false;
      parts.question.textContent = posed.question;
      parts.question.hidden = false;
      form.elements[field].setAttribute("aria-describedby", parts.question.id);
      form.elements[field].value = "";
      say("", "");
      form.elements[field].focus({ preventScroll: true });
      return true;
    };
    if (parts) {
      form.append(parts.show, line, parts.again);
      form.prepend(parts.question);
      parts.show.addEventListener("click", () => {
        say(posed.shown, "shown");
        told("", false, true, place);
        (varied ? parts.again : form.querySelector("[type=submit]")).focus();
      });
      parts.again.addEventListener("click", async () => {
        if (!(await poseAnother())) say("The other numbers cannot be read: their file is missing.", "shown");
      });
      solutionOf(form)?.addEventListener("toggle", ({ target }) => {
        if (!target.open || place > 0) return;
        parts.seen = true;
        parts.again.hidden = false;
      });
    }
    if (anew) say("", "");
    if (before) {
      form.elements[field].value = before;
      if (given()) answer();
    }
    return poseAnother;
  };

  // Asked anew, an exercise has other numbers, and is judged by its first answer that makes sense; who has none
  // is shown it.
  window.askable("form.page-answer", (form, before, told) => {
    const poseAnother = begin(form, before, (said, right, isAnswer) => isAnswer && told(said, right), true);
    if (!form.dataset.variants) return;
    form.inert = true; // until they are there
    poseAnother()
      .then((posed) => form.previousElementSibling?.classList.toggle("other-numbers", posed)) // its exercise
      .finally(() => {
        form.inert = false;
        form.querySelector("input").focus({ preventScroll: true });
      });
  });
  const kept = memory.recall();
  const firsts = window.memoryOf("firsts"); // of each exercise, whether the first answer was right: 1 or 0
  for (const form of document.querySelectorAll("form.page-answer")) {
    const { number } = JSON.parse(form.dataset.exercise);
    const before = window.keptText(kept[number]);
    const typed = before.startsWith("✓") ? "" : before; // else it was solved in its cell: solved.js
    begin(form, typed, (said, right, isAnswer, place) => {
      if (place === 0) memory.keep(number, said);
      if (!isAnswer) return;
      window.met(number);
      if (said && place === 0 && !Object.hasOwn(firsts.recall(), number)) firsts.keep(number, Number(right));
    });
  }
})();
