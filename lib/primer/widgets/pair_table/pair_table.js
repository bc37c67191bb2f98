// Pair table: how often each letter followed each other in plays, as a map that a text walks through.

import {
  button,
  clamp,
  columns,
  counted,
  div,
  draggable,
  format,
  grouped,
  heading,
  heatMap,
  hover,
} from "../kit/kit.js";
import { html, lay, memory, panel, percent, resultLine, set, sketch, span, sum, widget } from "../kit/kit.js";
import { random } from "../shared/random.js";
import { textInput } from "../shared/text_input.js";

const SIZE = 27; // the space and 26 letters

// ---------------------------------------------------------------- what a table of pairs says

/** A text in the 27 symbols: capitals as small letters, runs of all else as one space, none at the beginning. */
export const fold = (text) =>
  Array.from(
    text
      .toLowerCase()
      .replace(/[^a-z]+/g, " ")
      .trimStart(),
    (letter) => (letter === " " ? 0 : letter.charCodeAt(0) - 96),
  );

/** The probability of each symbol after one, with 1 added to each count. */
export function chances(counts, first) {
  const row = counts.slice(first * SIZE, (first + 1) * SIZE);
  const total = sum(row) + SIZE;
  return row.map((count) => (count + 1) / total);
}

/** What each letter costs after the one before it, in bits; a space stands before the first. */
export const bitsOf = (table, letters) =>
  letters.map((letter, i) => -Math.log2(table[letters[i - 1] ?? 0][letter]));

/** The symbol that a uniform number draws from a row. */
export function draw(row, uniform) {
  let reached = 0;
  for (const [symbol, p] of row.entries()) {
    reached += p;
    if (reached > uniform) return symbol;
  }
  return row.length - 1;
}

/** The text with so many letters drawn after it; each drawing has a seed of its own. */
export function continued(table, text, letters, count, drawn) {
  const found = fold(text);
  for (let i = 0; i < count; i++) found.push(draw(table[found[found.length - 1] ?? 0], random(drawn + i)()));
  return found.map((symbol) => letters[symbol].replace("␣", " ")).join("");
}

/** What the result line says. */
export function describe([first, second], pair, of, p, bits) {
  const before = first === "␣" ? "a space" : `“${first}”`;
  const next = second === "␣" ? "a space" : `“${second}”`;
  const share = p < 0.00005 ? "under 0.01%" : percent(p, p < 0.0995 ? 2 : 1);
  const cell = `After ${before} came ${next} ${counted(pair, "time")} of ${grouped(of)}: ${share}, ${format(-Math.log2(p), 1)} bits.`;
  if (!bits.length) return `${cell} There is no letter to walk with: type one.`;
  return `${cell} The ${counted(bits.length, "symbol")} of the text cost ${format(sum(bits), 1)} bits, ${format(sum(bits) / bits.length, 2)} each.`;
}

// ---------------------------------------------------------------- the map

const SIDE = 18; // room for the letters at the left and at the top

const LABEL = "A row for each letter, a column for what comes next; arrow keys move from pair to pair.";

function pairMap(letters, pick) {
  const canvas = html("canvas");
  const field = html("div", { class: "field", role: "application", "aria-label": LABEL }, canvas);
  const many = { tag: "text", many: true };
  const { element: drawing, layers } = sketch({
    layers: { rows: many, heads: many, guide: "path", walked: "path", cursor: "rect" },
  });
  let [chosen, written] = [[0, 0], ""];
  const bound = (i) => clamp(Math.floor(i), 0, SIZE - 1);
  const at = (how) => (x, y) => pick(bound(y * SIZE), bound(x * SIZE), how);
  hover(field, at("hover"));
  draggable(field, {
    move: at("press"),
    step: (dx, dy) => pick(bound(chosen[0] - dy), bound(chosen[1] + dx), "key"),
  });

  function draw(values, darkest, pair, path, width) {
    chosen = pair;
    const extent = width - SIDE - 2;
    const size = extent / SIZE;
    const [x, y] = [(j) => SIDE + j * size, (i) => SIDE + i * size];
    if (written !== `${width}`) {
      written = `${width}`;
      heatMap(canvas, values, SIZE, [-darkest, 0]);
      lay(field, { left: SIDE, top: SIDE, width: extent, height: extent });
      set(drawing, { viewBox: `0 0 ${width} ${width}`, width, height: width });
    }
    const all = [...letters];
    layers.rows(all, (words, i) => ({
      words,
      class: i === pair[0] ? "chosen" : "tick",
      x: 8,
      y: y(i + 0.5) + 4,
    }));
    layers.heads(all, (words, j) => ({
      words,
      class: j === pair[1] ? "chosen" : "tick",
      x: x(j + 0.5),
      y: 12,
    }));
    layers.guide(`M${SIDE} ${y(pair[0] + 0.5)}H${x(pair[1])}M${x(pair[1] + 0.5)} ${SIDE}V${y(pair[0])}`);
    const box = ([i, j]) =>
      `M${(x(j) + 1).toFixed(1)} ${(y(i) + 1).toFixed(1)}h${(size - 2).toFixed(1)}v${(size - 2).toFixed(1)}h${(2 - size).toFixed(1)}Z`;
    layers.walked(path.map(box).join(""));
    layers.cursor({ x: x(pair[1]), y: y(pair[0]), width: size, height: size });
  }
  return { element: div("map", field, drawing), draw };
}

// ---------------------------------------------------------------- bars

// Bars over letters, of which one or several are chosen.
const bars = ({ label, name, height, axis, across, low, step, move }) =>
  panel({
    label,
    name,
    role: "application",
    height,
    margin: [22, 4, 34, 36],
    x: ({ names }) => ({
      domain: [0, Math.max(low, names.length)],
      ticks: names.map((_, i) => i + 0.5),
      text: (t) => names[t - 0.5] ?? "",
      label: across,
    }),
    y: ({ most, after }) => ({
      domain: [0, most],
      label: axis + (after ?? ""),
      ...(most <= 1 && { text: (t) => percent(t, 0) }),
    }),
    layers: { bar: "path", "chosen-bar": "path" },
    drag: ([x]) => move(Math.floor(x)),
    step: (dx) => step(dx),
    draw(layers, { x, y }, { values, chosen }) {
      const one = (i) =>
        `M${x(i + 0.1).toFixed(1)} ${y(0)}V${y(values[i]).toFixed(1)}H${x(i + 0.9).toFixed(1)}V${y(0)}Z`;
      const of = (wanted) => [...values.keys()].filter((i) => chosen.includes(i) === wanted);
      layers.bar(of(false).map(one).join(""));
      layers["chosen-bar"](of(true).map(one).join(""));
    },
  });

export default widget("pair-table", ({ constants, get, read, write: put, measured }) => {
  const { letters, longest, darkest, examples } = constants;
  const counts = get("counts");
  const table = Array.from({ length: SIZE }, (_, first) => chances(counts, first));
  const logs = Float64Array.from(table.flat(), Math.log2);
  const once = memory();
  const lettersOf = (text) => fold(text).slice(0, longest);
  let quiet = false; // who moves a mouse sees what the line says
  const pick = (first, second, how) => {
    quiet = how === "hover";
    if (first !== get("first") || second !== get("second")) put({ first, second });
  };
  const walkTo = (found, place) => {
    const at = clamp(place, 0, found.length - 1);
    quiet = false;
    return found.length ? { first: found[at - 1] ?? 0, second: found[at] } : {};
  };
  const change = (text, more = {}) => {
    const found = lettersOf(text);
    put({ text, ...walkTo(found, found.length - 1), ...more });
  };
  const input = textInput({ label: "Text", examples, longest: 400, change });
  const add = (count) => () => {
    const { text, drawn } = read();
    const start = lettersOf(text).length < longest ? text : text.slice(-1); // full: begin anew after the last letter
    change(continued(table, start, letters, count, drawn), { drawn: drawn + count });
  };
  const map = pairMap(letters, pick);
  const row = bars({
    label: "The chosen row: the probability of each letter that could come next; arrow keys move along it",
    name: "after",
    height: 150,
    axis: "probability after ",
    across: "next",
    low: SIZE,
    move: (second) => pick(get("first"), clamp(second, 0, SIZE - 1), "press"),
    step: (dx) => pick(get("first"), clamp(get("second") + dx, 0, SIZE - 1), "key"),
  });
  const placesOf = (found, { first, second }) =>
    [...found.keys()].filter((i) => (found[i - 1] ?? 0) === first && found[i] === second);
  let standing = 0;
  const go = (place) => {
    const found = lettersOf(get("text"));
    standing = clamp(place, 0, Math.max(0, found.length - 1));
    put(walkTo(found, standing));
  };
  const walk = bars({
    label: "The bits that each letter of the text costs; arrow keys walk along it",
    name: "walk",
    height: 140,
    axis: "bits",
    across: "the text",
    low: 12,
    move: go,
    step: (dx) => go(standing + dx),
  });
  const result = resultLine();
  const scale = div("colors", span("", `${darkest} bits or more`), html("i"), span("", "0"));
  const over = heading("A row for each letter, a column for the next; framed: the pairs of the text");
  const left = div("", over, map, scale, result);
  return {
    layout: [
      columns(
        "both",
        [left],
        [row, input, div("buttons", button("Draw a letter", add(1)), button("Draw twenty", add(20))), walk],
      ),
    ],
    draw(state) {
      const { text, first, second } = state;
      const all = once("all", text, () => fold(text));
      const found = once("letters", text, () => lettersOf(text));
      const cut = all.length > longest ? `; the first ${longest} are shown` : "";
      input.draw(text, `${counted(all.length, "symbol")} of 27, the space and 26 letters${cut}.`);
      const width = measured(() => Math.min(left.clientWidth, 480));
      const path = found.map((letter, i) => [found[i - 1] ?? 0, letter]);
      map.draw(logs, darkest, [first, second], path, width);
      const most = Math.min(1, Math.ceil(10 * Math.max(...table[first])) / 10);
      row.draw({
        after: `“${letters[first]}”`,
        names: [...letters],
        values: table[first],
        chosen: [second],
        most,
      });
      const bits = bitsOf(table, found);
      const places = placesOf(found, state);
      if (places.length && !places.includes(standing)) standing = places[places.length - 1];
      walk.draw({
        names: found.map((letter) => letters[letter]),
        values: bits,
        chosen: places,
        most: Math.max(8, Math.ceil(Math.max(0, ...bits))),
      });
      const own = counts.slice(first * SIZE, (first + 1) * SIZE);
      result.say(
        describe([letters[first], letters[second]], own[second], sum(own), table[first][second], bits),
        quiet,
      );
    },
  };
});
