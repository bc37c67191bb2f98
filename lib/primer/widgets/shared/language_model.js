// The book's language models in the page: the modern transformer, with a cache of keys and values.
//
//   const model = readModel(data);                 // the bytes that quantized.py packs: a DataView or Uint8Array
//   const tokens = encode(model.tokenizer, "To be");              // from tokenizer.js; decode(…) leads back
//   const cache = newCache(model);                                // nothing read yet
//   let logits = nextLogits(model, tokens, cache);                // prefill: read a prompt
//   logits = nextLogits(model, [token], cache);                   // step: read one token more
//   cache.length = 0;                                             // reset; or any smaller number: forget what came later
//   const branch = copyCache(cache);                              // two continuations of one beginning
//
// `logits` are the vocab_size scores of the token to come. The cache holds config.context_length tokens; one too
// many, none at all, or a token that the vocabulary lacks is a RangeError. `forward` gives the last hidden state of
// every token.
//
// `forward(…, observe)` and `nextLogits(…, observe)` show `observe(name, numbers)` every activation under the name that
// it has in primer.transformers.ACTIVATIONS, and compute with what it returns, unless that is nothing. The numbers are
// one flat array with the new tokens as first axis: queries are tokens × heads × d_head, scores tokens × heads × all.
//
// A masked model (`model.masked`) sees a text from both sides and adds learned positions in the place of rotations: it
// reads a text at once, with allLogits(model, tokens).  `model.head` turns the last hidden state into scores: it is the
// embedding once more, or a matrix of its own.  A model whose tokens are no text has no tokenizer.
//
// A matrix is { data, rows, columns } as torch's Linear stores it, one row for each output: a layer computes x Wᵀ.

import { softmax } from "./probability.js";
import { readTensors } from "./safetensors.js";
import { readTokenizer } from "./tokenizer.js";
import { finish } from "./workshop.js";

// ---------------------------------------------------------------- reading

/** A matrix from its whole numbers, −127 to 127, and the size of their unit in each row. */
export function dequantize({ data: whole, shape: [rows, columns] }, { data: units }) {
  const data = new Float32Array(rows * columns);
  for (let row = 0, at = 0; row < rows; row++) {
    for (const end = at + columns; at < end; at++) data[at] = whole[at] * units[row];
  }
  return { data, rows, columns };
}

/** The cosines and sines by which the pairs of a head are turned at each position. */
function rotations({ context_length, d_head, rope_base }) {
  const pairs = d_head / 2;
  const angle = (_, at) => Math.floor(at / pairs) * rope_base ** -((at % pairs) / pairs);
  const angles = Float64Array.from({ length: context_length * pairs }, angle);
  return { cos: angles.map(Math.cos), sin: angles.map(Math.sin) };
}

/** A model from the bytes of quantized.py. */
export function readModel(data) {
  const { tensors, metadata } = readTensors(data);
  const { config, tokenizer, masked } = JSON.parse(metadata.model);
  const matrix = (name) => dequantize(tensors[`${name}.weight`], tensors[`${name}.unit`]);
  const scale = (name) => tensors[`${name}.weight`].data;
  const matrices = (at, ...names) => Object.fromEntries(names.map((name) => [name, matrix(`${at}.${name}`)]));
  const block = (_, layer) => {
    const at = `blocks.${layer}`;
    return {
      norm1: scale(`${at}.norm1`),
      norm2: scale(`${at}.norm2`),
      ...matrices(`${at}.attention`, "query", "key", "value", "output"),
      ...matrices(`${at}.feed_forward`, "gate", "up", "down"),
    };
  };
  const embed = matrix("embed");
  const kv_heads = config.n_kv_heads ?? config.n_heads;
  const shape = { ...config, kv_heads, d_head: config.d_model / config.n_heads };
  return {
    config: shape,
    tokenizer: tokenizer && readTokenizer(tokenizer),
    embed,
    head: config.tied_embeddings ? embed : matrix("head"),
    blocks: Array.from({ length: config.n_layers }, block),
    norm: scale("norm"),
    masked,
    positions: masked ? matrix("positions") : null,
    rotations: masked ? null : rotations(shape),
  };
}

// ---------------------------------------------------------------- the cache

/** Room for the keys and values of a whole context, and how many tokens it holds so far. */
export function newCache({ config: { n_layers, context_length, kv_heads, d_head } }) {
  const width = kv_heads * d_head;
  const room = () => new Float32Array(context_length * width);
  const layers = Array.from({ length: n_layers }, () => ({ keys: room(), values: room() }));
  return { length: 0, width, layers };
}

/** A cache of the same tokens; the room behind them, most of it, is not copied. */
export function copyCache({ length, width, layers }) {
  const copy = (held) => {
    const room = new Float32Array(held.length);
    room.set(held.subarray(0, length * width));
    return room;
  };
  return {
    length,
    width,
    layers: layers.map(({ keys, values }) => ({ keys: copy(keys), values: copy(values) })),
  };
}

// ---------------------------------------------------------------- who looks on

/** Show an activation, and return what to go on with. */
function shown(observe, name, numbers) {
  const changed = observe?.(name, numbers) ?? numbers;
  if (changed.length !== numbers.length) {
    throw new RangeError(
      `The observer returned ${changed.length} numbers for ${name}, which has ${numbers.length}.`,
    );
  }
  return changed;
}

/** An observer for a part of the model: what it is shown has the part's name in front. */
const within = (observe, place) =>
  observe && ((name, numbers) => shown(observe, `${place}.${name}`, numbers));

// ---------------------------------------------------------------- the parts of a block

/** x Wᵀ for n rows of x.  Four rows share each weight that is read, or of one row four sums each number. */
export function linear(x, n, { data, rows, columns }) {
  const y = new Float32Array(n * rows);
  let i = 0;
  for (; i + 4 <= n; i += 4) {
    for (let row = 0; row < rows; row++) {
      let [a, b, c, d] = [0, 0, 0, 0];
      for (let w = row * columns, end = w + columns, at = i * columns; w < end; w++, at++) {
        const weight = data[w];
        a += weight * x[at];
        b += weight * x[at + columns];
        c += weight * x[at + 2 * columns];
        d += weight * x[at + 3 * columns];
      }
      const to = i * rows + row;
      y[to] = a;
      y[to + rows] = b;
      y[to + 2 * rows] = c;
      y[to + 3 * rows] = d;
    }
  }
  for (; i < n; i++) {
    let row = 0;
    for (; row + 4 <= rows; row += 4) {
      let [a, b, c, d] = [0, 0, 0, 0];
      for (let w = row * columns, end = w + columns, at = i * columns; w < end; w++, at++) {
        const number = x[at];
        a += data[w] * number;
        b += data[w + columns] * number;
        c += data[w + 2 * columns] * number;
        d += data[w + 3 * columns] * number;
      }
      const to = i * rows + row;
      y[to] = a;
      y[to + 1] = b;
      y[to + 2] = c;
      y[to + 3] = d;
    }
    for (; row < rows; row++) {
      let sum = 0;
      for (let w = row * columns, end = w + columns, at = i * columns; w < end; w++, at++)
        sum += data[w] * x[at];
      y[i * rows + row] = sum;
    }
  }
  return y;
}

/** Scale each row to root mean square 1, then by what the model has learned. */
export function rmsNorm(x, scale, eps) {
  const y = new Float32Array(x.length);
  const dim = scale.length;
  for (let from = 0; from < x.length; from += dim) {
    let squares = 0;
    for (let k = 0; k < dim; k++) squares += x[from + k] ** 2;
    const factor = 1 / Math.sqrt(squares / dim + eps);
    for (let k = 0; k < dim; k++) y[from + k] = x[from + k] * factor * scale[k];
  }
  return y;
}

/** Turn the pairs (i, i + d/2) of every head, in place; the first row stands at position `start`. */
function rotate(x, n, start, { cos, sin }, dim) {
  const pairs = dim / 2;
  const width = x.length / n;
  for (let at = 0; at < x.length; at += dim) {
    const turn = (start + Math.floor(at / width)) * pairs;
    for (let i = 0; i < pairs; i++) {
      const [a, b] = [x[at + i], x[at + i + pairs]];
      x[at + i] = a * cos[turn + i] - b * sin[turn + i];
      x[at + i + pairs] = b * cos[turn + i] + a * sin[turn + i];
    }
  }
}

/** The scalar products of one head's query with the first `count` keys, times a scale. */
export function products(query, from, keys, at, count, { d_head, kv_heads }, scale = 1) {
  const found = new Float64Array(count);
  for (let j = 0, key = at; j < count; j++, key += kv_heads * d_head) {
    let sum = 0;
    for (let k = 0; k < d_head; k++) sum += query[from + k] * keys[key + k];
    found[j] = sum * scale;
  }
  return found;
}

/** Every head's mixture of the values seen so far, for n queries that follow `start` tokens. */
function attend(query, n, start, { keys, values }, { config, masked }, observe) {
  const { n_heads, kv_heads, d_head } = config;
  const all = start + n;
  const each = (work) => {
    for (let row = 0; row < n * n_heads; row++) {
      const [i, head] = [Math.floor(row / n_heads), row % n_heads];
      const shared = Math.floor((head * kv_heads) / n_heads) * d_head; // where the group's head begins
      const reach = masked ? all : start + i + 1; // what lies farther is masked, and computed only where somebody looks
      work(row, shared, reach, observe ? all : reach);
    }
  };
  let scores = new Float64Array(n * n_heads * all);
  each((row, shared, _, count) => {
    scores.set(products(query, row * d_head, keys, shared, count, config, d_head ** -0.5), row * all);
  });
  scores = shown(observe, "scores", scores);
  let weights = new Float64Array(scores.length);
  each((row, _, reach) => weights.set(softmax(scores.subarray(row * all, row * all + reach)), row * all));
  weights = shown(observe, "weights", weights);
  const mixed = new Float32Array(query.length);
  each((row, shared, _, count) => {
    for (let j = 0, at = shared; j < count; j++, at += kv_heads * d_head) {
      const weight = weights[row * all + j];
      for (let k = 0; k < d_head; k++) mixed[row * d_head + k] += weight * values[at + k];
    }
  });
  return mixed;
}

export function sum(x, y) {
  const z = new Float32Array(x.length);
  for (let at = 0; at < z.length; at++) z[at] = x[at] + y[at];
  return z;
}

function swiglu(x, n, { gate, up, down }) {
  const [open, hidden] = [linear(x, n, gate), linear(x, n, up)];
  for (let k = 0; k < hidden.length; k++) hidden[k] *= open[k] / (1 + Math.exp(-open[k]));
  return linear(hidden, n, down);
}

// ---------------------------------------------------------------- the model

function check({ config: { vocab_size, context_length }, masked }, tokens, cache) {
  if (masked && cache.length) throw new RangeError("A masked model reads a text at once; empty the cache.");
  if (!tokens.length) throw new RangeError("The model needs at least one token to continue.");
  if (cache.length + tokens.length > context_length) {
    throw new RangeError(
      `The model reads ${context_length} tokens at most; this would be ${cache.length + tokens.length}.`,
    );
  }
  const unknown = [...tokens].find((token) => !(Number.isInteger(token) && token >= 0 && token < vocab_size));
  if (unknown !== undefined)
    throw new RangeError(`Token ${unknown} is not among the ${vocab_size} of the vocabulary.`);
}

/** Read tokens after those in the cache; the last hidden state of each, tokens × d_model. */
export const forward = (model, tokens, cache, observe) => finish(forwardSteps(model, tokens, cache, observe));

/** The second half of a layer. */
function feedForward(x, n, block, { norm_eps }, look) {
  const given = shown(look, "feed_forward.input", rmsNorm(x, block.norm2, norm_eps));
  return shown(look, "after", sum(x, shown(look, "feed_forward.output", swiglu(given, n, block))));
}

/** The layers from one on, for n tokens that follow the cache; yields after each. */
function* layersFrom(first, x, n, model, cache, observe) {
  const { config, blocks, masked } = model;
  const start = cache.length;
  for (let layer = first; layer < blocks.length; layer++) {
    const [block, seen] = [blocks[layer], cache.layers[layer]];
    const look = within(observe, `blocks.${layer}`);
    const heed = within(look, "attention");
    x = shown(look, "before", x);
    const read = shown(heed, "input", rmsNorm(x, block.norm1, config.norm_eps));
    let [query, key, value] = [block.query, block.key, block.value].map((matrix) => linear(read, n, matrix));
    for (const turned of masked ? [] : [query, key]) rotate(turned, n, start, model.rotations, config.d_head);
    [query, key, value] = [
      shown(heed, "queries", query),
      shown(heed, "keys", key),
      shown(heed, "values", value),
    ];
    seen.keys.set(key, start * block.key.rows);
    seen.values.set(value, start * block.value.rows);
    const heads = shown(heed, "heads", attend(query, n, start, seen, model, heed));
    x = shown(look, "between", sum(x, shown(heed, "output", linear(heads, n, block.output))));
    x = feedForward(x, n, block, config, look);
    yield;
  }
  return x;
}

/** The same as a generator that yields after each layer, so that a page can draw in between. */
export function* forwardSteps(model, tokens, cache, observe) {
  check(model, tokens, cache);
  const { config, embed, positions, norm, masked } = model;
  const { d_model, norm_eps } = config;
  const n = tokens.length;
  let x = new Float32Array(n * d_model);
  tokens.forEach((token, i) =>
    x.set(embed.data.subarray(token * d_model, (token + 1) * d_model), i * d_model),
  );
  if (masked) x = sum(x, positions.data);
  x = yield* layersFrom(0, shown(observe, "embedding", x), n, model, cache, observe);
  cache.length += n;
  return shown(observe, "norm", rmsNorm(x, norm, norm_eps));
}

/**
 * The scores of the token to come from what stands between the halves of a layer, for one token that follows the
 * cache: what comes before is not computed again.  The cache has room for its keys and values in the layers above.
 */
export function scoresFrom(model, layer, between, cache) {
  const { config, blocks, norm, head } = model;
  const x = feedForward(between, 1, blocks[layer], config);
  const last = finish(layersFrom(layer + 1, x, 1, model, cache));
  return linear(rmsNorm(last, norm, config.norm_eps), 1, head);
}

/** Read tokens after those in the cache; the scores of the token to come. */
export const nextLogits = (model, tokens, cache, observe) => finish(nextSteps(model, tokens, cache, observe));

/** The same as a generator that yields after each layer. */
export function* nextSteps(model, tokens, cache, observe) {
  const hidden = yield* forwardSteps(model, tokens, cache, observe);
  return shown(observe, "logits", linear(hidden.slice(-model.config.d_model), 1, model.head));
}

/** The scores of all tokens at some places of a text, places × vocab_size, from the last hidden states. */
export function logitsAt({ config: { d_model }, head }, hidden, places) {
  const rows = new Float32Array(places.length * d_model);
  places.forEach((place, i) =>
    rows.set(hidden.subarray(place * d_model, (place + 1) * d_model), i * d_model),
  );
  return linear(rows, places.length, head);
}

/** The scores of the following token after each of the tokens, tokens × vocab_size; they may follow a cache. */
export function allLogits(model, tokens, observe, cache = newCache(model)) {
  const last = forward(model, tokens, cache, observe);
  return shown(observe, "logits", linear(last, tokens.length, model.head));
}
