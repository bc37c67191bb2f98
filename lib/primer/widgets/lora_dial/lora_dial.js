// The LoRA dial: a change of low rank, turned up and down beside the book's model.
//
// The functions above `reading` are the mathematics; the tests compare them with primer.fine_tuning.

import { button, columns, div, format, heading, html, key, mean, memory, panel } from "../kit/kit.js";
import { paragraph, paths, resultLine, set, span, widget, write } from "../kit/kit.js";
import { table } from "../shared/table.js";
import { details } from "../shared/folded.js";
import { distribution, draw as pick, logSoftmax } from "../shared/next_token.js";
import { continueText, readPrompt } from "../shared/generation.js";
import { forwardSteps, logitsAt, newCache, readModel } from "../shared/language_model.js";
import { rankOf, turn } from "../shared/lora.js";
import { random } from "../shared/random.js";
import { textInput } from "../shared/text_input.js";
import { encode, endOf, nameOf, tokenText } from "../shared/tokenizer.js";
import { workshop } from "../shared/workshop.js";

const CHUNK = 4; // tokens read at once
const STRENGTHS = [-0.5, -0.25, 0.25, 0.5, 0.75, 1, 1.25, 1.5]; // of a whole curve, but for 0, which is known
const DARKEST = 10; // nats
const SHADE = 48; // percent of the color at most: letters on half of it are hard to read in the dark theme
const TEMPERATURE = 0.7; // of the text that is written

/** The nats of each token but the first; yields after each layer that a few tokens have passed. */
export function* surprises(model, tokens) {
  const cache = newCache(model);
  const size = model.config.vocab_size;
  const found = [];
  for (let from = 0; from < tokens.length - 1; from += CHUNK) {
    const part = tokens.slice(from, Math.min(from + CHUNK, tokens.length - 1));
    const logits = logitsAt(model, yield* forwardSteps(model, part, cache), [...part.keys()]);
    part.forEach((_, i) => {
      found.push(-logSoftmax(logits.subarray(i * size, (i + 1) * size))[tokens[from + i + 1]]);
    });
  }
  return found;
}

/** What the result line says. */
export function describe({ strength, rank }, now, base) {
  const off = !rank || strength === 0;
  const where = off ? "Without the change" : `Strength ${format(strength, 2)}, rank ${rank}`;
  const moved = (i) =>
    off ? "" : ` (${now[i] < base[i] ? "−" : "+"}${format(Math.abs(now[i] - base[i]), 2)})`;
  return `${where}: ${format(now[0], 2)} nats per token on the docstring${moved(0)}, ${format(now[1], 2)} on the speech${moved(1)}.`;
}

// ---------------------------------------------------------------- what the reader sees

// A passage whose tokens are shaded by their surprise.
function reading(title, tokenizer, tokens) {
  const spans = tokens.map((id) => span("", tokenText(tokenizer, id)));
  const element = div("reading", html("b", {}, title), paragraph("", ...spans));
  const draw = (nats) => {
    nats.forEach((value, i) => {
      spans[i + 1].style.setProperty("--surprise", `${(SHADE * Math.min(1, value / DARKEST)).toFixed(0)}%`);
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
    layers: paths("dial", "docstring", "speech"),
    over: { "docstring-dot": { tag: "circle", many: true }, "speech-dot": { tag: "circle", many: true } },
    draw(layers, plot, { points, strength, highest }) {
      const { x, y, line, spot } = plot;
      layers.dial(`M${x(strength)} ${y(0)}V${y(highest)}`);
      for (const [i, name] of ["docstring", "speech"].entries()) {
        layers[name](line(points.map(([a, values]) => [a, values[i]])));
        const radius = (a) => (Math.abs(a - strength) < 1e-9 ? 6 : 3);
        layers[`${name}-dot`](points, ([a, values]) => ({ ...spot(a, values[i]), r: radius(a) }));
      }
    },
  });

// A prompt read into a cache of its own: what continueText begins with.
function* readWhole(model, tokens) {
  const reader = { cache: newCache(model), seen: [] };
  const logits = yield* readPrompt(model, tokens, reader);
  return { cache: reader.cache, logits };
}

const OFF = "off"; // the place where nothing changes, whatever the change

export default widget("lora-dial", ({ model, controls, constants, write: put, redraw }) => {
  const language = readModel(model.get("checkpoint"));
  const { tokenizer, config } = language;
  const end = endOf(tokenizer);
  const passages = constants.passages.map((text) => encode(tokenizer, text));
  const shop = workshop(redraw);
  const once = memory();
  const visited = new Map(); // key of a place → { change, rank, strength, losses }
  const off = { key: OFF, strength: 0 };
  const views = ["A docstring", "A speech"].map((title, i) => reading(title, tokenizer, passages[i]));
  const input = textInput({
    label: "Continue",
    examples: model.get("examples"),
    longest: constants.longest,
    change: (text) => put({ text }),
  });
  const [beginning, more] = [span("beginning"), span("")];
  const written = paragraph("written", beginning, more);
  const [plot, result] = [losses(), resultLine()];
  const head = ["strength", "docstring", "speech"];
  const list = details("The measured points in a table", table({ head }));
  let open = []; // strengths of a curve still to be measured
  const curve = button("Measure the whole curve", () => {
    open = [...STRENGTHS];
    redraw();
  });
  const output = div("", columns("readings", ...views));

  /** Where the dial stands: a change, how many of its directions, its strength; and the bytes to get there. */
  function placeOf({ change, changes, rank: asked, strength }) {
    const data = changes[change] ?? model.need(["changes", change]);
    const most = once("rank", data, () => rankOf(data));
    controls.rank.limit({ high: most });
    const rank = Math.min(asked, most);
    return rank ? { key: `${change} ${rank} ${strength}`, change, rank, strength, data } : off;
  }

  const turned = ({ data, strength, rank }) => turn(language, data, strength, rank);

  /** What the model of a place makes of both passages: null until it is done. */
  function measure(name, place) {
    const same = { done: true, result: language };
    const now = place === off ? same : shop.job(`${name} model`, place.key, () => turned(place));
    if (!now.done) return null;
    const nats = passages.map((tokens, i) =>
      shop.job(`${name} ${i}`, place.key, () => surprises(now.result, tokens)),
    );
    if (!nats.every(({ done }) => done)) return null;
    const found = nats.map(({ result: values }) => values);
    visited.set(place.key, { ...place, losses: found.map(mean) });
    return { model: now.result, nats: found };
  }

  function continued(now, text, key) {
    const tokens = encode(tokenizer, text).slice(-(config.context_length - constants.new_tokens));
    if (!tokens.length) return "";
    const start = shop.job("prompt", `${key} ${text}`, () => readWhole(now, tokens));
    if (!start.done) return null;
    const job = shop.job("text", `${key} ${text}`, () => {
      const uniform = random(1); // the same draws for every place of the dial
      const choose = (logits) => pick(distribution(logits, { temperature: TEMPERATURE }), uniform());
      return continueText(now, start.result, constants.new_tokens, choose, end);
    });
    return (job.value?.tokens ?? [])
      .map((id) => (id === end ? ` (${nameOf(tokenizer, id)})` : tokenText(tokenizer, id)))
      .join("");
  }

  function follow(place, { text }) {
    if (!visited.has(OFF)) measure("base", off);
    const now = measure("dial", place);
    if (!now) return result.say("The model reads both passages …", true);
    views.forEach(({ draw }, i) => draw(now.nats[i]));
    const words = continued(now.model, text, place.key);
    write(more, words === null ? " …" : words);
    if (visited.has(OFF)) {
      const [here, base] = [place.key, OFF].map((key) => visited.get(key).losses);
      result.say(describe(place, here, base));
    }
    const there = () => ({ ...place, strength: open[0], key: `${place.change} ${place.rank} ${open[0]}` });
    if (place === off) open = []; // a change of rank 0 has no curve
    while (open.length && (visited.has(there().key) || measure("curve", there()))) open.shift();
  }

  function show(place) {
    const points = [...visited.values()]
      .filter(({ key, change, rank }) => key === OFF || (change === place.change && rank === place.rank))
      .map(({ strength, losses: values }) => [strength, values])
      .sort(([a], [b]) => a - b);
    const highest = 1.05 * Math.max(9, ...points.flatMap(([, values]) => values));
    plot.draw({ points, strength: place.strength, highest });
    list.draw(points.map(([a, values]) => [format(a, 2), ...values.map((v) => format(v, 2))]));
  }

  return {
    layout: [
      controls.change,
      div("controls", controls.strength, controls.rank),
      result,
      output,
      input,
      written,
      heading(key("docstring", "the docstring"), key("speech", "the speech")),
      plot,
      curve,
      list,
    ],
    draw(state) {
      input.draw(
        state.text,
        `Drawn at temperature ${TEMPERATURE}, with the same luck at every place of the dial.`,
      );
      write(beginning, state.text);
      try {
        const place = placeOf(state);
        follow(place, state);
        show(place);
      } catch (error) {
        result.say(error.message);
      }
      set(output, { "aria-busy": String(shop.busy()) });
    },
    stop: shop.stop,
  };
});
