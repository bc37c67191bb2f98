// Functions for the tests: the page's language model, read from a file, answering in JSON.
import { readFileSync } from "node:fs";
import {
  attentionMap,
  attentionReader,
  behaviors,
  evenness,
  headTargets,
  nameOf,
} from "../../lib/primer/widgets/shared/attention_scores.js";
import {
  allLogits,
  copyCache,
  newCache,
  nextLogits,
  readModel,
} from "../../lib/primer/widgets/shared/language_model.js";
import { readPrompt } from "../../lib/primer/widgets/shared/generation.js";
import { decode, encode, readTokenizer, tokenText } from "../../lib/primer/widgets/shared/tokenizer.js";
import { readLetters } from "../../lib/primer/widgets/shared/two_layers.js";

const models = new Map();
function model(file) {
  if (!models.has(file)) models.set(file, readModel(readFileSync(file)));
  return models.get(file);
}

export const config = (file) => model(file).config;
export const encodeAll = (content, texts) => texts.map((text) => encode(readTokenizer(content), text));
export const decodeAll = (content, lists) => lists.map((ids) => decode(readTokenizer(content), ids));
export const labels = (content, ids) => ids.map((id) => tokenText(readTokenizer(content), id));

/** Every activation by its name, in the order in which they are shown; `before` tokens were read already. */
export function observed(file, ids, before = 0) {
  const [cache, seen] = [newCache(model(file)), {}];
  if (before) nextLogits(model(file), ids.slice(0, before), cache);
  nextLogits(model(file), ids.slice(before), cache, (name, numbers) => {
    seen[name] = Array.from(numbers);
  });
  return seen;
}

/** The logits when one activation is multiplied by a factor; `cut` gives back fewer numbers instead. */
export function changed(file, ids, place, factor, cut = false) {
  const change = (numbers) => (cut ? numbers.slice(1) : numbers.map((x) => x * factor));
  return allLogits(model(file), ids, (name, numbers) => (name === place ? change(numbers) : undefined));
}

export const logits = (file, ids) => allLogits(model(file), ids);

/** The logits after the last token, when the tokens come in pieces of the given lengths. */
export function piecewise(file, ids, lengths) {
  const cache = newCache(model(file));
  let last = null;
  for (const length of lengths)
    last = nextLogits(model(file), ids.slice(cache.length, cache.length + length), cache);
  return last;
}

/** The logits after `kept` and `ids`, in a copied cache and in the first, which read something else in between. */
export function afterBranch(file, kept, other, ids) {
  const cache = newCache(model(file));
  nextLogits(model(file), kept, cache);
  const branch = copyCache(cache);
  nextLogits(model(file), ids.slice(0, 2), branch);
  nextLogits(model(file), other, cache);
  cache.length = kept.length;
  return [nextLogits(model(file), ids.slice(2), branch), nextLogits(model(file), ids, cache)].map((one) =>
    Array.from(one),
  );
}

/** Prompts read into one cache one after the other: how many breaths each takes, and what is known then. */
export function reading(file, prompts) {
  const state = { cache: newCache(model(file)), seen: [] };
  return prompts.map((ids) => {
    const steps = [...readPrompt(model(file), ids, state)].length;
    return [steps, [...state.seen], state.cache.length];
  });
}

export function greedy(file, ids, count) {
  const cache = newCache(model(file));
  const found = [];
  let next = nextLogits(model(file), ids, cache);
  while (found.length < count) {
    found.push(next.indexOf(Math.max(...next)));
    next = nextLogits(model(file), found.slice(-1), cache);
  }
  return found;
}

/** The mean negative log-likelihood, in nats, of every token but the first. */
export function loss(file, ids) {
  const all = allLogits(model(file), ids);
  const size = all.length / ids.length;
  let total = 0;
  for (let i = 0; i + 1 < ids.length; i++) {
    const row = all.subarray(i * size, (i + 1) * size);
    const top = row.reduce((a, b) => Math.max(a, b));
    total += top + Math.log(row.reduce((sum, x) => sum + Math.exp(x - top), 0)) - row[ids[i + 1]];
  }
  return total / (ids.length - 1);
}

/** The maps after reading one text after the other, [text][layer][head][place]; null where masked. */
export function maps(file, texts, options) {
  const read = attentionReader(model(file));
  const open = (map) => Array.from(map, (value) => (Number.isNaN(value) ? null : value));
  return texts.map((ids) =>
    read(ids).map((layer) =>
      layer.map((table) => open(attentionMap(table, ids.length, model(file).config.d_head, options))),
    ),
  );
}

export const measure = (weights, tokens) => behaviors(weights, headTargets(tokens));
export const name = (measured, even) => nameOf(measured, even);
export const spread = (weights, n) => evenness(Float64Array.from(weights), n);

/** What two layers of attention alone see in a text: the products of all queries and keys, [layer][head]. */
export function letterProducts(file, text) {
  const language = readLetters(readFileSync(file));
  return language.read(language.encode(text)).map((layer) => layer.map((table) => Array.from(table)));
}
