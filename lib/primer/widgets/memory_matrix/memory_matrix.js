// Memory matrix: the state of linear attention as an image, while pairs are written into it.

import {
  clamp,
  columns,
  counted,
  div,
  format,
  heading,
  legend,
  mean,
  memory,
  panel,
  resultLine,
} from "../kit/kit.js";
import { widget } from "../kit/kit.js";
import { inTurns, news } from "../shared/in_turns.js";

const SIZE = 8;

// ---------------------------------------------------------------- what is computed

const range = (n) => Array.from({ length: n }, (_, i) => i);
const outer = (k, v) => k.map((a) => v.map((b) => a * b));
const times = (k, W) => range(SIZE).map((j) => k.reduce((sum, a, i) => sum + a * W[i][j], 0));

/** Eight keys of length 1, any two of them at the same angle, in degrees. */
export function keysAt(angle) {
  const rho = Math.cos((angle * Math.PI) / 180);
  const own = Math.sqrt(1 - rho);
  const common = (Math.sqrt(1 - rho + SIZE * rho) - own) / SIZE;
  return range(SIZE).map((i) => range(SIZE).map((j) => common + (i === j ? own : 0)));
}

/**
 * A memory after so many writes: { W, key, row, added }; the last write added the outer product of `key` and `row`.
 * `rate` is β of the delta rule; null adds each pair as it is.
 */
export function written(values, { writes, angle }, rate) {
  const keys = keysAt(angle);
  let W = range(SIZE).map(() => range(SIZE).map(() => 0));
  let [key, row] = [range(SIZE).map(() => 0), range(SIZE).map(() => 0)];
  for (let t = 0; t < writes; t++) {
    key = keys[t % SIZE];
    const said = times(key, W);
    row = values[t].map((v, j) => (rate === null ? v : rate * (v - said[j])));
    const added = outer(key, row);
    W = W.map((line, i) => line.map((x, j) => x + added[i][j]));
  }
  return { W, key, row, added: outer(key, row) };
}

/** The newest value of each key that has one. */
export const newest = (values, writes) =>
  range(Math.min(writes, SIZE)).map((key) => values[key + SIZE * Math.floor((writes - 1 - key) / SIZE)]);

/** How far each answer lies from the newest value, in lengths of a value. */
export function errors({ W }, values, { writes, angle }) {
  const keys = keysAt(angle);
  return newest(values, writes).map((value, i) => {
    const said = times(keys[i], W);
    return Math.hypot(...value.map((v, j) => said[j] - v)) / Math.sqrt(SIZE);
  });
}

/** What the result line says. */
export function describe({ writes, angle, asked }, found) {
  if (!writes) return "Nothing is written yet: both memories are zero.";
  const said = `${counted(writes, "pair")}, keys at ${format(angle, 0)}°.`;
  const average = `Mean error: addition ${format(mean(found[0]), 2)}, delta rule ${format(mean(found[1]), 2)}.`;
  if (asked > found[0].length) return `${said} ${average} Key ${asked} has no value yet.`;
  const [one, other] = found.map((errors) => format(errors[asked - 1], 2));
  return `${said} ${average} Key ${asked}: ${one} and ${other}.`;
}

// ---------------------------------------------------------------- what the reader sees

const WIDE = 20;
const RIGHT = 11; // where the last write stands
const HIGH = 11.4;

// Cells of a row or a table, from its top left corner: { left, top, value }.
const cellsOf = (table, left, top) =>
  table.flatMap((line, i) => line.map((value, j) => ({ left: left + j, top: top + i, value })));

const LEVELS = 24; // a style for each of hundreds of cells would take longer than all else in a frame

function image(label) {
  const [shades, once] = [range(2 * LEVELS + 1), memory()];
  return panel({
    label,
    name: "matrix",
    height: (width) => Math.round((HIGH + 1.2) * (width / WIDE)),
    widest: 420,
    margin: [0, 0, 0, 0],
    x: { domain: [-0.2, WIDE - 0.2], ticks: [], label: "" },
    y: { domain: [HIGH, -1.2], ticks: [], label: "" },
    layers: { cell: { tag: "path", many: true }, "row-asked": "rect", word: { tag: "text", many: true } },
    draw(
      { cell, "row-asked": frame, word },
      { x, y },
      { memory: { W, key, row, added }, keys, value, asked, strongest },
    ) {
      const answer = times(keys[asked - 1], W);
      const cells = [
        ...cellsOf(W, 0, 0),
        ...cellsOf([answer], 0, 8.4),
        ...cellsOf([value ?? []], 0, 9.6),
        ...cellsOf(
          key.map((k) => [strongest * k]),
          RIGHT - 1.4,
          0,
        ),
        ...cellsOf(added, RIGHT, 0),
        ...cellsOf([row], RIGHT, 8.4),
      ];
      const size = x(1) - x(0);
      const side = size.toFixed(1);
      const square = once("squares", size, memory);
      const outlines = shades.map(() => "");
      for (const { left, top, value: number } of cells) {
        const shade = Math.round(LEVELS * (1 + clamp(number / strongest, -1, 1)));
        const corner = () => `M${x(left).toFixed(1)} ${y(top).toFixed(1)}h${side}v${side}h-${side}Z`;
        outlines[shade] += square(`${left} ${top}`, 0, corner);
      }
      cell(shades, (shade) => ({
        class: shade < LEVELS ? "cell less" : "cell",
        "fill-opacity": Math.abs(shade / LEVELS - 1).toFixed(3),
        d: outlines[shade],
      }));
      frame({ x: x(0), y: y(8.4), width: 8 * size, height: size });
      const words = [
        ["the memory", 0, -0.3],
        ["the last write", RIGHT, -0.3],
        ["answer", 8.2, 9.1],
        [value ? "right" : "no value yet", value ? 8.2 : 0, 10.3],
        ["key × row", RIGHT, 10.3],
      ];
      word(words, ([text, left, top]) => ({ words: text, x: x(left), y: y(top) }));
    },
  });
}

const mistakes = (choose, step) =>
  panel({
    label:
      "The error of each key’s answer, in lengths of a value; arrow keys choose the key that is asked for",
    name: "errors",
    role: "application",
    height: 150,
    margin: [24, 8, 36, 34],
    x: {
      domain: [0, SIZE],
      ticks: range(SIZE).map((i) => i + 0.5),
      text: (t) => `${t + 0.5}`,
      label: "key, in the order of the first writing",
    },
    y: ({ most }) => ({ domain: [0, most], label: "error, in lengths of a value" }),
    layers: { here: "rect", addition: "path", delta: "path" },
    drag: ([x]) => choose(Math.floor(x) + 1),
    step,
    draw({ here, addition, delta }, { x, y }, { found, asked, most }) {
      here({ x: x(asked - 1), y: y(most), width: x(1) - x(0), height: y(0) - y(most) });
      const bars = (errors, from) =>
        errors
          .map((error, i) => `M${x(i + from)} ${y(0)}V${y(error).toFixed(1)}H${x(i + from + 0.34)}V${y(0)}Z`)
          .join("");
      addition(bars(found[0], 0.14));
      delta(bars(found[1], 0.52));
    },
  });

export default widget("memory-matrix", ({ controls, constants, read, write, redraw }) => {
  const { values, rules, strongest } = constants;
  const choose = (asked) => write({ asked: clamp(asked, 1, SIZE) });
  const images = rules.map((rule) => image(`The memory of the ${rule}, its last write and one answer`));
  const bars = mistakes(choose, (dx) => choose(read().asked + dx));
  const result = resultLine();
  const [once, anew] = [memory(), news()];
  const writtenBy = ({ writes, angle, rate }) =>
    once("written", [writes, angle, rate], () =>
      [null, rate].map((own) => written(values, { writes, angle }, own)),
    );

  /** One of the memories, with what is asked of it. */
  const show = (which) => (state) => {
    const { writes, angle, rate, asked } = state;
    const on = [writes, angle, which && rate, asked];
    return anew(which, on, () => {
      const value = newest(values, writes)[asked - 1];
      images[which].draw({ memory: writtenBy(state)[which], keys: keysAt(angle), value, asked, strongest });
    });
  };
  /** The errors of both, in bars and in words. */
  function compare(state) {
    const { writes, angle, rate, asked } = state;
    return anew("errors", [writes, angle, rate, asked], () => {
      const found = writtenBy(state).map((one) => errors(one, values, state));
      const most = Math.max(1, Math.ceil(Math.max(0, ...found.flat())));
      bars.draw({ found, asked, most });
      result.say(describe(state, found));
    });
  }
  const picture = inTurns(redraw, show(0), show(1), compare);

  return {
    layout: [
      div("controls", controls.writes, controls.angle, controls.asked, controls.rate),
      columns(
        "both",
        [heading("Addition: W ← W + kᵀv"), images[0]],
        [heading("Delta rule: W ← W + β kᵀ(v − kW)"), images[1]],
      ),
      legend({ more: "above 0", less: "below 0" }),
      heading("Left bar addition, right bar delta rule"),
      bars,
      result,
    ],
    draw: (state) => picture.draw(state),
    stop: picture.stop,
  };
});
