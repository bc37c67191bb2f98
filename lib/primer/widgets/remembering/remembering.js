// What does it remember?  Three networks read a text; what their prediction feels of each letter.

import { gradientSteps, logProbabilities, readModels, readSteps } from "../shared/character_models.js";
import {
  clamp,
  columns,
  counted,
  div,
  html,
  named,
  percent,
  resultLine,
  set,
  widget,
  write,
} from "../kit/kit.js";
import { textInput } from "../shared/text_input.js";
import { finish, workshop } from "../shared/workshop.js";

const OFTEN = 4; // likeliest letters that are named
const FELT = 1e-3; // of the letter that counts most

// ---------------------------------------------------------------- what is computed

/** What the networks read: letters older than those `kept` before a place come from another text. */
export function replaced(letters, place, kept, passage) {
  const erased = kept === null ? 0 : Math.max(0, place - kept);
  return letters.map((letter, i) => (i < erased ? passage[i] : letter));
}

/** How dark letters are, 0 to 1, for the sizes of their gradients. */
export function shades(sizes, logarithmic, faintest) {
  const largest = Math.max(...sizes) || 1;
  const shade = (share) => (logarithmic ? clamp(1 + Math.log10(share) / faintest, 0, 1) : share);
  return Array.from(sizes, (size) => shade(size / largest));
}

/** How many letters count at least a thousandth of the one that counts most. */
export const felt = (sizes) => sizes.filter((size) => size >= FELT * Math.max(...sizes)).length;

/** The letters that a network has never seen are left out. */
export const readable = (text, places) => [...text].filter((letter) => places.has(letter));

const visible = (letter) => ({ " ": "␣", "\n": "↵" })[letter] ?? letter;

const asked = (letter, place) => `“${visible(letter)}” after ${counted(place, "letter")}: …`;

/** What the result line says. */
export function describe(letter, place, found) {
  const each = found.map(({ name, p, reach }) => `${name} ${percent(p)}, and feels ${reach}`);
  return `“${visible(letter)}” after ${counted(place, "letter")}: ${each.join("; ")} of them. Felt is what counts at least a thousandth of the letter that counts most.`;
}

// ---------------------------------------------------------------- what the reader sees

/** One network's row: { element, draw(…), whether it wrote }; choose(i) when a letter is pointed at. */
function net(name, word, choose) {
  const [said, likely] = [html("span", { class: "said" }), html("p", { class: "note" })];
  const line = html("p", { class: "letters", "aria-hidden": "true" }); // the result line says it
  const letter = (i) => html("span", { onclick: () => choose(i), onpointerenter: (e) => hovered(e, i) });
  const hovered = ({ pointerType, buttons }, i) => pointerType === "mouse" && !buttons && choose(i);
  const element = div(
    `net ${name}`,
    html("p", { class: "heading" }, html("b", {}, word), said),
    line,
    likely,
  );
  let drawn = "";
  function draw(letters, place, erased, depths, { p, names }) {
    const now = `${place} ${erased} ${letters.join("")} ${depths.join()}`;
    if (now === drawn) return false;
    drawn = now;
    while (line.childNodes.length > letters.length) line.lastChild.remove();
    while (line.childNodes.length < letters.length) line.append(letter(line.childNodes.length));
    letters.forEach((text, i) => {
      const span = line.childNodes[i];
      const kind = i === place ? "asked" : i > place ? "later" : i < erased ? "erased" : "";
      write(span, visible(text));
      if (span.className !== kind) span.className = kind;
      const style = i < place ? `--depth: ${(50 * depths[i]).toFixed(1)}%` : "";
      if (span.getAttribute("style") !== style) set(span, { style });
    });
    write(said, `gives “${visible(letters[place])}” ${percent(p)}`);
    write(likely, `likeliest: ${names}`);
    return true;
  }
  return { element, draw };
}

export default widget("remembering", ({ model, controls, constants, write: put, redraw }) => {
  const { names, passage, longest, faintest } = constants;
  const models = readModels(model.get("models"));
  const kinds = ["rnn", "lstm", "gru"]; // as in the still picture; a stored page sorts its names
  const { places } = models[kinds[0]];
  const lastOf = (text) => clamp(readable(text, places).length - 1, 1, longest - 1);
  const change = (text) => put({ text, letter: lastOf(text) });
  const input = textInput({ label: "Text", examples: model.get("examples"), longest, change });
  const choose = (i) => put({ letter: clamp(i, 1, longest - 1) });
  const rows = kinds.map((kind) => net(kind, names[kind], choose));
  const result = resultLine();
  const read = named(kinds, () => null); // what each network read last
  let known = { key: "", found: {} }; // what was found out last about all of them
  const shop = workshop(redraw);
  let [turn, request] = [0, 0]; // the row that is drawn next, in a frame of its own
  const panels = div("", ...rows, result);

  const likeliest = (logP, letters) =>
    Array.from(logP.keys())
      .sort((a, b) => logP[b] - logP[a])
      .slice(0, OFTEN)
      .map((j) => `${visible(letters[j])} ${percent(Math.exp(logP[j]), 0)}`)
      .join(", ");

  /** What is found out about the networks, one after the other, in small pieces. */
  function* follow(shown, place) {
    let found = {};
    for (const kind of kinds) {
      const { letters, places: tokens } = models[kind];
      read[kind] = yield* readSteps(models[kind], shown, read[kind]);
      const sizes = yield* gradientSteps(read[kind], place);
      const logP = logProbabilities(read[kind], place);
      const p = Math.exp(logP[tokens.get(shown[place])]);
      const reach = felt(Array.from(sizes));
      found = {
        ...found,
        [kind]: { name: names[kind], sizes, reach, names: likeliest(logP, letters), p },
      };
      yield found;
    }
    return found;
  }

  /** What is known so far; the first frame waits for everything, the others for no work. */
  function present(shown, place) {
    const key = `${place} ${shown.join("")}`;
    if (!known.key) known = { key, found: finish(follow(shown, place)) };
    if (known.key === key) return known.found;
    const { done, value } = shop.job("networks", key, () => follow(shown, place));
    if (done) known = { key, found: value };
    return value ?? {};
  }

  return {
    layout: [input, columns("controls", [controls.letter], [controls.kept], [controls.logarithmic]), panels],
    texts: {
      letter: (value) => {
        const letters = readable(model.get("text"), places);
        return letters.length > 1 ? `“${visible(letters[Math.min(value, letters.length - 1)])}”` : "–";
      },
    },
    draw({ text, letter, kept, logarithmic }) {
      const letters = readable(text, places).slice(0, longest);
      const left = [...text].length - letters.length;
      const many = `${letters.length} letters; up to ${longest} are read`;
      const unknown = left > 0 ? "; letters that the networks have never seen are left out" : "";
      const short = letters.length < 2;
      input.draw(
        text,
        short ? "Type two letters or more: one to read, one to predict." : `${many}${unknown}.`,
      );
      set(panels, { hidden: short });
      if (short) return;
      const place = Math.min(letter, letters.length - 1);
      controls.letter.limit({ high: letters.length - 1 });
      controls.letter.set(place);
      controls.kept.limit({ high: Math.max(place, 2) });
      controls.kept.set(kept);
      const shown = replaced(letters, place, kept, passage);
      const erased = kept === null ? 0 : Math.max(0, place - kept);
      const opening = !known.key;
      const found = present(shown, place);
      const drawRow = (i) => {
        const one = found[kinds[i]];
        return one && rows[i].draw(shown, place, erased, shades(one.sizes, logarithmic, faintest), one);
      };
      const inTurn = kinds.map((_, i) => (turn + i) % kinds.length);
      if (opening) inTurn.forEach(drawRow);
      // each frame after the opening writes one row, and one the sentence
      const written = opening ? undefined : inTurn.find(drawRow);
      const ready = written === undefined && kinds.every((kind) => found[kind]);
      cancelAnimationFrame(request);
      if (written !== undefined) {
        turn = written + 1;
        request = requestAnimationFrame(redraw);
      }
      set(panels, { "aria-busy": String(!ready) });
      result.say(
        ready ? describe(shown[place], place, Object.values(found)) : asked(shown[place], place),
        !ready,
      );
    },
    stop() {
      cancelAnimationFrame(request);
      shop.stop();
    },
  };
});
