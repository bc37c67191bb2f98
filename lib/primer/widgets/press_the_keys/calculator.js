// A calculator with four keys, its checker, and replies drawn from a model that presses them.
//
// The tests compare all of it with primer.reasoning.

import { draw } from "../shared/next_token.js";
import { readPrompt } from "../shared/generation.js";
import { newCache } from "../shared/language_model.js";
import { softmax } from "../shared/probability.js";
import { firstOf } from "../shared/random.js";

/** The display shows 0 … 49; these are the tokens behind the numbers and the four keys. */
export const SIZE = 50;
export const [END, ARROW] = [54, 55];
export const LIMIT = 20; // tokens of a reply
export const MOST = 9; // presses that fit into a reply with its end
export const KEYS = ["+3", "−5", "×2", "÷2"];
export const KINDS = ["right", "elsewhere", "slip", "illegal", "form", "unended"];
const DOES = [(x) => x + 3, (x) => x - 5, (x) => 2 * x, (x) => x / 2];

/** What the display shows after a press; −1 where the press is illegal. */
export function press(display, key) {
  const shown = DOES[key](display);
  return Number.isInteger(shown) && shown >= 0 && shown < SIZE ? shown : -1;
}

/** How many presses lead from each number to the target at least; −1 where none do. */
export function distances(target) {
  const found = Array(SIZE).fill(-1);
  found[target] = 0;
  for (let [steps, reached] = [1, [target]]; reached.length; steps++) {
    const leads = (display) => KEYS.some((_, key) => reached.includes(press(display, key)));
    reached = [...found.keys()].filter((display) => found[display] < 0 && leads(display));
    for (const display of reached) found[display] = steps;
  }
  return found;
}

/** The displays on the way of some presses: up to the first illegal one. */
export function walk(start, keys) {
  const shown = [start];
  for (const key of keys) {
    const next = press(shown.at(-1), key);
    if (next < 0) break;
    shown.push(next);
  }
  return shown;
}

/** What the checker says of a reply: { kind, shown }, a place in KINDS and what the presses make the display show. */
export function verdict(start, target, tokens) {
  const [right, elsewhere, slip, illegal, form, unended] = KINDS.keys();
  const shown = [start];
  let [said, key, fault, legal] = [start, 0, -1, true];
  const first = (kind) => {
    if (fault < 0) fault = kind;
  };
  let place = 0;
  for (; place < tokens.length && tokens[place] !== END; place++) {
    const token = tokens[place];
    if (place % 2 ? token >= SIZE : token < SIZE || token >= END)
      return { kind: fault < 0 ? form : fault, shown };
    if (place % 2) {
      if (press(said, key) !== token) first(slip);
      said = token;
      continue;
    }
    key = token - SIZE;
    const next = press(shown.at(-1), key);
    if (next < 0) {
      first(illegal);
      legal = false;
    } else if (legal) shown.push(next);
  }
  const ended = place < tokens.length;
  if (ended && place % 2) return { kind: fault < 0 ? form : fault, shown }; // a key without its number
  if (ended && legal && shown.at(-1) === target) return { kind: right, shown };
  if (!ended) first(unended);
  return { kind: fault < 0 ? elsewhere : fault, shown };
}

const WORDS = [...Array.from({ length: SIZE }, (_, i) => `${i}`), ...KEYS, "end", "→"];

/** A reply in words, up to its end. */
export function words(tokens) {
  const end = tokens.indexOf(END);
  return tokens
    .slice(0, end < 0 ? undefined : end)
    .map((token) => WORDS[token])
    .join(" ");
}

/** The tokens of a question and of presses that follow, each with what the display then shows. */
export const asked = (start, target, keys = []) => {
  const shown = walk(start, keys);
  return [start, target, ARROW, ...shown.slice(1).flatMap((display, i) => [SIZE + keys[i], display])];
};

/** What a model expects next, a probability for each token, after the tokens of a question and a part of a reply. */
export function* expected(model, tokens, reader = newReader(model)) {
  const key = tokens.join();
  if (!reader.known.has(key)) reader.known.set(key, softmax(yield* readPrompt(model, tokens, reader)));
  return reader.known.get(key);
}

/** Who reads with a model: what was read stays in the cache, and what was found for a beginning is kept. */
export const newReader = (model) => ({ cache: newCache(model), seen: [], known: new Map() });

/** Replies to a question, drawn with the random numbers of a seed; yields all so far after each. */
export function* replies(model, start, target, tries, seed, reader = newReader(model)) {
  const uniforms = firstOf(seed, tries * LIMIT);
  const found = [];
  while (found.length < tries) {
    const tokens = [];
    while (tokens.length < LIMIT && tokens.at(-1) !== END) {
      const p = yield* expected(model, [...asked(start, target), ...tokens], reader);
      tokens.push(draw(p, uniforms[found.length * LIMIT + tokens.length]));
    }
    found.push(tokens);
    yield [...found];
  }
  return found;
}

/** How many of some verdicts are of each kind. */
export const counts = (verdicts) =>
  KINDS.map((_, kind) => verdicts.filter((one) => one.kind === kind).length);
