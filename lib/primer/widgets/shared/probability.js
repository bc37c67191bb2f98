// Scores as probabilities, and how uncertain these are.  All of it runs in Node.

import { sum } from "../kit/kit.js";

const largest = (scores) => scores.reduce((a, b) => Math.max(a, b), -Infinity);

/** Weights that are positive and add to 1, the exponentials of scores. */
export function softmax(scores) {
  const top = largest(scores);
  const weights = new Float64Array(scores).map((score) => Math.exp(score - top));
  const total = sum(weights);
  return weights.map((weight) => weight / total);
}

/** Their logarithms, in nats, also of those too small for a number. */
export function logSoftmax(scores) {
  const top = largest(scores);
  const shift = top + Math.log(scores.reduce((total, score) => total + Math.exp(score - top), 0));
  return new Float64Array(scores).map((score) => score - shift);
}

/** −Σ p ln p, in nats. */
export const entropy = (p) => p.reduce((total, x) => total - (x > 0 ? x * Math.log(x) : 0), 0);

/** Among how many equally probable ones the choice would be as uncertain. */
export const effectiveChoices = (p) => Math.exp(entropy(p));
