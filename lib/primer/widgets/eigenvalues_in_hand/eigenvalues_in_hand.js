// Eigenvalues in your hand: a state space's modes, its kernel, and what it does to a signal.
//
// The functions above `plane` are the mathematics; the tests compare them with primer.beyond_attention.

import { button, clamp, columns, div, format, heading, key, panel, paths, percent } from "../kit/kit.js";
import { resultLine, set, short, sum, widget } from "../kit/kit.js";

// ---------------------------------------------------------------- complex numbers as [real, imaginary]

/** @type {(one: number[], other: number[]) => number[]} */
const times = ([a, b], [c, d]) => [a * c - b * d, a * d + b * c];
/** @type {(one: number[], other: number[]) => number[]} */
const plus = ([a, b], [c, d]) => [a + c, b + d];
/** @type {(one: number[], other: number[]) => number[]} */
const over = ([a, b], [c, d]) => {
  const size = c * c + d * d;
  return [(a * c + b * d) / size, (b * c - a * d) / size];
};
const exp = (/** @type {number[]} */ [a, b]) => [Math.exp(a) * Math.cos(b), Math.exp(a) * Math.sin(b)];
const SMALL = 1e-3;

// (eᶻ − 1)/z, by its series where the difference would lose digits
const slope = (z) => {
  if (Math.hypot(...z) > SMALL) return over(plus(exp(z), [-1, 0]), z);
  return [24, 6, 2, 1].reduce((total, n) => plus(times(total, z), [1 / n, 0]), [1 / 120, 0]);
};

/** What becomes of a mode λ in steps Δ: { turn, gain } with h ← turn · h + gain · x. */
export function discretized(mode, step, method) {
  const z = mode.map((part) => step * part);
  const half = z.map((part) => part / 2);
  const scaled = (value) => value.map((part) => step * part);
  if (method === "hold") return { turn: exp(z), gain: scaled(slope(z)) };
  if (method === "euler") return { turn: plus([1, 0], z), gain: [step, 0] };
  const under = plus(
    [1, 0],
    half.map((part) => -part),
  );
  return { turn: over(plus([1, 0], half), under), gain: over([step, 0], under) };
}

/** Run a signal through all modes; the output is the sum of their real parts. */
export function output({ modes, step, method }, x) {
  const steps = modes.map((mode) => discretized(mode, step, method));
  let states = modes.map(() => [0, 0]);
  return x.map((value) => {
    states = states.map((h, i) =>
      plus(
        times(steps[i].turn, h),
        steps[i].gain.map((part) => part * value),
      ),
    );
    return sum(states.map(([real]) => real));
  });
}

/** What is to be said of a discrete eigenvalue: { size, half (steps to half of it), around (steps of a turn) }. */
export function story(/** @type {number[]} */ [a, b]) {
  const size = Math.hypot(a, b);
  const angle = size && Math.abs(Math.atan2(b, a));
  return {
    size,
    half: size < 1 - 1e-12 && size > 0 ? Math.log(0.5) / Math.log(size) : null,
    around: angle > 1e-9 ? (2 * Math.PI) / angle : null,
  };
}

/** What the result line says of the first mode. */
export function describe({ modes: [mode], step, method }) {
  const { size, half, around } = story(discretized(mode, step, method).turn);
  const grows = size > 1 + 1e-9 ? `it grows by ${percent(size - 1)} a step` : "it neither grows nor fades";
  const fades = size < 1e-6 ? "nothing is left of it a step later" : grows;
  const fate = half === null || size < 1e-6 ? fades : `half of it is left after ${short(half, 1)} steps`;
  const turn = around === null ? "" : `, and a full turn takes ${short(around, 1)}`;
  return `λ = ${format(mode[0], 2)} + ${format(mode[1], 2)}i becomes a number of size ${format(size, 3)}: ${fate}${turn}.`;
}

// ---------------------------------------------------------------- what the reader sees

const NUDGE = [0.05, 0.1]; // of an arrow key

const plane = (decay, turn, move) =>
  panel({
    label: "The eigenvalues in continuous time; to the left of the dashed line they fade",
    height: 278,
    margin: [26, 12, 40, 36],
    x: { domain: [decay[0] - 0.3, decay[1] + 0.2], label: "real part: decay", ticks: [-4, -3, -2, -1, 0] },
    y: { domain: [turn[0] - 0.5, turn[1] + 0.5], label: "imaginary part: turn", ticks: [0, 2, 4, 6, 8] },
    layers: { line: "path", values: { tag: "circle", r: 6, many: true } },
    marks: [
      {
        count: ({ modes }) => modes.length,
        at: ({ modes }, i) => modes[i],
        label: ({ modes }, i) => `Mode ${i + 1}: ${format(modes[i][0], 2)} + ${format(modes[i][1], 2)}i`,
        move,
        step: NUDGE,
      },
    ],
    draw({ line, values }, plot, { modes }) {
      line(`M${plot.x(0)} ${plot.y.range[0]}V${plot.y.range[1]}`);
      values(modes, (mode, i) => ({ ...plot.spot(...mode), class: `values mode${i}` }));
    },
  });

const disc = () =>
  panel({
    label: "The same eigenvalues after the step: inside the circle of radius 1 they fade",
    height: (width) => width + 18, // so that the circle is one
    widest: 260,
    margin: [26, 12, 40, 36],
    x: { domain: [-1.4, 1.4], label: "real part", ticks: [-1, 0, 1] },
    y: { domain: [-1.4, 1.4], label: "imaginary part", ticks: [-1, 0, 1] },
    layers: { circle: "path", values: { tag: "circle", r: 5, many: true } },
    draw({ circle, values }, plot, { turns }) {
      const [rx, ry] = [plot.x(1) - plot.x(0), plot.y(0) - plot.y(1)];
      circle(`M${plot.x(0) - rx} ${plot.y(0)}a${rx} ${ry} 0 1 0 ${2 * rx} 0a${rx} ${ry} 0 1 0 ${-2 * rx} 0Z`);
      const both = turns.flatMap(([a, b], i) => [
        [a, b, i],
        [a, -b, i],
      ]);
      values(both, ([a, b, i]) => ({ ...plot.spot(a, b), class: `values mode${i}` }));
    },
  });

const MOST_SHOWN = 25; // of what grows without end

/** The least of 1, 2, 5, 10, … times a power of ten that is not below all values: the end of an axis. */
export function reachOf(values) {
  const most = clamp(Math.max(...values.map(Math.abs)), 0.05, MOST_SHOWN);
  const power = 10 ** Math.floor(Math.log10(most));
  return Math.min(MOST_SHOWN, power * [1, 2, 5, 10].find((factor) => factor * power >= most * (1 - 1e-9)));
}

const course = (label, name, layers, steps) =>
  panel({
    label,
    height: 170,
    margin: [22, 12, 38, 44],
    x: { domain: [0, steps], label: "step" },
    y: ({ reach }) => ({
      domain: [-reach[name], reach[name]],
      label: name,
      ticks: [-reach[name], 0, reach[name]],
      text: (t) => short(t, 2),
    }),
    layers: { zero: "path", ...paths(...layers) },
    draw({ zero, ...lines }, plot, state) {
      zero(`M${plot.x(0)} ${plot.y(0)}H${plot.x(steps)}`);
      const limit = (value) => clamp(value, -1e4, 1e4);
      for (const layer of layers) lines[layer](plot.line(state[layer].map((value, t) => [t, limit(value)])));
    },
  });

export default widget("eigenvalues-in-hand", ({ controls, constants, read, write }) => {
  const { cases, signals, decay, turn, most } = constants;
  const move = ([real, imaginary], i) => {
    const moved = [clamp(real, ...decay), clamp(imaginary, ...turn)].map((x) => Number(x.toFixed(3)));
    write({ modes: read().modes.map((mode, j) => (j === i ? moved : mode)) });
  };
  const steps = signals.pulse.length;
  const [left, right, result] = [plane(decay, turn, move), disc(), resultLine()];
  const taps = course("The kernel: what the system answers to a single 1", "kernel", ["kernel"], steps);
  const heard = course("The input and the output", "signal", ["input", "out"], steps);
  const presets = cases.map(([name, state]) => button(name, () => write(state)));
  const more = button("One mode more", () => write({ modes: [...read().modes, [-1, 2]] }));
  const fewer = button("One mode less", () => write({ modes: read().modes.slice(0, -1) }));
  return {
    layout: [
      div("cases", ...presets),
      columns("controls", [controls.step, controls.method], [controls.signal, div("cases", more, fewer)]),
      columns(
        "views",
        [heading("eigenvalues, to be moved"), left],
        [heading("what a step makes of them"), right],
        [heading(key("kernel", "kernel")), taps],
        [heading(key("input", "input"), key("out", "output")), heard],
      ),
      result,
    ],
    draw(state) {
      const { modes, step, method, signal } = state;
      set(more, { disabled: modes.length >= most });
      set(fewer, { disabled: modes.length <= 1 });
      const turns = modes.map((mode) => discretized(mode, step, method).turn);
      const [kernel, input] = [output(state, signals.pulse), signals[signal]];
      const answer = output(state, input);
      const reach = { kernel: reachOf(kernel), signal: reachOf([...input, ...answer]) };
      left.draw(state);
      right.draw({ turns });
      taps.draw({ kernel, reach });
      heard.draw({ input, out: answer, reach });
      result.say(describe(state));
    },
  };
});
