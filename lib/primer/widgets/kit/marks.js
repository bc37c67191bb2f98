// What can be taken hold of: by the mouse, a finger and the keyboard.

import { set, svg } from "./elements.js";

const KEYS = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, 1],
  ArrowDown: [0, -1],
  PageUp: [0, 10],
  PageDown: [0, -10],
};

const within = (element, event) => {
  const box = element.getBoundingClientRect();
  return [(event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height];
};

/** Calls move(x, y), as a drag does, when the mouse passes over an element. */
export const hover = (element, move) =>
  set(element, {
    onpointermove: (event) => {
      if (!event.buttons) move(...within(element, event)); // a finger counts as one
    },
  });

/**
 * Let an element be dragged.  move(x, y, begins): the pointer in fractions (0…1) of the element, from its top left
 * corner, and whether it has just taken hold; step(dx, dy): arrow keys (±1) and Page keys (±10), if given; touch: what
 * the browser may still do with a finger, CSS touch-action.
 *
 * @param {any} element
 * @param {{ move: Function, step?: Function | null, touch?: string }} options
 */
export function draggable(element, { move, step = null, touch = "pan-y" }) {
  let begins = false; // of a finger that may yet scroll past: until it is lifted or goes across, nothing moves
  const report = (event) => {
    move(...within(element, event), begins);
    begins = false;
  };
  element.style.touchAction = touch;
  // Browsers ignore touch-action on the shapes of a drawing, and would scroll away with the mark.
  if (touch === "none") set(element, { ontouchstart: (event) => event.preventDefault() });
  set(element, {
    onpointerdown: (event) => {
      element.setPointerCapture(event.pointerId);
      begins = true;
      if (touch === "none" || event.pointerType === "mouse") report(event);
    },
    onpointermove: (event) => {
      if (!element.hasPointerCapture(event.pointerId)) return;
      if (!begins || event.movementX ** 2 >= event.movementY ** 2) report(event);
    },
    onpointerup: (event) => {
      if (begins) report(event);
    },
  });
  if (!step) return;
  set(element, {
    tabindex: 0,
    onkeydown: (event) => {
      if (!(event.key in KEYS)) return;
      event.preventDefault();
      step(...KEYS[event.key]);
    },
  });
}

/**
 * A round mark, wider than what it stands on; its `cx` and `cy` are where it is drawn.  It moves by the place
 * where it was taken hold of: moveTo(x, y) in pixels of the drawing; `take()` when it gets the focus.
 *
 * @param {{ moveTo: Function, step: Function, take?: Function, attributes?: any }} options
 */
export function grip({ moveTo, step, take = () => {}, attributes = {} }) {
  const mark = svg("circle", {
    class: "grip",
    r: 16,
    role: "button",
    "aria-roledescription": attributes.role ? null : "movable mark",
    ...attributes,
  });
  let hold = null;
  const begin = () => {
    hold = null;
    mark.focus();
  };
  set(mark, { onpointerdown: begin, onfocus: () => take() });
  const move = (fx, fy) => {
    const box = mark.getBoundingClientRect();
    const [cx, cy] = ["cx", "cy"].map((name) => +mark.getAttribute(name));
    const [x, y] = [cx + (fx - 0.5) * box.width, cy + (fy - 0.5) * box.height];
    hold ??= [x - cx, y - cy];
    moveTo(x - hold[0], y - hold[1]);
  };
  draggable(mark, { step, touch: "none", move });
  return mark;
}
