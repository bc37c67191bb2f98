// The ball of a norm, taken hold of: turn the gradient and see where the best step is.
//
// The functions above `NORMS` are the mathematics; the tests compare them with primer.optimization.

import {
  axes,
  clamp,
  draggable,
  format,
  html,
  linear,
  mount,
  path as line,
  radio,
  resultLine,
  set,
  slider,
  svg,
  update,
} from "./kit.js";
import { arrow } from "./plane.js";

export function gradientAt(angle, length) {
  const turn = (angle * Math.PI) / 180;
  return [length * Math.cos(turn), length * Math.sin(turn)];
}

// The step of length at most `radius` that lowers ⟨g, Δ⟩ most.
export function bestStep([a, b], radius, kind) {
  if (kind === "linf") return [-radius * Math.sign(a), -radius * Math.sign(b)];
  if (kind === "l2") {
    const length = Math.hypot(a, b);
    return length ? [(-radius * a) / length, (-radius * b) / length] : [0, 0];
  }
  return Math.abs(a) >= Math.abs(b) ? [-radius * Math.sign(a), 0] : [0, -radius * Math.sign(b)];
}

// How fast the loss can fall per unit of length.
export function dualNorm([a, b], kind) {
  const sizes = [Math.abs(a), Math.abs(b)];
  return kind === "l2" ? Math.hypot(a, b) : kind === "l1" ? Math.max(...sizes) : sizes[0] + sizes[1];
}

const NORMS = { l1: "ℓ1", l2: "ℓ2", linf: "ℓ∞" };
const RULES = { l1: "the largest coordinate only", l2: "gradient descent", linf: "sign descent" };
const KINDS = Object.keys(NORMS);
const RANGE = 1.7;

const RIMS = {
  l1: [
    [1, 0],
    [0, 1],
    [-1, 0],
    [0, -1],
    [1, 0],
  ],
  l2: Array.from({ length: 73 }, (_, i) => gradientAt(5 * i, 1)),
  linf: [
    [1, 1],
    [-1, 1],
    [-1, -1],
    [1, -1],
    [1, 1],
  ],
};

// An arrow from the origin.
const fromOrigin = (x, y, [a, b]) => arrow([x(0), y(0)], [x(a), y(b)]);

function plane({ point, turn }) {
  const grid = svg("g");
  const contact = svg("path", { class: "contact" });
  const balls = KINDS.map((kind) => svg("path", { class: `ball ${kind}` }));
  const steps = KINDS.map((kind) => svg("path", { class: `arrow ${kind}` }));
  const gradient = svg("path", { class: "arrow gradient" });
  const name = svg("text", { class: "name" }, "g");
  const grip = svg("circle", {
    class: "grip",
    r: 18,
    role: "slider",
    "aria-label": "Direction of the gradient",
    "aria-valuemin": -180,
    "aria-valuemax": 180,
  });
  const inside = svg("svg", {}, contact, ...balls, ...steps, gradient);
  const drawing = svg(
    "svg",
    { role: "group", "aria-label": "The balls of three norms, the gradient, and the best step in each ball" },
    grid,
    inside,
    name,
    grip,
  );
  let now = null;
  draggable(grip, {
    touch: "none",
    move: (fx, fy) => {
      const box = grip.getBoundingClientRect();
      const [cx, cy] = [Number(grip.getAttribute("cx")), Number(grip.getAttribute("cy"))];
      point(now.x.invert(cx + (fx - 0.5) * box.width), now.y.invert(cy + (fy - 0.5) * box.height));
    },
    step: (dx, dy) => turn(dx + dy),
  });

  function draw({ g, angle, radius, norm }) {
    const size = Math.min(drawing.clientWidth || 380, 420);
    const [x, y] = [linear([-RANGE, RANGE], [42, size - 8]), linear([-RANGE, RANGE], [size - 42, 24])];
    now = { x, y };
    set(drawing, { viewBox: `0 0 ${size} ${size}`, height: size, width: size });
    set(inside, {
      x: 42,
      y: 24,
      width: size - 50,
      height: size - 66,
      viewBox: `42 24 ${size - 50} ${size - 66}`,
    });
    axes(grid, { x, y, xLabel: "Δ₁", yLabel: "Δ₂", xTicks: [-1, 0, 1], yTicks: [-1, 0, 1] });
    KINDS.forEach((kind, i) => {
      const chosen = kind === norm ? " chosen" : "";
      set(balls[i], {
        class: `ball ${kind}${chosen}`,
        d: line(RIMS[kind].map(([a, b]) => [x(radius * a), y(radius * b)])),
      });
      set(steps[i], { class: `arrow ${kind}${chosen}`, d: fromOrigin(x, y, bestStep(g, radius, kind)) });
    });
    const [a, b] = bestStep(g, radius, norm);
    const across = [-g[1], g[0]].map((v) => (4 * v) / Math.hypot(...g));
    set(contact, {
      class: `contact ${norm}`,
      d: line([
        [x(a - across[0]), y(b - across[1])],
        [x(a + across[0]), y(b + across[1])],
      ]),
    });
    set(gradient, { d: fromOrigin(x, y, g) });
    set(name, { x: x(g[0]) + 12, y: y(g[1]) - 8 });
    set(grip, {
      cx: x(g[0]),
      cy: y(g[1]),
      "aria-valuenow": Math.round(angle),
      "aria-valuetext": `${format(angle, 0)} degrees`,
    });
  }
  return { drawing, draw };
}

function table() {
  const cells = KINDS.map(() => [html("td"), html("td")]);
  const element = html(
    "table",
    {},
    html(
      "thead",
      {},
      html(
        "tr",
        {},
        ...["norm", "best step Δ", "drop ⟨g, Δ⟩"].map((text) => html("th", { scope: "col" }, text)),
      ),
    ),
    html(
      "tbody",
      {},
      ...KINDS.map((kind, i) =>
        html("tr", {}, html("th", { scope: "row", class: kind }, NORMS[kind]), ...cells[i]),
      ),
    ),
  );
  const draw = ({ g, radius }) =>
    KINDS.forEach((kind, i) => {
      const [a, b] = bestStep(g, radius, kind);
      cells[i][0].textContent = `(${format(a, 2)}, ${format(b, 2)})`;
      cells[i][1].textContent = format(-radius * dualNorm(g, kind), 3);
    });
  return { element, draw };
}

// What the result line says.
export function describe(angle, length, radius, norm) {
  const g = gradientAt(angle, length);
  const [a, b] = bestStep(g, radius, norm);
  return `In ${NORMS[norm]} the best step is (${format(a, 2)}, ${format(b, 2)}): ${RULES[norm]}. To first order the loss falls by η‖g‖* = ${format(radius * dualNorm(g, norm), 3)}.`;
}

function render({ model, el }) {
  const get = (name) => model.get(name);
  const wrap = (degrees) => degrees - 360 * Math.round(degrees / 360);
  const view = plane({
    point: (a, b) =>
      update(model, { angle: (Math.atan2(b, a) * 180) / Math.PI, length: clamp(Math.hypot(a, b), 0.2, 1.6) }),
    turn: (by) => update(model, { angle: wrap(get("angle") + by) }),
  });
  const numbers = table();
  const result = resultLine();
  const angle = slider({
    label: "Direction of g",
    min: -180,
    max: 180,
    step: 1,
    value: get("angle"),
    text: (v) => `${format(v, 0)}°`,
    change: (v) => update(model, { angle: v }),
  });
  const length = slider({
    label: "Length of g",
    min: 0.2,
    max: 1.6,
    step: 0.01,
    value: get("length"),
    text: (v) => format(v, 2),
    change: (v) => update(model, { length: v }),
  });
  const radius = slider({
    label: "Radius η",
    min: 0.1,
    max: 1,
    step: 0.01,
    value: get("radius"),
    text: (v) => format(v, 2),
    change: (v) => update(model, { radius: v }),
  });
  const norm = radio({
    label: "Norm",
    options: KINDS.map((kind) => [kind, NORMS[kind]]),
    value: get("norm"),
    change: (v) => update(model, { norm: v }),
  });

  function draw() {
    const state = { angle: get("angle"), length: get("length"), radius: get("radius"), norm: get("norm") };
    const g = gradientAt(state.angle, state.length);
    angle.set(state.angle);
    length.set(state.length);
    radius.set(state.radius);
    norm.set(state.norm);
    view.draw({ g, ...state });
    numbers.draw({ g, radius: state.radius });
    result.say(describe(state.angle, state.length, state.radius, state.norm));
  }

  el.classList.add("norm-ball");
  el.append(
    html(
      "div",
      { class: "views" },
      html("div", {}, html("p", { class: "heading" }, "Drag the tip of the gradient"), view.drawing),
      html("div", {}, norm.row, angle.row, length.row, radius.row, numbers.element),
    ),
    result.row,
  );
  return mount({ model, el, traits: ["angle", "length", "radius", "norm"], draw });
}

export default { render };
