// What a widget draws and writes, for tests/tools/drawn.py: `drawn.still()`, `drawn.look()` and so on.

const root = () => document.getElementById("widget");
const seen = (element) => element.checkVisibility({ checkVisibilityCSS: true, checkOpacity: true });
const numbers = (text) => (text.match(/-?\d+(\.\d+)?(e-?\d+)?/g) ?? []).map(Number);
const GEOMETRY = ["x", "y", "x1", "y1", "x2", "y2", "cx", "cy", "r", "rx", "ry", "width", "height"];
const LINE = 24; // points read off a line
const FAR = 1e6; // px; of a line so long no points are read

const named = (element) =>
  element.tagName.toLowerCase() +
  [...element.classList]
    .filter((c) => c !== "primer-widget")
    .map((c) => `.${c}`)
    .join("");

// What is computed once for each element, or each path, however many ask for it.
function once(compute) {
  const known = new Map();
  return (asked) => {
    if (!known.has(asked)) known.set(asked, compute(asked));
    return known.get(asked);
  };
}

// The classes above a mark, and its own name: what it belongs to.  A drawing of thousands of marks asks
// for those of a few.
function places() {
  const name = once(named);
  const above = once((element) => {
    if (!element || element === root()) return "";
    const own = element.classList.length || element.tagName === "svg" ? `${name(element)} ` : "";
    return above(element.parentElement) + own;
  });
  return (element) => above(element.parentElement) + name(element);
}

// Where an element stands among its siblings, if they are not all alike.
function orders() {
  const order = once((parent) => {
    const family = [...parent.children];
    const alike = new Set(family.map(named)).size < 2;
    return alike ? null : new Map(family.map((element, i) => [element, i]));
  });
  return (element) => order(element.parentElement)?.get(element);
}

const SVG = "http://www.w3.org/2000/svg";
// The length of a line, and points read off it; most lines are the same at the next look.
const line = once((d) => {
  const path = document.createElementNS(SVG, "path");
  path.setAttribute("d", d);
  const length = path.getTotalLength();
  // far outside every window browsers count in steps of pixels, each in its own
  if (length > FAR) return { length, x: [], y: [], d: numbers(d) };
  const points = Array.from({ length: LINE + 1 }, (_, k) => path.getPointAtLength((length * k) / LINE));
  return { length, x: points.map(({ x }) => x), y: points.map(({ y }) => y), d: numbers(d) };
});
const color = once((paint) => numbers(paint).slice(0, 3));

function shape(element, add) {
  const tag = element.tagName;
  if (["svg", "g", "title", "defs"].includes(tag)) return;
  if (tag === "text") add("n", [1]);
  for (const name of GEOMETRY)
    if (element.hasAttribute(name)) add(name, [Number.parseFloat(element.getAttribute(name))]);
  for (const [, name, given] of (element.getAttribute("transform") ?? "").matchAll(/(\w+)\(([^)]*)\)/g))
    numbers(given).forEach((value, i) => add(`${name} ${"xy"[i] ?? i}`, [value]));
  if (tag === "path" && element.getAttribute("d")) {
    const { length, x, y, d } = line(element.getAttribute("d"));
    if (x.length) add("x", x);
    if (y.length) add("y", y);
    add("length", [length]);
    add("d", d); // dots are lines of no length
  }
  const paint = getComputedStyle(element);
  for (const side of ["fill", "stroke"])
    if (tag !== "text" && paint[side].startsWith("rgb")) add(side, color(paint[side]));
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

function marked() {
  const found = {};
  const [place, order] = [places(), orders()];
  for (const element of root().querySelectorAll("*")) {
    if (!seen(element) || element.tagName === "OPTION") continue;
    const key = place(element);
    found[key] ??= {};
    const marks = found[key];
    const add = (name, values) => {
      marks[name] ??= [];
      marks[name].push(...values);
    };
    const nth = order(element); // what comes later lies above, or below
    if (nth !== undefined) add("nth", [nth]);
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

let last = "";

// Whether all is as it was at the last look; asked often, so the answer alone leaves the page.
function still() {
  const before = last;
  last = JSON.stringify(marked());
  return last === before;
}

// What the last look saw.
const look = () => last;

// What an element says by itself, on one line.
const said = (element) =>
  [...element.childNodes]
    .filter((node) => node.nodeType === Node.TEXT_NODE)
    .map((node) => node.data)
    .join("")
    .replace(/\s+/g, " ")
    .trim();

// What stands written, piece by piece, and what the controls stand at; how many marks are drawn.
function words() {
  const shown = [...root().querySelectorAll("*")].filter(seen);
  const told = (element) => {
    if (element.matches("select"))
      return `${element.labels?.[0]?.textContent.trim() ?? ""} = ${element.selectedOptions[0]?.text}`;
    if (element.matches("[type=checkbox], [type=radio]"))
      return element.checked ? `[x] ${element.labels?.[0]?.textContent.trim() ?? ""}` : "";
    return element.matches("option, svg .tick") ? "" : said(element);
  };
  const marks = shown.filter((element) => element.matches("svg *:not(g, svg, title, defs, text)"));
  return { pieces: shown.map(told).filter(Boolean), marks: marks.length };
}

// The whole widget as the lines of an SVG that a browser opens: its elements, with the numbers rounded.
const ESCAPES = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
const escaped = (text) => text.replace(/[&<>"]/g, (c) => ESCAPES[c]);
const rounded = (text) =>
  text.replace(/-?\d*\.\d+(e-?\d+)?|-?\d+e-?\d+/g, (n) => String(Math.round(n * 10) / 10 + 0));
const PLOTTED = ["d", "transform", "points", "viewBox"];
const LEFT_OUT = /^(data-|aria-|on|tabindex|role|id$|for$|name$|list$|title$|value$|checked$|hidden$)/;

// A name that is another each time.  It goes before numbers are rounded: "1e-6" may end it.
const MADE_UP = /primer-[a-z0-9]+-(?=\d)/;

function attributes(element) {
  const left = element.closest("defs") ? /^$/ : LEFT_OUT;
  const own = [...element.attributes].filter(({ name, value }) => value && !left.test(name));
  const parts = own.map(({ name, value: given }) => {
    const value = given.replace(MADE_UP, "primer-");
    const plotted = PLOTTED.includes(name) ? value.match(/[a-z]+|-?[\d.]+(e-?\d+)?/gi).join(" ") : value;
    const number = element instanceof SVGElement || name === "style";
    return ` ${name}="${escaped(number ? rounded(plotted) : value)}"`;
  });
  if (element.matches("input[type=checkbox], input[type=radio]") && element.checked)
    parts.push(' checked=""');
  else if (element.matches("input")) parts.push(` value="${escaped(rounded(element.value))}"`);
  if (element.open) parts.push(' open=""');
  const above = element.parentElement;
  if (element === root()) parts.unshift(' xmlns="http://www.w3.org/1999/xhtml"');
  else if (element.tagName === "svg" && !(above instanceof SVGElement)) parts.unshift(` xmlns="${SVG}"`);
  return parts.join("");
}

// A picture of pixels, as eight by eight squares.
function mosaic(canvas) {
  const colors = {};
  pixels(canvas, (name, values) => {
    colors[name] = values;
  });
  const square = (_, i) => {
    const [r, g, b] = ["red", "green", "blue"].map((name) => colors[name][i]);
    return `<path fill="rgb(${r} ${g} ${b})" d="M ${i % 8} ${Math.floor(i / 8)} h 1 v 1 h -1 z"/>`;
  };
  const [width, height] = colors.size;
  const box = `xmlns="${SVG}" class="${canvas.className}" viewBox="0 0 8 8" preserveAspectRatio="none"`;
  return [`<svg ${box} data-size="${width} ${height}">${colors.red.map(square).join("")}</svg>`];
}

const ROOM = 700; // characters of a line that holds several elements

function lines(element) {
  if (element.tagName === "CANVAS") return mosaic(element);
  const tag = element.tagName.toLowerCase();
  const [open, close] = [`<${tag}${attributes(element)}`, `</${tag}>`];
  if (tag === "select") {
    const chosen = element.selectedOptions[0]?.text ?? "";
    return [`${open}><option>${escaped(chosen)}</option>${close}`];
  }
  const inside = [];
  let before = null;
  for (const node of element.childNodes) {
    const text = node.nodeType === Node.TEXT_NODE && node.data.replace(/[\s\u200b]+/g, " ");
    if (text && text !== " ") inside.push(escaped(text));
    if (node.nodeType !== Node.ELEMENT_NODE || node.tagName === "title") continue;
    if (!seen(node) && !node.closest("defs")) continue;
    const own = lines(node);
    // marks of one layer stand on one line, and small things of a kind beside each other
    const layer =
      !node.children.length && node instanceof SVGElement && named(node) === (before && named(before));
    const fits = node.tagName === before?.tagName && inside.at(-1).length + own[0].length <= ROOM;
    if (own.length === 1 && (layer || fits)) inside.push(inside.pop() + own[0]);
    else inside.push(...own);
    before = own.length === 1 ? node : null;
  }
  if (!inside.length) return [`${open}/>`];
  const whole = `${open}>${inside.join("")}${close}`;
  return inside.length === 1 || whole.length <= ROOM ? [whole] : [`${open}>`, ...inside, close];
}

const picture = () => lines(root());

// Drawings within drawings that have no room, or show another part of the plane than the one they lie on.
function lost() {
  const place = places();
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

// Open all folds, so that what they hold is seen; say whether there are any.
function unfold() {
  const folds = [...root().querySelectorAll("details")];
  for (const fold of folds) fold.open = true;
  return folds.length > 0;
}

globalThis.drawn = { still, look, words, picture, controls, lost, unfold };
