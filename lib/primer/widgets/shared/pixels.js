// Dots for paths of thousands of them.

import { pixels } from "../kit/kit.js";

/** The `d` attribute of round dots: shapes of their own would be styled and laid out one by one in each frame. */
export const dots = (points, r) =>
  points
    .map(([x, y]) => `M${pixels(x - r)} ${pixels(y)}a${r} ${r} 0 1 1 ${2 * r} 0a${r} ${r} 0 1 1 ${-2 * r} 0Z`)
    .join("");
