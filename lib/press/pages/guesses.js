// Guess first: the first choice that a reader opens is the guess, and this script remembers it. The
// rest needs no script: a choice is a <details>, colored once it is open, and the browser closes the
// others of the same guess.
(() => {
  "use strict";
  const boxes = [...document.querySelectorAll(".admonition.guess[id]")];
  if (!boxes.length) return;
  const memory = window.memoryOf("guesses");
  const firsts = new Map(); // of each box, the choice that was opened first

  // How the reader stands, in words.
  const standing = (right, made, total) => {
    const rest = total - made;
    const more = rest === 0 ? "" : `; ${rest} more to make`;
    return `First guesses on this page: ${right} of ${made} right${more}.`;
  };

  const choicesOf = (box) => [...box.querySelectorAll("details.choice")];

  const lines = boxes.map((box) => {
    const line = document.createElement("div");
    const words = document.createElement("span");
    const again = document.createElement("button");
    line.className = "standing";
    words.setAttribute("role", "status");
    again.type = "button";
    again.textContent = "Start over";
    again.hidden = true;
    again.addEventListener("click", () => {
      for (const other of boxes) {
        memory.keep(other.id, undefined);
        for (const choice of choicesOf(other)) {
          choice.classList.remove("tried");
          choice.open = false;
        }
      }
      firsts.clear();
      show();
      choicesOf(box)[0].querySelector("summary").focus();
    });
    line.append(words, again);
    box.append(line);
    return { box, words, again };
  });

  const show = () => {
    const right = [...firsts.values()].filter((choice) => choice.matches(".right")).length;
    const text = standing(right, firsts.size, boxes.length);
    for (const { box, words, again } of lines) {
      words.textContent = firsts.has(box) ? text : "";
      again.hidden = !firsts.has(box);
    }
  };

  const kept = memory.recall();
  for (const box of boxes) {
    const choices = choicesOf(box);
    choices.forEach((choice, number) => {
      if (kept[box.id] === number) {
        firsts.set(box, choice);
        choice.classList.add("tried");
      }
      choice.addEventListener("toggle", () => {
        if (!choice.open) return;
        choice.classList.add("tried");
        if (firsts.has(box)) return;
        window.met(box.id);
        firsts.set(box, choice);
        memory.keep(box.id, number);
        show();
      });
    });
  }
  show();
})();
