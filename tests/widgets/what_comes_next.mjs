// Functions for the tests: the pieces that the page's language model writes, read from files.
import { readFileSync } from "node:fs";
import { distribution } from "../../lib/primer/widgets/shared/next_token.js";
import { newCache, readModel } from "../../lib/primer/widgets/shared/language_model.js";
import { turn } from "../../lib/primer/widgets/shared/lora.js";
import { finish } from "../../lib/primer/widgets/shared/workshop.js";
import {
  beginning,
  describe,
  drawn,
  reading,
} from "../../lib/primer/widgets/what_comes_next/what_comes_next.js";

const models = new Map();
function model(file, change) {
  const key = `${file} ${change}`;
  if (!models.has(key))
    models.set(key, finish(turn(readModel(readFileSync(file)), new Uint8Array(readFileSync(change)))));
  return models.get(key);
}

/** What is read of tokens, which may come in two parts: { p, attention }. */
export function read(file, change, ids, temperature, before) {
  const language = model(file, change);
  const reader = { cache: newCache(language), seen: [] };
  if (before) finish(reading(language, ids.slice(0, before), reader));
  const { logits, attention } = finish(reading(language, ids, reader));
  return { p: distribution(logits, { temperature }), attention };
}

/** The tokens that are drawn behind a line. */
export function wrote(file, change, ids, temperature, seed, count) {
  const language = model(file, change);
  const reader = { cache: newCache(language), seen: [] };
  const written = [];
  while (written.length < count) {
    const { logits } = finish(reading(language, [...ids, ...written], reader));
    written.push(drawn(logits, temperature, seed, written.length));
  }
  return written;
}

export const begun = (file, change, text, room) => beginning(model(file, change).tokenizer, text, room);
export const said = (file, change, p, before) => describe(model(file, change).tokenizer, p, before);
