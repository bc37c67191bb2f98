// The panels of the decoding widget: the next token, the continuations, the tree of a beam search.
// Each is { element, draw }.

import { ranked } from "./choosing.js";
import { finalLoop, repeats } from "./generation.js";
import { div, format, html, percent, set, svg, sum, write } from "./kit.js";
import { tokenText, visible } from "./tokenizer.js";

const LEAD = 32; // letters of the prompt before a continuation
const GRAM = 3; // a repetition is so many tokens that stood in the text before

const share = (p) => (p > 0 && p < 0.0005 ? "< 0.1%" : percent(p));
const widen = (element, part) => {
  element.style.width = `${100 * part}%`;
};

// ---------------------------------------------------------------- the next token

/** The most probable tokens: the model's probability, and below it the one that is drawn from. */
export function bars(tokenizer, shown, append, end) {
  const span = (name) => html("span", { class: name });
  const rows = Array.from({ length: shown }, () => {
    const [label, value] = [span("token"), span("value")];
    const [model, drawn] = ["model", "drawn"].map((name) => html("i", { class: name }));
    const track = html("span", { class: "track" }, model, drawn);
    const press = { type: "button", onclick: () => append(row.id) };
    const row = { id: 0, label, value, model, drawn };
    return Object.assign(row, { element: html("button", press, label, " ", track, " ", value) });
  });
  // The model's probability as a strip from 0 to 100 %: shown and kept, other and kept, cut by k, cut by p.
  const parts = ["shown", "other", "by-k", "by-p"].map((name) => html("i", { class: name }));
  const strip = html("div", { class: "strip", "aria-hidden": "true" }, ...parts);
  const rest = html("p", { class: "note" });
  const whole = (id) => id !== end && !tokenText(tokenizer, id).startsWith("‹");

  function draw(logits, p, q, topK) {
    const order = ranked(logits);
    const byK = (rank) => topK !== null && rank >= topK;
    const longest = Math.max(p[order[0]], q[order[0]]);
    rows.forEach((row, rank) => {
      const id = order[rank];
      const cut = q[id] === 0;
      row.id = id;
      write(row.label, visible(tokenText(tokenizer, id)));
      write(row.value, cut ? `cut by ${byK(rank) ? "k" : "p"}` : share(q[id]));
      widen(row.model, p[id] / longest);
      widen(row.drawn, q[id] / longest);
      row.element.disabled = !whole(id);
      row.element.classList.toggle("cut", cut);
      const words = `${row.label.textContent} ${row.value.textContent}, the model says ${share(p[id])}; append it`;
      set(row.element, { "aria-label": words });
    });
    const shares = [0, 0, 0, 0];
    order.forEach((id, rank) => {
      shares[q[id] > 0 ? Number(rank >= shown) : byK(rank) ? 2 : 3] += p[id];
    });
    parts.forEach((part, i) => widen(part, shares[i]));
    const others = [...order.subarray(shown)];
    const mass = (from) => share(sum(others.map((id) => from[id])));
    const kept = others.filter((id) => q[id] > 0).length;
    const fate = kept
      ? `${kept} of them are kept (light in the strip), with ${mass(q)}`
      : "all of them are cut";
    write(rest, `${others.length} other tokens hold ${mass(p)} of the model's probability; ${fate}.`);
  }
  return { element: div("bars", ...rows, strip, rest), draw };
}

// ---------------------------------------------------------------- continuations side by side

/** The end of a prompt, from the beginning of a word, to stand before what continues it. */
const ending = (prompt) =>
  prompt.length > LEAD ? `…${prompt.slice(-LEAD).replace(/^\S*(?=\s\S)/, "")}` : prompt;

function card(tokenizer) {
  const [beginning, text] = ["beginning", "text"].map((name) => html("span", { class: name }));
  const [title, numbers] = [html("b"), html("p", { class: "note" })];
  let drawn = { tokens: [], logProbability: null };

  /** Texts mostly grow: only what differs is written anew. */
  function writeTokens(tokens, repeated, loop) {
    let same = 0;
    while (same < drawn.tokens.length && drawn.tokens[same] === tokens[same]) same++;
    while (text.childNodes.length > same) text.lastChild.remove();
    tokens.slice(same).forEach((token, i) => {
      text.append(html("span", { class: repeated[same + i] && "repeat" }, tokenText(tokenizer, token)));
    });
    text.childNodes.forEach((one, i) => {
      const round = loop && i >= loop.start ? Math.floor((i - loop.start) / loop.period) : 1;
      one.classList.toggle("round", round % 2 === 0);
    });
  }

  function describe(tokens, logProbability, repeated, loop) {
    if (!tokens.length) return "is being written …";
    const part = repeated.filter(Boolean).length / Math.max(tokens.length - GRAM + 1, 1);
    const said = `log p = ${format(logProbability, 1)}, ${format(logProbability / tokens.length, 2)} a token; ${share(part)} repeated`;
    if (!loop) return said;
    const rounds = format((tokens.length - loop.start) / loop.period, 1);
    return `${said}; in a loop of ${loop.period} tokens, ${rounds} rounds`;
  }

  function draw(name, prompt, { tokens, logProbability }) {
    write(title, name);
    write(beginning, ending(prompt));
    if (drawn.tokens.length === tokens.length && drawn.logProbability === logProbability) return;
    const [repeated, loop] = [repeats(tokens, GRAM), finalLoop(tokens)];
    writeTokens(tokens, repeated, loop);
    write(numbers, describe(tokens, logProbability, repeated, loop));
    drawn = { tokens: [...tokens], logProbability };
  }
  return { element: div("continuation", title, html("p", {}, beginning, text), numbers), draw };
}

export function cards(tokenizer, samples) {
  const [greedy, beam, ...drawn] = Array.from({ length: samples + 2 }, () => card(tokenizer));
  const nothing = { tokens: [], logProbability: 0, best: { tokens: [], score: 0 } };

  function draw(prompt, written, { n_beams: beams, seed }) {
    const { best } = written.beam.result ?? written.beam.value ?? nothing;
    const name = beams === 1 ? "Beam search, 1 beam: greedy" : `Beam search, ${beams} beams`;
    greedy.draw("Greedy", prompt, written.greedy.value ?? nothing);
    beam.draw(name, prompt, { tokens: best.tokens, logProbability: best.score });
    written.samples.forEach(({ value }, i) =>
      drawn[i].draw(`Sample, seed ${seed + i}`, prompt, value ?? nothing),
    );
  }
  return { element: div("continuations", ...[greedy, beam, ...drawn]), draw };
}

// ---------------------------------------------------------------- the tree of a beam search

const [COLUMN, ROW] = [78, 40];
const cutText = (text) => (text.length > 8 ? `${text.slice(0, 7)}…` : text);
const place = (step, beam) => [COLUMN * (step + 1) + 8, ROW * beam + 20];
const widthOf = (text) => Math.max(7.9 * text.length, 38); // of a label in its fixed-width letters

/** Which hypotheses of each step have descendants in the last one. */
function survivors(steps) {
  let living = new Set(steps.at(-1).alive.keys());
  const marks = [living];
  for (let t = steps.length - 1; t > 0; t--) {
    living = new Set([...living].map((beam) => steps[t].alive[beam].parent));
    marks.unshift(living);
  }
  return marks;
}

/** The beams that lead to the best hypothesis, which may have ended steps ago. */
export function leaders(steps, { tokens }) {
  const found = [];
  for (let t = 0; t < Math.min(tokens.length, steps.length); t++) {
    const beam = steps[t].alive.findIndex(
      ({ token, parent }) => token === tokens[t] && (t === 0 || parent === found[t - 1]),
    );
    if (beam < 0) break; // the sign that ends a text has no place in the tree
    found.push(beam);
  }
  return found;
}

export function tree(tokenizer) {
  const [edges, nodes] = [svg("g"), svg("g")];
  const drawing = svg("svg", { "aria-hidden": "true" }, edges, nodes);
  const element = html(
    "div",
    {
      class: "tree",
      tabindex: 0,
      role: "region",
      "aria-label": "Tree of the beam search; scroll with the arrow keys",
    },
    drawing,
  );
  let [drawn, columns] = [null, []];
  const label = (token) => cutText(visible(tokenText(tokenizer, token)));

  function node(step, beam, { parent, token, score }) {
    const [x, y] = place(step, beam);
    const [fromX, fromY] = step ? place(step - 1, parent) : [8, 20];
    const from =
      fromX +
      3 +
      widthOf(step ? columns[step - 1][parent][1].firstChild.textContent : nodes.firstChild.textContent);
    const [to, middle] = [x - 4, x - 12];
    const edge = svg("path", {
      d: `M${from} ${fromY}H${Math.max(from, x - 20)}C${middle} ${fromY} ${middle} ${y} ${to} ${y}`,
    });
    const mark = svg(
      "g",
      { transform: `translate(${x} ${y})` },
      svg("text", { class: "token", y: 1 }, label(token)),
      svg("text", { class: "tick", y: 14 }, format(score, 2)),
    );
    edges.append(edge);
    nodes.append(mark);
    return [edge, mark];
  }

  function start(job, last) {
    edges.replaceChildren();
    nodes.replaceChildren(svg("text", { class: "token", x: 8, y: 21 }, label(last)));
    [drawn, columns] = [job, []];
    element.scrollLeft = 0;
  }

  function draw(job, last) {
    if (drawn !== job) start(job, last);
    const { steps, best } = job.result ?? job.value ?? { steps: [] };
    if (!steps.length || (columns.length === steps.length && drawn.marked === job.done)) return;
    for (let t = columns.length; t < steps.length; t++)
      columns.push(steps[t].alive.map((one, beam) => node(t, beam, one)));
    const rows = Math.max(...steps.map(({ alive }) => alive.length));
    const [width, height] = [COLUMN * (steps.length + 1) + 10, ROW * rows];
    set(drawing, { viewBox: `0 0 ${width} ${height}`, width, height });
    const [living, first] = [survivors(steps), leaders(steps, best)];
    columns.forEach((column, t) =>
      column.forEach((marks, beam) => {
        const kind = first[t] === beam ? "best" : living[t].has(beam) ? "" : "pruned";
        for (const mark of marks) if (mark.getAttribute("class") !== kind) set(mark, { class: kind });
      }),
    );
    drawn.marked = job.done;
  }
  return { element, draw };
}
