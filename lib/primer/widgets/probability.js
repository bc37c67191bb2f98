// Scores as probabilities, and how uncertain these are.  All of it runs in Node.

/** Weights that are positive and add to 1, the exponentials of scores. */
export function softmax(scores) {
  const weights = new Float64Array(scores.length);
  let [top, total] = [-Infinity, 0];
  for (let j = 0; j < scores.length; j++) if (scores[j] > top) top = scores[j];
  for (let j = 0; j < scores.length; j++) total += weights[j] = Math.exp(scores[j] - top);
  for (let j = 0; j < scores.length; j++) weights[j] /= total;
  return weights;
}

/** Their logarithms, in nats, also of those too small for a number. */
export function logSoftmax(scores) {
  const top = scores.reduce((a, b) => Math.max(a, b), -Infinity);
  let total = 0;
  for (const score of scores) total += Math.exp(score - top);
  const shift = top + Math.log(total);
  return Float64Array.from(scores, (score) => score - shift);
}

/** −Σ p ln p, in nats. */
export const entropy = (p) => p.reduce((total, x) => total - (x > 0 ? x * Math.log(x) : 0), 0);

/** Among how many equally probable ones the choice would be as uncertain. */
export const effectiveChoices = (p) => Math.exp(entropy(p));
