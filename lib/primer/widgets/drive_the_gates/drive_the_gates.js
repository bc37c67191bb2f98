// Gates to drive: one memory over fifty steps, what it shows, and the gradient that runs back.
//
// The functions above `lane` are the mathematics; the tests compare them with primer.recurrent.  Lists have one
// number for each step; step 1 is their first.

import { button, clamp, columns, div, format, heading, key, panel, paths } from "../kit/kit.js";
import { resultLine, short, slider, widget } from "../kit/kit.js";
import { play } from "../shared/play.js";
import { scientific } from "../shared/scientific.js";
import { paintedOver } from "../shared/painted.js";

/** What a memory cell with given gates holds, and what it shows. */
export function drive(forget, letIn, letOut, candidates) {
  let c = 0;
  const memory = candidates.map((x, t) => {
    c = forget[t] * c + letIn[t] * x;
    return c;
  });
  return { memory, output: memory.map((held, t) => letOut[t] * Math.tanh(held)) };
}

/** What each step of a plain unit, h = tanh(w h + x), multiplies a gradient by. */
export function plainFactors(weight, inputs) {
  let h = 0;
  return inputs.map((x) => {
    h = Math.tanh(weight * h + x);
    return weight * (1 - h * h);
  });
}

/** A gradient of 1 at the last step, carried back: at each step the product of the factors of all later ones. */
export function carriedBack(factors) {
  const gradient = factors.map(() => 1);
  for (let t = factors.length - 2; t >= 0; t--) gradient[t] = gradient[t + 1] * factors[t + 1];
  return gradient;
}

/** After how many steps half is left of what the memory holds at a step (the first is 1); null if more is left at the end. */
export function halfAfter(forget, step) {
  let left = 1;
  for (let t = step; t < forget.length; t++) {
    const next = left * forget[t];
    if (next <= 0.5) return t - step + (next ? Math.log(left / 0.5) / Math.log(left / next) : 0);
    left = next;
  }
  return null;
}

const small = (x) => (x >= 0.001 && x < 1000 ? short(x, 4) : scientific(x));

/** Whether the forget gate is shut at a step, and at the next one open: the memory ends and begins there. */
const shutAt = (forget, at) => at > 1 && !forget[at - 1] && forget[at] > 0;

/** What the result line says. */
export function describe(at, forget, plain) {
  if (at === forget.length) return `Step ${at} is the last: its gradient is 1. Look at an earlier step.`;
  const [half, left] = [halfAfter(forget, at), small(carriedBack(forget)[at - 1])];
  const long = `more than half is left ${half === null ? "to the end" : `for ${format(half, 1)} steps`}`;
  const gone = half === 0 && !forget[at] ? "nothing is left a step later" : long;
  const factors =
    at + 1 === forget.length ? `f${lower(at + 1)}` : `f${lower(at + 1)}⋯f${lower(forget.length)}`;
  if (shutAt(forget, at))
    return `Shut at step ${at}: of the memory before nothing is left, and no gradient comes back past it. To step ${at} itself comes ${factors} = ${left}; to the plain unit ${small(plain[at - 1])}.`;
  return `Of what the memory holds at step ${at}, ${gone}. The gradient that comes back to it is ${factors} = ${left}; to the plain unit comes ${small(plain[at - 1])}.`;
}

const lower = (n) => [...String(n)].map((digit) => "₀₁₂₃₄₅₆₇₈₉"[Number(digit)]).join("");

// ---------------------------------------------------------------- what the reader sees

const [LEFT, RIGHT] = [44, 8];
const LEAST = 1e-12;
const x = (label, steps) => ({
  domain: [0.5, steps + 0.5],
  label,
  ticks: [1, 10, 20, 30, 40, 50],
  text: (t) => (label ? `${t}` : ""),
});

const here = (plot, at) => `M${plot.x(at)} ${plot.y.range[1]}V${plot.y.range[0]}`;

const lane = (name, label, steps, { drag, step }) =>
  panel({
    label: `The ${label} at each step; draw over it, or choose a step with the arrow keys and move it up or down`,
    name: `lane ${name}`,
    height: 64,
    margin: [20, RIGHT, 6, LEFT],
    x: x("", steps),
    y: { domain: [0, 1], label: name === "forget" ? `${label}: draw in it` : label, ticks: [0, 1] },
    layers: paths("ground", "bars", "cursor"),
    drag,
    step,
    touch: "none",
    draw({ ground, bars, cursor }, plot, state) {
      const [floor, wide] = [plot.y(0), plot.x(2) - plot.x(1)];
      ground(`M${plot.x(0.5)} ${plot.y(1)}H${plot.x(steps + 0.5)}V${floor}H${plot.x(0.5)}Z`);
      const bar = (value, i) =>
        `M${(plot.x(i + 0.5) + 0.5).toFixed(1)} ${floor}V${plot.y(value).toFixed(1)}h${(wide - 1).toFixed(1)}V${floor}Z`;
      bars(state[name].map(bar).join(""));
      cursor(here(plot, state.at));
    },
  });

const held = (steps, drag) =>
  panel({
    label:
      "What is read, the memory and the output at each step; the half-life of the memory at the chosen step",
    name: "held",
    height: 150,
    margin: [8, RIGHT, 6, LEFT],
    x: x("", steps),
    y: ({ reach }) => ({
      domain: [-reach, reach],
      label: "",
      ticks: [-reach, 0, reach],
      text: (t) => short(t, 1),
    }),
    layers: paths("half", "zero", "read", "memory", "out", "cursor"),
    over: { told: "text" },
    drag,
    draw({ half, zero, read, memory, out, cursor, told }, plot, state) {
      const at = (values) => plot.line(values.map((value, i) => [i + 1, value]));
      const { at: step, halved, shut } = state;
      const end = Math.min(step + (halved ?? steps), steps + 0.5);
      half(
        shut ? "" : `M${plot.x(step)} ${plot.y.range[1]}H${plot.x(end)}V${plot.y.range[0]}H${plot.x(step)}Z`,
      );
      zero(`M${plot.x(0.5)} ${plot.y(0)}H${plot.x(steps + 0.5)}`);
      read(at(state.signal));
      memory(at(state.memory));
      out(at(state.output));
      cursor(here(plot, step));
      const late = step > steps / 2;
      const words = halved === null ? "more than half is left" : `half-life ${format(halved, 1)} steps`;
      told(step === steps || shut ? "" : words, {
        x: plot.x(step) + (late ? -6 : 6),
        y: plot.y.range[0] - 6,
        "text-anchor": late ? "end" : "start",
      });
    },
  });

const back = (steps, drag) =>
  panel({
    label: "The gradient from the last step back, of the memory and of the plain unit, on a logarithmic axis",
    name: "back",
    height: 150,
    margin: [8, RIGHT, 40, LEFT],
    x: x("step", steps),
    y: {
      domain: [LEAST, 100],
      label: "",
      logarithmic: true,
      ticks: [1e-12, 1e-8, 1e-4, 1],
      text: (t) => (t === 1 ? "1" : scientific(t, 0).slice(2)),
    },
    layers: {
      one: "path",
      ...paths("plain", "carried", "cursor"),
      dots: { tag: "circle", many: true, r: 4 },
    },
    drag,
    draw({ one, plain, carried, cursor, dots }, plot, { at, from, gradient, rival }) {
      const shown = (values) =>
        plot.line(values.map((v, i) => [i + 1, i + 1 < from ? Number.NaN : clamp(v, LEAST / 100, 1e4)]));
      one(`M${plot.x(0.5)} ${plot.y(1)}H${plot.x(steps + 0.5)}`);
      plain(shown(rival));
      carried(shown(gradient));
      cursor(here(plot, at));
      const seen =
        at < from
          ? []
          : [
              ["dots plain", rival[at - 1]],
              ["dots carried", gradient[at - 1]],
            ];
      dots(seen, ([name, value]) => ({ class: name, ...plot.spot(at, clamp(value, LEAST / 100, 1e4)) }));
    },
  });

const NAMES = { forget: "forget gate f", let_in: "input gate i", let_out: "output gate o" };

export default widget("drive-the-gates", ({ controls, constants, read, write, redraw }) => {
  const { presets, signals } = constants;
  const steps = signals.pulse.length;
  const stepAt = (place) => clamp(Math.round(place), 1, steps);
  const look = ([place]) => write({ at: stepAt(place) });
  const lanes = Object.entries(NAMES).map(([name, label]) => {
    let last = [0, 0];
    /** @type {(point: number[], begins: boolean) => void} */
    const drag = ([place, value], begins) => {
      const at = stepAt(place);
      const now = [at - 1, value];
      const painted = paintedOver(read()[name], begins ? now : last, now, 0);
      last = now;
      write({ [name]: painted, at });
    };
    const step = (dx, dy) => {
      const { at, [name]: gate } = read();
      if (dx) return write({ at: clamp(at + dx, 1, steps) });
      const raised = [at - 1, gate[at - 1] + 0.05 * dy];
      write({ [name]: paintedOver(gate, raised, raised, 0) });
    };
    return lane(name, label, steps, { drag, step });
  });
  const [memory, gradients, result] = [held(steps, look), back(steps, look), resultLine()];
  // a dial for the whole gate: one number where all are equal, else their mean, and says so
  const dial = slider({
    label: "All of f",
    min: 0,
    max: 1,
    step: 0.01,
    text: (value) => (even(read().forget) ? format(value, 2) : "painted"),
    change: (value) => write({ forget: read().forget.map(() => value) }),
  });
  const even = (gate) => gate.every((value) => value === gate[0]);
  let time = steps; // of the steps that the gradient has gone back
  const animation = play({
    label: "Gradient, back from step 50",
    start() {
      time = 0;
    },
    frame(seconds) {
      time += 20 * seconds;
      redraw();
      return time < steps;
    },
    end() {
      time = steps;
      redraw();
    },
  });
  return {
    layout: [
      div("cases", ...presets.map(([name, gates]) => button(name, () => write(gates)))),
      columns("controls", [dial, controls.read], [controls.at, controls.weight]),
      ...lanes,
      heading(key("read", "read"), key("memory", "memory c"), key("out", "output h")),
      memory,
      div(
        "back",
        heading(key("carried", "gradient of c₅₀ by c"), key("plain", "of a plain unit's h₅₀ by h")),
        animation.button,
      ),
      gradients,
      result,
    ],
    draw(state) {
      const { forget, let_in, let_out, read: name, weight, at } = state;
      const signal = signals[name];
      const driven = drive(forget, let_in, let_out, signal);
      const largest = Math.max(1, ...[...driven.memory, ...signal].map(Math.abs));
      const reach = [1, 1.5, 2, 3, 5, 10, 20, 50].find((end) => end >= largest) ?? 50;
      const rival = carriedBack(plainFactors(weight, signal));
      dial.set(forget.reduce((sum, value) => sum + value, 0) / steps);
      for (const one of lanes) one.draw(state);
      memory.draw({ ...driven, signal, reach, at, halved: halfAfter(forget, at), shut: shutAt(forget, at) });
      gradients.draw({ at, from: steps - time, gradient: carriedBack(forget), rival });
      result.say(describe(at, forget, rival), animation.playing());
    },
    stop: () => animation.playing() && animation.stop(),
  };
});
