// Functions for the tests: what the models of the calculator do in the page, read from a file.
import { readFileSync } from "node:fs";
import { expected, newReader, replies } from "../../lib/primer/widgets/press_the_keys/calculator.js";
import { allLogits, readModel } from "../../lib/primer/widgets/shared/language_model.js";
import { finish } from "../../lib/primer/widgets/shared/workshop.js";
import { logSoftmax } from "../../lib/primer/widgets/shared/probability.js";

const models = new Map();
function model(file) {
  if (!models.has(file)) models.set(file, readModel(readFileSync(file)));
  return models.get(file);
}

/** The log probabilities of the token after each token, row by row. */
export function logProbabilities(file, tokens) {
  const { config } = model(file);
  const logits = allLogits(model(file), tokens);
  const width = config.vocab_size;
  return tokens.map((_, i) => [...logSoftmax(logits.subarray(i * width, (i + 1) * width))]);
}

export const next = (file, tokens) => [...finish(expected(model(file), tokens))];

/** The same after other beginnings were read by one reader. */
export function nextInTurn(file, lists) {
  const reader = newReader(model(file));
  return lists.map((tokens) => [...finish(expected(model(file), tokens, reader))]);
}

export const drawn = (file, start, target, tries, seed) =>
  finish(replies(model(file), start, target, tries, seed));
