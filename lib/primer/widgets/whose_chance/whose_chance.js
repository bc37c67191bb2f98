// Whose chance: which true shares k of n leaves, by three intervals, and how often each holds the truth.
//
// The functions above `shown` are the mathematics; the tests compare them with primer.evaluation.

import {
  between,
  clamp,
  columns,
  format,
  heading,
  key,
  memory,
  panel,
  paths,
  percent,
  resultLine,
  widget,
} from "../kit/kit.js";
import { chanceOf, chances, lowest } from "../shared/binomial.js";

/** The intervals: method(right, n, { z, level }) → [low, high]. */
export const METHODS = {
  wald(k, n, { z }) {
    const p = k / n;
    const reach = z * Math.sqrt((p * (1 - p)) / n);
    return [Math.max(0, p - reach), Math.min(1, p + reach)];
  },
  wilson(k, n, { z }) {
    const [p, more] = [k / n, (z * z) / n];
    const reach = z * Math.sqrt((p * (1 - p)) / n + more / n / 4);
    const end = (sign) => (p + more / 2 + sign * reach) / (1 + more);
    return [k ? end(-1) : 0, k < n ? end(1) : 1];
  },
  clopper_pearson(k, n, { level }) {
    const alpha = (1 - level) / 2;
    return [lowest(k, n, alpha), 1 - lowest(n - k, n, alpha)];
  },
};

/** The intervals of all k of n. */
export const all = (method, n, constants) =>
  Array.from({ length: n + 1 }, (_, k) => METHODS[method](k, n, constants));

/** How often intervals hold p: the sum of the probabilities of those k whose interval does. */
export function holds(intervals, p) {
  const held = (k) => intervals[k][0] <= p && p <= intervals[k][1];
  return chanceOf(held, intervals.length - 1, p);
}

export const coverage = (method, n, p, constants) => holds(all(method, n, constants), p);

// ---------------------------------------------------------------- what the reader sees

const MARGIN = [24, 10, 42, 104];
const FLOOR = 0.5; // where the axis of the coverage begins

const share = {
  domain: [-0.04, 1.04], // a whole bar has room at both ends
  label: "share of right answers",
  ticks: [0, 0.2, 0.4, 0.6, 0.8, 1],
  text: (t) => format(t, 1),
};

// Where the true share stands, through a whole drawing.
const upright = ({ x, y }, p) => `M${x(p)} ${y.range[0]}V${y.range[1]}`;

const bars = (names, drag) =>
  panel({
    label: "Three intervals for the true share, one below the other, and the share that is assumed",
    height: 150,
    margin: MARGIN,
    x: { ...share, label: "" },
    y: {
      domain: [names.length - 0.5, -0.5],
      label: "which true shares are left",
      ticks: names.map((_, i) => i),
      text: (i) => names[i],
    },
    layers: {
      bar: { tag: "rect", many: true, rx: 3 },
      truth: "path",
      seen: { tag: "circle", many: true, r: 4 },
    },
    drag,
    draw({ bar, truth, seen }, plot, { intervals, chosen, right, n, p }) {
      const { x, y, spot } = plot;
      bar(intervals, ([low, high], i) => ({
        class: i === chosen ? "bar chosen" : "bar",
        ...{ x: x(low), y: y(i) - 6, height: 12, width: Math.max(2, x(high) - x(low)) },
      }));
      truth(upright(plot, p));
      seen(intervals, (_, i) => spot(right / n, i));
    },
  });

const law = (drag) =>
  panel({
    label:
      "Probability of each number of right answers at the true share; filled are those whose interval holds it",
    height: 160,
    margin: MARGIN,
    x: { ...share, label: "" },
    y: ({ most }) => ({ domain: [0, most], label: "probability of k of n" }),
    layers: paths("kept", "missed", "truth"),
    drag,
    draw({ kept, missed, truth }, plot, { chances, held, n, p }) {
      const { x, y } = plot;
      const half = Math.max(0.5, (0.4 * (x(1) - x(0))) / n);
      const stand = (some) =>
        chances
          .map((c, k) => (held[k] === some ? `M${x(k / n) - half} ${y(0)}V${y(c)}h${2 * half}V${y(0)}Z` : ""))
          .join("");
      kept(stand(true));
      missed(stand(false));
      truth(upright(plot, p));
    },
  });

const curve = (move, { level }) =>
  panel({
    label: "How often the interval holds the truth, over all true shares",
    height: 190,
    margin: MARGIN,
    x: share,
    y: {
      ...{ domain: [FLOOR, 1.01], label: "the interval holds the truth so often" },
      ...{ ticks: [0.5, 0.6, 0.7, 0.8, 0.9, 1], text: (t) => format(t, 1) },
    },
    layers: paths("promise", "curve", "truth"),
    over: { here: { tag: "circle", r: 5 } },
    marks: [
      {
        at: ({ p, often }) => [p, Math.max(often, FLOOR)],
        label: ({ p, often }) => `True share ${format(p, 2)}: held with ${percent(often)}`,
        move: ([p]) => move(p),
        step: [0.01, 0],
      },
    ],
    draw({ promise, curve: road, truth, here }, plot, { shares, road: heights, often, p }) {
      promise(`M${plot.x.range[0]} ${plot.y(level)}H${plot.x.range[1]}`);
      road(plot.line(shares.map((s, i) => [s, heights[i]])));
      truth(upright(plot, p));
      here(plot.spot(p, Math.max(often, FLOOR)));
    },
  });

/** What the result line says. */
export function describe({ n, right, p, method, often, ends }, names) {
  const [low, high] = ends.map((end) => format(end, 3));
  const said = `${right} of ${n} right: ${names[method]} leaves ${low} to ${high}`;
  return `${said}. If the true share is ${format(p, 2)}, such an interval holds it in ${percent(often)} of all tests.`;
}

export default widget("whose-chance", ({ constants, controls, write: put }) => {
  const { names, grid } = constants;
  const methods = Object.keys(METHODS); // a notebook's file sorts the names
  const shares = between(0, 1, grid).slice(1, -1);
  const move = (p) => put({ p: controls.p.within(Math.round(100 * clamp(p, 0, 1)) / 100) });
  const drag = ([p]) => move(p);
  const views = [
    bars(
      methods.map((method) => names[method]),
      drag,
    ),
    law(drag),
    curve(move, constants),
  ];
  const result = resultLine();
  const once = memory();
  return {
    layout: [
      columns("controls", [controls.n, controls.wrong], [controls.p, controls.method]),
      heading(key("kept", "k whose interval holds p"), key("missed", "k whose interval misses it")),
      ...views,
      result,
    ],
    draw({ n, wrong, p, method }) {
      const ofAll = once("intervals", [method, n], () => all(method, n, constants));
      const road = once("road", [method, n], () => shares.map((s) => holds(ofAll, s)));
      const [right, chosen] = [n - wrong, methods.indexOf(method)];
      const intervals = once("three", [right, n], () => methods.map((m) => METHODS[m](right, n, constants)));
      const law = once("law", [n, p], () => chances(n, p));
      const held = ofAll.map(([low, high]) => low <= p && p <= high);
      const often = holds(ofAll, p);
      const state = { n, right, p, method, often, ends: intervals[chosen], intervals, chosen };
      const drawn = { ...state, chances: law, held, shares, road, most: 1.1 * Math.max(...law) };
      for (const view of views) view.draw(drawn);
      result.say(describe(state, names));
    },
  };
});
