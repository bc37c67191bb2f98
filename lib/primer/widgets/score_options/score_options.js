// Score the options: what texts of the reader's cost the book's model, and three rules that make a choice of it.

import {
  counted,
  div,
  format,
  heading,
  html,
  memory,
  panel,
  resultLine,
  set,
  widget,
  write,
} from "../kit/kit.js";
import { table } from "../shared/table.js";
import { logSoftmax } from "../shared/next_token.js";
import { forwardSteps, logitsAt, newCache, readModel } from "../shared/language_model.js";
import { textInput } from "../shared/text_input.js";
import { encode } from "../shared/tokenizer.js";
import { workshop } from "../shared/workshop.js";

const CHUNK = 4; // tokens read at once
const NAMES = ["(a)", "(b)", "(c)", "(d)", "(e)", "(f)"];
const LONGEST = 1000; // characters of a field

// ---------------------------------------------------------------- what is computed

/** Who reads with a model: what was read stays in the cache, so that a common beginning is read once. */
export const newReader = (model) => ({ cache: newCache(model), seen: [], sums: [0] });

/** The bits of a text's tokens from the second on; `sums` keeps them up to each token. */
export function* readBits(model, tokens, reader) {
  const { cache, seen, sums } = reader;
  let known = 0;
  while (known < Math.min(seen.length, tokens.length) && seen[known] === tokens[known]) known++;
  const start = Math.max(known - 1, 0); // what follows the last known token is to be predicted anew
  cache.length = start;
  sums.length = start + 1;
  reader.seen = tokens.slice(0, start + 1); // who is interrupted has read so much, and no more
  for (let from = start; from < tokens.length - 1; from += CHUNK) {
    const part = tokens.slice(from, Math.min(from + CHUNK, tokens.length - 1));
    const hidden = yield* forwardSteps(model, part, cache);
    const logits = logitsAt(model, hidden, [...part.keys()]);
    const width = logits.length / part.length;
    part.forEach((_, i) => {
      const own = logSoftmax(logits.subarray(i * width, (i + 1) * width))[tokens[from + i + 1]];
      sums.push(sums[sums.length - 1] - own / Math.LN2);
    });
    reader.seen = tokens.slice(0, from + part.length + 1);
  }
  return sums[tokens.length - 1];
}

/** What options cost after a context, and after `alone`: { after, alone }, in bits. */
export function* optionBits(model, context, options, alone, reader = newReader(model)) {
  const found = { after: [], alone: [] };
  for (const [name, start] of Object.entries({ after: context, alone })) {
    const before = encode(model.tokenizer, start);
    for (const option of options) {
      const both = yield* readBits(model, encode(model.tokenizer, start + option), reader);
      const first = yield* readBits(model, before, reader);
      found[name].push(both - first);
    }
  }
  return found;
}

/** The options of a field: its lines that are not empty. */
export const listed = (text, most) =>
  text
    .split("\n")
    .filter((line) => line.trim())
    .slice(0, most);

/** The scores of all rules, { sum, letter, alone }: the least of each is its answer. */
export const scored = ({ after, alone }, options) => ({
  sum: after,
  letter: after.map((bits, i) => bits / [...options[i]].length),
  alone: after.map((bits, i) => bits - alone[i]),
});

// An option as the heading of a row.
const short = (option) => ([...option].length <= 24 ? option : `${[...option].slice(0, 23).join("")}…`);

export const least = (scores) => scores.indexOf(Math.min(...scores));

/** What the result line says: the answer by each rule. */
export function describe(scores, rules) {
  const order = Object.keys(scores); // a notebook's file sorts the names of the rules
  const said = order.map((rule) => `${rules[rule]} ${NAMES[least(scores[rule])]}`);
  const answers = new Set(order.map((rule) => least(scores[rule])));
  const end = answers.size === 1 ? "All rules agree" : `${answers.size} different answers of one model`;
  return `Answers: ${said.join(", ")}. ${end}.`;
}

/** What is said of a context. */
export function note(model, context) {
  const said = `${counted(encode(model.tokenizer, context).length, "token")} of context`;
  if (!/[^\S\n]$/.test(context)) return `${said}.`;
  return `${said}; it ends in a blank, which is part of the next word's token: without it the costs are cleaner.`;
}

/** Why nothing can be scored; empty when it can. */
export function trouble(model, context, options, alone) {
  if (options.length < 2) return "Write two options or more, one in each line.";
  const { context_length: room } = model.config;
  for (const [i, option] of options.entries()) {
    const length = encode(model.tokenizer, (context || alone) + option).length;
    if (length > room)
      return `The model reads ${room} tokens; the context with option ${NAMES[i]} has ${length}. Shorten one.`;
  }
  return "";
}

// ---------------------------------------------------------------- what the reader sees

const bars = (rules) =>
  panel({
    label: "The scores of the options by the chosen rule; the least is the answer",
    height: 190,
    margin: [24, 14, 42, 40],
    x: ({ scores, rule }) => ({
      domain: [1.05 * Math.min(0, ...scores), 1.05 * Math.max(1e-9, ...scores)],
      label: rules[rule].replace(/^less/, "bits less"),
    }),
    y: ({ scores }) => ({
      domain: [scores.length - 0.5, -0.5],
      label: "the least is the answer",
      ticks: scores.map((_, i) => i),
      text: (i) => NAMES[i],
    }),
    layers: { bar: { tag: "rect", many: true }, zero: "path" },
    draw({ bar, zero }, { x, y }, { scores }) {
      const answer = least(scores);
      bar(scores, (score, i) => ({
        class: i === answer ? "bar answer" : "bar",
        ...{ x: x(Math.min(0, score)), width: Math.abs(x(score) - x(0)) },
        ...{ y: y(i - 0.32), height: y(i + 0.32) - y(i - 0.32) },
      }));
      zero(`M${x(0)} ${y.range[0]}V${y.range[1]}`);
    },
  });

/** The field for the options, one in each line. */
function optionsInput(change) {
  const area = html("textarea", {
    rows: 4,
    maxlength: LONGEST,
    spellcheck: "false",
    "aria-label": "Options",
  });
  area.addEventListener("input", () => change(area.value));
  const draw = (text) => {
    if (area.value !== text) area.value = text;
  };
  return { element: div("options", heading("Options, one in each line"), area), draw };
}

export default widget("score-options", ({ constants, controls, get, write: put, redraw }) => {
  const { sets, alone, most, rules } = constants;
  const model = readModel(get("checkpoint"));
  const shop = workshop(redraw);
  const once = memory();
  const reader = newReader(model);
  const type = (text) => put(text in sets ? { text, options: sets[text] } : { text });
  const examples = get("examples");
  const context = textInput({ label: "Context", examples, longest: LONGEST, change: type });
  const field = optionsInput((options) => put({ options }));
  const costs = table({ head: ["option", "letters", "bits", "a letter", "alone", "less alone"] });
  const [view, result] = [bars(rules), resultLine()];
  const output = div("scores", controls.rule, view, div("costs", costs), result);

  function show(found, options, rule) {
    const scores = scored(found, options);
    const mark = (name, i, digits) => {
      const text = format(scores[name][i], digits);
      return i === least(scores[name]) ? { text, class: "best" } : { text, class: "" };
    };
    const rows = options.map((option, i) => [
      `${NAMES[i]} ${short(option)}`,
      `${[...option].length}`,
      mark("sum", i, 1),
      mark("letter", i, 2),
      format(found.alone[i], 1),
      mark("alone", i, 1),
    ]);
    costs.draw(rows, { chosen: least(scores[rule]) });
    view.draw({ scores: scores[rule], rule });
    result.say(describe(scores, rules));
  }

  return {
    layout: [context, field, output],
    draw({ text, options: typed, rule }) {
      const options = once("options", typed, () => listed(typed, most));
      let words = "";
      try {
        words = once("trouble", [text, options], () => trouble(model, text, options, alone));
      } catch (error) {
        words = error.message;
      }
      context.draw(text, words || note(model, text || alone));
      field.draw(typed);
      set(output, { hidden: Boolean(words) });
      if (words) return;
      const make = () => optionBits(model, text || alone, options, alone, reader);
      const job = shop.job("bits", JSON.stringify([text, options]), make);
      set(output, { "aria-busy": String(!job.done) });
      if (job.done) show(job.result, options, rule);
      else write(result.row, "The model reads …");
    },
    stop: shop.stop,
  };
});
