// Recurrent language models of characters in the page: what comes next, and what that feels of each letter.
//
//   const models = readModels(data);                  // the bytes of primer.recurrent's stored models
//   const read = reading(models.gru, text, earlier);  // goes on from an earlier reading of the same beginning
//   logProbabilities(read, at);                       // of the letter that stands at a place, given those before
//   inputGradients(read, at);                         // the size of its gradient for the vector of each of these

import { named } from "../kit/kit.js";
import { logSoftmax } from "./probability.js";
import { readTensors } from "./safetensors.js";
import {
  backward,
  dequantize,
  forward,
  plus,
  project,
  readCell,
  times,
  timesTransposed,
  zeroState,
} from "./recurrent_cells.js";
import { finish } from "./workshop.js";

/** { name: model } from a file of primer.recurrent. */
export function readModels(data) {
  const { tensors, metadata } = readTensors(data);
  const [cells, alphabets] = JSON.parse(metadata.models);
  const build = (name) => {
    const matrix = (part) => dequantize(tensors[`${name}/${part}`], tensors[`${name}/${part}/unit`]);
    const cell = readCell(tensors, cells[name], `${name}/layer.cells.0`);
    const embed = matrix("embed.weight");
    const vector = (token) => embed.data.subarray(token * embed.columns, (token + 1) * embed.columns);
    const letters = [...alphabets[name]];
    return {
      name,
      letters,
      places: new Map(letters.map((letter, token) => [letter, token])),
      cell,
      projected: letters.map((_, token) => project(cell, vector(token))),
      head: { ...matrix("head.weight"), bias: Float64Array.from(tensors[`${name}/head.bias`].data) },
    };
  };
  return named(Object.keys(cells), build);
}

const PIECE = 8; // letters of the text in a piece of work

/** Reads a text in small pieces: yields nothing, returns what `reading` does. */
export function* readSteps(model, text, earlier = null) {
  const tokens = [...text].map((letter) => model.places.get(letter));
  let same = 0;
  if (earlier) while (same < tokens.length && tokens[same] === earlier.tokens[same]) same++;
  const steps = earlier ? earlier.steps.slice(0, same) : [];
  for (let t = same; t < tokens.length; t++) {
    steps.push(forward(model.cell, model.projected[tokens[t]], steps[t - 1] ?? zeroState(model.cell)));
    if (t % PIECE === 0) yield;
  }
  return { model, tokens, steps };
}

/** The states after each letter of a text; the beginning that it shares with an earlier reading is kept. */
export const reading = (model, text, earlier = null) => finish(readSteps(model, text, earlier));

/** ln P of every letter of the alphabet at a place from 1 on. */
export function logProbabilities({ model: { head }, steps }, at) {
  return logSoftmax(plus(times(steps[at - 1].h, head), head.bias));
}

/** Goes back through a reading in small pieces: yields nothing, returns what `inputGradients` does. */
export function* gradientSteps(read, at) {
  const { model, tokens, steps } = read;
  const errors = logProbabilities(read, at).map((logP, j) => (j === tokens[at] ? 1 : 0) - Math.exp(logP));
  let gradient = { h: timesTransposed(errors, model.head), c: new Float64Array(model.cell.size) };
  const sizes = new Float64Array(at);
  for (let t = at - 1; t >= 0; t--) {
    const { dz, ...before } = backward(model.cell, steps[t], gradient);
    sizes[t] = Math.hypot(...timesTransposed(dz, model.cell.input));
    gradient = { c: null, ...before };
    if (t % PIECE === 0) yield;
  }
  return sizes;
}

/** ‖∂ ln P(letter at a place) / ∂ its vector‖ for each letter before it, the first letter first. */
export const inputGradients = (read, at) => finish(gradientSteps(read, at));
