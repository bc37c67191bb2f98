// Attention by hand: a query and three keys to move, and what the query then reads.
//
// The functions above `NAMES` are the mathematics; the tests compare them with primer.attention.

import { button, clamp, columns, div, format, heading, html, panel, paragraph, path } from "../kit/kit.js";
import { memory, resultLine, short, span, sum, ticks, widen, widget, write } from "../kit/kit.js";
import { aroundMarks, news } from "../shared/in_turns.js";
import { table } from "../shared/table.js";
import { tuple } from "../shared/tuple.js";
import { placeNames } from "./names.js";
import { effectiveChoices, softmax } from "../shared/probability.js";

export { effectiveChoices as effectiveKeys } from "../shared/probability.js";

const dot = (a, b) => sum(a.map((x, i) => x * b[i]));

// The numbers that softmax turns into weights are scores divided by this.
export const divisor = (dim, scaled, temperature) => (scaled ? Math.sqrt(dim) : 1) * temperature;

// softmax(q Kᵀ / by) V, with every number on the way.
export function attend(query, keys, values, by) {
  const scores = keys.map((key) => dot(query, key));
  const logits = scores.map((s) => s / by);
  const weights = [...softmax(logits)];
  const shares = values.map((value, j) => value.map((v) => weights[j] * v));
  const context = values[0].map((_, i) => sum(shares.map((share) => share[i])));
  return { scores, logits, weights, shares, context };
}

const NAMES = ["₁", "₂", "₃"];
const NEAR = { key: [-4, 4], value: [-2, 4] }; // the ends of both axes
const FAR = { key: { x: [-8, 13], y: [-4, 17] }, value: { x: [-2, 10], y: [-6, 6] } };
const FINEST = 10; // marks move in tenths, so that every number can be worked out on paper

const pair = (v) => tuple(v, (x) => short(x));

// The ends of a plane's axes: near, unless all is to be seen or a point lies far away.
export function domainOf(kind, points, far) {
  const [low, high] = NEAR[kind];
  const inside = points.flat().every((x) => low <= x && x <= high);
  const { x, y } = inside && !far ? { x: NEAR[kind], y: NEAR[kind] } : FAR[kind];
  return [x, y];
}

// A weight with three decimals.
export const writeWeight = (w) => (w > 0 && w < 0.0005 ? "≈ 0" : format(w, 3));

// What the result line says.
export function describe({ weights, context }, words = []) {
  const most = weights.indexOf(Math.max(...weights));
  const name = (j) => (words.length ? `“${words[j]}”` : `key ${j + 1}`);
  const part = (w, j) => `${name(j)} with ${j ? "" : "weight "}${writeWeight(w)}`;
  const read = weights[most] > 0.995 ? `${name(most)} alone` : weights.map(part).join(", ");
  return `The query reads ${read}: effectively ${format(effectiveChoices(weights), 2)} of 3 keys. The context vector is z = ${tuple(context)}.`;
}

// ---------------------------------------------------------------- the two planes

const COLORS = ["k1", "k2", "k3"];

// A layer of a kind for each color: arrow_k1, arrow_k2, …
const perColor = (kind, colors, tag = "path") =>
  Object.fromEntries(colors.map((color) => [`${kind}_${color}`, { tag, class: `${kind} ${color}` }]));

// A plane with one arrow and one mark for each point { name, label, color, share }; `layers` of its own are
// drawn under the arrows, `over` above them, by drawOwn(layers, plot, state).
function plane({ label, points, move, under = {}, above = {}, draw: drawOwn }) {
  const axis = (name, [low, high]) => ({
    ...{ domain: [low, high], label: `${name} coordinate`, ticks: ticks(low, high, 6) },
  });
  const [colors, once] = [points.map(({ color }) => color), memory()];
  return panel({
    label,
    margin: [24, 8, 38, 34],
    height: (width) => width + 20, // both axes are equally long
    widest: 420,
    x: ({ domain }) => once("x", domain[0], () => axis("first", domain[0])),
    y: ({ domain }) => once("y", domain[1], () => axis("second", domain[1])),
    layers: { ...under, ...perColor("arrow", colors.toReversed()), ...above },
    over: perColor("letter", colors, "text"),
    marks: [
      {
        count: () => points.length,
        at: ({ places }, i) => places[i],
        label: ({ places }, i) => `${points[i].label}, ${pair(places[i])}`,
        move: (place, i) => move(i, place),
        step: 1 / FINEST, // marks move in tenths, so that every number can be worked out on paper
      },
    ],
    draw(layers, plot, state) {
      const { at, x, y, arrow } = plot;
      const { places, shares, words } = state;
      const origin = at([0, 0]);
      const text = ({ name }, i) => (words[i] ? `${name} ${words[i]}` : name);
      const named = places.map((place, i) => ({ tip: at(place), from: origin, text: text(points[i], i) }));
      points.forEach(({ color }, i) =>
        layers[`arrow_${color}`]({ d: arrow([0, 0], places[i]), "stroke-width": 1.6 + 4 * shares[i] }),
      );
      const { lines = [], own = [] } = drawOwn(layers, plot, state);
      const arrows = [...named, ...own].map(({ from, tip }) => [from, tip]);
      const [left, right, top, bottom] = [...x.range, y.range[1], y.range[0]];
      const frame = { left, right, top, bottom };
      const given = [[...named, ...own], [...arrows, ...lines], frame];
      const spots = once("spots", given, () => placeNames(...given));
      points.forEach(({ color }, i) => layers[`letter_${color}`](named[i].text, spots[i]));
      own.forEach(({ text: words }, i) => layers.letter(words, spots[named.length + i]));
    },
  });
}

// The keys and the query; a dashed line drops from each key to the line of the query.
const keysPlane = (move) =>
  plane({
    label: "Query and keys; move them with the arrow keys",
    move,
    points: [
      { name: "q", label: "Query", color: "q" },
      ...COLORS.map((color, j) => ({ name: `k${NAMES[j]}`, label: `Key ${j + 1}`, color })),
    ],
    under: { along: "path", ...perColor("drop", COLORS) },
    draw(layers, { at, line }, { places: [query, ...keys] }) {
      const square = dot(query, query);
      const far = square ? 40 / Math.sqrt(square) : 0;
      const along = [-far, far].map((f) => query.map((x) => f * x));
      const drops = keys.map((key) => [key, square ? query.map((x) => (x * dot(query, key)) / square) : key]);
      layers.along(line(along));
      drops.forEach((drop, j) => layers[`drop_${COLORS[j]}`](line(drop)));
      return { lines: [along, ...drops].map((ends) => ends.map(at)) };
    },
  });

// The values and their weighted sum: the shares αⱼvⱼ laid end to end lead to the context vector.
const valuesPlane = (move) =>
  plane({
    label: "Values and the context vector; move the values with the arrow keys",
    move,
    points: COLORS.map((color, j) => ({ name: `v${NAMES[j]}`, label: `Value ${j + 1}`, color })),
    under: { hull: "path" },
    above: {
      ...perColor("share", COLORS),
      z: { tag: "path", class: "arrow z" },
      tip: { tag: "circle", r: 5 },
      letter: { tag: "text", class: "letter z" },
    },
    draw(layers, { at, line, arrow }, { places, weights, parts, context }) {
      layers.hull(`${line(places)}Z`);
      let from = [0, 0];
      const steps = parts.map((part) => {
        const step = [from, from.map((x, i) => x + part[i])];
        from = step[1];
        return step.map(at);
      });
      steps.forEach((step, j) => layers[`share_${COLORS[j]}`](weights[j] < 0.0005 ? null : path(step)));
      const tip = at(context);
      layers.z(arrow([0, 0], context));
      layers.tip({ cx: tip[0], cy: tip[1] });
      const edges = places.map((place, j) => [at(place), at(places[(j + 1) % places.length])]);
      return { lines: [...steps, ...edges], own: [{ tip, from: at([0, 0]), text: "z" }] };
    },
  });

// The weights as three bars, in sight of the query and the slider.
function weightBars() {
  const parts = COLORS.map((color) => [span(color), html("i", { class: color }), html("b")]);
  const rows = parts.map((part) => paragraph("", ...part));
  const element = html("div", { class: "weights", "aria-hidden": "true" }, ...rows);
  function draw(weights, words) {
    parts.forEach(([name, bar, number], j) => {
      write(name, words[j] ?? `key ${j + 1}`);
      widen(bar, weights[j]);
      write(number, writeWeight(weights[j]));
    });
  }
  return { element, draw };
}

// ---------------------------------------------------------------- the numbers

const product = (x, y) => `${short(x)}·${y < 0 ? `(${short(y)})` : short(y)}`;

// Cells that hold two things keep them, and only their texts are written.
const cellsOf = (color) => ({
  ...{ score: [span("work"), span("")], share: [span("work"), span("")] },
  weight: [span(`bar ${color}`), span("")],
});
const say = (cell, ...texts) => texts.forEach((text, i) => write(cell[i], text));

function numbers() {
  const [cells, once] = [COLORS.map(cellsOf), memory()];
  const list = table({
    caption: "Every number on the way",
    head: ["j", "key kⱼ", "score q·kⱼ", "÷ √2", "weight αⱼ", "αⱼvⱼ"],
  });
  function draw({ query, key, value, scores, logits, weights, shares, context, scale, temperature }) {
    const row = (color, j) => {
      const { score, weight, share } = cells[j];
      const terms = () => query.map((x, i) => product(x, key[j][i])).join(" + ");
      once(`score ${j}`, [query, key[j]], () => say(score, `${terms()} = `, short(scores[j])));
      widen(weight[0], weights[j]);
      write(weight[1], writeWeight(weights[j]));
      say(share, `${writeWeight(weights[j])} · ${pair(value[j])} = `, tuple(shares[j]));
      const index = { text: `${j + 1}`, class: color };
      return [index, pair(key[j]), score, format(logits[j], 2), weight, share];
    };
    const heat = temperature === 1 ? "" : ` ÷ ${short(temperature)}`;
    write(list.headings[3], `${scale ? "÷ √2" : "÷ 1"}${heat}`);
    const total = "sum: all weights, and the context vector z";
    list.draw(COLORS.map(row), { foot: [total, format(sum(weights)), tuple(context)] });
  }
  return { element: list.element, draw };
}

// ---------------------------------------------------------------- the widget

export default widget("attention-by-hand", ({ controls, get, write: put, redraw }) => {
  const domain = (kind) =>
    domainOf(kind, kind === "key" ? [get("query"), ...get("key")] : get("value"), get("far"));
  const place = (point, kind) => {
    const ends = domain(kind);
    return point.map((x, i) => clamp(Math.round(x * FINEST) / FINEST, ...ends[i]));
  };
  const replace = (name, j, point) =>
    put({ [name]: get(name).map((old, i) => (i === j ? place(point, name) : old)) });
  const left = keysPlane((i, point) =>
    i === 0 ? put({ query: place(point, "key") }) : replace("key", i - 1, point),
  );
  const right = valuesPlane((j, point) => replace("value", j, point));
  const [rows, bars, result] = [numbers(), weightBars(), resultLine()];
  const example = ([name, state]) => button(name, () => put(structuredClone(state)));
  const examples = get("examples").map(example);

  const [once, anew] = [memory(), news()];
  const attention = ({ query, key, value, scale, temperature }) =>
    once("attention", [query, key, value, scale, temperature], () =>
      attend(query, key, value, divisor(query.length, scale, temperature)),
    );
  const listen = (state) => {
    const { query, key, words } = state;
    const { weights } = attention(state);
    return anew("left", [query, key, words, weights, domain("key")], () => {
      const shares = [0.35, ...weights];
      left.draw({ places: [query, ...key], shares, words: ["", ...words], domain: domain("key") });
      bars.draw(weights, words);
    });
  };
  const read = (state) => {
    const { value: places, words } = state;
    const { weights, context, shares: parts } = attention(state);
    return anew("right", [places, words, weights, domain("value")], () =>
      right.draw({ places, shares: [0, 0, 0], words, domain: domain("value"), weights, parts, context }),
    );
  };
  // the values have marks too: they wait for their turn only while none of them moves
  const planes = (state) => {
    const moved = anew("values", [state.value, domain("value")]) && read(state);
    return listen(state) || moved;
  };
  const tell = (state) => {
    read(state);
    rows.draw({ ...state, ...attention(state) });
    result.say(describe(attention(state), state.words));
    return true;
  };
  const picture = aroundMarks(redraw, planes, tell);

  return {
    layout: [
      div("controls", controls.temperature, div("buttons", controls.scale, span("", ...examples))),
      bars,
      columns(
        "views",
        [heading("Query and keys: drag q. Who is heard?"), left],
        [heading("Values: z, their weighted mean, stays inside"), right],
      ),
      result,
      rows,
    ],
    draw: picture.draw,
    stop: picture.stop,
  };
});
