// RoPE, taken hold of: turn a query and a key by their positions and watch the score.
//
// First the parts of the drawing, each { element, draw(state) }; then what joins them.

import {
  axes,
  clamp,
  draggable,
  format,
  html,
  linear,
  mount,
  path,
  play,
  radio,
  resultLine,
  select,
  set,
  slider,
  svg,
  update,
} from "./kit.js";
import {
  applyRope,
  lookalike,
  pairCurve,
  pairIndices,
  pairScores,
  ropeFrequencies,
  ropePermutation,
  scoreCurve,
  sum,
} from "./rotation.js";

const LAST = 64; // the last position the controls reach
const PACE = 2; // tokens per second while playing
const DISTANCES = Array.from({ length: 8 * LAST + 1 }, (_, i) => i / 4 - LAST);
const signed = (x) => `${x < 0 ? "−" : "+"}${Math.abs(x)}`;
const rounded = (x) => Math.round(x).toLocaleString("en");
const whole = (x) => format(x, 0);
const largest = (numbers) => Math.max(...numbers.map(Math.abs));

// Everything the parts draw, computed once a frame from the model.
function readState(model) {
  const [m, n, dim, base, pair] = ["m", "n", "dim", "base", "pair"].map((name) => model.get(name));
  const [query, key] = ["query", "key"].map((name) => model.get(name).slice(0, dim));
  const shares = pairScores(query, key, m, n, base);
  return {
    m,
    n,
    dim,
    base,
    pair,
    query,
    key,
    shares,
    score: sum(shares),
    frequencies: ropeFrequencies(dim, base),
  };
}

// A text that stays the same need not be laid out again.
function write(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

function move(model, m, n) {
  update(model, { m: clamp(m, 0, LAST), n: clamp(n, 0, LAST) });
}

// ---------------------------------------------------------------- controls

function positionControls(model) {
  const position = (label, name) =>
    slider({
      label,
      min: 0,
      max: LAST,
      value: model.get(name),
      change: (value) => update(model, { [name]: value }),
    });
  const [m, n] = [position("Query position m", "m"), position("Key position n", "n")];
  let [moved, least, most] = [0, 0, 0];
  const both = slider({
    label: "Shift both",
    min: 0,
    max: LAST,
    value: 0,
    text: () => `${signed(moved)} (${signed(least)} … ${signed(most)})`,
    change: (start) => {
      const [at, to] = [model.get("m"), model.get("n")];
      const by = start - Math.min(at, to);
      move(model, at + by, to + by);
    },
  });
  m.row.classList.add("query");
  n.row.classList.add("key");

  function draw(state) {
    moved = state.m - state.anchor.m;
    [least, most] = [moved - Math.min(state.m, state.n), moved + LAST - Math.max(state.m, state.n)];
    m.set(state.m);
    n.set(state.n);
    set(both.input, { max: LAST - Math.abs(state.n - state.m) });
    both.set(Math.min(state.m, state.n));
  }
  return { element: html("div", {}, m.row, n.row, both.row), draw };
}

function shapeControls(model, player) {
  const base = slider({
    label: "Base b",
    min: 2,
    max: 6,
    step: 0.05,
    value: Math.log10(model.get("base")),
    text: (x) => rounded(10 ** x),
    change: (exponent) => update(model, { base: 10 ** exponent }),
  });
  const dim = slider({
    label: "Dimension d",
    min: 2,
    max: 16,
    step: 2,
    value: model.get("dim"),
    change: (value) => update(model, { dim: value, pair: Math.min(model.get("pair"), value / 2 - 1) }),
  });
  function draw(state) {
    base.set(Math.log10(state.base));
    set(dim.input, { max: Math.min(model.get("query").length, model.get("key").length) });
    dim.set(state.dim);
  }
  return { element: html("div", {}, base.row, dim.row, player.element), draw };
}

// Moves one token after the other.  `glide` is the part of a token that the arrows are ahead of m and n.
function motion(model, redraw) {
  let [mover, glide] = ["both", 0];
  const step = () => {
    const [m, n] = [model.get("m"), model.get("n")];
    if (mover === "key") move(model, m, n < LAST ? n + 1 : 0);
    else if (Math.max(m, n) < LAST) move(model, m + 1, n + 1);
    else move(model, m - Math.min(m, n), n - Math.min(m, n));
  };
  const { button, playing, stop } = play({
    frame: (seconds) => {
      glide = playing() ? glide + PACE * seconds : 0;
      if (glide >= 1) {
        glide -= 1;
        step();
      }
      redraw();
    },
  });
  const what = select({
    label: "moves",
    options: [
      ["both", "both positions"],
      ["key", "the key alone"],
    ],
    value: mover,
    change: (value) => {
      mover = value;
    },
  });
  const ahead = () => ({ glideM: mover === "both" ? glide : 0, glideN: glide, playing: playing() });
  return { element: html("div", { class: "control" }, button, what.row), ahead, stop };
}

// ---------------------------------------------------------------- the score

function readout() {
  const number = html("span", { class: "number" });
  const kept = html("p");
  const result = resultLine();
  function draw({ m, n, score, anchor, playing }) {
    number.textContent = format(score);
    kept.textContent =
      m === anchor.m
        ? "Move a slider, or drag the point along the curve."
        : `Both shifted by ${signed(m - anchor.m)}: difference since the shift ${format(score - anchor.score)}`;
    result.say(`m = ${m}, n = ${n}, distance ${format(n - m, 0)}, score ${format(score)}`, playing);
  }
  const words = html("div", {}, result.row, kept);
  return { element: html("div", { class: "readout" }, html("p", {}, "Score ", number), words), draw };
}

// ---------------------------------------------------------------- the pairs: circles with two arrows

const RADIUS = 46;
const at = (angle, radius) => [radius * Math.cos(angle), -radius * Math.sin(angle)];

function arrow(angle, length) {
  const [x, y] = at(angle, length);
  const head = Math.min(10, length / 2);
  const wing = (side) => [x - head * Math.cos(angle + side), y + head * Math.sin(angle + side)];
  return (
    path([
      [0, 0],
      [x, y],
    ]) + path([wing(0.45), [x, y], wing(-0.45)])
  );
}

function wedge(from, to, radius) {
  const turn = Math.atan2(Math.sin(to - from), Math.cos(to - from));
  const rim = Array.from({ length: 13 }, (_, i) => at(from + (turn * i) / 12, radius));
  return path([[0, 0], ...rim, [0, 0]]);
}

// A dot on the rim for every position passed: a slow pair keeps them together.
const trail = (start, frequency, position, radius) =>
  Array.from({ length: position + 1 }, (_, t) => `${path([at(start + t * frequency, radius)])}h0`).join("");

function circle(pair) {
  const shape = (name) => svg("path", { class: name });
  const [between, passedQ, passedK, q, k] = ["wedge", "query trail", "key trail", "query", "key"].map(shape);
  const rim = svg("circle", { class: "rim", r: RADIUS });
  const drawing = svg(
    "svg",
    { viewBox: "-62 -62 124 124", "aria-hidden": "true" },
    rim,
    between,
    passedQ,
    passedK,
    q,
    k,
  );
  const [speed, share] = [html("span", { class: "speed" }), html("span", { class: "share" })];

  function draw(state, scale) {
    const frequency = state.frequencies[pair];
    const [x, y] = [state.query, state.key].map((v) => v.slice(2 * pair, 2 * pair + 2));
    const [startQ, startK] = [x, y].map(([a, b]) => Math.atan2(b, a));
    const angleQ = startQ + (state.m + state.glideM) * frequency;
    const angleK = startK + (state.n + state.glideN) * frequency;
    set(between, { d: wedge(angleQ, angleK, RADIUS / 2.6) });
    set(passedQ, { d: trail(startQ, frequency, state.m, RADIUS + 6) });
    set(passedK, { d: trail(startK, frequency, state.n, RADIUS + 12) });
    set(q, { d: arrow(angleQ, (RADIUS * Math.hypot(...x)) / scale) });
    set(k, { d: arrow(angleK, (RADIUS * Math.hypot(...y)) / scale) });
    const turn = (2 * Math.PI) / frequency;
    speed.textContent = `one turn in ${turn < 100 ? format(turn, 1) : rounded(turn)}`;
    share.textContent = format(state.shares[pair]);
  }
  return {
    element: html("span", { class: "pair" }, html("b", {}, `Pair ${pair}`), drawing, speed, share),
    draw,
  };
}

function circles(model) {
  const element = html("div", { class: "circles" });
  let [cards, choice] = [[], null];
  function build(count) {
    cards = Array.from({ length: count }, (_, i) => circle(i));
    choice = radio({
      label: "Each pair of coordinates is an arrow on a circle; choose the pair to follow",
      options: cards.map((card, i) => [i, card.element]),
      value: 0,
      change: (pair) => update(model, { pair }),
    });
    choice.row.style.setProperty("--columns", Math.min(count, 4));
    element.replaceChildren(choice.row);
  }
  function draw(state) {
    if (cards.length !== state.dim / 2) build(state.dim / 2);
    choice.set(state.pair);
    const lengths = [state.query, state.key].flatMap((v) =>
      pairIndices(state.dim).map(([a, b]) => Math.hypot(v[a], v[b])),
    );
    cards.forEach((card) => card.draw(state, largest(lengths) || 1));
  }
  return { element, draw };
}

// ---------------------------------------------------------------- the score against the distance

function curve(model) {
  const grid = svg("g");
  const [total, part, line] = ["total", "part", "now"].map((name) => svg("path", { class: name }));
  const point = svg("circle", { class: "point", r: 6 });
  const ring = svg("circle", { class: "alias", r: 8 });
  const name = svg("text", { class: "tick", "text-anchor": "middle" });
  const mark = svg("g", {}, ring, name);
  const label = "Curve of the score against the distance n − m";
  const drawing = svg(
    "svg",
    { class: "curve", role: "img", "aria-label": label },
    grid,
    line,
    part,
    total,
    mark,
    point,
  );
  const alone = html("span", { class: "chosen" });
  const legend = html("p", { class: "legend" }, html("span", {}, "score, all pairs"), alone);
  let [x, y, width, drawn] = [null, null, 0, null];
  draggable(drawing, {
    move: (to) => move(model, model.get("m"), model.get("m") + Math.round(x.invert(to * width))),
  });

  // The curves stay as they are while only the positions move.
  function drawCurves({ query, key, base, pair }) {
    const height = 230;
    const scores = scoreCurve(query, key, DISTANCES, base);
    const share = pairCurve(query, key, pair, DISTANCES, base);
    const all = [...scores, ...share, 0];
    const unit = 10 ** Math.floor(Math.log10(largest(all) || 1)) / 2;
    const domain = [
      Math.floor(Math.min(...all) / unit) * unit,
      Math.ceil(Math.max(...all) / unit) * unit || unit,
    ];
    x = linear([-LAST, LAST], [40, width - 14]);
    y = linear(domain, [height - 42, 26]);
    const xTicks = [-64, -48, -32, -16, 0, 16, 32, 48, 64].filter((t) => width > 500 || t % 32 === 0);
    set(drawing, { viewBox: `0 0 ${width} ${height}`, height });
    axes(grid, { x, y, xTicks, xLabel: "distance n − m (tokens)", yLabel: "score" });
    set(total, { d: path(DISTANCES.map((r, i) => [x(r), y(scores[i])])) });
    set(part, { d: path(DISTANCES.map((r, i) => [x(r), y(share[i])])) });
    alone.textContent = `pair ${pair} alone`;
    alone.hidden = query.length === 2; // it is the whole score
    drawMark(scores.filter((_, i) => i % 4 === 0)); // whole distances only
  }

  // The distance that is most easily taken for the one with the highest score.
  function drawMark(scores) {
    const [top, like] = [scores.indexOf(Math.max(...scores)), lookalike(scores)];
    set(mark, { visibility: like < 0 ? "hidden" : null });
    if (like < 0) return;
    set(ring, { cx: x(like - LAST), cy: y(scores[like]) });
    set(name, { x: clamp(x(like - LAST), 90, width - 70), y: 14 });
    name.textContent = `${whole(like - LAST)} looks like ${whole(top - LAST)}`;
  }

  function draw(state) {
    const { query, key, m, n, base, pair, glideM, glideN } = state;
    width = state.width;
    const inputs = JSON.stringify([query, key, base, pair, width]);
    if (inputs !== drawn) drawCurves(state);
    drawn = inputs;
    const now = n + glideN - m - glideM;
    const height = y(scoreCurve(query, key, [now], base)[0]);
    set(line, { d: `M${x(now)} ${y.range[0]}V${y.range[1]}M${x.range[0]} ${height}H${x.range[1]}` });
    set(point, { cx: x(now), cy: height });
  }
  return { element: html("div", {}, legend, drawing), draw };
}

// ---------------------------------------------------------------- the numbers

const COLUMNS = ["Pair", "ω", "query turned", "key turned", "difference", "dot product"];

function table() {
  const body = html("tbody");
  const total = html("td");
  const element = html(
    "table",
    {},
    html(
      "caption",
      {},
      "Every pair in numbers: its speed ω in radians per token, how many radians its arrows have turned, what it adds",
    ),
    html("thead", {}, html("tr", {}, ...COLUMNS.map((name) => html("th", { scope: "col" }, name)))),
    body,
    html(
      "tfoot",
      {},
      html("tr", {}, html("th", { scope: "row", colspan: COLUMNS.length - 1 }, "score, the sum"), total),
    ),
  );
  const row = () => html("tr", {}, html("th", { scope: "row" }), ...COLUMNS.slice(1).map(() => html("td")));

  function draw({ m, n, frequencies, shares, score, pair }) {
    while (body.rows.length > shares.length) body.lastChild.remove();
    while (body.rows.length < shares.length) body.append(row());
    frequencies.forEach((w, i) => {
      const cells = [
        i,
        w.toPrecision(3),
        format(m * w, 2),
        format(n * w, 2),
        format((n - m) * w, 2),
        format(shares[i]),
      ];
      body.rows[i].classList.toggle("chosen", i === pair);
      cells.forEach((text, column) => write(body.rows[i].cells[column], text));
    });
    write(total, format(score));
  }
  return { element, draw };
}

// ---------------------------------------------------------------- which coordinates make a pair

function pairing(title, layout) {
  const shape = (name) => svg("path", { class: name });
  const [zero, before, after, arcs, chosen] = ["axis", "before", "after", "arcs", "chosen"].map(shape);
  const names = svg("g");
  const label = `${title}: arcs join the coordinates of a pair, bars are the query before and after its rotation`;
  const drawing = svg("svg", { role: "img", "aria-label": label }, zero, before, after, arcs, chosen, names);
  const score = html("b");
  let named = "";

  function draw({ x, turned, order, pair, scale, total }) {
    const step = 240 / x.length;
    const pairs = pairIndices(x.length, layout);
    const center = (i) => (i + 0.5) * step;
    const arc = ([a, b]) => {
      const top = 44 - Math.min(54, 14 * (b - a));
      return `M${center(a)} 44C${center(a)} ${top} ${center(b)} ${top} ${center(b)} 44`;
    };
    const bars = (values, width) =>
      values.map((v, i) => `M${center(i) - width / 2} 92v${(-40 * v) / scale}h${width}V92Z`).join("");
    set(arcs, { d: pairs.map(arc).join("") });
    set(chosen, { d: arc(pairs[pair]) });
    set(zero, { d: "M0 92H240" });
    set(before, { d: bars(x, step * 0.8) });
    set(after, { d: bars(turned, step * 0.44) });
    if (named !== `${order}`) {
      const rows = x.length > 10 ? 2 : 1; // of names, so that they have room beside each other
      set(drawing, { viewBox: `0 0 240 ${138 + 12 * rows}` });
      names.replaceChildren(
        ...order.map((name, i) =>
          svg("text", { x: center(i), y: 147 + 12 * (i % rows), "text-anchor": "middle" }, name),
        ),
      );
      named = `${order}`;
    }
    [...names.children].forEach((text, i) =>
      set(text, { class: pairs[pair].includes(i) ? "tick chosen" : "tick" }),
    );
    score.textContent = format(total);
  }
  return { element: html("div", {}, html("b", {}, title), drawing, html("span", {}, "score ", score)), draw };
}

function conventions() {
  const panels = [
    pairing("Interleaved: 2i with 2i + 1", "interleaved"),
    pairing("Half-split: i with i + d/2", "half"),
    pairing("Half-split, reordered first", "half"),
  ];
  const words = html("p");

  function draw({ query, key, m, n, dim, base, pair }) {
    const order = ropePermutation(dim);
    const plain = order.map((_, i) => i);
    const reorder = (x) => order.map((i) => x[i]);
    const cases = [
      [query, key, plain, "interleaved"],
      [query, key, plain, "half"],
      [reorder(query), reorder(key), order, "half"],
    ];
    const turned = cases.map(([q, , , layout]) => applyRope(q, m, base, layout));
    const scale = largest([...query, ...turned.flat()]) || 1;
    cases.forEach(([x, k, names, layout], i) =>
      panels[i].draw({
        x,
        turned: turned[i],
        order: names,
        pair,
        scale,
        total: sum(pairScores(x, k, m, n, base, layout)),
      }),
    );
    const gap = (x, y) => format(largest(x.map((v, i) => v - y[i])));
    words.textContent =
      `With other partners, the query turned to position ${m} differs by up to ${gap(turned[0], turned[1])} in a coordinate. ` +
      `Take its coordinates in the order ${order.join(" ")} first, and the half-split rotation gives the interleaved ` +
      `result in that order: difference ${gap(reorder(turned[0]), turned[2])}.`;
  }
  const caption =
    "Which coordinates make a pair: the query before its rotation (outline) and after it (filled)";
  const row = html("div", { class: "conventions" }, ...panels.map((panel) => panel.element));
  return { element: html("div", {}, html("p", { class: "heading" }, caption), row, words), draw };
}

// ---------------------------------------------------------------- the widget

function render({ model, el }) {
  const player = motion(model, () => draw());
  const controls = [positionControls(model), shapeControls(model, player)];
  const scores = curve(model);
  const [words, pairs, numbers, layouts] = [readout(), circles(model), table(), conventions()];
  const parts = [words, pairs, scores, numbers, layouts];
  let anchor = {}; // the position and score at which the present distance was first seen

  function draw() {
    const state = readState(model);
    const same = JSON.stringify([state.n - state.m, state.base, state.query, state.key]);
    if (anchor.same !== same) anchor = { same, m: state.m, score: state.score };
    el.classList.toggle("few", state.dim <= 4);
    const width = scores.element.clientWidth || 600; // asked before anything is drawn: one layout a frame
    for (const part of [...controls, ...parts]) part.draw({ ...state, ...player.ahead(), anchor, width });
  }

  el.classList.add("rope");
  el.append(
    html("div", { class: "controls" }, ...controls.map((part) => part.element)),
    words.element,
    html("div", { class: "stage" }, pairs.element, scores.element),
    html(
      "details",
      {},
      html("summary", {}, "Every pair in numbers, and two ways to pair coordinates"),
      numbers.element,
      layouts.element,
    ),
  );
  const unmount = mount({ model, el, traits: ["m", "n", "base", "dim", "pair", "query", "key"], draw });
  return () => {
    player.stop();
    unmount();
  };
}

export default { render };
