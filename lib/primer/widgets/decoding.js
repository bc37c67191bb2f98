// Decoding: from the next-token distribution of the book's language model to text, in several ways at once.

import { button, format, html, mount, resultLine, select, set, slider, update } from "./kit.js";
import { distribution, draw as pick, effectiveChoices, entropy, greedy } from "./choosing.js";
import { bars, cards, tree } from "./decoding_panels.js";
import { beamText, continueText, readPrompt } from "./generation.js";
import { newCache, readModel } from "./language_model.js";
import { memory } from "./memory.js";
import { random } from "./random.js";
import { encode, tokenText } from "./tokenizer.js";

const SAMPLES = 3; // continuations drawn side by side
const SEEDS = 100;
const BUDGET = 5; // milliseconds of a frame in which the model may run
const END = "<|end|>";

// ---------------------------------------------------------------- work in small pieces

/**
 * Runs generators a few milliseconds in each frame, in turns, and calls `redraw` as they get on.
 * `job(name, key, make)` is the job of that name; it starts anew, with make(), when its key changes.
 * A job is { value, result, done }: what it yielded last, and what it returned in the end.
 */
function workshop(redraw) {
  const jobs = new Map();
  let request = 0;
  const open = () => [...jobs.values()].filter(({ done }) => !done);
  function advance(one) {
    const { value, done } = one.steps.next();
    if (done) Object.assign(one, { done, result: value });
    else one.value = value ?? one.value;
  }
  function run() {
    request = 0;
    const until = performance.now() + BUDGET;
    let waiting = open();
    while (waiting.length && performance.now() < until) {
      for (const one of waiting) if (performance.now() < until) advance(one);
      waiting = open();
    }
    const calm = matchMedia("(prefers-reduced-motion: reduce)").matches; // then texts appear when they are whole
    if (!calm || !waiting.length) redraw();
    schedule();
  }
  function schedule() {
    if (open().length) request ||= requestAnimationFrame(run);
  }
  function job(name, key, make) {
    if (jobs.get(name)?.key !== key)
      jobs.set(name, { key, steps: make(), value: null, result: null, done: false });
    schedule();
    return jobs.get(name);
  }
  return {
    job,
    busy: () => open().length > 0,
    clear: () => jobs.clear(),
    stop: () => cancelAnimationFrame(request),
  };
}

// ---------------------------------------------------------------- controls

function controls(model, vocabulary) {
  const area = html("textarea", { rows: 2, maxlength: 4000, spellcheck: "false", "aria-label": "Prompt" });
  area.addEventListener("input", () => update(model, { text: area.value }));
  const examples = select({
    label: "Prompt",
    options: [...model.get("examples").map((text) => [text, text.replace(/\s+/g, " ")]), ["", "your own"]],
    change: (text) => (text ? update(model, { text }) : area.focus()),
  });
  const note = html("p", { class: "note", role: "status" });
  const all = Math.log2(vocabulary);
  const count = (x) => (x >= all - 1e-9 ? null : Math.round(2 ** x));
  const whole = (label, name, min, max, text = String) =>
    slider({ label, min, max, value: model.get(name), text, change: (v) => update(model, { [name]: v }) });
  const degrees = (x) => Math.min(10 ** x, 5); // the last step of the slider, 10^0.7, is a little more
  const temperature = slider({
    label: "Temperature τ",
    min: -1,
    max: 0.7,
    step: 0.01,
    value: 0,
    text: (x) => format(degrees(x), 2),
    change: (x) => update(model, { temperature: degrees(x) }),
  });
  const topK = slider({
    label: "Top-k",
    min: 0,
    max: all,
    step: all / 100,
    value: all,
    text: (x) => `${count(x) ?? "all"}`,
    change: (x) => update(model, { top_k: count(x) }),
  });
  const topP = slider({
    label: "Top-p",
    min: 0.01,
    max: 1,
    step: 0.01,
    value: 1,
    text: (x) => (x === 1 ? "all" : format(x, 2)),
    change: (x) => update(model, { top_p: x }),
  });
  const sliders = {
    n_tokens: whole("New tokens", "n_tokens", 1, 200),
    n_beams: whole("Beams", "n_beams", 1, 6),
    seed: whole("Seed", "seed", 0, SEEDS - 1),
  };
  const again = button("Draw again", () => update(model, { seed: (model.get("seed") + SAMPLES) % SEEDS }));

  function draw({ text, temperature: t, topK: k, topP: p }, words) {
    if (area.value !== text) area.value = text;
    examples.set(model.get("examples").includes(text) ? text : "");
    temperature.set(Math.log10(t));
    topK.set(k === null ? all : Math.log2(k));
    topP.set(p);
    for (const [name, one] of Object.entries(sliders)) one.set(model.get(name));
    if (note.textContent !== words) note.textContent = words; // said once
  }
  const prompt = html("div", { class: "prompt" }, examples.row, area, note);
  const choosing = html("div", { class: "controls" }, temperature.row, topK.row, topP.row);
  const writing = html(
    "div",
    { class: "controls" },
    sliders.n_tokens.row,
    sliders.n_beams.row,
    sliders.seed.row,
    again,
  );
  return { prompt, choosing, writing, draw };
}

// ---------------------------------------------------------------- what is said

/** The last part of a prompt that leaves room for the continuation, and what to say about it. */
function readable(tokenizer, text, room) {
  let tokens;
  try {
    tokens = encode(tokenizer, text);
  } catch (error) {
    return { tokens: [], words: error.message };
  }
  if (!tokens.length) return { tokens, words: "Type something: the model needs a token to continue." };
  const said = [`${tokens.length} token${tokens.length === 1 ? "" : "s"}`];
  if (tokens.length > room) said.push(`there is room for the last ${room} and the new ones`);
  if (tokens.some((id) => tokenText(tokenizer, id).startsWith("‹")))
    said.push("a character that the model has no token for is read byte by byte");
  return { tokens: tokens.slice(-room), words: `${said.join("; ")}.` };
}

/** What the result line says of the distribution before and after it was reshaped. */
export function describe(model, drawn) {
  const kept = drawn.reduce((n, p) => n + (p > 0 ? 1 : 0), 0);
  const said = (p) =>
    `${format(entropy(p), 2)} nats of entropy, like ${format(effectiveChoices(p), 1)} equally probable tokens`;
  return `The model's distribution has ${said(model)}; the one drawn from has ${said(drawn)}, and keeps ${kept} of ${model.length}.`;
}

// ---------------------------------------------------------------- the widget

function render({ model, el }) {
  const get = (name) => model.get(name);
  const language = readModel(get("checkpoint"));
  const {
    tokenizer,
    config: { vocab_size, context_length },
  } = language;
  const end = tokenizer.tokens.findIndex((_, id) => tokenText(tokenizer, id) === END);
  const reader = { cache: newCache(language), seen: [] };
  const once = memory();
  const shop = workshop(() => draw());
  const input = controls(model, vocab_size);
  const next = bars(tokenizer, (id) => update(model, { text: get("text") + tokenText(tokenizer, id) }), end);
  const texts = cards(tokenizer, SAMPLES);
  const search = tree(tokenizer);
  const result = resultLine();
  const heading = (text) => html("p", { class: "heading" }, text);
  const panels = html("div");
  const output = html(
    "div",
    {},
    texts.element,
    heading(
      "Beam search: at each step the most probable beginnings survive; numbers are log-probabilities of the whole",
    ),
    search.element,
  );
  let reading = null; // the prompt that is, or has been, read
  let shown = null; // the prompt and settings that the bars show

  /** The jobs that write: each has a key of all that it depends on. */
  function write(prompt, key, { nTokens, nBeams, seed, ...settings }) {
    const start = { cache: reader.cache, logits: prompt };
    const sampler = (uniform) => (logits) => pick(distribution(logits, settings), uniform());
    const text = (name, its, choose) =>
      shop.job(name, `${key} ${nTokens} ${its}`, () => continueText(language, start, nTokens, choose(), end));
    const samples = Array.from({ length: SAMPLES }, (_, i) =>
      text(`sample ${i}`, JSON.stringify([seed + i, settings]), () => sampler(random(seed + i))),
    );
    const beam = shop.job("beam", `${key} ${nTokens} ${nBeams}`, () =>
      beamText(language, start, nTokens, nBeams, end),
    );
    return { greedy: text("greedy", "", () => greedy), beam, samples };
  }

  function draw() {
    const [temperature, topK, topP, nTokens, nBeams, seed] = [
      "temperature",
      "top_k",
      "top_p",
      "n_tokens",
      "n_beams",
      "seed",
    ].map(get);
    const settings = { temperature, topK, topP };
    const [text, room] = [get("text"), context_length - nTokens];
    const { tokens, words } = once("prompt", `${room} ${text}`, () => readable(tokenizer, text, room));
    input.draw({ text, ...settings }, words);
    panels.hidden = !tokens.length;
    const key = tokens.join();
    if (reading !== key) shop.clear(); // what is written follows another prompt, from the same cache
    reading = key;
    if (tokens.length) follow(tokens, key, settings, { nTokens, nBeams, seed });
    set(output, { "aria-busy": String(shop.busy()) });
  }

  /** Read the prompt; when that is done, show its distribution and what follows it. */
  function follow(tokens, key, settings, { nTokens, nBeams, seed }) {
    const { topK } = settings;
    const prompt = shop.job("prompt", key, () => readPrompt(language, tokens, reader));
    if (!prompt.done) return;
    const logits = prompt.result;
    const state = JSON.stringify([key, settings]);
    if (shown !== state) {
      const [whole, drawn] = [distribution(logits), distribution(logits, settings)];
      next.draw(logits, whole, drawn, topK);
      result.say(describe(whole, drawn));
      shown = state;
    }
    const written = write(logits, key, { nTokens, nBeams, seed, ...settings });
    texts.draw(get("text"), written, { nBeams, seed });
    search.draw(written.beam, tokens.at(-1));
  }

  panels.append(
    heading(
      "The next token: above what the model says, below it, blue, what is drawn from; press one to append it",
    ),
    html("div", { class: "next" }, next.element, html("div", {}, input.choosing, result.row)),
    heading(
      "Continuations side by side; marked is what completes three tokens that stood there before, underlined every other round of a loop",
    ),
    input.writing,
    output,
  );
  el.classList.add("decoding");
  el.append(input.prompt, panels);
  const unmount = mount({
    model,
    el,
    traits: ["text", "temperature", "top_k", "top_p", "n_tokens", "n_beams", "seed"],
    draw,
  });
  return () => {
    shop.stop();
    unmount();
  };
}

export default { render };
