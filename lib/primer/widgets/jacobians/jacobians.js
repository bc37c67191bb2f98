// A product of Jacobians, taken hold of: eigenvalues, singular values, and what a tanh does.
//
// The functions above `plane` are the mathematics; the tests compare them with primer.recurrent.

import { between, button, clamp, columns, div, heading, key, panel, paths, resultLine } from "../kit/kit.js";
import { short, widget } from "../kit/kit.js";
import { scientific } from "../shared/scientific.js";

// ---------------------------------------------------------------- two by two

/** @type {(first: number[], second: number[]) => number[]} */
const times = ([a, b, c, d], [e, f, g, h]) => [a * e + b * g, a * f + b * h, c * e + d * g, c * f + d * h];

/**
 * The eigenvalues of a matrix [a, b, c, d], rows a b and c d: [[real, imaginary], …].
 *
 * @param {number[]} matrix
 */
export function eigenvalues([a, b, c, d]) {
  const [middle, under] = [(a + d) / 2, ((a - d) / 2) ** 2 + b * c];
  const root = Math.sqrt(Math.abs(under));
  return under < 0
    ? [
        [middle, root],
        [middle, -root],
      ]
    : [
        [middle + root, 0],
        [middle - root, 0],
      ];
}

/**
 * The singular values, the larger one first.
 *
 * @param {number[]} matrix
 */
export function singularValues([a, b, c, d]) {
  const [sum, difference] = [Math.hypot(a + d, b - c), Math.hypot(a - d, b + c)];
  const largest = (sum + difference) / 2;
  return [largest, largest && Math.abs(a * d - b * c) / largest];
}

const sizeOf = (value) => Math.hypot(...value);

/** The matrix with a spectral radius, a turn in degrees, a shear and a squeeze. */
export function matrixOf({ radius, turn, shear, squeeze }) {
  const angle = (turn * Math.PI) / 180;
  const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
  const plain = times([cos, -sin, sin, cos], [1, shear, 0, squeeze]);
  const scale = radius / Math.max(...eigenvalues(plain).map(sizeOf));
  return plain.map((x) => x * scale);
}

/** Largest and smallest singular value of the product of 0, 1, 2, … Jacobians. */
export function stretches(state, inputs) {
  const [a, b, c, d] = matrixOf(state);
  let [product, h] = [
    [1, 0, 0, 1],
    [0, 0],
  ];
  // the smallest one from the determinant, which loses no digits when the two are far apart
  let determinant = 1;
  const found = [[1, 1]];
  for (const input of inputs) {
    const [x, y] = input.map((value) => value * state.loudness);
    h = state.tanh ? [x + h[0] * a + h[1] * c, y + h[0] * b + h[1] * d].map(Math.tanh) : [0, 0];
    const [p, q] = h.map((value) => 1 - value * value);
    product = times([p * a, p * c, q * b, q * d], product);
    determinant *= Math.abs(p * q * (a * d - b * c));
    const [largest] = singularValues(product);
    found.push([largest, largest && determinant / largest]);
  }
  return found;
}

/** The step at which the product is longest, and the one from which on it stays below 1; null if it does not. */
export function story(lengths) {
  const most = Math.max(...lengths) * (1 - 1e-9);
  const top = lengths.findIndex((length) => length >= most);
  const last = lengths.findLastIndex((length) => length >= 1 - 1e-9);
  return { top, below: last + 1 < lengths.length ? last + 1 : null };
}

const written = (x) => (x >= 1e4 || x < 0.01 ? scientific(x) : short(x, 2));

/** What the result line says. */
export function describe(state, inputs) {
  const matrix = matrixOf(state);
  const radius = Math.max(...eigenvalues(matrix).map(sizeOf));
  const [largest] = singularValues(matrix);
  const lengths = stretches(state, inputs).map(([most]) => most);
  const { top, below } = story(lengths);
  const n = lengths.length - 1;
  const rest = below === null ? "" : ` From step ${below} on it stays below 1.`;
  const course = `at most ${written(lengths[top])} at step ${top}, and ${written(lengths[n])} after ${n}`;
  return `Largest eigenvalue ${written(radius)} in size, largest singular value ${written(largest)}. The product lengthens a vector ${course}.${rest}`;
}

// ---------------------------------------------------------------- what the reader sees

const ring = ({ x, y }, radius) => {
  const [rx, ry] = [x(radius) - x(0), y(0) - y(radius)];
  return `M${x(0) - rx} ${y(0)}a${rx} ${ry} 0 1 0 ${2 * rx} 0a${rx} ${ry} 0 1 0 ${-2 * rx} 0Z`;
};

const reach = ({ sizes }) => Math.max(1.5, 1.15 * sizes[0]);

const plane = () =>
  panel({
    label: "The complex plane: the circle of radius 1, the ring between the singular values, the eigenvalues",
    height: (width) => clamp(width, 220, 300),
    widest: 320,
    margin: [26, 10, 40, 42],
    x: (state) => ({ domain: [-reach(state), reach(state)], label: "real part" }),
    y: (state) => ({ domain: [-reach(state), reach(state)], label: "imaginary part" }),
    layers: { ring: "path", unit: "path", values: { tag: "circle", r: 5, many: true } },
    draw({ ring: between1, unit, values }, plot, { sizes, own }) {
      between1(ring(plot, sizes[0]) + ring(plot, sizes[1]), { "fill-rule": "evenodd" });
      unit(ring(plot, 1));
      values(own, (value) => plot.spot(...value));
    },
  });

const chart = (range, steps) =>
  panel({
    label: "How much the product of so many Jacobians lengthens a vector, at most and at least",
    height: (width) => clamp(width * 0.8, 240, 300),
    margin: [26, 12, 40, 46],
    x: { domain: [0, steps], label: "steps", ticks: [0, 20, 40, 60, 80, 100] },
    y: {
      domain: range,
      label: "lengthens a vector by",
      logarithmic: true,
      ticks: [1e-6, 1e-4, 1e-2, 1, 1e2, 1e4, 1e6],
      text: (t) => ({ 0.01: "0.01", 1: "1", 100: "100" })[t] ?? scientific(t, 0).slice(2),
    },
    layers: paths("one", "bound", "radius", "least", "most"),
    draw({ one, bound, radius, least, most }, { x, y, line }, { sizes, own, found }) {
      const power = (base) => line(between(0, steps, steps).map((k) => [k, clamp(base ** k, 1e-9, 1e9)]));
      const curve = (i) => line(found.map((pair, k) => [k, clamp(pair[i], 1e-9, 1e9)]));
      one(`M${x.range[0]} ${y(1)}H${x.range[1]}`);
      bound(power(sizes[0]));
      radius(power(Math.max(...own.map(sizeOf))));
      least(curve(1));
      most(curve(0));
    },
  });

export default widget("jacobians", ({ controls, constants: { inputs, cases, range }, write }) => {
  const [map, course, result] = [plane(), chart(range, inputs.length), resultLine()];
  const presets = cases.map(([name, state]) => button(name, () => write(state)));
  return {
    layout: [
      div("cases", ...presets),
      columns(
        "controls",
        [controls.radius, controls.turn],
        [controls.shear, controls.squeeze],
        [controls.tanh],
        [controls.loudness],
      ),
      columns(
        "views",
        [heading(key("own", "eigenvalues"), key("ring", "singular values")), map],
        [
          heading(
            key("most", "product, at most"),
            key("least", "at least"),
            key("radius", "ρᵏ"),
            key("bound", "σ₁ᵏ"),
          ),
          course,
        ],
      ),
      result,
    ],
    draw(state) {
      const matrix = matrixOf(state);
      const seen = {
        sizes: singularValues(matrix),
        own: eigenvalues(matrix),
        found: stretches(state, inputs),
      };
      map.draw(seen);
      course.draw(seen);
      result.say(describe(state, inputs));
    },
  };
});
