// Least squares by hand: move points and a line of your own, and see what the squares say.
//
// The functions above `KINDS` are the mathematics; the tests compare them with primer.regression.

import {
  axes,
  button,
  checkbox,
  clamp,
  format,
  html,
  linear,
  mount,
  radio,
  resultLine,
  select,
  set,
  slider,
  svg,
  update,
} from "./kit.js";
import { grip, movable } from "./plane.js";

const sum = (numbers) => numbers.reduce((total, v) => total + v, 0);
const mean = (numbers) => sum(numbers) / numbers.length;
const squares = (numbers, center = 0) => sum(numbers.map((v) => (v - center) ** 2));

// Σ(x − x̄)², exactly 0 when all x are equal.
export const spread = (x) => (Math.max(...x) === Math.min(...x) ? 0 : squares(x, mean(x)));

// The line that minimizes Σ(y − β₀ − β₁x)² + λβ₁²; null when every slope fits equally well.
export function fitLine(x, y, penalty) {
  const [mx, my] = [mean(x), mean(y)];
  const curvature = spread(x) + penalty;
  if (curvature === 0) return null;
  const slope = sum(x.map((v, i) => (v - mx) * (y[i] - my))) / curvature;
  return { intercept: my - slope * mx, slope };
}

// ∂ŷᵢ/∂yᵢ for each point.
export function leverages(x, penalty) {
  const [mx, curvature] = [mean(x), spread(x) + penalty];
  return x.map((v) => 1 / x.length + (curvature ? (v - mx) ** 2 / curvature : 0));
}

// The sums of squares of any line; R² is null when y does not vary.
export function assess(x, y, { intercept, slope }) {
  const fitted = x.map((v) => intercept + slope * v);
  const residuals = y.map((v, i) => v - fitted[i]);
  const my = mean(y);
  const [rss, ess] = [squares(residuals), squares(fitted, my)];
  const tss = Math.max(...y) === Math.min(...y) ? 0 : squares(y, my);
  return { fitted, residuals, rss, ess, tss, r2: tss ? 1 - rss / tss : null };
}

// Half axes (height at x̄, slope) of the ellipse on which RSS + λβ₁² is `rise` above its minimum.
export const halfAxes = (x, penalty, rise) => [
  Math.sqrt(rise / x.length),
  Math.sqrt(rise / (spread(x) + penalty)),
];

const KINDS = ["fit", "own"];
const NAMES = { fit: "the fit", own: "your line" };
const MOST = 40;
const RINGS = 7;

// ---------------------------------------------------------------- the points and the two lines

function scatter({ movePoint, remove, take, moveEnd }) {
  const [grid, haloes, boxes, dots, grips] = ["g", "g", "g", "g", "g"].map((tag) => svg(tag));
  const lines = { fit: svg("path", { class: "fit line" }), own: svg("path", { class: "own line" }) };
  const inside = svg("svg", {}, boxes, lines.fit, lines.own, haloes);
  const ends = [0, 1].map((i) =>
    svg("rect", { class: "own end", x: -6, y: -6, width: 12, height: 12, rx: 2 }),
  );
  const endGrips = ["left", "right"].map((side) => grip(`The ${side} end of your line`));
  const drawing = svg(
    "svg",
    { class: "scatter", role: "group", "aria-label": "The points; move them with the arrow keys" },
    grid,
    inside,
    dots,
    ...ends,
    ...endGrips,
    grips,
  );
  let now = null;
  endGrips.forEach((mark, i) =>
    movable(mark, {
      moveTo: (_, py) => moveEnd(i, now.y.invert(py)),
      step: (_, dy) => moveEnd(i, now.own(now.ends[i]) + (dy * (now.frame[3] - now.frame[2])) / 100),
    }),
  );

  function count(n) {
    while (dots.childNodes.length > n) for (const g of [dots, grips, haloes, boxes]) g.lastChild.remove();
    while (dots.childNodes.length < n) {
      const i = dots.childNodes.length;
      const mark = grip(`Point ${i + 1}`);
      movable(mark, {
        take: () => take(i),
        moveTo: (px, py) => movePoint(i, now.x.invert(px), now.y.invert(py)),
        step: (dx, dy) => {
          const [x0, x1, y0, y1] = now.frame;
          const [px, py] = now.points[i];
          movePoint(i, px + (dx * (x1 - x0)) / 100, py + (dy * (y1 - y0)) / 100);
        },
      });
      mark.addEventListener("keydown", (event) => event.key === "Delete" && remove(i));
      dots.append(svg("circle", { class: "dot", r: 5.5 }));
      haloes.append(svg("circle", { class: "halo" }));
      boxes.append(svg("rect", { class: "box" }));
      grips.append(mark);
    }
  }

  function draw({ points, frame, fit, own, assessed, drawn, leverage, chosen, shown }) {
    const [width, height] = [drawing.clientWidth || 400, drawing.clientWidth > 480 ? 380 : 320];
    const [left, right, top, bottom] = [40, width - 10, 26, height - 40];
    const x = linear(frame.slice(0, 2), [left, right]);
    const y = linear(frame.slice(2), [bottom, top]);
    const at = (line, v) => line.intercept + line.slope * v;
    now = {
      x,
      y,
      frame,
      points,
      own: (v) => at(own, v),
      ends: [0.12, 0.88].map((f) => frame[0] + f * (frame[1] - frame[0])),
    };
    set(drawing, { viewBox: `0 0 ${width} ${height}`, height });
    set(inside, {
      x: left,
      y: top,
      width: right - left,
      height: bottom - top,
      viewBox: `${left} ${top} ${right - left} ${bottom - top}`,
    });
    axes(grid, { x, y, xLabel: "x", yLabel: "y" });
    for (const kind of KINDS) {
      const line = kind === "fit" ? fit : own;
      set(lines[kind], {
        d:
          line && shown[kind]
            ? `M${x(frame[0])} ${y(at(line, frame[0]))}L${x(frame[1])} ${y(at(line, frame[1]))}`
            : null,
      });
    }
    ends.forEach((end, i) => {
      const place = { cx: x(now.ends[i]), cy: y(clamp(now.own(now.ends[i]), frame[2], frame[3])) };
      set(end, { transform: `translate(${place.cx} ${place.cy})`, visibility: shown.own ? null : "hidden" });
      set(endGrips[i], {
        ...place,
        visibility: shown.own ? null : "hidden",
        "aria-label": `The ${["left", "right"][i]} end of your line, at height ${format(now.own(now.ends[i]), 2)}`,
      });
    });
    count(points.length);
    points.forEach(([px, py], i) => {
      const place = { cx: x(px), cy: y(py) };
      set(dots.childNodes[i], { ...place, class: i === chosen ? "dot chosen" : "dot" });
      set(grips.childNodes[i], {
        ...place,
        "aria-label": `Point ${i + 1}, x ${format(px, 2)}, y ${format(py, 2)}`,
      });
      set(haloes.childNodes[i], { ...place, r: leverage ? 30 * Math.sqrt(leverage[i]) : 0 });
      const foot = assessed[drawn] && y(assessed[drawn].fitted[i]);
      const side = foot === undefined || foot === null ? 0 : Math.abs(foot - place.cy);
      // The square stands on its residual, on the side where there is more room.
      const start = px > (frame[0] + frame[1]) / 2 ? place.cx - side : place.cx;
      set(boxes.childNodes[i], {
        class: `box ${drawn}`,
        x: start,
        y: Math.min(foot ?? 0, place.cy),
        width: side,
        height: side,
      });
    });
  }
  return { drawing, draw };
}

// ---------------------------------------------------------------- every line is a point: the loss as a map

function map(moveOwn) {
  const grid = svg("g");
  const rings = Array.from({ length: RINGS }, () => svg("ellipse", { class: "ring" }));
  const shrinkage = svg("path", { class: "shrinkage" });
  const marks = {
    free: svg("circle", { class: "free", r: 4.5 }),
    fit: svg("circle", { class: "fit", r: 6 }),
    own: svg("rect", { class: "own end", x: -6, y: -6, width: 12, height: 12, rx: 2 }),
  };
  const inside = svg("svg", {}, ...rings, shrinkage);
  const own = grip("Your line");
  const drawing = svg(
    "svg",
    {
      class: "map",
      role: "group",
      "aria-label":
        "Map of all lines: height at the mean of x to the right, slope upwards; rings of equal loss",
    },
    grid,
    inside,
    marks.free,
    marks.fit,
    marks.own,
    own,
  );
  let now = null;
  movable(own, {
    moveTo: (px, py) => moveOwn(now.x.invert(px), now.y.invert(py)),
    step: (dx, dy) => {
      const [h, b] = now.place;
      moveOwn(
        h + (dx * (now.x.domain[1] - now.x.domain[0])) / 100,
        b + (dy * (now.y.domain[1] - now.y.domain[0])) / 100,
      );
    },
  });

  function draw({ frame, xs, fit, free, own: line, penalty, shown }) {
    const [width, height] = [drawing.clientWidth || 300, 270];
    const center = mean(xs);
    const [spanX, spanY] = [frame[1] - frame[0], frame[3] - frame[2]];
    const x = linear([frame[2], frame[3]], [46, width - 10]);
    const y = linear([-1.6 * (spanY / spanX), 1.6 * (spanY / spanX)], [height - 40, 26]);
    const place = ({ intercept, slope }) => [intercept + slope * center, slope];
    now = { x, y, place: place(line) };
    const pixel = (l) => {
      const [h, b] = place(l);
      return { cx: clamp(x(h), 46, width - 10), cy: clamp(y(b), 26, height - 40) };
    };
    set(drawing, { viewBox: `0 0 ${width} ${height}`, height });
    set(inside, {
      x: 46,
      y: 26,
      width: width - 56,
      height: height - 66,
      viewBox: `46 26 ${width - 56} ${height - 66}`,
    });
    axes(grid, {
      x,
      y,
      xLabel: "height of the line at the mean of x",
      yLabel: "slope",
      yText: (t) => format(t, 1),
    });
    const unit = xs.length * (spanY / 9) ** 2;
    rings.forEach((ring, k) => {
      const [a, b] = fit && shown.fit ? halfAxes(xs, penalty, unit * (k + 1) ** 2) : [0, 0];
      const c = fit ? pixel(fit) : { cx: 0, cy: 0 };
      set(ring, { ...c, rx: Math.abs(x(a) - x(0)), ry: Math.abs(y(b) - y(0)) });
    });
    const visible = (on) => (on ? null : "hidden");
    if (fit) set(marks.fit, pixel(fit));
    set(marks.fit, { visibility: visible(fit && shown.fit) });
    if (free) {
      const [from, to] = [pixel(free), pixel({ intercept: place(free)[0], slope: 0 })];
      set(marks.free, from);
      set(shrinkage, { d: `M${from.cx} ${from.cy}V${to.cy}` });
    }
    for (const mark of [marks.free, shrinkage])
      set(mark, { visibility: visible(free && penalty > 0 && shown.fit) });
    const at = pixel(line);
    set(marks.own, { transform: `translate(${at.cx} ${at.cy})`, visibility: visible(shown.own) });
    set(own, {
      ...at,
      visibility: visible(shown.own),
      "aria-label": `Your line: height ${format(now.place[0], 2)}, slope ${format(line.slope, 2)}`,
    });
  }
  return { drawing, draw };
}

// ---------------------------------------------------------------- do the sums of squares add up?

function bars() {
  const row = (...parts) => parts.map((name) => svg("rect", { class: name, height: 16 }));
  const [tss] = row("tss");
  const pairs = { fit: row("ess", "fit rss"), own: row("ess", "own rss") };
  const labels = ["TSS", "fit", "yours"].map((text, i) => svg("text", { x: 0, y: 15 + 24 * i }, text));
  const drawing = svg(
    "svg",
    {
      class: "bars",
      role: "img",
      "aria-label": "Bars: the total sum of squares, and for each line the explained and the residual one",
    },
    ...labels,
    tss,
    ...pairs.fit,
    ...pairs.own,
  );

  function draw({ assessed, shown }) {
    const width = drawing.clientWidth || 300;
    set(drawing, { viewBox: `0 0 ${width} 68`, height: 68 });
    const total = assessed.own.tss;
    const longest = Math.max(
      total,
      ...KINDS.map((kind) => (assessed[kind] && shown[kind] ? assessed[kind].ess + assessed[kind].rss : 0)),
    );
    const length = (v) => (longest ? (v / longest) * (width - 46) : 0);
    set(tss, { x: 44, y: 3, width: length(total) });
    KINDS.forEach((kind, i) => {
      const { ess, rss } = assessed[kind] && shown[kind] ? assessed[kind] : { ess: 0, rss: 0 };
      set(pairs[kind][0], { x: 44, y: 27 + 24 * i, width: length(ess) });
      set(pairs[kind][1], { x: 44 + length(ess), y: 27 + 24 * i, width: length(rss) });
    });
  }
  return { drawing, draw };
}

// ---------------------------------------------------------------- the numbers

const ROWS = ["intercept", "slope", "RSS", "ESS", "RSS + ESS − TSS", "R²"];

function table() {
  const cells = ROWS.map(() => KINDS.map(() => html("td")));
  const element = html(
    "table",
    {},
    html(
      "thead",
      {},
      html(
        "tr",
        {},
        html("td"),
        html("th", { scope: "col", class: "fit" }, "fit"),
        html("th", { scope: "col", class: "own" }, "yours"),
      ),
    ),
    html(
      "tbody",
      {},
      ...ROWS.map((name, i) => html("tr", {}, html("th", { scope: "row" }, name), ...cells[i])),
    ),
  );

  function draw({ fit, own, assessed, shown }) {
    KINDS.forEach((kind, j) => {
      const [line, sums] = [{ fit, own }[kind], assessed[kind]];
      const values =
        line && shown[kind]
          ? [line.intercept, line.slope, sums.rss, sums.ess, sums.rss + sums.ess - sums.tss, sums.r2]
          : ROWS.map(() => null);
      values.forEach((v, i) => {
        cells[i][j].textContent = v === null ? "–" : format(v, i === 1 || i === 5 ? 3 : 2);
      });
    });
  }
  return { element, draw };
}

const written = ({ intercept, slope }) =>
  `ŷ = ${format(intercept, 2)} ${slope < 0 ? "−" : "+"} ${format(Math.abs(slope), 3)} x`;

// What the result line says.
export function describe({ fit, free, own, assessed, penalty, shown, chosen, points, leverage }) {
  const parts = [];
  if (!fit)
    parts.push(
      "All x are equal: every slope fits equally well. Give one point another x, or take λ above 0.",
    );
  else if (shown.fit) {
    parts.push(
      `${penalty ? "Ridge" : "Least squares"}: ${written(fit)}, RSS ${format(assessed.fit.rss, 2)}.`,
    );
    if (penalty && free?.slope)
      parts.push(`The slope is ${format((100 * fit.slope) / free.slope, 0)}% of that without penalty.`);
  }
  if (shown.own) {
    const best =
      fit && !penalty && shown.fit && assessed.fit.rss > 1e-9 ? assessed.own.rss / assessed.fit.rss : null;
    parts.push(
      `Your line: RSS ${format(assessed.own.rss, 2)}${best ? `, ${format(best, 2)} times the least` : ""}.`,
    );
  }
  if (chosen !== null && shown.fit && fit) {
    parts.push(
      `Point ${chosen + 1} (${points[chosen].map((v) => format(v, 2)).join(", ")}): residual ${format(assessed.fit.residuals[chosen], 2)}, leverage ${format(leverage[chosen], 3)}.`,
    );
  }
  return parts.join(" ");
}

// ---------------------------------------------------------------- the widget

function render({ model, el }) {
  const get = (name) => model.get(name);
  let chosen = null;
  const center = () => mean(get("points").map(([x]) => x));
  const line = (height, slope) => update(model, { intercept: height - slope * center(), slope });
  const height = () => get("intercept") + get("slope") * center();
  const redraw = () => draw();

  const inFrame = ([x, y]) => {
    const [x0, x1, y0, y1] = get("frame");
    return [clamp(x, x0, x1), clamp(y, y0, y1)];
  };
  const remove = (i) => {
    if (get("points").length <= 2) return;
    chosen = null;
    update(model, { points: get("points").filter((_, j) => j !== i) });
  };
  const plot = scatter({
    take: (i) => {
      chosen = i;
      redraw();
    },
    movePoint: (i, x, y) =>
      update(model, { points: get("points").map((p, j) => (j === i ? inFrame([x, y]) : p)) }),
    remove,
    moveEnd: (i, value) => {
      const [x0, x1, y0, y1] = get("frame");
      const ends = [0.12, 0.88].map((f) => x0 + f * (x1 - x0));
      const heights = ends.map((x) => get("intercept") + get("slope") * x);
      heights[i] = clamp(value, y0, y1);
      const slope = (heights[1] - heights[0]) / (ends[1] - ends[0]);
      update(model, { slope, intercept: heights[0] - slope * ends[0] });
    },
  });
  const [y0, y1] = get("frame").slice(2);
  const losses = map((h, b) => line(h, b));
  const stacked = bars();
  const numbers = table();
  const result = resultLine();

  const data = select({
    label: "Points",
    options: Object.keys(get("datasets")).map((name) => [name, name]),
    value: get("data"),
    change: (name) => start(name),
  });
  const start = (name) => {
    chosen = null;
    update(model, { data: name, ...get("datasets")[name] });
  };
  const penalty = slider({
    label: "Ridge λ",
    min: 0,
    max: 3,
    step: 0.02,
    value: Math.log10(get("penalty") + 1),
    text: (v) => format(10 ** v - 1, v < 1 ? 2 : 0),
    change: (v) => update(model, { penalty: 10 ** v - 1 }),
  });
  const tall = slider({
    label: "Your height at x̄",
    min: y0,
    max: y1,
    step: (y1 - y0) / 200,
    value: height(),
    text: (v) => format(v, 2),
    change: (v) => line(v, get("slope")),
  });
  const steep = slider({
    label: "Your slope",
    min: -2,
    max: 2,
    step: 0.01,
    value: get("slope"),
    text: (v) => format(v, 2),
    change: (v) => line(height(), v),
  });
  tall.row.classList.add("own");
  steep.row.classList.add("own");
  const toggles = [
    ["show_fit", "the fit"],
    ["show_own", "your line"],
    ["show_leverage", "leverage"],
  ].map(([name, label]) => [
    name,
    checkbox({ label, value: get(name), change: (v) => update(model, { [name]: v }) }),
  ]);
  const drawnSquares = radio({
    label: "Squares of",
    options: [...KINDS.map((kind) => [kind, NAMES[kind]]), ["none", "none"]],
    value: get("squares"),
    change: (v) => update(model, { squares: v }),
  });
  const add = button("Add a point", () => {
    const [x0, x1, low, high] = get("frame");
    chosen = get("points").length;
    update(model, { points: [...get("points"), [(x0 + x1) / 2, (low + high) / 2]] });
  });
  const drop = button("Remove it", () => remove(chosen));
  const again = button("Start again", () => start(get("data")));

  function draw() {
    const [points, frame, lambda] = ["points", "frame", "penalty"].map(get);
    const [x, y] = [points.map((p) => p[0]), points.map((p) => p[1])];
    const own = { intercept: get("intercept"), slope: get("slope") };
    const [fit, free] = [fitLine(x, y, lambda), fitLine(x, y, 0)];
    const shown = { fit: get("show_fit"), own: get("show_own") };
    const assessed = { fit: fit && assess(x, y, fit), own: assess(x, y, own) };
    const drawn = shown[get("squares")] ? get("squares") : "none";
    const leverage = leverages(x, lambda);
    if (chosen !== null && chosen >= points.length) chosen = null;

    data.set(get("data"));
    penalty.set(Math.log10(lambda + 1));
    set(tall.input, { min: frame[2], max: frame[3], step: (frame[3] - frame[2]) / 200 });
    tall.set(clamp(height(), frame[2], frame[3]));
    steep.set(own.slope);
    for (const [name, box] of toggles) box.set(get(name));
    drawnSquares.set(get("squares"));
    drop.disabled = chosen === null || points.length <= 2;
    add.disabled = points.length >= MOST;

    plot.draw({
      points,
      frame,
      fit,
      own,
      assessed,
      drawn,
      leverage: get("show_leverage") && leverage,
      chosen,
      shown,
    });
    losses.draw({ frame, xs: x, fit, free, own, penalty: lambda, shown });
    stacked.draw({ assessed, shown });
    numbers.draw({ fit, own, assessed, shown });
    result.say(describe({ fit, free, own, assessed, penalty: lambda, shown, chosen, points, leverage }));
  }

  el.classList.add("least-squares");
  el.append(
    html(
      "div",
      { class: "controls" },
      html("div", {}, data.row, penalty.row, html("div", { class: "buttons" }, add, drop, again)),
      html(
        "div",
        {},
        tall.row,
        steep.row,
        drawnSquares.row,
        html("div", { class: "toggles" }, html("span", {}, "Show"), ...toggles.map(([, box]) => box.row)),
      ),
    ),
    html(
      "div",
      { class: "views" },
      html(
        "div",
        {},
        html("p", { class: "heading" }, "Drag the points, or the ends of your line"),
        plot.drawing,
      ),
      html(
        "div",
        {},
        html("p", { class: "heading" }, "Every line is a point on the map of losses"),
        losses.drawing,
      ),
    ),
    result.row,
    html(
      "div",
      { class: "sums" },
      html(
        "div",
        {},
        html(
          "p",
          { class: "heading" },
          "Sums of squares: ",
          html("span", { class: "key tss" }, "total"),
          html("span", { class: "key ess" }, "explained"),
          html("span", { class: "key fit" }, "residual, fit"),
          html("span", { class: "key own" }, "residual, yours"),
        ),
        stacked.drawing,
      ),
      numbers.element,
    ),
  );
  return mount({
    model,
    el,
    traits: [
      "points",
      "frame",
      "penalty",
      "intercept",
      "slope",
      "squares",
      "show_fit",
      "show_own",
      "show_leverage",
      "data",
    ],
    draw,
  });
}

export default { render };
