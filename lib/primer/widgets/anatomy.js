// Anatomy: every weight of five transformers, with what it stores and what it costs.
//
// The functions above `PARTS` are the mathematics; the tests compare them with primer.transformers.

import { format, html, mount, resultLine, select, set, slider, svg, update } from "./kit.js";

const sum = (numbers) => numbers.reduce((a, b) => a + b, 0);

// Floating-point operations of the forward pass for one token that meets `tokens` keys.
export function flopsByPart({ weights, score_flops }, tokens) {
  const of = (...parts) => sum(weights.filter(({ part }) => parts.includes(part)).map(({ flops }) => flops));
  return {
    projections: of("attention", "cross-attention"),
    scores: score_flops * tokens,
    "feed-forward": of("feed-forward"),
    head: of("head"),
  };
}

// The bytes of the keys and values kept for texts of this length.
export const cacheBytes = ({ cache_numbers }, tokens, texts, bytes) => cache_numbers * tokens * texts * bytes;

// The unit square in columns, one for each layer, and in these a cell for each weight: areas are shares
// of all parameters.  For each weight the list of its cells [x, y, width, height].
export function mosaic(weights) {
  const total = sum(weights.map(({ parameters }) => parameters));
  const cells = Object.fromEntries(weights.map(({ name }) => [name, []]));
  let x = 0;
  for (const stack of new Set(weights.map((weight) => weight.stack))) {
    const members = weights.filter((weight) => weight.stack === stack && weight.copies);
    const whole = sum(members.map(({ parameters }) => parameters));
    for (let layer = 0; layer < (members[0]?.copies ?? 0); layer++) {
      const width = whole / members[0].copies / total;
      let y = 0;
      for (const { name, parameters } of members) {
        cells[name].push([x, y, width, parameters / whole]);
        y += parameters / whole;
      }
      x += width;
    }
  }
  return cells;
}

const PARTS = ["embedding", "attention", "cross-attention", "feed-forward", "norm", "head"];
const STACKS = {
  block: "A block, one of",
  encoder: "An encoder block, one of",
  decoder: "A decoder block, one of",
};
const WORDS = { 1: "int8", 2: "float16", 4: "float32" };

// Three or four digits and a letter: 124.4 M.
export function compact(x, letters = ["", "k", "M", "B", "T"]) {
  const power = Math.min(Math.max(Math.floor(Math.log10(Math.max(x, 1)) / 3), 0), letters.length - 1);
  const scaled = x / 1000 ** power;
  return `${power ? scaled.toFixed(scaled < 99.95 ? (scaled < 9.995 ? 2 : 1) : scaled < 999.5 ? 1 : 0) : x} ${letters[power]}`.trim();
}

const operations = (x) => compact(x, ["FLOP", "kFLOP", "MFLOP", "GFLOP", "TFLOP"]);
const memory = (x) => compact(x, ["B", "kB", "MB", "GB", "TB"]);
const whole = (x) => x.toLocaleString("en");
const percent = (x) => (x < 0.00005 ? "under 0.01%" : `${format(100 * x, x < 0.00995 ? 2 : 1)}%`);
const times = (shape) => shape.map(whole).join(" × ");

// What the result line says about the chosen weight.
export function describe(weights, chosen) {
  const { name, shapes, copies, parameters, flops } = weights.find((weight) => weight.name === chosen);
  const [shape, bias] = shapes;
  const form = shape.length === 1 ? `a vector of ${times(shape)}` : `a matrix of ${times(shape)}`;
  const shift = bias ? ` with a bias of ${times(bias)}` : "";
  const where = copies > 1 ? `, in each of ${copies} layers` : "";
  const share = parameters / sum(weights.map((weight) => weight.parameters));
  const stored = copies
    ? `${whole(parameters)} parameters, ${percent(share)} of the model`
    : "the embedding once more, so that no parameter is added";
  const cost = flops
    ? `; ${operations(flops)} for each token`
    : "; looked up, added or multiplied number by number: no matrix product";
  return `${name}: ${form}${shift}${where}: ${stored}${cost}.`;
}

// ---------------------------------------------------------------- the totals

function tile(text) {
  const [label, number, note] = [html("span", {}, text), html("b"), html("span", { class: "note" })];
  return { element: html("div", { class: "tile" }, label, number, note), label, number, note };
}

function totals() {
  const [parameters, cost, cache, size] = ["Parameters", "", "Keys and values", "Weights"].map(tile);
  const bars = ["projections", "scores", "feed-forward", "head"].map((part) => [
    part,
    html("span", { class: part }),
    html("span", { class: part }),
  ]);
  cost.note.append(...bars.map(([, , text]) => text));
  cost.element.append(
    html("span", { class: "shares", "aria-hidden": "true" }, ...bars.map(([, bar]) => bar)),
  );

  function draw({ model, tokens, texts, bytes }) {
    const count = sum(model.weights.map((weight) => weight.parameters));
    const flops = flopsByPart(model, tokens);
    const all = sum(Object.values(flops));
    const kept = cacheBytes(model, tokens, texts, bytes);
    parameters.number.textContent = count < 1e9 ? whole(count) : compact(count);
    parameters.note.textContent = `published: ${model.published} (${model.source})`;
    cost.label.textContent = model.weights.some(({ stack }) => stack === "encoder")
      ? "Token in, token out"
      : "For each token, head included";
    cost.number.textContent = operations(all);
    cache.number.textContent = memory(kept);
    cache.note.textContent = `${memory(cacheBytes(model, 1, 1, bytes))} a token; ${format(kept / (count * bytes), 2)} times the weights`;
    size.number.textContent = memory(count * bytes);
    size.note.textContent = `${bytes} ${bytes === 1 ? "byte" : "bytes"} a number`;
    for (const [part, bar, text] of bars) {
      bar.style.width = `${(100 * flops[part]) / all}%`;
      text.textContent = `${part} ${percent(flops[part] / all)}`;
    }
  }
  return {
    element: html(
      "div",
      { class: "totals" },
      ...[parameters, cost, cache, size].map(({ element }) => element),
    ),
    draw,
  };
}

// ---------------------------------------------------------------- all parameters as areas

const rectangle = (x, y, width, height) => `M${x} ${y}h${width}v${height}h-${width}Z`;

function areas(choose) {
  const drawing = svg("svg", {
    viewBox: "0 0 1000 1000",
    preserveAspectRatio: "none",
    role: "img",
    "aria-label": "All parameters as areas: a column for each layer, a cell for each weight",
  });
  const legend = html("p", { class: "legend" });
  let [shapes, drawn] = [{}, null];

  function build({ weights, layers }) {
    const cells = mosaic(weights);
    const stored = weights.filter(({ name }) => cells[name].length);
    shapes = Object.fromEntries(
      stored.map(({ name, part }) => {
        const d = cells[name]
          .map(([x, y, width, height]) =>
            rectangle(...[x, y, width, height].map((v) => (1000 * v).toFixed(2))),
          )
          .join("");
        return [name, svg("path", { class: part, d, onclick: () => choose(name) }, svg("title", {}, name))];
      }),
    );
    drawing.replaceChildren(...Object.values(shapes));
    drawing.style.setProperty("--line", Math.min(1, 32 / layers)); // lines between many columns would hide them
    const present = PARTS.filter((part) => stored.some((weight) => weight.part === part));
    const shares = present.map((part) =>
      sum(weights.filter((weight) => weight.part === part).map(({ parameters }) => parameters)),
    );
    legend.replaceChildren(
      ...present.map((part, i) =>
        html("span", { class: part }, `${part} ${percent(shares[i] / sum(shares))}`),
      ),
    );
  }

  function draw({ model, chosen }) {
    if (drawn !== model) build(model);
    drawn = model;
    for (const [name, shape] of Object.entries(shapes)) shape.classList.toggle("chosen", name === chosen);
    if (shapes[chosen]) drawing.append(shapes[chosen]); // last, so that its outline is whole
  }
  return { element: html("div", { class: "areas" }, drawing, legend), draw };
}

// ---------------------------------------------------------------- the table, in which a weight is chosen

// One radio button for each weight; what else shows the weight is a label of its button.
function table(choose) {
  const body = html("tbody");
  const element = html(
    "table",
    {},
    html("caption", {}, "All layers together; choose a weight with the arrow keys"),
    html(
      "thead",
      {},
      html(
        "tr",
        {},
        ...["weight", "shape", "layers", "parameters", "FLOP a token"].map((text) =>
          html("th", { scope: "col" }, text),
        ),
      ),
    ),
    body,
  );
  const group = `anatomy-${Math.random().toString(36).slice(2)}`;
  const id = (name) => `${group}-${name.replaceAll(" ", "-")}`;
  let drawn = null;

  function build({ weights }) {
    body.replaceChildren(
      ...weights.map(({ name, part, shapes, copies, parameters, flops }) => {
        const input = html("input", {
          type: "radio",
          name: group,
          id: id(name),
          value: name,
          "aria-label": `${name}, ${times(shapes[0])}`,
          onchange: () => choose(name),
        });
        const cells = [
          times(shapes[0]),
          copies ? `${copies}` : "tied",
          compact(parameters),
          flops ? compact(flops, ["", "k", "M", "G", "T"]) : "–",
        ];
        return html(
          "tr",
          { onclick: () => choose(name) },
          html("th", { scope: "row" }, input, html("span", { class: part }, name)),
          ...cells.map((text) => html("td", {}, text)),
        );
      }),
    );
  }

  function draw({ model, chosen }) {
    if (drawn !== model) build(model);
    drawn = model;
    for (const row of body.rows) {
      const input = row.querySelector("input");
      input.checked = input.value === chosen;
      row.classList.toggle("chosen", input.checked);
    }
  }
  return { element, draw, id };
}

// ---------------------------------------------------------------- one block, its matrices in proportion

function blocks(id) {
  const element = html("div", { class: "blocks" });
  let [drawn, labels] = [null, []];

  function matrix({ name, part, shapes: [shape] }, unit) {
    const label = html(
      "label",
      { for: id(name), class: `matrix ${part}`, title: `${name}, ${times(shape)}` },
      name.replace(/^(encoder|cross) /, ""),
    );
    Object.assign(label.style, { width: `${shape[1] * unit}px`, height: `${shape[0] * unit}px` });
    labels.push([name, label]);
    return label;
  }

  function build({ weights, layers }, side) {
    labels = [];
    const stacks = [...new Set(weights.map(({ stack }) => stack))].filter((stack) => stack in STACKS);
    element.replaceChildren(
      ...stacks.map((stack) => {
        const members = weights.filter((weight) => weight.stack === stack && weight.shapes[0].length === 2);
        const unit = side / members[0].shapes[0][0];
        const parts = [...new Set(members.map(({ part }) => part))];
        const groups = parts.map((part) =>
          html(
            "div",
            { class: "group" },
            html("span", { class: part }, part),
            html(
              "div",
              {},
              ...members.filter((weight) => weight.part === part).map((weight) => matrix(weight, unit)),
            ),
          ),
        );
        return html(
          "div",
          {},
          html("p", { class: "heading" }, `${STACKS[stack]} ${layers}; sides to scale`),
          ...groups,
        );
      }),
    );
  }

  function draw({ model, chosen, side }) {
    if (drawn?.model !== model || drawn.side !== side) build(model, side);
    drawn = { model, side };
    for (const [name, label] of labels) label.classList.toggle("chosen", name === chosen);
  }
  return { element, draw };
}

// ---------------------------------------------------------------- the widget

function render({ model: traits, el }) {
  const get = (name) => traits.get(name);
  const choose = (name) => update(traits, { chosen: name });
  const models = get("models");
  const meet = (name) => {
    const { weights, context_length } = models[name];
    const known = weights.some((weight) => weight.name === get("chosen"));
    update(traits, {
      specimen: name,
      tokens: Math.min(get("tokens"), context_length),
      ...(known ? {} : { chosen: "query" }),
    });
  };
  const numbers = table(choose);
  const parts = [totals(), areas(choose), blocks(numbers.id), numbers];
  const result = resultLine();
  const power = (name, label, max) =>
    slider({
      label,
      min: 0,
      max,
      step: 1,
      value: Math.log2(get(name)),
      text: (v) => whole(Math.round(2 ** v)),
      change: (v) => update(traits, { [name]: 2 ** v }),
    });
  const specimen = select({
    label: "Model",
    options: Object.keys(models).map((name) => [name, name]),
    value: get("specimen"),
    change: meet,
  });
  const stored = select({
    label: "Stored as",
    options: Object.entries(WORDS),
    value: get("bytes_per_number"),
    change: (v) => update(traits, { bytes_per_number: Number(v) }),
  });
  const [tokens, texts] = [power("tokens", "Tokens of text", 12), power("texts", "Texts at once", 8)];

  function draw() {
    const model = models[get("specimen")];
    const state = {
      model,
      tokens: get("tokens"),
      texts: get("texts"),
      bytes: get("bytes_per_number"),
      chosen: get("chosen"),
    };
    const side = el.clientWidth < 380 ? 46 : 52; // pixels for the width of the model
    specimen.set(get("specimen"));
    stored.set(state.bytes);
    set(tokens.input, { max: Math.log2(model.context_length) });
    tokens.set(Math.log2(state.tokens));
    texts.set(Math.log2(state.texts));
    for (const part of parts) part.draw({ ...state, side });
    result.say(describe(model.weights, state.chosen));
  }

  el.classList.add("anatomy");
  const [sums, mosaics, block] = parts.map(({ element }) => element);
  el.append(
    html("div", { class: "controls" }, specimen.row, tokens.row, stored.row, texts.row),
    sums,
    html("p", { class: "heading" }, "All parameters: areas in proportion, a column for each layer"),
    mosaics,
    result.row,
    html("div", { class: "views" }, block, numbers.element),
  );
  return mount({
    model: traits,
    el,
    traits: ["specimen", "tokens", "texts", "bytes_per_number", "chosen"],
    draw,
  });
}

export default { render };
