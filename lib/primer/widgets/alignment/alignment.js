// Alignment: where a decoder looks while it writes a word backwards.
//
// The functions above `grid` are the mathematics; the tests compare them with primer.recurrent.

import { clamp, columns, counted, div, format, heading, html, memory, panel, percent } from "../kit/kit.js";
import { resultLine, set, widget } from "../kit/kit.js";
import { softmax } from "../shared/probability.js";
import { dequantize, forward, plus, project, readCell, times, zeroState } from "../shared/recurrent_cells.js";
import { readTensors } from "../shared/safetensors.js";
import { textInput } from "../shared/text_input.js";

// ---------------------------------------------------------------- what is computed

/** The encoder and the decoder from the bytes that primer.recurrent.backwards writes. */
export function readModel(data) {
  const { tensors, metadata } = readTensors(data);
  const matrix = (name) => dequantize(tensors[`${name}.weight`], tensors[`${name}.weight/unit`]);
  const layer = (name) => ({ ...matrix(name), bias: tensors[`${name}.bias`].data });
  return {
    mark: JSON.parse(metadata.model)[0],
    embed: matrix("embed"),
    encoder: readCell(tensors, "gru", "encoder.cells.0"),
    decoder: readCell(tensors, "gru", "decoder"),
    score: dequantize(tensors.weight, tensors["weight/unit"]),
    combine: layer("combine"),
    head: layer("head"),
  };
}

const apply = (layer, x) => plus(times(x, layer), layer.bias);

const vectorOf = ({ embed: { data, columns } }, token) =>
  data.subarray(token * columns, (token + 1) * columns);

/** The mean of the encoder's states as a state of the decoder asks for it: { context, weights }. */
function attend(model, h, keys) {
  const query = times(h, model.score);
  const weights = softmax(keys.map((key) => key.reduce((sum, x, i) => sum + x * query[i], 0)));
  const context = h.map((_, i) => keys.reduce((sum, key, k) => sum + weights[k] * key[i], 0));
  return { context, weights };
}

/**
 * Write tokens backwards: [{ token, p, weights }], the mark last.  Each step reads what the step before has
 * written, or with `forced` what it should have written.
 */
export function write(model, tokens, forced) {
  const keys = [];
  /** @type {any} */
  let state = zeroState(model.encoder);
  for (const token of tokens) {
    state = forward(model.encoder, project(model.encoder, vectorOf(model, token)), state);
    keys.push(state.h);
  }
  const steps = [];
  let last = model.mark;
  for (const truth of [...tokens.toReversed(), model.mark]) {
    state = forward(model.decoder, project(model.decoder, vectorOf(model, last)), state);
    const { context, weights } = attend(model, state.h, keys);
    const combined = apply(model.combine, [...state.h, ...context]).map(Math.tanh);
    const chances = softmax(apply(model.head, combined));
    const token = chances.indexOf(Math.max(...chances));
    steps.push({ token, p: chances[token], weights });
    if (token === model.mark && !forced) break;
    last = forced ? truth : token;
  }
  return steps;
}

const A = "a".charCodeAt(0);
export const readable = (text, longest) =>
  [...text.toLowerCase()].filter((letter) => letter >= "a" && letter <= "z").slice(0, longest);
const codes = (letters) => letters.map((letter) => letter.charCodeAt(0) - A);

/** What the result line says of one of the letters written. */
export function describe(letters, written, right, step, row) {
  const k = step.weights.indexOf(Math.max(...step.weights));
  const place = letters.length - row - 1; // where the letter stands that is to be written
  const off = k - place;
  const aside = off > 0 ? "to the right of" : "to the left of";
  const where = place < 0 ? "" : off === 0 ? ", its own place" : `, ${Math.abs(off)} ${aside} its own place`;
  return `${right} of ${counted(letters.length, "letter")} right. Writing “${written[row]}” (${percent(step.p, 0)}), it looks most at “${letters[k]}”, letter ${k + 1}, with weight ${format(step.weights[k], 2)}${where}.`;
}

// ---------------------------------------------------------------- what the reader sees

const grid = (choose) =>
  panel({
    label: "Weights of attention: a column for each letter read, a row for each letter written",
    name: "grid",
    height: (width) => clamp(width, 240, 440),
    widest: 460,
    margin: [26, 10, 40, 34],
    x: ({ letters }) => ({
      domain: [-0.5, letters.length - 0.5],
      label: "letter read",
      ticks: [...letters.keys()],
      text: (k) => letters[k],
    }),
    y: ({ written }) => ({
      domain: [written.length - 0.5, -0.5],
      label: "letter written",
      ticks: [...written.keys()],
      text: (t) => written[t],
    }),
    layers: { cell: { tag: "rect", many: true }, chosen: "rect" },
    drag: ([, t]) => choose(Math.round(t)),
    step: (_, dy) => choose(null, -dy),
    draw({ cell, chosen }, { x, y }, { letters, steps, row }) {
      const [width, height] = [x(1) - x(0), y(1) - y(0)];
      const cells = steps.flatMap(({ weights }, t) => Array.from(weights, (weight, k) => ({ weight, t, k })));
      const at = (k, t) => ({ x: x(k - 0.5), y: y(t - 0.5) });
      cell(cells, ({ weight, t, k }) => ({ ...at(k, t), width, height, "fill-opacity": weight.toFixed(3) }));
      chosen({ ...at(0, row), width: letters.length * width, height });
    },
  });

export default widget("alignment", ({ model, controls, constants, write: put }) => {
  const { longest, trained, mark } = constants;
  const network = readModel(model.get("weights"));
  const change = (word) => put({ word, row: 1 });
  const input = textInput({ label: "Word", examples: model.get("examples"), longest: 40, change });
  let rows = 1;
  const choose = (row, by = 0) => put({ row: clamp((row ?? model.get("row") - 1) + by, 0, rows - 1) + 1 });
  const [map, result, once] = [grid(choose), resultLine(), memory()];
  const line = html("p", { class: "written" });
  const panels = div(
    "",
    columns("views", [map], [heading("What it writes, wrong letters crossed out"), line, result]),
  );

  function spell(written, truth) {
    line.replaceChildren(
      ...written.map((letter, t) => html(letter === truth[t] ? "span" : "del", {}, letter)),
    );
  }

  return {
    layout: [input, columns("controls", [controls.row], [controls.forced]), panels],
    texts: { row: (value) => `${Math.min(value, rows)}` },
    draw({ word, row, forced }) {
      const letters = readable(word, longest);
      const beyond =
        letters.length > trained ? `: longer than any it has learned from (up to ${trained})` : "";
      const dropped = [...word].length > letters.length ? "; only a to z are read, and no more than 20" : "";
      input.draw(
        word,
        letters.length
          ? `${counted(letters.length, "letter")}${beyond}${dropped}.`
          : "Type a word of letters a to z.",
      );
      set(panels, { hidden: !letters.length });
      if (!letters.length) return;
      const steps = once("steps", `${letters.join("")} ${forced}`, () =>
        write(network, codes(letters), forced),
      );
      rows = steps.length;
      const written = steps.map(({ token }) =>
        token === network.mark ? mark : String.fromCharCode(A + token),
      );
      const truth = [...letters.toReversed(), mark];
      const right = letters.filter((_, t) => written[t] === truth[t]).length;
      const chosen = Math.min(row, rows) - 1;
      controls.row.limit({ high: rows });
      controls.row.set(chosen + 1);
      once("line", `${written.join("")} ${truth.join("")}`, () => spell(written, truth));
      map.draw({ letters, written, steps, row: chosen });
      result.say(describe(letters, written, right, steps[chosen], chosen));
    },
  };
});
