// Two features that share one number: what they lose, exactly, and which weights and biases lose least.
//
// h = w₁x₁ + w₂x₂, x̂ᵢ = max(wᵢh + bᵢ, 0).  Each feature is active with chance p, and then uniform on [0, 1].  The tests
// compare this file with primer.inside.shared_loss.

import { between, clamp, sum } from "../kit/kit.js";

/** How far a weight and a bias may go. */
export const [REACH, BIAS] = [1.5, 1];

/** The mean of max(u, 0) while u runs evenly from `low` to `high`. */
function mean(low, high) {
  if (low >= 0 && high >= 0) return (low + high) / 2;
  const most = Math.max(low, high);
  return most <= 0 ? 0 : most ** 2 / (2 * Math.abs(high - low));
}

/** The mean of its square. */
function square(low, high) {
  if (low >= 0 && high >= 0) return (low * low + low * high + high * high) / 3;
  const most = Math.max(low, high);
  return most <= 0 ? 0 : most ** 3 / (3 * Math.abs(high - low));
}

const NODE = Math.sqrt(1 / 12); // two points from the middle of a piece: exact for polynomials of degree 3

// What a piece adds to the mean below, and what stands in it at x.
function piece(low, high, own, other, bias) {
  const length = high - low;
  if (!(length > 0)) return 0;
  const [middle, away] = [(low + high) / 2, NODE * length];
  return (length / 2) * (at(middle - away, own, other, bias) + at(middle + away, own, other, bias));
}
function at(x, own, other, bias) {
  const level = own * x + bias;
  return x * x - 2 * x * mean(level, level + other) + square(level, level + other);
}

/** The mean of (x − max(own·x + other·y + bias, 0))² over the unit square; `own` is a square. */
export function missed(own, other, bias) {
  if (!own) return piece(0, 1, own, other, bias);
  const [one, two] = [clamp(-bias / own, 0, 1), clamp(-(bias + other) / own, 0, 1)]; // where the bend enters and leaves
  const [first, last] = one < two ? [one, two] : [two, one];
  return (
    piece(0, first, own, other, bias) +
    piece(first, last, own, other, bias) +
    piece(last, 1, own, other, bias)
  );
}

/** A feature's mean squared error in each of four cases: none active, it alone, the other alone, both. */
export const errors = (own, other, bias) => [
  Math.max(bias, 0) ** 2,
  missed(own, 0, bias),
  square(bias, bias + other),
  missed(own, other, bias),
];

/** How often each of the four cases comes. */
export const chances = (p) => [(1 - p) ** 2, p * (1 - p), p * (1 - p), p * p];

const lossOf = (own, other, bias, p) =>
  (1 - p) ** 2 * Math.max(bias, 0) ** 2 +
  p * (1 - p) * (missed(own, 0, bias) + square(bias, bias + other)) +
  p * p * missed(own, other, bias);

/** What the first and the second feature lose, in none, the first alone, the second alone, both. */
export function cases([w1, w2], [b1, b2], ratio) {
  const [none, one, other, both] = errors(w1 * w1, w1 * w2, b1);
  const [zero, alone, wrong, all] = errors(w2 * w2, w1 * w2, b2);
  return [none + ratio * zero, one + ratio * wrong, other + ratio * alone, both + ratio * all];
}

/** The whole loss. */
export const loss = (weights, biases, p, ratio) => {
  const often = chances(p);
  return sum(cases(weights, biases, ratio).map((error, i) => often[i] * error));
};

const TRIED = between(-BIAS, BIAS, 10);

/**
 * The bias with which a feature loses least, and what it loses then: from the best of eleven, whose losses may be
 * `known`, to the lowest of its neighbors and of the parabola through them, `rounds` times, each time among neighbors
 * three times as close.
 */
export function bestBias(own, other, p, rounds = 6, known = (at) => lossOf(own, other, TRIED[at], p)) {
  const of = (bias) => lossOf(own, other, bias, p);
  // of biases that lose alike, as all do with which nothing comes back, the largest: beyond it the loss may fall
  let [bias, least] = [TRIED[0], known(0)];
  for (let at = 1; at < TRIED.length; at++) {
    const lost = known(at);
    if (lost <= least + 1e-12) [bias, least] = [TRIED[at], lost];
  }
  let step = TRIED[1] - TRIED[0];
  for (let round = 0; round < rounds; round++, step /= 3) {
    const [low, high] = [clamp(bias - step, -BIAS, BIAS), clamp(bias + step, -BIAS, BIAS)];
    const [below, above] = [of(low), of(high)];
    const bend = below - 2 * least + above;
    const shift = bend > 0 ? (step * (below - above)) / (2 * bend) : 0;
    const bottom = clamp(bias + clamp(shift, -step, step), -BIAS, BIAS);
    const lost = of(bottom);
    if (below < least) [bias, least] = [low, below];
    if (above < least) [bias, least] = [high, above];
    if (lost < least) [bias, least] = [bottom, lost];
  }
  return [bias, least];
}

/** The best biases for two weights, and what is lost with them. */
export function withBestBiases([w1, w2], p, ratio, rounds = 6) {
  const [[b1, first], [b2, second]] = [w1, w2].map((w) => bestBias(w * w, w1 * w2, p, rounds));
  return { biases: [b1, b2], loss: first + ratio * second };
}

/** The weights of the landscape, along either side. */
export const GRID = between(-REACH, REACH, 24);

/** @type {Float64Array | undefined} */
let whatever;

/** What each tried bias loses at all weights if one of the two is active, and if both are: the same for every p. */
function whateverP() {
  if (whatever) return whatever;
  const [n, m] = [GRID.length, TRIED.length];
  whatever = new Float64Array(2 * n * n * m);
  for (let here = 0; 2 * here < n * n; here++) {
    const [w1, w2] = [GRID[here % n], GRID[Math.floor(here / n)]];
    TRIED.forEach((bias, at) => {
      const place = 2 * (here * m + at);
      whatever[place] = missed(w1 * w1, 0, bias) + square(bias, bias + w1 * w2);
      whatever[place + 1] = missed(w1 * w1, w1 * w2, bias);
    });
  }
  return whatever;
}

/** What the first feature loses at all weights with its best bias, a row for each w₂; the second has the transpose. */
export function ownLosses(p) {
  const [n, m, parts] = [GRID.length, TRIED.length, whateverP()];
  const [none, one, both] = [(1 - p) ** 2, p * (1 - p), p * p];
  const found = new Float64Array(n * n);
  for (let here = 0; 2 * here < n * n; here++) {
    const [w1, w2] = [GRID[here % n], GRID[Math.floor(here / n)]];
    const known = (at) => {
      const place = 2 * (here * m + at);
      return none * Math.max(TRIED[at], 0) ** 2 + one * parts[place] + both * parts[place + 1];
    };
    // both weights with the other sign lose the same
    found[here] = found[n * n - 1 - here] = bestBias(w1 * w1, w1 * w2, p, 2, known)[1];
  }
  return found;
}

/** The loss at all weights of the landscape with their best biases, a row for each w₂. */
export function landscape(own, ratio) {
  const n = GRID.length;
  return own.map((loss, at) => loss + ratio * own[(at % n) * n + Math.floor(at / n)]);
}

/** The same with biases that are given. */
export const landscapeWith = (biases, p, ratio) =>
  Float64Array.from(GRID.flatMap((w2) => GRID.map((w1) => loss([w1, w2], biases, p, ratio))));

const WAYS = [
  [1, 0],
  [0, 1],
  [-1, 0],
  [0, -1],
  [1, 1],
  [1, -1],
  [-1, 1],
  [-1, -1],
];

/** The weights that lose least: { weights, biases, loss }, from the lowest place of a landscape in ever shorter steps. */
export function lowest(map, p, ratio) {
  const tried = new Map(); // a way that was taken leads past places where one has been
  const at = (/** @type {any} */ weights) => {
    const key = weights.join();
    if (!tried.has(key)) tried.set(key, { weights, ...withBestBiases(weights, p, ratio, 3) });
    return tried.get(key);
  };
  const place = map.indexOf(Math.min(...map));
  let here = at([GRID[place % GRID.length], GRID[Math.floor(place / GRID.length)]]);
  for (let step = (GRID[1] - GRID[0]) / 2; step > 2e-3; step /= 2) {
    for (let way = 0; way < WAYS.length; way++) {
      const next = at(here.weights.map((w, i) => clamp(w + step * WAYS[way][i], -REACH, REACH)));
      if (next.loss < here.loss - 1e-7) [here, way] = [next, -1];
    }
  }
  return { ...here, ...withBestBiases(here.weights, p, ratio) };
}

/** The weights that lose least at p and r. */
export const best = (p, ratio) => lowest(landscape(ownLosses(p), ratio), p, ratio);

/** The smaller weight as a part of the larger: −1 opposite, 0 one feature alone, 1 the same side. */
export function balance([w1, w2]) {
  const [small, large] = [Math.abs(w1), Math.abs(w2)].sort((a, b) => a - b);
  return large < 1e-9 ? 0 : Math.sign(w1 * w2) * (small / large);
}

const NUDGE = 1e-4;

/** One step down the slope of the loss; the biases move too, or are the best for their weights. */
export function fallen({ weights, biases, p, ratio, best: free }, rate = 0.4) {
  const of = (all) =>
    free ? withBestBiases(all, p, ratio).loss : loss(all.slice(0, 2), all.slice(2), p, ratio);
  const all = free ? weights : [...weights, ...biases];
  const slope = all.map((_, i) => {
    const [up, down] = [1, -1].map((sign) => of(all.map((x, j) => (i === j ? x + sign * NUDGE : x))));
    return (up - down) / (2 * NUDGE);
  });
  const pace = rate / (1 + ratio); // weights are felt only where a feature is active
  const moved = all.map((x, i) =>
    clamp(x - (i < 2 ? pace / p : pace) * slope[i], i < 2 ? -REACH : -BIAS, i < 2 ? REACH : BIAS),
  );
  const next = moved.slice(0, 2);
  return {
    weights: next,
    biases: free ? withBestBiases(next, p, ratio).biases : moved.slice(2),
    length: Math.max(...moved.map((x, i) => Math.abs(x - all[i]))),
  };
}
