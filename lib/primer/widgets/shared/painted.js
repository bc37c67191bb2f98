// Numbers that a pointer draws.

import { clamp } from "../kit/kit.js";

/**
 * Numbers, over which the pointer went in a straight line from one [index, value] to another; hundredths from `low` to 1.
 *
 * @param {number[]} values
 * @param {number[]} before
 * @param {number[]} now
 * @param {number} low
 */
export function paintedOver(values, [from, first], [to, last], low) {
  const [left, right] = [Math.min(from, to), Math.max(from, to)];
  const value = (i) => (to === from ? last : first + ((last - first) * (i - from)) / (to - from));
  return values.map((old, i) => (i < left || i > right ? old : Number(clamp(value(i), low, 1).toFixed(2))));
}
