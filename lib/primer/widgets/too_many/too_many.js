// Too many parameters: a fit through twenty points, from too few coefficients to far too many.
//
// The functions above `GRID` are the mathematics; the tests compare them with primer.networks.

import { between, button, clamp, columns, counted, format, heading, key, panel } from "../kit/kit.js";
import { memory, resultLine, widget } from "../kit/kit.js";
import { aroundMarks, news } from "../shared/in_turns.js";
import { scientific } from "../shared/scientific.js";

export const truth = (x) => Math.sin(4 * x) + x / 2;

// The values of all basis functions up to a degree at one place.
export function features(basis, x, degree) {
  if (basis === "cosines") {
    return Float64Array.from({ length: degree + 1 }, (_, k) => Math.cos((k * Math.PI * (x + 1)) / 2));
  }
  const values = new Float64Array(degree + 1).fill(1);
  if (degree > 0) values[1] = x;
  for (let k = 1; k < degree; k++) {
    values[k + 1] = ((2 * k + 1) * x * values[k] - k * values[k - 1]) / (k + 1);
  }
  return values;
}

const dot = (a, b) => {
  let total = 0;
  for (let i = 0; i < a.length; i++) total += a[i] * b[i];
  return total;
};

function rotate(a, b, c, s) {
  for (let i = 0; i < a.length; i++) {
    const [left, right] = [a[i], b[i]];
    a[i] = c * left - s * right;
    b[i] = s * left + c * right;
  }
}

// One-sided Jacobi: turn pairs of columns until all are orthogonal.  Their lengths are the singular values,
// even the smallest to many digits, which the eigenvalues of a product of matrices would not give.
function orthogonalize(columnsOf) {
  const left = columnsOf.map((column) => Float64Array.from(column));
  const turned = left.map((_, i) => Float64Array.from(left, (__, j) => Number(i === j)));
  for (let sweep = 0, moved = true; moved && sweep < 60; sweep++) {
    moved = false;
    for (let i = 0; i < left.length; i++) {
      for (let j = i + 1; j < left.length; j++) {
        const [a, b, g] = [dot(left[i], left[i]), dot(left[j], left[j]), dot(left[i], left[j])];
        if (Math.abs(g) <= 1e-15 * Math.sqrt(a * b)) continue;
        moved = true;
        const zeta = (b - a) / (2 * g);
        const t = (zeta < 0 ? -1 : 1) / (Math.abs(zeta) + Math.hypot(1, zeta));
        const c = 1 / Math.hypot(1, t);
        rotate(left[i], left[j], c, c * t);
        rotate(turned[i], turned[j], c, c * t);
      }
    }
  }
  const lengths = left.map((column) => Math.sqrt(dot(column, column)));
  left.forEach((column, i) => column.forEach((v, k) => (column[k] = lengths[i] ? v / lengths[i] : 0)));
  return { left, turned, lengths };
}

// The singular value decomposition of the features at some places: { u, v, s }, each u and v a row.
export function decompose(basis, places, degree) {
  const rows = places.map((x) => features(basis, x, degree));
  if (degree + 1 >= rows.length) {
    const { left, turned, lengths } = orthogonalize(rows);
    return { u: turned, v: left, s: lengths };
  }
  const table = Array.from({ length: degree + 1 }, (_, k) => rows.map((row) => row[k]));
  const { left, turned, lengths } = orthogonalize(table);
  return { u: left, v: turned, s: lengths };
}

// The coefficients that minimize |y − Φc|² + λ|c|², the shortest where many do.
export function solve({ u, v, s }, y, penalty) {
  const found = new Float64Array(v[0].length);
  const cut = 1e-13 * Math.max(...s);
  s.forEach((value, i) => {
    if (value <= cut) return;
    const part = (value / (value * value + penalty)) * dot(u[i], y);
    for (let k = 0; k < found.length; k++) found[k] += part * v[i][k];
  });
  return found;
}

// What the tests compare: the coefficients, and the smallest singular value.
export function fit(basis, places, y, degree, penalty) {
  const parts = decompose(basis, places, degree);
  return { coefficients: solve(parts, y, penalty), smallest: Math.min(...parts.s) };
}

const GRID = between(-0.95, 0.95, 100);
const TRUTH = GRID.map(truth);
const FINE = between(-1, 1, 400);
const MOST = 200; // the highest degree
const [HIGHEST, LOWEST] = [1e15, 1e-12];

// What does not depend on the heights of the points is computed once: the parts of each degree, and the features at
// some places up to the highest degree, of which those of a lower one are the first.
const parts = new Map();
const nameOf = (basis, places, degree) => `${basis} ${degree} ${places[0]}`;
function partsOf(basis, places, degree) {
  const name = nameOf(basis, places, degree);
  if (!parts.has(name)) parts.set(name, decompose(basis, places, degree));
  return parts.get(name);
}
const tables = { polynomials: new Map(), cosines: new Map() };
function tableOf(basis, xs) {
  const known = tables[basis];
  if (!known.has(xs))
    known.set(
      xs,
      Array.from(xs, (x) => features(basis, x, MOST)),
    );
  return known.get(xs);
}

// What coefficients say at some places.
const sayAt = (xs, basis, c) => tableOf(basis, xs).map((row) => dot(c, row));

// The mean squared error of what was said.
function error(said, wanted) {
  let total = 0;
  for (let i = 0; i < said.length; i++) total += (said[i] - wanted[i]) ** 2;
  return total / said.length;
}

function assess(basis, places, y, degree, penalty) {
  const found = partsOf(basis, places, degree);
  const c = solve(found, y, penalty);
  return {
    c,
    test: error(sayAt(GRID, basis, c), TRUTH),
    train: error(sayAt(places, basis, c), y),
    smallest: Math.min(...found.s),
  };
}

function points(movePoint) {
  const once = memory();
  return panel({
    label: "Twenty points and the fit; move a point up and down with the arrow keys",
    name: "points",
    height: (width) => clamp(width * 0.8, 260, 360),
    margin: [20, 10, 40, 34],
    x: { domain: [-1, 1], label: "x", ticks: [-1, -0.5, 0, 0.5, 1] },
    y: { domain: [-2.5, 2.5], label: "y", ticks: [-2, -1, 0, 1, 2] },
    layers: { truth: "path", fit: "path" },
    over: { dot: { tag: "circle", r: 4.5, many: true } },
    marks: [
      {
        count: ({ places }) => places.length,
        at: ({ places, y }, i) => [places[i], clamp(y[i], -2.5, 2.5)],
        label: ({ places, y }, i) => `Point ${i + 1}, x ${format(places[i], 2)}, y ${format(y[i], 2)}`,
        move: ([, y], i) => movePoint(i, y),
        step: [0, 0.05],
        attributes: { r: 12 },
      },
    ],
    draw({ truth: dashed, fit: line, dot: dots }, plot, { places, y, basis, now }) {
      once("truth", [plot.x.range, plot.y.range], () => dashed(plot.line(FINE.map((x) => [x, truth(x)]))));
      line(plot.line(sayAt(FINE, basis, now.c).map((height, i) => [FINE[i], clamp(height, -99, 99)])));
      dots(places, (x, i) => plot.spot(x, clamp(y[i], -2.5, 2.5)));
    },
  });
}

const COUNTS = { domain: [1, MOST + 1], ticks: [1, 2, 5, 10, 20, 50, 100, 200], logarithmic: true };
const power = (t) => (t === 1 ? "1" : scientific(t, 0).slice(2));

const chart = (name, height, label, axis, layers, draw) =>
  panel({
    label,
    name,
    height,
    margin: [20, 10, name === "smallest" ? 40 : 22, 44],
    x: { ...COUNTS, label: name === "smallest" ? "number of coefficients" : "", text: String },
    y: { ...axis, logarithmic: true, text: power },
    layers: { equal: "path", ...layers, now: { tag: "circle", r: 5 } },
    draw(drawn, plot, state) {
      drawn.equal(`M${plot.x(state.places.length)} ${plot.y.range[0]}V${plot.y.range[1]}`);
      draw(drawn, plot, state);
    },
  });

const errors = () =>
  chart(
    "errors",
    210,
    "Errors on the points and on new ones against the number of coefficients",
    { domain: [1e-4, HIGHEST], label: "mean squared error", ticks: [1e-3, 1, 1e5, 1e10, 1e15] },
    { train: "path", test: "path" },
    ({ train, test, now }, { line, spot }, { degrees, curve, degree, now: { test: error } }) => {
      const inside = (v) => clamp(v, 1e-4, HIGHEST);
      train(line(curve.map((one, i) => [degrees[i] + 1, one.train < 1e-4 ? Number.NaN : one.train])));
      test(line(curve.map((one, i) => [degrees[i] + 1, inside(one.test)])));
      now(spot(degree + 1, inside(error)));
    },
  );

const singular = () =>
  chart(
    "smallest",
    170,
    "The smallest singular value of the features against the number of coefficients",
    { domain: [LOWEST, 10], label: "smallest singular value", ticks: [1e-12, 1e-9, 1e-6, 1e-3, 1] },
    { smallest: "path" },
    ({ smallest: drawn, now }, { line, spot }, { degrees, curve, degree, now: { smallest } }) => {
      drawn(line(curve.map((one, i) => [degrees[i] + 1, Math.max(one.smallest, LOWEST)])));
      now(spot(degree + 1, Math.max(smallest, LOWEST)));
    },
  );

const written = (v) =>
  v < 1e-12 ? "0" : v < 0.001 || v >= 1000 ? scientific(v) : format(v, v < 0.1 ? 4 : 2);

// What the result line says.
export function describe(degree, n, { train, test, smallest }) {
  const count = degree + 1;
  const side = count < n ? "fewer than points" : count === n ? "as many as points" : "more than points";
  return (
    `${counted(count, "coefficient")}, ${side}. Error on the points ${written(train)}, on new ` +
    `ones ${written(test)}; smallest singular value ${written(smallest)}.`
  );
}

export default widget("too-many", ({ controls, constants, read, write, redraw }) => {
  const { places, draws, degrees } = constants;
  const heights = ({ noise, sample, pulls }) =>
    places.map((x, i) => truth(x) + noise * draws[sample - 1][i] + pulls[i]);
  const movePoint = (i, y) => {
    const state = read();
    const pulls = [...state.pulls];
    pulls[i] += clamp(y, -2.5, 2.5) - heights(state)[i];
    write({ pulls });
  };
  const [left, above, below, result] = [points(movePoint), errors(), singular(), resultLine()];
  const [once, anew] = [memory(), news()];
  // What is drawn of one setting; the curves of errors stay while only the degree moves.
  const found = (state) => {
    const { basis, degree, penalty } = state;
    const y = heights(state);
    const now = once("now", [basis, degree, penalty, y], () => assess(basis, places, y, degree, penalty));
    return { places, y, basis, degree, degrees, now };
  };
  // A degree that is new is decomposed in a frame in which nothing is drawn.
  const prepare = ({ basis, degree }) => {
    if (parts.has(nameOf(basis, places, degree))) return false;
    partsOf(basis, places, degree);
    return true;
  };
  const fit = (state) => {
    const shown = found(state);
    return anew("fit", [shown.basis, shown.degree, state.penalty, shown.y], () => left.draw(shown));
  };
  const pull = (state) => anew("pulls", state.pulls) && fit(state);
  const compare = (state) => {
    const { basis, penalty } = state;
    const shown = found(state);
    const curve = once("curve", [basis, penalty, shown.y], () =>
      degrees.map((d) => assess(basis, places, shown.y, d, penalty)),
    );
    for (const drawing of [above, below]) drawing.draw({ ...shown, curve });
    result.say(describe(shown.degree, places.length, shown.now));
    return true;
  };
  const picture = aroundMarks(redraw, pull, prepare, fit, compare);
  const back = button("Put the points back", () => write({ pulls: places.map(() => 0) }));
  for (const basis of ["polynomials", "cosines"]) degrees.forEach((d) => partsOf(basis, places, d));
  return {
    layout: [
      columns(
        "controls",
        [controls.degree, controls.penalty, controls.basis],
        [controls.noise, controls.sample, back],
      ),
      result,
      columns(
        "views",
        [heading("The fit, and the truth ", key("dashed", "truth")), left],
        [heading("Errors: ", key("test", "new points"), key("train", "the points")), above, below],
      ),
    ],
    draw: picture.draw,
    stop: picture.stop,
  };
});
