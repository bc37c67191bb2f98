// What asks on a page: each kind of box says how it begins, from what was answered before, and tells when it
// is answered. On its page the first answer is kept in this browser; the page Today asks anew.
(() => {
  "use strict";
  const kinds = []; // pairs of a selector and what begins a box of this kind
  const memory = window.memoryOf("questions");
  const kept = memory.recall();

  // Whoever meets a question meets it again, on the page Today: from this day on its days are counted.
  window.met = (name) => {
    const review = window.memoryOf("review");
    if (!Object.hasOwn(review.recall(), name)) review.keep(name, [0, Date.now()]);
  };

  // `begin(box, said, told)`: `told(said, right)` may come several times, of which the first one counts; for
  // what nobody can judge but the reader, `right` is undefined. With "" nothing was said: the answer was shown.
  // A third argument is kept in the place of what was said first.
  window.askable = (selector, begin) => kinds.push([selector, begin]);
  // Asked anew, choices stand in another order: what is remembered should be the answer, not its place.
  const shuffle = (choices) => {
    const places = choices.map((choice) => {
      const place = document.createComment("");
      choice.replaceWith(place);
      return place;
    });
    for (const place of places)
      place.replaceWith(...choices.splice(Math.floor(Math.random() * choices.length), 1));
  };
  window.askAnew = (box, told) => {
    for (const [selector, begin] of kinds) if (box.matches(selector)) begin(box, "", told);
    shuffle([...box.querySelectorAll(":scope > .choice")]);
  };
  window.asker = (selector, begin) => {
    window.askable(selector, begin);
    for (const box of document.querySelectorAll(selector)) {
      let first = window.keptText(kept[box.id]);
      begin(box, first, (said, _, instead = "") => {
        window.met(box.id);
        if (!said || (first && !instead)) return;
        first = instead || said;
        memory.keep(box.id, first);
      });
    }
  };

  // A choice: the first one that is opened is the answer.
  const choose = (box, said, told) => {
    box.querySelectorAll(":scope > .choice").forEach((choice, number) => {
      choice.classList.toggle("tried", said === String(number));
      choice.addEventListener("toggle", () => {
        if (!choice.open) return;
        choice.classList.add("tried");
        told(String(number), choice.matches(".right"));
      });
    });
  };
  window.asker(".admonition:is(.question, .task):has(> .choice)", choose);
  window.askable(".admonition.guess", choose); // on its own page it counts: guesses.js

  // An answer that no field can take: who opens it has looked.
  window.asker(".admonition.task:has(> .fold-answer):not(:has(> form))", (box, _, told) => {
    const fold = box.querySelector(".fold-answer");
    fold.addEventListener("toggle", () => fold.open && told("seen", undefined));
  });
})();
