// Functions for the tests: the page's recurrent models, read from a file, answering in JSON.
import { readFileSync } from "node:fs";
import { readModel, write } from "../../lib/primer/widgets/alignment/alignment.js";
import {
  inputGradients,
  logProbabilities,
  readModels,
  reading,
} from "../../lib/primer/widgets/shared/character_models.js";

import { times, timesTransposed } from "../../lib/primer/widgets/shared/recurrent_cells.js";

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

/** A row times a matrix, and a row times its transpose. */
export function products(x, y, matrix) {
  const W = { data: Float64Array.from(matrix.flat()), rows: matrix.length, columns: matrix[0].length };
  return [times(Float64Array.from(x), W), timesTransposed(Float64Array.from(y), W)].map((row) =>
    Array.from(row),
  );
}
