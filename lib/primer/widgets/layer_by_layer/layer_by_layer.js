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
import { pixels, resultLine, short, significant, widget } from "../kit/kit.js";
import { inTurns } from "../shared/in_turns.js";
import { scientific } from "../shared/scientific.js";
import { dots } from "../shared/pixels.js";
import { normal, random } from "../shared/random.js";

// In a quarter of the time of Math.tanh, which is asked where the difference would lose digits.
const tanh = (z) => (Math.abs(z) < 0.05 ? Math.tanh(z) : 1 - 2 / (Math.exp(2 * z) + 1));

// Each kink: its value at z, and its slope where it has that value.
const KINKS = {
  relu: [(z) => Math.max(z, 0), (value) => (value > 0 ? 1 : 0)],
  tanh: [tanh, (value) => 1 - value ** 2],
  none: [(z) => z, () => 1],
};

/**
 * What is drawn for a seed: inputs, gradients at the output, and the weights of each layer, all standard normal;
 * `columns` are the weights once more, column by column.
 */
export function draw(seed, { depth, width, examples }) {
  const uniform = random(seed);
  const some = (count) => Float64Array.from({ length: count }, () => normal(uniform));
  const [inputs, back] = [some(examples * width), some(examples * width)];
  const weights = Array.from({ length: depth }, () => some(width * width));
  return { inputs, back, weights, columns: weights.map((one) => turned(one, width)) };
}

// The matrix whose rows are the columns of another.
const turned = (weights, width) =>
  Float64Array.from(weights, (_, at) => weights[(at % width) * width + Math.floor(at / width)]);

// For each row of numbers its products with the rows of a matrix, times a scale.  Four rows by two share what is read,
// and the loops are plain: a frame does a million and a half of these products.
function times(rows, weights, width, scale, found) {
  for (let from = 0; from < rows.length; from += 4 * width) {
    for (let j = 0; j < width; j += 2) {
      let [a, b, c, d, e, f, g, h] = [0, 0, 0, 0, 0, 0, 0, 0];
      for (let w = j * width, end = w + width, at = from; w < end; w++, at++) {
        const [one, other] = [weights[w], weights[w + width]];
        const [p, q, r, s] = [rows[at], rows[at + width], rows[at + 2 * width], rows[at + 3 * width]];
        a += one * p;
        b += one * q;
        c += one * r;
        d += one * s;
        e += other * p;
        f += other * q;
        g += other * r;
        h += other * s;
      }
      const to = from + j;
      found[to] = scale * a;
      found[to + width] = scale * b;
      found[to + 2 * width] = scale * c;
      found[to + 3 * width] = scale * d;
      found[to + 1] = scale * e;
      found[to + 1 + width] = scale * f;
      found[to + 1 + 2 * width] = scale * g;
      found[to + 1 + 3 * width] = scale * h;
    }
  }
}

/** Where a run puts its numbers: who runs often gives the same room, so that nothing is to be cleared away. */
export function roomFor({ depth, width, examples }) {
  const some = () => new Float64Array(examples * width);
  const many = () => Array.from({ length: depth }, some);
  return { kinked: many(), added: many(), back: many(), delta: some() };
}

/** Send the examples up and the gradients down: { signals, gradients }, at the input and after each layer. */
export function run(
  { inputs, back, weights, columns },
  { kink, gain, residual },
  constants,
  room = roomFor(constants),
) {
  const { depth, width } = constants;
  const [value, slope] = KINKS[kink];
  const scale = Math.sqrt(gain / width);
  const part = residual ? 1 / Math.sqrt(depth) : 1;
  const { kinked, added, delta } = room;
  const signals = [inputs, ...(residual ? added : kinked)];
  const gradients = [...room.back, back];
  for (let layer = 0; layer < depth; layer++) {
    const [below, found, above] = [signals[layer], kinked[layer], signals[layer + 1]];
    times(below, columns[layer], width, scale, found);
    for (let at = 0; at < found.length; at++) found[at] = value(found[at]);
    if (residual) for (let at = 0; at < found.length; at++) above[at] = part * found[at] + below[at];
  }
  for (let layer = depth - 1; layer >= 0; layer--) {
    const [above, found, below] = [gradients[layer + 1], kinked[layer], gradients[layer]];
    for (let at = 0; at < delta.length; at++) delta[at] = part * above[at] * slope(found[at]);
    times(delta, weights[layer], width, scale, below);
    if (residual) for (let at = 0; at < below.length; at++) below[at] += above[at];
  }
  return { signals, gradients };
}

/**
 * By what a variance of gain/n makes the signals larger than one of 1/n, at the input and after each layer; true where
 * nothing is added past a layer and the kink of a·z is a times that of z.
 */
export const growth = (gain, depth) => between(0, depth, depth).map((layer) => gain ** (layer / 2));

/** The root mean square of numbers. */
export function spread(numbers) {
  let total = 0;
  for (let at = 0; at < numbers.length; at++) total += numbers[at] * numbers[at]; // `for … of` takes five times as long
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
    slopes.push(gain * meanOf((z) => slope(value(z)) ** 2, deviation));
  }
  for (const one of slopes.reverse()) gradients.unshift(one * gradients[0]);
  return { signals: signals.map(Math.sqrt), gradients: gradients.map(Math.sqrt) };
}

/** Shares of numbers in bins between −reach and reach; what lies beyond is in the outermost. */
export function histogram(numbers, reach, bins) {
  const found = Array(bins).fill(0);
  const [each, span] = [1 / numbers.length, 2 * reach];
  for (let at = 0; at < numbers.length; at++) {
    found[clamp(Math.floor(((numbers[at] + reach) / span) * bins), 0, bins - 1)] += each;
  }
  return found;
}

/** A factor in two digits: 0.56, 34, 130, 4·10⁻⁴ */
export function factor(x) {
  if (x >= 0.01 && x < 100) return significant(x, 2);
  return x >= 100 && x < 1e4 ? grouped(Number(x.toPrecision(2))) : scientific(x, 0);
}

/** What the result line says. */
export function describe({ gain, residual }, signals, gradients) {
  const [up, down] = [signals.at(-1) / signals[0], gradients[0] / gradients.at(-1)];
  const how = residual ? ", each layer divided by √20 and added" : "";
  return `Variance ${short(gain, 2)}/n${how}: twenty layers make the signal ${factor(up)} times as large, and on the way back the gradient ${factor(down)} times.`;
}

// ---------------------------------------------------------------- what the reader sees

const AHEAD = 200; // milliseconds
const [BINS, REACH] = [31, 3];
const [LOWEST, HIGHEST] = [1e-4, 1e4];
const EXPONENTS = [-4, -2, 0, 2, 4];

// One closed outline for each layer, as wide as the root of the share in each bin: up on one side, down on the other.
function outlines({ all, factors }, { x, y }) {
  const edges = between(-REACH, REACH, BINS).map((edge) => `V${pixels(y(edge))}`);
  return all
    .map((numbers, layer) => {
      const shares = histogram(numbers, REACH / factors[layer], BINS);
      const most = Math.max(...shares);
      const [first, last] = [shares.findIndex(Boolean), shares.findLastIndex(Boolean)];
      let [up, down] = ["", ""];
      for (let i = first; i <= last; i++) {
        const half = 0.46 * Math.sqrt(shares[i] / most);
        up += `H${pixels(x(layer + half))}${edges[i + 1]}`;
        down = `H${pixels(x(layer - half))}${edges[i]}${down}`;
      }
      return `M${pixels(x(layer))} ${edges[first].slice(1)}${up}${down}Z`;
    })
    .join("");
}

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
      bead: { tag: "path", many: true },
    },
    draw({ one, limit, signals, gradients, bead }, plot, state) {
      const at = (list) => list.map((v, layer) => [layer, clamp(v, LOWEST, HIGHEST)]);
      one(`M${plot.x.range[0]} ${plot.y(1)}H${plot.x.range[1]}`);
      const { wide } = state;
      limit(wide ? plot.line(at(wide.signals)) + plot.line(at(wide.gradients)) : null);
      signals(plot.line(at(state.signals)));
      gradients(plot.line(at(state.gradients)));
      bead(["signals", "gradients"], (name) => ({
        class: `bead ${name}`,
        d: dots(at(state[name]).map(plot.at), 3),
      }));
    },
  });

export default widget("layer-by-layer", ({ controls, constants, write, redraw }) => {
  const { depth } = constants;
  const [once, room] = [memory(), roomFor(constants)];
  const up = shapes("How the outputs of each layer are distributed", "up", "output", depth);
  const down = shapes("How the gradients at each layer are distributed", "down", "gradient", depth);
  const [both, result] = [course(depth), resultLine()];
  const marked = [
    ["Glorot: 1/n", 1],
    ["He: 2/n", 2],
  ].map(([name, gain]) => button(`${name}`, () => write({ gain })));
  const drawn = (seed) => once(`drawn ${seed}`, seed, () => draw(seed, constants));
  // No frame waits for 46,000 random numbers: those of every seed are drawn when the page has time.
  const [low, high] = controls.seed.range();
  const ahead = between(low, high, high - low).map((seed) => setTimeout(() => drawn(seed), AHEAD));
  // The numbers of one setting, and their spreads.
  function found(state) {
    const { kink, gain, residual, seed } = state;
    return once("found", [kink, gain, residual, seed], () => {
      const scaled = !residual && kink !== "tanh";
      const now = scaled
        ? once(`${kink} ${seed}`, 0, () => run(drawn(seed), { ...state, gain: 1 }, constants))
        : run(drawn(seed), state, constants, room);
      const factors = growth(scaled ? gain : 1, depth);
      const back = factors.toReversed();
      const signals = now.signals.map((numbers, layer) => factors[layer] * spread(numbers));
      const gradients = now.gradients.map((numbers, layer) => back[layer] * spread(numbers));
      return { now, factors, back, signals, gradients };
    });
  }
  const rise = (state) => {
    const { now, factors } = found(state);
    up.draw({ all: now.signals, factors });
    return true;
  };
  const fall = (state) => {
    const { now, back } = found(state);
    down.draw({ all: now.gradients, factors: back });
    return true;
  };
  const compare = (state) => {
    const { kink, gain, residual } = state;
    const { signals, gradients } = found(state);
    const wide = residual ? null : once("wide", [kink, gain], () => expected(state, depth));
    both.draw({ signals, gradients, wide });
    result.say(describe(state, signals, gradients));
    return true;
  };
  const picture = inTurns(redraw, rise, fall, compare);
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
    draw: picture.draw,
    stop() {
      picture.stop();
      ahead.forEach(clearTimeout);
    },
  };
});
