// The spectrogram widget: the mathematics first, then sound in and out, then the view.
import { axes, button, checkbox, clamp, colormap, format, html, linear, logarithmic, mount, path, play, radio, resultLine, set, slider, svg, update } from "./kit.js";

// ---------------------------------------------------------------- mathematics

const plans = new Map();

/** Cosines and sines of the half circle, and the bit-reversed order, for transforms of one size. */
function plan(size) {
  if (!plans.has(size)) {
    const half = (f) => Float64Array.from({ length: size / 2 }, (_, k) => f((2 * Math.PI * k) / size));
    const order = new Uint32Array(size);
    for (let i = 1; i < size; i++) order[i] = (order[i >> 1] >> 1) | (i & 1 ? size >> 1 : 0);
    plans.set(size, { cos: half(Math.cos), sin: half(Math.sin), order });
  }
  return plans.get(size);
}

/** X[k] = Σ x[n] exp(−2πi kn/N), in place, for N a power of two. */
export function fft(re, im) {
  const size = re.length;
  const { cos, sin, order } = plan(size);
  for (let i = 0; i < size; i++) {
    const j = order[i];
    if (j > i) {
      const real = re[i];
      const imaginary = im[i];
      re[i] = re[j];
      im[i] = im[j];
      re[j] = real;
      im[j] = imaginary;
    }
  }
  for (let half = 1, stride = size >> 1; half < size; half *= 2, stride >>= 1) {
    for (let start = 0; start < size; start += 2 * half) {
      for (let k = 0, i = start; k < half; k++, i++) {
        const j = i + half;
        const c = cos[k * stride];
        const s = sin[k * stride];
        const oddRe = re[j] * c + im[j] * s;
        const oddIm = im[j] * c - re[j] * s;
        re[j] = re[i] - oddRe;
        im[j] = im[i] - oddIm;
        re[i] += oddRe;
        im[i] += oddIm;
      }
    }
  }
  return { re, im };
}

const powerOfTwo = (least) => 2 ** Math.ceil(Math.log2(least));

const SHAPES = {
  rectangular: () => 1,
  Hann: (n, length) => Math.sin((Math.PI * n) / length) ** 2,
  Gaussian: (n, length) => Math.exp(-0.5 * ((n - length / 2) / (length / 6)) ** 2),
};

/** The periodic window of one of these names. */
export function windowShape(name, length) {
  return Float64Array.from({ length }, (_, n) => SHAPES[name](n, length));
}

/** Every `every`-th sample, without a low-pass filter: what lies above half the new rate aliases. */
export function decimate(samples, every) {
  return Float32Array.from({ length: Math.ceil(samples.length / every) }, (_, n) => samples[n * every]);
}

/** The frequency in [0, fs/2] whose cosine has the same samples. */
export function aliasFrequency(frequency, rate) {
  return Math.abs(frequency - rate * Math.round(frequency / rate));
}

/**
 * |Σ x[n + c − ⌊M/2⌋] w[n] exp(−2πi kn/size)|² for each center c and 0 ≤ k ≤ size/2, scaled so that
 * a sine of amplitude 1 has the power 1.  Two real frames share one transform.
 */
export function framePowers(samples, window, centers, size) {
  const bins = size / 2 + 1;
  const power = new Float32Array(centers.length * bins);
  const re = new Float64Array(size);
  const im = new Float64Array(size);
  const unit = 1 / window.reduce((sum, w) => sum + w, 0) ** 2;
  const fill = (part, center) => {
    const first = center - (window.length >> 1);
    const end = Math.min(window.length, samples.length - first);
    part.fill(0);
    for (let n = Math.max(0, -first); n < end; n++) part[n] = samples[first + n] * window[n];
  };
  for (let m = 0; m < centers.length; m += 2) {
    fill(re, centers[m]);
    fill(im, centers[m + 1] ?? Infinity);
    fft(re, im);
    for (let k = 0, at = m * bins; k < bins; k++, at++) {
      const mirror = (size - k) % size;
      power[at] = unit * ((re[k] + re[mirror]) ** 2 + (im[k] - im[mirror]) ** 2);
      power[at + bins] = unit * ((im[k] + im[mirror]) ** 2 + (re[k] - re[mirror]) ** 2);
    }
  }
  return power;
}

/** The standard deviation of n, or of n counted around the circle, under the density `energy`. */
function deviation(energy, circular) {
  const size = energy.length;
  let [sum, mean, square] = [0, 0, 0];
  for (let n = 0; n < size; n++) {
    const position = circular && n >= size / 2 ? n - size : n;
    sum += energy[n];
    mean += energy[n] * position;
    square += energy[n] * position * position;
  }
  return Math.sqrt(square / sum - (mean / sum) ** 2);
}

/** The standard deviations σ_t and σ_f of a window's energy, as `primer.fourier.spread` has them. */
export function spread(window, rate = 1) {
  const size = 8 * powerOfTwo(window.length);
  const re = new Float64Array(size);
  re.set(window);
  const im = new Float64Array(size);
  fft(re, im);
  for (let k = 0; k < size; k++) re[k] = re[k] * re[k] + im[k] * im[k];
  return { time: deviation(window.map((w) => w * w), false) / rate, frequency: (deviation(re, true) * rate) / size };
}

/**
 * The peaks of a spectrum, as fractional bins: the maxima within 10 dB of the highest, between which
 * it falls to less than half.
 */
export function peaks(power) {
  const least = 0.1 * power.reduce((a, b) => Math.max(a, b), 0);
  const found = [];
  let rising = true;
  let turn = 0;
  for (let k = 1; k < power.length && least > 0; k++) {
    if (rising ? power[k] > power[turn] : power[k] < power[turn]) turn = k;
    else if (rising && power[k] < 0.5 * power[turn]) {
      if (power[turn] >= least) found.push(turn);
      [rising, turn] = [false, k];
    } else if (!rising && power[k] > 2 * power[turn]) [rising, turn] = [true, k];
  }
  if (rising && least > 0 && power[turn] >= least) found.push(turn);
  const last = power.length - 1;
  return found.map((k) => {
    // The top of the parabola through the logarithms of three neighbors; a spectrum mirrors at its ends.
    const [a, b, c] = [Math.abs(k - 1), k, last - Math.abs(last - k - 1)].map((i) => Math.log(power[i] + 1e-30));
    return k + (a === c ? 0 : (0.5 * (a - c)) / (a - 2 * b + c));
  });
}

/** The band-limited function through the samples, `factor` (a power of two) times as finely. */
export function interpolate(samples, factor) {
  const size = powerOfTwo(samples.length);
  const re = new Float64Array(size * factor);
  const im = new Float64Array(size * factor);
  const part = { re: Float64Array.from({ length: size }, (_, n) => samples[n] ?? 0), im: new Float64Array(size) };
  fft(part.re, part.im);
  // Positive frequencies stay at the start, negative ones move to the end; between them nothing.
  for (let k = 0; k < size; k++) {
    const at = k <= size / 2 ? k : k + size * (factor - 1);
    const weight = (k === size / 2 && factor > 1 ? 0.5 : 1) / size;
    for (const to of weight === 1 / size ? [at] : [at, at + size * (factor - 1)]) {
      re[to] = weight * part.re[k];
      im[to] = -weight * part.im[k]; // the inverse transform is the conjugate of the transform
    }
  }
  return fft(re, im).re.slice(0, samples.length * factor);
}

// ---------------------------------------------------------------- sound in and out

const PCM = 1;
const FLOAT = 3;
const EXTENSIBLE = 0xfffe;

const READERS = {
  [`${PCM}/8`]: (view, at) => (view.getUint8(at) - 128) / 128,
  [`${PCM}/16`]: (view, at) => view.getInt16(at, true) / 2 ** 15,
  [`${PCM}/24`]: (view, at) => (view.getUint8(at) + 256 * view.getInt16(at + 1, true)) / 2 ** 23,
  [`${PCM}/32`]: (view, at) => view.getInt32(at, true) / 2 ** 31,
  [`${FLOAT}/32`]: (view, at) => view.getFloat32(at, true),
  [`${FLOAT}/64`]: (view, at) => view.getFloat64(at, true),
};

/** The samples (channels averaged, full scale 1) and the rate of a WAV file's bytes. */
export function parseWav(bytes) {
  const data = new Uint8Array(bytes);
  const view = new DataView(data.buffer);
  const name = (at) => String.fromCharCode(...data.subarray(at, at + 4));
  if (name(0) !== "RIFF" || name(8) !== "WAVE") {
    throw new Error("This is not a WAV file: it does not start with RIFF and WAVE.");
  }
  let layout = null;
  for (let at = 12, size; at + 8 <= data.length; at += 8 + size + (size % 2)) {
    size = view.getUint32(at + 4, true);
    if (name(at) === "fmt " && size >= 16 && at + 8 + size <= data.length) {
      let kind = view.getUint16(at + 8, true);
      if (kind === EXTENSIBLE && size >= 26) kind = view.getUint16(at + 32, true);
      const [channels, rate, bits] = [view.getUint16(at + 10, true), view.getUint32(at + 12, true), view.getUint16(at + 22, true)];
      layout = { read: READERS[`${kind}/${bits}`], channels, rate, width: bits / 8 };
    }
    if (name(at) === "data") return readSamples(view, at + 8, size, layout);
  }
  throw new Error("The WAV file is damaged: it ends before its sound begins.");
}

function readSamples(view, start, size, layout) {
  const here = view.byteLength - start;
  if (!layout) throw new Error("The WAV file is damaged: its format is missing.");
  if (!layout.read) throw new Error("The WAV file is compressed or of a rare format; save it as PCM of 8, 16, 24 or 32 bits.");
  if (!layout.rate || !layout.channels) throw new Error("The WAV file is damaged: it names a rate or a number of channels of 0.");
  // A recorder that writes into a stream cannot know the size and writes the largest number.
  if (size > here && size !== 0xffffffff) {
    throw new Error(`The WAV file is cut off: it announces ${size} bytes of sound and has ${here}.`);
  }
  const { read, channels, rate, width } = layout;
  const samples = new Float32Array(Math.floor(Math.min(size, here) / width / channels));
  for (let n = 0, at = start; n < samples.length; n++) {
    for (let c = 0; c < channels; c++, at += width) samples[n] += read(view, at) / channels;
  }
  if (!samples.every(Number.isFinite)) throw new Error("The WAV file holds values that are no numbers.");
  return { samples, rate };
}

const LONGEST = 10; // seconds of a reader's sound that are shown
const LARGEST = 64 * 2 ** 20; // bytes of a file that are read
const RECORDED = 3; // seconds taken from the microphone
const RECORDED_RATE = 16000;

/** Record from the microphone; the sound stays in this page. */
async function record() {
  if (!navigator.mediaDevices?.getUserMedia || !window.MediaRecorder) {
    throw new Error("This page has no access to a microphone: browsers give it only to pages from https or localhost.");
  }
  const stream = await navigator.mediaDevices.getUserMedia({ audio: true }).catch((error) => {
    throw new Error(error.name === "NotFoundError" ? "There is no microphone." : "The browser did not allow the microphone.");
  });
  const recorder = new MediaRecorder(stream);
  const pieces = [];
  recorder.ondataavailable = (event) => pieces.push(event.data);
  const ended = new Promise((resolve) => { recorder.onstop = resolve; });
  recorder.start();
  setTimeout(() => recorder.stop(), 1000 * RECORDED);
  await ended;
  stream.getTracks().forEach((track) => track.stop());
  const bytes = await new Blob(pieces).arrayBuffer();
  const decoded = await new OfflineAudioContext(1, 1, RECORDED_RATE).decodeAudioData(bytes);
  return { samples: decoded.getChannelData(0), rate: RECORDED_RATE };
}

/** Plays samples, after band-limited interpolation, so that an alias is heard as the samples have it. */
function loudspeaker() {
  let context = null;
  let source = null;
  let begun = 0;
  let turn = 0;
  const stop = () => {
    turn += 1;
    source?.stop();
    source = null;
  };
  const start = async (samples, rate, from) => {
    stop();
    context ??= new AudioContext();
    const mine = turn;
    await context.resume();
    if (mine !== turn) return; // stopped, or started again, while the device woke up
    const factor = Math.max(1, powerOfTwo(32000 / rate));
    const buffer = context.createBuffer(1, samples.length * factor, rate * factor);
    buffer.copyToChannel(Float32Array.from(interpolate(samples, factor), (x) => 0.5 * x), 0);
    source = new AudioBufferSourceNode(context, { buffer });
    source.connect(context.destination);
    source.start(0, from);
    begun = context.currentTime - from;
  };
  return { start, stop, position: () => (source ? context.currentTime - begun : null), close: () => context?.close() };
}

// ---------------------------------------------------------------- what is shown

/** A signal as the view uses it, from the record that Python sent. */
function decode(name, { samples: view, ...record }) {
  const integers = new Int16Array(view.buffer.slice(view.byteOffset, view.byteOffset + view.byteLength));
  const samples = Float32Array.from(integers, (x) => x / 32767);
  return { ...record, name, samples, duration: samples.length / record.rate };
}

/** A signal of the reader's: its first seconds, brought to full scale. */
export function ownSignal(name, samples, rate) {
  if (samples.length < 64) throw new Error(`It holds ${samples.length} samples; at least 64 are needed.`);
  const seconds = samples.length / rate;
  const kept = samples.slice(0, Math.ceil(LONGEST * rate));
  const scale = kept.reduce((top, x) => Math.max(top, Math.abs(x)), 0) || 1;
  const length = Math.min(powerOfTwo(0.024 * rate), powerOfTwo(kept.length / 8), 4096);
  return {
    name, rate, scale,
    samples: kept.map((x) => x / scale),
    duration: kept.length / rate,
    note: `${name}: ${format(seconds, 2)} s at ${rate} Hz${seconds > LONGEST ? `, of which the first ${LONGEST} s are shown` : ""}. It stays on this device.`,
    start: 0, unit: "s", moment: 0.5, decibels: 70, lines: [], instants: [],
    window_length: Math.max(8, length), hop: Math.max(1, length / 8),
  };
}

const firstView = (signal) => ({
  window_length: signal.window_length, hop: signal.hop, keep_every: 1, decibels: signal.decibels, time: signal.duration * signal.moment,
});

/** The kept samples, their rate, the window and the hop; durations stay when samples are left out. */
export function analysis(signal, { window, window_length, hop, keep_every: every }) {
  const rounded = (x, least) => Math.max(least, Math.floor(x / every + 0.5));
  return {
    samples: decimate(signal.samples, every),
    rate: signal.rate / every,
    window: windowShape(window, rounded(window_length, 4)),
    hop: rounded(hop, 1),
  };
}

const MOST_COLUMNS = 320;
const BUDGET = 2e6; // columns × size × log₂ size that a redraw may cost; still several columns per σ_t

/** The powers of the frames to draw: all of them, or as many as there are columns, or time. */
function computeFrames({ samples, window, hop }) {
  const size = powerOfTwo(Math.max(512, window.length));
  const most = Math.min(MOST_COLUMNS, Math.floor(BUDGET / size / Math.log2(size)));
  const stride = hop * Math.ceil((samples.length / hop + 1) / most);
  const columns = Math.ceil(samples.length / stride) + 1;
  const centers = Array.from({ length: columns }, (_, m) => m * stride);
  return { power: framePowers(samples, window, centers, size), size, bins: size / 2 + 1, columns, stride };
}

const levelOf = (power) => 10 * Math.log10(power + 1e-12);

// The upper half of a float's bits gives its level to 0.03 dB, so one table turns powers into colors.
const BITS = new Uint32Array(2 ** 15);
const REPRESENTATIVES = new Float32Array(Uint32Array.from(BITS, (_, i) => (i << 16) | 0x8000).buffer);

function colorTable(decibels) {
  const colors = Uint32Array.from({ length: 256 }, (_, i) => {
    const [r, g, b] = colormap(i / 255);
    return 0xff000000 | (b << 16) | (g << 8) | r;
  });
  return BITS.map((_, i) => {
    const t = 1 + levelOf(REPRESENTATIVES[i]) / decibels;
    return colors[clamp(Math.round(255 * t), 0, 255) || 0];
  });
}

/** The first bin of each of `rows` rows, and the end. */
const rowEdges = (bins, rows) => Uint32Array.from({ length: rows + 1 }, (_, row) => Math.round((row * (bins - 1)) / rows));

/** The strongest of the bins that fall on one row, so that no thin line is lost. */
function strongest(values, first, edges, row) {
  let top = values[first + edges[row]];
  for (let k = edges[row] + 1; k < edges[row + 1]; k++) top = Math.max(top, values[first + k]);
  return top;
}

/** Paint the frames, one column each. */
function paint(canvas, { power, bins, columns }, rows, table) {
  Object.assign(canvas, { width: columns, height: rows });
  const bits = new Uint32Array(power.buffer); // positive floats have the order of their bits
  const pixels = new Uint32Array(columns * rows);
  const edges = rowEdges(bins, rows);
  for (let column = 0; column < columns; column++) {
    for (let row = 0, at = pixels.length - columns + column; row < rows; row++, at -= columns) {
      pixels[at] = table[strongest(bits, column * bins, edges, row) >>> 16];
    }
  }
  canvas.getContext("2d").putImageData(new ImageData(new Uint8ClampedArray(pixels.buffer), columns, rows), 0, 0);
}

/** The known frequency of a line at a time, or null outside it. */
export function knownFrequency({ points }, time) {
  for (let i = 1; i < points.length; i++) {
    const [[t0, f0], [t1, f1]] = [points[i - 1], points[i]];
    if (time >= t0 && time <= t1) return f0 + ((time - t0) / (t1 - t0)) * (f1 - f0);
  }
  return null;
}

// ---------------------------------------------------------------- words

const significant = (x, digits = 3) => format(x, clamp(digits - 1 - Math.floor(Math.log10(Math.abs(x) || 1)), 0, 6));

const inSeconds = {
  duration: (t) => (t < 0.9995 ? `${significant(1000 * t)} ms` : `${significant(t)} s`),
  moment: (t) => `${format(t, 3)} s`,
  at: (t) => `At ${format(t, 3)} s`,
  frequency: (f) => `${f < 100 ? significant(f) : format(f, 0)} Hz`,
  exact: (f) => `${format(f, f % 1 ? 1 : 0)} Hz`,
  short: (f) => `${format(f, f < 100 ? 1 : 0)} Hz`,
  axis: ["time in s", "frequency in Hz"],
};
const inYears = {
  duration: (t) => `${significant(t)} years`,
  moment: (t) => `year ${format(t, 0)}`,
  at: (t) => `In ${format(t, 0)}`,
  frequency: (f) => `${significant(f)} per year`,
  exact: (f) => `${significant(f)} per year`,
  short: (f) => (f < 1e-6 ? "" : `${format(1 / f, 1)} years`),
  axis: ["year", "cycles per year"],
};
const wordsOf = (signal) => (signal.unit === "s" ? inSeconds : inYears);

/** What the current frame shows, as a sentence. */
export function describeFrame(signal, time, rate, found) {
  const words = wordsOf(signal);
  const one = (p) => `${words.frequency(p.frequency)}${signal.unit === "s" || p.frequency < 1e-9 ? "" : `, a period of ${format(1 / p.frequency, 1)} years`} (${format(p.level, 0)} dB)`;
  const listed = found.slice(0, 4).map(one).join("; ") + (found.length > 4 ? "; …" : "");
  const heard = found.length === 0 ? "silence" : `${found.length === 1 ? "one peak" : `${found.length} peaks`}: ${listed}`;
  const folded = signal.lines.map((line) => knownFrequency(line, time)).filter((f) => f !== null && f > rate / 2);
  const alias = folded.slice(0, 2).map((f) => `${words.exact(f)} is above fₛ/2 = ${words.exact(rate / 2)} and appears at ${words.exact(aliasFrequency(f, rate))}.`);
  return [`${words.at(signal.start + time)}: ${heard}.`, ...alias].join(" ");
}

/** The spreads of the window against the least product there is, 1/4π; `_x` marks a subscript. */
export function describeSpread({ time, frequency }, unit) {
  const words = wordsOf({ unit });
  const product = time * frequency;
  return `σ_t = ${words.duration(time)}, σ_f = ${words.frequency(frequency)}, σ_t·σ_f = ${format(product, 4)} = ${format(4 * Math.PI * product, 2)} × 1/4π`;
}

/** Text with its subscripts, as nodes. */
const subscripted = (text) => text.split(/_(\w)/).map((piece, i) => (i % 2 ? html("sub", {}, piece) : piece));

// ---------------------------------------------------------------- the view

const LEFT = 46; // px of the left drawing before its axes begin
const RIGHT = 8;
const WAVE = [78, 8]; // bottom and top of the waveform, px
const IMAGE = [374, 106];
const HEIGHT = 410;
const CORNER = 96; // height of the drawing beside the waveform

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

/** Returns `once(name, key, make)`: the value made for the name, made anew only when the key changes. */
function memory() {
  const kept = {};
  return (name, key, make) => {
    if (kept[name]?.key !== key) kept[name] = { key, value: make() };
    return kept[name].value;
  };
}

const stroke = (g, name) => {
  const paths = ["casing", name].map((c) => g.appendChild(svg("path", { class: c })));
  return (d) => paths.forEach((p) => p.setAttribute("d", d));
};

/** The waveform above the spectrogram, on one time axis, with what moves over both. */
function timeDrawing() {
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
    wave.setAttribute("d", waveformPath(samples, linear([0, samples.length], x.range), linear([-1, 1], WAVE)));
    const edge = y(rate / 2);
    beyond.replaceChildren(...(keep_every > 1 ? [
      svg("rect", { x: LEFT, y: IMAGE[1], width: x.range[1] - LEFT, height: edge - IMAGE[1] }),
      svg("path", { d: `M${LEFT} ${edge}H${x.range[1]}` }),
      svg("text", { x: LEFT + 8, y: edge - 7 }, `nothing above fₛ/2 = ${words.exact(rate / 2)}`),
    ] : []));
    drawKnown(signal, show_known, rate);
  };

  /** The spectrogram, each frame in the middle of its column; it ends at half the sampling rate. */
  const image = (signal, { keep_every }, { hop, rate }, frames, table) => {
    const columnWidth = ((frames.stride / rate) / signal.duration) * (x.range[1] - x.range[0]);
    const rows = Math.max(2, Math.round((IMAGE[0] - IMAGE[1]) / keep_every));
    paint(canvas, frames, rows, table);
    Object.assign(picture.style, { left: `${LEFT}px`, width: `${x.range[1] - LEFT}px`, top: `${IMAGE[0] - rows}px`, height: `${rows}px` });
    Object.assign(canvas.style, {
      left: `${-columnWidth / 2}px`, width: `${columnWidth * frames.columns}px`,
      imageRendering: frames.stride === hop && columnWidth > 3 ? "pixelated" : "auto", // a large hop is seen as steps
    });
  };

  const drawKnown = (signal, shown, rate) => {
    known.replaceChildren();
    if (!shown) return;
    const times = Array.from({ length: 161 }, (_, i) => (i * signal.duration) / 160);
    const at = (line, value) => path(times.map((t) => [x(signal.start + t), value(knownFrequency(line, t) ?? NaN)]));
    for (const line of signal.lines) {
      stroke(known, "line")(at(line, y));
      stroke(known, "alias")(at(line, (f) => (f > rate / 2 ? y(aliasFrequency(f, rate)) : NaN)));
    }
    for (const { time } of signal.instants) stroke(known, "line")(`M${x(signal.start + time)} ${IMAGE[0]}V${IMAGE[1]}`);
    const heights = signal.lines.map((line) => y(line.points.at(-1)[1]));
    signal.lines.forEach((line, i) => {
      const crowded = heights.some((h) => h < heights[i] && heights[i] - h < 13);
      const below = crowded || heights[i] < IMAGE[1] + 14;
      known.append(svg("text", { x: x.range[1] - 6, y: heights[i] + (below ? 13 : -5), "text-anchor": "end" }, line.label));
    });
    for (const { time, label } of signal.instants) known.append(svg("text", { x: x(signal.start + time) + 6, y: IMAGE[1] + 14 }, label));
  };

  /** The window, the edges of the frame and the playhead. */
  const move = (signal, time, window, rate) => {
    const at = (n) => clamp(x(signal.start + time + (n - window.length / 2) / rate), LEFT, x.range[1]);
    const points = Array.from({ length: 65 }, (_, i) => (i * window.length) / 64);
    const height = (n, sign) => level(sign * signal.scale * (window[Math.min(Math.floor(n), window.length - 1)]));
    const outline = [...points.map((n) => [at(n), height(n, 1)]), ...points.reverse().map((n) => [at(n), height(n, -1)])];
    shape.setAttribute("d", `${path(outline)}Z`);
    frame(`M${at(0)} ${IMAGE[0]}V${IMAGE[1]}M${at(window.length)} ${IMAGE[0]}V${IMAGE[1]}`);
    head.setAttribute("d", `M${x(signal.start + time)} ${IMAGE[0]}V${WAVE[1]}`);
  };
  return { root, picture, still, image, move };
}

/** The spectrum of the current frame: beside the image, on its frequency axis, or below it. */
function spectrumDrawing() {
  const root = svg("svg", { class: "spectrum", role: "img", "aria-label": "Spectrum of the current frame" });
  const id = `levels-${Math.random().toString(36).slice(2)}`;
  const stops = Array.from({ length: 9 }, (_, i) => svg("stop", { offset: i / 8, "stop-color": `rgb(${colormap(i / 8)})` }));
  const gradient = root.appendChild(svg("linearGradient", { id, x2: 0, y2: 0 }, ...stops));
  const grid = root.appendChild(svg("g", { class: "spectrum-axes" }));
  const legend = root.appendChild(svg("rect", { fill: `url(#${id})` }));
  const area = root.appendChild(svg("path", { class: "area" }));
  const curve = root.appendChild(svg("path", { class: "curve" }));
  const marks = root.appendChild(svg("g", { class: "marks" }));
  let [place, f, level, upright] = [];

  const still = (signal, { decibels }, width, beside) => {
    upright = beside;
    set(root, { width, height: beside ? HEIGHT - CORNER : 210 });
    const bottom = IMAGE[0] - CORNER;
    f = linear([0, signal.rate / 2], beside ? [bottom, IMAGE[1] - CORNER] : [LEFT, width - RIGHT]);
    level = linear([-decibels, 0], beside ? [6, width - RIGHT] : [172, 18]);
    place = (k, db) => (beside ? [level(clamp(db, -decibels, 0)), f(k)] : [f(k), level(clamp(db, -decibels, 0))]);
    const dbTicks = { xTicks: [-decibels, -decibels / 2, 0] };
    axes(grid, beside
      ? { x: level, y: f, xLabel: "level in dB", yLabel: "", ...dbTicks, yText: () => "" }
      : { x: f, y: level, xLabel: wordsOf(signal).axis[1], yLabel: "level in dB", yTicks: dbTicks.xTicks, xText: String, yText: (t) => format(t, 0) });
    set(gradient, beside ? { x1: 0, x2: 1, y1: 0 } : { x1: 0, x2: 0, y1: 1 });
    set(legend, beside
      ? { x: level.range[0], y: bottom, width: level.range[1] - level.range[0], height: 4 }
      : { x: LEFT - 4, y: 18, width: 4, height: 154 });
  };

  const move = (signal, power, rate, found) => {
    const bins = power.length;
    const count = Math.min(bins, 400);
    const edges = rowEdges(bins, count);
    const points = Array.from({ length: count }, (_, row) =>
      place((edges[row] / (bins - 1)) * (rate / 2), levelOf(strongest(power, 0, edges, row))));
    const floor = [place(rate / 2, -Infinity), place(0, -Infinity)];
    curve.setAttribute("d", path(points));
    area.setAttribute("d", `${path([...points, ...floor])}Z`);
    marks.replaceChildren(...found.map((peak) => {
      const [cx, cy] = place(peak.frequency, peak.level);
      return svg("circle", { cx, cy, r: 3.5 });
    }));
    // The strongest peaks get a label, above or below (left or right), where there is room.
    const taken = [];
    for (const peak of [...found].sort((a, b) => b.level - a.level).slice(0, 4)) {
      const [cx, cy] = place(peak.frequency, peak.level);
      const sides = upright ? [[-8, -7], [-8, 13]] : [[8, 4], [-8, 4]];
      const spot = sides.map(([dx, dy]) => ({ x: cx + dx, y: cy + dy, before: dx < 0, middle: cx + 5 * dx }))
        .find((at) => at.middle > (upright ? 10 : LEFT + 30) && !taken.some((t) => Math.abs(t.y - at.y) < 14 && Math.abs(t.middle - at.middle) < 75));
      if (!spot) continue;
      taken.push(spot);
      marks.append(svg("text", { x: spot.x, y: spot.y, "text-anchor": spot.before ? "end" : "start" }, wordsOf(signal).short(peak.frequency)));
    }
  };
  return { root, still, move };
}

/** Every window is a point (σ_t, σ_f); none lies below the line of the product 1/4π. */
function spreadDrawing() {
  const root = svg("svg", { class: "spreads", height: CORNER, role: "img", "aria-label": "The window's σ_t and σ_f on logarithmic axes, and the limit 1/4π" });
  const limit = root.appendChild(svg("path", { class: "limit" }));
  const frame = root.appendChild(svg("path", { class: "axis" }));
  const words = ["σₜ →", "↑ σ_f", "below 1/4π: impossible"].map((text) => root.appendChild(svg("text", { class: "tick" }, ...text.split(/_(f)/).map((p, i) => (i === 1 ? svg("tspan", { dy: 3, "font-size": 9 }, p) : p)))));
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

const FINENESS = 4; // window lengths per octave on the slider
const lengthAt = (v) => Math.round(2 ** (v / FINENESS));
const capital = (text) => text[0].toUpperCase() + text.slice(1);
const STATE = ["window", "window_length", "hop", "keep_every", "time", "decibels", "show_known"];

/** The controls of the analysis; `settle` brings them to a state. */
function analysisControls({ current, view, write, hear }) {
  const duration = (count) => {
    const samples = Math.max(1, Math.round(count / view().keep_every));
    return `${wordsOf(current()).duration(count / current().rate)} · ${samples} samples`;
  };
  const rate = (v) => {
    const text = wordsOf(current()).frequency(current().rate / -v);
    return v === -1 ? text : `${text} · 1 sample of ${-v}`;
  };
  const controls = {
    window: radio({
      label: "Window", options: Object.keys(SHAPES).map((name) => [name, capital(name)]),
      change: (window) => write({ window }),
    }),
    window_length: slider({
      label: "Window length", min: 3 * FINENESS, max: 48, value: 0,
      text: () => duration(view().window_length), change: (v) => write({ window_length: lengthAt(v) }),
    }),
    hop: slider({
      label: "Hop", min: 0, max: 10, value: 0,
      text: () => duration(view().hop), change: (v) => write({ hop: 2 ** v }),
    }),
    keep_every: slider({
      label: "Sampling rate", min: -12, max: -1, value: -1, text: rate,
      change: (v) => { write({ keep_every: -v }); hear(); },
    }),
    decibels: slider({
      label: "Levels shown", min: 20, max: 120, step: 5, value: 70,
      text: (v) => `${format(v, 0)} dB`, change: (decibels) => write({ decibels }),
    }),
    show_known: checkbox({ label: "Show what is known", change: (show_known) => write({ show_known }) }),
  };
  const settle = (signal, state) => {
    const octaves = Math.log2(signal.samples.length);
    controls.window_length.input.max = Math.floor(FINENESS * (octaves - 1));
    controls.hop.input.max = Math.floor(Math.min(10, octaves - 2));
    controls.window.set(state.window);
    controls.window_length.set(Math.round(FINENESS * Math.log2(state.window_length)));
    controls.hop.set(Math.round(Math.log2(state.hop)));
    controls.keep_every.set(-state.keep_every);
    controls.decibels.set(state.decibels);
    controls.show_known.set(state.show_known);
  };
  return { rows: Object.values(controls).map((control) => control.row), settle };
}

/** A file input and a button for the microphone; `adopt(name, get)` takes what they bring. */
function ownSound(adopt, notice) {
  const file = html("input", { type: "file", accept: ".wav,audio/wav", onchange: async () => {
    const chosen = file.files[0];
    if (!chosen) return;
    await adopt(chosen.name, async () => {
      if (chosen.size > LARGEST) {
        throw new Error(`The file has ${format(chosen.size / 2 ** 20, 0)} MB; at most ${LARGEST / 2 ** 20} are read.`);
      }
      return parseWav(await chosen.arrayBuffer());
    });
    file.value = ""; // so that the same file can be chosen again
  } });
  const microphone = button("Record 3 s", async () => {
    microphone.disabled = true;
    notice.say("Listening for three seconds …");
    await adopt("Microphone", record);
    microphone.disabled = false;
  });
  return [html("label", { class: "file" }, file, "Open a WAV file"), microphone];
}

/** The play button and where it is: `position()` is null while nothing plays. */
function soundPlayer({ current, view, write, kept, redraw, notice }) {
  const speaker = loudspeaker();
  let playhead = null;
  const silent = () => current().unit !== "s";
  const hear = async () => {
    if (silent() || playhead === null) return;
    try {
      await speaker.start(kept().samples, kept().rate, playhead);
    } catch (error) {
      notice.say(`The browser plays no sound: ${error.message}`);
    }
  };
  const rest = () => {
    player.stop();
    speaker.stop();
    const time = playhead;
    playhead = null;
    if (time !== null) write({ time });
  };
  const frame = (seconds) => {
    const { duration } = current();
    // What cannot be heard passes in eight seconds.
    const next = speaker.position() ?? playhead + (silent() ? duration / 8 : 1) * seconds;
    playhead = Math.min(duration, next);
    if (playhead >= duration) rest();
    redraw();
  };
  const player = play({ label: "Play", frame });
  player.button.addEventListener("click", () => {
    if (!player.playing()) return rest();
    const { time } = view();
    playhead = time > 0.98 * current().duration ? 0 : time;
    hear();
  });
  const move = (time) => {
    if (playhead === null) return write({ time });
    playhead = time;
    hear();
  };
  return { button: player.button, position: () => playhead, hear, rest, move, close: speaker.close };
}

function render({ model, el }) {
  const signals = Object.fromEntries(
    Object.entries(model.get("signals")).map(([name, record]) => [name, decode(name, record)]),
  );
  const once = memory();
  let own = null; // the reader's own sound and how it is looked at; never a trait, so that it stays here
  let shownOwn = false;
  const current = () => (shownOwn ? own.signal : signals[model.get("signal")]);
  const view = () => {
    const state = shownOwn ? own.view : Object.fromEntries(STATE.map((name) => [name, model.get(name)]));
    return { ...state, time: player.position() ?? state.time };
  };
  const write = (changes) => {
    if (!shownOwn) return update(model, changes);
    Object.assign(own.view, changes);
    draw();
  };
  const show = (name) => {
    player.rest();
    shownOwn = name === "own";
    if (!shownOwn) update(model, { signal: name, ...firstView(signals[name]) });
    draw();
  };
  const adopt = async (name, get) => {
    try {
      const { samples, rate } = await get();
      const signal = ownSignal(name, samples, rate);
      player.rest();
      own = { signal, view: { ...view(), ...firstView(signal) } };
      choice.row.lastChild.hidden = false;
      notice.say("");
      show("own");
    } catch (error) {
      notice.say(`${name}: ${error.message} The signal shown is still the one before.`);
    }
  };
  const analyze = () => {
    const state = view();
    const content = [shownOwn, current().note, state.keep_every].join();
    const key = [content, state.window, state.window_length, state.hop].join();
    return { content, key, parts: once("parts", key, () => analysis(current(), state)) };
  };

  const notice = resultLine();
  const player = soundPlayer({ current, view, write, notice, kept: () => analyze().parts, redraw: () => draw() });
  const choice = radio({
    label: "Signal", value: model.get("signal"), change: show,
    options: [...Object.keys(signals).map((name) => [name, capital(name)]), ["own", "Your sound"]],
  });
  choice.row.classList.add("signals");
  choice.row.lastChild.hidden = true;
  const controls = analysisControls({ current, view, write, hear: player.hear });
  const cursor = html("input", { type: "range", class: "cursor", min: 0, "aria-label": "Current frame", oninput: () => {
    player.move(Math.min(current().duration, (Number(cursor.value) * view().hop) / current().rate));
  } });

  const time = timeDrawing();
  const spectrum = spectrumDrawing();
  const spreads = spreadDrawing();
  const result = resultLine();
  const about = html("p", { class: "about" });
  const spreadLine = html("p", { class: "spread-line" });
  const timePanel = html("div", { class: "time-panel" }, time.picture, time.root, cursor);
  const side = html("div", { class: "side" }, spreads.root, spectrum.root);
  el.classList.add("spectrogram");
  el.append(
    choice.row, about, html("div", { class: "stage" }, timePanel, side), spreadLine, result.row,
    html("div", { class: "controls" }, ...controls.rows),
    html("div", { class: "sound" }, player.button, ...ownSound(adopt, notice), html("span", {}, "Your sound stays on this device.")),
    notice.row,
  );

  function draw() {
    const [signal, state] = [current(), view()];
    const [width, sideWidth] = [timePanel.clientWidth, side.clientWidth];
    const narrow = side.offsetTop > timePanel.offsetTop + 10; // the styles put it below
    const { parts, key, content } = analyze();
    const frames = once("frames", key, () => computeFrames(parts));
    const table = once("table", state.decibels, () => colorTable(state.decibels));
    once("still", [content, width, state.show_known].join(), () => {
      about.replaceChildren(...(shownOwn ? [signal.note] : subscripted(signal.note)));
      time.still(signal, state, parts, width);
    });
    once("spectrum", [content, sideWidth, narrow, state.decibels].join(), () => spectrum.still(signal, state, sideWidth, !narrow));
    once("image", [key, width, state.decibels].join(), () => time.image(signal, state, parts, frames, table));
    once("spread", [key, sideWidth].join(), () => {
      const widths = spread(parts.window, parts.rate);
      spreads.draw(signal, widths, sideWidth);
      spreadLine.replaceChildren(...subscripted(describeSpread(widths, signal.unit)));
    });
    const power = framePowers(parts.samples, parts.window, [Math.round(state.time * parts.rate)], frames.size);
    const found = peaks(power).map((k) => ({ frequency: (k * parts.rate) / frames.size, level: levelOf(power[Math.round(k)]) }));
    time.move(signal, state.time, parts.window, parts.rate);
    spectrum.move(signal, power, parts.rate, found);
    controls.settle(signal, state);
    choice.set(shownOwn ? "own" : model.get("signal"));
    cursor.max = Math.floor((signal.duration * signal.rate) / state.hop);
    cursor.value = Math.round((state.time * signal.rate) / state.hop);
    cursor.setAttribute("aria-valuetext", wordsOf(signal).moment(signal.start + state.time));
    result.say(describeFrame(signal, state.time, parts.rate, found), player.position() !== null);
    el.dataset.peaks = found.map((peak) => peak.frequency.toFixed(2)).join(" ");
  }

  model.on("change:signal", () => { shownOwn = false; });
  const end = mount({ model, el, traits: ["signal", ...STATE], draw });
  return () => {
    end();
    player.rest();
    player.close();
  };
}

export default { render };
