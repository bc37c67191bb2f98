// A sound that repeats as a sum of waves.  The tests compare all of it with numpy.fft and primer.fourier.

import { clamp, format, grouped, percent, short } from "../kit/kit.js";
import { fft, interpolate } from "../shared/spectrum.js";

export const COUNT = 64; // samples of a period
export const BARS = COUNT / 2 + 1;
const FINE = 8; // points of the curve to a sample
const LEAST = 0.0005; // of an amplitude that is called one
const FOOT = 0.05; // of the axis: what is pulled lower is gone

const sides = (k) => (k % (COUNT / 2) ? 2 : 1); // a real wave is two arrows, but at the ends

/** The waves of a sound, { re, im, amplitude } for k = 0 … 32: re cos(2πkt) + im sin(2πkt), t in periods. */
export function wavesOf(x) {
  const { re, im } = fft(Float64Array.from(x), new Float64Array(COUNT));
  return Array.from({ length: BARS }, (_, k) => {
    const [a, b] = [(sides(k) * re[k]) / COUNT, (-sides(k) * im[k]) / COUNT];
    return { re: a, im: b, amplitude: Math.hypot(a, b) };
  });
}

/** The samples of what is left when of each wave the share `gains[k]` is kept. */
export function rest(waves, gains) {
  const [re, im] = [new Float64Array(COUNT), new Float64Array(COUNT)];
  waves.forEach((wave, k) => {
    // The inverse transform is the transform of the conjugates; here of c[k], undivided.
    const [a, b] = [(gains[k] * wave.re) / sides(k), (gains[k] * wave.im) / sides(k)];
    for (const [at, sign] of k % (COUNT / 2)
      ? [
          [k, 1],
          [COUNT - k, -1],
        ]
      : [[k, 1]]) {
      re[at] = a;
      im[at] = sign * b;
    }
  });
  return Array.from(fft(re, im).re);
}

/** One period of the function through samples, as points [t in periods, value]; the last is the first again. */
export function curveOf(x) {
  const values = interpolate(Float64Array.from(x), FINE);
  return Array.from({ length: values.length + 1 }, (_, i) => [i / values.length, values[i % values.length]]);
}

/** The value of one wave at a time, in periods. */
export const waveAt = ({ re, im }, k, t) =>
  re * Math.cos(2 * Math.PI * k * t) + im * Math.sin(2 * Math.PI * k * t);

/** The mean square of each wave; by Parseval their sum is that of the samples. */
export const energies = (waves) => waves.map(({ amplitude }, k) => amplitude ** 2 / sides(k));

/** Whether there is anything to pull down. */
export const sounds = ({ amplitude }) => amplitude >= LEAST;

/** The bar that is looked at in another sound: the same, or the highest where there is no such wave. */
export function lookedAt(waves, at) {
  if (sounds(waves[at])) return at;
  const highest = Math.max(...waves.map(({ amplitude }) => amplitude));
  return waves.findIndex(({ amplitude }) => amplitude === highest);
}

/** The end of the axis of the bars. */
export const topOf = (waves) => {
  const highest = Math.max(...waves.map(({ amplitude }) => amplitude));
  return [0.05, 0.1, 0.3, 0.6, 1].find((top) => top >= highest * 1.05) ?? 1.4;
};

/**
 * How much is left of each wave when the pointer went from one [bar, height] to another: each bar is cut to it.
 *
 * @param {number[]} gains
 * @param {any[]} waves
 * @param {number[]} before
 * @param {number[]} now
 * @param {number} top
 */
export function cut(gains, waves, [from, first], [to, last], top) {
  const [low, high] = [Math.min(from, to), Math.max(from, to)];
  return gains.map((old, k) => {
    if (k < low || k > high || !sounds(waves[k])) return old;
    const height = to === from ? last : first + ((last - first) * (k - from)) / (to - from);
    return height < FOOT * top ? 0 : Number(clamp(height / waves[k].amplitude, 0, 1).toFixed(2));
  });
}

/** What the result line says. */
export function describe({ at, gains, base }, waves) {
  const all = energies(waves);
  const whole = all.reduce((sum, e) => sum + e, 0);
  if (whole < LEAST ** 2) return "The line is flat: no wave. Draw one, with mouse, finger or arrow keys.";
  const share = (part) => percent(part / whole);
  const name = at ? `${grouped(base * at)} Hz` : "0 Hz, the mean";
  const own = sounds(waves[at])
    ? `amplitude ${short(waves[at].amplitude, 3)}, ${share(all[at])} of the energy`
    : "no such wave in the sound";
  const down = waves.filter((wave, k) => sounds(wave) && gains[k] < 1).length;
  const left = all.reduce((sum, e, k) => sum + gains[k] ** 2 * e, 0);
  const together = down
    ? `${down === 1 ? "One bar is" : `${format(down, 0)} bars are`} lowered: ${share(left)} of the energy is left.`
    : "No bar is lowered: the waves together are the sound.";
  return `${name}: ${own}. ${together}`;
}
