// Convolution, place by place.  The tests compare it with primer.fourier.

import { short, sum } from "../kit/kit.js";

export const LENGTH = 8; // samples of a signal

/** What the newest sample is multiplied by, the one before it, and so on. */
export const taps = (kernel, flip) => (flip ? [...kernel] : kernel.toReversed());

/** The first and the last place that a border keeps. */
export function places(count, border) {
  if (border === "full") return [0, LENGTH + count - 2];
  const first = border === "same" ? Math.floor((count - 1) / 2) : 0;
  return [first, first + LENGTH - 1];
}

/** What lies under each tap at a place: [{ at, tap, value, product, wrapped }], the newest sample first. */
export function under(x, own, place, border) {
  return own.map((tap, j) => {
    const wrapped = border === "circular" && place < j;
    const at = wrapped ? place - j + LENGTH : place - j;
    const value = x[at] ?? 0;
    return { at, tap, value, product: tap * value, wrapped };
  });
}

/** The sum at a place. */
export const total = (x, own, place, border) =>
  sum(under(x, own, place, border).map(({ product }) => product));

/** What the result line says. */
export function describe(x, own, place, border) {
  const pairs = under(x, own, place, border);
  const number = (value) => (value < 0 ? `(${short(value)})` : short(value));
  const terms = pairs
    .filter(({ tap }) => tap)
    .map(({ tap, value }) => `${number(tap)} · ${number(value)}`)
    .join(" + ");
  const round = pairs.some(({ wrapped }) => wrapped)
    ? " What ran over the left end comes in at the right."
    : "";
  return `Place ${place}: ${terms} = ${short(sum(pairs.map(({ product }) => product)), 3)}.${round}`;
}
