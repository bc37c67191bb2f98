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
    const shown = Object.assign(document.createElement("pre"), { textContent: change, tabIndex: 0 });
    shown.className = "run-changed";
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
