// Tables of numbers as colors.

import { clamp } from "./numbers.js";

// Viridis, by van der Walt and Smith: eleven of its colors, the others between them.
const STOPS = [
  0x440154, 0x482475, 0x414487, 0x355f8d, 0x2a788e, 0x21918c, 0x22a884, 0x44bf70, 0x7ad151, 0xbddf26,
  0xfde725,
];

/** [red, green, blue] in 0…255 for t in 0…1, dark to bright. */
export function colormap(t) {
  const at = clamp(t, 0, 1) * (STOPS.length - 1);
  const below = Math.min(Math.floor(at), STOPS.length - 2);
  return [16, 8, 0].map((bits) => {
    const [a, b] = [STOPS[below] >> bits, STOPS[below + 1] >> bits].map((c) => c & 255);
    return Math.round(a + (at - below) * (b - a));
  });
}

/** 256 colors as an image holds them: opacity, blue, green and red in one number. */
const COLORS = Uint32Array.from({ length: 256 }, (_, i) => {
  const [red, green, blue] = colormap(i / 255);
  return (255 << 24) | (blue << 16) | (green << 8) | red;
});

/** Put pixels, each one number as in COLORS, on a canvas of so many columns, which stays where they are made. */
export function putPixels(canvas, pixels, columns) {
  const rows = pixels.length / columns;
  if (canvas.width !== columns || canvas.height !== rows)
    Object.assign(canvas, { width: columns, height: rows });
  const bytes = new Uint8ClampedArray(pixels.buffer);
  canvas
    .getContext("2d", { willReadFrequently: true })
    .putImageData(new ImageData(bytes, columns, rows), 0, 0);
}

/** Draw a table, row by row from the top, one pixel for each value; NaN stays clear. */
export function heatMap(canvas, values, columns, [low, high]) {
  const pixels = new Uint32Array(values.length);
  for (let at = 0; at < values.length; at++) {
    if (!Number.isNaN(values[at])) {
      pixels[at] = COLORS[clamp(Math.round((255 * (values[at] - low)) / (high - low)), 0, 255)];
    }
  }
  putPixels(canvas, pixels, columns);
}

/** A palette color as CSS text, for canvases: color(el, "blue"). */
export const color = (element, name) => getComputedStyle(element).getPropertyValue(`--primer-${name}`).trim();
