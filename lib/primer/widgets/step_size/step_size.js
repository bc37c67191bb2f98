// The step size, taken hold of: four rules on one valley, their paths and their errors.
//
// The functions above `valley` are the mathematics; the tests compare them with primer.optimization.

import { clamp, columns, counted, format, heading, key, panel, paths, resultLine } from "../kit/kit.js";
import { widget } from "../kit/kit.js";
import { play } from "../shared/play.js";
import { scientific } from "../shared/scientific.js";

const STEPS = 100;
const START = [-2, 1];
const LARGEST = 1e6;

// One step of each rule on the loss ½(w₁² + h w₂²); a memory is whatever the rule returned before.
const MOVES = {
  gradient: (w, g, { step }) => [w.map((x, i) => x - step * g[i]), null],
  momentum: (w, g, { step, momentum }, velocity = [0, 0]) => {
    const next = velocity.map((v, i) => momentum * v + g[i]);
    return [w.map((x, i) => x - step * next[i]), next];
  },
  adam: (w, g, { step }, { m = [0, 0], v = [0, 0], t = 0 } = {}) => {
    const next = {
      m: m.map((x, i) => 0.9 * x + 0.1 * g[i]),
      v: v.map((x, i) => 0.999 * x + 0.001 * g[i] ** 2),
      t: t + 1,
    };
    const [a, b] = [1 - 0.9 ** next.t, 1 - 0.999 ** next.t];
    return [w.map((x, i) => x - (step * next.m[i]) / a / (Math.sqrt(next.v[i] / b) + 1e-8)), next];
  },
  sign: (w, g, { step }) => [w.map((x, i) => x - step * Math.sign(g[i])), null],
};

// The path from the start: a hundred steps, or until a weight exceeds a million.
export function walk(rule, step, curvature, momentum) {
  let [w, memory] = [START, undefined];
  const path = [w];
  while (path.length <= STEPS && Math.max(...w.map(Math.abs)) <= LARGEST) {
    [w, memory] = MOVES[rule](w, [w[0], curvature * w[1]], { step, momentum }, memory ?? undefined);
    path.push(w);
  }
  return path;
}

// The step size at which a rule stops converging; null for rules whose steps do not follow the gradient.
export function stepLimit(rule, curvature, momentum) {
  if (rule === "gradient") return 2 / curvature;
  return rule === "momentum" ? (2 * (1 + momentum)) / curvature : null;
}

const [WIDE, HIGH] = [2.4, 1.5];
const RINGS = [1, 2, 3, 4, 5, 6, 7, 8];
const SHAPE = { height: (width) => clamp(width * 0.72, 240, 330), margin: [24, 10, 42, 44] };

const valley = () =>
  panel({
    ...SHAPE,
    label: "The valley seen from above: rings of equal loss and the path of the optimizer",
    x: { domain: [-WIDE, WIDE], label: "w₁, the flat direction" },
    y: { domain: [-HIGH, HIGH], label: "w₂, the steep direction" },
    layers: {
      ring: { tag: "ellipse", many: true },
      ...paths("trace", "dots", "lowest"),
      now: { tag: "circle", r: 6 },
    },
    draw({ ring, trace, dots, lowest, now }, { x, y, at, spot }, { path, curvature, shown }) {
      const highest = 0.5 * (WIDE ** 2 + curvature * HIGH ** 2);
      ring(RINGS, (k) => {
        const radius = Math.sqrt(2 * highest) * (k / RINGS.length);
        return { ...spot(0, 0), rx: x(radius) - x(0), ry: y(0) - y(radius / Math.sqrt(curvature)) };
      });
      const points = path.slice(0, shown + 1).map(at);
      trace(points);
      dots(points.map(([a, b]) => `M${a.toFixed(1)} ${b.toFixed(1)}h0`).join(""));
      lowest(`M${x(0) - 6} ${y(0)}h12M${x(0)} ${y(0) - 6}v12`);
      now(spot(...path[points.length - 1]));
    },
  });

const errors = () =>
  panel({
    ...SHAPE,
    label: "The error of both weights at each step, on a logarithmic axis",
    x: { domain: [0, STEPS], label: "step t", ticks: [0, 25, 50, 75, 100] },
    y: {
      domain: [1e-6, 1e3],
      label: "error",
      logarithmic: true,
      ticks: [1e-6, 1e-4, 1e-2, 1, 100],
      text: (t) => ({ 1: "1", 100: "100" })[t] ?? scientific(t, 0).slice(2),
    },
    layers: paths("flat", "steep", "cursor"),
    draw({ flat, steep, cursor }, { x, y, line }, { path, shown }) {
      [flat, steep].forEach((curve, i) =>
        curve(line(path.map((w, t) => [t, Math.max(Math.abs(w[i]), 1e-9)]))),
      );
      cursor(`M${x(shown)} ${y.range[1]}V${y.range[0]}`);
    },
  });

// What the result line says.
export function describe(rule, step, curvature, momentum) {
  const path = walk(rule, step, curvature, momentum);
  const limit = stepLimit(rule, curvature, momentum);
  const size = Math.hypot(...path.at(-1));
  const steps = `after ${counted(path.length - 1, "step")}`;
  const written = size < 0.001 ? scientific(size) : format(size);
  const end = size > LARGEST ? `the error exceeds a million ${steps}` : `the error ${steps} is ${written}`;
  if (rule === "sign") {
    const resting = path.at(-1).filter((x) => x === 0).length; // what is exactly 0 has no sign
    const fate = [
      "No step limit, and no rest: every step has the length η in both weights, even the last",
      "No step limit: this η leads one weight exactly to 0, where it rests; the other moves by η at every step",
      "No step limit: this η leads both weights exactly to 0, where they rest",
    ][resting];
    return `${fate}. Here ${end}.`;
  }
  if (rule === "adam") {
    const last = Math.max(...path.at(-1).map((x, i) => Math.abs(x - path.at(-2)[i])));
    return `No fixed step limit: Adam divides by the size of its gradients. The first step is η, the last ${format((100 * last) / step, 1)} % of it; ${end}.`;
  }
  const part = step / limit;
  const above = part > 1 + 1e-9 && "Above the limit: it diverges";
  const at = part > 1 - 1e-9 && "At the limit: it jumps forever";
  return `${above || at || "Below the limit: it converges"}. The limit is η = ${format(limit, 4)}; ${end}.`;
}

export default widget("step-size", ({ controls, write, redraw }) => {
  const [map, chart, result] = [valley(), errors(), resultLine()];
  let time = STEPS / 15; // seconds of the walk that are shown, at 15 steps a second
  const shown = () => Math.min(Math.floor(time * 15), STEPS);
  const animation = play({
    label: "Walk",
    start() {
      if (shown() === STEPS) time = 0;
    },
    frame(seconds) {
      time += seconds;
      redraw();
      return shown() < STEPS;
    },
    end: redraw,
  });
  return {
    layout: [
      columns("controls", [controls.rule, controls.momentum], [controls.step, controls.curvature]),
      columns(
        "views",
        [heading("The path in the valley"), map],
        [heading("Error of each weight: ", key("flat", "flat"), key("steep", "steep")), chart],
      ),
      result,
      animation.button,
    ],
    change(changes) {
      time = STEPS / 15 + 1;
      write("momentum" in changes ? { ...changes, rule: "momentum" } : changes); // the rule that has it
    },
    draw({ rule, step, curvature, momentum }) {
      controls.momentum.row.classList.toggle("idle", rule !== "momentum");
      const path = walk(rule, step, curvature, momentum);
      const state = { path, curvature, shown: Math.min(shown(), path.length - 1) };
      map.draw(state);
      chart.draw(state);
      result.say(describe(rule, step, curvature, momentum), animation.playing());
    },
    stop: () => animation.playing() && animation.stop(),
  };
});
