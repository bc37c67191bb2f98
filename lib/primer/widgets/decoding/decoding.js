// Decoding: from the next-token distribution of the book's language model to text, in several ways at once.

import { button, counted, div, format, heading, memory, resultLine, set, widget } from "../kit/kit.js";
import {
  distribution,
  draw as pick,
  effectiveChoices,
  entropy,
  greedy,
  ranked,
} from "../shared/next_token.js";
import { bars, cards, tree } from "./decoding_panels.js";
import { beamText, continueText, readPrompt } from "../shared/generation.js";
import { inTurns, news } from "../shared/in_turns.js";
import { newCache, readModel } from "../shared/language_model.js";
import { turn } from "../shared/lora.js";
import { random } from "../shared/random.js";
import { BYTE_BY_BYTE, textInput } from "../shared/text_input.js";
import { encode, endOf, tokenText } from "../shared/tokenizer.js";
import { finish, workshop } from "../shared/workshop.js";

const SAMPLES = 3; // continuations drawn side by side

// ---------------------------------------------------------------- what is said

/** The last part of a prompt that leaves room for the continuation, and what to say about it. */
function readable(tokenizer, text, room) {
  const tokens = encode(tokenizer, text);
  if (!tokens.length) return { tokens, words: "Type something: the model needs a token to continue." };
  const said = [counted(tokens.length, "token")];
  if (tokens.length > room) said.push(`there is room for the last ${room} and the new ones`);
  if (tokens.some((id) => tokenText(tokenizer, id).startsWith("‹"))) said.push(BYTE_BY_BYTE);
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

export default widget("decoding", ({ model, controls, constants, get, write: put, redraw, measured }) => {
  const base = readModel(get("checkpoint"));
  const { tokenizer, config } = base;
  const end = endOf(tokenizer);
  const [once, anew] = [memory(), news()];
  const shop = workshop(redraw);
  const type = (text) => put({ text });
  const input = textInput({ label: "Prompt", examples: get("examples"), longest: 4000, change: type });
  const next = bars(tokenizer, constants.shown, (id) => type(get("text") + tokenText(tokenizer, id)));
  const [texts, search, result] = [cards(tokenizer, SAMPLES), tree(tokenizer), resultLine()];
  const again = button("Draw again", () => put({ seed: (get("seed") + SAMPLES) % constants.seeds }));
  const { change: choice, temperature, top_k, top_p, n_tokens, n_beams, seed } = controls;
  top_k.limit({ high: config.vocab_size });

  const output = div(
    "",
    texts,
    heading("Beam search: at each step the most probable beginnings survive; numbers are log p of the whole"),
    search,
  );
  const panels = div(
    "",
    heading(
      "The next token: above what the model says, below it, blue, what is drawn from; press one to append it",
    ),
    div("next", next, div("", div("controls", temperature, top_k, top_p), result)),
    heading(
      "Continuations; marked is what completes three tokens that stood there before, underlined every other round of a loop",
    ),
    div("controls", n_tokens, n_beams, seed, again),
    output,
  );
  let reader = null; // the model with the change that is chosen, the cache and the tokens in it
  let reading = null; // the prompt that is, or has been, read, and by which model

  /** The jobs that write: each has a key of all that it depends on. */
  function write(prompt, key, { n_tokens: nTokens, n_beams: nBeams, seed }, settings) {
    const { language, cache } = reader;
    const start = { cache, logits: prompt };
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

  /** The distributions of the next token; what the slider does not change is known from before. */
  const spread = ({ key, logits, settings }) => {
    const [order, whole] = once("whole", key, () => [ranked(logits), distribution(logits)]);
    return {
      order,
      whole,
      drawn: once("drawn", [key, settings], () => distribution(logits, settings, order)),
    };
  };
  const spreadOut = ({ now }) =>
    anew("bars", [now.key, now.settings], () => {
      const { order, whole, drawn } = spread(now);
      next.draw(order, whole, drawn, now.settings.topK);
    });
  const tell = ({ now }) =>
    anew("told", [now.key, now.settings], () => {
      const { whole, drawn } = spread(now);
      result.say(describe(whole, drawn));
    });

  /** What follows the prompt, as far as it is written. */
  function follow({ now: { key, logits, settings, tokens, state } }) {
    const written = write(logits, key, state, settings);
    texts.draw(state.text, written, state);
    search.draw(written.beam, tokens.at(-1));
    return true;
  }
  const picture = inTurns(redraw, spreadOut, tell, follow);

  /** Read the prompt; when that is done, show its distribution and what follows it. */
  function read(tokens, key, state, settings) {
    const prompt = shop.job("prompt", key, () => readPrompt(reader.language, tokens, reader));
    if (!prompt.done) return false;
    const { n_tokens, n_beams, seed } = state;
    const on = [key, settings, n_tokens, n_beams, seed];
    const now = once("now", on, () => ({ key, logits: prompt.result, settings, tokens, state }));
    return picture.draw({ now }, anew("read", key));
  }

  return {
    layout: [choice, input, panels],
    draw(state) {
      const { text, change, changes, temperature, top_k: topK, top_p: topP } = state;
      const room = config.context_length - state.n_tokens;
      let [tokens, words] = [[], ""];
      try {
        const data = changes[change] ?? model.need(["changes", change]);
        reader = once("reader", data, () => {
          return { language: finish(turn(base, data)), cache: newCache(base), seen: [] };
        });
        ({ tokens, words } = once("prompt", [room, text], () => readable(tokenizer, text, room)));
      } catch (error) {
        words = error.message;
      }
      input.draw(text, words);
      panels.hidden = !tokens.length;
      texts.reserve(state.n_tokens, measured(texts.widths));
      search.reserve(state.n_beams);
      const key = `${change} ${tokens}`;
      if (reading !== key) shop.clear(); // what is written follows another prompt, from the same cache
      reading = key;
      const left = tokens.length && read(tokens, key, state, { temperature, topK, topP });
      set(output, { "aria-busy": String(Boolean(left) || shop.busy()) });
    },
    stop() {
      picture.stop();
      shop.stop();
    },
  };
});
