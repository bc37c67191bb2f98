// A stored change of low rank beside the book's model, as primer.fine_tuning.stored has it.
//
//   for (changed of turn(model, data, 0.5, 2));   // a share of it, a matrix at a time; without numbers all of it

import { readTensors } from "./safetensors.js";

/**
 * The model with a Σ Aᵢ Bᵢ over the first `rank` added to its matrices, of which it gets copies; it shares the rest.
 * Yields it after each of them.  `data` are the bytes of pack_lora; Python has seen that they belong to the model.
 */
export function* turn(model, data, strength = 1, rank = Infinity) {
  const turned = { ...model, blocks: model.blocks.map((block) => ({ ...block })) };
  const { tensors } = readTensors(data);
  for (const name of Object.keys(tensors).filter((one) => one.endsWith("unit"))) {
    const [units, A, B] = ["unit", "A", "B"].map((part) => tensors[name.replace("unit", part)].data);
    const [, layer, , part] = name.split(".");
    const { data: kept, rows, columns } = model.blocks[layer][part]; // an output in each row
    const weights = kept.slice();
    turned.blocks[layer][part] = { data: weights, rows, columns };
    for (let i = 0; i < Math.min(rank, units.length); i++) {
      for (let row = 0, at = 0; row < rows; row++) {
        const share = strength * units[i] * B[i * rows + row];
        for (let column = 0; column < columns; column++, at++) weights[at] += share * A[i * columns + column];
      }
    }
    yield turned;
  }
  return turned;
}

/** How many directions a change has. */
export const rankOf = (data) =>
  Object.entries(readTensors(data).tensors).find(([name]) => name.endsWith("unit"))[1].data.length;
