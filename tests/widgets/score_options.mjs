// Functions for the tests: what options cost in the page, with a model read from a file.
import { readFileSync } from "node:fs";
import {
  newReader,
  note,
  optionBits,
  readBits,
  trouble,
} from "../../lib/primer/widgets/score_options/score_options.js";
import { readModel } from "../../lib/primer/widgets/shared/language_model.js";
import { finish } from "../../lib/primer/widgets/shared/workshop.js";

const models = new Map();
function model(file) {
  if (!models.has(file)) models.set(file, readModel(readFileSync(file)));
  return models.get(file);
}

export const costs = (file, context, options, alone) =>
  finish(optionBits(model(file), context, options, alone));

/** The bits of token lists, read one after the other by one reader; of some only so many steps are taken. */
export function readInTurn(file, lists, stopped) {
  const reader = newReader(model(file));
  return lists.map((tokens, i) => {
    const steps = readBits(model(file), tokens, reader);
    for (let left = stopped[i]; left > 0; left--) steps.next();
    return stopped[i] ? null : finish(steps);
  });
}

export const why = (file, context, options) => trouble(model(file), context, options, "\n");

export const said = (file, context) => note(model(file), context);
