// A small random generator (mulberry32, by Tommy Ettinger): uniform numbers in [0, 1).
// The same seed gives the same numbers in every browser.
export function random(seed) {
  let state = seed | 0;
  return () => {
    state = (state + STEP) | 0;
    return mix(state);
  };
}

/** The first numbers of a seed, all at once: several times as fast as one after the other. */
export function firstOf(seed, count) {
  const numbers = new Float64Array(count);
  for (let i = 0, state = seed | 0; i < count; i++) {
    state = (state + STEP) | 0;
    numbers[i] = mix(state);
  }
  return numbers;
}

const STEP = 0x6d2b79f5;

function mix(state) {
  let mixed = Math.imul(state ^ (state >>> 15), state | 1);
  mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
  return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
}

/** A standard normal number from two uniform ones (Box and Muller). */
export const normal = (uniform) =>
  Math.sqrt(-2 * Math.log(1 - uniform())) * Math.cos(2 * Math.PI * uniform());
