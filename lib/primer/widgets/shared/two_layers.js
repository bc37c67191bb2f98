// Two layers of attention alone in the page, and letters for their tokens: what each head sees in a row of letters.
//
//   const language = readLetters(data);               // the bytes that two_layers.py packs
//   const tokens = language.encode("abcabc");         // what has no token is left out
//   language.read(tokens);                            // [layer][head] → table of q·k + √d·b, queries × keys

import { softmax } from "./probability.js";
import { dequantize, linear, rmsNorm } from "./language_model.js";
import { readTensors } from "./safetensors.js";

const EPS = 2 ** -23; // torch's, where none is given

export function readLetters(data) {
  const { tensors, metadata } = readTensors(data);
  const { letters } = metadata;
  const { data: biases, shape } = tensors.distance_bias;
  const [n_layers, n_heads] = shape;
  const width = tensors["embed.weight"].shape[1];
  const d = width / n_heads;
  const matrix = (name) => dequantize(tensors[`${name}.weight`], tensors[`${name}.weight.unit`]);
  const layers = Array.from({ length: n_layers }, (_, layer) =>
    ["output", "query", "key", "value"].map((part) => matrix(`layers.${layer}.${part}`)),
  );
  const embed = matrix("embed").data;
  const unscaled = new Float32Array(width).fill(1);

  function table(query, key, n, layer, head) {
    const found = new Float64Array(n * n);
    const bias = biases.subarray((layer * n_heads + head) * shape[2]);
    for (let at = 0; at < n * n; at++) {
      const [i, j] = [Math.floor(at / n), at % n];
      let sum = Math.sqrt(d) * bias[Math.max(0, i - j)];
      for (let k = head * d; k < (head + 1) * d; k++) sum += query[i * width + k] * key[j * width + k];
      found[at] = sum;
    }
    return found;
  }

  function gather(tables, value, n) {
    const heads = new Float32Array(n * width);
    tables.forEach((found, head) => {
      for (let i = 0; i < n; i++) {
        const weights = softmax(found.slice(i * n, i * n + i + 1).map((score) => score / Math.sqrt(d)));
        weights.forEach((weight, j) => {
          for (let k = head * d; k < (head + 1) * d; k++)
            heads[i * width + k] += weight * value[j * width + k];
        });
      }
    });
    return heads;
  }

  function read(tokens) {
    const n = tokens.length;
    let x = Float32Array.from(
      tokens.flatMap((token) => [...embed.subarray(token * width, (token + 1) * width)]),
    );
    return layers.map(([output, ...reads], layer) => {
      const seen = rmsNorm(x, unscaled, EPS);
      const [query, key, value] = reads.map((one) => linear(seen, n, one));
      const tables = Array.from({ length: n_heads }, (_, head) => table(query, key, n, layer, head));
      const heard = linear(gather(tables, value, n), n, output);
      x = x.map((v, i) => v + heard[i]);
      return tables;
    });
  }

  return {
    config: { n_layers, n_heads, d_head: d },
    longest: shape[2],
    encode: (text) => [...text].map((letter) => letters.indexOf(letter)).filter((token) => token >= 0),
    name: (token) => letters[token],
    note: (text, _, all) =>
      [...text].length > all && "what is no letter, digit, space or full stop is left out",
    read,
  };
}
