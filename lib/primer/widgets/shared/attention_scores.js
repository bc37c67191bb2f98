// What every head of the language model computes between the tokens of a text, and what that makes it do.
//
// A table is a Float64Array, queries × keys, one row for each query.

import { named, sum } from "../kit/kit.js";
import { entropy, softmax } from "./probability.js";
import { forward, newCache, products } from "./language_model.js";

/**
 * Reads texts one after the other: `read(tokens)` gives the scalar products q·k of all queries with all keys,
 * [layer][head] → table.  What a text has in common with the one before is not read again, so that typing is fast.
 */
export function attentionReader(model) {
  const { n_layers, n_heads, kv_heads, d_head, context_length } = model.config;
  const cache = newCache(model);
  const queries = Array.from({ length: n_layers }, () => new Float32Array(context_length * n_heads * d_head));
  const places = queries.map((_, layer) => `blocks.${layer}.attention.queries`);
  let known = [];

  function table(layer, head, n) {
    const found = new Float64Array(n * n);
    const shared = Math.floor((head * kv_heads) / n_heads) * d_head;
    for (let i = 0; i < n; i++) {
      const from = (i * n_heads + head) * d_head;
      found.set(products(queries[layer], from, cache.layers[layer].keys, shared, n, model.config), i * n);
    }
    return found;
  }

  return function read(tokens) {
    const same = tokens.findIndex((token, i) => token !== known[i]);
    cache.length = same < 0 ? tokens.length : same;
    const start = cache.length * n_heads * d_head;
    if (same >= 0) {
      forward(model, tokens.slice(same), cache, (name, numbers) => {
        queries[places.indexOf(name)]?.set(numbers, start);
      });
    }
    known = tokens;
    const heads = Array.from({ length: n_heads }, (_, head) => head);
    return queries.map((_, layer) => heads.map((head) => table(layer, head, tokens.length)));
  };
}

/** A head's scores or weights from its scalar products; NaN where the mask hides a key. */
export function attentionMap(dots, n, d_head, { causal, scaled, normalized }) {
  const map = new Float64Array(n * n).fill(NaN);
  const scale = scaled ? d_head ** -0.5 : 1;
  for (let i = 0; i < n; i++) {
    const scores = dots.slice(i * n, i * n + (causal ? i + 1 : n));
    for (let j = 0; j < scores.length; j++) scores[j] *= scale;
    map.set(normalized ? softmax(scores) : scores, i * n);
  }
  return map;
}

// Whether a query at position i looks at a key at position j in the way of the name: primer.attention.head_targets.
const KINDS = {
  "previous token": (i, j) => j === i - 1,
  "first token": (i, j) => j === 0 && i > 0,
  "same token": (i, j, tokens) => j <= i && tokens[j] === tokens[i],
  induction: (i, j, tokens) => j > 0 && j <= i && tokens[j - 1] === tokens[i],
};

/** Where a head of each kind looks: { name: { pairs, queries } }, places in a table and the number of their rows. */
export function headTargets(tokens) {
  const n = tokens.length;
  const places = Array.from({ length: n * n }, (_, at) => at);
  return named(Object.keys(KINDS), (kind) => {
    const pairs = places.filter((at) => KINDS[kind](Math.floor(at / n), at % n, tokens));
    return { pairs, queries: new Set(pairs.map((at) => Math.floor(at / n))).size };
  });
}

/**
 * How much of its weight a head gives to keys of each kind, on average over the queries that have such a key:
 * { name: { score, queries } }, the score as primer.attention.head_scores and the number of those queries.
 */
export const behaviors = (weights, targets) =>
  named(Object.keys(targets), (kind) => {
    const { pairs, queries } = targets[kind];
    return { score: queries ? sum(pairs.map((at) => weights[at])) / queries : 0, queries };
  });

/** How evenly a head's causal weights are spread, as primer.widgets.attention_maps.evenness; 0 where there are too few queries. */
export function evenness(weights, n) {
  let total = 0;
  for (let i = 1; i < n; i++) total += entropy(weights.subarray(i * n, i * n + i + 1)) / Math.log(i + 1);
  return n > QUERIES ? total / (n - 1) : 0;
}

const SHARE = 0.4; // a head has a name when it gives at least this much of its weight to keys of one kind
const QUERIES = 3; // on average over at least so many queries
const EVEN = 0.93; // or when its entropy is at least this share of the largest possible

/** The kind of key to which a head gives most, { name, score }; "uniform", or "mixed" when no kind has much or enough queries. */
export function nameOf(measured, even = 0) {
  if (even >= EVEN) return { name: "uniform", score: null };
  const found = Object.entries(measured)
    .filter(([, { score, queries }]) => score >= SHARE && queries >= QUERIES)
    .sort(([, a], [, b]) => b.score - a.score);
  return found.length ? { name: found[0][0], score: found[0][1].score } : { name: "mixed", score: null };
}
