// What a widget draws and writes, for tests/drawn.py: `drawn.look()` and `drawn.controls()`.

const root = () => document.getElementById("widget");
const seen = (element) => element.checkVisibility({ checkVisibilityCSS: true, checkOpacity: true });
const numbers = (text) => (text.match(/-?\d+(\.\d+)?(e-?\d+)?/g) ?? []).map(Number);
const GEOMETRY = ["x", "y", "x1", "y1", "x2", "y2", "cx", "cy", "r", "rx", "ry", "width", "height"];
const LINE = 24; // points read off a line

const named = (element) =>
  element.tagName.toLowerCase() +
  [...element.classList]
    .filter((c) => c !== "primer-widget")
    .map((c) => `.${c}`)
    .join("");

// The classes above a mark: what it belongs to.
function place(element) {
  const parts = [];
  for (let at = element; at && at !== root(); at = at.parentElement)
    if (at === element || at.classList.length || at.tagName === "svg") parts.unshift(named(at));
  return parts.join(" ");
}

function shape(element, add) {
  const tag = element.tagName;
  if (["svg", "g", "title", "defs"].includes(tag)) return;
  if (tag === "text") add("n", [1]);
  for (const name of GEOMETRY)
    if (element.hasAttribute(name)) add(name, [Number.parseFloat(element.getAttribute(name))]);
  for (const [, name, given] of (element.getAttribute("transform") ?? "").matchAll(/(\w+)\(([^)]*)\)/g))
    numbers(given).forEach((value, i) => add(`${name} ${"xy"[i] ?? i}`, [value]));
  if (tag === "path" && element.getAttribute("d")) {
    const length = element.getTotalLength();
    for (let k = 0; k <= LINE; k++) {
      const { x, y } = element.getPointAtLength((length * k) / LINE);
      add("x", [x]);
      add("y", [y]);
    }
    add("length", [length]);
    add("d", numbers(element.getAttribute("d"))); // dots are lines of no length
  }
  const paint = getComputedStyle(element);
  for (const side of ["fill", "stroke"])
    if (tag !== "text" && paint[side].startsWith("rgb")) add(side, numbers(paint[side]).slice(0, 3));
  if (paint.opacity !== "1") add("opacity", [Number(paint.opacity)]);
}

// A picture of pixels, as eight by eight colors.
function pixels(canvas, add) {
  const small = Object.assign(document.createElement("canvas"), { width: 8, height: 8 });
  const ink = small.getContext("2d", { willReadFrequently: true });
  if (canvas.width && canvas.height) ink.drawImage(canvas, 0, 0, 8, 8);
  const { data } = ink.getImageData(0, 0, 8, 8);
  add("size", [canvas.width, canvas.height]);
  for (const [at, name] of ["red", "green", "blue", "ink"].entries())
    add(
      name,
      [...data].filter((_, i) => i % 4 === at),
    );
}

// Boxes whose width, height or color is a number.
function box(element, add) {
  for (const rule of (element.getAttribute("style") ?? "").split(";")) {
    const [name, value] = rule.split(":").map((part) => part.trim());
    if (value && numbers(value).length) add(`style ${name}`, numbers(value));
  }
}

function look() {
  const found = {};
  for (const element of root().querySelectorAll("*")) {
    if (!seen(element) || element.tagName === "OPTION") continue;
    const key = place(element);
    found[key] ??= {};
    const marks = found[key];
    const add = (name, values) => {
      marks[name] = [...(marks[name] ?? []), ...values];
    };
    const family = [...element.parentElement.children]; // what comes later lies above, or below
    if (family.some((other) => named(other) !== named(element))) add("nth", [family.indexOf(element)]);
    if (element instanceof SVGElement) shape(element, add);
    else if (element.tagName === "CANVAS") pixels(element, add);
    else box(element, add);
    if (element.matches("input:not([type=text])"))
      add("value", [Number(element.value) || 0, +element.checked]);
    if (element.matches("select")) add("value", [element.selectedIndex]);
    const own = [...element.childNodes].filter((node) => node.nodeType === Node.TEXT_NODE);
    const text = own
      .map((node) => node.data)
      .join("")
      .trim();
    if (text) marks.text = marks.text ? `${marks.text} | ${text}` : text;
  }
  return found;
}

// Drawings within drawings that have no room, or show another part of the plane than the one they lie on.
function lost() {
  const boxes = [...root().querySelectorAll("svg svg")].filter(seen).map((svg) => ({
    box: ["x", "y", "width", "height"].map((name) => Number(svg.getAttribute(name))),
    view: numbers(svg.getAttribute("viewBox") ?? ""),
    name: place(svg),
  }));
  const right = ({ box, view }) =>
    box[2] > 0 && box[3] > 0 && view.every((v, i) => Math.abs(v - box[i]) < 0.01);
  return boxes.filter((one) => !right(one)).map(({ name, box }) => `${name} ${box.join(" ")}`);
}

// [kind, label] of what can be moved; what only scrolls is not.
function controls() {
  const kind = (element) => {
    if (element.matches("select, button")) return element.tagName.toLowerCase();
    if (element.matches("textarea, input[type=text], input:not([type])")) return "text";
    return element.matches("input") ? element.type : "mark";
  };
  const scrolls = (element) =>
    element.scrollWidth > element.clientWidth && getComputedStyle(element).overflowX === "auto";
  const label = (element) =>
    element.getAttribute("aria-label") ?? element.labels?.[0]?.textContent ?? element.textContent ?? "";
  const found = [...root().querySelectorAll("input, select, textarea, button, .grip, [tabindex='0']")].filter(
    (element) =>
      element.checkVisibility({ checkVisibilityCSS: true }) &&
      !element.disabled &&
      !element.closest("[inert]") &&
      !scrolls(element),
  );
  found.forEach((element, i) => {
    element.dataset.control = String(i);
  });
  return found.map((element) => [kind(element), label(element).trim().split("\n")[0]]);
}

globalThis.drawn = { look, controls, lost };
