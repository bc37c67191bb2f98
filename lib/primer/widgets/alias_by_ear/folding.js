// What the samples of a tone are heard as.  The tests compare it with primer.fourier.

import { format, grouped } from "../kit/kit.js";
import { aliasFrequency } from "../shared/spectrum.js";

export const HIGHEST = 4000; // Hz
export const SHOWN = 0.005; // seconds that are drawn

/** The tone of lowest frequency that fits the samples: { frequency, level, phase }, the phase in radians. */
export function heard({ tone, rate, phase, filtered }) {
  const half = rate / 2;
  if (filtered && tone >= half) return { frequency: 0, level: 0, phase: 0 };
  const frequency = aliasFrequency(tone, rate);
  const angle = (phase * Math.PI) / 180;
  // At half the rate and at 0 a frequency has no phase: there the level has it.
  if (Math.min(frequency, half - frequency) < 1e-9) return { frequency, level: Math.cos(angle), phase: 0 };
  return { frequency, level: 1, phase: tone % rate > half ? -angle : angle };
}

/** The value of what is heard at a time. */
export const valueAt = ({ frequency, level, phase }, t) =>
  level * Math.cos(2 * Math.PI * frequency * t + phase);

/** The zigzag of what is heard against the tone, as its corners. */
export function fold(rate, filtered) {
  const half = rate / 2;
  if (filtered) return [0, Math.min(half, HIGHEST)].map((f) => [f, f]);
  const corners = Array.from({ length: Math.floor(HIGHEST / half) + 1 }, (_, i) => [
    i * half,
    i % 2 ? half : 0,
  ]);
  return [...corners, [HIGHEST, aliasFrequency(HIGHEST, rate)]];
}

/** What the result line says. */
export function describe({ tone, rate, phase, filtered }) {
  const half = `${grouped(rate / 2)} Hz, half the rate`;
  const name = `${grouped(tone)} Hz`;
  if (filtered && tone >= rate / 2)
    return `The filter lets nothing through at or above ${half}: the samples are 0.`;
  const { frequency, level } = heard({ tone, rate, phase, filtered });
  if (rate / 2 - frequency < 1e-9)
    return `The samples of ${name} are ${format(level, 2)} and ${format(-level, 2)} in turn: how loud it is and its phase cannot be told apart.`;
  if (frequency < 1e-9)
    return `${name} makes whole turns from one sample to the next: all are alike, and nothing sounds.`;
  if (tone < rate / 2) return `${name} is below ${half}: the samples fit no other tone below it.`;
  const turns = rate * Math.round(tone / rate);
  const away = tone - turns;
  const from = `${grouped(tone)} − ${grouped(turns)} is`;
  const left = away < 0 ? `−${grouped(-away)}, the same turned backward` : grouped(away);
  return `${name} has the samples of ${grouped(frequency)} Hz: ${from} ${left}.`;
}
