// Touch the corner: where a bowl touches the circle of ridge and the diamond of the lasso, and both paths.
//
// The functions above `LEFT` are the mathematics; the tests compare them with primer.regression.

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
  resultLine,
  widget,
} from "../kit/kit.js";
import { tuple } from "../shared/tuple.js";

/** The loss above its lowest: half the square of w − m, measured by columns that have the correlation c. */
export function loss([a, b], [m, n], c) {
  const [u, v] = [a - m, b - n];
  return (u * u + 2 * c * u * v + v * v) / 2;
}

const soft = (a, by) => Math.sign(a) * Math.max(Math.abs(a) - by, 0);

/** What minimizes the loss and the penalty: ridge charges λ|w|²/2, the lasso λ(|w₁| + |w₂|). */
export const SOLVE = {
  ridge([m, n], c, penalty) {
    const [p, q] = [m + c * n, c * m + n]; // the slopes at 0, with the sign turned
    const d = 1 + penalty;
    return [(d * p - c * q) / (d * d - c * c), (d * q - c * p) / (d * d - c * c)];
  },
  lasso([m, n], c, penalty) {
    const [p, q] = [m + c * n, c * m + n];
    const found = [
      [soft(p, penalty), 0],
      [0, soft(q, penalty)],
    ];
    for (const s of [1, -1]) {
      for (const t of [1, -1]) {
        const w = [m - (penalty * (s - c * t)) / (1 - c * c), n - (penalty * (t - c * s)) / (1 - c * c)];
        if (w[0] * s > 0 && w[1] * t > 0) found.push(w);
      }
    }
    const cost = (w) => loss(w, [m, n], c) + penalty * (Math.abs(w[0]) + Math.abs(w[1]));
    return found.reduce((best, w) => (cost(w) < cost(best) - 1e-15 ? w : best));
  },
};

/** The weights for each of some penalties. */
export const course = (kind, minimum, c, penalties) => penalties.map((one) => SOLVE[kind](minimum, c, one));

/** What the result line says. */
export function describe({ kind, penalty, minimum }, w) {
  const zeros = w.flatMap((x, i) => (x === 0 ? [`w${"₁₂"[i]}`] : []));
  const end = ["no weight is 0", `${zeros[0]} is exactly 0`, "both are exactly 0"][zeros.length];
  const name = kind === "lasso" ? "Lasso" : "Ridge";
  return `${name}, λ = ${format(penalty, 2)}: w = ${tuple(w)}; ${end}. Least squares: ${tuple(minimum)}.`;
}

// ---------------------------------------------------------------- what the reader sees

const LEFT = 34;
const [WIDE, HIGH] = [2.6, 2];
const height = (width) => 66 + ((width - LEFT - 12) * HIGH) / WIDE; // one unit is as long in both directions
const ROUND = between(0, 2 * Math.PI, 72);

const plane = (move) =>
  panel({
    label: "Level lines of the loss around its minimum, and the region of the penalty that they touch",
    name: "plane",
    height,
    margin: [24, 12, 42, LEFT],
    x: { domain: [-WIDE, WIDE], label: "w₁", ticks: [-2, -1, 0, 1, 2] },
    y: { domain: [-HIGH, HIGH], label: "w₂", ticks: [-2, -1, 0, 1, 2] },
    layers: {
      ...paths("region", "zero"),
      ring: { tag: "path", many: true },
      road: "path",
      touch: { tag: "circle", r: 6 },
      lowest: "path",
    },
    marks: [
      {
        at: ({ minimum }) => minimum,
        label: ({ minimum }) => `The minimum of the loss, ${tuple(minimum)}`,
        move,
        step: 0.05,
      },
    ],
    draw({ region, zero, ring, road, touch, lowest }, plot, { kind, w, minimum, tilt, all }) {
      const { x, y, line, spot } = plot;
      const [a, b] = w.map(Math.abs);
      const rim =
        kind === "lasso"
          ? [0, 1, 2, 3, 4].map((i) => [
              (a + b) * Math.cos((i * Math.PI) / 2),
              (a + b) * Math.sin((i * Math.PI) / 2),
            ])
          : ROUND.map((t) => [Math.hypot(a, b) * Math.cos(t), Math.hypot(a, b) * Math.sin(t)]);
      region(`${line(rim)}Z`);
      zero(`M${x.range[0]} ${y(0)}H${x.range[1]}M${x(0)} ${y.range[0]}V${y.range[1]}`);
      const level = loss(w, minimum, tilt);
      ring([0.25, 0.6, 1], (part) => {
        const size = Math.sqrt(2 * part * level);
        const [along, across] = [size / Math.sqrt(1 + tilt), size / Math.sqrt(1 - tilt)];
        return {
          d: line(
            ROUND.map((t) => {
              const [u, v] = [along * Math.cos(t), across * Math.sin(t)].map((z) => z * Math.SQRT1_2);
              return [minimum[0] + u + v, minimum[1] + u - v];
            }),
          ),
        };
      });
      road(line(all));
      touch(spot(...w));
      const [cx, cy] = [x(minimum[0]), y(minimum[1])];
      lowest(`M${cx - 6} ${cy - 6}l12 12M${cx - 6} ${cy + 6}l12 -12`);
    },
  });

const weights = (most, drag) =>
  panel({
    label: "Both weights for every penalty",
    name: "course",
    height,
    margin: [24, 12, 42, LEFT],
    x: { domain: [0, most], label: "penalty λ", ticks: [0, 1, 2, 3] },
    y: { domain: [-HIGH - 0.6, HIGH + 0.6], label: "weight", ticks: [-2, -1, 0, 1, 2] },
    layers: paths("zero", "one", "two", "cursor"),
    over: { dot: { tag: "circle", many: true, r: 5 } },
    drag,
    draw({ zero, one, two, cursor, dot }, { x, y, line, spot }, { penalties, all, penalty, w }) {
      zero(`M${x.range[0]} ${y(0)}H${x.range[1]}`);
      [one, two].forEach((draw, i) => draw(line(all.map((weights, t) => [penalties[t], weights[i]]))));
      cursor(`M${x(penalty)} ${y.range[0]}V${y.range[1]}`);
      dot(w, (weight, i) => ({ class: `dot ${i ? "two" : "one"}`, ...spot(penalty, weight) }));
    },
  });

export default widget("touch-the-corner", ({ constants: { penalties }, controls, write }) => {
  const most = penalties.at(-1);
  const move = ([a, b]) =>
    write({
      minimum: [clamp(a, -WIDE + 0.1, WIDE - 0.1), clamp(b, -HIGH + 0.1, HIGH - 0.1)].map(
        (v) => Math.round(100 * v) / 100,
      ),
    });
  const drag = ([t]) => write({ penalty: clamp(Math.round(100 * t) / 100, 0, most) });
  const [left, right, result, once] = [plane(move), weights(most, drag), resultLine(), memory()];
  return {
    layout: [
      columns("controls", [controls.kind, controls.penalty], [controls.tilt]),
      columns(
        "views",
        [heading("Drag the minimum, ×"), left],
        [heading(key("one", "w₁"), key("two", "w₂"), "for every λ"), right],
      ),
      result,
    ],
    draw(state) {
      const { kind, penalty, tilt, minimum } = state;
      const w = SOLVE[kind](minimum, tilt, penalty);
      const all = once("course", [kind, minimum, tilt], () => course(kind, minimum, tilt, penalties));
      const drawn = { ...state, w, all, penalties };
      left.draw(drawn);
      right.draw(drawn);
      result.say(describe(state, w));
    },
  };
});
