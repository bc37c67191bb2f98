// A field above the lists of the appendix: what is typed narrows them, and a chapter, of topics an area, opens
// where a row is left. A link to a row opens the chapter around it, and paper gets all chapters open.
(() => {
  "use strict";
  const folds = [...document.querySelectorAll("details.fold-rows")];
  if (!folds.length) return;

  const plain = (text) => text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();
  // Of a formula, what was written: its rendering repeats it twice.
  const textOf = (parts) =>
    parts
      .map((part) => {
        const copy = part.cloneNode(true);
        for (const formula of copy.querySelectorAll(".katex"))
          formula.replaceWith(formula.querySelector("annotation")?.textContent ?? "");
        return copy.textContent;
      })
      .join(" ");
  // A row is what is shown and hidden together: an item, or a term with its definition.
  const rowsOf = (fold) =>
    [...fold.querySelectorAll(".source-map > li, .errata > dt")].map((first) =>
      first.matches("dt") ? [first, first.nextElementSibling] : [first],
    );
  const chapters = folds.map((fold) => {
    const section = fold.closest("section");
    const heading = section.querySelector("h2");
    return { fold, section, rows: rowsOf(fold), heading: heading.firstChild.textContent };
  });
  const [one, many, part, parts] = folds[0].querySelector(".errata")
    ? ["erratum", "errata", "chapter", "chapters"]
    : folds[0].querySelector(".topics")
      ? ["topic", "topics", "area", "areas"]
      : ["row", "rows", "chapter", "chapters"];
  const total = chapters.reduce((sum, { rows }) => sum + rows.length, 0);
  let texts; // of each row of each chapter, once somebody types
  const read = () =>
    chapters.map(({ rows, heading }) => rows.map((row) => plain(`${heading} ${textOf(row)}`)));

  const box = document.createElement("form");
  box.className = "row-filter";
  box.setAttribute("role", "search");
  const [label, field, button, told] = ["label", "input", "button", "p"].map((name) =>
    document.createElement(name),
  );
  const id = chapters[0].rows[0][0].querySelector(".map-id, .erratum-id");
  const example = id ? `softmax, S3, ${id.textContent} …` : "cache, left out …";
  Object.assign(label, { htmlFor: "row-filter", textContent: `Show only ${many} with` });
  Object.assign(field, { id: "row-filter", type: "search", autocomplete: "off", spellcheck: false });
  Object.assign(field, { placeholder: example });
  Object.assign(button, { type: "button", textContent: "Open all" });
  told.setAttribute("role", "status");
  box.append(label, " ", field, " ", button, " ", told);
  chapters[0].section.before(box);

  const named = () => {
    const every = chapters.every(({ fold, section }) => fold.open || section.hidden);
    button.textContent = every ? "Close all" : "Open all";
  };
  let wasOpen; // the chapters that were open when the reader began to type

  const narrow = () => {
    const asked = plain(field.value).split(/\s+/).filter(Boolean);
    if (asked.length) texts ??= read();
    if (asked.length) wasOpen ??= folds.map(({ open }) => open);
    let left = 0;
    let within = 0;
    chapters.forEach(({ fold, section, rows }, chapter) => {
      let here = 0;
      rows.forEach((row, index) => {
        const hit = asked.every((word) => texts[chapter][index].includes(word));
        for (const part of row) part.hidden = !hit;
        here += hit;
      });
      section.hidden = !here;
      fold.open = asked.length ? here > 0 : (wasOpen?.[chapter] ?? fold.open);
      left += here;
      within += here > 0;
    });
    if (!asked.length) {
      wasOpen = undefined;
      told.textContent = "";
    } else if (left) {
      told.textContent = `${left} of ${total} ${many} left, in ${within} ${within === 1 ? part : parts}.`;
    } else {
      told.textContent = `No ${one} has all of these words. Try fewer, or a part of one.`;
    }
    named();
  };
  field.addEventListener("input", narrow);
  box.addEventListener("submit", (event) => event.preventDefault());
  button.addEventListener("click", () => {
    const open = button.textContent === "Open all";
    for (const { fold, section } of chapters) if (!section.hidden) fold.open = open;
    named();
  });
  for (const fold of folds) fold.addEventListener("toggle", named);

  // A link to a chapter opens it; one to a row opens what is around, and shows what the filter hides.
  const openTarget = () => {
    const target = document.getElementById(window.decodedAddress(location.hash.slice(1)));
    const found = chapters.find(({ section }) => target && section.contains(target));
    if (!found) return;
    if (target.hidden || found.section.hidden) {
      field.value = "";
      narrow();
    }
    found.fold.open = true;
    target.scrollIntoView({ behavior: "instant" });
  };
  addEventListener("hashchange", openTarget);
  openTarget();

  let before;
  addEventListener("beforeprint", () => {
    before = folds.map(({ open }) => open);
    for (const fold of folds) fold.open = true;
  });
  addEventListener("afterprint", () => folds.forEach((fold, index) => (fold.open = before[index])));
})();
