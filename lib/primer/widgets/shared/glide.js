// A value that glides to an end while a button is pressed.

import { play } from "./play.js";

/**
 * What plays while a value glides up: play's three, and at(), where it has come, null while it rests.
 * `begin()` says where it starts, `highest()` where it ends, `speed()` how far it comes in a second; each
 * frame is drawn by `draw()`, and when it has stopped, `put(value)` keeps where it has come.
 */
export function glide({ label, begin, highest, speed, draw, put }) {
  let at = null;
  const played = play({
    label,
    start() {
      at = begin();
    },
    frame(seconds) {
      at = Math.min(highest(), at + speed() * seconds);
      draw();
      return at < highest();
    },
    end() {
      const found = at;
      at = null;
      if (found !== null) put(found);
      draw();
    },
  });
  return { ...played, at: () => at };
}
