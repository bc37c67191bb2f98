// Search as you type, in the dialog that Ctrl+K opens and on the search page. What can be found are
// the sections of the book, the terms of its glossary and the functions of its library, from a script
// beside the pages, so that a copy on disk answers, too; MiniSearch ranks them.
(() => {
  "use strict";
  const root = new URL(document.documentElement.dataset.content_root ?? "./", document.baseURI);
  const LONGEST = 200; // characters of a query that are read
  const MOST_IN_A_ROW = 3; // words of one name
  const EXACT = 4; // times the weight, for what is called just as was asked
  const FEW = 3; // with fewer that hold all words, those that hold some are shown, too
  /** How many letters may differ where nothing is found: of three any other word would be near. */
  const FAR = (word) => (word.length < 4 ? false : word.length < 6 ? 1 : 0.3);
  const STOP = new Set(
    (
      "a an and are as at be by can do does for from has have how i if in into is it its me my not of on " +
      "or so that the their then there these this to was what when where which who why will with you your"
    ).split(" "),
  );
  const WEIGHT = { section: 1, term: 0.45, page: 0.45, function: 0.25 };
  const LESSER = /^[\d. ]*(exercises?|summary|further reading|references|sources|common mistakes)\b/i;
  const SELDOM = /^chapters\/(appendix|teachers)/; // pages that speak of the others
  const PLACE = { term: "Glossary", function: "Library" };

  /** A word in its singular and in American spelling: what is looked for and what is found alike. */
  const stem = (word) =>
    word
      .replace(/(..[^su'’i])s$/, "$1")
      .replace(/is(ations?|e|ed|er|ing)$/, "iz$1")
      .replace(/ization$/, "ization")
      .replace(/yse(d|r)?$/, "yze$1")
      .replace(/^(hetero|homo)sked/, "$1sced")
      .replace(/^(behavi|col|fav|lab|neighb)our/, "$1or");

  /** The words of a text: without accents and case; "p-value" is one word, and two. */
  const words = (text) =>
    (
      text
        .normalize("NFD")
        .replace(/\p{M}/gu, "")
        .toLowerCase()
        .match(/[\p{L}\p{N}]+(?:[-–'’][\p{L}\p{N}]+)*/gu) ?? []
    )
      .flatMap((word) => {
        const parts = word.split(/[-–'’]/u);
        return parts.length > 1 ? [parts.join(""), ...parts] : parts;
      })
      .filter((word) => !STOP.has(word))
      .map(stem);

  const NOT_LOADED = "The index could not be loaded: its files are missing beside this page.";
  const FAILED = "The search could not answer this: the book has an error there. Try other words.";
  const NO_WORD = "There is no word in this. Type what you look for in words, such as “variance”.";
  const EVERYWHERE =
    "These words stand on every page. Add one that names what you look for, such as “variance”.";

  const script = (name) =>
    new Promise((resolve, reject) => {
      const tag = document.createElement("script");
      tag.src = new URL(`_static/${name}`, root);
      tag.onload = resolve;
      tag.onerror = () => reject(new Error(NOT_LOADED));
      document.head.append(tag);
    });

  const prepare = async () => {
    await Promise.all([script("minisearch.js"), script("search-documents.js")]);
    const documents = window.searchDocuments;
    if (!documents || !window.MiniSearch) throw new Error(NOT_LOADED); // a file that was cut
    const index = new window.MiniSearch({
      fields: ["heading", "terms", "within", "text"],
      extractField: (one, name) => (name === "terms" ? one.terms.join(" ") : one[name]),
      tokenize: words,
      searchOptions: {
        boost: { heading: 5, terms: 6, within: 1.5 },
        prefix: (word) => word.length > 2,
        fuzzy: (word) => (word.length > 4 ? 0.2 : false),
        weights: { prefix: 0.5, fuzzy: 0.25 },
        boostDocument: (id) => {
          const { kind, heading, page } = documents[id];
          return WEIGHT[kind] * (LESSER.test(heading) || (kind === "section" && SELDOM.test(page)) ? 0.4 : 1);
        },
      },
    });
    index.addAll(documents.map((one, id) => ({ ...one, id })));
    const names = documents.map(({ heading, terms }) => [
      nameOf(heading.replace(/^[\d. ]+/, "")),
      ...terms.map(nameOf),
    ]);
    const tables = [window.searchWords.same, window.searchWords.near].map(
      (table) => new Map(Object.entries(table).map(([name, others]) => [nameOf(name), others.map(words)])),
    );
    const known = new Set(
      names.flatMap((all, id) => (documents[id].kind === "function" ? [] : all.join(" ").split(" "))),
    );
    return { documents, index, names, tables, known };
  };
  const nameOf = (text) => words(text).join(" ");
  /** The number with which a heading begins, or with which a reader asks for it: 7 or 7.4. */
  const numberOf = (text) => /^\d+(?:\.\d+)*(?=$|[\s:,])/.exec(text)?.[0];

  /** A word that headings do not have, in two that they have: layernorm, beamsearch. */
  const split = (word, known) =>
    known.has(word)
      ? []
      : [...word]
          .map((_, at) => [word.slice(0, at), word.slice(at)])
          .filter((two) => two.every((one) => one.length > 2 && known.has(one)));

  /** Part a query into words, and words in a row, for which the book has another name or none. */
  const partsOf = (asked, [same, near], known) => {
    const parts = [];
    for (let at = 0; at < asked.length; ) {
      let length = Math.min(MOST_IN_A_ROW, asked.length - at);
      const name = () => asked.slice(at, at + length).join(" ");
      while (length > 1 && !same.has(name()) && !near.has(name())) length--;
      const joined = asked[at] + asked[at + 1]; // "back propagation", "mini batch"
      const apart = length === 1 && known.has(joined) && !same.has(asked[at]) && !same.has(asked[at + 1]);
      if (apart) length = 2;
      const own = near.has(name()) ? [] : [asked.slice(at, at + length), ...(apart ? [[joined]] : [])];
      if (length === 1) own.push(...split(asked[at], known));
      parts.push({
        name: name(),
        absent: !own.length,
        ways: [...own, ...(same.get(name()) ?? near.get(name()) ?? [])],
      });
      at += length;
    }
    return parts;
  };
  let ready; // the index, from the moment when a reader begins to search

  /** What a query finds, best first, and what to tell the reader about it. */
  const find = async (query) => {
    const whole = query.trim();
    const read = whole.slice(0, LONGEST);
    const rest = whole.length > LONGEST ? ` Only the first ${LONGEST} characters were read.` : "";
    const meant = read.replace(/^(?:ch(?:apter|\.)?|sec(?:tion|\.)?|§)\s*(?=\d)/i, ""); // chapter 7, § 7.4
    const numbered = numberOf(meant);
    const asked = [...new Set(words(meant))];
    if (!asked.length) {
      const told = /[\p{L}\p{N}]/u.test(read) ? EVERYWHERE : NO_WORD;
      return { found: [], told: whole && told + rest };
    }
    ready ??= prepare();
    const { documents, index, names, tables, known } = await ready;
    const apart = asked.filter((word, at) => known.has(word) || word !== asked[at + 1] + asked[at + 2]);
    const parts = partsOf(apart, tables, known);
    const called = new Set([
      asked.join(" "),
      ...(parts.length === 1 ? parts[0].ways.map((way) => way.join(" ")) : []),
    ]);
    const exact = (id) => names[id].some((name) => called.has(name));
    const search = (combineWith, options) => {
      const queries = parts.map(({ ways }) => ({
        combineWith: "OR",
        queries: ways.map((way) => ({ combineWith: "AND", queries: way })),
      }));
      const results = index.search({ combineWith, queries }, options);
      return results
        .map((one) => ({ ...one, score: one.score * (exact(one.id) ? EXACT : 1) }))
        .sort((one, other) => other.score - one.score);
    };
    const all = search("AND");
    const some = all.length < FEW ? search("OR").filter(({ id }) => !all.some((one) => one.id === id)) : [];
    const like = all.length + some.length ? [] : search("OR", { fuzzy: FAR, prefix: true });
    const results = [...all, ...some, ...like];
    const ranked = results.map(({ id, terms }) => ({ ...documents[id], matched: terms }));
    const hit = new Set(results.flatMap(({ queryTerms }) => queryTerms));
    const missing = parts.filter(
      ({ absent, ways }) => absent || (!like.length && !ways.flat().some((word) => hit.has(word))),
    );
    // What has the number that was asked for comes first. The library has hundreds of names; they come last, but
    // for one that was asked for as code is written.
    const named = /\w_\w/.test(whole) && whole;
    const place = ({ kind, heading }) =>
      heading === named || (numbered && numberOf(heading) === numbered) ? 0 : kind === "function" ? 2 : 1;
    const found = ranked.sort((one, other) => place(one) - place(other));
    const places = `${found.length} ${found.length === 1 ? "place" : "places"}.`;
    const unknown = (like.length ? parts : missing)
      .map(({ name }) => `“${parts.length > 1 ? name : read}”`)
      .join(" and ");
    let told = found.length
      ? unknown
        ? `${unknown} is not in this book; nearest: ${places}`
        : places
      : "Nothing found. Try another word for it, or fewer words.";
    if (/[\\^{}=]/.test(whole))
      told += " Formulas are not searched: try the name of what it says, such as “softmax”.";
    return { found, told: told + rest };
  };

  const element = (name, className, ...children) => {
    const made = document.createElement(name);
    if (className) made.className = className;
    made.append(...children);
    return made;
  };

  /** A stretch of a text around the first word that was found in it, such words marked. */
  const excerpt = (text, matched) => {
    const hit = (piece) => words(piece).some((word) => matched.includes(word));
    const pieces = text.split(/(?<= )/u);
    const first = Math.max(0, pieces.findIndex(hit) - 8);
    const shown = pieces.slice(first, first + 28);
    const isFormula = (piece) => piece?.trim() === "…"; // one beside the dots of the cut says nothing
    while (first > 0 && isFormula(shown[0])) shown.shift();
    while (first + 28 < pieces.length && isFormula(shown.at(-1))) shown.pop();
    const made = element("span", "excerpt");
    if (first > 0) made.append("… ");
    for (const piece of shown)
      made.append(hit(piece) ? element("mark", "", piece.trimEnd()) : piece.trimEnd(), " ");
    if (first + 28 < pieces.length) made.append("…");
    return made;
  };

  const item = ({ kind, page, id, heading, text, within, matched }) => {
    const link = element(
      "a",
      "",
      element("span", "within", PLACE[kind] ?? within),
      element("strong", "", heading),
      excerpt(text, matched),
    );
    link.href = new URL(`${page}.html${id && `#${id}`}`, root);
    return element("li", kind, link);
  };

  /** Let a field answer while a reader types; results stand in a list behind it. */
  const attach = (field, place, most) => {
    const told = element("p", "told");
    told.setAttribute("role", "status");
    const list = element("ol", "found");
    place.append(told, list);
    let last = 0;
    const answer = async () => {
      const turn = ++last;
      const query = field.value;
      if (!ready && query.trim()) told.textContent = "Opening the index …";
      try {
        const { found, told: sentence } = await find(query);
        if (turn !== last) return; // the reader has typed on
        told.textContent = sentence;
        list.replaceChildren(...found.slice(0, most).map(item));
      } catch (error) {
        if (error.message === NOT_LOADED) ready = undefined;
        else console.error(error);
        if (turn !== last) return;
        told.textContent = error.message === NOT_LOADED ? NOT_LOADED : FAILED;
        list.replaceChildren();
      }
    };
    field.addEventListener("input", answer);
    place.parentElement.addEventListener("keydown", (event) => {
      const stops = [field, ...list.querySelectorAll("a")];
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      const now = stops.indexOf(document.activeElement);
      if (!step || now < 0) return;
      event.preventDefault();
      stops[Math.min(Math.max(now + step, 0), stops.length - 1)].focus();
    });
    return answer;
  };

  const begin = () => {
    const dialog = document.querySelector("#pst-search-dialog");
    const field = dialog?.querySelector("input[type=search]");
    if (field) {
      const place = element("div", "search-found");
      dialog.append(place);
      attach(field, place, 8);
      // a link to a place on this page leaves the dialog open otherwise
      place.addEventListener("click", (event) => event.target.closest("a") && dialog.close());
    }
    const results = document.querySelector("#search-results");
    if (results) {
      const own = document.querySelector(".bd-search-container input[type=search]");
      own.value ||= new URLSearchParams(location.search).get("q") ?? "";
      if (!own.value && !own.closest(".lost")) own.focus();
      results.classList.add("search-found");
      attach(own, results, 40)();
    }
  };
  window.bookSearch = { find };
  if (document.readyState === "loading") addEventListener("DOMContentLoaded", begin);
  else begin();
})();
