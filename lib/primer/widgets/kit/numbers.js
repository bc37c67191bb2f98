// Numbers, and the words for them.  All of it is pure and runs in Node.

export const clamp = (x, low, high) => Math.min(Math.max(x, low), high);

export const sum = (numbers) => numbers.reduce((total, x) => total + x, 0);
export const mean = (numbers) => sum(numbers) / numbers.length;

/** `count` + 1 numbers at equal distances, both ends among them. */
export const between = (low, high, count) =>
  Array.from({ length: count + 1 }, (_, i) => low + ((high - low) * i) / count);

/** Fixed decimals with a true minus sign, and no −0.00. */
export function format(x, digits = 3) {
  const text = x.toFixed(digits);
  return Number(text) === 0 ? (0).toFixed(digits) : text.replace("-", "−");
}

/** +1.50, −0.20 */
export const signed = (x, digits = 0) => (x < 0 ? "" : "+") + format(x, digits);

/** Without the zeros that say nothing: 5, 0.5, −2.25 */
export const short = (x, digits = 2) =>
  format(x, digits)
    .replace(/(\.\d*?)0+$/, "$1")
    .replace(/\.$/, "");

const THOUSANDS = new Intl.NumberFormat("en"); // made anew for each number, it would take as long as drawing it

/** A whole number with its thousands apart: 10,000 */
export const grouped = (x) => THOUSANDS.format(Math.round(x));

/** 0.500, 12.3, 1,230 */
export function significant(x, digits = 3) {
  const text = x.toPrecision(digits);
  return text.includes("e+") ? grouped(Number(text)) : text.replace("-", "−");
}

/** 1 token, 1,234 tokens */
export const counted = (n, word) => `${grouped(n)} ${word}${n === 1 ? "" : "s"}`;

/** 12.5% */
export const percent = (share, digits = 1) => `${format(100 * share, digits)}%`;
