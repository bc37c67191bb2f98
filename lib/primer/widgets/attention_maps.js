// Attention maps: what every head of the book's language model looks at in a text of the reader's.
//
// First what is computed, then the parts of the drawing, then what joins them.

import { arcs, pairMap, thumbnails } from "./attention_panels.js";
import {
  attentionMap,
  attentionReader,
  behaviors,
  evenness,
  headTargets,
  nameOf,
} from "./attention_scores.js";
import { clamp, div, format, html, memory, resultLine, scientific, widget, write } from "./kit.js";
import { readModel } from "./language_model.js";
import { BYTE_BY_BYTE, textInput } from "./text_input.js";
import { encode, tokenText, visible } from "./tokenizer.js";

const TRAINED = { causal: true, scaled: true, normalized: true };

// ---------------------------------------------------------------- what is computed

/** Returns `look(text, settings)`: the tokens of a text, the maps of all heads, what the heads do. */
function onlooker(language, limit) {
  const { tokenizer, config } = language;
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
        products.map((layer) =>
          layer.map((head) => attentionMap(head, tokens.length, config.d_head, options)),
        ),
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

/** A weight with three decimals, or as a power of ten where these would all be zero. */
export const writeWeight = (w) => (w === 0 ? "0" : w < 0.0005 ? scientific(w, 0) : format(w));

/** What the read-out says of a pair. */
export function readOut(query, key, value, { normalized }) {
  const number = normalized ? `weight ${writeWeight(value)}` : `score ${format(value)}`;
  const words = Number.isNaN(value) ? "masked, the key comes later" : number;
  return `query “${query}” → key “${key}”: ${words}`;
}

/** How many tokens the text has, and what of it is read otherwise than it was typed. */
function describeText(all, names, limit) {
  const said = [`${all} ${all === 1 ? "token" : "tokens"}`];
  if (!all) said.push("type something to see its maps");
  if (all > limit) said.push(`the first ${limit} are read`);
  if (names.some((name) => name.startsWith("‹"))) said.push(BYTE_BY_BYTE);
  return `${said.join("; ")}.`;
}

// ---------------------------------------------------------------- parts of the drawing

/** The four measures of the chosen head as bars. */
function measures() {
  const [title, list, spread] = [html("p", { class: "title" }), html("dl"), html("p", { class: "note" })];
  const note = (text) => html("span", { class: "note" }, text);
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
        note(`at ${queries} ${queries === 1 ? "query" : "queries"}`),
      ),
    );
  function draw(layer, head, measured, even, { name }) {
    write(title, `Layer ${layer}, head ${head}: ${name}`);
    write(spread, even ? `Entropy of its weights: ${format(even, 2)} of what equal weights have.` : "");
    list.replaceChildren(...Object.entries(measured).map(([kind, one]) => bar(kind, one, kind === name)));
  }
  return { element: div("measures", title, list, spread), draw };
}

function colorLegend() {
  const ends = [html("span"), html("span")];
  const draw = (range, { normalized }) =>
    range.forEach((end, i) => write(ends[i], format(end, normalized ? 0 : 1)));
  return { element: html("p", { class: "legend" }, ends[0], html("i"), ends[1]), draw };
}

// ---------------------------------------------------------------- the widget

export default widget("attention-maps", ({ model, controls, write: put }) => {
  const [language, limit] = [readModel(model.get("checkpoint")), model.get("longest")];
  const look = onlooker(language, limit);
  const once = memory();
  let quiet = false; // who moves a mouse sees what the read-out says
  const pick = (query, key, how) => {
    quiet = how === "hover";
    if (query !== model.get("query") || key !== model.get("key")) put({ query, key });
  };
  const examples = model.get("examples");
  const input = textInput({ label: "Text", examples, longest: 400, change: (text) => put({ text }) });
  const heads = thumbnails(language.config, put);
  const [map, bows, bars, colors] = [pairMap(pick), arcs(pick), measures(), colorLegend()];
  const [result, note] = [resultLine(), html("p", { class: "note" })];
  const large = div("", result.row, map.element, colors.element);
  const stage = div("stage", heads.element, large);
  const shown = div("", stage, bars.element, bows.element, note);
  const options = Object.keys(TRAINED).map((name) => controls[name].row);

  function drawHead({ names, weights, measured, even, labels }, own, layer, head, settings, sizes) {
    const range = rangeOf(own, settings);
    map.draw(own, names, range, sizes[0]);
    bows.draw(weights[layer][head], names, sizes[1]);
    bars.draw(layer, head, measured[layer][head], even[layer][head], labels[layer][head]);
    colors.draw(range, settings);
    write(note, describe(settings));
  }

  return {
    layout: [div("controls", ...input.parts, div("options", ...options)), shown],
    draw({ text, layer, head, causal, scaled, normalized, ...state }) {
      const settings = { causal, scaled, normalized };
      const seen = look(text, settings);
      const { all, names, maps, labels } = seen;
      input.draw(text, describeText(all, names, limit));
      shown.hidden = all === 0;
      if (!all) return;
      const sizes = [large.clientWidth, shown.clientWidth];
      const [query, key] = [state.query, state.key].map((at) => clamp(at, 0, names.length - 1));
      const content = text + JSON.stringify(settings);
      const view = [content, layer, head, ...sizes].join();
      const own = maps[layer][head];
      const ends = (values) => rangeOf(values, settings);
      once("heads", content, () => heads.draw(maps, labels, names.length, ends, normalized));
      once("head", view, () => drawHead(seen, own, layer, head, settings, sizes));
      once("pair", [view, query, key].join(), () => {
        for (const part of [map, bows]) part.point(names, query, key);
      });
      heads.choose(layer, head);
      result.say(readOut(names[query], names[key], own[query * names.length + key], settings), quiet);
    },
  };
});
