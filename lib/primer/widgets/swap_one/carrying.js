// Two runs of a language model, and one vector of the one carried into the other: as primer.inside.patched with swap.

import { newCache, nextSteps } from "../shared/language_model.js";
import { softmax } from "../shared/probability.js";
import { encode, tokenText } from "../shared/tokenizer.js";

/** What can be carried, and its name among the activations of a block. */
export const PARTS = {
  stream: "before",
  head: "attention.heads",
  keys: "attention.keys",
  values: "attention.values",
};

export const activation = (part, layer) => `blocks.${layer}.${PARTS[part]}`;

/** The patch that carries a place of another run over, in all heads or in one. */
export function swap(source, { n, place, head = null, d_head }) {
  const width = source.length / n;
  const from = place * width + (head ?? 0) * d_head;
  const to = head === null ? (place + 1) * width : from + d_head;
  return (numbers) => {
    const changed = numbers.slice();
    changed.set(source.subarray(from, to), from);
    return changed;
  };
}

/** Read a text and keep what can be carried: { logits, seen }; a generator that breathes after each layer. */
export function* recorded(model, tokens) {
  const seen = {};
  const wanted = (name) => Object.values(PARTS).some((part) => name.endsWith(`.${part}`));
  const logits = yield* nextSteps(model, tokens, newCache(model), (name, numbers) => {
    if (wanted(name)) seen[name] = numbers;
  });
  return { logits, seen };
}

/** The scores after the last token of a run in which one vector of another, as `recorded` kept it, is carried over. */
export function* carried(model, tokens, { seen }, { part, layer, place, head = null }) {
  const name = activation(part, layer);
  const patch = swap(seen[name], { n: tokens.length, place, head, d_head: model.config.d_head });
  const observe = (one, numbers) => (one === name ? patch(numbers) : undefined);
  return yield* nextSteps(model, tokens, newCache(model), observe);
}

/**
 * B, what the first text expects most, and B′, what the changed text expects most besides B.
 *
 * @returns {[number, number]}
 */
export function contrast(first, changed) {
  const largest = (logits, but = -1) =>
    logits.reduce((most, value, id) => (id !== but && (most < 0 || value > logits[most]) ? id : most), -1);
  const right = largest(first);
  return [right, largest(changed, right)];
}

/** How far from one run to the other a carried vector leads: 0 where it changes nothing, 1 where it changes all. */
export function shareOf(patched, from, to, [right, wrong]) {
  const difference = (logits) => logits[right] - logits[wrong];
  return (difference(patched) - difference(from)) / (difference(to) - difference(from));
}

/** The most probable tokens, [[id, probability], …]. */
export const likeliest = (logits, count) =>
  Array.from(softmax(logits), (p, id) => [id, p])
    .sort((one, other) => other[1] - one[1])
    .slice(0, count);

/** The tokens of both texts, or why they cannot be compared: { tokens, other, trouble, note }. */
export function compared(tokenizer, text, changed, longest) {
  const nothing = { tokens: [], other: [], note: "" };
  let both;
  try {
    both = [text, changed].map((one) => encode(tokenizer, one));
  } catch (error) {
    return { ...nothing, trouble: error.message };
  }
  const [tokens, other] = both;
  const [n, m] = [tokens.length, other.length];
  const differ = tokens.filter((id, i) => id !== other[i]).length;
  const trouble =
    (!n && !m && "Type two texts: the model needs a token to continue.") ||
    (!n && "The first text is empty: the model needs a token to continue.") ||
    (!m && "The changed text is empty: type the first once more, with one word replaced.") ||
    (n !== m &&
      `The first text has ${n} tokens and the changed one ${m}: replace a word by one of as many tokens, so that each place has its counterpart.`) ||
    (n > longest && `The texts have ${n} tokens; the map has room for ${longest}.`) ||
    (!differ && "Both texts are the same: replace a word of the second.") ||
    "";
  const strange = [...tokens, ...other].some((id) => tokenText(tokenizer, id).startsWith("‹"));
  const said = [
    differ > 1 && `They differ in ${differ} tokens: a share may be about any of them.`,
    strange && "A character that the model has no token for is read byte by byte.",
  ];
  return { tokens, other, trouble, note: trouble ? "" : said.filter(Boolean).join(" ") };
}
