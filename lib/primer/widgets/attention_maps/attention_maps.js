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
} from "../shared/attention_scores.js";
import { nameOf } from "../shared/attention_scores.js";
import { clamp, div, format, html, memory, paragraph, radio, resultLine, span } from "../kit/kit.js";
import { widen, widget, write, set } from "../kit/kit.js";
import { scientific } from "../shared/scientific.js";
import { readModel } from "../shared/language_model.js";
import { BYTE_BY_BYTE, textInput } from "../shared/text_input.js";
import { encode, tokenText, visible } from "../shared/tokenizer.js";
import { readLetters } from "../shared/two_layers.js";

const TRAINED = { causal: true, scaled: true, normalized: true };
const MODELS = { text: "Plays: 4 layers of 4 heads", letters: "Two layers of attention alone" };

// ---------------------------------------------------------------- what is computed

/** The book's model, as an onlooker reads it. */
function readText(data, longest) {
  const language = readModel(data);
  const { tokenizer, config } = language;
  return {
    config,
    longest,
    encode: (text) => encode(tokenizer, text),
    name: (token) => tokenText(tokenizer, token),
    note: (_, names) => names.some((name) => name.startsWith("‹")) && BYTE_BY_BYTE,
    read: attentionReader(language),
  };
}

/** Where to begin with a text: at the head that looks up most, its last query and the key that it reads most. */
function strongest({ measured, weights, names }) {
  const heads = measured.flatMap((layer, l) => layer.map((one, h) => [l, h, one.induction.score]));
  const [layer, head] = heads.reduce((most, one) => (one[2] > most[2] ? one : most));
  const query = names.length - 1;
  const row = weights[layer][head].slice(query * names.length, (query + 1) * names.length);
  return { layer, head, query, key: row.indexOf(Math.max(...row)) };
}

/** Returns `look(text, settings)`: the tokens of a text, the maps of all heads, what the heads do. */
function onlooker({ config, longest, encode, name, read }) {
  const once = memory();
  const heads = (layers, of) => layers.map((layer, l) => layer.map((one, h) => of(one, l, h)));

  return function look(text, settings) {
    const seen = once("text", text, () => {
      const ids = encode(text);
      const tokens = ids.slice(0, longest);
      const names = tokens.map((token) => visible(name(token)));
      return { all: ids.length, tokens, names, products: read(tokens) };
    });
    const n = seen.tokens.length;
    const mapsWith = (options) =>
      once(JSON.stringify(options), text, () =>
        heads(seen.products, (dots) => attentionMap(dots, n, config.d_head, options)),
      );
    const named = once("named", text, () => {
      const [trained, targets] = [mapsWith(TRAINED), headTargets(seen.tokens)];
      const measured = heads(trained, (weights) => behaviors(weights, targets));
      const even = heads(trained, (weights) => evenness(weights, n));
      return { measured, even, labels: heads(measured, (one, l, h) => nameOf(one, even[l][h])) };
    });
    const [maps, weights] = [mapsWith(settings), mapsWith({ ...settings, normalized: true })];
    return { ...seen, ...named, maps, weights };
  };
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
  const names = Object.keys(CHANGES).filter((name) => !settings[name]);
  const changes = names.map((name) => CHANGES[name]);
  if (!names.length) return "As the model computes it.";
  return `Here ${changes.join("; ")}. The queries and keys are those of the model as it was trained.`;
}

/** A weight with three decimals, or as a power of ten where these would all be zero. */
export const writeWeight = (w) => (w < 0.0005 ? scientific(w, 0) : format(w));

/** What the read-out says of a pair. */
export function readOut(query, key, value, { normalized }) {
  const number = normalized ? `weight ${writeWeight(value)}` : `score ${format(value)}`;
  const words = Number.isNaN(value) ? "masked, the key comes later" : number;
  return `query “${query}” → key “${key}”: ${words}`;
}

/** How many tokens the text has, and what of it is read otherwise than it was typed. */
function describeText({ longest: limit, note }, { all, names }, text) {
  const said = [`${all} ${all === 1 ? "token" : "tokens"}`];
  if (!all) said.push("type something to see its maps");
  if (all > limit) said.push(`the first ${limit} are read`);
  const strange = note(text, names, all);
  if (strange) said.push(strange);
  return `${said.join("; ")}.`;
}

// ---------------------------------------------------------------- parts of the drawing

/** The four measures of the chosen head as bars. */
function measures() {
  const [title, list, spread] = [paragraph("title"), html("dl"), paragraph("note")];
  const row = (kind, { score, queries }, chosen) => {
    const [bar, note] = [span("bar"), span("note", `at ${queries} ${queries === 1 ? "query" : "queries"}`)];
    widen(bar, score / 2);
    return div(chosen && "chosen", html("dt", {}, kind), html("dd", {}, bar, format(score, 2), note));
  };
  function draw(layer, head, measured, even, { name }) {
    write(title, `Layer ${layer}, head ${head}: ${name}`);
    write(spread, even ? `Entropy of its weights: ${format(even, 2)} of what equal weights have.` : "");
    list.replaceChildren(...Object.entries(measured).map(([kind, one]) => row(kind, one, kind === name)));
  }
  return { element: div("measures", title, list, spread), draw };
}

function colorLegend() {
  const ends = [span(""), span("")];
  const draw = (range, { normalized }) =>
    range.forEach((end, i) => write(ends[i], format(end, normalized ? 0 : 1)));
  return { element: paragraph("legend", ends[0], html("i"), ends[1]), draw };
}

// ---------------------------------------------------------------- the widget

export default widget("attention-maps", ({ controls, constants, get, read, write: put, measured }) => {
  const reader = (trait, language, examples, label) => ({
    trait,
    language,
    look: onlooker(language),
    input: textInput({ label, examples, longest: 400, change: (text) => put({ [trait]: text }) }),
    heads: thumbnails(language.config, put),
    place: null, // where the reader left it
  });
  const [data, rows] = [get("second"), constants.rows];
  const readers = [reader("text", readText(get("checkpoint"), get("longest")), get("examples"), "Text")];
  if (data.byteLength) readers.push(reader("letters", readLetters(data), rows, "Letters"));
  const readerOf = (reads) => readers.find(({ trait }) => trait === reads) ?? readers[0];
  const once = memory();
  let quiet = false; // who moves a mouse sees what the read-out says
  const pick = (query, key, how) => {
    quiet = how === "hover";
    if (query !== get("query") || key !== get("key")) put({ query, key });
  };
  const choice = radio({
    label: "Model",
    options: Object.entries(MODELS),
    change(reads) {
      const { layer, head, query, key, reads: left } = read();
      readerOf(left).place = { layer, head, query, key };
      const next = readerOf(reads);
      put({ reads, ...(next.place ?? strongest(next.look(get(reads), TRAINED))) });
    },
  });
  choice.row.hidden = readers.length < 2;
  const [map, bows, bars, colors] = [pairMap(pick), arcs(pick), measures(), colorLegend()];
  const [result, note] = [resultLine(), paragraph("note")];
  const large = div("", result, map, colors);
  const stage = div("stage", div("", ...readers.map(({ heads }) => heads.element)), large);
  const shown = div("", stage, bars, bows, note);
  const options = Object.keys(TRAINED).map((name) => controls[name]);

  function drawHead({ names, weights, measured, even, labels }, own, layer, head, settings, sizes) {
    const range = rangeOf(own, settings);
    map.draw(own, names, range, sizes[0]);
    bows.draw(weights[layer][head], names, sizes[1]);
    bars.draw(layer, head, measured[layer][head], even[layer][head], labels[layer][head]);
    colors.draw(range, settings);
    write(note, describe(settings));
  }

  return {
    layout: [
      div("controls", choice, ...readers.flatMap(({ input }) => input.parts), div("options", ...options)),
      shown,
    ],
    draw({ reads, causal, scaled, normalized, ...state }) {
      const { trait, language, look, input, heads } = readerOf(reads);
      for (const one of readers) {
        for (const part of [...one.input.parts, one.heads.element])
          set(part, { hidden: one.trait !== trait });
      }
      choice.set(trait);
      const text = state[trait];
      const settings = { causal, scaled, normalized };
      const seen = look(text, settings);
      const { all, names, maps, labels } = seen;
      input.draw(text, describeText(language, seen, text));
      set(shown, { hidden: all === 0 });
      if (!all) return;
      const { n_layers, n_heads } = language.config;
      const [layer, head] = [clamp(state.layer, 0, n_layers - 1), clamp(state.head, 0, n_heads - 1)];
      const sizes = measured(() => [large.clientWidth, shown.clientWidth]);
      const [query, key] = [state.query, state.key].map((at) => clamp(at, 0, names.length - 1));
      const content = [trait, text, settings];
      const view = [content, layer, head, ...sizes];
      const own = maps[layer][head];
      const ends = (values) => rangeOf(values, settings);
      once("heads", content, () => heads.draw(maps, labels, names.length, ends, normalized));
      once("head", view, () => drawHead(seen, own, layer, head, settings, sizes));
      once("pair", [view, query, key], () => {
        for (const part of [map, bows]) part.point(names, query, key);
      });
      heads.choose(layer, head);
      result.say(readOut(names[query], names[key], own[query * names.length + key], settings), quiet);
    },
  };
});
