// A schedule over a noise floor: what is expected of a run in a bowl under noise, one run, and each direction's part.
//
// The functions above `LEFT` are the mathematics; the tests compare them with primer.optimization.

import {
  between,
  button,
  clamp,
  columns,
  div,
  format,
  heading,
  key,
  memory,
  panel,
  paths,
  percent,
  resultLine,
  short,
  sum,
  widget,
} from "../kit/kit.js";
import { axisEnd } from "../shared/axis_end.js";
import { play } from "../shared/play.js";
import { scientific } from "../shared/scientific.js";
import { normal, random } from "../shared/random.js";

/** The part of the peak that is left when the part x of a run is over. */
export const SHAPES = {
  constant: () => 1,
  "1/t": (x) => 1 / (1 + 20 * x),
  cosine: (x) => (1 + Math.cos(Math.PI * x)) / 2,
  WSD: (x) => Math.min(1, (1 - x) / 0.2),
};

/** The rate of each step, after `warm` steps in which it rises. */
export const rates = (shape, peak, warm, steps) =>
  Array.from(
    { length: steps },
    (_, t) => peak * SHAPES[shape](t / steps) * Math.min(1, (t + 1) / (warm + 1)),
  );

/** How much steeper the bowl is at a step than in the end. */
export const steepness = (first, steps) =>
  Array.from({ length: steps + 1 }, (_, t) => 1 + (first - 1) * Math.exp(-t / 40));

/**
 * The expected loss after 0, 1, … steps and its parts, { way, noise, loss }: from weights of 1, with noise of variance s2
 * times the curvature.  The parts stand direction by direction, step after step, in one row.
 */
export function expected(curvatures, etas, steep, s2) {
  const n = curvatures.length;
  const [mean, variance] = [new Float64Array(n).fill(1), new Float64Array(n)];
  const times = etas.length + 1;
  const [way, noise] = [new Float64Array(n * times), new Float64Array(n * times)];
  const loss = new Float64Array(times);
  for (let t = 0, at = 0; t < times; t++) {
    const [factor, eta] = [steep[Math.min(t, etas.length - 1)], etas[t]];
    for (let i = 0; i < n; i++, at++) {
      const h = curvatures[i] * factor;
      way[at] = (h * mean[i] * mean[i]) / 2;
      noise[at] = (h * variance[i]) / 2;
      loss[t] += way[at] + noise[at];
      const left = 1 - eta * h;
      variance[i] = left * left * variance[i] + eta * eta * s2 * h;
      mean[i] *= left;
    }
  }
  return { way, noise, loss };
}

/** The loss of one run, with noise drawn from a seed. */
export function run(curvatures, etas, steep, s2, noise) {
  const n = curvatures.length;
  const w = new Float64Array(n).fill(1);
  const found = [];
  for (let t = 0; t <= etas.length; t++) {
    const factor = steep[Math.min(t, etas.length - 1)];
    let loss = 0;
    for (let i = 0; i < n; i++) {
      const h = curvatures[i] * factor;
      loss += (h * w[i] * w[i]) / 2;
      // after the last step there is no noise, and nobody asks for the weights
      w[i] -= etas[t] * (h * w[i] + Math.sqrt(s2 * h) * noise[t * n + i]);
    }
    found.push(loss);
  }
  return found;
}

/** The loss at which a constant rate comes to rest; infinite where its steps grow.  The bowl may be `steeper`. */
export function floorOf(curvatures, eta, s2, steeper = 1) {
  let total = 0;
  for (const curvature of curvatures) {
    const h = steeper * curvature;
    if (!(eta * h < 2)) return Infinity;
    total += (h * eta * s2) / (2 - eta * h) / 2;
  }
  return total;
}

const written = (x) => (x < 1e4 ? (x < 0.001 ? scientific(x) : format(x, 3)) : "more than 10,000");

const NAMES = { "1/t": "1/t from", cosine: "Cosine from", WSD: "WSD from" };

/** What the result line says; `noise` is that of the step. */
export function describe({ shape, rate, batch, step }, { noise, loss }, one, floor) {
  const all = loss[step];
  const [name, its] = shape === "constant" ? ["Constant rate", "its"] : [NAMES[shape], "the peak’s"];
  const size = batch === 1 ? "" : ` in batches of ${batch}`;
  const rest = Number.isFinite(floor) ? `${its} floor is ${written(floor)}` : "steps of that rate grow";
  const part = all < 1e4 ? ` (${percent(sum(noise) / all, 0)} noise)` : "";
  return `${name} ${short(rate, 3)}${size}: ${rest}. Expected after ${step} steps: ${written(all)}${part}; this run: ${written(one[step])}.`;
}

// ---------------------------------------------------------------- what the reader sees

const LEFT = 46;
const MOST = 1e6; // what grows beyond it is drawn there
const tame = (x) => (Number.isNaN(x) ? MOST : Math.min(x, MOST));

const losses = (steps, drag) =>
  panel({
    label:
      "The loss at each step on a logarithmic axis: what is expected, one run, and the floor of each rate",
    name: "losses",
    height: (width) => clamp(0.74 * width, 190, 270),
    margin: [24, 14, 40, LEFT],
    x: { domain: [0, steps], label: "step", ticks: between(0, steps, 4), text: String },
    y: {
      ...{ domain: [0.004, 30], label: "loss", logarithmic: true, ticks: [0.01, 0.1, 1, 10] },
      text: (t) => short(t, 2),
    },
    layers: paths("one", "floor", "expected", "cursor"),
    over: { dot: { tag: "circle", r: 5 } },
    drag,
    draw({ one, floor, expected: road, cursor, dot }, { x, y, line, spot }, state) {
      const { found, path, floors, step } = state;
      const along = (losses) => line(Array.from(losses, (loss, t) => [t, tame(loss)]));
      one(along(path.slice(0, step + 1)));
      floor(line(floors.map((loss, t) => [t, loss < MOST && loss > 1e-9 ? loss : Number.NaN])));
      road(along(found.loss));
      cursor(`M${x(step)} ${y.range[0]}V${y.range[1]}`);
      dot(spot(step, clamp(found.loss[step], 0.004, 30)));
    },
  });

const course = (steps, drag) =>
  panel({
    label: "The rate at each step",
    name: "rates",
    height: 104,
    margin: [24, 14, 22, LEFT],
    x: { domain: [0, steps], label: "", ticks: between(0, steps, 4), text: String },
    y: ({ rate }) => ({
      ...{ domain: [0, 1.15 * rate], label: "rate η", ticks: [0, rate], text: (t) => short(t, 3) },
    }),
    layers: paths("rate", "cursor"),
    drag,
    draw({ rate, cursor }, { x, y, line }, { etas, step }) {
      rate(line(etas.map((eta, t) => [t, eta])));
      cursor(`M${x(step)} ${y.range[0]}V${y.range[1]}`);
    },
  });

const directions = (curvatures) =>
  panel({
    label:
      "The expected loss at the step, direction by direction, flat ones on the left: the way still to go, and noise",
    name: "directions",
    height: (width) => clamp(0.5 * width, 150, 180),
    margin: [24, 14, 40, LEFT],
    x: {
      ...{ domain: [-0.7, curvatures.length - 0.3], label: "curvature h of the direction" },
      ticks: [0, (curvatures.length - 1) / 3, (2 * (curvatures.length - 1)) / 3, curvatures.length - 1],
      text: (i) => short(10 ** ((3 * i) / (curvatures.length - 1) - 3), 3),
    },
    y: ({ most }) => ({
      ...{ domain: [0, most], label: "part of the loss" },
      text: most < 10_000 ? undefined : (part) => scientific(part), // whole numbers would be cut at the edge
    }),
    layers: paths("noise", "way"),
    draw({ noise, way }, { x, y }, { below, above }) {
      const wide = 0.84 * (x(1) - x(0));
      const stand = (i, from, to) => `M${x(i) - wide / 2} ${y(from)}V${y(to)}h${wide}V${y(from)}Z`;
      noise(below.map((part, i) => stand(i, 0, part)).join(""));
      way(above.map((part, i) => stand(i, below[i], below[i] + part)).join(""));
    },
  });

export default widget(
  "rate-schedule",
  ({ constants: { curvatures, steps }, controls, read, write, redraw }) => {
    const drag = ([t]) => write({ step: clamp(Math.round(t), 0, steps) });
    const views = [losses(steps, drag), course(steps, drag), directions(curvatures)];
    const [result, once] = [resultLine(), memory()];
    let at = steps;
    const player = play({
      label: "Run",
      start() {
        at = read().step < steps ? read().step : 0;
      },
      frame(seconds) {
        at = Math.min(steps, at + 100 * seconds);
        write({ step: Math.floor(at) });
        return at < steps;
      },
      end: redraw,
    });
    const another = button("Another run", () => write({ seed: read().seed + 1 }));
    const drawn = (seed) => {
      const uniform = random(seed);
      return Array.from({ length: steps * curvatures.length }, () => normal(uniform));
    };
    return {
      layout: [
        controls.shape,
        columns("controls", [controls.rate, controls.warm], [controls.batch, controls.first]),
        div("buttons", player.button, another, controls.step),
        columns(
          "views",
          [
            heading(key("expected", "expected"), key("one", "one run"), key("floor", "floor of the rate")),
            views[0],
            result,
          ],
          [
            views[1],
            heading("Loss by direction: ", key("way", "way to go"), key("noise", "noise")),
            views[2],
          ],
        ),
      ],
      draw(state) {
        const { shape, rate, warm, batch, first, step, seed } = state;
        const s2 = 1 / batch;
        const etas = once("rates", [shape, rate, warm], () => rates(shape, rate, warm, steps));
        const steep = once("steep", [first], () => steepness(first, steps));
        const on = [shape, rate, warm, batch, first];
        const found = once("expected", on, () => expected(curvatures, etas, steep, s2));
        const noise = once("noise", [seed], () => drawn(seed));
        const path = once("path", [...on, seed], () => run(curvatures, etas, steep, s2, noise));
        const floors = once("floors", on, () => etas.map((eta, t) => floorOf(curvatures, eta, s2, steep[t])));
        const n = curvatures.length;
        const [below, above] = [found.noise, found.way].map((parts) =>
          Array.from(parts.subarray(n * step, n * step + n), tame),
        );
        const most = axisEnd(Math.max(...above.map((part, i) => part + below[i])));
        for (const view of views) view.draw({ ...state, found, path, floors, etas, below, above, most });
        const now = { noise: below, loss: found.loss };
        result.say(describe(state, now, path, floorOf(curvatures, rate, s2)), player.playing());
      },
      stop: () => player.playing() && player.stop(),
    };
  },
);
