// Flash cards one at a time. Without this script the cards of a chapter are a list, and each opens by
// itself; here a button shows only one of them, and two more say whether it was known. A card that was
// not known comes back after three others. Nothing is kept: the calendar is Anki's business.
(() => {
  "use strict";
  const LATER = 3; // cards between a miss and the next try

  const element = (name, properties = {}, ...children) => {
    const node = Object.assign(document.createElement(name), properties);
    node.append(...children);
    return node;
  };
  const button = (text, act) => element("button", { type: "button", textContent: text, onclick: act });
  const counted = (number) => `${number} card${number === 1 ? "" : "s"}`;

  const practice = (deck) => {
    const cards = [...deck.querySelectorAll(".card-fold")];
    let waiting = []; // the cards still to be asked, the present one first
    let missed = new Set();

    const words = element("span");
    words.setAttribute("role", "status");
    const start = button(`Ask me these ${counted(cards.length)}`, () => begin());
    const stop = button("Back to the list", () => end());
    const standing = element("div", { className: "standing" }, start, words, stop);
    const known = button("I knew it", () => next(true));
    const again = button("Ask me again", () => next(false));
    known.setAttribute("aria-keyshortcuts", "ArrowRight");
    again.setAttribute("aria-keyshortcuts", "ArrowLeft");
    const hint = element("span", { textContent: "or the keys → and ←" });
    const verdict = element("div", { className: "verdict", hidden: true }, known, again, hint);
    stop.hidden = true;
    deck.querySelector("h2").after(standing);

    const show = () => {
      for (const card of cards) {
        card.classList.toggle("asked", card === waiting[0]);
        card.open = false;
      }
      waiting[0].after(verdict);
      verdict.hidden = true;
      words.textContent = `${counted(waiting.length)} to go`;
      waiting[0].querySelector("summary").focus();
    };

    const begin = () => {
      waiting = [...cards];
      missed = new Set();
      deck.classList.add("one-by-one");
      start.hidden = true;
      stop.hidden = false;
      show();
    };

    const leave = (sentence) => {
      deck.classList.remove("one-by-one");
      for (const card of cards) card.open = false;
      waiting = [];
      verdict.hidden = true;
      start.hidden = false;
      stop.hidden = true;
      words.textContent = sentence;
      start.focus();
    };

    const end = () => leave("");

    const next = (right) => {
      const card = waiting.shift();
      if (!right) {
        missed.add(card);
        waiting.splice(LATER, 0, card);
      }
      if (waiting.length) return show();
      const first = cards.length - missed.size;
      leave(`Done: ${first} of ${counted(cards.length)} known at the first try.`);
    };

    for (const card of cards) {
      card.addEventListener("toggle", () => {
        if (card === waiting[0]) verdict.hidden = !card.open;
      });
    }
    deck.addEventListener("keydown", (event) => {
      if (!waiting.length || event.altKey || event.ctrlKey || event.metaKey) return;
      if (event.key === "Escape") end();
      else if (event.key === "ArrowRight" && waiting[0].open) next(true);
      else if (event.key === "ArrowLeft" && waiting[0].open) next(false);
      else return;
      event.preventDefault();
    });
  };

  for (const deck of document.querySelectorAll(".card-deck")) practice(deck);
})();
