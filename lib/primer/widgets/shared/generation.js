// The loops that write with the book's language model, as primer.inference has them.  Each is a generator that
// yields after every layer of the model, nothing, and after every token, so that a page can draw in between.
//
//   readPrompt(model, tokens, reader, observe)              returns logits; reads only what the cache lacks, and
//                                                           shows `observe` what is computed for the last tokens
//   continueText(model, prompt, nTokens, choose, end)       yields { tokens, logProbability } as it grows
//   beamText(model, prompt, nTokens, nBeams, end)           yields { steps, best } as it grows
// where prompt is { cache, logits }, choose(logits) gives a token id, and end is the token that ends a text.

import { leading, logSoftmax } from "./next_token.js";
import { copyCache, nextSteps } from "./language_model.js";

const CHUNK = 4; // tokens of a prompt read at once

/** Read a prompt into a cache that may hold the beginning of it already; `seen` are the tokens it holds. */
export function* readPrompt(model, tokens, { cache, seen }, observe = undefined) {
  let known = 0;
  while (known < seen.length && known < tokens.length - 1 && seen[known] === tokens[known]) known++;
  cache.length = known;
  seen.length = known;
  let logits = null;
  for (let from = known; from < tokens.length; from += CHUNK) {
    const part = tokens.slice(from, from + CHUNK);
    logits = yield* nextSteps(model, part, cache, from + CHUNK < tokens.length ? undefined : observe);
    seen.push(...part);
  }
  return logits;
}

/** Continue a text token by token; its log-probability is the model's, whatever `choose` does. */
export function* continueText(model, { cache: read, logits: first }, nTokens, choose, end) {
  const cache = copyCache(read);
  const tokens = [];
  let [logits, logProbability] = [first, 0];
  while (tokens.length < nTokens && tokens.at(-1) !== end) {
    const token = choose(logits);
    logProbability += logSoftmax(logits)[token];
    tokens.push(token);
    yield { tokens, logProbability };
    if (tokens.length < nTokens && token !== end) logits = yield* nextSteps(model, [token], cache);
  }
}

/** One step of beam search: the best extensions of the hypotheses, those that end a text set apart. */
export function extend(scores, logProbabilities, nBeams, end) {
  const candidates = logProbabilities.flatMap((row, parent) =>
    leading(row, 2 * nBeams).map((token) => ({ parent, token, score: scores[parent] + row[token] })),
  );
  candidates.sort((a, b) => b.score - a.score);
  const best = candidates.slice(0, 2 * nBeams).filter(({ score }) => score > -Infinity);
  return {
    alive: best.filter(({ token }) => token !== end).slice(0, nBeams),
    ended: best.slice(0, nBeams).filter(({ token }) => token === end),
  };
}

/** The caches of the new hypotheses: a parent's cache goes to its first child, further ones get copies. */
function inherit(caches, alive) {
  const taken = new Set();
  const copies = alive.map(({ parent }) =>
    taken.has(parent) ? copyCache(caches[parent]) : taken.add(parent) && null,
  );
  return alive.map(({ parent }, i) => copies[i] ?? caches[parent]);
}

/** The tokens of a hypothesis: from its last step back along its parents. */
export function trace(steps, step, beam) {
  const tokens = [];
  for (let [t, at] = [step, beam]; t >= 0; at = steps[t].alive[at].parent, t--)
    tokens.unshift(steps[t].alive[at].token);
  return tokens;
}

/** The loop that a text ends in, { start, period }, or null: three rounds or more, over thirty tokens or more. */
export function finalLoop(tokens) {
  const n = tokens.length;
  for (let period = 1; 3 * period <= n; period++) {
    let start = n - period;
    while (start > 0 && tokens[start - 1] === tokens[start - 1 + period]) start--;
    if (n - start >= Math.max(3 * period, 30)) return { start, period };
  }
  return null;
}

/** Search for the most probable text, ranked by the probability of the whole. */
export function* beamText(model, { cache, logits }, nTokens, nBeams, end) {
  let [caches, scores, rows] = [[copyCache(cache)], [0], [logSoftmax(logits)]];
  const steps = [];
  let best = { score: -Infinity, tokens: [] };
  while (steps.length < nTokens) {
    const step = extend(scores, rows, nBeams, end);
    for (const { parent, score } of step.ended) {
      if (score > best.score)
        best = { score, tokens: [...(steps.length ? trace(steps, steps.length - 1, parent) : []), end] };
    }
    steps.push(step);
    const leading = step.alive[0];
    if (!leading || leading.score <= best.score) return { steps, best }; // a sum of logarithms only falls
    const now = { score: leading.score, tokens: trace(steps, steps.length - 1, 0) };
    yield { steps, best: now };
    if (steps.length === nTokens) return { steps, best: now };
    caches = inherit(caches, step.alive);
    scores = step.alive.map(({ score }) => score);
    rows = [];
    for (const [i, { token }] of step.alive.entries()) {
      rows.push(logSoftmax(yield* nextSteps(model, [token], caches[i])));
    }
  }
  return { steps, best };
}

/** For each token whether the n tokens that it ends stood earlier in the text already. */
export function repeats(tokens, n) {
  const seen = new Set();
  return tokens.map((_, i) => {
    if (i + 1 < n) return false;
    const gram = tokens.slice(i + 1 - n, i + 1).join();
    return seen.has(gram) || !seen.add(gram);
  });
}
