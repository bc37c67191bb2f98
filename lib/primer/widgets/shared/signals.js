// Signals as the view uses them, what is analyzed of them, and what is said about them.
import { clamp, counted, format } from "../kit/kit.js";
import { aliasFrequency, decimate, powerOfTwo, windowShape } from "./spectrum.js";

const LONGEST = 10; // seconds of a reader's sound that are shown
const FEWEST = 64; // samples of it, also where ten seconds have fewer

/** A signal as the view uses it, from the record that Python sent. */
export function decode(name, { samples: view, ...record }) {
  const integers = new Int16Array(view.buffer.slice(view.byteOffset, view.byteOffset + view.byteLength));
  const samples = Float32Array.from(integers, (x) => x / 32767);
  return { ...record, name, samples, duration: samples.length / record.rate };
}

/** A signal of the reader's: its first seconds, brought to full scale; `told` is what else to say of it. */
export function ownSignal(name, samples, rate, told = "") {
  if (samples.length < FEWEST)
    throw new Error(`It holds ${counted(samples.length, "sample")}; at least ${FEWEST} are needed.`);
  const seconds = samples.length / rate;
  const kept = samples.slice(0, Math.max(FEWEST, Math.ceil(LONGEST * rate)));
  const shown = Number(format(kept.length / rate, 2));
  const cut = kept.length < samples.length ? `, of which the first ${shown} s are shown` : "";
  const scale = kept.reduce((top, x) => Math.max(top, Math.abs(x)), 0) || 1;
  const length = Math.min(powerOfTwo(0.024 * rate), powerOfTwo(kept.length / 8), 4096);
  return {
    name,
    rate,
    scale,
    samples: kept.map((x) => x / scale),
    duration: kept.length / rate,
    note: [`${name}: ${format(seconds, 2)} s at ${rate} Hz${cut}.`, told, "It stays on this device."]
      .filter(Boolean)
      .join(" "),
    start: 0,
    unit: "s",
    moment: 0.5,
    decibels: 70,
    lines: [],
    instants: [],
    window_length: Math.max(8, length),
    hop: Math.max(1, length / 8),
  };
}

/** How a signal is first looked at. */
export const firstView = (signal) => ({
  window_length: signal.window_length,
  hop: signal.hop,
  keep_every: 1,
  decibels: signal.decibels,
  time: signal.duration * signal.moment,
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

/** The known frequency of a line at a time, or null outside it. */
export function knownFrequency({ points }, time) {
  for (let i = 1; i < points.length; i++) {
    const [[t0, f0], [t1, f1]] = [points[i - 1], points[i]];
    if (time >= t0 && time <= t1) return f0 + ((time - t0) / (t1 - t0)) * (f1 - f0);
  }
  return null;
}

// ---------------------------------------------------------------- words

const significant = (x, digits = 3) =>
  format(x, clamp(digits - 1 - Math.floor(Math.log10(Math.abs(x) || 1)), 0, 6));

const inSeconds = {
  duration: (t) => (t < 0.9995 ? `${significant(1000 * t)} ms` : `${significant(t)} s`),
  moment: (t) => `${format(t, 3)} s`,
  at: (t) => `At ${format(t, 3)} s`,
  frequency: (f) => `${f && f < 100 ? significant(f) : format(f, 0)} Hz`,
  exact: (f) => `${format(f, f % 1 ? 1 : 0)} Hz`,
  short: (f) => `${format(f, f && f < 100 ? 1 : 0)} Hz`,
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
export const wordsOf = (signal) => (signal.unit === "s" ? inSeconds : inYears);

/** What the current frame shows, as a sentence. */
export function describeFrame(signal, time, rate, found) {
  const words = wordsOf(signal);
  const period = (f) => (signal.unit === "s" || f < 1e-9 ? "" : `, a period of ${format(1 / f, 1)} years`);
  const one = ({ frequency: f, level }) => `${words.frequency(f)}${period(f)} (${format(level, 0)} dB)`;
  const listed = found.slice(0, 4).map(one).join("; ") + (found.length > 4 ? "; …" : "");
  const peaks = found.length === 1 ? "one peak" : `${found.length} peaks`;
  const heard = found.length ? `${peaks}: ${listed}` : "silence";
  const known = signal.lines.map((line) => knownFrequency(line, time));
  const folded = known.filter((f) => f !== null && f > rate / 2).slice(0, 2);
  const alias = (f) =>
    `${words.exact(f)} is above fₛ/2 = ${words.exact(rate / 2)} and appears at ${words.exact(aliasFrequency(f, rate))}.`;
  return [`${words.at(signal.start + time)}: ${heard}.`, ...folded.map(alias)].join(" ");
}

/** The spreads of the window against the least product there is, 1/4π; `_x` marks a subscript. */
export function describeSpread({ time, frequency }, unit) {
  const words = wordsOf({ unit });
  const product = time * frequency;
  return `σ_t = ${words.duration(time)}, σ_f = ${words.frequency(frequency)}, σ_t·σ_f = ${format(product, 4)} = ${format(4 * Math.PI * product, 2)} × 1/4π`;
}
