// A memory of a curve: its whole past, drawn again from N numbers.
//
// The functions above `drawing` are the mathematics; the tests compare them with primer.beyond_attention.

import { button, clamp, counted, div, format, heading, key, mean, panel, paths } from "../kit/kit.js";
import { percent, resultLine, short, sum, widget } from "../kit/kit.js";
import { play } from "../shared/play.js";

const SECONDS = 6; // to read the whole curve

// ---------------------------------------------------------------- what is computed

/** A smooth curve through the knots, at the middles of so many pieces: Catmull and Rom's cubics. */
export function curveOf(knots, samples) {
  const last = knots.length - 1;
  const knot = (i) => knots[clamp(i, 0, last)];
  return Array.from({ length: samples }, (_, t) => {
    const place = ((t + 0.5) / samples) * last;
    const i = Math.floor(place);
    const u = place - i;
    const rise = knot(i + 1) - knot(i);
    const [start, end] = [(knot(i + 1) - knot(i - 1)) / 2, (knot(i + 2) - knot(i)) / 2];
    return knot(i) + u * (start + u * (3 * rise - 2 * start - end + u * (start + end - 2 * rise)));
  });
}

/** The N numbers after the whole of x was read: HiPPO's memory, by the trapezoidal rule. */
export function remember(x, size) {
  const root = Array.from({ length: size }, (_, n) => Math.sqrt(2 * n + 1));
  const h = new Float64Array(size);
  h[0] = x[0];
  for (let t = 1; t < x.length; t++) {
    const half = 1 / (2 * (t + 1));
    // A is lower triangular, −√(2n+1)√(2m+1) below and −(n+1) on the diagonal: both products are running sums
    let [old, fresh] = [0, 0];
    for (let n = 0; n < size; n++) {
      const before = h[n];
      const right = before - half * (root[n] * old + (n + 1) * before) + 2 * half * root[n] * x[t];
      h[n] = (right - half * root[n] * fresh) / (1 + half * (n + 1));
      old += root[n] * before;
      fresh += root[n] * h[n];
    }
  }
  return h;
}

/** Orthonormal Legendre polynomials at the middles of `length` pieces of the past: a row for each degree. */
export function polynomials(length, size) {
  const places = Array.from({ length }, (_, t) => (2 * (t + 0.5)) / length - 1);
  const rows = [places.map(() => 1), places];
  for (let n = 2; n < size; n++) {
    const [one, two] = [rows[n - 1], rows[n - 2]];
    rows.push(places.map((s, t) => ((2 * n - 1) * s * one[t] - (n - 1) * two[t]) / n));
  }
  return rows.slice(0, size).map((row, n) => row.map((p) => p * Math.sqrt(2 * n + 1)));
}

/** The curve that a state holds. */
export function reconstruct(state, length) {
  const drawn = new Float64Array(length);
  polynomials(length, state.length).forEach((row, n) => {
    for (let t = 0; t < length; t++) drawn[t] += state[n] * row[t];
  });
  return Array.from(drawn);
}

const dot = (a, b) => {
  let total = 0;
  for (let t = 0; t < a.length; t++) total += a[t] * b[t];
  return total;
};

// a ← a + share · b
const add = (a, share, b) => {
  for (let t = 0; t < a.length; t++) a[t] += share * b[t];
};

/** The best that a polynomial with so many coefficients can draw: least squares, one direction after the other. */
export function bestFit(x, size) {
  const [basis, rest] = [[], Float64Array.from(x)];
  for (const row of polynomials(x.length, size)) {
    const fresh = Float64Array.from(row);
    for (const other of basis) add(fresh, -dot(other, fresh), other);
    const length = Math.sqrt(dot(fresh, fresh));
    for (let t = 0; t < fresh.length; t++) fresh[t] /= length;
    add(rest, -dot(fresh, rest), fresh);
    basis.push(fresh);
  }
  return x.map((value, t) => value - rest[t]);
}

/** The squared error of a drawing, over the variance of the curve. */
export function missed(drawn, x) {
  if (x.every((value) => value === x[0])) return 0; // whose mean may lie off by rounding
  const middle = mean(x);
  const spread = sum(x.map((value) => (value - middle) ** 2));
  return sum(x.map((value, t) => (value - drawn[t]) ** 2)) / spread;
}

/** What the result line says; of the best fit only where it is asked for. */
export function describe({ size, now, best: asked }, error, best) {
  const share = (x) => (x < 0.001 ? "less than 0.1%" : percent(x));
  const numbers = counted(size, "number");
  const fit = asked ? `; the best fit of ${numbers} misses ${share(best)}` : "";
  return `After ${now} samples ${numbers} ${size > 1 ? "miss" : "misses"} ${share(error)} of the variance of the past${fit}.`;
}

// ---------------------------------------------------------------- what the reader sees

const STEP = 0.05; // of an arrow key

function drawing(highest, samples, count, move) {
  const placeOf = (i) => (i * samples) / (count - 1);
  return panel({
    label: "The curve, its knots, and the past as the memory draws it",
    height: (width) => clamp(width * 0.42, 230, 300),
    margin: [26, 12, 40, 40],
    x: { domain: [0, samples], label: "sample" },
    y: { domain: [-highest - 0.3, highest + 0.3], label: "x" },
    layers: paths("later", "past", "best", "memory", "edge"),
    marks: [
      {
        count: () => count,
        at: ({ knots }, i) => [placeOf(i), knots[i]],
        label: ({ knots }, i) => `Knot ${i + 1} of ${count}, height ${format(knots[i], 2)}`,
        move: ([, y], i) => move(y, i),
        step: [0, STEP],
      },
    ],
    over: { knots: { tag: "circle", many: true, r: 4 } },
    draw({ later, past, best, memory, edge, knots }, plot, state) {
      const at = (values, first = 0) => plot.line(values.map((value, t) => [first + t + 0.5, value]));
      const { curve, now, drawn, fit } = state;
      past(at(curve.slice(0, now)));
      later(at(curve.slice(now - 1), now - 1));
      memory(at(drawn));
      best(state.best ? at(fit) : null);
      edge(`M${plot.x(now)} ${plot.y(-highest - 0.3)}V${plot.y(highest + 0.3)}`);
      knots(state.knots, (height, i) => {
        return plot.spot(placeOf(i), height);
      });
    },
  });
}

const numbers = () =>
  panel({
    label: "The numbers that are kept",
    height: 150,
    margin: [22, 12, 36, 40],
    x: ({ size }) => ({
      domain: [0, size],
      label: "number, by the degree of its polynomial",
      ticks: [0.5, size - 0.5],
      text: (t) => `${t - 0.5}`,
    }),
    y: ({ reach }) => ({
      domain: [-reach, reach],
      label: "the numbers kept, h",
      ticks: [-reach, 0, reach],
      text: (t) => short(t, 1),
    }),
    layers: { zero: "path", bars: { tag: "rect", many: true } },
    draw({ zero, bars }, { x, y }, { h, size }) {
      zero(`M${x(0)} ${y(0)}H${x(size)}`);
      bars(Array.from(h), (value, n) => ({
        x: x(n + 0.1),
        width: 0.8 * (x(1) - x(0)),
        y: y(Math.max(value, 0)),
        height: Math.abs(y(0) - y(value)),
      }));
    },
  });

export default widget("curve-memory", ({ controls, constants, read, write }) => {
  const { curves, samples, highest } = constants;
  const count = curves[0][1].length;
  const move = (height, i) => {
    const knots = [...read().knots];
    knots[i] = Number(clamp(height, -highest, highest).toFixed(3));
    write({ knots });
  };
  const [picture, bars, result] = [drawing(highest, samples, count, move), numbers(), resultLine()];
  const [first] = controls.now.range();
  let time = samples;
  const playing = play({
    label: "Read",
    start: () => {
      time = first;
    },
    frame: (seconds) => {
      time = Math.min(samples, time + (seconds * (samples - first)) / SECONDS);
      write({ now: Math.round(time) });
      return time < samples;
    },
    end: () => {},
  });
  const presets = curves.map(([name, knots]) => button(name, () => write({ knots })));
  return {
    layout: [
      div("cases", ...presets),
      div("controls", div("", controls.size, controls.best), div("reading", controls.now, playing.button)),
      heading(key("past", "the curve"), key("memory", "as the numbers draw it"), key("best", "best fit")),
      picture,
      bars,
      result,
    ],
    stop: playing.stop,
    draw(state) {
      const curve = curveOf(state.knots, samples);
      const past = curve.slice(0, state.now);
      const h = remember(past, state.size);
      const [drawn, fit] = [reconstruct(h, state.now), bestFit(past, state.size)];
      const reach = Math.max(0.5, Math.ceil(2 * Math.max(...h.map(Math.abs))) / 2);
      picture.draw({ ...state, curve, drawn, fit });
      bars.draw({ h, size: state.size, reach });
      result.say(describe(state, missed(drawn, past), missed(fit, past)), playing.playing());
    },
  };
});
