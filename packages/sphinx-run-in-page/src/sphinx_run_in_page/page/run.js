// Buttons at the code cells of a page. All that runs a cell waits for the first press.
window.runInPage = (() => {
  "use strict";
  const root = document.documentElement.dataset.content_root ?? "./";
  const waiting = new Map(); // what a script of the book will deliver -> who waits for it

  // A page from disk may load scripts and nothing else: what it needs comes as a script that calls `deliver`.
  const script = (file) =>
    new Promise((done, failed) => {
      const element = Object.assign(document.createElement("script"), { src: `${root}run/${file}` });
      const end = (act, value) => {
        element.remove();
        act(value);
      };
      element.addEventListener("load", () => end(done));
      element.addEventListener("error", () =>
        end(failed, Error(`${file} cannot be loaded: is the book whole, or the line cut?`)),
      );
      document.head.append(element);
    });
  const style = (file) => {
    document.head.append(
      Object.assign(document.createElement("link"), { rel: "stylesheet", href: `${root}run/${file}` }),
    );
  };
  const deliver = (name, data) => waiting.get(name)?.(data);
  const loading = new Map(); // what two workers ask for at a time comes once
  const load = (name, file = `${name}.js`) => {
    if (!loading.has(file)) {
      let arrived;
      waiting.set(name, (data) => {
        arrived = data;
      });
      const coming = script(file).then(() => {
        if (arrived === undefined) throw Error(`${file} did not arrive whole: load the page again.`);
        return arrived;
      });
      const over = () => loading.delete(file);
      loading.set(file, coming);
      coming.then(over, over);
    }
    return loading.get(file);
  };

  const places = [...document.querySelectorAll(".run-place")];
  const page = places[0]?.dataset.page;
  const own = {
    recall: () => JSON.parse(localStorage.getItem("run-in-page") ?? "{}"),
    keep: (id, value) =>
      localStorage.setItem("run-in-page", JSON.stringify({ ...own.recall(), [id]: value })),
  };
  const memory = () => window.memoryOf?.("cells") ?? own;
  const kept = () => {
    try {
      return memory().recall();
    } catch {
      return {}; // the browser keeps nothing
    }
  };
  const keep = (cell, code) => {
    try {
      memory().keep(`${page}:${cell}`, code);
    } catch {} // then it is forgotten with the page
  };

  const codeOf = (place) => place.previousElementSibling;
  const printed = (place) => codeOf(place).querySelector("pre").textContent;
  let session;
  const begin = (place, act) => {
    const status = place.querySelector("[role=status]");
    if (!session) style("session.css");
    session ??= script("session.js").then(() => window.runInPage.session);
    session.then(
      (ready) => ready[act](place),
      (error) => {
        session = undefined; // the next press tries again
        status.textContent = error.message;
      },
    );
  };

  const button = (text, act, label) => {
    const made = Object.assign(document.createElement("button"), { type: "button", textContent: text });
    made.setAttribute("aria-label", label);
    made.addEventListener("click", act);
    return made;
  };
  // What a reader changed has the colors of a listing before the field with its parser has come. The groups and
  // kinds are named as Pygments names what it finds, and as editor.js does.
  const PIECES = new RegExp(
    [
      /(?<c1>#.*)/,
      /(?<s2>(?:[rbf]{1,2}|u)?(?:"""[\s\S]*?"""|'''[\s\S]*?'''|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'))/,
      /(?<word>[\p{L}_]\w*)/u,
      /(?<mi>0[xob][\da-f_]+|\.?\d[\d_]*(?:\.\d*)?(?:e[-+]?\d+)?j?)/,
      /(?<nd>^ *@[\w.]+)/,
      /(?<o>[-+*/%=<>!&|^~@]+|\.)/,
    ]
      .map(({ source }) => source)
      .join("|"),
    "gimu",
  );
  const KINDS = {
    k:
      "as assert async await break class continue def del elif else except finally for from global if import " +
      "lambda nonlocal pass raise return try while with yield",
    kc: "False None True",
    ow: "and in is not or",
  };
  const kindOf = new Map(
    Object.entries(KINDS).flatMap(([kind, words]) => words.split(" ").map((word) => [word, kind])),
  );
  const AFTER = { def: "nf", class: "nc" };
  const colored = (code) => {
    const pre = Object.assign(document.createElement("pre"), { tabIndex: 0 });
    let [end, before] = [0, ""];
    for (const { 0: text, index, groups } of code.matchAll(PIECES)) {
      const [kind] = Object.entries(groups).find(([, found]) => found !== undefined);
      const className = kind === "word" ? (kindOf.get(text) ?? AFTER[before] ?? "n") : kind;
      const piece = Object.assign(document.createElement("span"), { className, textContent: text });
      pre.append(code.slice(end, index), piece);
      end = index + text.length;
      before = text;
    }
    pre.append(code.slice(end));
    return pre;
  };
  const changes = kept();
  for (const [number, place] of places.entries()) {
    const bar = document.createElement("div");
    bar.className = "run-bar";
    const status = document.createElement("span");
    status.setAttribute("role", "status");
    const name = `cell ${number + 1}`;
    bar.append(
      button("Run", () => begin(place, "run"), `Run ${name}`),
      button("Change", () => begin(place, "change"), `Change ${name}`),
      status,
    );
    place.append(bar);
    place.id = `run-${place.dataset.cell}`;
    const change = changes[`${page}:${place.dataset.cell}`];
    if (typeof change !== "string" || change === printed(place)) continue;
    const shown = Object.assign(document.createElement("div"), { className: "run-changed highlight" });
    shown.append(colored(change));
    codeOf(place).hidden = true;
    place.prepend(shown);
    place.dataset.changed = change;
    const back = button("As printed", () => begin(place, "restore"), `As printed: ${name}`);
    back.className = "run-printed";
    status.before(back);
    status.textContent = "As you changed it.";
  }
  return { deliver, load, script, page, places, codeOf, printed, kept, keep };
})();
