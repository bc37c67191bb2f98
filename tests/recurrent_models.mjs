// Functions for the tests: the page's recurrent models, read from a file, answering in JSON.
import { readFileSync } from "node:fs";
import { readModel, write } from "../lib/primer/widgets/alignment.js";
import {
  inputGradients,
  logProbabilities,
  readModels,
  reading,
} from "../lib/primer/widgets/character_models.js";

const files = new Map();
function models(file) {
  if (!files.has(file)) files.set(file, readModels(readFileSync(file)));
  return files.get(file);
}

export const alphabet = (file, name) => models(file)[name].letters.join("");
export const gradients = (file, name, text, at, before = null) => {
  const model = models(file)[name];
  return inputGradients(reading(model, text, before && reading(model, before)), at);
};
export const predictions = (file, name, text, at) => logProbabilities(reading(models(file)[name], text), at);

export const alignment = (file, tokens, forced) =>
  write(readModel(readFileSync(file)), tokens, forced).map(({ token, weights }) => ({
    token,
    weights: Array.from(weights),
  }));
