// Sampling a token, as primer.inference.sampling has it: logits reshaped or cut, then a draw.
//
//   const p = distribution(logits, { temperature, topK, topP });   // 0 for what is cut; topK null keeps all
//   const token = draw(p, uniform);                                // uniform in [0, 1)
//   greedy(logits);  ranked(logits);  leading(logits, n)

import { sum } from "../kit/kit.js";
import { softmax } from "./probability.js";

export { effectiveChoices, entropy, logSoftmax } from "./probability.js";

/** Token ids from the most probable to the least; of equal ones the smaller id comes first. */
export const ranked = (logits) =>
  Uint32Array.from(logits, (_, id) => id).sort((a, b) => logits[b] - logits[a] || a - b);

/** The first n of ranked(logits), without sorting the others. */
export function leading(logits, n) {
  const best = [];
  for (let id = 0; id < logits.length; id++) {
    if (best.length === n && logits[id] <= logits[best[n - 1]]) continue;
    let at = Math.min(best.length, n - 1); // the last place is given up
    for (; at > 0 && logits[id] > logits[best[at - 1]]; at--) best[at] = best[at - 1];
    best[at] = id;
  }
  return best;
}

/**
 * The distribution a token is drawn from: temperature, then the topK most probable, then the nucleus of mass topP;
 * `known` is ranked(logits), where that is known.
 */
export function distribution(logits, { temperature = 1, topK = null, topP = 1 } = {}, known = null) {
  if (!(temperature > 0))
    throw new RangeError(`A temperature is above 0, not ${temperature}; its limit 0 is greedy.`);
  if (!(topP > 0 && topP <= 1)) throw new RangeError(`top-p lies in (0, 1], not at ${topP}.`);
  if (topK !== null && !(topK >= 1 && topK <= logits.length))
    throw new RangeError(`top-k is 1 to ${logits.length}, not ${topK}.`);
  const p = softmax(Float64Array.from(logits, (u) => u / temperature));
  const order = topK === null && topP === 1 ? null : (known ?? ranked(logits));
  const keep = (count) => {
    for (const id of order.subarray(count)) p[id] = 0;
    const total = sum(p);
    for (let id = 0; id < p.length; id++) p[id] /= total;
  };
  if (topK !== null) keep(topK);
  if (topP === 1) return p; // rounding must not cut a tail that the definition keeps
  let [rank, mass] = [0, 0];
  while (rank < order.length && mass < topP) mass += p[order[rank++]];
  keep(rank);
  return p;
}

export const greedy = (logits) => leading(logits, 1)[0];

/** The token in whose part of the unit interval a uniform number falls. */
export function draw(p, uniform) {
  let [mass, last] = [0, 0];
  for (let id = 0; id < p.length; id++) {
    if (p[id] === 0) continue;
    mass += p[id];
    last = id;
    if (uniform < mass) break;
  }
  return last; // also when the sum of all falls short of 1 by rounding
}
