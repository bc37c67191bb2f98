// Functions for the tests: runs with one vector of another, by the page's language model, read from a file.
import { readFileSync } from "node:fs";
import {
  carried,
  compared,
  contrast,
  recorded,
  shareOf,
} from "../../lib/primer/widgets/swap_one/carrying.js";
import { readModel } from "../../lib/primer/widgets/shared/language_model.js";
import { finish } from "../../lib/primer/widgets/shared/workshop.js";

const models = new Map();
function model(file) {
  if (!models.has(file)) models.set(file, readModel(readFileSync(file)));
  return models.get(file);
}

/** The logits of `into` with one vector of `from`. */
export const patched = (file, into, from, where) =>
  Array.from(finish(carried(model(file), into, finish(recorded(model(file), from)), where)));

export const pair = (file, text, changed, longest) => compared(model(file).tokenizer, text, changed, longest);

/** The map, row by row. */
export function shares(file, first, changed, direction, part, head) {
  const runs = [first, changed].map((ids) => finish(recorded(model(file), ids)));
  const tokens = contrast(runs[0].logits, runs[1].logits);
  const [into, from] = direction === "denoise" ? [1, 0] : [0, 1];
  const { n_layers } = model(file).config;
  return Array.from({ length: n_layers }, (_, layer) =>
    first.map((_id, place) => {
      const where = { part, head, layer, place };
      const logits = finish(carried(model(file), [first, changed][into], runs[from], where));
      return shareOf(logits, runs[into].logits, runs[from].logits, tokens);
    }),
  );
}
