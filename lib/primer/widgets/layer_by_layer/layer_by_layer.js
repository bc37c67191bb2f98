// Layer by layer: signals going up and gradients coming down a deep network at its start.
//
// The functions above `BINS` are the mathematics; the tests compare them with Python and torch.

import {
  between,
  button,
  clamp,
  columns,
  div,
  grouped,
  heading,
  key,
  memory,
  panel,
  paths,
} from "../kit/kit.js";
import { resultLine, scientific, short, significant, widget } from "../kit/kit.js";
import { normal, random } from "../shared/random.js";

// Each kink: its value and its slope at z.
const KINKS = {
  relu: [(z) => Math.max(z, 0), (z) => (z > 0 ? 1 : 0)],
  tanh: [(z) => Math.tanh(z), (z) => 1 - Math.tanh(z) ** 2],
  none: [(z) => z, () => 1],
};

/** What is drawn for a seed: inputs, gradients at the output, and the weights of each layer, all standard normal. */
export function draw(seed, { depth, width, examples }) {
  const uniform = random(seed);
  const some = (count) => Float64Array.from({ length: count }, () => normal(uniform));
  const [inputs, back] = [some(examples * width), some(examples * width)];
  return { inputs, back, weights: Array.from({ length: depth }, () => some(width * width)) };
}

// Rows times a matrix, or times its transpose.
function times(rows, weights, width, scale, turned) {
  const found = new Float64Array(rows.length);
  for (let row = 0; row < rows.length; row += width) {
    for (let i = 0; i < width; i++) {
      const h = scale * rows[row + i];
      if (h === 0) continue;
      if (turned) for (let j = 0, at = i; j < width; j++, at += width) found[row + j] += h * weights[at];
      else for (let j = 0, at = i * width; j < width; j++) found[row + j] += h * weights[at++];
    }
  }
  return found;
}

/** Send the examples up and the gradients down: { signals, gradients }, at the input and after each layer. */
export function run({ inputs, back, weights }, { kink, gain, residual }, { depth, width }) {
  const [value, slope] = KINKS[kink];
  const scale = Math.sqrt(gain / width);
  const part = residual ? 1 / Math.sqrt(depth) : 1;
  const [signals, sums, gradients] = [[inputs], [], [back]];
  for (const W of weights) {
    const below = signals.at(-1);
    const z = times(below, W, width, scale, false);
    sums.push(z);
    signals.push(z.map((v, at) => part * value(v) + (residual ? below[at] : 0)));
  }
  for (let layer = depth - 1; layer >= 0; layer--) {
    const above = gradients[0];
    const delta = above.map((g, at) => part * g * slope(sums[layer][at]));
    const below = times(delta, weights[layer], width, scale, true);
    gradients.unshift(residual ? below.map((g, at) => g + above[at]) : below);
  }
  return { signals, gradients };
}

/** The root mean square of numbers. */
export function spread(numbers) {
  let total = 0;
  for (const x of numbers) total += x * x;
  return Math.sqrt(total / numbers.length);
}

/** The spreads of a seed: { signals, gradients }, at the input and after each layer. */
export function spreadsOf(seed, state, constants) {
  const { signals, gradients } = run(draw(seed, constants), state, constants);
  return { signals: signals.map(spread), gradients: gradients.map(spread) };
}

// The standard normal distribution at 160 places, none of them a corner.
const PLACES = Array.from({ length: 160 }, (_, i) => -8 + 0.1 * (i + 0.5));
const DENSITY = PLACES.map((z) => Math.exp((-z * z) / 2));
const MASS = DENSITY.reduce((a, b) => a + b, 0);
const meanOf = (f, deviation) =>
  PLACES.reduce((total, z, i) => total + (DENSITY[i] / MASS) * f(deviation * z), 0);

/** Spreads in the limit of wide layers, without the sum: { signals, gradients }. */
export function expected({ kink, gain }, depth) {
  const [value, slope] = KINKS[kink];
  const [signals, slopes, gradients] = [[1], [], [1]];
  for (let layer = 0; layer < depth; layer++) {
    const deviation = Math.sqrt(gain * signals.at(-1));
    signals.push(meanOf((z) => value(z) ** 2, deviation));
    slopes.push(gain * meanOf((z) => slope(z) ** 2, deviation));
  }
  for (const one of slopes.reverse()) gradients.unshift(one * gradients[0]);
  return { signals: signals.map(Math.sqrt), gradients: gradients.map(Math.sqrt) };
}

/** Shares of numbers in bins between −reach and reach; what lies beyond is in the outermost. */
export function histogram(numbers, reach, bins) {
  const found = Array(bins).fill(0);
  for (const x of numbers) {
    found[clamp(Math.floor(((x + reach) / (2 * reach)) * bins), 0, bins - 1)] += 1 / numbers.length;
  }
  return found;
}

/** A factor in two digits: 0.56, 34, 130, 4·10⁻⁴ */
export function factor(x) {
  if (x === 0) return "0";
  if (x >= 0.01 && x < 100) return significant(x, 2);
  return x >= 100 && x < 1e4 ? grouped(Number(x.toPrecision(2))) : scientific(x, 0);
}

/** What the result line says. */
export function describe({ gain, residual }, signals, gradients) {
  const [up, down] = [signals.at(-1) / signals[0], gradients[0] / gradients.at(-1)];
  const how = residual ? ", each layer added" : "";
  return `Variance ${short(gain, 2)}/n${how}: twenty layers make the signal ${factor(up)} times as large, and on the way back the gradient ${factor(down)} times.`;
}

// ---------------------------------------------------------------- what the reader sees

const [BINS, REACH] = [31, 3];
const [LOWEST, HIGHEST] = [1e-4, 1e4];
const EXPONENTS = [-4, -2, 0, 2, 4];

// One closed outline for each layer, as wide as the root of the share in each bin.
const outlines = (all, plot) =>
  all
    .map((numbers, layer) => {
      const shares = histogram(numbers, REACH, BINS);
      const most = Math.max(...shares);
      const half = shares.map((share) => 0.46 * Math.sqrt(share / most));
      const edge = (i) => -REACH + (i * 2 * REACH) / BINS;
      const [first, last] = [shares.findIndex(Boolean), shares.findLastIndex(Boolean)];
      const within = half.slice(first, last + 1);
      const side = (sign) =>
        within.flatMap((w, i) => [0, 1].map((end) => [layer + sign * w, edge(first + i + end)]));
      return `${plot.line([...side(1), ...side(-1).reverse()])}Z`;
    })
    .join("");

const shapes = (label, name, what, depth) =>
  panel({
    label,
    name,
    height: 150,
    margin: [22, 8, 36, 34],
    x: { domain: [-0.6, depth + 0.6], label: "layer", ticks: between(0, depth, 4) },
    y: { domain: [-REACH, REACH], label: what, ticks: [-2, 0, 2] },
    layers: { shape: "path" },
    draw: ({ shape }, plot, all) => shape(outlines(all, plot)),
  });

const course = (depth) =>
  panel({
    label: "The spread of signals and gradients against the layer; dashed: what wide layers would have",
    name: "spread",
    height: 190,
    margin: [22, 8, 38, 44],
    x: { domain: [-0.6, depth + 0.6], label: "layer", ticks: between(0, depth, 4) },
    y: {
      ...{
        domain: [LOWEST, HIGHEST],
        label: "root mean square; dashed: of very wide layers",
        logarithmic: true,
      },
      ...{ ticks: EXPONENTS.map((e) => 10 ** e), text: (t) => (t === 1 ? "1" : scientific(t, 0).slice(2)) },
    },
    layers: {
      ...paths("one", "limit"),
      ...paths("signals", "gradients"),
      bead: { tag: "circle", r: 3, many: true },
    },
    draw({ one, limit, signals, gradients, bead }, plot, state) {
      const at = (list) => list.map((v, layer) => [layer, clamp(v, LOWEST, HIGHEST)]);
      one(`M${plot.x.range[0]} ${plot.y(1)}H${plot.x.range[1]}`);
      const { wide } = state;
      limit(wide ? plot.line(at(wide.signals)) + plot.line(at(wide.gradients)) : null);
      signals(plot.line(at(state.signals)));
      gradients(plot.line(at(state.gradients)));
      const beads = ["signals", "gradients"].flatMap((name) => at(state[name]).map((point) => [name, point]));
      bead(beads, ([name, [layer, v]]) => ({ ...plot.spot(layer, v), class: `bead ${name}` }));
    },
  });

export default widget("layer-by-layer", ({ controls, constants, write }) => {
  const { depth } = constants;
  const once = memory();
  const up = shapes("How the outputs of each layer are distributed", "up", "output", depth);
  const down = shapes("How the gradients at each layer are distributed", "down", "gradient", depth);
  const [both, result] = [course(depth), resultLine()];
  const marked = [
    ["Glorot: 1/n", 1],
    ["He: 2/n", 2],
  ].map(([name, gain]) => button(`${name}`, () => write({ gain })));
  return {
    layout: [
      columns(
        "controls",
        [controls.gain, div("buttons", ...marked)],
        [controls.kink, controls.residual, controls.seed],
      ),
      columns(
        "views",
        [heading(key("signals", "signals, going up")), up],
        [heading(key("gradients", "gradients, coming back")), down],
      ),
      both,
      result,
    ],
    draw(state) {
      const { kink, gain, residual, seed } = state;
      const numbers = once("drawn", seed, () => draw(seed, constants));
      const now = once("run", [kink, gain, residual, seed], () => run(numbers, state, constants));
      const [signals, gradients] = [now.signals.map(spread), now.gradients.map(spread)];
      up.draw(now.signals);
      down.draw(now.gradients);
      both.draw({ signals, gradients, wide: residual ? null : expected(state, depth) });
      result.say(describe(state, signals, gradients));
    },
  };
});
