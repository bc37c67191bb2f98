// Least squares by hand: move points and a line of your own, and see what the squares say.
//
// The functions above `KINDS` are the mathematics; the tests compare them with primer.regression.

import {
  button,
  clamp,
  columns,
  div,
  format,
  heading,
  key,
  mean,
  panel,
  resultLine,
  set,
} from "../kit/kit.js";
import { sketch, slider, span, sum, widget } from "../kit/kit.js";
import { table } from "../shared/table.js";
import { tuple } from "../shared/tuple.js";

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
const RINGS = 7;
const at = ({ intercept, slope }, x) => intercept + slope * x;
/** @returns {{ x: [number, number], y: [number, number] }} */
const axesOf = ({ frame: [x0, x1, y0, y1] }) => ({ x: [x0, x1], y: [y0, y1] });
const hundredth = ([low, high]) => (high - low) / 100;

// ---------------------------------------------------------------- the points and the two lines

function scatter({ ends, movePoint, remove, take, moveEnd }) {
  const endOf = ({ frame: [x0, x1] }, i) => x0 + ends[i] * (x1 - x0);
  const endMark = (state, i) => {
    const { y } = axesOf(state);
    const x = endOf(state, i);
    return state.shown.own ? [x, clamp(at(state.own, x), ...y)] : null;
  };
  return panel({
    label: "The points; move them with the arrow keys",
    name: "scatter",
    height: (width) => (width > 480 ? 380 : 320),
    margin: [26, 10, 40, 40],
    x: (state) => ({ domain: axesOf(state).x, label: "x" }),
    y: (state) => ({ domain: axesOf(state).y, label: "y" }),
    layers: {
      box: { tag: "rect", many: true },
      fit: { tag: "path", class: "fit line" },
      own: { tag: "path", class: "own line" },
      halo: { tag: "circle", many: true },
    },
    over: {
      dot: { tag: "circle", r: 5.5, many: true },
      end: { tag: "rect", class: "own end", many: true, x: -6, y: -6, width: 12, height: 12, rx: 2 },
    },
    marks: [
      {
        count: () => 2,
        at: endMark,
        label: (state, i) =>
          `The ${["left", "right"][i]} end of your line, at height ${format(at(state.own, endOf(state, i)), 2)}`,
        move: ([, y], i) => moveEnd(i, y),
        step: (state) => [0, hundredth(axesOf(state).y)],
      },
      {
        count: ({ points }) => points.length,
        at: ({ points }, i) => points[i],
        label: ({ points }, i) =>
          `Point ${i + 1}, x ${format(points[i][0], 2)}, y ${format(points[i][1], 2)}`,
        move: movePoint,
        step: (state) => [hundredth(axesOf(state).x), hundredth(axesOf(state).y)],
        take,
        press: { Delete: remove },
      },
    ],
    draw({ box, fit, own, halo, dot, end }, plot, state) {
      const { y, line } = plot;
      const { points, frame, assessed, drawn, leverage, chosen, shown } = state;
      const through = (one) => line([frame[0], frame[1]].map((v) => [v, at(one, v)]));
      fit(state.fit && shown.fit ? through(state.fit) : "");
      own(shown.own ? through(state.own) : "");
      const places = points.map(plot.at);
      // A square stands on its residual, on the side where there is more room.
      box(points, ([px], i) => {
        const [cx, cy] = places[i];
        const foot = assessed[drawn] ? y(assessed[drawn].fitted[i]) : cy;
        const side = Math.abs(foot - cy);
        const left = px > (frame[0] + frame[1]) / 2 ? cx - side : cx;
        return { class: `box ${drawn}`, x: left, y: Math.min(foot, cy), width: side, height: side };
      });
      halo(places, ([cx, cy], i) => ({ cx, cy, r: leverage ? 30 * Math.sqrt(leverage[i]) : 0 }));
      dot(places, ([cx, cy], i) => ({ cx, cy, class: i === chosen ? "dot chosen" : "dot" }));
      const moved = (place) => ({ transform: `translate(${plot.at(place).join(" ")})` });
      end(shown.own ? ends : [], (_, i) => moved(endMark(state, i)));
    },
  });
}

// ---------------------------------------------------------------- every line is a point: the loss as a map

function map(moveOwn) {
  const steepest = ({ frame: [x0, x1, y0, y1] }) => (1.6 * (y1 - y0)) / (x1 - x0);
  const place = (line, { xs }) => [at(line, mean(xs)), line.slope];
  const mark = (line, state) => {
    const [[h, b], most] = [place(line, state), steepest(state)];
    return [clamp(h, ...axesOf(state).y), clamp(b, -most, most)];
  };
  const slopes = { label: "slope", text: (t) => format(t, 1) };
  return panel({
    label: "Map of all lines: height at the mean of x to the right, slope upwards; rings of equal loss",
    name: "map",
    height: 270,
    margin: [26, 10, 40, 46],
    x: (state) => ({ domain: axesOf(state).y, label: "height of the line at the mean of x" }),
    y: (state) => ({ ...slopes, domain: [-steepest(state), steepest(state)] }),
    layers: { ring: { tag: "ellipse", many: true }, shrinkage: "path" },
    over: {
      free: { tag: "circle", r: 4.5 },
      fit: { tag: "circle", r: 6 },
      own: { tag: "rect", class: "own end", x: -6, y: -6, width: 12, height: 12, rx: 2 },
    },
    marks: [
      {
        at: (state) => (state.shown.own ? mark(state.own, state) : null),
        label: (state) =>
          `Your line: height ${format(place(state.own, state)[0], 2)}, slope ${format(state.own.slope, 2)}`,
        move: moveOwn,
        keys(dx, dy, _, state) {
          const [h, b] = place(state.own, state);
          moveOwn([h + dx * hundredth(axesOf(state).y), b + (dy * steepest(state)) / 50]);
        },
      },
    ],
    draw({ ring, shrinkage, free, fit, own }, { x, y, at: pixels, line, spot }, state) {
      const { frame, xs, penalty, shown } = state;
      const circle = (one) => spot(...mark(one, state));
      const unit = xs.length * ((frame[3] - frame[2]) / 9) ** 2;
      const rings = state.fit && shown.fit ? Array.from({ length: RINGS }, (_, k) => k + 1) : [];
      ring(rings, (k) => {
        const [a, b] = halfAxes(xs, penalty, unit * k ** 2);
        return { ...circle(state.fit), rx: Math.abs(x(a) - x(0)), ry: Math.abs(y(b) - y(0)) };
      });
      fit(state.fit && shown.fit ? circle(state.fit) : null);
      const shrunk = state.free && penalty > 0 && shown.fit;
      free(shrunk ? circle(state.free) : null);
      const toZero = () => [mark(state.free, state), [mark(state.free, state)[0], 0]];
      shrinkage(shrunk ? line(toZero()) : "");
      const [px, py] = pixels(mark(state.own, state));
      own(shown.own ? { transform: `translate(${px} ${py})` } : null);
    },
  });
}

// ---------------------------------------------------------------- do the sums of squares add up?

function bars() {
  const { element, layers } = sketch({
    label: "Bars: the total sum of squares, and for each line the explained and the residual one",
    name: "bars panel",
    layers: { label: { tag: "text", many: true }, bar: { tag: "rect", height: 16, many: true } },
  });
  layers.label(["TSS", "fit", "yours"], (words, i) => ({ words, x: 0, y: 15 + 24 * i }));

  function draw({ assessed, shown }, width) {
    set(element, { viewBox: `0 0 ${width} 68`, height: 68 });
    const sums = KINDS.map((kind) => (assessed[kind] && shown[kind] ? assessed[kind] : { ess: 0, rss: 0 }));
    const longest = Math.max(assessed.own.tss, ...sums.map(({ ess, rss }) => ess + rss));
    const length = (v) => (longest ? (v / longest) * (width - 46) : 0);
    const pieces = sums.flatMap(({ ess, rss }, i) => [
      { class: "ess", x: 44, y: 27 + 24 * i, width: length(ess) },
      { class: `${KINDS[i]} rss`, x: 44 + length(ess), y: 27 + 24 * i, width: length(rss) },
    ]);
    const total = { class: "tss", x: 44, y: 3, width: length(assessed.own.tss) };
    layers.bar([total, ...pieces]);
  }
  return { element, draw };
}

// ---------------------------------------------------------------- the numbers

// Rows of the table: what of a line and its sums is written, with how many decimals.
const DIGITS = { intercept: 2, slope: 3, RSS: 2, ESS: 2, "RSS + ESS − TSS": 2, "R²": 3 };

function rowsOf(state) {
  const columns = KINDS.map((kind) => {
    if (!state[kind] || !state.shown[kind]) return {};
    const { rss, ess, tss, r2 } = state.assessed[kind];
    return { ...state[kind], RSS: rss, ESS: ess, "RSS + ESS − TSS": rss + ess - tss, "R²": r2 };
  });
  const cell = (number, digits) => (Number.isFinite(number) ? format(number, digits) : "–");
  const row = ([name, digits]) => [name, ...columns.map((column) => cell(column[name], digits))];
  return Object.entries(DIGITS).map(row);
}

const written = ({ intercept, slope }) =>
  `ŷ = ${format(intercept, 2)} ${slope < 0 ? "−" : "+"} ${format(Math.abs(slope), 3)} x`;

const EQUAL = "All x are equal: every slope fits equally well. Give one point another x, or take λ above 0.";

// What the result line says.
export function describe({ fit, free, assessed, penalty, shown, chosen, points, leverage }) {
  const parts = [];
  const [own, seen] = [assessed.own.rss, fit && shown.fit];
  const { rss, residuals } = seen ? assessed.fit : {};
  const least = seen && !penalty && rss > 1e-9;
  if (!fit) parts.push(EQUAL);
  if (seen) parts.push(`${penalty ? "Ridge" : "Least squares"}: ${written(fit)}, RSS ${format(rss, 2)}.`);
  if (seen && penalty && free?.slope)
    parts.push(`The slope is ${format((100 * fit.slope) / free.slope, 0)}% of that without penalty.`);
  if (shown.own)
    parts.push(
      `Your line: RSS ${format(own, 2)}${least ? `, ${format(own / rss, 2)} times the least` : ""}.`,
    );
  if (seen && chosen !== null) {
    const found = `residual ${format(residuals[chosen], 2)}, leverage ${format(leverage[chosen], 3)}`;
    parts.push(`Point ${chosen + 1} ${tuple(points[chosen])}: ${found}.`);
  }
  return parts.join(" ");
}

// ---------------------------------------------------------------- the widget

export default widget(
  "least-squares",
  ({ controls, constants: { ends, most }, get, write, redraw, measured }) => {
    const frameOf = () => axesOf({ frame: get("frame") });
    const center = () => mean(get("points").map(([x]) => x));
    const height = () => get("intercept") + get("slope") * center();
    const draw = ([h, slope]) => write({ intercept: h - slope * center(), slope });
    let chosen = null;

    const start = (name) => {
      chosen = null;
      write({ data: name, ...get("datasets")[name] });
    };
    const remove = (i) => {
      if (get("points").length <= 2) return;
      chosen = null;
      write({ points: get("points").filter((_, j) => j !== i) });
    };
    const plot = scatter({
      ends,
      remove,
      take(i) {
        chosen = i;
        redraw();
      },
      movePoint([x, y], i) {
        const frame = frameOf();
        const inside = [clamp(x, ...frame.x), clamp(y, ...frame.y)];
        write({ points: get("points").map((p, j) => (j === i ? inside : p)) });
      },
      moveEnd(i, value) {
        const { x, y } = frameOf();
        const places = ends.map((f) => x[0] + f * (x[1] - x[0]));
        const heights = places.map((place) => get("intercept") + get("slope") * place);
        heights[i] = clamp(value, ...y);
        const slope = (heights[1] - heights[0]) / (places[1] - places[0]);
        write({ slope, intercept: heights[0] - slope * places[0] });
      },
    });
    const [losses, stacked, result] = [map(draw), bars(), resultLine()];
    const numbers = table({
      head: ["", { text: "fit", class: "fit" }, { text: "yours", class: "own" }],
    });
    const range = { min: -2, max: 2, step: 0.01, text: (v) => format(v, 2) };
    const tall = slider({ label: "Your height at x̄", ...range, change: (v) => draw([v, get("slope")]) });
    const steep = slider({ label: "Your slope", ...range, change: (v) => draw([height(), v]) });
    for (const { row } of [tall, steep]) row.classList.add("own");
    const add = button("Add a point", () => {
      const { x, y } = frameOf();
      chosen = get("points").length;
      write({ points: [...get("points"), [mean(x), mean(y)]] });
    });
    const drop = button("Remove it", () => remove(chosen));
    const again = button("Start again", () => start(get("data")));
    const sums = [key("tss", "total"), key("ess", "explained")];
    sums.push(key("fit", "residual, fit"), key("own", "residual, yours"));
    const shows = ["show_fit", "show_own", "show_leverage"].map((name) => controls[name]);
    const { data, penalty: ridge, squares: drawnSquares } = controls;

    return {
      layout: [
        columns(
          "controls",
          [data, ridge, div("buttons", add, drop, again)],
          [tall, steep, drawnSquares, div("toggles", span("", "Show"), ...shows)],
        ),
        columns(
          "views",
          [heading("Drag the points, or the ends of your line"), plot],
          [heading("Every line is a point on the map of losses"), losses],
        ),
        result,
        div("sums", div("", heading("Sums of squares: ", ...sums), stacked), numbers),
      ],
      change: ({ data: name, ...others }) => (name ? start(name) : write(others)),
      draw({ points, frame, penalty, intercept, slope, squares: wanted, ...show }) {
        const [xs, ys] = [0, 1].map((axis) => points.map((p) => p[axis]));
        const own = { intercept, slope };
        const [fit, free] = [fitLine(xs, ys, penalty), fitLine(xs, ys, 0)];
        const shown = { fit: show.show_fit, own: show.show_own };
        const assessed = { fit: fit && assess(xs, ys, fit), own: assess(xs, ys, own) };
        const leverage = leverages(xs, penalty);
        if (chosen >= points.length) chosen = null;
        const state = { points, frame, xs, fit, free, own, assessed, penalty, shown, chosen };

        const [low, high] = axesOf(state).y;
        tall.limit({ min: low, max: high, step: (high - low) / 200 });
        tall.set(clamp(height(), low, high));
        steep.set(slope);
        set(drop, { disabled: chosen === null || points.length <= 2 });
        set(add, { disabled: points.length >= most });

        const drawn = shown[wanted] ? wanted : "none";
        plot.draw({ ...state, drawn, leverage: show.show_leverage && leverage });
        losses.draw(state);
        stacked.draw(
          state,
          measured(() => stacked.element.clientWidth || 300),
        );
        numbers.draw(rowsOf(state));
        result.say(describe({ ...state, leverage }));
      },
    };
  },
);
