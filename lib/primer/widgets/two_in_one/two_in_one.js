// Two in one: two features that share one number, and the weights that lose least.
//
// What is computed is in sharing.js.

import { between, button, clamp, columns, div, format, heading, heatMap, html } from "../kit/kit.js";
import { key, lay, memory, panel, paths, percent, resultLine, widget } from "../kit/kit.js";
import { table } from "../shared/table.js";
import { play } from "../shared/play.js";
import { tuple } from "../shared/tuple.js";
import { inTurns, news } from "../shared/in_turns.js";
import { dots } from "../shared/pixels.js";
import { balance, cases, chances, fallen, GRID, landscape, landscapeWith, loss, lowest } from "./sharing.js";
import { ownLosses, REACH, withBestBiases } from "./sharing.js";

/** What two weights make of the one number, in words. */
export function arrangement(weights) {
  const part = balance(weights);
  if (Math.max(...weights.map(Math.abs)) < 0.05) return "nothing is told";
  if (Math.abs(part) < 0.05)
    return `the number for ${Math.abs(weights[0]) > Math.abs(weights[1]) ? "the first" : "the second"} alone`;
  return part < 0 ? "opposite signs" : "the same sign";
}

/** What the result line says. */
export function describe({ weights, biases, p, ratio }, least, still) {
  const words = arrangement(weights);
  const now = `${words[0].toUpperCase()}${words.slice(1)}, w = ${tuple(weights)}`;
  const lost = `${now}: loss ${format(loss(weights, biases, p, ratio), 4)}.`;
  const possible = `The least at p = ${format(p, 2)}, r = ${format(ratio, 2)} is ${format(least.loss, 4)}, with ${arrangement(least.weights)}.`;
  return `${lost} ${possible}${still ? " The slope is 0 here: nothing falls." : ""}`;
}

/** What comes back of two features. */
export const back = ([w1, w2], biases, [x1, x2]) =>
  [w1, w2].map((w, i) => Math.max(w * (w1 * x1 + w2 * x2) + biases[i], 0));

/** Up to which chance, at each r, opposite signs win between the two solutions of the text: as primer.inside.sharing_border. */
export function border(ratio) {
  const least = Math.min(1, ratio);
  return (4 * least) / (2 * (1 + ratio) + 3 * least);
}

/** Whether another step would move no number by more than can be seen. */
export const rests = (state) => fallen(state).length <= 2e-5;

/** The state after so many seconds of falling, and whether it rests there. */
export function falling(state, seconds) {
  let next = state;
  for (let step = 0; step < 90 * seconds; step++) next = { ...next, ...fallen(next) };
  return { ...next, rests: rests(next) };
}

// ---------------------------------------------------------------- what the reader sees

const SQUARE = { height: (width) => width + 14, widest: 300, margin: [24, 10, 38, 34] };
const WEIGHTS = { domain: [-REACH, REACH], ticks: [-1, 0, 1] };
const PRESETS = { "Opposite signs": [1, -1], "One alone": [1, 0], "The same sign": [0.8, 0.6] };

function plane(move) {
  const canvas = html("canvas", { "aria-hidden": "true" });
  const frame = div("ground", canvas);
  const once = memory();
  const place = (x) => Number(clamp(x, -REACH, REACH).toFixed(3));
  const drawing = panel({
    ...SQUARE,
    label: "The two weights on a map of the loss, dark where it is low; a ring where it is lowest",
    x: { ...WEIGHTS, label: "weight w₁" },
    y: { ...WEIGHTS, label: "weight w₂" },
    layers: { ring: { tag: "circle", r: 6, many: true } },
    over: { here: { tag: "circle", r: 7 } },
    marks: [
      {
        at: ({ weights }) => weights,
        label: ({ weights }) => `Weights ${tuple(weights)}`,
        move: (to) => move(to.map(place)),
        step: 0.05,
      },
    ],
    draw({ ring, here }, { x, y, spot }, { weights, ground, lowest: least, key: on }) {
      const [[left, right], [bottom, top]] = [x.range, y.range];
      const [wide, high] = [right - left, bottom - top];
      const [dx, dy] = [wide, high].map((side) => side / (GRID.length - 1) / 2); // a pixel's middle lies at its weights
      lay(frame, { left, top, width: wide, height: high });
      lay(canvas, { left: -dx, top: -dy, width: wide + 2 * dx, height: high + 2 * dy });
      const paint = () => {
        const n = GRID.length;
        const rows = Float64Array.from(
          ground,
          (_, at) => ground[(n - 1 - Math.floor(at / n)) * n + (at % n)],
        );
        const [low, none] = [Math.min(...ground), ground[(n * n - 1) / 2]]; // with no weights at all nothing is told
        const level = (value) => Math.sqrt(clamp((value - low) / Math.max(none - low, 1e-9), 0, 1.6) / 1.6);
        heatMap(canvas, rows.map(level), n, [0, 1]);
      };
      if (ground) once("ground", on, paint);
      ring(least ? [least, least.map((w) => -w)] : [], (w) => spot(...w));
      here(spot(...weights));
    },
  });
  return { element: div("map", frame, drawing), draw: drawing.draw };
}

const INPUTS = between(0, 1, 5).flatMap((a) => between(0, 1, 5).map((b) => [a, b]));
const BOTH = INPUTS.filter(([a, b]) => a && b);
const ALONE = INPUTS.filter(([a, b]) => !a || !b);

const returned = () =>
  panel({
    ...SQUARE,
    label: "Where each pair of features comes back: a line from what goes in to a dot at what comes out",
    x: { domain: [-0.08, 1.3], ticks: [0, 0.5, 1], label: "first feature" },
    y: { domain: [-0.08, 1.3], ticks: [0, 0.5, 1], label: "second feature" },
    layers: paths("way", "both", "one"),
    draw({ way, both, one }, { line, at }, { weights, biases }) {
      const out = (/** @type {any} */ x) => back(weights, biases, x);
      way(INPUTS.map((x) => line([x, out(x)])).join(""));
      const ends = (some, r) => dots(some.map(out).map(at), r);
      both(ends(BOTH, 3));
      one(ends(ALONE, 3.5));
    },
  });

const KINDS = { o: "opposite", a: "alone", s: "same" };

// Runs of equal kind in each row of the stored map, as rectangles.
function regions(rows, { x, y }) {
  const found = { opposite: "", alone: "", same: "" };
  const [wide, top] = [rows[0].length, rows.length - 1];
  for (let k = -top; k <= top; k++) {
    const [low, high] = [k - 0.5, k + 0.5].map((at) => y(10 ** clamp(at / top, -1, 1)).toFixed(1));
    let from = 0;
    for (const [run] of rows[Math.abs(k)].matchAll(/(.)\1*/g)) {
      const [left, right] = [from, from + run.length].map((i) =>
        x(i && Math.min(1, (i + 0.5) / wide)).toFixed(1),
      );
      found[KINDS[run[0]]] += `M${left} ${low}H${right}V${high}H${left}Z`;
      from += run.length;
    }
  }
  return found;
}

function chart(rows, move) {
  const once = memory();
  return panel({
    ...SQUARE,
    label: "Which weights lose least, by the chance to be active and the importance of the second feature",
    x: { domain: [0, 1], ticks: [0, 0.5, 1], label: "chance p" },
    y: {
      domain: [0.1, 10],
      logarithmic: true,
      ticks: [0.1, 1, 10],
      text: (t) => `${t}`,
      label: "importance r",
    },
    layers: paths("opposite", "alone", "same", "edge"),
    over: { here: { tag: "circle", r: 7 } },
    marks: [
      {
        at: ({ p, ratio }) => [p, ratio],
        label: ({ p, ratio }) => `Chance ${format(p, 2)}, importance ${format(ratio, 2)}`,
        move: ([p, ratio]) =>
          move({
            p: Number(clamp(p, 0.02, 1).toFixed(2)),
            ratio: Number(clamp(ratio, 0.1, 10).toPrecision(3)),
          }),
        keys: (dx, dy, _, { p, ratio }) =>
          move({
            p: Number(clamp(p + 0.02 * dx, 0.02, 1).toFixed(2)),
            ratio: Number(clamp(ratio * 10 ** (dy / 20), 0.1, 10).toPrecision(3)),
          }),
      },
    ],
    draw({ here, edge: line, ...kinds }, plot, { p, ratio }) {
      once("regions", [plot.x.range, plot.y.range], () => {
        for (const [name, d] of Object.entries(regions(rows, plot))) kinds[name](d);
        line(plot.line(between(-1, 1, 40).map((log) => [border(10 ** log), 10 ** log])));
      });
      here(plot.spot(p, ratio));
    },
  });
}

const CASES = ["neither", "only the first", "only the second", "both"];

export default widget("two-in-one", ({ constants, controls, read, write, redraw }) => {
  const [once, anew] = [memory(), news()];
  const stay = () => fall.playing() && fall.stop();
  const settled = () => {
    const { first_bias, second_bias, ...state } = read();
    const free = () => withBestBiases(state.weights, state.p, state.ratio).biases;
    const biases = state.best ? once("biases", [state.weights, state.p], free) : [first_bias, second_bias];
    return { ...state, biases, first_bias: biases[0], second_bias: biases[1] };
  };
  const round = (x) => Number(x.toFixed(5));
  const fall = play({
    label: "Let it fall",
    frame(seconds) {
      // Written as it is: rounded, it could move again, and what rests would not be said to rest.
      const { weights, biases, best, rests: done } = falling(settled(), seconds);
      write({ weights, ...(best ? {} : { first_bias: biases[0], second_bias: biases[1] }) });
      return !seconds || !done;
    },
    end: () => {},
  });
  const put = (changes) => {
    stay();
    write(changes);
  };
  const presets = Object.entries(PRESETS).map(([name, weights]) => button(name, () => put({ weights })));
  const [map, picture, chances_] = [
    plane((weights) => put({ weights })),
    returned(),
    chart(constants.rows, put),
  ];
  const [result, board] = [
    resultLine(),
    table({ head: ["active", "how often", "error then", "of the loss"] }),
  ];
  const { p, ratio, best, first_bias, second_bias } = controls;
  let land = {}; // the loss at all weights, and where it is lowest

  /** What comes back, and how often it is wrong. */
  const come = (state) =>
    anew("back", [state.weights, state.biases, state.p, state.ratio], () => {
      const { weights, biases } = state;
      picture.draw(state);
      const [often, errors] = [chances(state.p), cases(weights, biases, state.ratio)];
      const whole = loss(weights, biases, state.p, state.ratio);
      const rows = CASES.map((name, i) => [
        name,
        percent(often[i]),
        format(errors[i], 4),
        whole > 1e-9 ? percent((often[i] * errors[i]) / whole, 0) : "–",
      ]);
      board.draw(rows);
    });

  /** The map of the loss, and what is said of a place on it. */
  const survey = (state) =>
    anew("said", [state.weights, state.biases, state.p, state.ratio, state.best, fall.playing()], () => {
      const { p: chance, ratio: part, biases } = state;
      const own = once("own", chance, () => ownLosses(chance));
      const on = state.best ? [chance, part] : [chance, part, ...biases];
      const free = once("free", [chance, part], () => landscape(own, part));
      const least = once("least", [chance, part], () => lowest(free, chance, part));
      const ground = state.best ? free : once("ground", on, () => landscapeWith(biases, chance, part));
      land = { ground, lowest: state.best && least.weights, key: on };
      map.draw({ ...land, weights: read().weights });
      const still = !fall.playing() && rests(state);
      result.say(describe(state, least, still), fall.playing());
    });
  const drawn = inTurns(redraw, come, survey);
  return {
    layout: [
      columns("controls", [p, ratio], [best, first_bias, second_bias]),
      div("buttons", ...presets, fall.button),
      result,
      columns(
        "views",
        [heading("The two weights, to drag. Dark: the loss is low; dashed rings: lowest"), map],
        [
          heading(
            "Two features, back from one number: ",
            key("one", "one active"),
            key("both", "both"),
            "Lines: from what went in",
          ),
          picture,
        ],
        [
          heading(
            "Which weights lose least: ",
            key("opposite", "opposite signs"),
            key("alone", "one alone"),
            key("same", "same sign"),
            "Dashed: the formula",
          ),
          chances_,
        ],
      ),
      div("board", board),
    ],
    read: settled,
    change(changes) {
      const { first_bias: one, second_bias: other } = settled();
      put(
        changes.best === false ? { ...changes, first_bias: round(one), second_bias: round(other) } : changes,
      );
    },
    draw(state) {
      map.draw({ ...land, weights: state.weights }); // what keys move is where it was moved to
      chances_.draw(state);
      drawn.draw(state);
    },
    stop() {
      drawn.stop();
      stay();
    },
  };
});
