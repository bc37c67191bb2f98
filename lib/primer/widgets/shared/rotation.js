// Rotary positions: the mathematics, which the tests compare with primer.positions.

// Radians per position of each pair: b^(−2i/d).
export const ropeFrequencies = (dim, base) =>
  Array.from({ length: dim / 2 }, (_, i) => base ** ((-2 * i) / dim));

// The coordinates that form each pair: neighbors, or one from each half.
export const pairIndices = (dim, layout) =>
  Array.from({ length: dim / 2 }, (_, i) => (layout === "half" ? [i, i + dim / 2] : [2 * i, 2 * i + 1]));

// The order that gathers the first members of all pairs, then the second ones: 0, 2, 4, …, 1, 3, 5, …
export const ropePermutation = (dim) =>
  [0, 1].flatMap((member) => pairIndices(dim).map((pair) => pair[member]));

export function applyRope(x, position, base, layout) {
  const turned = [...x];
  const frequencies = ropeFrequencies(x.length, base);
  pairIndices(x.length, layout).forEach(([a, b], i) => {
    const [cos, sin] = [Math.cos(position * frequencies[i]), Math.sin(position * frequencies[i])];
    turned[a] = x[a] * cos - x[b] * sin;
    turned[b] = x[b] * cos + x[a] * sin;
  });
  return turned;
}

// What each pair adds to the score of the query at m with the key at n: the dot product of its arrows.
export function pairScores(query, key, m, n, base, layout) {
  const [q, k] = [applyRope(query, m, base, layout), applyRope(key, n, base, layout)];
  return pairIndices(query.length, layout).map(([a, b]) => q[a] * k[a] + q[b] * k[b]);
}

// What one pair adds at each distance r = n − m: q·k cos(rω) + q×k sin(rω), whatever m and n are.
export function pairCurve(query, key, pair, distances, base, layout) {
  const [a, b] = pairIndices(query.length, layout)[pair];
  const frequency = ropeFrequencies(query.length, base)[pair];
  const dot = query[a] * key[a] + query[b] * key[b];
  const cross = query[b] * key[a] - query[a] * key[b];
  return distances.map((r) => dot * Math.cos(r * frequency) + cross * Math.sin(r * frequency));
}

export function scoreCurve(query, key, distances, base, layout) {
  const total = distances.map(() => 0);
  for (const i of pairIndices(query.length, layout).keys()) {
    const part = pairCurve(query, key, i, distances, base, layout);
    for (let at = 0; at < total.length; at++) total[at] += part[at];
  }
  return total;
}

// The peak that is most easily taken for the highest one: the index of the second highest local maximum,
// the later of two equal ones, or −1 when no other peak reaches `share` of the highest.
export function lookalike(scores, share = 0.95) {
  const top = scores.indexOf(Math.max(...scores));
  const peaks = scores
    .map((_, i) => i)
    .filter((i) => i !== top && i > 0 && scores[i] > scores[i - 1] && scores[i] > scores[i + 1]);
  const best = peaks.reduce((found, i) => (found < 0 || scores[i] > scores[found] - 1e-9 ? i : found), -1);
  return best >= 0 && scores[best] >= share * scores[top] ? best : -1;
}
