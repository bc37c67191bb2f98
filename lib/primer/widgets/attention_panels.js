// The drawings of the attention maps: thumbnails of all heads, the chosen head as a heat map and as arcs.
//
// A map is a queries × keys table with NaN where the mask hides a key; `range` is [low, high], the ends of its colors.

import { clamp, colormap, draggable, format, html, radio, set, svg } from "./kit.js";

// The colors as an image holds them: opacity, blue, green and red in one number.
const COLORS = Uint32Array.from({ length: 256 }, (_, i) => {
  const [red, green, blue] = colormap(i / 255);
  return (255 << 24) | (blue << 16) | (green << 8) | red;
});

/** Paint a map on a canvas, one pixel for each pair; what is masked stays clear. */
function paint(canvas, map, n, [low, high]) {
  const image = new ImageData(n, n);
  const pixels = new Uint32Array(image.data.buffer);
  for (let at = 0; at < map.length; at++) {
    if (!Number.isNaN(map[at])) pixels[at] = COLORS[Math.round((255 * (map[at] - low)) / (high - low))];
  }
  if (canvas.width !== n) Object.assign(canvas, { width: n, height: n });
  canvas.getContext("2d").putImageData(image, 0, 0);
}

// ---------------------------------------------------------------- all heads

/** A map whose rows are divided by their largest entry, so that a small drawing shows what each query mostly reads. */
function byRow(map, n) {
  const result = Float64Array.from(map);
  for (let i = 0; i < n; i++) {
    const row = result.subarray(i * n, (i + 1) * n);
    const largest = row.reduce((most, value) => (value > most ? value : most), 0) || 1;
    for (let j = 0; j < n; j++) row[j] /= largest;
  }
  return result;
}

/** Thumbnails as radio buttons, a row for each layer; choose({ layer, head }). */
export function thumbnails({ n_layers: layers, n_heads: heads }, choose) {
  const cell = (layer, head) => {
    const canvas = html("canvas", { "aria-hidden": "true" });
    const [name, score] = [html("span", { class: "name" }), html("span", { class: "score" })];
    return {
      canvas,
      name,
      score,
      face: html("span", { class: "head" }, canvas, html("b", {}, `${layer}.${head}`), " ", score, " ", name),
    };
  };
  const cells = Array.from({ length: layers * heads }, (_, at) => cell(Math.floor(at / heads), at % heads));
  const choice = radio({
    label:
      "All heads, layer.head, each named by what it does with this text; a row’s brightest key is the one it reads most",
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
        if (weights) paint(canvas, byRow(map, n), n, [0, 1]);
        else paint(canvas, map, n, range(map));
        name.textContent = label.name.replace(" token", "");
        score.textContent = label.score === null ? "" : format(label.score, 2);
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

/** A token's name, cut to the room beside a drawing. */
const label = (text) => (text.length > 8 ? `${text.slice(0, 7)}…` : text);

/** Calls move(x, y), as a drag does, when the mouse passes over an element. */
const hover = (element, move) =>
  set(element, {
    onpointermove: (event) => {
      if (event.pointerType !== "mouse" || event.buttons) return;
      const box = element.getBoundingClientRect();
      move((event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height);
    },
  });

const LABEL =
  "Heat map of the chosen head, a row for each query and a column for each key. Arrow keys move from pair to pair.";

/** The heat map; pick(query, key, how) with how = "hover", "press" or "key". */
export function heatMap(pick) {
  const canvas = html("canvas");
  const grid = html("div", { class: "grid", role: "application", "aria-label": LABEL }, canvas);
  const names = svg("g");
  const [cross, cursor] = [svg("path", { class: "cross" }), svg("rect", { class: "cursor" })];
  const title = (text, y) => svg("text", { class: "tick", x: SIDE - 6, y, "text-anchor": "end" }, text);
  const titles = [title("key →", TOP - 22), title("query ↓", TOP - 7)];
  const drawing = svg("svg", { "aria-hidden": "true" }, ...titles, names, cross, cursor);
  const element = html("div", { class: "map" }, grid, drawing);
  let [n, chosen] = [1, [0, 0]];

  const bound = (i) => clamp(Math.floor(i), 0, n - 1);
  const pickAt = (how) => (x, y) => pick(bound(y * n), bound(x * n), how);
  hover(grid, pickAt("hover"));
  draggable(grid, {
    move: pickAt("press"),
    step: (dx, dy) => pick(bound(chosen[0] - dy), bound(chosen[1] + dx), "key"),
  });

  let size = 1;
  function draw(map, tokens, range, width) {
    n = tokens.length;
    const extent = Math.max(40, Math.min(width - SIDE - EDGE, 30 * n));
    size = extent / n;
    paint(canvas, map, n, range);
    Object.assign(grid.style, {
      left: `${SIDE}px`,
      top: `${TOP}px`,
      width: `${extent}px`,
      height: `${extent}px`,
    });
    const height = TOP + extent + 2;
    set(drawing, { viewBox: `0 0 ${width} ${height}`, width, height });
  }

  /** Move the cursor; nothing else is drawn anew. */
  function point(tokens, query, key) {
    chosen = [query, key];
    const x = (j) => SIDE + j * size;
    const y = (i) => TOP + i * size;
    const queries = tokens.map(
      (text, i) =>
        isNamed(i, size, UPRIGHT, query) &&
        svg(
          "text",
          { class: i === query ? "query" : "tick", x: SIDE - 6, y: y(i + 0.5) + 4, "text-anchor": "end" },
          label(text),
        ),
    );
    const keys = tokens.map(
      (text, j) =>
        isNamed(j, size, SLANTED, key) &&
        svg(
          "text",
          {
            class: j === key ? "key" : "tick",
            transform: `translate(${x(j + 0.5) + 3} ${TOP - 7}) rotate(-55)`,
          },
          label(text),
        ),
    );
    names.replaceChildren(...[...queries, ...keys].filter(Boolean));
    set(cross, {
      d: `M${SIDE} ${y(query)}H${x(key)}M${SIDE} ${y(query + 1)}H${x(key)}M${x(key)} ${TOP}V${y(query)}M${x(key + 1)} ${TOP}V${y(query)}`,
    });
    set(cursor, { x: x(key), y: y(query), width: size, height: size });
  }
  return { element, draw, point };
}

// ---------------------------------------------------------------- one head as arcs

const LEVELS = [0.05, 0.1, 0.2, 0.4, 0.6, 0.8]; // an arc is drawn as strong as the last of these that it reaches

/** Arcs over the text from each query to its keys; who points at a token makes it the query, with its strongest key. */
export function arcs(pick) {
  const bundle = (name) =>
    LEVELS.map((level) => svg("path", { class: name, style: `--strength: ${level + 0.1}` }));
  const [all, earlier, later] = ["all", "earlier", "later"].map(bundle);
  const names = svg("g");
  const drawing = svg("svg", { class: "arcs", "aria-hidden": "true" }, ...all, ...later, ...earlier, names);
  let [weights, n, size, base] = [[], 1, 1, 1];
  const pickAt = (how) => (along) => {
    const query = clamp(Math.floor((along * (n * size + EDGE)) / size), 0, n - 1);
    const own = Array.from({ length: n }, (_, j) => weights[query * n + j] || 0); // 0 where it is masked
    pick(query, own.indexOf(Math.max(...own)), how);
  };
  hover(drawing, pickAt("hover"));
  draggable(drawing, { move: pickAt("press") });

  const x = (i) => (i + 0.5) * size;
  const arc = (i, j) => {
    if (i === j) return `M${x(i)} ${base}v-8`;
    const top = base - (4 / 3) * Math.min(base - 6, 14 + (base - 20) * Math.sqrt(Math.abs(i - j) / n));
    return `M${x(i)} ${base}C${x(i)} ${top} ${x(j)} ${top} ${x(j)} ${base}`;
  };
  function drawBundle(paths, pairs) {
    const lines = LEVELS.map(() => "");
    for (const [i, j] of pairs) {
      const level = LEVELS.findLastIndex((least) => weights[i * n + j] >= least);
      if (level >= 0) lines[level] += arc(i, j);
    }
    paths.forEach((path, level) => set(path, { d: lines[level] }));
  }
  const pairsOf = (i) => Array.from({ length: n }, (_, j) => [i, j]);

  function draw(table, tokens, width) {
    [weights, n, base] = [table, tokens.length, clamp(width / 4, 90, 170)];
    size = (width - EDGE) / n;
    set(drawing, { viewBox: `0 0 ${width} ${base + TOP}`, width, height: base + TOP });
    drawBundle(
      all,
      tokens.flatMap((_, i) => pairsOf(i)),
    );
  }
  function point(tokens, query, key) {
    drawBundle(
      earlier,
      pairsOf(query).filter(([i, j]) => j <= i),
    );
    drawBundle(
      later,
      pairsOf(query).filter(([i, j]) => j > i),
    );
    const place = (i) => ({
      transform: `translate(${x(i) + 4} ${base + 12}) rotate(-55)`,
      "text-anchor": "end",
    });
    names.replaceChildren(
      ...tokens
        .map(
          (text, i) =>
            isNamed(i, size, SLANTED, query, key) &&
            svg(
              "text",
              { class: i === query ? "query" : i === key ? "key" : "tick", ...place(i) },
              label(text),
            ),
        )
        .filter(Boolean),
    );
  }
  return { element: drawing, draw, point };
}
