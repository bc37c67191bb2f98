// Numbers too small or too large for a few decimals.

import { format } from "./kit.js";

/** 4.8·10⁻⁹ */
export function scientific(x, digits = 1) {
  const [mantissa, power] = x.toExponential(digits).split("e");
  const raised = [...String(Number(power))].map((c) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[c] ?? "⁻");
  return `${mantissa.replace("-", "−")}·10${raised.join("")}`;
}

/** A weight with three decimals, or as a power of ten where these would all be zero. */
export const writeWeight = (w) => (w === 0 ? "0" : w < 0.0005 ? scientific(w, 0) : format(w, 3));
