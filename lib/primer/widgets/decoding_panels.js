// The panels of the decoding widget: the next token, the continuations, the tree of a beam search.
// Each is { element, draw }.

import { format, html, set, svg } from "./kit.js";
import { ranked } from "./choosing.js";
import { finalLoop, repeats } from "./generation.js";
import { tokenText, visible } from "./tokenizer.js";

const SHOWN = 14; // tokens with a bar
const LEAD = 32; // letters of the prompt before a continuation
const GRAM = 3; // a repetition is so many tokens that stood in the text before

const percent = (p) => (p > 0 && p < 0.0005 ? "< 0.1%" : `${format(100 * p, 1)}%`);

// ---------------------------------------------------------------- the next token

/** The parts of the model's probability, as a strip from 0 to 100 %: shown and kept, other and kept, cut by k, cut by p. */
function strip() {
  const parts = ["shown", "other", "by-k", "by-p"].map((name) => html("i", { class: name }));
  const draw = (shares) =>
    parts.forEach((part, i) => {
      part.style.width = `${100 * shares[i]}%`;
    });
  return { element: html("div", { class: "strip", "aria-hidden": "true" }, ...parts), draw };
}

/** The most probable tokens: the model's probability, and below it the one that is drawn from. */
export function bars(tokenizer, append, end) {
  const rows = Array.from({ length: SHOWN }, () => {
    const [label, model, drawn, value] = [
      html("span", { class: "token" }),
      html("i", { class: "model" }),
      html("i", { class: "drawn" }),
      html("span", { class: "value" }),
    ];
    const row = { label, model, drawn, value, id: 0 };
    row.element = html(
      "button",
      { type: "button", onclick: () => append(row.id) },
      label,
      " ",
      html("span", { class: "track" }, model, drawn),
      " ",
      value,
    );
    return row;
  });
  const [rest, parts] = [html("p", { class: "note" }), strip()];
  const whole = (id) => id !== end && !tokenText(tokenizer, id).startsWith("‹");

  function draw(logits, p, q, topK) {
    const order = ranked(logits);
    const by = (rank) => (topK !== null && rank >= topK ? "cut by k" : "cut by p");
    const longest = Math.max(p[order[0]], q[order[0]]);
    rows.forEach((row, rank) => {
      const id = order[rank];
      const cut = q[id] === 0;
      row.id = id;
      row.label.textContent = visible(tokenText(tokenizer, id));
      row.value.textContent = cut ? by(rank) : percent(q[id]);
      row.model.style.width = `${(100 * p[id]) / longest}%`;
      row.drawn.style.width = `${(100 * q[id]) / longest}%`;
      row.element.disabled = !whole(id);
      row.element.classList.toggle("cut", cut);
      row.element.setAttribute(
        "aria-label",
        `${row.label.textContent} ${row.value.textContent}, the model says ${percent(p[id])}; append it`,
      );
    });
    const shares = [0, 0, 0, 0];
    order.forEach((id, rank) => {
      shares[q[id] > 0 ? Number(rank >= SHOWN) : by(rank) === "cut by k" ? 2 : 3] += p[id];
    });
    parts.draw(shares);
    const others = order.subarray(SHOWN);
    const mass = (from) => others.reduce((total, id) => total + from[id], 0);
    const kept = others.filter((id) => q[id] > 0).length;
    rest.textContent = `${others.length} other tokens hold ${percent(mass(p))} of the model's probability; ${kept ? `${kept} of them are kept (light in the strip), with ${percent(mass(q))}` : "all of them are cut"}.`;
  }
  return {
    element: html("div", { class: "bars" }, ...rows.map(({ element }) => element), parts.element, rest),
    draw,
  };
}

// ---------------------------------------------------------------- continuations side by side

/** The end of a prompt, from the beginning of a word, to stand before what continues it. */
const ending = (prompt) =>
  prompt.length > LEAD ? `…${prompt.slice(-LEAD).replace(/^\S*(?=\s\S)/, "")}` : prompt;

function card(tokenizer) {
  const [title, beginning, text, numbers] = [
    html("b"),
    html("span", { class: "beginning" }),
    html("span", { class: "text" }),
    html("p", { class: "note" }),
  ];
  let [drawn, loop] = [{ tokens: [] }, null];

  /** Texts mostly grow: only what differs is written anew. */
  function write(tokens) {
    const old = drawn.tokens;
    let same = 0;
    while (same < old.length && old[same] === tokens[same]) same++;
    while (text.childNodes.length > same) text.lastChild.remove();
    const repeated = repeats(tokens, GRAM);
    loop = finalLoop(tokens);
    tokens.slice(same).forEach((token, i) => {
      text.append(html("span", { class: repeated[same + i] && "repeat" }, tokenText(tokenizer, token)));
    });
    text.childNodes.forEach((one, i) =>
      one.classList.toggle(
        "round",
        Boolean(loop) && i >= loop.start && Math.floor((i - loop.start) / loop.period) % 2 === 0,
      ),
    );
    return repeated.filter(Boolean).length / Math.max(tokens.length - GRAM + 1, 1);
  }

  function draw(name, prompt, tokens, logProbability) {
    title.textContent = name;
    beginning.textContent = ending(prompt);
    if (drawn.length === tokens.length && drawn.logProbability === logProbability) return;
    const share = write(tokens);
    drawn = { tokens: [...tokens], length: tokens.length, logProbability };
    numbers.textContent = tokens.length
      ? `log p = ${format(logProbability, 1)}, ${format(logProbability / tokens.length, 2)} a token; ${percent(share)} repeated${loop ? `; in a loop of ${loop.period} tokens, ${format((tokens.length - loop.start) / loop.period, 1)} rounds` : ""}`
      : "is being written …";
  }
  return {
    element: html("div", { class: "continuation" }, title, html("p", {}, beginning, text), numbers),
    draw,
  };
}

export function cards(tokenizer, samples) {
  const [greedy, beam, ...drawn] = Array.from({ length: samples + 2 }, () => card(tokenizer));
  const nothing = { tokens: [], logProbability: 0, best: { tokens: [], score: 0 } };

  function draw(prompt, written, { nBeams, seed }) {
    const one = written.greedy.value ?? nothing;
    const { best } = written.beam.result ?? written.beam.value ?? nothing;
    greedy.draw("Greedy", prompt, one.tokens, one.logProbability);
    beam.draw(
      nBeams === 1 ? "Beam search, 1 beam: greedy" : `Beam search, ${nBeams} beams`,
      prompt,
      best.tokens,
      best.score,
    );
    written.samples.forEach(({ value }, i) => {
      const { tokens, logProbability } = value ?? nothing;
      drawn[i].draw(`Sample, seed ${seed + i}`, prompt, tokens, logProbability);
    });
  }
  return {
    element: html(
      "div",
      { class: "continuations" },
      ...[greedy, beam, ...drawn].map(({ element }) => element),
    ),
    draw,
  };
}

// ---------------------------------------------------------------- the tree of a beam search

const [COLUMN, ROW] = [78, 40];
const short = (text) => (text.length > 8 ? `${text.slice(0, 7)}…` : text);
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

/** The beams that lead to the best hypothesis. */
function leaders(steps, best) {
  const found = [];
  let beam = steps.at(-1).alive.findIndex(({ score }) => score === best.score);
  for (let t = steps.length - 1; t >= 0 && beam >= 0; beam = steps[t].alive[beam].parent, t--)
    found[t] = beam;
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
  const label = (token) => short(visible(tokenText(tokenizer, token)));

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
        for (const mark of marks) if (mark.getAttribute("class") !== kind) mark.setAttribute("class", kind);
      }),
    );
    drawn.marked = job.done;
  }
  return { element, draw };
}
