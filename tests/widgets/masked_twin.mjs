// Functions for the tests: the masked twin in the page, read from a file, answering in JSON.
import { readFileSync } from "node:fs";
import { allLogits, forward, newCache, readModel } from "../../lib/primer/widgets/shared/language_model.js";
import { finish } from "../../lib/primer/widgets/shared/workshop.js";
import { fill } from "../../lib/primer/widgets/shared/masked_twin.js";
import { describe, prepare } from "../../lib/primer/widgets/masking_desk/masking_desk.js";

const models = new Map();
function model(file) {
  if (!models.has(file)) models.set(file, readModel(readFileSync(file)));
  return models.get(file);
}

export const logits = (file, ids) => Array.from(allLogits(model(file), ids));

/** How many numbers the last hidden states are. */
export const states = (file, ids) => forward(model(file), ids, newCache(model(file))).length;

/** The logits of a text that is said to follow a token already read. */
export function after(file, ids) {
  const cache = newCache(model(file));
  cache.length = 1;
  return allLogits(model(file), ids, undefined, cache);
}

/** What the twin says of the line in this state of the desk, and what the result line says. */
export function answers(file, state, given) {
  const rows = prepare(state, given);
  const filled = finish(fill(model(file), rows));
  return { ...filled, said: describe(state, rows, filled), waiting: describe(state, rows, null) };
}
