// Attention maps: what every head of the book's language model looks at in a text of the reader's.
//
// First what is computed, then the parts of the drawing, then what joins them.

import { arcs, heatMap, thumbnails } from "./attention_panels.js";
import {
  attentionMap,
  attentionReader,
  behaviors,
  evenness,
  headTargets,
  nameOf,
} from "./attention_scores.js";
import { checkbox, clamp, format, html, mount, resultLine, select, update } from "./kit.js";
import { readModel } from "./language_model.js";
import { memory } from "./memory.js";
import { writeWeight } from "./powers.js";
import { encode, tokenText, visible } from "./tokenizer.js";

const TRAINED = { causal: true, scaled: true, normalized: true };

// ---------------------------------------------------------------- what is computed

/** Returns `look(text, settings)`: the tokens of a text, the maps of all heads, what the heads do. */
function onlooker(language, limit) {
  const {
    config: { d_head },
    tokenizer,
  } = language;
  const read = attentionReader(language);
  const once = memory();

  function look(text, settings) {
    const { all, tokens } = once("tokens", text, () => {
      const ids = encode(tokenizer, text);
      return { all: ids.length, tokens: ids.slice(0, limit) };
    });
    const names = once("names", text, () => tokens.map((token) => visible(tokenText(tokenizer, token))));
    const products = once("products", text, () => read(tokens));
    const mapsWith = (options) =>
      once(JSON.stringify(options), text, () =>
        products.map((layer) => layer.map((head) => attentionMap(head, tokens.length, d_head, options))),
      );
    const measured = once("measured", text, () => {
      const targets = headTargets(tokens);
      return mapsWith(TRAINED).map((layer) => layer.map((weights) => behaviors(weights, targets)));
    });
    const even = once("even", text, () =>
      mapsWith(TRAINED).map((layer) => layer.map((weights) => evenness(weights, tokens.length))),
    );
    const labels = once("labels", text, () =>
      measured.map((layer, l) => layer.map((one, h) => nameOf(one, even[l][h]))),
    );
    const [maps, weights] = [mapsWith(settings), mapsWith({ ...settings, normalized: true })];
    return { all, names, maps, weights, measured, even, labels };
  }
  return look;
}

/** The ends of a map's colors: weights go from 0 to 1, scores as far as they go. */
function rangeOf(map, { normalized }) {
  if (normalized) return [0, 1];
  const shown = map.filter((value) => !Number.isNaN(value));
  const [low, high] = [Math.min(...shown), Math.max(...shown)];
  return [low, high > low ? high : low + 1];
}

const CHANGES = {
  causal: "nothing is masked, so that later tokens are keys too",
  scaled: "the scores are not divided by √d",
  normalized: "the map shows the scores before the softmax, the arcs the weights after it",
};

/** What differs from the model as it was trained. */
function describe(settings) {
  const changes = Object.keys(CHANGES)
    .filter((name) => !settings[name])
    .map((name) => CHANGES[name]);
  if (!changes.length) return "As the model computes it.";
  return `Here ${changes.join("; ")}. The queries and keys are those of the model as it was trained.`;
}

/** What the read-out says of a pair. */
export function readOut(query, key, value, { normalized }) {
  const number = normalized ? `weight ${writeWeight(value)}` : `score ${format(value)}`;
  const words = Number.isNaN(value) ? "masked, the key comes later" : number;
  return `query “${query}” → key “${key}”: ${words}`;
}

// ---------------------------------------------------------------- parts of the drawing

function controls(model, limit) {
  const area = html("textarea", { rows: 2, maxlength: 400, spellcheck: "false", "aria-label": "Text" });
  area.addEventListener("input", () => update(model, { text: area.value }));
  const texts = model.get("examples");
  const examples = select({
    label: "Text",
    options: [...texts.map((text) => [text, text.replace(/\s+/g, " ")]), ["", "your own"]],
    change: (text) => (text ? update(model, { text }) : area.focus()),
  });
  const option = (name, label) => checkbox({ label, change: (value) => update(model, { [name]: value }) });
  const options = {
    causal: option("causal", "Causal mask"),
    scaled: option("scaled", "Divide by √d"),
    normalized: option("normalized", "Softmax"),
  };
  const count = html("p", { class: "note" });
  const rows = Object.values(options).map((one) => one.row);

  /** How many tokens the text has, and what of it is read otherwise than it was typed. */
  function describeText(all, names) {
    const said = [`${all} ${all === 1 ? "token" : "tokens"}`];
    if (!all) said.push("type something to see its maps");
    if (all > limit) said.push(`the first ${limit} are read`);
    if (names.some((name) => name.startsWith("‹")))
      said.push("a character that the model has no token for is read byte by byte");
    return `${said.join("; ")}.`;
  }

  function draw(text, settings, all, names) {
    if (area.value !== text) area.value = text;
    examples.set(texts.includes(text) ? text : "");
    for (const [name, value] of Object.entries(settings)) options[name].set(value);
    count.textContent = describeText(all, names);
  }
  return {
    element: html(
      "div",
      { class: "controls" },
      examples.row,
      area,
      count,
      html("div", { class: "options" }, ...rows),
    ),
    draw,
  };
}

/** The four measures of the chosen head as bars. */
function measures() {
  const title = html("p", { class: "title" });
  const [list, spread] = [html("dl"), html("p", { class: "note" })];
  const bar = (kind, { score, queries }, chosen) =>
    html(
      "div",
      { class: chosen && "chosen" },
      html("dt", {}, kind),
      html(
        "dd",
        {},
        html("span", { class: "bar", style: `width: ${50 * score}%` }),
        format(score, 2),
        html("span", { class: "note" }, `at ${queries} ${queries === 1 ? "query" : "queries"}`),
      ),
    );
  function draw(layer, head, measured, even, { name }) {
    title.textContent = `Layer ${layer}, head ${head}: ${name}`;
    spread.textContent = even ? `Entropy of its weights: ${format(even, 2)} of what equal weights have.` : "";
    list.replaceChildren(...Object.entries(measured).map(([kind, one]) => bar(kind, one, kind === name)));
  }
  return { element: html("div", { class: "measures" }, title, list, spread), draw };
}

function colorLegend() {
  const [low, high] = [html("span"), html("span")];
  function draw(range, { normalized }) {
    [low.textContent, high.textContent] = range.map((end) => format(end, normalized ? 0 : 1));
  }
  return { element: html("p", { class: "legend" }, low, html("i"), high), draw };
}

// ---------------------------------------------------------------- the widget

function render({ model, el }) {
  const language = readModel(model.get("checkpoint"));
  const look = onlooker(language, model.get("longest"));
  const once = memory();
  let quiet = false; // who moves a mouse sees what the read-out says
  const pick = (query, key, how) => {
    quiet = how === "hover";
    if (query !== model.get("query") || key !== model.get("key")) update(model, { query, key });
  };

  const choice = controls(model, model.get("longest"));
  const heads = thumbnails(language.config, (chosen) => update(model, chosen));
  const [map, bows, bars, colors] = [heatMap(pick), arcs(pick), measures(), colorLegend()];
  const [result, note] = [resultLine(), html("p", { class: "note" })];
  const large = html("div", {}, result.row, map.element, colors.element);
  const stage = html("div", { class: "stage" }, heads.element, large);
  const shown = html("div", {}, stage, bars.element, bows.element, note);
  el.classList.add("attention-maps");
  el.append(choice.element, shown);

  function drawHead({ names, weights, measured, even, labels }, own, layer, head, settings, sizes) {
    map.draw(own, names, rangeOf(own, settings), sizes[0]);
    bows.draw(weights[layer][head], names, sizes[1]);
    bars.draw(layer, head, measured[layer][head], even[layer][head], labels[layer][head]);
    colors.draw(rangeOf(own, settings), settings);
    note.textContent = describe(settings);
  }

  function draw() {
    const [text, layer, head] = ["text", "layer", "head"].map((name) => model.get(name));
    const settings = Object.fromEntries(Object.keys(TRAINED).map((name) => [name, model.get(name)]));
    const seen = look(text, settings);
    const { all, names, maps, labels } = seen;
    choice.draw(text, settings, all, names);
    shown.hidden = all === 0;
    if (!all) return;
    const sizes = [large.clientWidth, shown.clientWidth];
    const [query, key] = ["query", "key"].map((name) => clamp(model.get(name), 0, names.length - 1));
    const content = text + JSON.stringify(settings);
    const view = [content, layer, head, ...sizes].join();
    const own = maps[layer][head];
    once("heads", content, () =>
      heads.draw(maps, labels, names.length, (values) => rangeOf(values, settings), settings.normalized),
    );
    once("head", view, () => drawHead(seen, own, layer, head, settings, sizes));
    once("pair", [view, query, key].join(), () =>
      [map, bows].forEach((part) => part.point(names, query, key)),
    );
    heads.choose(layer, head);
    result.say(readOut(names[query], names[key], own[query * names.length + key], settings), quiet);
  }

  return mount({
    model,
    el,
    traits: ["text", "layer", "head", "query", "key", ...Object.keys(TRAINED)],
    draw,
  });
}

export default { render };
