// Arrows in a plane and marks that can be taken hold of.

import { draggable, set, svg } from "./kit.js";

// A round mark, wider than what it stands on, for the mouse, a finger and the keyboard.
export const grip = (label) =>
  svg("circle", {
    class: "grip",
    r: 16,
    role: "button",
    "aria-roledescription": "movable mark",
    "aria-label": label,
  });

// Let a mark be moved by the place where it was taken hold of; its `cx` and `cy` are where it is drawn.
export function movable(mark, { moveTo, step, take }) {
  let hold = null;
  set(mark, {
    onpointerdown: () => {
      hold = null;
      mark.focus();
    },
    onfocus: () => take?.(),
  });
  draggable(mark, {
    step,
    touch: "none",
    move: (fx, fy) => {
      const box = mark.getBoundingClientRect();
      const [cx, cy] = [Number(mark.getAttribute("cx")), Number(mark.getAttribute("cy"))];
      const [x, y] = [cx + (fx - 0.5) * box.width, cy + (fy - 0.5) * box.height];
      hold ??= [x - cx, y - cy];
      moveTo(x - hold[0], y - hold[1]);
    },
  });
}

// An arrow as a path; its head is two strokes, shorter than the arrow.
export function arrow([x0, y0], [x1, y1]) {
  const turn = Math.atan2(y1 - y0, x1 - x0);
  const head = Math.min(9, Math.hypot(x1 - x0, y1 - y0) / 2);
  const side = (by) =>
    `${(x1 - head * Math.cos(turn + by)).toFixed(2)} ${(y1 - head * Math.sin(turn + by)).toFixed(2)}`;
  return `M${x0.toFixed(2)} ${y0.toFixed(2)}L${x1.toFixed(2)} ${y1.toFixed(2)}M${side(0.45)}L${x1.toFixed(2)} ${y1.toFixed(2)}L${side(-0.45)}`;
}
