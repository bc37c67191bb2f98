// An exercise whose cell was run in the page and held counts as answered. When the page is opened again, it says
// so, and of which code: what holds is the code, and a reader may have changed it since.
(() => {
  "use strict";
  const SOLVED = "✓"; // what is kept in the place of an answer that was typed, and a number made of the code
  const places = document.querySelectorAll(".tag_exercise > .run-place");
  if (!places.length) return;
  const memory = window.memoryOf("answers");
  const kept = memory.recall();
  const markOf = (code) => {
    let number = 0;
    for (const letter of code.trimEnd()) number = (Math.imul(number, 31) + letter.codePointAt(0)) | 0;
    return `${SOLVED} ${number}`;
  };
  const wordsFor = (mark, code) => {
    if (mark === SOLVED) return "You have solved it before."; // kept by an earlier edition: nobody knows how
    return mark === markOf(code) ? "You have solved it." : "You have solved it, last with other code.";
  };
  for (const place of places) {
    const number = /Exercise ([\d.]+) waits/.exec(place.parentElement.textContent)?.[1];
    const mark = number && kept[number];
    if (mark !== SOLVED && !/^✓ -?\d+$/.test(mark)) continue;
    const status = place.querySelector("[role=status]");
    const words = wordsFor(mark, place.dataset.changed ?? window.runInPage.printed(place));
    status.textContent = words;
    // Who goes on to change the code is not praised for what is not run yet.
    place.addEventListener("run-in-page-changed", () => {
      if (status.textContent === words) status.textContent = "";
    });
  }
  document.addEventListener("run-in-page", ({ target, detail }) => {
    const [, number] = /^✓ Exercise ([\d.]+) is solved/m.exec(detail.printed ?? "") ?? [];
    const before = number && memory.recall()[number];
    const typed = before && !before.startsWith(SOLVED); // an answer beside the cell, which stays
    if (number && !typed && target.closest(".tag_exercise")) memory.keep(number, markOf(detail.code));
  });
})();
