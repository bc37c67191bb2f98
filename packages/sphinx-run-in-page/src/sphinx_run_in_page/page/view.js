// What a reader sees of a cell that runs: its field, what it prints anew, and a line that says how it went.
(() => {
  "use strict";
  const { codeOf, keep, printed, python, script } = window.runInPage;
  const element = (name, properties = {}, ...children) => {
    const made = Object.assign(document.createElement(name), properties);
    made.append(...children);
    return made;
  };
  const statusOf = (place) => place.querySelector("[role=status]");
  const tell = (place, ...words) => statusOf(place).replaceChildren(...words);
  const label = (place) => `cell ${window.runInPage.places.indexOf(place) + 1}`;
  // What is written or printed anew has the letters of the listing above it, on a folded cell smaller ones.
  const asListed = (place, made) => {
    const { fontSize, lineHeight } = getComputedStyle(codeOf(place).querySelector("pre"));
    Object.assign(made.style, { fontSize, lineHeight });
    return made;
  };

  const fields = new Map(); // place -> its field
  const codeNow = (place) => fields.get(place)?.read() ?? place.dataset.changed ?? printed(place);

  // ---- the field in which a cell is changed
  let editor;
  const plainField = (parent, code, { label, changed, run }) => {
    const area = element("textarea", { value: code, spellcheck: false, rows: code.split("\n").length + 1 });
    area.setAttribute("aria-label", label);
    area.addEventListener("input", changed);
    area.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || !event.shiftKey) return;
      event.preventDefault();
      run();
    });
    parent.append(area);
    return { read: () => area.value, focus: () => area.focus() };
  };
  const field = async () => {
    editor ??= script("editor.js").then(
      () => window.runInPage.editor,
      () => plainField,
    );
    return editor;
  };
  const open = async (place) => {
    if (fields.has(place)) return fields.get(place).focus();
    const make = await field();
    if (fields.has(place)) return;
    const code = codeNow(place).replace(/\n$/, "");
    const box = asListed(place, element("div", { className: "run-field highlight" }));
    place.querySelector(".run-changed")?.remove();
    codeOf(place).hidden = true;
    place.prepend(box);
    const made = make(box, code, {
      label: `The code of ${label(place)}. Shift and Enter run it; Escape, then Tab, leaves the field.`,
      changed: () => change(place),
      run: () => run(place),
    });
    fields.set(place, made);
    offerPrinted(place);
    changeButton(place).hidden = true;
    made.focus();
  };
  const changeButton = (place) => place.querySelectorAll(".run-bar button")[1];
  const change = (place) => {
    const code = codeNow(place);
    const own = code.trimEnd() === printed(place).trimEnd() ? undefined : code;
    keep(place.dataset.cell, own);
    if (own === undefined) delete place.dataset.changed;
    else place.dataset.changed = own;
    place.dispatchEvent(new CustomEvent("run-in-page-changed", { bubbles: true }));
  };
  const offerPrinted = (place) => {
    if (place.querySelector(".run-printed")) return;
    const back = element("button", { type: "button", className: "run-printed", textContent: "As printed" });
    back.setAttribute("aria-label", `As printed: ${label(place)}`);
    back.addEventListener("click", () => restore(place));
    statusOf(place).before(back);
  };
  const restore = (place) => {
    place.querySelector(".run-field, .run-changed")?.remove();
    place.querySelector(".run-printed")?.remove();
    fields.delete(place);
    changeButton(place).hidden = false;
    delete place.dataset.changed;
    keep(place.dataset.cell, undefined);
    codeOf(place).hidden = false;
    clear(place);
    place.querySelector(".run-out")?.remove();
    tell(place, "As it is printed.");
    python.restore(Number(place.dataset.cell));
    place.querySelector("button").focus();
  };

  // ---- what it prints and shows
  const outOf = (place) => {
    let out = place.querySelector(".run-out");
    if (!out) {
      out = asListed(place, element("div", { className: "run-out" }));
      place.append(out);
    }
    return out;
  };
  const clear = (place) => {
    const out = outOf(place);
    for (const one of out.querySelectorAll("img, source")) URL.revokeObjectURL(one.src || one.srcset);
    out.replaceChildren();
  };
  const picture = (kind, data) => {
    if (kind === "image/svg+xml") return new Blob([data], { type: kind });
    return new Blob([Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0))], { type: kind });
  };
  // A drawing in the colors of light pages has a second one for dark pages, as the printed ones may have.
  const fitTheme = () => {
    const dark = document.documentElement.dataset.theme === "dark";
    for (const source of document.querySelectorAll(".run-out source"))
      source.media = dark ? "screen" : "not all";
  };
  new MutationObserver(fitTheme).observe(document.documentElement, { attributeFilter: ["data-theme"] });
  const inBothColors = (image, drawing) => {
    const colors = python.darkColors();
    const light = new RegExp(Object.keys(colors).join("|"), "gi");
    if (!Object.keys(colors).length) return image;
    const dark = drawing.replace(light, (color) => colors[color.toLowerCase()]);
    const source = element("source", { srcset: URL.createObjectURL(picture("image/svg+xml", dark)) });
    image.className = "dark-light"; // so that a theme does not dim it
    const both = element("picture", {}, source, image);
    queueMicrotask(fitTheme);
    return both;
  };
  // On a telephone a drawing is as wide as its smallest letters need, and scrolls: matplotlib draws letters from
  // outlines of 100 units.
  const LEAST = 9; // pixels
  const widthToRead = (drawing) => {
    const [, width] = /viewBox="0 0 ([\d.]+)/.exec(drawing) ?? [];
    const sizes = [...drawing.matchAll(/scale\((0\.\d+) -\1\)/g)].map(([, scale]) => 100 * scale);
    return width && sizes.length ? Math.ceil((LEAST * width) / Math.min(...sizes)) : 0;
  };
  const show = (place, kind, data, alt) => {
    const out = outOf(place);
    if (kind === "clear") return clear(place);
    if (kind.startsWith("image/")) {
      const image = element("img", { src: URL.createObjectURL(picture(kind, data)), alt });
      if (kind === "image/svg+xml") image.style.minWidth = `${widthToRead(data)}px`;
      out.append(kind === "image/svg+xml" ? inBothColors(image, data) : image);
      return;
    }
    // markup is read and not run: the page shows its text
    const text = kind === "text/html" ? new DOMParser().parseFromString(data, kind).body.textContent : data;
    let lines = out.lastElementChild;
    if (!lines?.matches("pre:not(.run-error)")) {
      lines = element("pre", { tabIndex: 0 });
      out.append(lines);
    }
    lines.append(text);
  };

  // ---- how it went
  const seconds = (number) => `${number < 10 ? number.toFixed(2) : number.toFixed(0)} s`;
  const links = (cells) => {
    const named = cells.map((cell) => [cell, document.getElementById(`run-${cell}`)]);
    const words = named
      .filter(([, place]) => place)
      .map(([cell, place]) => element("a", { href: `#run-${cell}`, textContent: label(place) }));
    if (words.length < cells.length) words.unshift("the setup"); // its cells have no place
    return words.flatMap((word, i) => (i ? [", ", word] : [word]));
  };
  // A cell before this one was changed: it was used so, or as it is printed since nobody ran the change.
  const changesUsed = ({ used, changed }) => {
    const shown = (cell) => document.getElementById(`run-${cell}`)?.dataset.changed !== undefined;
    const printed = used.filter((cell) => shown(cell) && !changed.includes(cell));
    return [
      ...(changed.length ? [" It used ", ...links(changed), " as you changed it."] : []),
      ...(printed.length ? [" It used ", ...links(printed), " as printed: run your change first."] : []),
    ];
  };
  // An error for whose sake a reader needs the whole book leads to where the page says how that is run.
  const BOOK = /the whole book(?=\.$)/;
  const withWay = (error) => {
    const found = document.getElementById("run-it") && BOOK.exec(error);
    if (!found) return [error];
    const way = element("a", { href: "#run-it", textContent: found[0] });
    return [error.slice(0, found.index), way, error.slice(found.index + found[0].length)];
  };
  const same = (now, then) => {
    const lines = (text) => text.split("\n").filter((line) => line.trim() && !/^~( |$)/.test(line));
    const [a, b] = [lines(now), lines(then)];
    return a.length === b.length && a.every((line, i) => line.trimEnd() === b[i].trimEnd());
  };
  const verdict = (place, answer) => {
    if (answer.error?.startsWith("✗")) return "Not yet.";
    if (answer.error) return `Stopped after ${seconds(answer.seconds)}.`;
    const ran = `Ran in ${seconds(answer.seconds)}.`;
    if (place.dataset.changed !== undefined) return `${ran} Your change.`;
    if (!answer.printed.trim() && !answer.printedThen.trim()) return ran;
    if (same(answer.printed, answer.printedThen)) return `${ran} It prints what the book prints.`;
    return `${ran} It prints something else than the book does.`;
  };
  const buttons = (on) => {
    for (const button of document.querySelectorAll(".run-bar button:not(.run-stop)")) button.disabled = !on;
  };

  let busy = false;
  const run = async (place) => {
    if (busy) {
      if (place.dataset.state !== "running")
        tell(place, "Another cell is running: stop it, or wait until it ends.");
      return;
    }
    busy = true;
    python.prepare().catch(() => {}); // it loads while the page is drawn; who runs tells what failed
    const pressed = document.activeElement === place.querySelector("button"); // which loses the focus now
    buttons(false);
    const stop = element("button", { type: "button", className: "run-stop", textContent: "Stop" });
    stop.setAttribute("aria-label", `Stop ${label(place)}`);
    stop.addEventListener("click", startAnew);
    statusOf(place).before(stop);
    if (pressed) stop.focus();
    clear(place);
    place.dataset.state = "running";
    let answer;
    let code;
    try {
      if (typeof WebAssembly !== "object") throw Error("This browser cannot run Python (no WebAssembly).");
      code = codeNow(place).replace(/\n$/, "");
      answer = await python.run(Number(place.dataset.cell), code, {
        tell: (words) => tell(place, words),
        show: (...output) => show(place, ...output),
      });
      const before = answer.before.length ? [" First ran, quietly: ", ...links(answer.before), "."] : [];
      tell(place, verdict(place, answer), ...before, ...changesUsed(answer));
      if (answer.error) {
        const where = answer.inside === Number(place.dataset.cell) ? [] : links([answer.inside]);
        const inside = where.length ? ["In ", ...where, ", which this cell needs:\n"] : [];
        const said = [...inside, ...withWay(answer.error)];
        outOf(place).append(element("pre", { className: "run-error", tabIndex: 0 }, ...said));
      }
      if (answer.full) offerNewStart(place);
    } catch (error) {
      const forgotten = error.stopped || error.fatal ? " What was computed is forgotten." : "";
      tell(place, `${error.message}${forgotten}`);
    }
    place.dataset.state = answer && !answer.error ? "ran" : "stopped";
    const left = document.activeElement === stop;
    stop.remove();
    busy = false;
    buttons(true);
    if (left) place.querySelector("button").focus(); // it can have the focus now that it can be pressed
    place.dispatchEvent(new CustomEvent("run-in-page", { bubbles: true, detail: { ...answer, code } }));
  };
  const startAnew = () => {
    python.stop();
    for (const offer of document.querySelectorAll(".run-anew")) offer.remove();
  };
  const offerNewStart = (place) => {
    if (place.querySelector(".run-anew")) return;
    const anew = element("button", { type: "button", className: "run-anew", textContent: "Start again" });
    anew.addEventListener("click", () => {
      startAnew();
      tell(place, "Python starts anew with the next Run.");
      place.querySelector("button").focus();
    });
    statusOf(place).after(anew);
  };

  window.runInPage.session = { run, change: open, restore };
})();
