// The step size, taken hold of: four rules on one valley, their paths and their errors.
//
// The functions above `NAMES` are the mathematics; the tests compare them with primer.optimization.

import {
  axes,
  clamp,
  format,
  html,
  linear,
  logarithmic,
  mount,
  path as line,
  play,
  radio,
  resultLine,
  set,
  slider,
  svg,
  update,
} from "./kit.js";
import { scientific } from "./powers.js";

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

const NAMES = [
  ["gradient", "gradient descent"],
  ["momentum", "momentum"],
  ["adam", "Adam"],
  ["sign", "sign"],
];
const [WIDE, HIGH] = [2.4, 1.5];
const RINGS = 8;

function valley() {
  const grid = svg("g");
  const rings = Array.from({ length: RINGS }, () => svg("ellipse", { class: "ring" }));
  const trace = svg("path", { class: "trace" });
  const dots = svg("path", { class: "dots" });
  const [lowest, now] = [svg("path", { class: "lowest" }), svg("circle", { class: "now", r: 6 })];
  const inside = svg("svg", {}, ...rings, trace, dots, lowest, now);
  const drawing = svg(
    "svg",
    {
      role: "img",
      "aria-label": "The valley seen from above: rings of equal loss and the path of the optimizer",
    },
    grid,
    inside,
  );

  function draw({ path, curvature, shown }) {
    const width = drawing.clientWidth || 360;
    const height = clamp(width * 0.72, 240, 330);
    const box = { x: 44, y: 24, width: width - 54, height: height - 66 };
    const x = linear([-WIDE, WIDE], [box.x, box.x + box.width]);
    const y = linear([-HIGH, HIGH], [box.y + box.height, box.y]);
    set(drawing, { viewBox: `0 0 ${width} ${height}`, height });
    set(inside, { ...box, viewBox: `${box.x} ${box.y} ${box.width} ${box.height}` });
    axes(grid, { x, y, xLabel: "w₁, the flat direction", yLabel: "w₂, the steep direction" });
    const highest = 0.5 * (WIDE ** 2 + curvature * HIGH ** 2);
    rings.forEach((ring, k) => {
      const level = highest * ((k + 1) / RINGS) ** 2;
      set(ring, {
        cx: x(0),
        cy: y(0),
        rx: x(Math.sqrt(2 * level)) - x(0),
        ry: y(0) - y(Math.sqrt((2 * level) / curvature)),
      });
    });
    const points = path.slice(0, shown + 1).map(([a, b]) => [x(a), y(b)]);
    set(trace, { d: line(points) });
    set(dots, { d: points.map(([a, b]) => `M${a.toFixed(1)} ${b.toFixed(1)}h0`).join("") });
    set(lowest, { d: `M${x(0) - 6} ${y(0)}h12M${x(0)} ${y(0) - 6}v12` });
    set(now, { cx: points.at(-1)[0], cy: points.at(-1)[1] });
  }
  return { drawing, draw };
}

function errors() {
  const grid = svg("g");
  const curves = [svg("path", { class: "flat" }), svg("path", { class: "steep" })];
  const cursor = svg("path", { class: "cursor" });
  const inside = svg("svg", {}, ...curves, cursor);
  const drawing = svg(
    "svg",
    { role: "img", "aria-label": "The error of both weights at each step, on a logarithmic axis" },
    grid,
    inside,
  );

  function draw({ path, shown }) {
    const width = drawing.clientWidth || 360;
    const height = clamp(width * 0.72, 240, 330);
    const box = { x: 44, y: 24, width: width - 54, height: height - 66 };
    const x = linear([0, STEPS], [box.x, box.x + box.width]);
    const y = logarithmic([1e-6, 1e3], [box.y + box.height, box.y]);
    set(drawing, { viewBox: `0 0 ${width} ${height}`, height });
    set(inside, { ...box, viewBox: `${box.x} ${box.y} ${box.width} ${box.height}` });
    const powers = ["10⁻⁶", "10⁻⁴", "10⁻²", "1", "100"];
    axes(grid, {
      x,
      y,
      xLabel: "step t",
      yLabel: "error",
      xTicks: [0, 25, 50, 75, 100],
      yTicks: [1e-6, 1e-4, 1e-2, 1, 100],
      yText: (t) => powers[Math.round(Math.log10(t) / 2) + 3],
    });
    curves.forEach((curve, i) =>
      set(curve, { d: line(path.map((w, t) => [x(t), y(Math.max(Math.abs(w[i]), 1e-9))])) }),
    );
    set(cursor, { d: `M${x(shown)} ${box.y}V${box.y + box.height}` });
  }
  return { drawing, draw };
}

// What the result line says.
export function describe(rule, step, curvature, momentum) {
  const path = walk(rule, step, curvature, momentum);
  const limit = stepLimit(rule, curvature, momentum);
  const size = Math.hypot(...path.at(-1));
  const end =
    size > LARGEST
      ? `the error exceeds a million after ${path.length - 1} steps`
      : `the error after ${path.length - 1} steps is ${size < 0.001 ? scientific(size) : format(size, 3)}`;
  if (rule === "sign")
    return `No step limit, and no rest: every step has the length η in both weights, even the last. Here ${end}.`;
  if (rule === "adam") {
    const last = Math.max(...path.at(-1).map((x, i) => Math.abs(x - path.at(-2)[i])));
    return `No fixed step limit: Adam divides by the size of its gradients. The first step is η, the last ${format((100 * last) / step, 1)} % of it; ${end}.`;
  }
  const part = step / limit;
  const word =
    part > 1 + 1e-9
      ? "Above the limit: it diverges"
      : part > 1 - 1e-9
        ? "At the limit: it swings forever"
        : "Below the limit: it converges";
  return `${word}. The limit is η = ${format(limit, 3)}; ${end}.`;
}

function render({ model, el }) {
  const get = (name) => model.get(name);
  const [map, chart, result] = [valley(), errors(), resultLine()];
  let shown = STEPS;
  const change = (changes) => {
    shown = STEPS;
    update(model, changes);
  };
  const rule = radio({
    label: "Rule",
    options: NAMES,
    value: get("rule"),
    change: (v) => change({ rule: v }),
  });
  const step = slider({
    label: "Step size η",
    min: -3,
    max: 0.47,
    step: 0.005,
    value: Math.log10(get("step")),
    text: (v) => format(10 ** v, 3),
    change: (v) => change({ step: clamp(10 ** v, 0.001, 3) }),
  });
  const curvature = slider({
    label: "Curvature h",
    min: 0,
    max: 2,
    step: 0.02,
    value: Math.log10(get("curvature")),
    text: (v) => format(10 ** v, 1),
    change: (v) => change({ curvature: clamp(10 ** v, 1, 100) }),
  });
  const momentum = slider({
    label: "Momentum β",
    min: 0,
    max: 0.99,
    step: 0.01,
    value: get("momentum"),
    text: (v) => format(v, 2),
    change: (v) => change({ momentum: v }),
  });
  let time = 0;
  const animation = play({
    label: "Walk",
    frame: (seconds) => {
      if (!animation.playing()) return draw();
      time += seconds * 15;
      shown = Math.min(Math.floor(time), STEPS);
      draw();
      if (shown === STEPS) {
        time = 0;
        animation.stop();
      }
    },
  });
  animation.button.addEventListener("click", () => {
    if (animation.playing() && shown === STEPS) time = 0;
  });

  function draw() {
    const state = ["rule", "step", "curvature", "momentum"].map(get);
    const path = walk(...state);
    const at = Math.min(shown, path.length - 1);
    rule.set(state[0]);
    step.set(Math.log10(state[1]));
    curvature.set(Math.log10(state[2]));
    momentum.set(state[3]);
    momentum.input.disabled = state[0] !== "momentum";
    map.draw({ path, curvature: state[2], shown: at });
    chart.draw({ path, shown: at });
    result.say(describe(...state), animation.playing());
  }

  el.classList.add("step-size");
  el.append(
    html(
      "div",
      { class: "controls" },
      html("div", {}, rule.row, momentum.row),
      html("div", {}, step.row, curvature.row),
    ),
    html(
      "div",
      { class: "views" },
      html("div", {}, html("p", { class: "heading" }, "The path in the valley"), map.drawing),
      html(
        "div",
        {},
        html(
          "p",
          { class: "heading" },
          "Error of each weight: ",
          html("span", { class: "key flat" }, "flat"),
          html("span", { class: "key steep" }, "steep"),
        ),
        chart.drawing,
      ),
    ),
    result.row,
    animation.button,
  );
  const end = mount({ model, el, traits: ["rule", "step", "curvature", "momentum"], draw });
  return () => {
    if (animation.playing()) animation.stop();
    end();
  };
}

export default { render };
