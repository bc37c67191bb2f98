// The panels of the decoding widget: the next token, the continuations, the tree of a beam search.
// Each is { element, draw }.

import { finalLoop, repeats } from "../shared/generation.js";
import { div, format, html, paragraph, percent, set, span, svg, widen, write } from "../kit/kit.js";
import { cut, endOf, nameOf, tokenText } from "../shared/tokenizer.js";

const LEAD = 32; // letters of the prompt before a continuation
const GRAM = 3; // a repetition is so many tokens that stood in the text before
const [LETTERS, EM] = [3.7, 0.52]; // letters of a token and the width of one, so that few texts need more room
const UNREAD = "A token, once the prompt is read"; // the name of a row that shows none yet

const share = (p) => (p > 0 && p < 0.0005 ? "<\u00a00.1%" : percent(p));

// ---------------------------------------------------------------- the next token

/** The most probable tokens: the model's probability, and below it the one that is drawn from. */
export function bars(tokenizer, shown, append) {
  const rows = Array.from({ length: shown }, () => {
    const [label, value] = [span("token"), span("value")];
    const [model, drawn] = ["model", "drawn"].map((name) => html("i", { class: name }));
    const press = { type: "button", onclick: () => append(row.id), disabled: true, "aria-label": UNREAD };
    const element = html("button", press, label, " ", span("track", model, drawn), " ", value);
    const row = { id: 0, label, value, model, drawn, element };
    return row;
  });
  // The model's probability as a strip from 0 to 100 %: shown and kept, other and kept, cut by k, cut by p.
  const parts = ["shown", "other", "by-k", "by-p"].map((name) => html("i", { class: name }));
  const strip = html("div", { class: "strip", "aria-hidden": "true" }, ...parts);
  const rest = paragraph("note");
  const whole = (id) => id !== endOf(tokenizer) && !tokenText(tokenizer, id).startsWith("‹");

  function draw(order, p, q, topK) {
    const byK = (rank) => topK !== null && rank >= topK;
    const longest = Math.max(p[order[0]], q[order[0]]);
    rows.forEach((row, rank) => {
      const id = order[rank];
      const gone = q[id] === 0;
      row.id = id;
      write(row.label, nameOf(tokenizer, id));
      write(row.value, gone ? `cut by ${byK(rank) ? "k" : "p"}` : share(q[id]));
      widen(row.model, p[id] / longest);
      widen(row.drawn, q[id] / longest);
      row.element.disabled = !whole(id);
      row.element.classList.toggle("cut", gone);
      const words = `${row.label.textContent} ${row.value.textContent}, the model says ${share(p[id])}${whole(id) ? "; append it" : ""}`;
      set(row.element, { "aria-label": words });
    });
    const shares = [0, 0, 0, 0];
    order.forEach((id, rank) => {
      shares[q[id] > 0 ? Number(rank >= shown) : byK(rank) ? 2 : 3] += p[id];
    });
    parts.forEach((part, i) => widen(part, shares[i]));
    const others = order.subarray(shown);
    let [mass, left, kept] = [0, 0, 0];
    for (const id of others) {
      mass += p[id];
      left += q[id];
      if (q[id]) kept++;
    }
    const some = `${kept} of them are kept (faint in the strip), with ${share(left)}`;
    const fate = kept ? some : "all of them are cut";
    write(rest, `${others.length} other tokens hold ${share(mass)} of the model's probability; ${fate}.`);
  }
  return { element: div("bars", ...rows, strip, rest), draw };
}

// ---------------------------------------------------------------- continuations side by side

/** The end of a prompt, from the beginning of a word, to stand before what continues it. */
const ending = (prompt) =>
  prompt.length > LEAD ? `…${prompt.slice(-LEAD).replace(/^\S*(?=\s\S)/, "")}` : prompt;

function card(tokenizer) {
  const [beginning, text] = [span("beginning"), span("text")];
  const [title, numbers] = [html("b"), paragraph("note")];
  let drawn = { tokens: [], kinds: [], logProbability: null };

  const written = (id) => (id === endOf(tokenizer) ? " (the end)" : tokenText(tokenizer, id));

  /** Texts mostly grow: only what differs is written anew. */
  function writeTokens(tokens, kinds) {
    let same = 0;
    while (same < tokens.length && drawn.tokens[same] === tokens[same]) same++;
    while (text.childNodes.length > same) text.lastChild.remove();
    for (let i = 0; i < same; i++) if (kinds[i] !== drawn.kinds[i]) text.childNodes[i].className = kinds[i];
    text.append(...tokens.slice(same).map((token, i) => span(kinds[same + i], written(token))));
  }

  /** What of each token is marked: that it completes a repetition, and every other round of a loop. */
  function kindsOf(tokens, repeated, loop) {
    const round = (i) => (loop && i >= loop.start ? Math.floor((i - loop.start) / loop.period) : 1);
    return tokens.map((_, i) => `${repeated[i] ? "repeat" : ""} ${round(i) % 2 ? "" : "round"}`.trim());
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
    const kinds = kindsOf(tokens, repeated, loop);
    writeTokens(tokens, kinds);
    write(numbers, describe(tokens, logProbability, repeated, loop));
    drawn = { tokens: [...tokens], kinds, logProbability };
  }
  const body = paragraph("", beginning, text);
  // What will be written has its room from the beginning, so that nothing below it moves.
  const reserve = (tokens, wide) => {
    // in a play a line ends every eight tokens, before and after a name
    const lines = Math.ceil(((LEAD + LETTERS * tokens) * EM) / wide + tokens / 8) + 1;
    const height = `${(1.45 * lines).toFixed(2)}em`;
    if (body.style.minHeight !== height) body.style.minHeight = height;
  };
  const width = () => body.clientWidth / Number.parseFloat(getComputedStyle(body).fontSize);
  return { element: div("continuation", title, body, numbers), draw, reserve, width };
}

export function cards(tokenizer, samples) {
  const [greedy, beam, ...drawn] = Array.from({ length: samples + 2 }, () => card(tokenizer));
  const all = [greedy, beam, ...drawn];
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
  const widths = () => all.map(({ width }) => width());
  const reserve = (tokens, ems) => all.forEach((one, i) => one.reserve(tokens, ems[i] || 20));
  return { element: div("continuations", ...all), draw, reserve, widths };
}

// ---------------------------------------------------------------- the tree of a beam search

const [COLUMN, ROW] = [78, 40];
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
  const named = { role: "region", "aria-label": "Tree of the beam search; scroll with the arrow keys" };
  const scroll = () => {
    scrolled = true;
  };
  const element = html("div", { class: "tree", tabindex: 0, ...named, onscroll: scroll }, drawing);
  let [drawn, columns, scrolled] = [null, [], false];
  const label = (token) => cut(nameOf(tokenizer, token));

  function node(step, beam, { parent, token, score }) {
    const [x, y] = place(step, beam);
    const [fromX, fromY] = step ? place(step - 1, parent) : [8, 20];
    const before = step ? columns[step - 1][parent].mark.firstChild : nodes.firstChild;
    const from = fromX + 3 + widthOf(before.textContent);
    const [to, middle] = [x - 4, x - 12];
    const bend = `C${middle} ${fromY} ${middle} ${y} ${to} ${y}`;
    const edge = svg("path", { d: `M${from} ${fromY}H${Math.max(from, x - 20)}${bend}` });
    const texts = [
      svg("text", { class: "token", y: 1 }, label(token)),
      svg("text", { class: "tick", y: 14 }, format(score, 2)),
    ];
    const mark = svg("g", { transform: `translate(${x} ${y})` }, ...texts);
    edges.append(edge);
    nodes.append(mark);
    return { edge, mark, kind: null };
  }

  const reserve = (beams) => {
    element.style.minHeight = `calc(${ROW * beams}px + 1.2rem)`; // with the bar that scrolls it
  };

  function start(job, last) {
    edges.replaceChildren();
    nodes.replaceChildren(svg("text", { class: "token", x: 8, y: 21 }, label(last)));
    [drawn, columns] = [job, []];
    if (scrolled) element.scrollLeft = 0; // which has the page laid out
    scrolled = false;
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
      column.forEach((one, beam) => {
        const kind = first[t] === beam ? "best" : living[t].has(beam) ? "" : "pruned";
        if (one.kind !== kind) for (const part of [one.edge, one.mark]) set(part, { class: kind });
        one.kind = kind;
      }),
    );
    drawn.marked = job.done;
  }
  return { element, draw, reserve };
}
