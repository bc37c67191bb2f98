// A gradient in the plane, and the best step under three norms.
//
// The functions above `NORMS` are the mathematics; the tests compare them with primer.optimization.

import { between, columns, format, heading, panel, resultLine, widget } from "../kit/kit.js";
import { table } from "../shared/table.js";
import { tuple } from "../shared/tuple.js";

/** Along an axis the other coordinate is 0, which rounding would give a sign. */
export function gradientAt(angle, length) {
  const turn = (angle * Math.PI) / 180;
  return [Math.cos(turn), Math.sin(turn)].map((x) => (Math.abs(x) < 1e-12 ? 0 : length * x));
}

/** The step of length at most `radius` that lowers ⟨g, Δ⟩ most. @param {number[]} g */
export function bestStep([a, b], radius, kind) {
  if (kind === "linf") return [-radius * Math.sign(a), -radius * Math.sign(b)];
  if (kind === "l2") {
    const length = Math.hypot(a, b);
    return length ? [(-radius * a) / length, (-radius * b) / length] : [0, 0];
  }
  return Math.abs(a) >= Math.abs(b) ? [-radius * Math.sign(a), 0] : [0, -radius * Math.sign(b)];
}

/** How fast the loss can fall per unit of length. @param {number[]} g */
export function dualNorm([a, b], kind) {
  const sizes = [Math.abs(a), Math.abs(b)];
  return kind === "l2" ? Math.hypot(a, b) : kind === "l1" ? Math.max(...sizes) : sizes[0] + sizes[1];
}

const NORMS = { l1: "ℓ1", l2: "ℓ2", linf: "ℓ∞" };
const RULES = { l1: "the largest coordinate only", l2: "gradient descent", linf: "sign descent" };
const KINDS = Object.keys(NORMS);
const AXIS = { domain: [-1.7, 1.7], ticks: [-1, 0, 1] };

// The rim of each ball of radius 1, as points on a square, a square on its corner, a circle.
const corners = (turns, length) => turns.map((turn) => gradientAt(turn, length));
const RIMS = {
  l1: corners(between(0, 360, 4), 1),
  l2: corners(between(0, 360, 72), 1),
  linf: corners(between(45, 405, 4), Math.SQRT2),
};

const plane = ({ point, turn }) =>
  panel({
    label: "The balls of three norms, the gradient, and the best step in each ball",
    height: (width) => width + 16, // the margins take 16 px more above and below
    widest: 420,
    margin: [24, 8, 42, 42],
    x: { ...AXIS, label: "Δ₁" },
    y: { ...AXIS, label: "Δ₂" },
    layers: {
      contact: "path",
      ball: { tag: "path", many: true },
      steps: { tag: "path", many: true },
      gradient: { tag: "path", class: "arrow gradient" },
    },
    over: { name: "text" },
    marks: [
      {
        at: ({ g }) => g,
        label: () => "Direction of the gradient",
        move: point,
        keys: (dx, dy) => turn(dx + dy),
        attributes: { role: "slider", r: 18, "aria-valuemin": -180, "aria-valuemax": 180 },
        live: ({ angle }) => ({
          "aria-valuenow": Math.round(angle),
          "aria-valuetext": `${format(angle, 0)} degrees`,
        }),
      },
    ],
    draw({ contact, ball, steps, gradient, name }, { x, y, line, arrow }, { g, radius, norm }) {
      const named = (kind, what) => `${what} ${kind}${kind === norm ? " chosen" : ""}`;
      const rim = (kind) => line(RIMS[kind].map(([a, b]) => [radius * a, radius * b]));
      const step = (kind) => arrow([0, 0], bestStep(g, radius, kind));
      ball(KINDS, (kind) => ({ class: named(kind, "ball"), d: rim(kind) }));
      steps(KINDS, (kind) => ({ class: named(kind, "arrow"), d: step(kind) }));
      const [a, b] = bestStep(g, radius, norm);
      const [u, v] = [-g[1], g[0]].map((w) => (4 * w) / Math.hypot(...g));
      contact({ class: `contact ${norm}`, d: line([-1, 1].map((side) => [a + side * u, b + side * v])) });
      gradient(arrow([0, 0], g));
      name("g", { x: x(g[0]) + 12, y: y(g[1]) - 8 });
    },
  });

// What the result line says.
export function describe(angle, length, radius, norm) {
  const g = gradientAt(angle, length);
  const [a, b] = g.map(Math.abs);
  const free = { l1: Math.abs(a - b) < 1e-9, linf: !a || !b }[norm]; // a whole side touches the line
  const best = free ? "one of many best steps is" : "the best step is";
  return `In ${NORMS[norm]} ${best} ${tuple(bestStep(g, radius, norm))}: ${RULES[norm]}. To first order the loss falls by η times the dual norm of g, ${format(radius * dualNorm(g, norm))}.`;
}

export default widget("norm-ball", ({ model, controls, write }) => {
  const wrap = (degrees) => degrees - 360 * Math.round(degrees / 360);
  const view = plane({
    point: ([a, b]) =>
      write({ angle: (Math.atan2(b, a) * 180) / Math.PI, length: controls.length.within(Math.hypot(a, b)) }),
    turn: (by) => write({ angle: wrap(model.get("angle") + by) }),
  });
  const numbers = table({ head: ["norm", "best step Δ", "drop ⟨g, Δ⟩"] });
  const result = resultLine();
  const rows = ["norm", "angle", "length", "radius"].map((name) => controls[name]);
  return {
    layout: [columns("views", [heading("Drag the tip of the gradient"), view], [...rows, numbers]), result],
    draw({ angle, length, radius, norm }) {
      const g = gradientAt(angle, length);
      view.draw({ g, angle, radius, norm });
      numbers.draw(
        KINDS.map((kind) => [
          { text: NORMS[kind], class: kind },
          tuple(bestStep(g, radius, kind)),
          format(-radius * dualNorm(g, kind)),
        ]),
      );
      result.say(describe(angle, length, radius, norm));
    },
  };
});
