// Anatomy: every weight of five transformers, with what it stores and what it costs.
//
// The functions above `PARTS` are the mathematics; the tests compare them with primer.transformers.

import { div, format, grouped, heading, html, legend, memory as memo, named } from "../kit/kit.js";
import { percent, resultLine, sketch, span, sum, svg, uniqueId, widen, widget, write } from "../kit/kit.js";
import { table } from "../shared/table.js";
import { compact } from "../shared/large_numbers.js";

export { compact } from "../shared/large_numbers.js"; // the tests know it here

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
  const total = parametersOf(weights);
  const cells = Object.fromEntries(weights.map(({ name }) => [name, []]));
  let x = 0;
  for (const stack of new Set(weights.map((weight) => weight.stack))) {
    const members = weights.filter((weight) => weight.stack === stack && weight.copies);
    const whole = parametersOf(members);
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
const operations = (x) => compact(x, ["FLOP", "kFLOP", "MFLOP", "GFLOP", "TFLOP"]);
const memory = (x) => compact(x, ["B", "kB", "MB", "GB", "TB"]);
const part = (x) => (x < 0.00005 ? "under 0.01%" : percent(x, x < 0.00995 ? 2 : 1));
const times = (shape) => shape.map(grouped).join(" × ");
const parametersOf = (weights) => sum(weights.map(({ parameters }) => parameters));

// What the result line says about the chosen weight.
export function describe(weights, chosen) {
  const { name, shapes, copies, parameters, flops } = weights.find((weight) => weight.name === chosen);
  const [shape, bias] = shapes;
  const form = shape.length === 1 ? `a vector of ${times(shape)}` : `a matrix of ${times(shape)}`;
  const shift = bias ? ` with a bias of ${times(bias)}` : "";
  const where = copies > 1 ? `, in each of ${copies} layers` : "";
  const share = parameters / parametersOf(weights);
  const stored = copies
    ? `${grouped(parameters)} parameters, ${part(share)} of the model`
    : "the embedding once more, so that no parameter is added";
  const cost = flops
    ? `; ${operations(flops)} for each token`
    : "; looked up, added or multiplied number by number: no matrix product";
  return `${name}: ${form}${shift}${where}: ${stored}${cost}.`;
}

// ---------------------------------------------------------------- the totals

function tile(text) {
  const [label, number, note] = [span("", text), html("b"), span("note")];
  const draw = (written, under = "") => {
    write(number, written);
    if (under) write(note, under);
  };
  return { element: div("tile", label, number, note), label, note, draw };
}

function totals() {
  const [parameters, cost, cache, size] = ["Parameters", "", "Keys and values", "Weights"].map(tile);
  const names = ["projections", "scores", "feed-forward", "head"];
  const bars = names.map((name) => ({ name, bar: span(name), text: span(name) }));
  const shares = bars.map(({ bar }) => bar);
  cost.note.append(...bars.map(({ text }) => text));
  cost.element.append(html("span", { class: "shares", "aria-hidden": "true" }, ...shares));

  function draw({ model, tokens, texts, bytes }) {
    const count = parametersOf(model.weights);
    const flops = flopsByPart(model, tokens);
    const all = sum(Object.values(flops));
    const kept = cacheBytes(model, tokens, texts, bytes);
    const encodes = model.weights.some(({ stack }) => stack === "encoder");
    const times = format(kept / (count * bytes), 2);
    const published = `published: ${model.published} (${model.source})`;
    parameters.draw(count < 1e9 ? grouped(count) : compact(count), published);
    write(cost.label, encodes ? "Token in, token out" : "For each token, head included");
    cost.draw(operations(all));
    cache.draw(memory(kept), `${memory(cacheBytes(model, 1, 1, bytes))} a token; ${times} times the weights`);
    size.draw(memory(count * bytes), `${bytes} ${bytes === 1 ? "byte" : "bytes"} a number`);
    for (const { name, bar, text } of bars) {
      widen(bar, flops[name] / all);
      write(text, `${name} ${part(flops[name] / all)}`);
    }
  }
  return { element: div("totals", ...[parameters, cost, cache, size]), draw };
}

// ---------------------------------------------------------------- all parameters as areas

const rectangle = (cell) => {
  const [x, y, width, height] = cell.map((v) => (1000 * v).toFixed(2));
  return `M${x} ${y}h${width}v${height}h-${width}Z`;
};

function areas(choose) {
  const { element: drawing } = sketch({
    label: "All parameters as areas: a column for each layer, a cell for each weight",
    box: "0 0 1000 1000",
    preserveAspectRatio: "none",
  });
  const [names, once] = [div(""), memo()];
  let shapes = {};

  function build({ weights, layers }) {
    const cells = mosaic(weights);
    const stored = weights.filter(({ name }) => cells[name].length);
    const shape = ({ name, part: kind }) =>
      svg(
        "path",
        { class: kind, d: cells[name].map(rectangle).join(""), onclick: () => choose(name) },
        svg("title", {}, name),
      );
    shapes = Object.fromEntries(stored.map((weight) => [weight.name, shape(weight)]));
    drawing.replaceChildren(...Object.values(shapes));
    drawing.style.setProperty("--line", Math.min(1, 32 / layers)); // lines between many columns would hide them
    const of = (kind) => stored.filter((weight) => weight.part === kind);
    const share = (kind) => part(parametersOf(of(kind)) / parametersOf(stored));
    const kinds = PARTS.filter((kind) => of(kind).length);
    names.replaceChildren(legend(named(kinds, (kind) => `${kind} ${share(kind)}`)));
  }

  function draw({ model, specimen, chosen }) {
    once("model", specimen, () => build(model));
    for (const [name, shape] of Object.entries(shapes)) shape.classList.toggle("chosen", name === chosen);
    const whole = shapes[chosen]; // the last, so that its outline is whole
    if (whole && drawing.lastChild !== whole) drawing.append(whole);
  }
  return { element: div("areas", drawing, names), draw };
}

// ---------------------------------------------------------------- the table, in which a weight is chosen

// One radio button for each weight; what else shows the weight is a label of its button.
function choices(choose) {
  const { element, draw: drawRows } = table({
    caption: "All layers together; choose a weight with the arrow keys",
    head: ["weight", "shape", "layers", "parameters", "FLOP a token"],
  });
  const group = uniqueId();
  const id = (name) => `${group}-${name.replaceAll(" ", "-")}`;
  const once = memo();

  function row({ name, part: kind, shapes, copies, parameters, flops }) {
    const label = `${name}, ${times(shapes[0])}`;
    const named = { id: id(name), name: group, value: name, "aria-label": label };
    const input = html("input", { type: "radio", ...named, onchange: () => choose(name) });
    return [
      [input, span(kind, name)],
      ...[times(shapes[0]), copies ? `${copies}` : "tied", compact(parameters)],
      flops ? compact(flops, ["", "k", "M", "G", "T"]) : "–",
    ];
  }
  element.addEventListener("click", ({ target }) => {
    const name = target.closest("tbody tr")?.querySelector("input").value;
    if (name) choose(name);
  });

  function draw({ model, specimen, chosen }) {
    const rows = once("rows", specimen, () => model.weights.map(row));
    const at = model.weights.findIndex(({ name }) => name === chosen);
    drawRows(rows, { chosen: at });
    rows.forEach(([[input]], i) => {
      input.checked = i === at;
    });
  }
  return { element, draw, id };
}

// ---------------------------------------------------------------- one block, its matrices in proportion

function blocks(id) {
  const element = div("blocks");
  const once = memo();
  let labels = [];

  function matrix({ name, part: kind, shapes: [shape] }, unit) {
    const given = { for: id(name), class: `matrix ${kind}`, title: `${name}, ${times(shape)}` };
    const label = html("label", given, name.replace(/^(encoder|cross) /, ""));
    Object.assign(label.style, { width: `${shape[1] * unit}px`, height: `${shape[0] * unit}px` });
    labels.push([name, label]);
    return label;
  }

  function block(stack, { weights, layers }, side) {
    const members = weights.filter((weight) => weight.stack === stack && weight.shapes[0].length === 2);
    const unit = side / members[0].shapes[0][0];
    const groups = [...new Set(members.map((weight) => weight.part))].map((kind) => {
      const own = members.filter((weight) => weight.part === kind);
      return div("group", span(kind, kind), div("", ...own.map((w) => matrix(w, unit))));
    });
    return div("", heading(`${STACKS[stack]} ${layers}; sides to scale`), ...groups);
  }

  function build(model, side) {
    labels = [];
    const stacks = [...new Set(model.weights.map(({ stack }) => stack))].filter((stack) => stack in STACKS);
    element.replaceChildren(...stacks.map((stack) => block(stack, model, side)));
  }

  function draw({ model, specimen, chosen, side }) {
    once("blocks", [specimen, side], () => build(model, side));
    for (const [name, label] of labels) label.classList.toggle("chosen", name === chosen);
  }
  return { element, draw };
}

// ---------------------------------------------------------------- the widget

export default widget("anatomy", ({ el, controls, get, write: put, measured }) => {
  const models = get("models");
  const choose = (chosen) => put({ chosen });
  const numbers = choices(choose);
  const parts = [totals(), areas(choose), blocks(numbers.id), numbers];
  const [sums, mosaics, block] = parts.map(({ element }) => element);
  const result = resultLine();
  const rows = ["specimen", "tokens", "bytes_per_number", "texts"].map((name) => controls[name]);

  function meet(specimen) {
    const { weights, context_length: longest } = models[specimen];
    const known = weights.some(({ name }) => name === get("chosen"));
    const tokens = Math.min(get("tokens"), longest);
    put({ specimen, tokens, ...(known ? {} : { chosen: "query" }) });
  }

  return {
    layout: [
      div("controls", ...rows),
      sums,
      heading("All parameters: areas in proportion, a column for each layer"),
      mosaics,
      result,
      div("views", block, numbers),
    ],
    change: ({ specimen, ...others }) => (specimen ? meet(specimen) : put(others)),
    draw(state) {
      const { specimen, tokens, bytes_per_number: bytes, chosen } = state;
      const model = models[specimen];
      const side = measured(() => (el.clientWidth < 380 ? 46 : 52)); // pixels for the width of the model
      controls.tokens.limit({ high: model.context_length });
      controls.tokens.set(tokens);
      for (const one of parts) one.draw({ ...state, model, bytes, side });
      result.say(describe(model.weights, chosen));
    },
  };
});
