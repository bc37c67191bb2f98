// What an attention layer adds to one token's vector, arrow by arrow, and what comes next when these are shortened.
//
// A vector is d numbers; an arrow is what one head writes because of one token: weight × value × output matrix.

import { copyCache, nextLogits, scoresFrom, sum } from "../shared/language_model.js";

export const dot = (a, b) => {
  let sum = 0;
  for (let k = 0; k < a.length; k++) sum += a[k] * b[k];
  return sum;
};
export const norm = (a) => Math.sqrt(dot(a, a));

/** a + times·b */
export function plus(a, b, times = 1) {
  const sum = Float64Array.from(a); // in one piece: a function for each number takes ten times as long
  for (let k = 0; k < sum.length; k++) sum[k] += times * b[k];
  return sum;
}
export function total(vectors, d) {
  const sum = new Float64Array(d);
  for (const one of vectors) for (let k = 0; k < d; k++) sum[k] += one[k];
  return sum;
}

/** Two orthogonal directions of length 1 that span what two vectors span; 0 where there is none. */
export function span(first, second) {
  const unit = (a) => Float64Array.from(a, (x) => x / Math.max(norm(a), 1e-9));
  const one = unit(first);
  return [one, unit(plus(second, one, -dot(second, one)))];
}

/** The arrows of one layer, heads × tokens, from the weights (heads × tokens) of the last token and all values. */
function arrowsOf({ config: { n_heads, kv_heads, d_head, d_model }, blocks }, layer, weights, values) {
  const { data } = blocks[layer].output;
  const count = weights.length / n_heads;
  return Array.from({ length: n_heads }, (_, head) => {
    const shared = Math.floor((head * kv_heads) / n_heads) * d_head;
    return Array.from({ length: count }, (_, j) => {
      const from = j * kv_heads * d_head + shared;
      const weight = weights[head * count + j];
      const arrow = new Float64Array(d_model);
      for (let row = 0, at = head * d_head; row < d_model; row++, at += d_model) {
        let sum = 0;
        for (let k = 0; k < d_head; k++) sum += data[at + k] * values[from + k];
        arrow[row] = weight * sum;
      }
      return arrow;
    });
  });
}

/**
 * Read one token after those before it, and keep what moved it: { branch, logits, arrows(layer), before(layer),
 * added(layer) }, the last two as they stand before the layer and what it adds.
 * `cache` has read the whole text; it stays as it is.
 */
export function look(model, cache, tokens, place) {
  const branch = copyCache({ ...cache, length: place });
  const seen = {};
  const logits = nextLogits(model, [tokens[place]], branch, (name, numbers) => {
    if (/\.(before|weights|attention\.output)$/.test(name)) seen[name] = numbers;
  });
  branch.length = place;
  const width = cache.width * (place + 1);
  const values = branch.layers.map((one) => one.values.slice(0, width)); // a changed run will write over them
  const arrows = (layer) => arrowsOf(model, layer, seen[`blocks.${layer}.attention.weights`], values[layer]);
  return {
    branch,
    logits,
    arrows,
    before: (layer) => seen[`blocks.${layer}.before`],
    added: (layer) => seen[`blocks.${layer}.attention.output`],
  };
}

/** The scores of the next token when what the layer adds is longer by `change`. */
export const changed = (model, { branch, before, added }, layer, change) =>
  scoresFrom(
    model,
    layer,
    sum(
      before(layer),
      added(layer).map((x, k) => x + change[k]),
    ),
    branch,
  );

/** The direction that raises the score of a token, but for the length of the last state. */
export const toward = ({ head, norm: scale, config: { d_model } }, id) =>
  Float64Array.from(scale, (x, k) => x * head.data[id * d_model + k]);

/** How far two vectors point apart, in degrees. */
export const angle = (one, other) =>
  (180 / Math.PI) *
  Math.acos(Math.max(-1, Math.min(1, dot(one, other) / Math.max(norm(one) * norm(other), 1e-9))));

/**
 * The two directions of a plane: of the move, from the vector before or from a move that was `kept`; or of two
 * guesses, the first two of `best`.
 */
export function directions(model, plane, before, added, best, kept = null) {
  if (plane === "move") return span(kept ?? before, added);
  const [a, b] = best.map((id) => toward(model, id));
  return span(plus(a, b, -1), plus(a, b));
}

/** Tokens from the longest arrow to the shortest. */
export const byLength = (sources) => {
  const lengths = sources.map(norm);
  return [...lengths.keys()].sort((i, j) => lengths[j] - lengths[i]);
};

/**
 * The steps from the vector before to the vector after, [[name, vector], …]: the longest arrows by the number of
 * their token, then the "others" together, then the "heads" that were not chosen.
 */
export function steps(arrows, head, strength, named) {
  const d = arrows[0][0].length;
  const all = arrows[0].map((_, j) =>
    total(
      arrows.map((own) => own[j]),
      d,
    ),
  );
  const sources = head === null ? all : arrows[head];
  const order = byLength(sources);
  const scaled = (vector) => vector.map((x) => strength * x);
  const found = order.slice(0, named).map((j) => [j, scaled(sources[j])]);
  if (order.length > named)
    found.push([
      "others",
      scaled(
        total(
          order.slice(named).map((j) => sources[j]),
          d,
        ),
      ),
    ]);
  if (head !== null) found.push(["heads", plus(total(all, d), total(sources, d), -1)]);
  return { sources, steps: found, own: total(sources, d), added: total(all, d) };
}
