// The page of what this browser keeps of a reader: shown, taken out as a file, put back, deleted.
(() => {
  "use strict";
  const place = document.querySelector(".kept[data-chapters]");
  if (!(place instanceof HTMLElement)) return;
  const BOOK = "runnable-primer";
  const LARGEST = 1e6; // bytes of a file; a reader of all chapters has less than a twentieth
  const MOST_CHOICES = 10; // of a guess
  const MOST_STEPS = 3; // a day, a week, a month
  const NOTHING_KEPT =
    "This browser keeps nothing for this page: its storage is switched off or full. The book works all " +
    "the same. To be remembered, allow this site to store data, leave the private window, or make room.";
  const chapters = JSON.parse(place.dataset.chapters);
  const LONGEST = 20_000; // characters of a cell that a reader changed
  const names = ["progress", "guesses", "answers", "cells", "questions", "review", "firsts"];
  const needed = ["progress", "guesses", "answers"]; // the others are kept only since a later edition
  const memories = Object.fromEntries(names.map((name) => [name, window.memoryOf(name)]));
  const isObject = (value) => Boolean(value) && typeof value === "object" && !Array.isArray(value);

  // Only what a chapter would have kept itself; whatever else a storage or a file holds is left out.
  const sorted = (found) => {
    const only = (values, fits, read) =>
      Object.fromEntries(
        Object.entries(Object(values))
          .filter(([id, value]) => id === window.keptText(id) && fits(value))
          .map(([id, value]) => [id, read(value)]),
      );
    const isChoice = (value) => Number.isInteger(value) && value >= 0 && value < MOST_CHOICES;
    const isAnswer = (value) => window.keptText(value) !== "";
    const isReview = (value) => Array.isArray(value) && value.length === 2 && value.every(Number.isFinite);
    const isFirst = (value) => value === 0 || value === 1;
    const isCode = (value) => typeof value === "string" && value.length <= LONGEST;
    return {
      progress: only(found.progress, isObject, window.readProgress),
      guesses: only(found.guesses, isChoice, Number),
      answers: only(found.answers, isAnswer, window.keptText),
      cells: only(found.cells, isCode, String),
      questions: only(found.questions, isAnswer, window.keptText),
      review: only(found.review, isReview, ([step, at]) => [
        Math.min(Math.max(0, Math.trunc(step)), MOST_STEPS),
        Math.min(Math.max(0, at), Date.now()), // a time to come was told by a wrong clock
      ]),
      firsts: only(found.firsts, isFirst, Number),
    };
  };
  const recall = () => sorted(Object.fromEntries(names.map((name) => [name, memories[name].recall()])));
  // All of it or nothing: where the storage fills up half-way, what was there before returns.
  const replace = (kept) => {
    const before = names.map((name) => memories[name].recall());
    if (names.every((name) => memories[name].replace(kept[name]))) return true;
    names.forEach((name) => memories[name].replace({}));
    names.forEach((name, i) => memories[name].replace(before[i]));
    return false;
  };
  const storageWorks = () => {
    const probe = window.memoryOf("probe");
    const works = probe.keep("room", "for one more answer");
    return probe.replace({}) && works;
  };

  const element = (name, properties = {}, ...children) => {
    const node = Object.assign(document.createElement(name), properties);
    node.append(...children);
    return node;
  };
  const button = (text, act) => element("button", { type: "button", textContent: text, onclick: act });
  const told = element("p", { className: "told" });
  told.setAttribute("role", "status");

  const body = element("tbody");
  const heads = ["Chapter", "Sections read", "Guesses right at first", "Questions and exercises answered"];
  const headRow = element("tr", {}, ...heads.map((text) => element("th", { scope: "col" }, text)));
  const of = (some, all, none) => (all ? `${some} of ${all}` : none);
  const show = () => {
    const { progress, guesses, answers, questions } = recall();
    const rows = chapters.map((chapter) => {
      const { read } = window.readProgress(progress[chapter.name]);
      const sections = Object.keys(chapter.sections);
      const made = chapter.guesses.filter(({ id, choices }) => guesses[id] < choices);
      const right = made.filter((guess) => guesses[guess.id] === guess.right);
      const given = [
        ...chapter.exercises.filter((id) => Object.hasOwn(answers, id)),
        ...chapter.questions.filter((id) => Object.hasOwn(questions, id)),
      ];
      const cells = [
        of(sections.filter((id) => read.includes(id)).length, sections.length, "–"),
        of(right.length, made.length, chapter.guesses.length ? "none" : "–"),
        of(given.length, chapter.exercises.length + chapter.questions.length, "–"),
      ];
      const link = element("a", { href: chapter.href, textContent: chapter.heading });
      const texts = cells.map((text) => element("td", {}, text));
      return element("tr", {}, element("th", { scope: "row" }, link), ...texts);
    });
    body.replaceChildren(...rows);
  };

  const save = () => {
    const text = JSON.stringify({ book: BOOK, ...recall() }, null, 1);
    const href = URL.createObjectURL(new Blob([text], { type: "application/json" }));
    element("a", { href, download: `${BOOK}-kept.json` }).click();
    setTimeout(() => URL.revokeObjectURL(href), 60_000);
    told.textContent = `Saved as ${BOOK}-kept.json, among your downloads. Nothing here has changed.`;
  };

  // What was seen later is nearer to what the reader knows now.
  const later = (one, other) => (other && other[1] > one[1] ? other : one);

  // What a file adds. What was guessed and answered in this browser stays as it is.
  const joined = (here, file) => {
    const progress = { ...file.progress, ...here.progress };
    for (const name of Object.keys(here.progress)) {
      const one = here.progress[name];
      const other = Object.hasOwn(file.progress, name) ? file.progress[name] : one;
      const read = [...new Set([...one.read, ...other.read])];
      progress[name] = { ...(one.at < other.at ? other : one), read };
    }
    const review = { ...file.review, ...here.review };
    for (const name of Object.keys(here.review))
      if (Object.hasOwn(file.review, name)) review[name] = later(here.review[name], file.review[name]);
    return {
      progress,
      review,
      guesses: { ...file.guesses, ...here.guesses },
      answers: { ...file.answers, ...here.answers },
      cells: { ...file.cells, ...here.cells },
      questions: { ...file.questions, ...here.questions },
      firsts: { ...file.firsts, ...here.firsts },
    };
  };
  const readFile = async (file) => {
    const refused = (why) => `“${file.name}” ${why}. What this browser keeps has not changed.`;
    if (file.size > LARGEST) return refused("is larger than anything that this page saves");
    try {
      const found = JSON.parse(await file.text());
      if (!isObject(found) || found.book !== BOOK || !needed.every((name) => isObject(found[name])))
        return refused("is not a file that this page has saved");
      if (!replace(joined(recall(), sorted(found)))) return `${refused("found no room")} ${NOTHING_KEPT}`;
    } catch {
      return refused("cannot be read: it is damaged, or no file that this page has saved");
    }
    show();
    return `“${file.name}” is read, and added to what was here.`;
  };
  const chosen = element("input", { type: "file", accept: ".json,application/json", hidden: true });
  chosen.addEventListener("change", async () => {
    const [file] = chosen.files;
    if (file) told.textContent = await readFile(file);
    chosen.value = ""; // so that the same file can be chosen again
  });

  const ASK = "Delete all of it";
  const remove = button(ASK, () => {
    if (remove.textContent === ASK) {
      remove.textContent = "Press again to delete";
      told.textContent = "Everything in the table would be gone. Press the same button again to delete it.";
      return;
    }
    remove.textContent = ASK;
    const gone = replace(Object.fromEntries(names.map((name) => [name, {}])));
    told.textContent = gone ? "Deleted. This browser keeps nothing of the book any more." : NOTHING_KEPT;
    show();
  });
  remove.addEventListener("blur", () => {
    if (remove.textContent !== ASK) told.textContent = "Nothing was deleted.";
    remove.textContent = ASK;
  });

  const deeds = element("div", { className: "deeds" });
  deeds.append(
    button("Save as a file", save),
    button("Read from a file …", () => chosen.click()),
    remove,
  );
  place.append(element("table", {}, element("thead", {}, headRow), body), deeds, chosen, told);
  show();
  if (!storageWorks()) told.textContent = NOTHING_KEPT;
})();
