// The drawing kit of the widgets.  A module imports what it needs:
//
//   import { mount, slider, format } from "./kit.js";
//
// Numbers (pure; they run in Node)
//   linear([d0, d1], [r0, r1])       a scale: s(x) → px, s.invert(px) → x, s.domain, s.range
//   logarithmic([d0, d1], [r0, r1])  the same for a logarithmic axis
//   ticks(low, high, count)          round numbers between low and high, about `count` of them
//   format(x, digits)                fixed decimals with a true minus sign, and no −0.00
//   path([[x, y], …])                the `d` attribute of a polyline; a point with NaN lifts the pen
//   clamp(x, low, high)
//   colormap(t)                      [red, green, blue] in 0…255 for t in 0…1, dark to bright
// Elements (strings among the children become text nodes, never markup)
//   html(tag, attributes, ...children), svg(tag, attributes, ...children)
//       an attribute `onclick: f` listens; null and false are left out; what can take the focus
//       is marked so that JupyterLab leaves its keys alone
//   set(element, attributes)         change attributes of an element
// Controls: each returns { row, input, set(value) }; `change(value)` is called on the reader's input
//   slider({ label, min, max, step, value, text, change })   text(value) is written beside it
//   select({ label, options: [[value, text], …], value, change })
//   radio({ label, options: [[value, text or element], …], value, change })
//   checkbox({ label, value, change })
//   button(text, click)                                      returns the <button>
//   play({ label, frame })   returns { button, playing(), stop() }; frame(seconds) is called with the
//       time since the last frame, and frame(0) when it stops; for readers who prefer reduced motion
//       it moves in half-second steps
//   resultLine()             returns { row, say(text, quiet) }: a line screen readers announce;
//       quiet = true (while playing) changes the text without an announcement
// Drawing
//   axes(g, { x, y, xLabel, yLabel, xTicks, yTicks, xText, yText })   grid, numbers, labels in an SVG <g>;
//       ticks and their texts may be left out
//   heatMap(canvas, columns, rows, value, low, high)   value(column, row) → number, row 0 at the bottom
//   color(element, name)     a palette color as CSS text, for canvases: color(el, "blue")
//   draggable(element, { move, step, touch })   move(x, y): the pointer in fractions (0…1) of the
//       element, from its top left corner; step(dx, dy): arrow keys (±1) and Page keys (±10), if given;
//       touch: what the browser may still do with a finger, CSS touch-action, default "pan-y"
// A widget's life
//   update(model, { name: value, … })           set traits and tell Python
//   mount({ model, el, traits, draw })          draw now, and once per frame after any of the traits,
//       the width of `el` or the theme changed; returns the function that ends it, for render() to return

const scale = (domain, range, to, from) => {
  const [d0, d1] = domain.map(to);
  const [r0, r1] = range;
  const map = (x) => r0 + ((to(x) - d0) / (d1 - d0)) * (r1 - r0);
  map.invert = (px) => from(d0 + ((px - r0) / (r1 - r0)) * (d1 - d0));
  return Object.assign(map, { domain, range });
};

export const linear = (domain, range) => scale(domain, range, Number, Number);

export const logarithmic = (domain, range) => scale(domain, range, Math.log10, (x) => 10 ** x);

export const clamp = (x, low, high) => Math.min(Math.max(x, low), high);

export function ticks(low, high, count = 5) {
  const raw = (high - low) / count;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = power * [1, 2, 5, 10].find((f) => f * power >= raw * 0.999);
  const found = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + step * 1e-9; i++) {
    found.push(Number((i * step).toPrecision(12)));
  }
  return found.length ? found : ticks(low, high, count + 1); // two steps can be longer than the axis
}

export function format(x, digits = 3) {
  const text = x.toFixed(digits);
  return Number(text) === 0 ? (0).toFixed(digits) : text.replace("-", "−");
}

export function path(points) {
  let pen = "M";
  return points
    .map(([x, y]) => {
      const drawn = Number.isFinite(x + y) ? `${pen}${x.toFixed(2)} ${y.toFixed(2)}` : "";
      pen = drawn ? "L" : "M";
      return drawn;
    })
    .join("");
}

// Viridis, by van der Walt and Smith: eleven of its colors, the others between them.
const STOPS = [
  0x440154, 0x482475, 0x414487, 0x355f8d, 0x2a788e, 0x21918c, 0x22a884, 0x44bf70, 0x7ad151, 0xbddf26,
  0xfde725,
];

export function colormap(t) {
  const at = clamp(t, 0, 1) * (STOPS.length - 1);
  const below = Math.min(Math.floor(at), STOPS.length - 2);
  return [16, 8, 0].map((bits) => {
    const [a, b] = [STOPS[below] >> bits, STOPS[below + 1] >> bits].map((c) => c & 255);
    return Math.round(a + (at - below) * (b - a));
  });
}

export function set(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name.slice(2), value);
    else if (value === null || value === false) element.removeAttribute(name);
    else element.setAttribute(name, value === true ? "" : value);
  }
  // JupyterLab takes arrow keys for its own commands unless the focused element itself objects.
  if (element.tabIndex >= 0) element.dataset.lmSuppressShortcuts = "true";
  return element;
}

export function html(tag, attributes = {}, ...children) {
  const element = set(document.createElement(tag), attributes);
  element.append(...children);
  return element;
}

export function svg(tag, attributes = {}, ...children) {
  const element = set(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes);
  element.append(...children);
  return element;
}

const uniqueId = () => `primer-${Math.random().toString(36).slice(2)}`;

export function slider({ label, min, max, step = 1, value, text = String, change }) {
  const id = uniqueId();
  const input = html("input", { id, type: "range", min, max, step });
  const output = html("output", { for: id, "aria-live": "off" }); // the input itself says its value
  const show = (x) => {
    input.value = x;
    const words = text(x);
    if (output.textContent === words) return; // so that a frame lays out only what has changed
    output.textContent = words;
    input.setAttribute("aria-valuetext", words);
  };
  input.addEventListener("input", () => {
    show(Number(input.value));
    change(Number(input.value));
  });
  show(value);
  return {
    row: html("div", { class: "control" }, html("label", { for: id }, label), input, output),
    input,
    set: show,
  };
}

export function select({ label, options, value, change }) {
  const id = uniqueId();
  const input = html("select", { id }, ...options.map(([v, text]) => html("option", { value: v }, text)));
  const show = (v) => {
    input.value = v;
  };
  input.addEventListener("change", () => change(input.value));
  show(value);
  return {
    row: html("div", { class: "control" }, html("label", { for: id }, label), input),
    input,
    set: show,
  };
}

export function radio({ label, options, value, change }) {
  const name = uniqueId();
  const inputs = options.map(([v]) =>
    html("input", { type: "radio", name, value: v, onchange: () => change(v) }),
  );
  const show = (v) =>
    inputs.forEach((input) => {
      input.checked = input.value === String(v);
    });
  show(value);
  const choices = options.map(([, text], i) => html("label", {}, inputs[i], text));
  return {
    row: html("fieldset", { class: "control" }, html("legend", {}, label), ...choices),
    input: inputs[0],
    set: show,
  };
}

export function checkbox({ label, value, change }) {
  const input = html("input", { type: "checkbox", onchange: () => change(input.checked) });
  const show = (v) => {
    input.checked = v;
  };
  show(value);
  return { row: html("label", { class: "control" }, input, label), input, set: show };
}

export const button = (text, click) => html("button", { type: "button", onclick: click }, text);

export function play({ label = "Play", frame }) {
  let request = 0;
  let last = null;
  const stop = () => {
    cancelAnimationFrame(request);
    request = 0;
    element.textContent = `▶ ${label}`;
    frame(0);
  };
  const tick = (now) => {
    request = requestAnimationFrame(tick);
    const pause = matchMedia("(prefers-reduced-motion: reduce)").matches ? 0.5 : 0;
    const seconds = last === null ? 0 : (now - last) / 1000;
    if (last !== null && seconds < pause) return;
    last = now;
    frame(Math.min(seconds, 0.5)); // a tab that slept does not leap
  };
  const element = button(`▶ ${label}`, () => {
    if (request) return stop();
    last = null;
    request = requestAnimationFrame(tick);
    element.textContent = "⏸ Pause";
  });
  return { button: element, playing: () => request !== 0, stop };
}

export function resultLine() {
  const row = html("p", { class: "result", "aria-live": "polite" });
  const say = (text, quiet = false) => {
    row.setAttribute("aria-live", quiet ? "off" : "polite");
    if (row.textContent !== text) row.textContent = text;
  };
  return { row, say };
}

// Write ticks with as many decimals as their distance needs.
const decimals = (marks) => {
  const digits = clamp(Math.ceil(-Math.log10(marks[1] - marks[0]) - 1e-9), 0, 6) || 0;
  return (t) => format(t, digits);
};

export function axes(g, options) {
  const { x, y, xLabel, yLabel, xTicks = ticks(...x.domain), yTicks = ticks(...y.domain) } = options;
  const { xText = decimals(xTicks), yText = decimals(yTicks) } = options;
  const [left, right] = x.range;
  const [bottom, top] = y.range;
  const text = (at, content) => svg("text", at, content);
  g.replaceChildren(
    ...xTicks.map((t) => svg("path", { class: "grid", d: `M${x(t)} ${bottom}V${top}` })),
    ...yTicks.map((t) => svg("path", { class: "grid", d: `M${left} ${y(t)}H${right}` })),
    svg("path", { class: "axis", d: `M${left} ${top}V${bottom}H${right}` }),
    ...xTicks.map((t) => text({ class: "tick", x: x(t), y: bottom + 15, "text-anchor": "middle" }, xText(t))),
    ...yTicks.map((t) => text({ class: "tick", x: left - 6, y: y(t) + 4, "text-anchor": "end" }, yText(t))),
    text({ class: "label", x: (left + right) / 2, y: bottom + 32, "text-anchor": "middle" }, xLabel),
    text({ class: "label", x: left, y: top - 9, "text-anchor": "start" }, yLabel),
  );
}

export function heatMap(canvas, columns, rows, value, low, high) {
  Object.assign(canvas, { width: columns, height: rows });
  const image = new ImageData(columns, rows);
  const table = Array.from({ length: 256 }, (_, i) => [...colormap(i / 255), 255]);
  for (let row = 0, at = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++, at += 4) {
      const t = (value(column, rows - 1 - row) - low) / (high - low);
      image.data.set(table[clamp(Math.round(t * 255), 0, 255) || 0], at);
    }
  }
  canvas.getContext("2d").putImageData(image, 0, 0);
}

export const color = (element, name) => getComputedStyle(element).getPropertyValue(`--primer-${name}`).trim();

const KEYS = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, 1],
  ArrowDown: [0, -1],
  PageUp: [0, 10],
  PageDown: [0, -10],
};

export function draggable(element, { move, step, touch = "pan-y" }) {
  const report = (event) => {
    const box = element.getBoundingClientRect();
    move((event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height);
  };
  element.style.touchAction = touch;
  // Browsers ignore touch-action on the shapes of a drawing, and would scroll away with the mark.
  if (touch === "none") set(element, { ontouchstart: (event) => event.preventDefault() });
  set(element, {
    onpointerdown: (event) => {
      element.setPointerCapture(event.pointerId);
      report(event);
    },
    onpointermove: (event) => element.hasPointerCapture(event.pointerId) && report(event),
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

export function update(model, changes) {
  for (const [name, value] of Object.entries(changes)) model.set(name, value);
  model.save_changes();
}

export function mount({ model, el, traits, draw }) {
  let request = 0;
  const drawNow = () => {
    request = 0;
    draw();
  };
  const redraw = () => {
    request ||= requestAnimationFrame(drawNow);
  };
  // A key moves what it finds drawn: two keys within one frame must not both start from the same place.
  const catchUp = () => {
    if (!request) return;
    cancelAnimationFrame(request);
    drawNow();
  };
  el.addEventListener("keydown", catchUp, { capture: true });
  el.classList.add("primer-widget");
  for (const name of traits) model.on(`change:${name}`, redraw);
  const size = new ResizeObserver(redraw);
  size.observe(el);
  const theme = new MutationObserver(redraw);
  for (const node of [document.documentElement, document.body]) {
    theme.observe(node, { attributeFilter: ["class", "data-theme", "data-jp-theme-light"] });
  }
  draw();
  el.dataset.ready = "true";
  return () => {
    cancelAnimationFrame(request);
    el.removeEventListener("keydown", catchUp, { capture: true });
    size.disconnect();
    theme.disconnect();
    for (const name of traits) model.off(`change:${name}`, redraw);
  };
}
