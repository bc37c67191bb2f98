// Numbers of parameters, tokens and operations, as one says them.

import { clamp } from "../kit/kit.js";

/** Three or four digits and a letter: 124.4 M */
export function compact(x, letters = ["", "k", "M", "B", "T"]) {
  const power = clamp(Math.floor(Math.log10(Math.max(x, 1) / 0.9995) / 3), 0, letters.length - 1);
  const scaled = x / 1000 ** power;
  const digits = scaled < 9.995 ? 2 : scaled < 999.5 ? 1 : 0;
  return `${power ? scaled.toFixed(digits) : x} ${letters[power]}`.trim();
}

/** A compact number without the zeros that say nothing: 280 B, 1.5 T */
export const brief = (x, digits = 3) =>
  compact(Number(x.toPrecision(digits)))
    .replace(/(\.\d*?)0+(?= |$)/, "$1")
    .replace(/\.(?= |$)/, "");
