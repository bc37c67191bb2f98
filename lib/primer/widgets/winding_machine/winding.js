// A signal wound around zero, and its center of mass.  The tests compare all of it with primer.fourier.

import { sum } from "../kit/kit.js";

export const RATE = 100; // samples a second
export const HIGHEST = 7; // Hz, the fastest winding

/** What a signal is the sum of, part by part; `known` are the constants of the widget: its tones, its pulse, its noise. */
export function partsOf({ signal, seconds, tone, delay }, known) {
  const late = Math.floor(RATE * delay + 0.5);
  const indices = Array.from({ length: RATE * seconds }, (_, n) => n);
  if (signal === "pulse") {
    const [first, behind] = known.pulse;
    return [indices.map((n) => (n - late >= first && n - late < behind ? 1 : 0))];
  }
  const tones = signal === "tone" ? [[1, tone, 0]] : known.tones[signal];
  const waves = tones.map(([a, f, angle]) =>
    indices.map((n) => a * Math.cos(2 * Math.PI * f * (n / RATE - delay) + angle)),
  );
  if (signal !== "noise") return waves;
  const count = indices.length; // the noise comes around
  return [...waves, indices.map((n) => known.noise[(n - late + count) % count])];
}

/** The sum of the parts, each as large as its share. */
export const samples = (parts, gains) =>
  parts[0].map((_, n) => sum(parts.map((part, i) => gains[i] * part[n])));

/**
 * Each sample times an arrow that turns backward: points of the plane.  With `fine` above 1, as many points to a
 * sample, on a straight line to the next one; the last sample has no next.
 */
export function wound(x, frequency, fine = 1) {
  const turn = (-2 * Math.PI * frequency) / RATE;
  return Array.from({ length: fine * (x.length - 1) + 1 }, (_, i) => {
    const n = Math.floor(i / fine);
    const part = i / fine - n;
    const value = part ? (1 - part) * x[n] + part * x[n + 1] : x[n];
    return [value * Math.cos(turn * (n + part)), value * Math.sin(turn * (n + part))];
  });
}

/** The mean of the wound points. */
export function center(x, frequency) {
  // The arrow is turned on by one product a sample instead of two new angles; 400 steps lose no digit that is shown.
  const turn = (-2 * Math.PI * frequency) / RATE;
  const [c, s] = [Math.cos(turn), Math.sin(turn)];
  let [a, b, real, imaginary] = [1, 0, 0, 0];
  for (const value of x) {
    real += value * a;
    imaginary += value * b;
    [a, b] = [a * c - b * s, a * s + b * c];
  }
  return [real / x.length, imaginary / x.length];
}

/** What the curve is drawn through, on both sides of 0: [frequency, [real, imaginary]], so many to a hertz. */
export const curveOf = (x, fine) =>
  Array.from({ length: 2 * fine * HIGHEST + 1 }, (_, i) => {
    const f = i / fine - HIGHEST;
    return [f, center(x, f)];
  });

/** The curve of the sum, from those of its parts: every center is the sum of the parts' centers. */
export const curveOfSum = (curves, gains) =>
  curves[0].map(([f], n) => [
    f,
    [0, 1].map((axis) => sum(curves.map((one, i) => gains[i] * one[n][1][axis]))),
  ]);

/** The bins of the DFT between two frequencies: those of whole turns in the record. */
export function binsBetween(low, high, seconds) {
  const first = Math.ceil(low * seconds - 1e-9);
  const count = Math.floor(high * seconds + 1e-9) - first + 1;
  return Array.from({ length: Math.max(0, count) }, (_, i) => first + i);
}
