// Policies over replies that can be listed: the tilt, the best of n, and how far they have gone.
//
// The tests compare all of it with primer.alignment.

import { sum } from "../kit/kit.js";
import { softmax } from "./probability.js";

// The reference times e^(R/β), normalized; the largest exponent is taken off first.
export function tilted(reference, reward, beta) {
  const most = Math.max(...reward);
  const weights = reference.map((p, i) => p * Math.exp((reward[i] - most) / beta));
  const total = sum(weights);
  return weights.map((w) => w / total);
}

// The best of n draws: F(r)ⁿ − F(r⁻)ⁿ, shared among replies of one reward by their probability.
export function bestOf(reference, reward, n) {
  const mass = new Map(); // of each reward
  reference.forEach((p, i) => mass.set(reward[i], (mass.get(reward[i]) ?? 0) + p));
  let below = 0;
  const share = new Map();
  for (const level of [...mass.keys()].sort((a, b) => a - b)) {
    const upto = Math.min(below + mass.get(level), 1);
    share.set(level, (upto ** n - below ** n) / mass.get(level));
    below = upto;
  }
  return reference.map((p, i) => p * share.get(reward[i]));
}

export const divergence = (p, q) => sum(p.map((x, i) => (x > 0 ? x * Math.log(x / q[i]) : 0)));

export const mean = (p, reward) => sum(p.map((x, i) => x * reward[i]));

/** The gradient by the logits of the mean of reward less β times the log ratio, over β. */
export function push(policy, reference, reward, beta) {
  const worth = policy.map((p, i) => reward[i] / beta - Math.log(p / reference[i]));
  const baseline = mean(policy, worth);
  return policy.map((p, i) => p * (worth[i] - baseline));
}

/** Where so many steps along that gradient lead. */
export function climbed(reference, reward, beta, steps, rate) {
  const start = reference.map(Math.log);
  const [logits, weights, worth] = [[...start], [...start], [...start]];
  // Plain loops, since a frame may take a thousand steps; what all logits have in common leaves the gradient.
  for (let step = 0; step < steps; step++) {
    const top = Math.max(...logits);
    let [total, baseline] = [0, 0];
    for (let i = 0; i < logits.length; i++) {
      weights[i] = Math.exp(logits[i] - top);
      worth[i] = reward[i] / beta + start[i] - logits[i];
      total += weights[i];
      baseline += weights[i] * worth[i];
    }
    for (let i = 0; i < logits.length; i++)
      logits[i] += rate * (weights[i] / total) * (worth[i] - baseline / total);
  }
  return softmax(logits);
}

/** Where as many steps down DPO's loss lead, all pairs compared by a rater who decides by σ(ΔR). */
export function direct(reference, reward, beta, steps, rate) {
  const chance = (apart) => 1 / (1 + Math.exp(-apart));
  const wins = reward.map((own) => reward.map((other) => chance(own - other)));
  const implicit = reference.map(() => 0); // β log π/π_ref, up to a constant
  const along = [...implicit];
  for (let step = 0; step < steps; step++) {
    along.fill(0);
    // of a pair, what the one wins the other loses
    for (let i = 0; i < implicit.length; i++) {
      for (let j = 0; j < i; j++) {
        const wrong = wins[i][j] - chance(implicit[i] - implicit[j]);
        along[i] += reference[j] * wrong;
        along[j] -= reference[i] * wrong;
      }
    }
    for (let i = 0; i < implicit.length; i++) implicit[i] += rate * reference[i] * along[i];
  }
  return tilted(reference, implicit, beta);
}
