// Attention by hand: a query and three keys to move, and what the query then reads.
//
// The functions above `NAMES` are the mathematics; the tests compare them with primer.attention.

import {
  axes,
  button,
  checkbox,
  clamp,
  format,
  html,
  linear,
  mount,
  path,
  resultLine,
  set,
  slider,
  svg,
  ticks,
  update,
} from "./kit.js";
import { arrow, grip, movable } from "./plane.js";

const dot = (a, b) => a.reduce((total, x, i) => total + x * b[i], 0);

// The numbers that softmax turns into weights are scores divided by this.
export const divisor = (dim, scaled, temperature) => (scaled ? Math.sqrt(dim) : 1) * temperature;

export function softmax(logits) {
  const largest = Math.max(...logits);
  const powers = logits.map((x) => Math.exp(x - largest));
  const total = powers.reduce((a, b) => a + b);
  return powers.map((p) => p / total);
}

// softmax(q Kᵀ / by) V, with every number on the way.
export function attend(query, keys, values, by) {
  const scores = keys.map((key) => dot(query, key));
  const logits = scores.map((s) => s / by);
  const weights = softmax(logits);
  const shares = values.map((value, j) => value.map((v) => weights[j] * v));
  const context = values[0].map((_, i) => shares.reduce((total, share) => total + share[i], 0));
  return { scores, logits, weights, shares, context };
}

// exp(entropy): how many keys equal weights would be spread over.
export const effectiveKeys = (weights) =>
  Math.exp(-weights.reduce((total, w) => total + (w > 0 ? w * Math.log(w) : 0), 0));

const NAMES = ["₁", "₂", "₃"];
const FAR = {
  key: [
    [-8, 13],
    [-4, 17],
  ],
  value: [
    [-2, 10],
    [-6, 6],
  ],
};
const NEAR = {
  key: [
    [-4, 4],
    [-4, 4],
  ],
  value: [
    [-2, 4],
    [-2, 4],
  ],
};
const FINEST = 10; // marks move in tenths, so that every number can be worked out on paper

// A number without the zeros that say nothing: 5, 0.5, −2.25.
const short = (x) => format(x, 2).replace(/\.?0+$/, "");
const pair = (v) => `(${short(v[0])}, ${short(v[1])})`;

// The ends of a plane's axes: near, unless all is to be seen or a point lies far away.
export function domainOf(kind, points, far) {
  const inside = points.every((point) =>
    point.every((x, i) => NEAR[kind][i][0] <= x && x <= NEAR[kind][i][1]),
  );
  return (inside && !far ? NEAR : FAR)[kind];
}

// A weight with three decimals.
export const writeWeight = (w) => (w > 0 && w < 0.0005 ? "≈ 0" : format(w, 3));

// What the result line says.
export function describe({ weights, context }, words = []) {
  const most = weights.indexOf(Math.max(...weights));
  const name = (j) => (words.length ? `“${words[j]}”` : `key ${j + 1}`);
  const read =
    weights[most] > 0.995
      ? `The query reads ${name(most)} alone`
      : `The query reads ${weights.map((w, j) => `${name(j)} with ${j ? "" : "weight "}${writeWeight(w)}`).join(", ")}`;
  return `${read}: effectively ${format(effectiveKeys(weights), 2)} of 3 keys. The context vector is z = (${context.map((x) => format(x, 2)).join(", ")}).`;
}

// ---------------------------------------------------------------- the two planes

// A plane with one arrow and one mark for each name; `below` is drawn under the arrows, `above` over them.
function plane({ kind, label, points, move, below = [], above = [] }) {
  const grid = svg("g");
  const arrows = points.map(({ color }) => svg("path", { class: `arrow ${color}` }));
  const letters = points.map(({ name, color }) => svg("text", { class: `letter ${color}` }, name));
  const grips = points.map(({ label: text }) => grip(text));
  const inside = svg("svg", {}, ...below, ...arrows.toReversed(), ...above);
  const drawing = svg("svg", { role: "group", "aria-label": label }, grid, inside, ...letters, ...grips);
  let now = null;
  grips.forEach((mark, i) =>
    movable(mark, {
      moveTo: (px, py) => move(i, [now.x.invert(px), now.y.invert(py)]),
      step: (dx, dy) => move(i, [now.places[i][0] + dx / FINEST, now.places[i][1] + dy / FINEST]),
    }),
  );

  function draw(places, weights, size, { domain: [xDomain, yDomain], words }) {
    const box = { x: 34, y: 24, width: size - 42, height: size - 42 }; // both axes are equally long
    const x = linear(xDomain, [box.x, box.x + box.width]);
    const y = linear(yDomain, [box.y + box.height, box.y]);
    now = { x, y, places };
    set(drawing, { viewBox: `0 0 ${size} ${size + 20}`, width: size, height: size + 20 });
    set(inside, { ...box, viewBox: `${box.x} ${box.y} ${box.width} ${box.height}` });
    axes(grid, {
      x,
      y,
      xLabel: "first coordinate",
      yLabel: "second coordinate",
      xTicks: ticks(...xDomain, 6),
      yTicks: ticks(...yDomain, 6),
    });
    const at = ([a, b]) => [x(a), y(b)];
    places.forEach((place, i) => {
      const [px, py] = at(place);
      set(arrows[i], { d: arrow(at([0, 0]), [px, py]), "stroke-width": 1.6 + 4 * (weights[i] ?? 0.35) });
      const [name, word] = [points[i].name, words[i] ?? ""];
      const room = 24 + 8 * (name.length + word.length);
      const right = (place[0] >= 0 ? px + room < size : px - room < box.x) ? 1 : -1; // outwards, if there is room
      letters[i].textContent = word ? `${name} ${word}` : name;
      set(letters[i], {
        x: px + 12 * right,
        y: Math.max(py - 7, box.y + 12),
        "text-anchor": right > 0 ? "start" : "end",
      });
      set(grips[i], { cx: px, cy: py, "aria-label": `${points[i].label}, ${pair(place)}` });
    });
    return at;
  }
  return { drawing, draw };
}

// The keys and the query; a dashed line drops from each key to the line of the query.
function keysPlane(move) {
  const along = svg("path", { class: "along" });
  const drops = NAMES.map((_, j) => svg("path", { class: `drop k${j + 1}` }));
  const points = [
    { name: "q", label: "Query", color: "q" },
    ...NAMES.map((sub, j) => ({ name: `k${sub}`, label: `Key ${j + 1}`, color: `k${j + 1}` })),
  ];
  const { drawing, draw: drawPlane } = plane({
    kind: "key",
    label: "Query and keys; move them with the arrow keys",
    points,
    move,
    below: [along, ...drops],
  });

  function draw({ query, keys, weights, words, domain, size }) {
    const at = drawPlane([query, ...keys], [undefined, ...weights], size, {
      domain,
      words: [undefined, ...words],
    });
    const square = dot(query, query);
    const far = square ? 40 / Math.sqrt(square) : 0;
    set(along, { d: path([-far, far].map((f) => at(query.map((x) => f * x)))) });
    keys.forEach((key, j) => {
      const foot = square ? query.map((x) => (x * dot(query, key)) / square) : key;
      set(drops[j], { d: path([at(key), at(foot)]) });
    });
  }
  return { drawing, draw };
}

// The values and their weighted sum: the shares αⱼvⱼ laid end to end lead to the context vector.
function valuesPlane(move) {
  const hull = svg("path", { class: "hull" });
  const shares = NAMES.map((_, j) => svg("path", { class: `share k${j + 1}` }));
  const context = svg("path", { class: "arrow z" });
  const [tip, letter] = [svg("circle", { class: "tip", r: 5 }), svg("text", { class: "letter z" }, "z")];
  const points = NAMES.map((sub, j) => ({ name: `v${sub}`, label: `Value ${j + 1}`, color: `k${j + 1}` }));
  const { drawing, draw: drawPlane } = plane({
    kind: "value",
    label: "Values and the context vector; move the values with the arrow keys",
    points,
    move,
    below: [hull],
    above: [...shares, context, tip, letter],
  });

  function draw({ values, weights, shares: parts, context: z, words, domain, size }) {
    const at = drawPlane(
      values,
      NAMES.map(() => 0),
      size,
      { domain, words },
    );
    set(hull, { d: `${path(values.map(at))}Z` });
    let from = [0, 0];
    parts.forEach((part, j) => {
      const to = from.map((x, i) => x + part[i]);
      set(shares[j], { d: path([at(from), at(to)]), visibility: weights[j] < 0.0005 ? "hidden" : null });
      from = to;
    });
    const [zx, zy] = at(z);
    set(context, { d: arrow(at([0, 0]), [zx, zy]) });
    set(tip, { cx: zx, cy: zy });
    set(letter, { x: zx - 6, y: zy < size - 42 ? zy + 20 : zy - 10 });
  }
  return { drawing, draw };
}

// The weights as three bars, in sight of the query and the slider.
function weightBars() {
  const parts = NAMES.map((_, j) => [
    html("span", { class: `k${j + 1}` }),
    html("i", { class: `k${j + 1}` }),
    html("b"),
  ]);
  const element = html(
    "div",
    { class: "weights", "aria-hidden": "true" },
    ...parts.map((part) => html("p", {}, ...part)),
  );
  function draw(weights, words) {
    parts.forEach(([name, bar, number], j) => {
      name.textContent = words[j] ?? `key ${j + 1}`;
      bar.style.width = `${(100 * weights[j]).toFixed(2)}%`;
      number.textContent = writeWeight(weights[j]);
    });
  }
  return { element, draw };
}

// ---------------------------------------------------------------- the numbers

function table() {
  const scaled = html("th", { scope: "col" });
  const rows = NAMES.map((sub, j) => {
    const cells = Array.from({ length: 5 }, () => html("td"));
    const bar = html("span", { class: `bar k${j + 1}` });
    const weight = html("span");
    cells[3].append(bar, weight);
    return {
      row: html("tr", {}, html("th", { scope: "row", class: `k${j + 1}` }, `${j + 1}`), ...cells),
      cells,
      bar,
      weight,
    };
  });
  const heads = ["j", "key kⱼ", "score q·kⱼ"].map((text) => html("th", { scope: "col" }, text));
  const [sum, z] = [html("td"), html("td")];
  const element = html(
    "table",
    {},
    html("caption", {}, "Every number on the way"),
    html(
      "thead",
      {},
      html(
        "tr",
        {},
        ...heads,
        scaled,
        html("th", { scope: "col" }, "weight αⱼ"),
        html("th", { scope: "col" }, "αⱼvⱼ"),
      ),
    ),
    html("tbody", {}, ...rows.map(({ row }) => row)),
    html(
      "tfoot",
      {},
      html(
        "tr",
        {},
        html("th", { scope: "row", colspan: 4 }, "sum: all weights, and the context vector z"),
        sum,
        z,
      ),
    ),
  );

  function draw({ query, key, value, scores, logits, weights, shares, context, scale, temperature }) {
    scaled.textContent = `${scale ? "÷ √2" : "÷ 1"}${temperature === 1 ? "" : ` ÷ ${short(temperature)}`}`;
    rows.forEach(({ cells, bar, weight }, j) => {
      const products = query.map(
        (x, i) => `${short(x)}·${key[j][i] < 0 ? `(${short(key[j][i])})` : short(key[j][i])}`,
      );
      cells[0].textContent = pair(key[j]);
      cells[1].replaceChildren(
        html("span", { class: "work" }, `${products.join(" + ")} = `),
        short(scores[j]),
      );
      cells[2].textContent = format(logits[j], 2);
      weight.textContent = writeWeight(weights[j]);
      bar.style.width = `${(100 * weights[j]).toFixed(2)}%`;
      cells[4].replaceChildren(
        html("span", { class: "work" }, `${writeWeight(weights[j])} · ${pair(value[j])} = `),
        `(${shares[j].map((x) => format(x, 2)).join(", ")})`,
      );
    });
    sum.textContent = format(
      weights.reduce((a, b) => a + b),
      3,
    );
    z.textContent = `(${context.map((x) => format(x, 2)).join(", ")})`;
  }
  return { element, draw };
}

// ---------------------------------------------------------------- the widget

function render({ model, el }) {
  const get = (name) => model.get(name);
  const domain = (kind) =>
    domainOf(kind, kind === "key" ? [get("query"), ...get("key")] : get("value"), get("far"));
  const place = (point, kind) => {
    const ends = domain(kind);
    return point.map((x, i) => clamp(Math.round(x * FINEST) / FINEST, ...ends[i]));
  };
  const replace = (name, j, point) =>
    update(model, { [name]: get(name).map((old, i) => (i === j ? place(point, name) : old)) });
  const left = keysPlane((i, point) =>
    i === 0 ? update(model, { query: place(point, "key") }) : replace("key", i - 1, point),
  );
  const right = valuesPlane((j, point) => replace("value", j, point));
  const [numbers, bars, result] = [table(), weightBars(), resultLine()];
  const scale = checkbox({
    label: "divide by √d = √2",
    value: get("scale"),
    change: (v) => update(model, { scale: v }),
  });
  const temperature = slider({
    label: "Temperature τ",
    min: -1,
    max: 2,
    step: 0.01,
    value: Math.log10(get("temperature")),
    text: (v) => format(10 ** v, v < 1 ? 2 : 0),
    change: (v) => update(model, { temperature: 10 ** v }),
  });
  const examples = Object.entries(get("examples")).map(([name, state]) =>
    button(name, () => update(model, structuredClone(state))),
  );

  function draw() {
    const [query, key, value] = ["query", "key", "value"].map(get);
    const state = { scale: get("scale"), temperature: get("temperature") };
    const attention = attend(query, key, value, divisor(query.length, state.scale, state.temperature));
    const width = el.clientWidth - 34; // the card's padding and border
    const size = Math.min(width >= 640 ? (width - 24) / 2 : width, 420);
    scale.set(state.scale);
    temperature.set(Math.log10(state.temperature));
    const words = get("words");
    left.draw({ query, keys: key, ...attention, words, domain: domain("key"), size });
    right.draw({ values: value, ...attention, words, domain: domain("value"), size });
    bars.draw(attention.weights, words);
    numbers.draw({ query, key, value, ...state, ...attention });
    result.say(describe(attention, words));
  }

  el.classList.add("attention-by-hand");
  el.append(
    html(
      "div",
      { class: "controls" },
      temperature.row,
      html("div", { class: "buttons" }, scale.row, html("span", {}, ...examples)),
    ),
    bars.element,
    html(
      "div",
      { class: "views" },
      html("div", {}, html("p", { class: "heading" }, "Query and keys: drag q. Who is heard?"), left.drawing),
      html(
        "div",
        {},
        html("p", { class: "heading" }, "Values: z, their weighted mean, stays inside"),
        right.drawing,
      ),
    ),
    result.row,
    numbers.element,
  );
  return mount({
    model,
    el,
    traits: ["query", "key", "value", "words", "far", "scale", "temperature"],
    draw,
  });
}

export default { render };
