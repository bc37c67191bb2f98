// The drawings of the spectrogram widget: the image under the waveform, the spectrum, the spreads.
import {
  axes,
  clamp,
  colormap,
  div,
  format,
  heatMap,
  html,
  lay,
  linear,
  logarithmic,
  path,
} from "../kit/kit.js";
import { paths, set, sketch, svg, uniqueId } from "../kit/kit.js";
import { knownFrequency, wordsOf } from "../shared/signals.js";
import { aliasFrequency, framePowers, powerOfTwo } from "../shared/spectrum.js";

// ---------------------------------------------------------------- the image

const MOST_COLUMNS = 240;
const BUDGET = 1.2e6; // columns × size × log₂ size that a redraw may cost; still several columns per σ_t

export const levelOf = (power) => 10 * Math.log10(power + 1e-12);

/** The first bin of each of `rows` rows, and the end. */
const rowEdges = (bins, rows) =>
  Uint32Array.from({ length: rows + 1 }, (_, row) => Math.round((row * (bins - 1)) / rows));

/** The strongest of the bins that fall on one row, so that no thin line is lost. */
function strongest(values, first, edges, row) {
  let top = values[first + edges[row]];
  for (let k = edges[row] + 1; k < edges[row + 1]; k++) top = Math.max(top, values[first + k]);
  return top;
}

// The level of a power, by the upper half of its bits: to 0.03 dB, without a logarithm for each pixel.
const LEVELS = new Float32Array(
  Uint32Array.from({ length: 2 ** 15 }, (_, i) => (i << 16) | 0x8000).buffer,
).map(levelOf);

/** How long the transform of a window is. */
export const sizeOf = ({ window }) => powerOfTwo(Math.max(512, window.length));

/** The levels to draw, row by row from the top: all frames, or as many as there are columns, or time. */
export function computeFrames({ samples, window, hop }, rows) {
  const size = sizeOf({ window });
  const most = Math.min(MOST_COLUMNS, Math.floor(BUDGET / size / Math.log2(size)));
  const stride = hop * Math.ceil((samples.length / hop + 1) / most);
  const columns = Math.ceil(samples.length / stride) + 1;
  const middles = Array.from({ length: columns }, (_, m) => m * stride);
  const power = framePowers(samples, window, middles, size);
  const bits = new Uint32Array(power.buffer); // positive floats have the order of their bits
  const bins = size / 2 + 1;
  const edges = rowEdges(bins, rows);
  const levels = new Float32Array(columns * rows);
  for (let column = 0; column < columns; column++) {
    for (let row = 0, at = levels.length - columns + column; row < rows; row++, at -= columns) {
      levels[at] = LEVELS[strongest(bits, column * bins, edges, row) >>> 16];
    }
  }
  return { levels, columns, rows, stride };
}

// ---------------------------------------------------------------- the panels

const LEFT = 46; // px of the left drawing before its axes begin
const RIGHT = 8;
const WAVE = [78, 8]; // bottom and top of the waveform, px
const IMAGE = [374, 106];
const HEIGHT = 410;
const CORNER = 96; // height of the drawing beside the waveform

/** The image ends at half the sampling rate: its height in px when every so manieth sample is kept. */
export const imageRows = (every) => Math.max(2, Math.round((IMAGE[0] - IMAGE[1]) / every));

/** The upper and lower outline of many samples, or the samples themselves when there are few. */
function waveformPath(samples, x, y) {
  const columns = Math.ceil(x.range[1] - x.range[0]);
  if (samples.length < 2 * columns) return path([...samples].map((s, n) => [x(n), y(s)]));
  const points = [];
  for (let c = 0; c < columns; c++) {
    const piece = samples.subarray((c * samples.length) / columns, ((c + 1) * samples.length) / columns + 1);
    const middle = x((c + 0.5) * (samples.length / columns));
    points.push([middle, y(Math.min(...piece))], [middle, y(Math.max(...piece))]);
  }
  return path(points);
}

// A line with a dark casing, so that it is seen on bright colors and dark ones.
function cased(g, name, d) {
  g.append(...["casing", name].map((part) => svg("path", { class: part, d })));
}

/** The waveform above the spectrogram, on one time axis, with what moves over both. */
export function timeDrawing() {
  const group = { tag: "g" };
  const { element: root, layers } = sketch({
    label: "Waveform and spectrogram",
    height: HEIGHT,
    layers: {
      ...{ waveAxes: group, imageAxes: group, ...paths("wave", "shape"), beyond: group, known: group },
      ...paths("casing", "frame", "head"),
    },
  });
  const canvas = html("canvas", { "aria-hidden": "true" });
  const picture = div("picture", canvas);
  /** @type {any} */
  let [x, y, level] = [null, null, null];

  function drawAxes(signal, width) {
    x = linear([signal.start, signal.start + signal.duration], [LEFT, width - RIGHT]);
    y = linear([0, signal.rate / 2], IMAGE);
    level = linear([-signal.scale, signal.scale], WAVE);
    set(root, { width });
    const [times, frequencies] = wordsOf(signal).axis;
    const along = { scale: x, label: times, text: String };
    axes(
      layers.waveAxes.element,
      { ...along, label: "", ticks: [] },
      { scale: level, label: "", ticks: [0] },
    );
    axes(layers.imageAxes.element, along, { scale: y, label: frequencies });
  }

  /** The samples that are kept, and what is known of them. */
  function kept(signal, { keep_every, show_known }, { samples, rate }) {
    layers.wave(waveformPath(samples, linear([0, samples.length], x.range), linear([-1, 1], WAVE)));
    const [edge, right] = [y(rate / 2), x.range[1]];
    const hidden = [
      svg("rect", { x: LEFT, y: IMAGE[1], width: right - LEFT, height: edge - IMAGE[1] }),
      svg("path", { d: `M${LEFT} ${edge}H${right}` }),
      svg("text", { x: LEFT + 8, y: edge - 7 }, `nothing above fₛ/2 = ${wordsOf(signal).exact(rate / 2)}`),
    ];
    layers.beyond.element.replaceChildren(...(keep_every > 1 ? hidden : []));
    layers.known.element.replaceChildren();
    if (show_known) drawKnown(layers.known.element, signal, rate);
  }

  /** The spectrogram, each frame in the middle of its column; it ends at half the sampling rate. */
  function image(signal, decibels, { hop, rate }, frames) {
    const columnWidth = (frames.stride / rate / signal.duration) * (x.range[1] - x.range[0]);
    const { rows } = frames;
    heatMap(canvas, frames.levels, frames.columns, [-decibels, 0]);
    lay(picture, { left: LEFT, width: x.range[1] - LEFT, top: IMAGE[0] - rows, height: rows });
    lay(canvas, { left: -columnWidth / 2, width: columnWidth * frames.columns });
    const steps = frames.stride === hop && columnWidth > 3; // a large hop is seen as steps
    canvas.style.imageRendering = steps ? "pixelated" : "auto";
  }

  function drawKnown(known, signal, rate) {
    const times = Array.from({ length: 161 }, (_, i) => (i * signal.duration) / 160);
    const at = (line, value) =>
      path(times.map((t) => [x(signal.start + t), value(knownFrequency(line, t) ?? Number.NaN)]));
    const text = (content, place) => known.append(svg("text", place, content));
    for (const line of signal.lines) {
      cased(known, "line", at(line, y));
      const alias = (f) => (f > rate / 2 ? y(aliasFrequency(f, rate)) : Number.NaN);
      cased(known, "alias", at(line, alias));
    }
    for (const { time } of signal.instants)
      cased(known, "line", `M${x(signal.start + time)} ${IMAGE[0]}V${IMAGE[1]}`);
    const heights = signal.lines.map((line) => y(line.points.at(-1)[1]));
    signal.lines.forEach((line, i) => {
      const crowded = heights.some((h) => h < heights[i] && heights[i] - h < 13);
      const below = crowded || heights[i] < IMAGE[1] + 14;
      text(line.label, { x: x.range[1] - 6, y: heights[i] + (below ? 13 : -5), "text-anchor": "end" });
    });
    for (const { time, label } of signal.instants)
      text(label, { x: x(signal.start + time) + 6, y: IMAGE[1] + 14 });
  }

  /** The window, the edges of the frame and the playhead. */
  function move(signal, time, window, rate) {
    const at = (n) => clamp(x(signal.start + time + (n - window.length / 2) / rate), LEFT, x.range[1]);
    const points = Array.from({ length: 65 }, (_, i) => (i * window.length) / 64);
    const height = (n, sign) =>
      level(sign * signal.scale * window[Math.min(Math.floor(n), window.length - 1)]);
    const side = (sign) => points.map((n) => [at(n), height(n, sign)]);
    const edges = `M${at(0)} ${IMAGE[0]}V${IMAGE[1]}M${at(window.length)} ${IMAGE[0]}V${IMAGE[1]}`;
    layers.shape(`${path([...side(1), ...side(-1).reverse()])}Z`);
    layers.casing(edges);
    layers.frame(edges);
    layers.head(`M${x(signal.start + time)} ${IMAGE[0]}V${WAVE[1]}`);
  }
  return { root, picture, axes: drawAxes, kept, image, move };
}

const overlap = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;

/**
 * Where the texts at points go, the first ones first: above or below the point and to its left if
 * `upright`, else to its right or left, where they cover no other point or text; null without room.
 */
export function placeLabels(points, upright, width) {
  const spots = points.map(({ x, y }) => ({ left: x, right: x, top: y, bottom: y }));
  const taken = [];
  return points.map(({ x, y, text }, own) => {
    const boxes = [0, 1].map((second) => {
      const dx = second || upright ? -8 : 8;
      const dy = upright ? [-7, 13][second] : 4;
      const [near, far] = [x - Math.sign(dx) * 4, x + dx + Math.sign(dx) * 7.5 * text.length];
      const [left, right] = [Math.min(near, far), Math.max(near, far)];
      return { x: x + dx, y: y + dy, before: dx < 0, left, right, top: y + dy - 13, bottom: y + dy + 4 };
    });
    const others = [...spots.toSpliced(own, 1), ...taken];
    const inside = ({ left, right }) => left >= (upright ? 0 : LEFT - 4) && right <= width;
    const free = boxes.find((box) => inside(box) && !others.some((other) => overlap(box, other)));
    if (free) taken.push(free);
    return free ?? null;
  });
}

/** The spectrum of the current frame: beside the image, on its frequency axis, or below it. */
export function spectrumDrawing() {
  const id = uniqueId();
  const { element: root, layers } = sketch({
    label: "Spectrum of the current frame",
    name: "spectrum",
    layers: {
      gradient: { tag: "linearGradient", id, x2: 0, y2: 0 },
      axes: { tag: "g", class: "spectrum-axes" },
      legend: { tag: "rect", class: null, fill: `url(#${id})` },
      ...paths("area", "curve"),
      peak: { tag: "circle", many: true, r: 3.5 },
      name: { tag: "text", many: true },
    },
  });
  const stop = (_, i) => svg("stop", { offset: i / 8, "stop-color": `rgb(${colormap(i / 8)})` });
  layers.gradient.element.append(...Array.from({ length: 9 }, stop));
  /** @type {any} */
  let [place, upright, across] = [null, true, 0];

  function still(signal, decibels, width, beside) {
    upright = beside;
    across = width;
    set(root, { width, height: beside ? HEIGHT - CORNER : 210 });
    const bottom = IMAGE[0] - CORNER;
    const f = linear([0, signal.rate / 2], beside ? [bottom, IMAGE[1] - CORNER] : [LEFT, width - RIGHT]);
    const level = linear([-decibels, 0], beside ? [14, width - RIGHT] : [172, 18]);
    place = (k, db) => {
      const at = [level(clamp(db, -decibels, 0)), f(k)];
      return beside ? at : at.reverse();
    };
    const text = (t) => format(t, 0);
    const levels = { scale: level, label: "level in dB", ticks: [-decibels, -decibels / 2, 0], text };
    const frequencies = { scale: f, label: wordsOf(signal).axis[1], text: String };
    const own = layers.axes.element;
    if (beside) axes(own, levels, { ...frequencies, label: "", text: () => "" });
    else axes(own, frequencies, levels);
    layers.gradient(beside ? { x1: 0, x2: 1, y1: 0 } : { x1: 0, x2: 0, y1: 1 });
    const strip = { x: level.range[0], y: bottom, width: level.range[1] - level.range[0], height: 4 };
    layers.legend(beside ? strip : { x: LEFT - 4, y: 18, width: 4, height: 154 });
  }

  function move(signal, power, rate, found) {
    const bins = power.length;
    const count = Math.min(bins, 270); // more than the axis has pixels beside the image
    const edges = rowEdges(bins, count);
    const points = Array.from({ length: count }, (_, row) =>
      place((edges[row] / (bins - 1)) * (rate / 2), levelOf(strongest(power, 0, edges, row))),
    );
    const floor = [rate / 2, 0].map((k) => place(k, Number.NEGATIVE_INFINITY));
    const curve = path(points);
    layers.curve(curve);
    layers.area(`${curve}L${floor.join("L")}Z`);
    const dot = ({ frequency, level }) => {
      const [x, y] = place(frequency, level);
      return { x, y, text: wordsOf(signal).short(frequency) };
    };
    const dots = found.toSorted((a, b) => b.level - a.level).map(dot);
    const spots = placeLabels(dots, upright, across).slice(0, 4);
    const anchor = (before) => ({ "text-anchor": before ? "end" : "start" });
    const name = ({ x, y, before }, i) => ({ x, y, words: dots[i].text, ...anchor(before) });
    layers.peak(dots, ({ x, y }) => ({ cx: x, cy: y }));
    layers.name(spots.flatMap((spot, i) => (spot ? name(spot, i) : [])));
  }
  return { root, still, move };
}

/** Text with its subscript, which `_` marks, as parts of an SVG text. */
const lowered = (text) =>
  text.split(/_(\w)/).map((piece, i) => svg("tspan", [{}, { dy: 3, "font-size": 9 }, { dy: -3 }][i], piece));

/** Every window is a point (σ_t, σ_f); none lies below the line of the product 1/4π. Axes meet at (6, 78). */
export function spreadDrawing() {
  const tick = { tag: "text", class: "tick" };
  const { element: root, layers } = sketch({
    label: "The window's σ_t and σ_f on logarithmic axes, and the limit 1/4π",
    name: "spreads",
    height: CORNER,
    layers: {
      ...{ ...paths("limit", "axis"), time: tick, frequency: tick, below: tick, impossible: tick },
      dot: { tag: "circle", r: 5 },
    },
  });
  const words = { time: "σ_t →", frequency: "↑ σ_f", below: "below 1/4π:", impossible: "impossible" };
  for (const [name, text] of Object.entries(words)) layers[name].element.append(...lowered(text));
  function draw(signal, { time, frequency }, width) {
    const least = 1 / (4 * Math.PI);
    const shortest = 0.4 / signal.rate;
    const longest = 0.3 * signal.duration;
    const right = width - RIGHT;
    const x = logarithmic([shortest, longest], [6, right]);
    const y = logarithmic([least / longest, 0.8 * signal.rate], [78, 6]);
    set(root, { width });
    layers.limit(`M6 ${y(least / shortest)}L${right} 78H6Z`);
    layers.axis(`M6 6V78H${right}`);
    layers.time({ x: right, y: 92, "text-anchor": "end" });
    layers.frequency({ x: 12, y: 14 });
    layers.below({ x: 12, y: 58 }); // in two short lines, which no dot reaches
    layers.impossible({ x: 12, y: 70 });
    layers.dot({ cx: x(time), cy: y(frequency) });
  }
  return { root, draw };
}
