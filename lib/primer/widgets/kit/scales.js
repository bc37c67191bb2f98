// Scales from numbers to pixels, round numbers along them, and paths.  All of it runs in Node.

import { clamp, format } from "./numbers.js";

const scale = (domain, range, to, from) => {
  const [d0, d1] = domain.map(to);
  const [r0, r1] = range;
  const map = (x) => r0 + ((to(x) - d0) / (d1 - d0)) * (r1 - r0);
  map.invert = (px) => from(d0 + ((px - r0) / (r1 - r0)) * (d1 - d0));
  return Object.assign(map, { domain, range });
};

/** s(x) → px, s.invert(px) → x, s.domain, s.range */
export const linear = (domain, range) => scale(domain, range, Number, Number);

/** The same for a logarithmic axis. */
export const logarithmic = (domain, range) => scale(domain, range, Math.log10, (x) => 10 ** x);

/** Round numbers between low and high, about `count` of them; none where high is not clearly above low. */
export function ticks(low, high, count = 5) {
  const width = high - low;
  // closer numbers cannot be counted between
  if (!(width > 1e-12 * (Math.abs(low) + Math.abs(high)) && width < Infinity)) return [];
  const raw = width / count;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = power * [1, 2, 5, 10].find((f) => f * power >= raw * 0.999);
  const found = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + step * 1e-9; i++) {
    found.push(Number((i * step).toPrecision(12)));
  }
  return found.length ? found : ticks(low, high, count + 1); // two steps can be longer than the axis
}

/** Write ticks with as many decimals as their distance needs. */
export const decimals = (marks) => {
  const digits = clamp(Math.ceil(-Math.log10(marks[1] - marks[0]) - 1e-9), 0, 6) || 0;
  return (t) => format(t, digits);
};

/** A place in pixels with two decimals, as toFixed(2) writes it; most of them in a third of its time. */
export function pixels(x) {
  const all = `${Math.round(100 * x)}`;
  return x > 1 && x < 1e9 ? `${all.slice(0, -2)}.${all.slice(-2)}` : x.toFixed(2);
}

/** The `d` attribute of a polyline through pixels; a point with NaN lifts the pen. */
export function path(points) {
  let pen = "M";
  let d = "";
  for (const [x, y] of points) {
    const drawn = Number.isFinite(x + y);
    if (drawn) d += `${pen}${pixels(x)} ${pixels(y)}`;
    pen = drawn ? "L" : "M";
  }
  return d;
}

/**
 * An arrow as a path of pixels; its head is two strokes, shorter than the arrow.
 *
 * @param {number[]} from
 * @param {number[]} to
 */
export function arrow([x0, y0], [x1, y1]) {
  const turn = Math.atan2(y1 - y0, x1 - x0);
  const head = Math.min(9, Math.hypot(x1 - x0, y1 - y0) / 2);
  const side = (by) => [x1 - head * Math.cos(turn + by), y1 - head * Math.sin(turn + by)];
  const lines = [
    [
      [x0, y0],
      [x1, y1],
    ],
    [side(0.45), [x1, y1], side(-0.45)],
  ];
  return lines.map(path).join("");
}
