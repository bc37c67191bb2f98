// Functions for the tests: the dial's arithmetic on a model and a change read from files.
import { readFileSync } from "node:fs";
import { readModel } from "../../lib/primer/widgets/shared/language_model.js";
import { rankOf, turn } from "../../lib/primer/widgets/shared/lora.js";
import { finish } from "../../lib/primer/widgets/shared/workshop.js";
import { surprises } from "../../lib/primer/widgets/lora_dial/lora_dial.js";

const turnedModel = (file, change, strength, rank) =>
  finish(turn(readModel(readFileSync(file)), readFileSync(change), strength, rank));

/** A matrix of the turned model, row by row. */
export function matrix(file, change, strength, rank, layer, part) {
  const { data } = turnedModel(file, change, strength, rank).blocks[layer][part];
  return Array.from(data);
}

/** How often the page can breathe while the model is turned. */
export const breaths = (file, change) =>
  [...turn(readModel(readFileSync(file)), readFileSync(change))].length;

/** How often the page can breathe while it reads tokens. */
export const pauses = (file, tokens) => [...surprises(readModel(readFileSync(file)), tokens)].length;

/** The nats of each token but the first. */
export const nats = (file, change, strength, rank, tokens) =>
  finish(surprises(turnedModel(file, change, strength, rank), tokens));

export const directions = (change) => rankOf(readFileSync(change));
