// A small network that learns in the page, by plain gradient descent on all points at once.
//
// The functions above `SIDE` are the mathematics; the tests compare them with primer.networks.

import {
  between,
  button,
  clamp,
  color,
  columns,
  div,
  format,
  grouped,
  heading,
  html,
  key,
} from "../kit/kit.js";
import { lay, memory, panel, putPixels, resultLine, sum, widget } from "../kit/kit.js";
import { inTurns } from "../shared/in_turns.js";
import { play } from "../shared/play.js";
import { scientific } from "../shared/scientific.js";

const sigmoid = (z) => 1 / (1 + Math.exp(-z));
const tanh = (z) => 1 - 2 / (1 + Math.exp(2 * z)); // to 1e-16, in half the time of Math.tanh

// Each kink: its value at z, and its slope at z where its value is h.
const KINKS = {
  relu: [(z) => Math.max(z, 0), (z) => (z > 0 ? 1 : 0)],
  leaky: [(z) => (z > 0 ? z : 0.1 * z), (z) => (z > 0 ? 1 : 0.1)],
  tanh: [tanh, (_, h) => 1 - h * h],
  sigmoid: [sigmoid, (_, h) => h * (1 - h)],
  none: [(z) => z, () => 1],
};

/** The layers before the first step: weights as rows of inputs, biases 0. */
export function begin(normals, depth, width, start, scale) {
  const sizes = [2, ...Array(depth).fill(width), 1];
  return sizes.slice(1).map((outputs, number) => {
    const [inputs, last] = [sizes[number], number === depth];
    const drawn = last ? normals.at(-1) : normals[number];
    const stride = last ? 1 : 8;
    const weights = Float64Array.from({ length: inputs * outputs }, (_, at) => {
      if (start === "alike") return 1 / inputs;
      const [i, j] = [Math.floor(at / outputs), at % outputs];
      return scale * Math.sqrt(2 / inputs) * drawn[i * stride + j];
    });
    return { inputs, outputs, weights, bias: new Float64Array(outputs) };
  });
}

// The sums of one layer for n rows of inputs.
function layerSums({ inputs, outputs, weights, bias }, h, n) {
  const sums = new Float64Array(n * outputs);
  for (let row = 0, to = 0, from = 0; row < n; row++, from += inputs) {
    for (let j = 0; j < outputs; j++) {
      let total = bias[j];
      for (let i = 0, at = j; i < inputs; i++, at += outputs) total += h[from + i] * weights[at];
      sums[to++] = total;
    }
  }
  return sums;
}

/** Send n rows through the layers: { sums, values } of each layer, the last value being the last sum. */
export function forward(layers, x, n, activation) {
  const [value] = KINKS[activation];
  const run = [];
  let h = x;
  for (const [number, layer] of layers.entries()) {
    const sums = layerSums(layer, h, n);
    h = sums;
    if (number < layers.length - 1) {
      h = new Float64Array(sums.length);
      for (let at = 0; at < h.length; at++) h[at] = value(sums[at]);
    }
    run.push({ sums, values: h });
  }
  return run;
}

// What a layer's own parameters get of the errors δ at its sums, and what its inputs get.
function pull({ inputs, outputs, weights }, below, delta, n) {
  const gradient = { weights: new Float64Array(inputs * outputs), bias: new Float64Array(outputs) };
  const passed = new Float64Array(n * inputs);
  const own = gradient.weights;
  for (let row = 0, from = 0, at = 0; row < n; row++, from += inputs) {
    for (let j = 0; j < outputs; j++) {
      const d = delta[at++];
      gradient.bias[j] += d;
      for (let i = 0, to = j; i < inputs; i++, to += outputs) {
        own[to] += below[from + i] * d;
        passed[from + i] += weights[to] * d;
      }
    }
  }
  return { gradient, passed };
}

/** The loss at the points, its gradient by the chain rule, how many are right, and how many units dead. */
export function assess(layers, x, labels, activation) {
  const n = labels.length;
  const run = forward(layers, x, n, activation);
  const slope = KINKS[activation][1];
  const scores = run.at(-1).sums;
  let [loss, right] = [0, 0];
  let delta = new Float64Array(n);
  labels.forEach((y, row) => {
    const s = scores[row];
    loss += (Math.max(s, 0) + Math.log1p(Math.exp(-Math.abs(s))) - y * s) / n;
    right += Number(s > 0 === (y === 1));
    delta[row] = (sigmoid(s) - y) / n;
  });
  const gradients = [];
  let dead = 0;
  for (let number = layers.length - 1; number >= 0; number--) {
    const { gradient, passed } = pull(layers[number], number ? run[number - 1].values : x, delta, n);
    gradients.unshift(gradient);
    if (number === 0) break;
    const [{ sums, values }, units] = [run[number - 1], layers[number].inputs];
    const alive = new Uint8Array(units);
    for (let at = 0; at < passed.length; at++) {
      const f = slope(sums[at], values[at]);
      if (f !== 0) alive[at % units] = 1;
      passed[at] *= f;
    }
    delta = passed;
    dead += units - sum([...alive]);
  }
  return { loss, right, dead, gradients, norms: gradients.map((g) => Math.hypot(...g.weights)) };
}

/** Move every parameter against its gradient. */
export function descend(layers, gradients, rate) {
  return layers.map((layer, number) => ({
    ...layer,
    weights: layer.weights.map((w, at) => w - rate * gradients[number].weights[at]),
    bias: layer.bias.map((b, at) => b - rate * gradients[number].bias[at]),
  }));
}

// What the tests compare: so many steps from the beginning.
export function train(normals, depth, width, start, scale, points, labels, activation, rate, steps) {
  let layers = begin(normals, depth, width, start, scale);
  const [losses, x] = [[], Float64Array.from(points.flat())];
  let now = assess(layers, x, labels, activation);
  for (let step = 0; step < steps; step++) {
    losses.push(now.loss);
    layers = descend(layers, now.gradients, rate);
    now = assess(layers, x, labels, activation);
  }
  losses.push(now.loss);
  return { losses, norms: now.norms, weights: layers.map(({ weights }) => [...weights]), dead: now.dead };
}

const SIDE = 29; // places along each side of the surface
const EDGE = 1.2;
const MOST = 3000; // steps
const PER_FRAME = 3;
const BUDGET = 8; // milliseconds: after a frame that took longer the next one has a single step
const PLACES = Float64Array.from(
  between(EDGE, -EDGE, SIDE - 1).flatMap((b) => between(-EDGE, EDGE, SIDE - 1).flatMap((a) => [a, b])),
);
const [LOWEST, HIGHEST] = [1e-8, 10];
const NOTHING = 1e-12;
const power = (t) => (t === 1 ? "1" : scientific(t, 0).slice(2));

// From #rrggbb to three numbers.
const parts = (hex) => [1, 3, 5].map((i) => Number.parseInt(hex.slice(i, i + 2), 16));

// 256 colors from one class to the other, through the paper.
function mixtures(low, middle, high) {
  const [a, b, c] = [low, middle, high].map(parts);
  return Uint32Array.from({ length: 256 }, (_, i) => {
    const t = i / 127.5 - 1;
    const [red, green, blue] = b.map((m, k) => Math.round(m + 0.6 * Math.abs(t) * ((t < 0 ? a : c)[k] - m)));
    return ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0;
  });
}

// The line on which a unit of the first layer has the sum 0, across the square.
function crease(w0, w1, b) {
  const length = w0 * w0 + w1 * w1;
  if (length < 1e-12) return [];
  const [x, y] = [(-b * w0) / length, (-b * w1) / length];
  const reach = 4 / Math.sqrt(length);
  return [
    [x - w1 * reach, y + w0 * reach],
    [x + w1 * reach, y - w0 * reach],
  ];
}

function surface() {
  const canvas = html("canvas", { "aria-hidden": "true" });
  const once = memory();
  const square = { domain: [-EDGE, EDGE], ticks: [-1, 0, 1] };
  const drawing = panel({
    label: "The points, what the network says of every place, and the line of each unit of layer 1",
    name: "surface",
    height: (width) => clamp(width - 4, 240, 360),
    widest: 364,
    margin: [20, 10, 36, 34],
    x: { ...square, label: "x₀" },
    y: { ...square, label: "x₁" },
    layers: { crease: "path", dot: { tag: "circle", r: 3.5, many: true } },
    draw(layers, { x, y, line, spot }, { network, data: { points, labels }, activation, colors: names }) {
      const [[left, right], [bottom, top]] = [x.range, y.range];
      lay(canvas, { left, top, width: right - left, height: bottom - top });
      const table = once("colors", names, () => mixtures(...names));
      const scores = forward(network, PLACES, SIDE * SIDE, activation).at(-1).sums;
      const pixels = Uint32Array.from(scores, (s) => table[clamp(Math.round(255 * sigmoid(s)), 0, 255) || 0]);
      putPixels(canvas, pixels, SIDE);
      const { weights, bias, outputs } = network[0];
      const lines = Array.from(bias, (b, j) => crease(weights[j], weights[outputs + j], b));
      layers.crease(lines.map(line).join(""));
      const kind = (i) => ({ class: `dot ${labels[i] ? "one" : "zero"}` });
      once("dots", [points, x.range, y.range], () =>
        layers.dot(points, ([a, b], i) => ({ ...spot(a, b), ...kind(i) })),
      );
    },
  });
  return { element: div("map", canvas, drawing), draw: drawing.draw };
}

const curve = () =>
  panel({
    label: "The loss against the number of steps",
    name: "loss",
    height: 170,
    margin: [20, 12, 38, 44],
    x: ({ losses }) => ({
      domain: [0, [100, 200, 500, 1000, 2000].find((most) => losses.length - 1 <= most) ?? MOST],
      label: "step",
    }),
    y: {
      domain: [1e-3, 10],
      label: "loss, nats",
      ticks: [1e-3, 0.01, 0.1, 1, 10],
      logarithmic: true,
      text: String,
    },
    layers: { guess: "path", loss: "path", now: { tag: "circle", r: 4 } },
    draw({ guess, loss, now }, { x, y, line, spot }, { losses }) {
      const inside = (v) => clamp(v, 1e-3, 10);
      const stride = Math.ceil(losses.length / 250);
      const kept = losses
        .map((v, t) => [t, inside(v)])
        .filter(([t]) => t % stride === 0 || t === losses.length - 1);
      guess(`M${x.range[0]} ${y(Math.log(2))}H${x.range[1]}`);
      loss(line(kept));
      now(spot(losses.length - 1, inside(losses.at(-1))));
    },
  });

const slopes = () =>
  panel({
    label: "The length of the gradient of each layer's weights, now and before the first step",
    name: "slopes",
    height: 170,
    margin: [20, 12, 38, 44],
    x: ({ norms }) => ({
      domain: [0.6, norms.length + 0.4],
      label: "layer, the last makes the output",
      ticks: norms.map((_, i) => i + 1),
    }),
    y: {
      ...{ domain: [LOWEST, HIGHEST], label: "length of the gradient", logarithmic: true },
      ...{ ticks: [1e-8, 1e-6, 1e-4, 1e-2, 1], text: (t) => (t === LOWEST ? "≤10⁻⁸" : power(t)) },
    },
    layers: { start: "path", norm: "path" },
    over: { bead: { tag: "circle", r: 4.5, many: true } },
    draw({ start, norm, bead }, { line, spot }, { norms, opening }) {
      const at = (list) => list.map((v, i) => [i + 1, clamp(v, LOWEST, HIGHEST)]);
      start(line(at(opening)));
      norm(line(at(norms)));
      bead(at(norms), ([i, v]) => spot(i, v));
    },
  });

const times = (ratio) =>
  ratio < 10 ? format(ratio, 1) : ratio < 1e6 ? grouped(ratio) : scientific(ratio, 0);

// What the result line says.
export function describe(step, count, units, { loss, right, dead, norms }) {
  const text = `Step ${grouped(step)}: loss ${format(loss, loss < 0.01 ? 4 : 3)}, ${right} of ${count} points right.`;
  const gone = dead ? ` ${dead} of ${units} units ${dead > 1 ? "are" : "is"} dead.` : "";
  const [first, last] = [norms[0], norms.at(-1)];
  if (first < NOTHING) return `${text} No gradient reaches layer 1.${gone}`;
  const [ratio, word] = last > first ? [last / first, "smaller"] : [first / last, "larger"];
  if (!Number.isFinite(ratio)) return `${text}${gone}`;
  return `${text} Layer 1 has a gradient ${times(ratio)} times ${word} than the last layer's.${gone}`;
}

export default widget("small-network", ({ el, controls, constants, model, measured, redraw }) => {
  const [map, loss, gradients, result] = [surface(), curve(), slopes(), resultLine()];
  let [run, wanted] = [null, model.get("steps")];
  let [pace, frames] = [PER_FRAME, 0];

  // The training with these settings, anew when one but the learning rate has changed.
  function training({ data, depth, width, activation, start, seed, rate }) {
    const name = [data, depth, width, activation, start, seed].join();
    if (run?.name !== name) {
      if (run) wanted = 0;
      const [points, labels] = constants.points[data];
      const layers = begin(constants.normals[seed], depth, width, start, constants.scales[start]);
      const x = Float64Array.from(points.flat());
      const now = assess(layers, x, labels, activation);
      run = { name, points, labels, x, layers, now, losses: [now.loss], opening: now.norms };
    }
    while (run.losses.length <= wanted) {
      const layers = descend(run.layers, run.now.gradients, rate);
      const now = assess(layers, run.x, run.labels, activation);
      run.lost = !(now.loss < 1e6);
      if (run.lost) break;
      Object.assign(run, { layers, now });
      run.losses.push(now.loss);
    }
    return run;
  }
  const onward = (steps) => {
    wanted = Math.min(run.losses.length - 1 + steps, MOST);
    redraw();
    return !run.lost && wanted < MOST;
  };
  const frame = () => {
    const began = performance.now();
    const more = onward(pace);
    pace = performance.now() - began > BUDGET ? 1 : PER_FRAME;
    return more;
  };
  const player = play({ label: "Train", frame, end: redraw });
  const survey = ({ layers, points, labels, activation, colors }) => {
    // While it trains, every second frame shows the surface: it moves slowly, and asks for the most work.
    if (!player.playing() || frames++ % 2 === 0)
      map.draw({ network: layers, data: { points, labels }, activation, colors });
    return true;
  };
  const follow = ({ depth, width, losses, step, labels, now, lost }) => {
    loss.draw({ losses });
    const text = describe(step, labels.length, depth * width, now);
    result.say(lost ? `${text} The next step throws the loss beyond a million.` : text, player.playing());
    return true;
  };
  const compare = ({ now: { norms }, opening }) => {
    gradients.draw({ norms, opening });
    return true;
  };
  const picture = inTurns(redraw, survey, follow, compare);
  const one = button("One step", () => onward(1));
  const again = button("Begin again", () => {
    [run, wanted] = [null, 0];
    redraw();
  });

  return {
    layout: [
      columns(
        "controls",
        [controls.data, controls.activation, controls.start],
        [controls.depth, controls.width, controls.rate, controls.seed],
      ),
      div("buttons", player.button, one, again),
      result,
      columns(
        "views",
        [heading("What it says: ", key("one", "class 1"), key("zero", "class 0")), map],
        [
          heading("The loss, ", key("guess", "guessing")),
          loss,
          heading("Gradients: ", key("norm", "now"), key("start", "at the start")),
          gradients,
        ],
      ),
    ],
    draw(state) {
      const colors = measured(() => ["orange", "paper", "blue"].map((name) => color(el, name)));
      const whole = run === null || player.playing(); // what plays, or was begun again, shows it at once
      const found = training(state);
      picture.draw({ ...state, ...found, colors, step: found.losses.length - 1 }, whole);
    },
    stop() {
      picture.stop();
      if (player.playing()) player.stop();
    },
  };
});
