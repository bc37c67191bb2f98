// The drawings of the attention maps: thumbnails of all heads, the chosen head as a heat map and as arcs.
//
// A map is a queries × keys table with NaN where the mask hides a key; `range` is [low, high], the ends of its colors.

import {
  clamp,
  div,
  draggable,
  format,
  heatMap,
  hover,
  html,
  lay,
  radio,
  set,
  sketch,
  span,
} from "../kit/kit.js";
import { write } from "../kit/kit.js";
import { cut } from "../shared/tokenizer.js";

// ---------------------------------------------------------------- all heads

/** A map whose rows are divided by their largest entry, so that a small drawing shows what each query mostly reads. */
function byRow(map, n) {
  const result = Float64Array.from(map);
  for (let i = 0; i < n; i++) {
    const row = result.subarray(i * n, (i + 1) * n);
    const largest = row.reduce((most, value) => Math.max(most, value || 0), 0) || 1;
    for (let j = 0; j < n; j++) row[j] /= largest;
  }
  return result;
}

const HEADS =
  "All heads, layer.head, both counted from 0, each named by what it does with this text; a row’s brightest key is the one it reads most";

/** Thumbnails as radio buttons, a row for each layer; choose({ layer, head }). */
export function thumbnails({ n_layers: layers, n_heads: heads }, choose) {
  const cell = (layer, head) => {
    const canvas = html("canvas", { "aria-hidden": "true" });
    const [number, name, score] = [html("b", {}, `${layer}.${head}`), span("name"), span("score")];
    return { canvas, name, score, face: span("head", canvas, number, " ", score, " ", name) };
  };
  const cells = Array.from({ length: layers * heads }, (_, at) => cell(Math.floor(at / heads), at % heads));
  const choice = radio({
    label: HEADS,
    value: 0,
    options: cells.map(({ face }, at) => [at, face]),
    change: (at) => choose({ layer: Math.floor(at / heads), head: at % heads }),
  });
  choice.row.classList.add("heads");
  choice.row.style.setProperty("--heads", heads);
  return {
    element: choice.row,
    choose: (layer, head) => choice.set(layer * heads + head),
    draw(maps, names, n, range, weights) {
      cells.forEach(({ canvas, name, score }, at) => {
        const [map, label] = [maps, names].map((table) => table[Math.floor(at / heads)][at % heads]);
        if (weights) heatMap(canvas, byRow(map, n), n, [0, 1]);
        else heatMap(canvas, map, n, range(map));
        write(name, label.name.replace(" token", ""));
        write(score, label.score === null ? "" : format(label.score, 2));
      });
    },
  };
}

// ---------------------------------------------------------------- one head as a heat map

const SIDE = 76; // room for the queries' names
const TOP = 64; // room for the keys' names
const EDGE = 26; // room for the last of the slanted names
const [UPRIGHT, SLANTED] = [10, 13]; // from one name to the next, at least

/** Names along one side: as many as there is room for, the chosen ones always. */
const isNamed = (i, size, room, ...chosen) =>
  chosen.includes(i) ||
  (i % Math.ceil(room / size) === 0 && chosen.every((other) => Math.abs(i - other) * size >= room));

const slanted = (x, y) => ({ transform: `translate(${x} ${y}) rotate(-55)` });

const LABEL =
  "Heat map of the chosen head, a row for each query and a column for each key. Arrow keys move from pair to pair.";

/** The heat map; pick(query, key, how) with how = "hover", "press" or "key". */
export function pairMap(pick) {
  const canvas = html("canvas");
  const grid = html("div", { class: "grid", role: "application", "aria-label": LABEL }, canvas);
  const keys = { tag: "text", class: "tick", many: true };
  const queries = { ...keys, x: SIDE - 6, "text-anchor": "end" };
  const { element: drawing, layers } = sketch({
    layers: { title: queries, queries, keys, cross: "path", cursor: "rect" },
  });
  const titles = { "key →": TOP - 22, "query ↓": TOP - 7 };
  layers.title(Object.entries(titles), ([words, y]) => ({ words, y }));
  let [n, size, chosen] = [1, 1, [0, 0]];

  const bound = (i) => clamp(Math.floor(i), 0, n - 1);
  const pickAt = (how) => (x, y) => pick(bound(y * n), bound(x * n), how);
  hover(grid, pickAt("hover"));
  draggable(grid, {
    move: pickAt("press"),
    step: (dx, dy) => pick(bound(chosen[0] - dy), bound(chosen[1] + dx), "key"),
  });

  function draw(map, tokens, range, width) {
    n = tokens.length;
    const extent = Math.max(40, Math.min(width - SIDE - EDGE, 30 * n));
    size = extent / n;
    heatMap(canvas, map, n, range);
    lay(grid, { left: SIDE, top: TOP, width: extent, height: extent });
    const height = TOP + extent + 2;
    set(drawing, { viewBox: `0 0 ${width} ${height}`, width, height });
  }

  /** Move the cursor; nothing else is drawn anew. */
  function point(tokens, query, key) {
    chosen = [query, key];
    const x = (j) => SIDE + j * size;
    const y = (i) => TOP + i * size;
    const name = (kind, i, own) => ({ class: i === own ? kind : "tick", words: cut(tokens[i]) });
    const named = (room, own) => [...tokens.keys()].filter((i) => isNamed(i, size, room, own));
    layers.queries(named(UPRIGHT, query), (i) => ({ ...name("query", i, query), y: y(i + 0.5) + 4 }));
    layers.keys(named(SLANTED, key), (j) => ({
      ...name("key", j, key),
      ...slanted(x(j + 0.5) + 3, TOP - 7),
    }));
    const rows = [query, query + 1].map((i) => `M${SIDE} ${y(i)}H${x(key)}`);
    const columns = [key, key + 1].map((j) => `M${x(j)} ${TOP}V${y(query)}`);
    layers.cross([...rows, ...columns].join(""));
    layers.cursor({ x: x(key), y: y(query), width: size, height: size });
  }
  return { element: div("map", grid, drawing), draw, point };
}

// ---------------------------------------------------------------- one head as arcs

const LEVELS = [0.05, 0.1, 0.2, 0.4, 0.6, 0.8]; // an arc is drawn as strong as the last of these that it reaches

/** Arcs over the text from each query to its keys; who points at a token makes it the query, with its strongest key. */
export function arcs(pick) {
  const bundle = { tag: "path", many: true };
  const names = { tag: "text", many: true, "text-anchor": "end" };
  const { element: drawing, layers } = sketch({
    name: "arcs",
    layers: { all: bundle, later: bundle, earlier: bundle, names },
  });
  let [weights, n, size, base] = [[], 1, 1, 1];
  const weightsOf = (i) => Array.from({ length: n }, (_, j) => weights[i * n + j] || 0); // 0 where it is masked
  const pickAt = (how) => (along) => {
    const query = clamp(Math.floor((along * (n * size + EDGE)) / size), 0, n - 1);
    const own = weightsOf(query);
    pick(query, own.indexOf(Math.max(...own)), how);
  };
  hover(drawing, pickAt("hover"));
  draggable(drawing, { move: pickAt("press") });

  const x = (i) => (i + 0.5) * size;
  const arc = (i, j) => {
    if (i === j) return `M${x(i)} ${base}v-8`;
    const height = 14 + (base - 20) * Math.sqrt(Math.abs(i - j) / n); // below base - 6, as |i - j| < n
    const top = base - (4 / 3) * height;
    return `M${x(i)} ${base}C${x(i)} ${top} ${x(j)} ${top} ${x(j)} ${base}`;
  };
  function drawBundle(layer, queries, wanted = (_i, _j) => true) {
    const lines = LEVELS.map(() => "");
    for (const i of queries) {
      weightsOf(i).forEach((weight, j) => {
        const level = LEVELS.findLastIndex((least) => weight >= least);
        if (level >= 0 && wanted(i, j)) lines[level] += arc(i, j);
      });
    }
    layer(lines, (d, level) => ({ d, style: `--strength: ${LEVELS[level] + 0.1}` }));
  }

  function draw(table, tokens, width) {
    [weights, n, base] = [table, tokens.length, clamp(width / 4, 90, 170)];
    size = (width - EDGE) / n;
    set(drawing, { viewBox: `0 0 ${width} ${base + TOP}`, width, height: base + TOP });
    drawBundle(layers.all, tokens.keys());
  }
  function point(tokens, query, key) {
    drawBundle(layers.earlier, [query], (i, j) => j <= i);
    drawBundle(layers.later, [query], (i, j) => j > i);
    const kind = (i) => (i === query ? "query" : i === key ? "key" : "tick");
    const named = [...tokens.keys()].filter((i) => isNamed(i, size, SLANTED, query, key));
    const place = (i) => slanted(x(i) + 4, base + 12);
    layers.names(named, (i) => ({ class: kind(i), words: cut(tokens[i]), ...place(i) }));
  }
  return { element: drawing, draw, point };
}
