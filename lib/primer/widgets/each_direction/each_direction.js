// Each direction of a bowl: how far one step size and one momentum bring each of its curvatures.
//
// The functions above `LEFT` are the mathematics; the tests compare them with primer.optimization.

import { between, button, clamp, columns, counted, div, format, heading, key, memory } from "../kit/kit.js";
import { panel, paths, resultLine, short, significant, sum, widget } from "../kit/kit.js";
import { play } from "../shared/play.js";
import { inTurns, news } from "../shared/in_turns.js";
import { scientific } from "../shared/scientific.js";

/** By how much the heavy ball shrinks an error per step in the long run: the larger modulus of its two roots. */
export function factorOf(h, step, momentum) {
  const half = (1 + momentum - step * h) / 2;
  const under = half * half - momentum;
  return under < 0 ? Math.sqrt(momentum) : Math.abs(half) + Math.sqrt(under);
}

/** How an error moves: it creeps with real roots above 0, swings with complex ones, jumps with real ones below 0. */
export function regimeOf(h, step, momentum) {
  const [pull, root] = [step * h, Math.sqrt(momentum)];
  if (pull >= (1 + root) ** 2) return "jumps";
  return pull > (1 - root) ** 2 ? "swings" : "creeps";
}

/** The errors from rest at 1; what exceeds `largest` stays there. */
export function errorsOf(h, step, momentum, steps, largest) {
  let [now, before] = [1, 1];
  const found = [now];
  for (let t = 0; t < steps; t++) {
    const next = clamp((1 + momentum - step * h) * now - momentum * before, -largest, largest);
    [now, before] = [next, now];
    found.push(now);
  }
  return found;
}

/** The step size at which the steepest direction stops converging. */
export const limitOf = (highest, momentum) => (2 * (1 + momentum)) / highest;

/** The best step size and momentum for curvatures between two ends, { step, momentum, factor }, and without momentum. */
export function bestOf(lowest, highest) {
  const [low, high] = [Math.sqrt(lowest), Math.sqrt(highest)];
  const factor = (high - low) / (high + low);
  return {
    plain: { step: 2 / (highest + lowest), momentum: 0, factor: (highest - lowest) / (highest + lowest) },
    heavy: { step: (2 / (high + low)) ** 2, momentum: factor ** 2, factor },
  };
}

/** The corners of all settings [η, β] whose worst factor is at most `factor`; none where nothing is that fast. */
export function settingsOf(factor, lowest, highest) {
  if (factor < bestOf(lowest, highest).heavy.factor) return [];
  const [left, right] = [(1 - factor) / lowest, (1 + factor) / highest];
  const least = Math.min(Math.max(0, (left - right) / (left + right)), factor);
  const corners = [
    [left, -1, least],
    [right, 1, least],
    [right, 1, factor],
    [left, -1, factor],
  ];
  return corners.map(([end, side, part]) => [end * (1 + side * part), factor * part]);
}

const small = (x) => (x < 0.001 ? scientific(x) : significant(x));
const many = (x) => (x > 1e9 ? "more than 10⁹" : x >= 999.5 ? scientific(x) : small(x));

/** Which factors are the largest. */
export function slowest(factors) {
  const worst = Math.max(...factors);
  return factors.flatMap((factor, i) => (factor > worst - 1e-6 ? [i] : []));
}

/** What the result line says. */
export function describe({ step, momentum, time, curvatures }, loss) {
  const factors = curvatures.map((h) => factorOf(h, step, momentum));
  const slow = slowest(factors);
  const worst = factors[slow[0]];
  const [lowest, highest] = [Math.min(...curvatures), Math.max(...curvatures)];
  const told = slow.map((i) => `${short(curvatures[i], 1)} (${regimeOf(curvatures[i], step, momentum)})`);
  const who = slow.length > 2 ? `${slow.length} directions alike` : `h = ${[...new Set(told)].join(" and ")}`;
  const limit = limitOf(highest, momentum);
  const bound = `limit η = ${significant(limit)}`;
  const fate =
    step < limit * (1 - 1e-9)
      ? `Slowest: ${who}, factor ${format(worst)} a step; ${bound}`
      : `Not below the ${bound}: h = ${short(highest, 1)} has the factor ${many(worst)} a step`;
  const { plain, heavy } = bestOf(lowest, highest);
  const best = `Best: ${format(plain.factor)} at η = ${significant(plain.step)} without momentum, ${format(heavy.factor)} at η = ${significant(heavy.step)}, β = ${format(heavy.momentum)} with it`;
  return `${fate}. ${best}. Loss after ${counted(time, "step")}: ${many(loss)}.`;
}

// ---------------------------------------------------------------- what the reader sees

const LEFT = 46;
const TOP = 1.3; // what shrinks no more is drawn there
const FLOOR = 1e-6;
const LOWEST = 1e-8; // of the losses
const MARGIN = [24, 12, 40, LEFT];
const wide = ([low, high]) => [0.8 * low, 1.25 * high];
const across = (ends, label) => ({
  ...{ domain: wide(ends), label, logarithmic: true, ticks: [1, 3, 10, 30, 100], text: String },
});
const WRITTEN = { 1: "1", 100: "100", 0.01: "0.01", 10000: "10⁴" };
const power = (t) => WRITTEN[t] ?? scientific(t, 0).slice(2);

const fateOf = (factor) => (factor < 1 - 1e-9 ? "slowest" : factor > 1 + 1e-9 ? "grows" : "stays");

const rates = (ends, move) =>
  panel({
    label: "The factor of each direction's error per step over its curvature, on one curve",
    name: "rates",
    height: (width) => clamp(0.56 * width, 170, 210),
    margin: MARGIN,
    x: across(ends, "curvature h"),
    y: { domain: [0, TOP], label: "factor per step", ticks: [0, 0.25, 0.5, 0.75, 1], text: (t) => short(t) },
    layers: { zone: "path", off: "path", road: "path", one: "path", bar: { tag: "path", many: true } },
    over: { dot: { tag: "circle", many: true, r: 6 }, word: { tag: "text", many: true } },
    marks: [
      {
        count: ({ curvatures }) => curvatures.length,
        at: ({ curvatures, factors }, i) => [curvatures[i], Math.min(factors[i], TOP)],
        label: ({ curvatures, factors, regimes }, i) =>
          `Direction ${i + 1}: curvature ${short(curvatures[i], 1)}, factor ${many(factors[i])}, ${regimes[i]}`,
        move: ([h], i) => move(h, i),
        keys: (dx, dy, i, { curvatures }) => move(curvatures[i] * 1.05 ** (dx + dy), i),
      },
    ],
    draw({ zone, off, road, one, bar, dot, word }, { x, y, line }, state) {
      const { curvatures, factors, step, momentum, slow } = state;
      const apart = slow.filter((i, n) => n === 0 || curvatures[i] !== curvatures[slow[0]]);
      const [from, to] = x.domain;
      const slab = (low, high) => {
        const [a, b] = [low, high].map((h) => x(clamp(h, from, to)));
        return b > a ? `M${a} ${y(0)}V${y(TOP)}H${b}V${y(0)}Z` : null;
      };
      const root = Math.sqrt(momentum);
      zone(slab((1 - root) ** 2 / step, (1 + root) ** 2 / step));
      off(slab((2 * (1 + momentum)) / step, to));
      // the corners of the curve among the places where it is drawn
      const corners = [(1 - root) ** 2, (1 + root) ** 2, 1 + momentum].map((pull) => pull / step);
      const places = between(Math.log(from), Math.log(to), 60).map(Math.exp);
      const all = [...places, ...corners.filter((h) => h > from && h < to)].sort((a, b) => a - b);
      road(line(all.map((h) => [h, Math.min(factorOf(h, step, momentum), 10)])));
      one(`M${x(from)} ${y(1)}H${x(to)}`);
      bar(curvatures, (h, i) => ({
        ...{ class: `bar of${i}`, d: `M${x(h)} ${y(0)}V${y(Math.min(factors[i], TOP))}` },
      }));
      dot(curvatures, (h, i) => ({
        class: `dot of${i}`,
        ...{ cx: x(h), cy: y(Math.min(factors[i], TOP)) },
      }));
      word(slow.length > 2 ? [] : apart, (i) => {
        const [place, high] = [x(curvatures[i]), factors[i] > 1.1];
        const right = place > (x.range[0] + x.range[1]) / 2;
        const beside = high ? (right ? -12 : 12) : 0; // at the top there is no room above the dot
        const anchor = high ? (right ? "end" : "start") : "middle";
        return {
          ...{ x: high ? place + beside : clamp(place, x.range[0] + 26, x.range[1] - 24) },
          ...{ y: y(Math.min(factors[i], TOP)) + (high ? 12 : -10), "text-anchor": anchor },
          words: fateOf(factors[i]),
        };
      });
    },
  });

const remains = (ends) =>
  panel({
    label: "What is left of the error of each direction, on a logarithmic axis",
    name: "remains",
    height: 172,
    margin: MARGIN,
    x: across(ends, "curvature h"),
    y: ({ time }) => ({
      ...{ domain: [FLOOR, 1e3], label: `error after ${counted(time, "step")}`, logarithmic: true },
      ...{ ticks: [1e-6, 1e-4, 1e-2, 1, 100], text: power },
    }),
    layers: { one: "path", bar: { tag: "path", many: true } },
    draw({ one, bar }, { x, y }, { curvatures, errors, time }) {
      one(`M${x.range[0]} ${y(1)}H${x.range[1]}`);
      bar(curvatures, (h, i) => ({
        class: `bar of${i}`,
        d: `M${x(h)} ${y(FLOOR)}V${y(clamp(Math.abs(errors[i][time]), FLOOR, 1e3))}`,
      }));
    },
  });

const losses = (steps, drag) =>
  panel({
    label: "The loss at each step on a logarithmic axis, and the part of each direction",
    name: "losses",
    height: (width) => clamp(0.56 * width, 170, 210),
    margin: MARGIN,
    x: { domain: [0, steps], label: "step t", ticks: between(0, steps, 4), text: String },
    y: {
      ...{ domain: [LOWEST, 1e4], label: "loss", logarithmic: true },
      ...{ ticks: [1e-8, 1e-6, 1e-4, 1e-2, 1, 100, 1e4], text: power },
    },
    layers: { part: { tag: "path", many: true }, ...paths("whole", "cursor") },
    over: { dot: { tag: "circle", r: 5 } },
    drag,
    draw({ part, whole, cursor, dot }, { x, y, line, spot }, { parts, loss, time }) {
      const tame = (course) => {
        let last = course.length; // what stays below the axis need not be drawn
        while (last > 2 && course[last - 1] < LOWEST && course[last - 2] < LOWEST) last--;
        return line(course.slice(0, last).map((value, t) => [t, clamp(value, 1e-12, 1e9)]));
      };
      part(parts, (course, i) => ({ class: `part of${i}`, d: tame(course) }));
      whole(tame(loss));
      cursor(`M${x(time)} ${y.range[0]}V${y.range[1]}`);
      dot(spot(time, clamp(loss[time], LOWEST, 1e4)));
    },
  });

const WIDEST = 4; // beyond η = 4/h nothing converges, with whatever momentum

const plane = (levels, move) =>
  panel({
    label: "All pairs of step size and momentum: stronger in color where the slowest direction is faster",
    name: "plane",
    height: 220,
    margin: MARGIN.with(1, 20),
    x: ({ highest }) => ({
      ...{ domain: [0, WIDEST / highest], label: "step size η" },
      ...{ ticks: between(0, WIDEST / highest, 4), text: (t) => short(t, highest > 10 ? 3 : 2) },
    }),
    y: { domain: [-0.07, 1], label: "momentum β", ticks: [0, 0.25, 0.5, 0.75, 1], text: (t) => short(t) },
    layers: { region: { tag: "path", many: true }, edge: "path" },
    over: { best: { tag: "circle", many: true, r: 7 }, dot: { tag: "circle", r: 5 } },
    marks: [
      {
        at: ({ step, momentum, highest }) => [Math.min(step, WIDEST / highest), momentum],
        label: ({ step, momentum }) =>
          `Step size ${significant(step)}, momentum ${format(momentum)}: move both`,
        move,
        step: ({ highest }) => [(0.01 * WIDEST) / highest, 0.01],
      },
    ],
    draw({ region, edge, best, dot }, { line, spot }, state) {
      const { step, momentum, lowest, highest, tuned } = state;
      const corners = [1 - 1e-9, ...levels].map((level) => settingsOf(level, lowest, highest));
      region(
        corners.filter((some) => some.length),
        (some) => ({ d: `${line(some)}Z` }),
      );
      edge(line([0, 1].map((beta) => [limitOf(highest, beta), beta])));
      best([tuned.plain, tuned.heavy], (one) => spot(one.step, one.momentum));
      dot(spot(Math.min(step, WIDEST / highest), momentum));
    },
  });

export default widget("each-direction", ({ constants, controls, read, write, redraw }) => {
  const { steps, ends, range, levels, largest } = constants;
  const [once, anew] = [memory(), news()];
  const move = (h, i) => {
    const moved = Number(clamp(h, ...ends).toPrecision(4));
    write({ curvatures: read().curvatures.with(i, moved) });
  };
  const set = ([step, momentum]) =>
    write({
      step: Number(clamp(step, ...range).toPrecision(4)),
      momentum: Number(clamp(momentum, 0, 0.99).toFixed(4)),
    });
  const drag = ([t]) => write({ time: clamp(Math.round(t), 0, steps) });
  const views = [rates(ends, move), remains(ends), losses(steps, drag), plane(levels, set)];
  const result = resultLine();
  const run = ({ step, momentum, curvatures }) =>
    once("run", [step, momentum, curvatures], () => {
      const errors = curvatures.map((h) => errorsOf(h, step, momentum, steps, largest));
      const parts = errors.map((course, i) => course.map((e) => (curvatures[i] * e * e) / 2));
      return { errors, parts, loss: parts[0].map((_, t) => sum(parts.map((course) => course[t]))) };
    });
  const on = ({ step, momentum, time, curvatures }) => [step, momentum, time, curvatures];
  const follow = (state) => anew("losses", on(state), () => views[2].draw({ ...state, ...run(state) }));
  const tell = (state) =>
    anew("remains", [...on(state), player.playing()], () => {
      views[1].draw({ ...state, ...run(state) });
      result.say(describe(state, run(state).loss[state.time]), player.playing());
    });
  const picture = inTurns(redraw, follow, tell);
  let at = steps;
  const player = play({
    label: "Run",
    start() {
      at = read().time < steps ? read().time : 0;
    },
    frame(seconds) {
      at = Math.min(steps, at + 40 * seconds);
      write({ time: Math.floor(at) });
      return at < steps;
    },
    end: redraw,
  });
  const tune = (kind) => () => {
    const { curvatures } = read();
    const { step, momentum } = bestOf(Math.min(...curvatures), Math.max(...curvatures))[kind];
    write({ step, momentum: Math.min(momentum, 0.99) });
  };
  const buttons = [button("Tune η, β = 0", tune("plain")), button("Tune η and β", tune("heavy"))];
  return {
    layout: [
      columns(
        "controls",
        [controls.step, controls.momentum],
        [controls.time, div("buttons", ...buttons, player.button)],
      ),
      columns(
        "views",
        [
          heading("Drag a curvature: ", key("swings", "swings"), key("off", "diverges")),
          views[0],
          views[1],
          result,
        ],
        [
          heading(key("whole", "loss"), key("part", "of one direction")),
          views[2],
          heading("Drag the dot: ", key("fast", "fast"), key("best", "best")),
          views[3],
        ],
      ),
    ],
    draw(state) {
      const { step, momentum, curvatures } = state;
      const factors = curvatures.map((h) => factorOf(h, step, momentum));
      const regimes = curvatures.map((h) => regimeOf(h, step, momentum));
      const [lowest, highest] = [Math.min(...curvatures), Math.max(...curvatures)];
      const [slow, tuned] = [slowest(factors), bestOf(lowest, highest)];
      const drawn = { ...state, factors, regimes, slow, lowest, highest, tuned };
      for (const view of [views[0], views[3]]) view.draw(drawn); // what keys move is where it was moved to
      picture.draw(state);
    },
    stop() {
      picture.stop();
      if (player.playing()) player.stop();
    },
  };
});
