// What is closed until somebody asks for it.

import { html } from "../kit/kit.js";

const RESTED = 200; // milliseconds without a frame

/**
 * What is closed until somebody asks for it: { element, draw(…) }, which draws its parts.  No frame waits for what
 * is closed: it is drawn when it opens, or when nothing has moved for a while, so that what searches or prints the page
 * finds the present state.
 */
export function details(summary, ...parts) {
  let [given, timer] = [null, 0];
  const now = () => {
    clearTimeout(timer);
    if (given) for (const part of parts) part.draw(...given);
    given = null;
  };
  const element = html("details", { ontoggle: now }, html("summary", {}, summary), ...parts);
  function draw(...next) {
    given = next;
    if (element.open) return now();
    clearTimeout(timer);
    timer = setTimeout(now, RESTED);
  }
  return { element, draw };
}
