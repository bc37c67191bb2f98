// Elements of HTML and SVG.  Strings among the children become text nodes, never markup.

// What has the value already need not be laid out again.
function put(element, name, value) {
  if (element.getAttribute(name) !== value) element.setAttribute(name, value);
}

/**
 * Change attributes of an element: a function listens to the event (`onclick: f`), null and false take
 * the attribute away.  What can take the focus is marked so that JupyterLab leaves its keys alone.
 */
export function set(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name.slice(2), value);
    else if (value === null || value === false) element.removeAttribute(name);
    else put(element, name, value === true ? "" : `${value}`);
  }
  // JupyterLab takes arrow keys for its own commands unless the focused element itself objects, from when it is made.
  if (!element.isConnected && element.tabIndex >= 0) element.dataset.lmSuppressShortcuts = "true";
  return element;
}

/** Put children into an element: texts, elements, and what has one, as controls (`row`) and panels (`element`) do. */
export function append(element, ...children) {
  element.append(...children.map((child) => child.row ?? child.element ?? child));
  return element;
}

/** @returns {any} */
export const html = (tag, attributes = {}, ...children) =>
  append(set(document.createElement(tag), attributes), ...children);

/** @returns {any} */
export const svg = (tag, attributes = {}, ...children) =>
  append(set(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes), ...children);

/** Elements of a class, or of none: a box, a part of a line, a paragraph. */
const classed =
  (tag) =>
  (name, ...children) =>
    html(tag, name ? { class: name } : {}, ...children);
export const [div, span, paragraph] = ["div", "span", "p"].map(classed);

/** A heading over a drawing; `key("fit", "the fit")` explains a color in it. */
export const heading = (...children) => paragraph("heading", ...children);
export const key = (name, text) => span(`key ${name}`, text);

/** What the colors of a drawing mean: { class: text }. */
export const legend = (names) =>
  paragraph("legend", ...Object.entries(names).map(([name, text]) => span(name, text)));

/** Lay an element where a drawing has room for it: { left, top, width, height } in pixels. */
export function lay(element, box) {
  for (const [side, pixels] of Object.entries(box)) element.style[side] = `${pixels}px`;
}

/** Make a bar so long a part of its track. */
export function widen(bar, part) {
  const width = `${Number((100 * part).toFixed(2))}%`; // as the browser would write it
  if (bar.style.width !== width) bar.style.width = width;
}

/** Write a text, only if it changed: what stays need not be laid out, or said, again. */
export function write(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** A line that screen readers announce; say(text, quiet) with quiet = true, while playing, says nothing. */
export function resultLine() {
  const row = html("p", { class: "result", "aria-live": "polite" });
  const say = (text, quiet = false) => {
    put(row, "aria-live", quiet ? "off" : "polite");
    write(row, text);
  };
  return { row, say };
}

let count = 0;
const page = Math.random().toString(36).slice(2); // two widgets of a page have a kit each
export const uniqueId = () => `primer-${page}-${count++}`;
