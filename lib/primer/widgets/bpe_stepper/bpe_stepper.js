// Byte-pair encoding, merge by merge.  The functions above `SHOWN` are the algorithm; the tests compare them
// with primer.language_models.

import { button, clamp, columns, counted, div, format, heading, html, memory, panel } from "../kit/kit.js";
import { resultLine, widget, write } from "../kit/kit.js";
import { table } from "../shared/table.js";
import { inTurns } from "../shared/in_turns.js";
import { textInput } from "../shared/text_input.js";
import { readTokenizer, tokenText, visible } from "../shared/tokenizer.js";

const PAIRS = 2 ** 20; // two ids make one key
const keyOf = (a, b) => a * PAIRS + b;
/** @returns {[number, number]} */
const pairOf = (of) => [Math.floor(of / PAIRS), of % PAIRS];

/** A text as the different words in it: { ids, count }, and for each word of the text which of them it is. */
export function different(pattern, text) {
  const words = text.match(new RegExp(pattern, "gu")) ?? [];
  const [kinds, places] = [[], new Map()];
  const order = words.map((word) => {
    if (!places.has(word)) {
      places.set(word, kinds.length);
      kinds.push({ ids: [...new TextEncoder().encode(word)], count: 0 });
    }
    kinds[places.get(word)].count++;
    return places.get(word);
  });
  return { kinds, order };
}

/** How often each pair of neighbors occurs inside words, by its key. */
function countPairs(kinds) {
  const counts = new Map();
  for (const { ids, count } of kinds) {
    for (let i = 0; i + 1 < ids.length; i++) {
      const of = keyOf(ids[i], ids[i + 1]);
      counts.set(of, (counts.get(of) ?? 0) + count);
    }
  }
  return counts;
}

/** A word with a pair replaced by a new id, from left to right; the same word where there is none. */
function mergeIn(kind, [first, second], id) {
  const { ids } = kind;
  if (!ids.some((one, i) => one === first && ids[i + 1] === second)) return kind;
  const merged = [];
  for (let i = 0; i < ids.length; i++) {
    if (ids[i] === first && ids[i + 1] === second) {
      merged.push(id);
      i++;
    } else merged.push(ids[i]);
  }
  return { ...kind, ids: merged };
}

/** Which of two pairs comes first: the more frequent one; of equals the smaller, bytes in GPT-2's order. */
function byCount(counts, byteOrder) {
  const places = new Map(byteOrder.map((byte, place) => [byte, place]));
  const place = (id) => places.get(id) ?? id;
  return (a, b) => {
    if (counts.get(a) !== counts.get(b)) return counts.get(b) - counts.get(a);
    const [[a0, a1], [b0, b1]] = [pairOf(a), pairOf(b)];
    return place(a0) - place(b0) || place(a1) - place(b1);
  };
}

/** The pairs that may be merged next, the next one first: { pair, count, number }, number in the book's list. */
export function candidates(kinds, rule) {
  const counts = countPairs(kinds);
  const { byteOrder, numbers } = rule;
  const usable = numbers ? [...counts.keys()].filter((of) => numbers.has(of)) : [...counts.keys()];
  const first = numbers ? (a, b) => numbers.get(a) - numbers.get(b) : byCount(counts, byteOrder);
  return usable
    .sort(first)
    .map((of) => ({ pair: pairOf(of), count: counts.get(of), number: numbers?.get(of) ?? null }));
}

/** What chooses the next merge: the counts of the text, or a list of merges that were learned before. */
export const ruleOf = (byteOrder, merges) => ({
  byteOrder,
  numbers: merges && new Map(merges.map(([a, b], number) => [keyOf(a, b), number])),
});

/** All steps: [{ kinds, made }], the first with no merge; made is { pair, count, number, id, ties }. */
export function history(kinds, rule, most) {
  const steps = [{ kinds, made: null }];
  while (steps.length <= most) {
    const { kinds: now } = steps.at(-1);
    const [best, ...others] = candidates(now, rule);
    if (!best) break;
    const id = 256 + (best.number ?? steps.length - 1);
    const ties = rule.numbers ? 0 : others.filter(({ count }) => count === best.count).length;
    steps.push({ kinds: now.map((kind) => mergeIn(kind, best.pair, id)), made: { ...best, id, ties } });
  }
  return steps;
}

/** For the tests: the merges made and the token ids of a text after them. */
export function encodeStepwise(pattern, byteOrder, text, merges, step) {
  const { kinds, order } = different(pattern, text);
  const steps = history(kinds, ruleOf(byteOrder, merges), step);
  const made = steps.slice(1).map(({ made: { pair } }) => pair);
  return { made, tokens: order.flatMap((i) => steps.at(-1).kinds[i].ids) };
}

const SHOWN = 6; // pairs in the table
const STRIP = 64; // characters of the strips of words, characters and bytes

/** What the result line says. */
export function describe(name, step, steps, bytes, tokens, source) {
  const { made } = steps[step];
  const size = tokens
    ? `${counted(bytes, "byte")} ${bytes > 1 ? "are" : "is"} ${counted(tokens, "token")}, ${format(bytes / tokens, 2)} bytes each.`
    : "";
  if (!bytes) return "Type something: without a text there is nothing to merge.";
  if (!made) return `No merge yet: every byte is a token of its own. ${size}`;
  const [left, right] = made.pair.map(name);
  const joined = `${left} + ${right} → ${name(made.id)}`;
  const end = step === steps.length - 1 ? " No pair is left that could be merged." : "";
  const times = counted(made.count, "time");
  if (source === "book") {
    return `Merge ${made.number + 1} of the book's: ${joined}, here ${times}. Of all that fit it was learned first. ${size}${end}`;
  }
  const tie = made.ties
    ? `; ${made.ties} other${made.ties > 1 ? "s occur" : " occurs"} as often, and the smaller pair goes first`
    : "";
  return `Merge ${step}: ${joined}, the most frequent pair of neighbors: ${times}${tie}. ${size}${end}`;
}

const BREAK = "\u200b"; // where a line may end: the pieces are parts of one line, which is laid out in less than boxes

// A text in pieces, word by word: a word whose pieces are those of before stays as it stands.
function strip(name) {
  const [title, pieces, end] = [html("b"), div("pieces"), document.createTextNode("")];
  pieces.append(end);
  const drawn = []; // of each word the pieces, in one text, and their elements
  function take({ spans }) {
    const span = spans.pop();
    span.nextSibling.remove();
    span.remove();
  }
  /** Bring one word to its pieces, each [text, whether it is marked]. */
  function change(at, word) {
    const key = word.join();
    if (drawn[at]?.key === key) return;
    drawn[at] ??= { spans: [] };
    const { spans } = Object.assign(drawn[at], { key });
    while (spans.length > word.length) take(drawn[at]);
    const after = drawn[at + 1]?.spans[0] ?? end;
    while (spans.length < word.length) {
      spans.push(html("span"));
      after.before(spans.at(-1), BREAK);
    }
    word.forEach(([text, marked], i) => {
      write(spans[i], visible(text));
      const kind = marked ? "newest" : "";
      if (spans[i].className !== kind) spans[i].className = kind;
    });
  }
  function draw(heading, words, more = false) {
    write(title, heading);
    for (; drawn.length > words.length; drawn.pop()) while (drawn.at(-1).spans.length) take(drawn.at(-1));
    words.forEach((word, i) => change(i, word));
    if (end.data !== (more ? "…" : "")) end.data = more ? "…" : "";
  }
  return { element: div(`strip ${name}`, title, pieces), draw };
}

const chart = () =>
  panel({
    label: "Number of tokens after each merge",
    height: 190,
    margin: [24, 12, 40, 38],
    x: ({ steps }) => ({ domain: [0, Math.max(steps.length - 1, 1)], label: "merges made" }),
    y: ({ sizes }) => ({ domain: [0, Math.max(...sizes, 1)], label: "tokens" }),
    layers: { fall: "path", now: { tag: "circle", r: 5 } },
    draw({ fall, now }, { line, spot }, { sizes, step }) {
      fall(line(sizes.map((size, i) => [i, size])));
      now(spot(step, sizes[step]));
    },
  });

export default widget("bpe-stepper", ({ model, constants, controls, read, write: put, redraw }) => {
  const { pattern, byteOrder, longest, most } = constants;
  const merges = model.get("merges");
  const rules = { text: ruleOf(byteOrder, null), book: ruleOf(byteOrder, merges) };
  const book = readTokenizer({ pattern, merges, special_tokens: [] });
  const once = memory();
  const change = (text) => put({ text });
  const input = textInput({ label: "Text", examples: model.get("examples"), longest, change });
  const result = resultLine();

  /** All steps of a text, with the name of each token. */
  function follow(text, source) {
    const { kinds, order } = different(pattern, text);
    const steps = history(kinds, rules[source], most);
    const made = steps.slice(1).map(({ made: { pair } }) => pair);
    const tokenizer = source === "book" ? book : readTokenizer({ pattern, merges: made, special_tokens: [] });
    const sizes = steps.map(({ kinds: now }) => now.reduce((n, { ids, count }) => n + ids.length * count, 0));
    return { steps, order, sizes, name: (id) => tokenText(tokenizer, id) };
  }
  const now = () => {
    const { text, source, step } = read();
    const found = once("steps", `${source} ${text}`, () => follow(text, source));
    return { ...found, step: Math.min(step, found.steps.length - 1) };
  };
  const move = (by) => {
    const { step, steps } = now();
    put({ step: clamp(step + by, 0, steps.length - 1) });
  };
  const [back, on] = [button("← Undo", () => move(-1)), button("Merge →", () => move(1))];
  const [words, characters, bytes, tokens] = ["words", "characters", "bytes", "tokens"].map(strip);
  const pairs = table({ head: ["next pairs", "times", ""] });
  const curve = chart();

  const said = (list, what) => `${counted(list.length, what)}, ${new Set(list).size} different`;

  let strips = null; // the text that stands in them

  /** The strips of what no merge changes. */
  function cut({ text }) {
    if (text === strips) return false;
    strips = text;
    const start = [...text].slice(0, STRIP).join("");
    const more = start.length < text.length;
    const piecesOf = (part) => ({
      word: part.match(new RegExp(pattern, "gu")) ?? [],
      character: [...part],
      byte: [...new TextEncoder().encode(part)],
    });
    const [every, some] = [text, start].map(piecesOf);
    const hex = (byte) => byte.toString(16).toUpperCase().padStart(2, "0");
    const plain = (list) => list.map((piece) => [[piece, false]]);
    words.draw(said(every.word, "word"), plain(some.word), more);
    characters.draw(said(every.character, "character"), plain(some.character), more);
    bytes.draw(said(every.byte, "byte"), plain(some.byte.map(hex)), more);
    return true;
  }

  /** The tokens of a step. */
  function join({ steps, step, order, name }) {
    const { kinds, made } = steps[step];
    const every = order.flatMap((i) => kinds[i].ids);
    const word = (i) => kinds[i].ids.map((id) => [name(id), id === made?.id]);
    tokens.draw(said(every, "token"), order.map(word));
    return true;
  }

  function list({ source, steps, step, name }) {
    const next = candidates(steps[step].kinds, rules[source]).slice(0, SHOWN);
    const rows = next.map(({ pair: [a, b], count, number }, i) => [
      `${visible(name(a))} + ${visible(name(b))}`,
      `${count}`,
      number === null ? (i ? "" : "next") : `merge ${number + 1}`,
    ]);
    while (rows.length < SHOWN) rows.push([" ", "", ""]);
    pairs.draw(rows, { chosen: next.length ? 0 : -1 });
  }

  /** What a step is, and what may come next. */
  function tell(state) {
    const { text, steps, step, sizes, source, name } = state;
    list(state);
    curve.draw(state);
    const shown = (id) => `“${visible(name(id))}”`;
    const size = once("size", text, () => new TextEncoder().encode(text).length);
    result.say(describe(shown, step, steps, size, sizes[step], source));
    return true;
  }
  const picture = inTurns(redraw, tell, join, cut);

  return {
    layout: [
      input,
      columns("controls", [controls.source], [controls.step]),
      div("buttons", back, on),
      result,
      tokens,
      columns("views", [heading("What may be merged next"), pairs], [heading("How the text shrinks"), curve]),
      words,
      characters,
      bytes,
    ],
    draw(state) {
      const present = now();
      const { steps, step } = present;
      input.draw(state.text, "");
      controls.step.limit({ high: Math.max(steps.length - 1, 1) });
      controls.step.set(step);
      back.disabled = step === 0;
      on.disabled = step === steps.length - 1;
      picture.draw({ ...state, ...present });
    },
    stop: picture.stop,
  };
});
