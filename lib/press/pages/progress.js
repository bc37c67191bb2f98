// How far a reader came: which sections she read to their end, and where she stopped. A chapter says so
// below its title and in its list of contents, the first page with one link.
(() => {
  "use strict";
  const LONG_ENOUGH = 600; // ms that a place stays on the screen before it counts as seen
  const memory = window.memoryOf("progress");

  // What is kept of a chapter, whatever the storage or a file holds. Who was there at a time to come had a
  // clock that was wrong: nobody knows when it was, and what is read today is later.
  window.readProgress = (value) => {
    const { read, stop, at } = Object(value);
    return {
      read: Array.isArray(read) ? [...new Set(read.map(window.keptText))].filter(Boolean) : [],
      stop: window.keptText(stop),
      at: Number.isFinite(at) && at >= 0 && at <= Date.now() ? at : 0,
    };
  };
  const recall = (chapter) => window.readProgress(memory.recall()[chapter]);
  const linkTo = (href, text) => Object.assign(document.createElement("a"), { href, textContent: text });

  const begin = document.querySelector(".go-on");
  if (begin instanceof HTMLElement) {
    const chapters = JSON.parse(begin.dataset.chapters);
    const [last] = chapters
      .map((chapter) => ({ ...chapter, ...recall(chapter.name) }))
      .filter(({ stop }) => stop)
      .sort((one, other) => other.at - one.at);
    if (last) {
      const { name, heading, sections, stop } = last;
      const known = Object.hasOwn(sections, stop); // an earlier edition may have had others
      const href = `chapters/${name}.html${known ? `#${encodeURIComponent(stop)}` : ""}`;
      const words = known ? `${heading}, section ${sections[stop]}` : heading;
      begin.append("Go on where you stopped: ", linkTo(href, words));
      begin.hidden = false;
    }
    const records = Object.values(window.memoryOf("review").recall()).filter(Array.isArray);
    if (begin.dataset.today && records.some((record) => window.schedule.isDue(record, Date.now()))) {
      const back = [
        "Today: ",
        linkTo(begin.dataset.today, "questions from what you have read"),
        " come back",
      ];
      begin.append(...(last ? [" · "] : []), ...back);
      begin.hidden = false;
    }
  }

  const line = document.querySelector(".reading-line");
  if (!(line instanceof HTMLElement)) return;
  const { chapter } = line.dataset;
  const counted = line.querySelector(".counted");
  const sections = [...document.querySelectorAll(".bd-article > section > section[id]")];

  // The words of a heading without its marks, a formula as it was written.
  const titleOf = (section) => {
    const copy = section.querySelector("h2").cloneNode(true);
    for (const mark of copy.querySelectorAll("a")) mark.remove();
    for (const formula of copy.querySelectorAll(".katex"))
      formula.replaceWith(formula.querySelector("annotation")?.textContent ?? "");
    return copy.textContent.replaceAll(/\s+/g, " ").trim();
  };

  const show = () => {
    const { read } = recall(chapter);
    const done = sections.filter(({ id }) => read.includes(id));
    const number = `${sections.length} section${sections.length === 1 ? "" : "s"}`;
    counted.textContent = done.length ? `${done.length} of ${number} read` : number;
    for (const { id } of done) {
      const entry = document.querySelector(`.page-toc a[href="#${CSS.escape(id)}"]:not(.read)`);
      if (!entry) continue;
      const mark = Object.assign(document.createElement("span"), { textContent: " (read)" });
      mark.className = "visually-hidden";
      entry.classList.add("read");
      entry.append(mark);
    }
  };
  const keep = (change) => {
    const kept = memory.keep(chapter, { ...recall(chapter), ...change, at: Date.now() });
    if (kept) show();
    else counted.textContent = "not kept: this browser’s storage is full or blocked";
  };

  // "Run this chapter" leads to a box at the foot, past everything. Who follows it has read nothing on the way
  // and stopped where she was: nothing is kept until the box is out of sight again.
  let beside = location.hash === "#run-it";
  let boxSeen = false;
  document.addEventListener("click", ({ target, button, ctrlKey, metaKey, shiftKey }) => {
    const elsewhere = button || ctrlKey || metaKey || shiftKey; // in a window of its own
    if (target instanceof Element && target.closest('a[href="#run-it"]') && !elsewhere) beside = true;
  });
  const look = (entries) => {
    const { isIntersecting } = entries.at(-1);
    if (boxSeen && !isIntersecting) beside = false;
    boxSeen = isIntersecting;
  };
  for (const box of document.querySelectorAll(".run-it")) new IntersectionObserver(look).observe(box);

  const before = recall(chapter);
  const stopped = sections.find(({ id }) => id === before.stop);
  if (stopped) line.append(linkTo(`#${stopped.id}`, `go on with ${titleOf(stopped)}`));
  show();

  // Call `act` with what stays a while in the part of the window that the margin leaves.
  const whenSeen = (rootMargin, act) => {
    const waiting = new Map();
    const look = (entries) => {
      for (const { target, isIntersecting } of entries) {
        clearTimeout(waiting.get(target));
        if (isIntersecting)
          waiting.set(
            target,
            setTimeout(() => beside || act(target), LONG_ENOUGH),
          );
      }
    };
    return new IntersectionObserver(look, { rootMargin });
  };
  // A link to the next section leaves the end of this one below the page's header: it is not read.
  const ends = whenSeen("-80px 0px 0px 0px", (end) => {
    ends.unobserve(end);
    const { read } = recall(chapter);
    if (!read.includes(end.parentElement.id)) window.met(`${chapter}#${end.parentElement.id}`); // its cards come back
    keep({ read: [...new Set([...read, end.parentElement.id])] });
  });
  const places = whenSeen("-40% 0px -60% 0px", (section) => keep({ stop: section.id }));
  // Who only opens a chapter has not moved on; and before the page is laid out nothing has its place.
  const follow = () => {
    if (document.documentElement.matches(".arriving")) return;
    removeEventListener("scroll", follow);
    for (const section of sections) {
      const end = document.createElement("span");
      section.append(end);
      ends.observe(end);
      places.observe(section);
    }
  };
  addEventListener("scroll", follow, { passive: true });
})();
