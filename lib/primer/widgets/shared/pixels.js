// Places and dots for paths of thousands of them.

const HUNDREDTHS = Array.from({ length: 100 }, (_, i) => (i / 100).toFixed(2).slice(1));

/** A place in pixels with two decimals, as toFixed(2) writes it, in half its time. */
export function pixels(x) {
  if (Math.abs(x) > 1e9) return x.toFixed(2);
  const all = Math.round(100 * Math.abs(x));
  return (x < 0 ? "-" : "") + Math.floor(all / 100) + HUNDREDTHS[all % 100];
}

/** The `d` attribute of round dots: shapes of their own would be styled and laid out one by one in each frame. */
export const dots = (points, r) =>
  points
    .map(([x, y]) => `M${pixels(x - r)} ${pixels(y)}a${r} ${r} 0 1 1 ${2 * r} 0a${r} ${r} 0 1 1 ${-2 * r} 0Z`)
    .join("");
