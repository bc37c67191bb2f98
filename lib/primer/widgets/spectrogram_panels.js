// The drawings of the spectrogram widget: the image under the waveform, the spectrum, the spreads.
import { axes, clamp, colormap, format, html, linear, logarithmic, path, set, svg } from "./kit.js";
import { knownFrequency, wordsOf } from "./signals.js";
import { aliasFrequency, framePowers, powerOfTwo } from "./spectrum.js";

// ---------------------------------------------------------------- the image

const MOST_COLUMNS = 320;
const BUDGET = 2e6; // columns × size × log₂ size that a redraw may cost; still several columns per σ_t

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

/**
 * The frames to draw, all of them or as many as there are columns, or time, brought to rows of pixels:
 * for each pixel the upper half of the bits of its power, which gives its level to 0.03 dB.
 */
export function computeFrames({ samples, window, hop }, rows) {
  const size = powerOfTwo(Math.max(512, window.length));
  const most = Math.min(MOST_COLUMNS, Math.floor(BUDGET / size / Math.log2(size)));
  const stride = hop * Math.ceil((samples.length / hop + 1) / most);
  const columns = Math.ceil(samples.length / stride) + 1;
  const power = framePowers(
    samples,
    window,
    Array.from({ length: columns }, (_, m) => m * stride),
    size,
  );
  const bits = new Uint32Array(power.buffer); // positive floats have the order of their bits
  const bins = size / 2 + 1;
  const edges = rowEdges(bins, rows);
  const halves = new Uint16Array(columns * rows);
  for (let column = 0; column < columns; column++) {
    for (let row = 0, at = halves.length - columns + column; row < rows; row++, at -= columns) {
      halves[at] = strongest(bits, column * bins, edges, row) >>> 16;
    }
  }
  return { halves, size, columns, rows, stride };
}

// The level of each half that a positive float can have, and the colors, as the bytes of a pixel.
const LEVELS = new Float32Array(
  Uint32Array.from({ length: 2 ** 15 }, (_, i) => (i << 16) | 0x8000).buffer,
).map(levelOf);
const COLORS = Uint32Array.from({ length: 256 }, (_, i) => {
  const [r, g, b] = colormap(i / 255);
  return 0xff000000 | (b << 16) | (g << 8) | r;
});

/** Paint the frames, one column each, so that the colors reach `decibels` down. */
function paint(canvas, { halves, columns, rows }, decibels) {
  const table = new Uint32Array(LEVELS.length);
  for (let i = 0; i < table.length; i++)
    table[i] = COLORS[clamp(Math.round(255 * (1 + LEVELS[i] / decibels)), 0, 255) || 0];
  const pixels = new Uint32Array(halves.length);
  for (let i = 0; i < pixels.length; i++) pixels[i] = table[halves[i]];
  Object.assign(canvas, { width: columns, height: rows });
  canvas
    .getContext("2d")
    .putImageData(new ImageData(new Uint8ClampedArray(pixels.buffer), columns, rows), 0, 0);
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

const stroke = (g, name) => {
  const paths = ["casing", name].map((c) => g.appendChild(svg("path", { class: c })));
  return (d) => paths.forEach((p) => p.setAttribute("d", d));
};

/** The waveform above the spectrogram, on one time axis, with what moves over both. */
export function timeDrawing() {
  const root = svg("svg", { height: HEIGHT, role: "img", "aria-label": "Waveform and spectrogram" });
  const group = (name) => root.appendChild(svg("g", { class: name }));
  const [waveAxes, imageAxes, beyond, known] = ["wave-axes", "image-axes", "beyond", "known"].map(group);
  const wave = root.insertBefore(svg("path", { class: "wave" }), beyond);
  const shape = root.insertBefore(svg("path", { class: "shape" }), beyond);
  const frame = stroke(root, "frame");
  const head = root.appendChild(svg("path", { class: "head" }));
  const canvas = html("canvas", { "aria-hidden": "true" });
  const picture = html("div", { class: "picture" }, canvas);
  let [x, y, level] = [];

  /** Axes, waveform and what is known: they change with the signal and its sampling rate. */
  const still = (signal, { keep_every, show_known }, { samples, rate }, width) => {
    const words = wordsOf(signal);
    x = linear([signal.start, signal.start + signal.duration], [LEFT, width - RIGHT]);
    y = linear([0, signal.rate / 2], IMAGE);
    level = linear([-signal.scale, signal.scale], WAVE);
    root.setAttribute("width", width);
    axes(waveAxes, { x, y: level, xLabel: "", yLabel: "", xTicks: [], yTicks: [0] });
    axes(imageAxes, { x, y, xLabel: words.axis[0], yLabel: words.axis[1], xText: String });
    wave.setAttribute(
      "d",
      waveformPath(samples, linear([0, samples.length], x.range), linear([-1, 1], WAVE)),
    );
    const edge = y(rate / 2);
    beyond.replaceChildren(
      ...(keep_every > 1
        ? [
            svg("rect", { x: LEFT, y: IMAGE[1], width: x.range[1] - LEFT, height: edge - IMAGE[1] }),
            svg("path", { d: `M${LEFT} ${edge}H${x.range[1]}` }),
            svg("text", { x: LEFT + 8, y: edge - 7 }, `nothing above fₛ/2 = ${words.exact(rate / 2)}`),
          ]
        : []),
    );
    drawKnown(signal, show_known, rate);
  };

  /** The spectrogram, each frame in the middle of its column; it ends at half the sampling rate. */
  const image = (signal, decibels, { hop, rate }, frames) => {
    const columnWidth = (frames.stride / rate / signal.duration) * (x.range[1] - x.range[0]);
    const { rows } = frames;
    paint(canvas, frames, decibels);
    Object.assign(picture.style, {
      left: `${LEFT}px`,
      width: `${x.range[1] - LEFT}px`,
      top: `${IMAGE[0] - rows}px`,
      height: `${rows}px`,
    });
    Object.assign(canvas.style, {
      left: `${-columnWidth / 2}px`,
      width: `${columnWidth * frames.columns}px`,
      imageRendering: frames.stride === hop && columnWidth > 3 ? "pixelated" : "auto", // a large hop is seen as steps
    });
  };

  const drawKnown = (signal, shown, rate) => {
    known.replaceChildren();
    if (!shown) return;
    const times = Array.from({ length: 161 }, (_, i) => (i * signal.duration) / 160);
    const at = (line, value) =>
      path(times.map((t) => [x(signal.start + t), value(knownFrequency(line, t) ?? NaN)]));
    for (const line of signal.lines) {
      stroke(known, "line")(at(line, y));
      stroke(known, "alias")(at(line, (f) => (f > rate / 2 ? y(aliasFrequency(f, rate)) : NaN)));
    }
    for (const { time } of signal.instants)
      stroke(known, "line")(`M${x(signal.start + time)} ${IMAGE[0]}V${IMAGE[1]}`);
    const heights = signal.lines.map((line) => y(line.points.at(-1)[1]));
    signal.lines.forEach((line, i) => {
      const crowded = heights.some((h) => h < heights[i] && heights[i] - h < 13);
      const below = crowded || heights[i] < IMAGE[1] + 14;
      known.append(
        svg(
          "text",
          { x: x.range[1] - 6, y: heights[i] + (below ? 13 : -5), "text-anchor": "end" },
          line.label,
        ),
      );
    });
    for (const { time, label } of signal.instants)
      known.append(svg("text", { x: x(signal.start + time) + 6, y: IMAGE[1] + 14 }, label));
  };

  /** The window, the edges of the frame and the playhead. */
  const move = (signal, time, window, rate) => {
    const at = (n) => clamp(x(signal.start + time + (n - window.length / 2) / rate), LEFT, x.range[1]);
    const points = Array.from({ length: 65 }, (_, i) => (i * window.length) / 64);
    const height = (n, sign) =>
      level(sign * signal.scale * window[Math.min(Math.floor(n), window.length - 1)]);
    const outline = [
      ...points.map((n) => [at(n), height(n, 1)]),
      ...points.reverse().map((n) => [at(n), height(n, -1)]),
    ];
    shape.setAttribute("d", `${path(outline)}Z`);
    frame(`M${at(0)} ${IMAGE[0]}V${IMAGE[1]}M${at(window.length)} ${IMAGE[0]}V${IMAGE[1]}`);
    head.setAttribute("d", `M${x(signal.start + time)} ${IMAGE[0]}V${WAVE[1]}`);
  };
  return { root, picture, still, image, move };
}

/**
 * Where the texts at points go, the first ones first: above or below the point and to its left if
 * `upright`, else to its right or left, where they cover no other point or text; null without room.
 */
export function placeLabels(points, upright, width) {
  const sides = upright
    ? [
        [-8, -7],
        [-8, 13],
      ]
    : [
        [8, 4],
        [-8, 4],
      ];
  const taken = [];
  return points.map(({ x, y, text }, own) => {
    const boxes = sides.map(([dx, dy]) => {
      const [near, far] = [x - Math.sign(dx) * 4, x + dx + Math.sign(dx) * 7.5 * text.length];
      const [left, right] = [Math.min(near, far), Math.max(near, far)];
      return { x: x + dx, y: y + dy, before: dx < 0, left, right, top: y + dy - 13, bottom: y + dy + 4 };
    });
    const free = boxes.find(
      (box) =>
        box.left >= (upright ? 0 : LEFT - 4) &&
        box.right <= width &&
        !points.some(
          (p, i) => i !== own && p.x > box.left && p.x < box.right && p.y > box.top && p.y < box.bottom,
        ) &&
        !taken.some(
          (t) => t.left < box.right && box.left < t.right && t.top < box.bottom && box.top < t.bottom,
        ),
    );
    if (free) taken.push(free);
    return free ?? null;
  });
}

/** The spectrum of the current frame: beside the image, on its frequency axis, or below it. */
export function spectrumDrawing() {
  const root = svg("svg", { class: "spectrum", role: "img", "aria-label": "Spectrum of the current frame" });
  const id = `levels-${Math.random().toString(36).slice(2)}`;
  const stops = Array.from({ length: 9 }, (_, i) =>
    svg("stop", { offset: i / 8, "stop-color": `rgb(${colormap(i / 8)})` }),
  );
  const gradient = root.appendChild(svg("linearGradient", { id, x2: 0, y2: 0 }, ...stops));
  const grid = root.appendChild(svg("g", { class: "spectrum-axes" }));
  const legend = root.appendChild(svg("rect", { fill: `url(#${id})` }));
  const area = root.appendChild(svg("path", { class: "area" }));
  const curve = root.appendChild(svg("path", { class: "curve" }));
  const marks = root.appendChild(svg("g", { class: "marks" }));
  let [place, f, level, upright, across] = [];

  const still = (signal, { decibels }, width, beside) => {
    [upright, across] = [beside, width];
    set(root, { width, height: beside ? HEIGHT - CORNER : 210 });
    const bottom = IMAGE[0] - CORNER;
    f = linear([0, signal.rate / 2], beside ? [bottom, IMAGE[1] - CORNER] : [LEFT, width - RIGHT]);
    level = linear([-decibels, 0], beside ? [6, width - RIGHT] : [172, 18]);
    place = (k, db) =>
      beside ? [level(clamp(db, -decibels, 0)), f(k)] : [f(k), level(clamp(db, -decibels, 0))];
    const dbTicks = { xTicks: [-decibels, -decibels / 2, 0] };
    axes(
      grid,
      beside
        ? { x: level, y: f, xLabel: "level in dB", yLabel: "", ...dbTicks, yText: () => "" }
        : {
            x: f,
            y: level,
            xLabel: wordsOf(signal).axis[1],
            yLabel: "level in dB",
            yTicks: dbTicks.xTicks,
            xText: String,
            yText: (t) => format(t, 0),
          },
    );
    set(gradient, beside ? { x1: 0, x2: 1, y1: 0 } : { x1: 0, x2: 0, y1: 1 });
    set(
      legend,
      beside
        ? { x: level.range[0], y: bottom, width: level.range[1] - level.range[0], height: 4 }
        : { x: LEFT - 4, y: 18, width: 4, height: 154 },
    );
  };

  const move = (signal, power, rate, found) => {
    const bins = power.length;
    const count = Math.min(bins, 400);
    const edges = rowEdges(bins, count);
    const points = Array.from({ length: count }, (_, row) =>
      place((edges[row] / (bins - 1)) * (rate / 2), levelOf(strongest(power, 0, edges, row))),
    );
    const floor = [place(rate / 2, -Infinity), place(0, -Infinity)];
    curve.setAttribute("d", path(points));
    area.setAttribute("d", `${path([...points, ...floor])}Z`);
    const dots = [...found]
      .sort((a, b) => b.level - a.level)
      .map((peak) => {
        const [x, y] = place(peak.frequency, peak.level);
        return { x, y, text: wordsOf(signal).short(peak.frequency) };
      });
    const labels = placeLabels(dots, upright, across).slice(0, 4);
    marks.replaceChildren(
      ...dots.map(({ x, y }) => svg("circle", { cx: x, cy: y, r: 3.5 })),
      ...labels.flatMap((spot, i) =>
        spot
          ? [
              svg(
                "text",
                { x: spot.x, y: spot.y, "text-anchor": spot.before ? "end" : "start" },
                dots[i].text,
              ),
            ]
          : [],
      ),
    );
  };
  return { root, still, move };
}

/** Text with its subscript, which `_` marks, as parts of an SVG text. */
const lowered = (text) =>
  text.split(/_(\w)/).map((piece, i) => svg("tspan", [{}, { dy: 3, "font-size": 9 }, { dy: -3 }][i], piece));

/** Every window is a point (σ_t, σ_f); none lies below the line of the product 1/4π. */
export function spreadDrawing() {
  const root = svg("svg", {
    class: "spreads",
    height: CORNER,
    role: "img",
    "aria-label": "The window's σ_t and σ_f on logarithmic axes, and the limit 1/4π",
  });
  const limit = root.appendChild(svg("path", { class: "limit" }));
  const frame = root.appendChild(svg("path", { class: "axis" }));
  const words = ["σ_t →", "↑ σ_f", "below 1/4π: impossible"].map((text) =>
    root.appendChild(svg("text", { class: "tick" }, ...lowered(text))),
  );
  const dot = root.appendChild(svg("circle", { r: 5 }));
  return {
    root,
    draw: (signal, { time, frequency }, width) => {
      const least = 1 / (4 * Math.PI);
      const [shortest, longest] = [0.4 / signal.rate, 0.3 * signal.duration];
      const [left, right, top, bottom] = [6, width - RIGHT, 6, 78];
      const x = logarithmic([shortest, longest], [left, right]);
      const y = logarithmic([least / longest, 0.8 * signal.rate], [bottom, top]);
      set(root, { width });
      limit.setAttribute("d", `M${left} ${y(least / shortest)}L${right} ${bottom}H${left}Z`);
      frame.setAttribute("d", `M${left} ${top}V${bottom}H${right}`);
      set(words[0], { x: right, y: bottom + 14, "text-anchor": "end" });
      set(words[1], { x: left + 6, y: top + 8 });
      set(words[2], { x: left + 6, y: bottom - 8 });
      set(dot, { cx: x(time), cy: y(frequency) });
    },
  };
}
