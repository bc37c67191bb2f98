// What the masked twin of the book's model says of a prepared line: a word for each place that counts.
//
//   const twin = readModel(data);                    // the bytes that quantized.py packs
//   const { places, loss } = finish(fill(twin, { inputs, targets, counted }));   // it yields after each layer
//
// A place holds as many tokens as its right word.  What is false there and shorter is followed by masks.

import { softmax } from "./probability.js";
import { forwardSteps, logitsAt, newCache } from "./language_model.js";
import { decode, encode, visible } from "./tokenizer.js";

const [BLANK, MASK] = ["▢", "<|mask|>"];
const CLOSE = /^[,.:]$/; // no space before it

/** The token ids of each place: what is read there, or what is right. */
export function tokensOf(twin, words, targets) {
  const ids = (word, i) => encode(twin.tokenizer, i && !CLOSE.test(word) ? ` ${word}` : word);
  const mask = twin.tokenizer.special.get(MASK);
  return targets.map((target, i) => {
    const given = words[i] === BLANK ? [] : ids(words[i], i);
    return ids(target, i).map((_, k) => given[k] ?? mask);
  });
}

/**
 * For each counted place what the twin finds most probable there (`said`, with the chance `sure`) and the chance of
 * the right word; null elsewhere.  `loss` is the mean surprise of the right tokens, in nats.
 */
export function* fill(twin, { inputs, targets, counted }) {
  const [read, right] = [tokensOf(twin, inputs, targets), tokensOf(twin, targets, targets)];
  const hidden = yield* forwardSteps(twin, read.flat(), newCache(twin));
  let [at, nats, asked] = [0, 0, 0];
  const places = right.map((ids, i) => {
    const from = at;
    at += ids.length;
    if (!counted[i]) return null;
    const logits = logitsAt(
      twin,
      hidden,
      ids.map((_, k) => from + k),
    );
    const chances = ids.map((_, k) =>
      softmax(logits.subarray(...[k, k + 1].map((row) => row * twin.config.vocab_size))),
    );
    const best = chances.map((row) => row.indexOf(Math.max(...row)));
    const product = (tokens) => tokens.reduce((all, token, k) => all * chances[k][token], 1);
    nats -= Math.log(product(ids));
    asked += ids.length;
    return {
      said: visible(decode(twin.tokenizer, best).replace(/^ /, "")),
      sure: product(best),
      right: product(ids),
      correct: best.every((token, k) => token === ids[k]),
    };
  });
  return { places, loss: asked ? nats / asked : null };
}
