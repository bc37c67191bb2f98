// Two layers of attention alone in the page, and letters for their tokens: what each head sees in a row of letters.
//
//   const language = readLetters(data);               // the bytes that two_layers.py packs
//   const tokens = language.encode("abcabc");         // what has no token is left out
//   language.read(tokens);                            // [layer][head] → table of q·k + √d·b, queries × keys

import { softmax } from "./language_model.js";
import { readTensors } from "./safetensors.js";

const EPS = 2 ** -23; // torch's, where none is given

/** Rows of x, n of them, times the transposed matrix. */
function linear(x, n, { data, shape: [rows, columns] }, { data: units }) {
  const y = new Float32Array(n * rows);
  for (let at = 0; at < y.length; at++) {
    const [from, row] = [Math.floor(at / rows) * columns, at % rows];
    let sum = 0;
    for (let k = 0; k < columns; k++) sum += data[row * columns + k] * x[from + k];
    y[at] = sum * units[row];
  }
  return y;
}

function normed(x, width) {
  const y = Float32Array.from(x);
  for (let from = 0; from < x.length; from += width) {
    const row = y.subarray(from, from + width);
    const scale = 1 / Math.sqrt(row.reduce((sum, v) => sum + v * v, 0) / width + EPS);
    for (let k = 0; k < width; k++) row[k] *= scale;
  }
  return y;
}

export function readLetters(data) {
  const { tensors, metadata } = readTensors(data);
  const { letters } = metadata;
  const { data: biases, shape } = tensors.distance_bias;
  const [n_layers, n_heads] = shape;
  const width = tensors["embed.weight"].shape[1];
  const d = width / n_heads;
  const times = (x, n, name) => linear(x, n, tensors[`${name}.weight`], tensors[`${name}.weight.unit`]);
  const embedded = ({ data: whole }, { data: units }, token) =>
    Array.from({ length: width }, (_, k) => whole[token * width + k] * units[token]);

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
    const parts = [tensors["embed.weight"], tensors["embed.weight.unit"]];
    let x = Float32Array.from(tokens.flatMap((token) => embedded(...parts, token)));
    return Array.from({ length: n_layers }, (_, layer) => {
      const at = `layers.${layer}`;
      const seen = normed(x, width);
      const [query, key, value] = ["query", "key", "value"].map((name) => times(seen, n, `${at}.${name}`));
      const tables = Array.from({ length: n_heads }, (_, head) => table(query, key, n, layer, head));
      const heard = times(gather(tables, value, n), n, `${at}.output`);
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
