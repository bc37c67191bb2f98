// What plays: a button, and the frames while it is pressed.

import { button } from "../kit/kit.js";

/**
 * A button that plays: { button, playing(), stop() }.  `start()` is called when it begins, `frame(seconds)`
 * with the time since the last frame; when frame returns false, it ends.  `end()` is called when it has
 * stopped, without it frame(0).  For readers who prefer reduced motion it moves in half-second steps.
 */
export function play({ label = "Play", start = () => {}, frame, end = () => frame(0) }) {
  let request = 0;
  let last = null;
  const stop = () => {
    cancelAnimationFrame(request);
    request = 0;
    element.textContent = `▶ ${label}`;
    end();
  };
  const tick = (now) => {
    request = requestAnimationFrame(tick);
    const pause = matchMedia("(prefers-reduced-motion: reduce)").matches ? 0.5 : 0;
    const seconds = last === null ? 0 : (now - last) / 1000;
    if (last !== null && seconds < pause) return;
    last = now;
    if (frame(Math.min(seconds, 0.5)) === false) stop(); // a tab that slept does not leap
  };
  const element = button(`▶ ${label}`, () => {
    if (request) return stop();
    last = null;
    start();
    request = requestAnimationFrame(tick);
    element.textContent = "❚❚ Pause";
  });
  return { button: element, playing: () => request !== 0, stop };
}
