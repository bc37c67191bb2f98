// The LoRA dial: a change of low rank, turned up and down beside the book's model.
//
// The functions above `reading` are the mathematics; the tests compare them with primer.fine_tuning.

import {
  button,
  columns,
  div,
  format,
  heading,
  html,
  key,
  panel,
  resultLine,
  set,
  sum,
  table,
  widget,
  write,
} from "./kit.js";
import { distribution, draw as pick, logSoftmax } from "./choosing.js";
import { continueText, readPrompt } from "./generation.js";
import { allLogits, newCache, readModel } from "./language_model.js";
import { random } from "./random.js";
import { readTensors } from "./safetensors.js";
import { textInput } from "./text_input.js";
import { encode, tokenText } from "./tokenizer.js";
import { workshop } from "./workshop.js";

const CHUNK = 4; // tokens read at once
const STRENGTHS = [-0.5, -0.25, 0, 0.25, 0.5, 0.75, 1, 1.25, 1.5]; // of a whole curve
const DARKEST = 10; // nats
const TEMPERATURE = 0.7; // of the text that is written

/** The factors of each matrix, from the bytes of pack_lora: { name: { A, B } }, each with r rows. */
export function readFactors(data) {
  const { tensors } = readTensors(data);
  const factor = (name) => {
    const { data: whole, shape } = tensors[name];
    const units = tensors[`${name}.unit`].data;
    return Array.from({ length: shape[0] }, (_, i) =>
      Float64Array.from(whole.subarray(i * shape[1], (i + 1) * shape[1]), (k) => Math.fround(k * units[i])),
    );
  };
  const names = Object.keys(tensors).filter((name) => name.endsWith(".A"));
  return Object.fromEntries(
    names.map((name) => [name.slice(0, -2), { A: factor(name), B: factor(`${name.slice(0, -2)}.B`) }]),
  );
}

/** A matrix { data, rows, columns }, stored with an output in each row, and a Σ Aᵢ Bᵢ over the first `rank`. */
export function turnMatrix({ data, rows, columns: width }, { A, B }, strength, rank) {
  const turned = data.slice();
  for (let i = 0; i < rank; i++) {
    for (let row = 0, at = 0; row < rows; row++) {
      const share = strength * B[i][row];
      for (let column = 0; column < width; column++, at++) turned[at] += share * A[i][column];
    }
  }
  return { data: turned, rows, columns: width };
}

/** The model with a share of the change in its matrices; yields after each of them. */
export function* turn(model, factors, strength, rank) {
  const blocks = model.blocks.map((block) => ({ ...block }));
  for (const [name, factor] of Object.entries(factors)) {
    const [, layer, , part] = name.split(".");
    blocks[layer][part] = turnMatrix(blocks[layer][part], factor, strength, rank);
    yield null;
  }
  return { ...model, blocks };
}

/** The nats of each token but the first; yields after every few tokens. */
export function* surprises(model, tokens) {
  const cache = newCache(model);
  const size = model.config.vocab_size;
  const found = [];
  for (let from = 0; from < tokens.length - 1; from += CHUNK) {
    const part = tokens.slice(from, Math.min(from + CHUNK, tokens.length - 1));
    const logits = allLogits(model, part, undefined, cache);
    part.forEach((_, i) => {
      found.push(-logSoftmax(logits.subarray(i * size, (i + 1) * size))[tokens[from + i + 1]]);
    });
    yield null;
  }
  return found;
}

export const mean = (numbers) => sum(numbers) / numbers.length;

/** What the result line says. */
export function describe({ strength, rank }, now, base) {
  const off = rank === 0 || strength === 0;
  const where = off ? "Without the change" : `Strength ${format(strength, 2)}, rank ${rank}`;
  const moved = (i) =>
    off ? "" : ` (${now[i] < base[i] ? "−" : "+"}${format(Math.abs(now[i] - base[i]), 2)})`;
  return `${where}: ${format(now[0], 2)} nats per token on the docstring${moved(0)}, ${format(now[1], 2)} on the speech${moved(1)}.`;
}

// ---------------------------------------------------------------- what the reader sees

// A passage whose tokens are shaded by their surprise.
function reading(title, tokenizer, tokens) {
  const spans = tokens.map((id) => html("span", {}, tokenText(tokenizer, id)));
  const element = div("reading", html("b", {}, title), html("p", {}, ...spans));
  const draw = (nats) => {
    nats.forEach((value, i) => {
      spans[i + 1].style.setProperty("--surprise", `${Math.min(60, (60 * value) / DARKEST).toFixed(0)}%`);
    });
  };
  return { element, draw };
}

const losses = () =>
  panel({
    label: "Nats per token on the docstring and on the speech, against the strength of the change",
    name: "losses",
    height: 240,
    margin: [26, 12, 40, 40],
    x: { domain: [-0.6, 1.6], label: "strength a", ticks: [-0.5, 0, 0.5, 1, 1.5] },
    y: ({ highest }) => ({ domain: [0, highest], label: "nats per token" }),
    layers: { dial: "path", docstring: "path", speech: "path" },
    over: { "docstring-dot": { tag: "circle", many: true }, "speech-dot": { tag: "circle", many: true } },
    draw(layers, plot, { points, strength, highest }) {
      const { x, y, line, at } = plot;
      layers.dial(`M${x(strength)} ${y(0)}V${y(highest)}`);
      for (const [i, name] of ["docstring", "speech"].entries()) {
        layers[name](line(points.map(([a, values]) => [a, values[i]])));
        layers[`${name}-dot`](points, ([a, values]) => {
          const [cx, cy] = at([a, values[i]]);
          return { cx, cy, r: Math.abs(a - strength) < 1e-9 ? 6 : 3 };
        });
      }
    },
  });

export default widget("lora-dial", ({ model, controls, constants, write: put, redraw }) => {
  const language = readModel(model.get("checkpoint"));
  const factors = readFactors(model.get("change"));
  const { tokenizer, config } = language;
  const passages = constants.passages.map((text) => encode(tokenizer, text));
  const shop = workshop(redraw);
  const visited = new Map(); // "rank strength" → the two losses
  const at = (rank, strength) => `${rank} ${rank && strength}`;
  const views = ["A docstring", "A speech"].map((title, i) => reading(title, tokenizer, passages[i]));
  const input = textInput({
    label: "Continue",
    examples: model.get("examples"),
    longest: constants.longest,
    change: (text) => put({ text }),
  });
  const [beginning, more] = [html("span", { class: "beginning" }), html("span")];
  const written = html("p", { class: "written" }, beginning, more);
  const [plot, result] = [losses(), resultLine()];
  const list = table({ head: ["strength", "docstring", "speech"] });
  const details = html("details", {}, html("summary", {}, "The measured points in a table"), list.element);
  let open = []; // strengths of a curve still to be measured
  const curve = button("Measure the whole curve", () => {
    open = [...STRENGTHS];
    redraw();
  });
  const output = div("", columns("readings", ...views.map(({ element }) => element)));

  /** A model turned so far, and what it makes of both passages: null until it is done. */
  function measure(name, rank, strength) {
    const place = at(rank, strength);
    const now = shop.job(`${name} model`, place, () => turn(language, factors, strength, rank));
    if (!now.done) return null;
    const nats = passages.map((tokens, i) =>
      shop.job(`${name} ${i}`, place, () => surprises(now.result, tokens)),
    );
    if (!nats.every(({ done }) => done)) return null;
    const found = nats.map(({ result: values }) => values);
    visited.set(place, found.map(mean));
    return { model: now.result, nats: found };
  }

  function continued(now, text, place) {
    const tokens = encode(tokenizer, text).slice(-(config.context_length - constants.new_tokens));
    if (!tokens.length) return "";
    const reader = { cache: newCache(language), seen: [] };
    const prompt = shop.job("prompt", `${place} ${text}`, () => readPrompt(now, tokens, reader));
    if (!prompt.done) return null;
    const start = { cache: reader.cache, logits: prompt.result };
    const job = shop.job("text", `${place} ${text}`, () => {
      const uniform = random(1); // the same draws for every place of the dial
      const choose = (logits) => pick(distribution(logits, { temperature: TEMPERATURE }), uniform());
      return continueText(now, start, constants.new_tokens, choose, -1);
    });
    return (job.value?.tokens ?? []).map((id) => tokenText(tokenizer, id)).join("");
  }

  function follow({ strength, rank, text }) {
    const base = visited.get(at(0, 0)) ?? (measure("base", 0, 0) && visited.get(at(0, 0)));
    const now = measure("dial", rank, strength);
    if (now) {
      views.forEach(({ draw }, i) => draw(now.nats[i]));
      const words = continued(now.model, text, at(rank, strength));
      if (words !== null) write(more, words);
      if (base) result.say(describe({ strength, rank }, visited.get(at(rank, strength)), base));
      while (open.length && visited.has(at(rank, open[0]))) open.shift();
      if (open.length) measure("curve", rank, open[0]);
    }
  }

  return {
    layout: [
      div("controls", controls.strength.row, controls.rank.row),
      result.row,
      output,
      input.element,
      written,
      heading(key("docstring", "the docstring"), key("speech", "the speech")),
      plot.element,
      curve,
      details,
    ],
    draw(state) {
      input.draw(
        state.text,
        `Drawn at temperature ${TEMPERATURE}, with the same luck at every place of the dial.`,
      );
      write(beginning, state.text);
      follow(state);
      const points = [...visited]
        .map(([place, values]) => [...place.split(" ").map(Number), values])
        .filter(([rank, strength]) => rank === state.rank || (rank === 0 && strength === 0))
        .map(([, strength, values]) => [strength, values])
        .sort(([a], [b]) => a - b);
      const highest = 1.05 * Math.max(9, ...points.flatMap(([, values]) => values));
      plot.draw({ points, strength: state.rank ? state.strength : 0, highest });
      list.draw(points.map(([a, values]) => [format(a, 2), ...values.map((v) => format(v, 2))]));
      set(output, { "aria-busy": String(shop.busy()) });
    },
    stop: shop.stop,
  };
});
