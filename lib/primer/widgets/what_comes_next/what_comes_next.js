// What comes next: a line in its pieces, the bars of the piece to come, and a model that writes on.

import { button, counted, div, format, heading, html, memory, percent, resultLine } from "../kit/kit.js";
import { set, span, widen, widget, write } from "../kit/kit.js";
import { play } from "../shared/play.js";
import { distribution, effectiveChoices, leading, draw as pick } from "../shared/next_token.js";
import { readPrompt } from "../shared/generation.js";
import { newCache, readModel } from "../shared/language_model.js";
import { turn } from "../shared/lora.js";
import { firstOf } from "../shared/random.js";
import { BYTE_BY_BYTE, textInput } from "../shared/text_input.js";
import { encode, endOf, nameOf, tokenText } from "../shared/tokenizer.js";
import { finish, workshop } from "../shared/workshop.js";

const LONGEST = 10_000; // letters of a line
const PACE = 0.11; // seconds that a piece can be read before the next one is written
const LEAST = 0.25; // the longest bar is as wide as this probability, or a larger one
const EMPTY = "Type a letter or more: the model needs something to continue.";
const ENDED = "Here it ended its text. ";
const FULL = "No more pieces have room. ";
const UNREAD = "A piece, when the line has been read"; // the name of a bar that shows none yet

// ---------------------------------------------------------------- what is computed

/** The tokens of a line for which there is room, and what to say about it. */
export function beginning(tokenizer, text, room) {
  const all = encode(tokenizer, text);
  const said = [counted(all.length, "piece")];
  if (all.length > room) said.push(`the last ${room} are read`);
  if (all.some((id) => tokenText(tokenizer, id).startsWith("‹"))) said.push(BYTE_BY_BYTE);
  return { tokens: all.slice(-room), words: all.length ? `${said.join("; ")}.` : EMPTY };
}

/** Watches a model read: `mean()` is what the last of so many tokens attends to, over all heads of all layers. */
export function gaze(heads, length) {
  const total = new Float64Array(length);
  let rows = 0;
  const observe = (name, numbers) => {
    if (!name.endsWith("weights")) return;
    const last = numbers.subarray(-heads * length); // the last token's, a row for each head
    for (let at = 0; at < last.length; at++) total[at % length] += last[at];
    rows += heads;
  };
  return { observe, mean: () => total.map((x) => x / rows) };
}

/** Read tokens: { logits, attention }. */
export function* reading(model, tokens, reader) {
  const { observe, mean } = gaze(model.config.n_heads, tokens.length);
  const logits = yield* readPrompt(model, tokens, reader, observe);
  return { logits, attention: mean() };
}

/** The piece that is drawn behind so many others: each has its own number of the seed's. */
export const drawn = (logits, temperature, seed, behind) =>
  pick(distribution(logits, { temperature }), firstOf(seed, behind + 1)[behind]);

/** What the result line says. */
export function describe(tokenizer, p, before) {
  const [best] = leading(p, 1);
  const name = best === endOf(tokenizer) ? "the end of the text" : `“${nameOf(tokenizer, best)}”`;
  const earlier = before ? ` (before it was aligned ${percent(before[best])})` : "";
  const spread = format(effectiveChoices(p), 1);
  const sure =
    spread === "1.0" ? "as good as certain" : `as uncertain as if ${spread} pieces were equally likely`;
  return `Most probable: ${name}, ${percent(p[best])}${earlier}; ${sure}.`;
}

// ---------------------------------------------------------------- what the reader sees

/** The way to a section, where the page is one of the book. */
function way(words, place) {
  const root = document.documentElement.dataset.content_root;
  if (root === undefined) return span("step", words);
  const chapter = span("chapter", `ch. ${Number.parseInt(place, 10)}`);
  return html("a", { class: "step", href: `${root}chapters/${place}` }, words, " ", chapter);
}

/** The text in its pieces: as dark as the last one attends to them, underlined what was written. */
function page(tokenizer) {
  const text = html("p");
  const shown = []; // { id, look, name } of each piece
  const element = html("div", { class: "page", tabindex: 0, role: "group", "aria-label": "The text" }, text);

  function draw(tokens, typed, attention) {
    while (shown.length > tokens.length) {
      shown.pop();
      text.lastChild.remove();
    }
    const most = Math.max(...attention);
    tokens.forEach((id, i) => {
      const look = ((attention[i] ?? 0) / most).toFixed(2); // nobody looks from the end of a text
      if (!shown[i]) {
        text.append(span(""));
        shown[i] = { id: -1, look: "", name: "" };
      }
      const [one, piece] = [shown[i], text.childNodes[i]];
      const ends = id === endOf(tokenizer);
      const words = ends ? nameOf(tokenizer, id) : tokenText(tokenizer, id).replace(/\n/g, "⏎\n");
      if (one.id !== id) write(piece, words);
      const name = i < typed ? "piece" : ends ? "piece written end" : "piece written";
      if (one.name !== name) set(piece, { class: name });
      if (one.look !== look) piece.style.setProperty("--look", look);
      shown[i] = { id, look, name };
    });
  }
  return { element, draw };
}

/** The most probable pieces; an outline shows what another model said of them. */
function bars(tokenizer, count, choose) {
  const rows = Array.from({ length: count }, () => {
    const [label, value, now, before] = [span("token"), span("value"), html("i"), html("i")];
    set(now, { class: "now" });
    set(before, { class: "before" });
    const press = { type: "button", disabled: true, "aria-label": UNREAD, onclick: () => choose(row.id) };
    const element = html("button", press, label, " ", span("track", now, before), " ", value);
    const row = { id: 0, label, value, now, before, element };
    return row;
  });

  function draw(p, before, open) {
    const order = leading(p, count);
    const longest = Math.max(LEAST, p[order[0]], ...order.map((id) => before?.[id] ?? 0));
    rows.forEach((row, rank) => {
      const id = order[rank];
      row.id = id;
      const name = nameOf(tokenizer, id);
      row.label.classList.toggle("end", id === endOf(tokenizer));
      write(row.label, name);
      write(row.value, percent(p[id]));
      widen(row.now, p[id] / longest);
      widen(row.before, before ? before[id] / longest : 0);
      const earlier = before ? `, before it was aligned ${percent(before[id])}` : "";
      const label = `${name}, ${percent(p[id])}${earlier}; put it behind the line`;
      set(row.element, { "aria-label": label, disabled: !open });
    });
  }
  function empty() {
    for (const { label, value, now, before, element } of rows) {
      for (const words of [label, value]) write(words, "");
      for (const bar of [now, before]) widen(bar, 0);
      set(element, { "aria-label": UNREAD, disabled: true });
    }
  }
  return { element: div("bars", ...rows), draw, empty };
}

export default widget("what-comes-next", ({ model, el, controls, constants, get, write: put, redraw }) => {
  const { most, shown, steps, wish } = constants;
  const base = readModel(get("checkpoint"));
  const { tokenizer, config } = base;
  const end = endOf(tokenizer);
  const once = memory();
  const shop = workshop(redraw);
  const readers = {}; // of each model: { language, cache, seen }
  let ready = null; // the logits behind the present text
  let failed = false; // what the reader typed, or the model that was chosen, cannot be read

  const stopped = () => get("written").at(-1) === end || get("written").length >= most;
  const anew = () => put({ written: [], seed: get("seed") + 1 });
  const add = (token) => {
    ready = null;
    put({ written: [...get("written"), token] });
  };
  let waited = 0;
  const writing = play({
    label: "Let it write",
    start() {
      waited = PACE; // the first piece at once
      if (stopped()) anew();
    },
    frame(seconds) {
      waited += seconds;
      if (failed) return false;
      if (!ready || waited < PACE) return true;
      waited = 0;
      add(drawn(ready, get("temperature"), get("seed"), get("written").length));
      return !stopped();
    },
    end: redraw, // the result line is said aloud
  });
  const halt = () => writing.playing() && writing.stop();
  const input = textInput({
    label: "Your line",
    examples: get("examples"),
    longest: LONGEST,
    change(text) {
      halt();
      put({ text, written: [] });
    },
  });
  const again = button("Begin again", () => {
    halt();
    anew();
  });
  const [text, next, result] = [page(tokenizer), bars(tokenizer, shown, add), resultLine()];
  const ways = steps.map(([words, place]) => html("li", {}, way(words, place)));
  const order = html("ol", { "aria-label": "What happens to the line, step by step" }, ...ways);
  const { change: choice, temperature } = controls;
  const over = heading("What comes next");
  const output = div(
    "views",
    div("", heading("The text in its pieces; colored where the last one looks"), text, temperature),
    div("", over, next),
  );

  function readerOf(name) {
    const data = get("changes")[name] ?? model.need(["changes", name]);
    readers[name] ??= { language: finish(turn(base, data)), cache: newCache(base), seen: [] };
    return readers[name];
  }

  /** What a model reads of the tokens, when it is done. */
  function read(name, tokens) {
    const reader = readerOf(name);
    const job = shop.job(name, `${tokens}`, () => reading(reader.language, tokens, reader));
    return job.done ? job.result : null;
  }

  function show(state, line, own, earlier) {
    const { temperature: t, written } = state;
    const [p, before] = [own, earlier].map((one) => one && distribution(one.logits, { temperature: t }));
    text.draw([...line.tokens, ...written], line.tokens.length, own.attention);
    next.draw(p, before, !stopped());
    write(
      over,
      `What comes next; ${before ? "the line: before it was aligned" : "press a piece to choose it"}`,
    );
    const why = written.at(-1) === end ? ENDED : stopped() ? FULL : "";
    result.say(`${why}${describe(tokenizer, p, before)}`, writing.playing());
  }

  if ("pressed" in el.dataset)
    queueMicrotask(() => {
      writing.button.click(); // the picture that stood here was pressed; what is written may stand below the screen
      output.scrollIntoView({ block: "nearest" });
    });
  return {
    layout: [
      input,
      div("controls", div("", writing.button, again), choice),
      div("ways", order, div("", "changed by ", way("alignment", wish))),
      output,
      result,
    ],
    change(changes) {
      const swapped = "change" in changes && changes.change !== get("change") && get("written").length;
      ready = null;
      put(swapped ? { ...changes, written: [] } : changes);
      if (swapped && !writing.playing()) writing.button.click();
    },
    draw(state) {
      const { text: typed, written, change } = state;
      let line = { tokens: [], words: "" };
      let trouble = "";
      ready = null;
      try {
        line = once("line", typed, () => beginning(tokenizer, typed, config.context_length - most));
      } catch (error) {
        trouble = error.message;
      }
      const tokens = [...line.tokens, ...written].filter((token) => token !== end); // an end has nothing behind it
      failed = !tokens.length;
      let [own, earlier] = [null, null];
      if (tokens.length) {
        try {
          own = read(change, tokens);
          earlier = change === "plays" ? null : read("plays", tokens);
        } catch (error) {
          [trouble, failed] = [error.message, !error.waiting];
        }
      }
      input.draw(typed, trouble || line.words);
      if (own && (earlier || change === "plays")) {
        ready = own.logits;
        show(state, line, own, earlier);
      } else if (failed) {
        text.draw([], 0, []);
        next.empty();
        result.say("");
      }
      set(output, { "aria-busy": String(shop.busy()) });
    },
    stop() {
      halt();
      shop.stop();
    },
  };
});
