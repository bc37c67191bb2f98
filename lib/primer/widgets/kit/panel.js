// A drawing with axes: it measures itself, clips what it draws, and keeps its axes while they stay the same.

import { div, set, svg, write } from "./elements.js";
import { draggable, grip } from "./marks.js";
import { named } from "./memory.js";
import { arrow, decimals, linear, logarithmic, path, ticks } from "./scales.js";
import { between } from "./numbers.js";

// The places and the words along an axis: [[pixels, words], …]
const marksOf = ({ scale, ticks: all = ticks(...scale.domain), text = decimals(all) }) =>
  all.map((t) => [scale(t), text(t)]);

/** Grid, numbers and labels in an SVG <g>, of two axes { scale, label, ticks, text }; the last two may be left out. */
export function axes(g, horizontal, vertical) {
  const [across, up] = [horizontal, vertical].map(marksOf);
  const [left, right] = horizontal.scale.range;
  const [bottom, top] = vertical.scale.range;
  const text = (name, px, py, anchor, words) => ({ class: name, x: px, y: py, "text-anchor": anchor, words });
  // An axis whose ends move has mostly the same parts at other places.
  if (!g.firstChild) g.append(svg("g"), svg("g"));
  fill(g.firstChild, "path", [
    ...across.map(([x]) => ({ class: "grid", d: `M${x} ${bottom}V${top}` })),
    ...up.map(([y]) => ({ class: "grid", d: `M${left} ${y}H${right}` })),
    { class: "axis", d: `M${left} ${top}V${bottom}H${right}` },
  ]);
  fill(g.lastChild, "text", [
    ...across.map(([x, words]) => text("tick", x, bottom + 15, "middle", words)),
    ...up.map(([y, words]) => text("tick", left - 6, y + 4, "end", words)),
    text("label", (left + right) / 2, bottom + 32, "middle", horizontal.label),
    text("label", left, top - 9, "start", vertical.label),
  ]);
}

// As many shapes in a <g> as there are items: what of them is there already is moved and written where it differs.
function fill(g, tag, items, own = {}) {
  while (g.childNodes.length > items.length) g.lastChild.remove();
  while (g.childNodes.length < items.length) g.append(svg(tag, own));
  let shape = g.firstChild;
  for (const { words, ...attributes } of items) {
    set(shape, attributes);
    if (words !== undefined) write(shape, words);
    shape = shape.nextSibling;
  }
}

// One shape: layer(points or d), layer(text, attributes), layer(attributes), layer(null) to hide it.
function single(tag, attributes) {
  const element = svg(tag, attributes);
  const layer = (value, more = {}) => {
    if (Array.isArray(value)) set(element, { d: path(value) });
    else if (typeof value === "string" && tag === "text") write(element, value);
    else if (typeof value === "string") set(element, { d: value });
    else if (value) set(element, value);
    set(element, { visibility: value === null ? "hidden" : null, ...more });
  };
  return Object.assign(layer, { element });
}

// As many shapes as there are items: layer(items, (item, i) => attributes), or layer([attributes, …]); among the
// attributes `words`, the text of one.
function several(tag, attributes) {
  const element = svg("g");
  const layer = (items, attributesOf = (item, _i) => item) => {
    fill(element, tag, items.map(attributesOf), attributes);
  };
  return Object.assign(layer, { element });
}

// { name: "path" }, { name: { tag: "circle", r: 6 } } or { name: { tag: "circle", many: true } }
const makeLayers = (declared) =>
  named(Object.keys(declared), (name) => {
    const one = declared[name];
    const { tag, many = false, ...attributes } = typeof one === "string" ? { tag: one } : one;
    return (many ? several : single)(tag, { class: name, ...attributes });
  });

/** Layers that are paths. */
export const paths = (...names) => named(names, () => "path");

/** A drawing without axes: { element, layers }, in the coordinates of its viewBox; hidden without a label. */
export function sketch({ label = "", name = "", box = null, layers: declared = {}, ...attributes }) {
  const layers = makeLayers(declared);
  const told = label ? { role: "img", "aria-label": label } : { "aria-hidden": "true" };
  const given = { class: name || null, viewBox: box, ...told, ...attributes };
  return { element: svg("svg", given, ...Object.values(layers)), layers };
}

// One mark, or as many as `count(state)`, as grips over everything else.
function makeMarks(declared, scales) {
  const element = svg("g");
  const items = [];
  let state = null;
  const { count = () => 1, at, label, move, step, keys, take, press = {}, attributes = {} } = declared;
  const place = (i) => at(state, i);
  const stepBy = (i) => (dx, dy) => {
    if (keys) return keys(dx, dy, i, state);
    const [sx, sy = sx] = [typeof step === "function" ? step(state) : step].flat();
    const at = place(i); // none, if it was hidden while it had the focus
    if (at) move([at[0] + dx * sx, at[1] + dy * sy], i);
  };
  const make = (i) =>
    grip({
      attributes,
      step: stepBy(i),
      take: () => take?.(i),
      moveTo: (px, py) => move([scales().x.invert(px), scales().y.invert(py)], i),
    });
  const draw = (now, { at: pixels }) => {
    state = now;
    const wanted = count(state);
    while (items.length > wanted) items.pop().remove();
    while (items.length < wanted) {
      const i = items.length;
      items.push(make(i));
      items[i].addEventListener("keydown", (event) => press[event.key]?.(i));
      element.append(items[i]);
    }
    items.forEach((mark, i) => {
      const data = place(i);
      if (!data) return set(mark, { visibility: "hidden" });
      const [cx, cy] = pixels(data);
      set(mark, { cx, cy, visibility: null, "aria-label": label(state, i), ...declared.live?.(state, i) });
    });
  };
  return { element, items, draw };
}

/**
 * A drawing: { element, draw(state) }.
 *
 *   label          what it shows, for those who do not see it; `name`: its class
 *   height         pixels, or a function of the width; `widest`: it grows no wider
 *   margin         [top, right, bottom, left] around the axes
 *   x, y           { domain, label, ticks, text, logarithmic }, or a function (state, width) of them
 *   layers         { name: shape }, drawn in this order inside the axes and clipped there; the name is the
 *                  class, a shape "path", { tag: "circle", r: 6 } or { tag: "circle", many: true }
 *   over           the same, neither clipped nor under anything
 *   marks          [{ at(state, i) → [x, y] or null, label(state, i), move([x, y], i), step, count(state),
 *                  take(i), press: { Delete(i) }, attributes, live(state, i) }]: what can be taken hold of;
 *                  step is a length, [dx, dy] or a function (state) of them, keys(dx, dy, i, state) replaces it
 *   drag, step     drag([x, y], begins) takes hold of the whole drawing, step(dx, dy) moves it by keys;
 *                  touch: "none" where a finger draws and does not scroll
 *   draw           (layers, plot, state): `plot` has the scales x and y, width, height and
 *                  at([x, y]), spot(x, y), the middle of a circle, line(points), curve(f, low, high, count),
 *                  arrow(from, to), all from data to pixels
 *
 * @param {any} options
 */
export function panel({
  label,
  name = "",
  role = "img",
  height,
  widest = 0,
  margin = [26, 10, 40, 42],
  x: xAxis,
  y: yAxis,
  layers: declared = {},
  over: declaredOver = {},
  marks: declaredMarks = [],
  drag = null,
  step = null,
  touch = undefined,
  draw: drawLayers,
}) {
  const [under, over] = [makeLayers(declared), makeLayers(declaredOver)];
  const grid = svg("g");
  const inside = svg("svg", {}, ...Object.values(under));
  let plot = null;
  const marks = declaredMarks.map((one) => makeMarks(one, () => plot));
  const drawing = svg(
    "svg",
    { class: `panel ${name}`.trim(), role: declaredMarks.length ? "group" : role, "aria-label": label },
    grid,
    inside,
    ...Object.values(over),
    ...marks,
  );
  if (drag) {
    const invert = (fx, fy) => [plot.x.invert(fx * plot.width), plot.y.invert(fy * plot.height)];
    draggable(drawing, { move: (fx, fy, begins) => drag(invert(fx, fy), begins), step, touch });
  }

  let [available, written, last] = [0, "", null];
  new ResizeObserver(([{ contentRect }]) => {
    if (Math.abs(contentRect.width - available) < 0.5) return;
    available = contentRect.width;
    if (last && available) draw(last);
  }).observe(drawing);

  function measure(state) {
    available ||= drawing.clientWidth;
    const width = Math.min(available || 360, widest || Number.POSITIVE_INFINITY);
    const high = typeof height === "function" ? height(width) : height;
    const [top, right, bottom, left] = margin;
    const ranges = { x: [left, width - right], y: [high - bottom, top] };
    const axis = (axisOf, range) => {
      const options = typeof axisOf === "function" ? axisOf(state, width) : axisOf;
      return { ...options, scale: (options.logarithmic ? logarithmic : linear)(options.domain, range) };
    };
    return { width, height: high, horizontal: axis(xAxis, ranges.x), vertical: axis(yAxis, ranges.y) };
  }

  function frame({ width, height: high, horizontal, vertical }) {
    const [x, y] = [horizontal.scale, vertical.scale];
    // what the axes show, not what they are told: a function that writes their numbers may write other ones now
    const shown = [horizontal, vertical].map((axis) => [axis.label, marksOf(axis)]);
    const same = JSON.stringify([width, high, shown]);
    if (written === same) return;
    written = same;
    set(drawing, { viewBox: `0 0 ${width} ${high}`, height: high });
    if (widest) drawing.style.maxWidth = `${widest}px`;
    const box = {
      x: x.range[0],
      y: y.range[1],
      width: x.range[1] - x.range[0],
      height: y.range[0] - y.range[1],
    };
    set(inside, { ...box, viewBox: Object.values(box).join(" ") });
    axes(grid, horizontal, vertical);
  }

  function draw(state) {
    last = state;
    const measured = measure(state);
    frame(measured);
    const [x, y] = [measured.horizontal.scale, measured.vertical.scale];
    const at = (/** @type {number[]} */ [a, b]) => [x(a), y(b)];
    plot = {
      ...{ x, y, at, width: measured.width, height: measured.height, element: drawing },
      spot: (a, b) => ({ cx: x(a), cy: y(b) }),
      line: (points) => path(points.map(at)),
      curve: (f, low, high, count) => path(between(low, high, count).map((a) => [x(a), y(f(a))])),
      arrow: (from, to) => arrow(at(from), at(to)),
    };
    drawLayers({ ...under, ...over }, plot, state);
    for (const mark of marks) mark.draw(state, plot);
  }
  return { element: drawing, draw, marks: marks.flatMap(({ items }) => items) };
}

/** Elements beside each other where there is room, below each other where there is not. */
export const columns = (name, ...parts) => div(name, ...parts.map((part) => div("", ...[part].flat())));
