// Today: what this reader has met and is due is asked again, ten at a time, mixed over chapters. The page loads
// the names of all that the book asks; what is asked comes from a script for each chapter, when it is needed.
(() => {
  "use strict";
  const TEN = 10;
  const NOTHING_KEPT =
    "This browser keeps nothing for this page, so it will not know tomorrow what you answered today: its " +
    "storage is switched off or full.";
  const place = document.querySelector(".today");
  if (!(place instanceof HTMLElement)) return;

  const element = (name, properties = {}, ...children) => {
    const node = Object.assign(document.createElement(name), properties);
    node.append(...children);
    return node;
  };
  const button = (text, act) => element("button", { type: "button", textContent: text, onclick: act });
  const counted = (number, one, many = `${one}s`) => `${number} ${number === 1 ? one : many}`;
  const inDays = (days) => (days === 1 ? "tomorrow" : `in ${days} days`);
  const add = (src) =>
    new Promise((done) => {
      const script = element("script", { src });
      script.addEventListener("load", () => done(true));
      script.addEventListener("error", () => done(false));
      document.head.append(script);
    });

  const [standing, told] = ["standing", "told"].map((className) => element("p", { className }));
  const [stage, deeds] = ["stage", "deeds"].map((className) => element("div", { className }));
  for (const line of [standing, told]) line.setAttribute("role", "status");

  // What was met, and when: what was answered on its page, and the cards of sections that were read to their
  // end. What has no date of its own has that of the last visit to its chapter.
  const metBy = (items, chapters, now) => {
    const isRecord = (value) => Array.isArray(value) && value.length === 2 && value.every(Number.isFinite);
    const kept = Object.entries(window.memoryOf("review").recall()).filter(([, value]) => isRecord(value));
    const dates = new Map(kept.map(([name, [step, at]]) => [name, [step, Math.min(at, now)]]));
    const progress = window.memoryOf("progress").recall();
    const visits = new Map(chapters.map(({ name }) => [name, window.readProgress(progress[name])]));
    const memories = ["guesses", "questions", "answers"].map((name) => window.memoryOf(name).recall());
    const records = new Map();
    for (const { name, chapter, section, id, isCard } of items.values()) {
      const { read, at } = visits.get(chapter);
      const isMet = isCard ? read.includes(id) : memories.some((memory) => Object.hasOwn(memory, name));
      if (dates.has(name)) records.set(name, dates.get(name));
      else if (isMet) records.set(name, [0, dates.get(section)?.[1] ?? at]);
    }
    return {
      records,
      gone: kept.filter(([name]) => !items.has(name) && !name.includes("#")).length,
      ahead: kept.filter(([, [, at]]) => at > now).length,
    };
  };

  const begin = async () => {
    const { dayOf, dueDay, isDue, after } = window.schedule;
    let chapters;
    window.bookAsks = (found) => {
      chapters = found;
    };
    const here = await Promise.all(JSON.parse(place.dataset.scripts).map(add));
    place.append(standing, stage, deeds, told);
    if (here.includes(false) || !chapters) {
      told.textContent = "The list of questions could not be loaded. Load the page again.";
      return;
    }
    const chapterOf = new Map(chapters.map((chapter) => [chapter.name, chapter]));
    const items = new Map(
      chapters.flatMap((chapter) =>
        chapter.items.map(([name, id]) => [
          name,
          { name, id, chapter: chapter.name, section: `${chapter.name}#${id}`, isCard: name.includes("/") },
        ]),
      ),
    );
    const { records, gone, ahead } = metBy(items, chapters, Date.now());
    const keep = () => window.memoryOf("review").replace(Object.fromEntries(records));
    const dueNow = () => {
      const due = [...records].filter(([, record]) => isDue(record, Date.now()));
      return due.map(([name, record]) => ({ ...items.get(name), day: dueDay(record) }));
    };

    const fragments = new Map(); // of each chapter, what it asks, by name
    window.chapterAsks = (name, asked) => fragments.set(name, asked);
    const fragmentOf = async ({ name, chapter }) => {
      if (!fragments.has(chapter)) await add(`${place.dataset.root}${chapterOf.get(chapter).file}`);
      return fragments.get(chapter)?.[name];
    };

    const show = (sentence) => {
      const [due, now] = [dueNow(), Date.now()];
      const number = window.mix(due, TEN).length;
      const coming = [...records.values()]
        .map(dueDay)
        .filter((day) => day > dayOf(now) && Number.isFinite(day));
      const next = Math.min(...coming);
      const back = counted(coming.filter((day) => day === next).length, "question comes", "questions come");
      standing.textContent = sentence;
      if (!number && coming.length) standing.textContent += ` ${back} back ${inDays(next - dayOf(now))}.`;
      const of = due.length > number ? ` of ${due.length}` : "";
      const ask = button(`Ask me ${counted(number, "question")}${of}`, () => {
        told.textContent = "";
        go(window.mix(dueNow(), TEN), 0, 0);
      });
      stage.replaceChildren();
      deeds.replaceChildren(...(number ? [ask] : []));
    };

    const ask = async (round, at, known) => {
      const item = round[at];
      const chapter = chapterOf.get(item.chapter);
      const fragment = await fragmentOf(item);
      if (fragment === undefined) {
        told.textContent = `What “${chapter.heading}” asks could not be loaded; it is asked another time.`;
        return go(round.toSpliced(at, 1), at, known);
      }
      const box = element("div", { className: "asked", innerHTML: fragment });
      box.dataset.name = item.name;
      const href = `${place.dataset.root}${chapter.href}#${item.id}`;
      const link = element("a", { href, textContent: chapter.sections[item.id] ?? chapter.heading });
      const where = element("p", { className: "asked-where" }, "From ", link);
      where.hidden = !box.querySelector(".task"); // for which its widget is needed
      let open = true;
      const judge = (right) => {
        if (!open) return;
        open = false;
        const now = Date.now();
        const record = after(records.get(item.name), right, now);
        records.set(item.name, record);
        if (!keep()) told.textContent = NOTHING_KEPT;
        const days = dueDay(record) - dayOf(now);
        where.prepend(
          Number.isFinite(days) ? `Comes back ${inDays(days)}. ` : "Known after a month: it rests. ",
        );
        where.hidden = false;
        const isLast = at === round.length - 1;
        deeds.replaceChildren(
          button(isLast ? "Finish" : "Next", () => go(round, at + 1, known + Number(right))),
        );
      };
      // What nobody but the reader can judge.
      const askTheReader = () => {
        if (!open || deeds.firstChild) return;
        const verdict = (text, right) =>
          button(text, () => {
            judge(right);
            deeds.firstChild.focus();
          });
        deeds.replaceChildren(verdict("I knew it", true), verdict("Not yet", false));
      };
      deeds.replaceChildren();
      standing.textContent = `Question ${at + 1} of ${round.length}`;
      stage.replaceChildren(box, where);
      const card = box.querySelector(".card-fold");
      card?.addEventListener("toggle", () => card.open && askTheReader());
      for (const one of box.children)
        window.askAnew(one, (said, right) =>
          right === undefined ? askTheReader() : judge(Boolean(said) && right),
        );
      box.querySelector("summary, input, button")?.focus({ preventScroll: true });
      standing.scrollIntoView(); // each question where the one before stood, whatever its reply has moved
    };
    const go = (round, at, known) => {
      if (at < round.length) return ask(round, at, known);
      show(round.length ? `Done for now: ${known} of ${round.length} known.` : "");
      (deeds.querySelector("button") ?? standing).focus();
    };

    const words = [];
    if (gone)
      words.push(`${counted(gone, "question is", "questions are")} no longer in the book, and dropped here.`);
    if (ahead)
      words.push(
        `By this device’s clock ${counted(ahead, "question was", "questions were")} answered at a time to come: ` +
          "the days count from today.",
      );
    if (!keep()) words.push(NOTHING_KEPT);
    told.textContent = words.join(" ");
    place.querySelector(".empty").hidden = records.size > 0;
    standing.tabIndex = -1;
    if (!records.size) return;
    const met = `You have met ${counted(records.size, "question")}`;
    show(dueNow().length ? `${met}.` : `${met}; none is due today.`);
  };

  // The scripts that every page has run before this event, and this one perhaps before them.
  if (window.schedule && window.askAnew) begin();
  else document.addEventListener("DOMContentLoaded", begin);
})();
