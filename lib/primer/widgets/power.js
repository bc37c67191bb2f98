// The power of a t test: two densities, a threshold between them, and the two ways to be wrong.
//
// The functions above `readout` are the mathematics; the tests compare them with primer.statistics.

import {
  axes,
  button,
  clamp,
  draggable,
  format,
  html,
  linear,
  logarithmic,
  mount,
  path,
  play,
  radio,
  resultLine,
  set,
  slider,
  svg,
  update,
} from "./kit.js";
import { random } from "./random.js";

const ROOT = Math.sqrt(2 * Math.PI);

// Φ by its power series (Marsaglia); beyond ±8 it is 0 or 1 to the last digit.
export function normalCdf(x) {
  if (Math.abs(x) > 8) return x > 0 ? 1 : 0;
  let [sum, term] = [x, x];
  for (let k = 3; Math.abs(term) > 1e-16 * Math.abs(sum); k += 2) sum += term *= (x * x) / k;
  return 0.5 + (sum * Math.exp((-x * x) / 2)) / ROOT;
}

// Scales s and weights that stand for s = √(V/ν): the trapezoidal rule in log s, to nine digits.
export function scaleMixture(df, delta = 0) {
  const width = 24 / df;
  const low = -(width + 1.1 * Math.sqrt(width));
  const high = 0.5 * Math.log1p(2 * width + 3 * Math.sqrt(width));
  const step = 0.45 / (Math.abs(delta) + Math.max(Math.sqrt(df), 3));
  const u = Array.from({ length: Math.ceil((high - low) / step) + 1 }, (_, i) => low + step * i);
  const weights = u.map((x) => Math.exp(df * (x - Math.expm1(2 * x) / 2)));
  const total = weights.reduce((sum, w) => sum + w, 0);
  return { scales: u.map(Math.exp), weights: weights.map((w) => w / total), delta };
}

const average = ({ scales, weights }, value) => {
  let sum = 0;
  for (let i = 0; i < scales.length; i++) sum += weights[i] * value(scales[i]);
  return sum;
};

export const mixtureCdf = (t, mixture) => average(mixture, (s) => normalCdf(t * s - mixture.delta));

export const mixtureDensity = (t, mixture) =>
  average(mixture, (s) => (s * Math.exp(-((t * s - mixture.delta) ** 2) / 2)) / ROOT);

export const nctCdf = (t, df, delta) => mixtureCdf(t, scaleMixture(df, delta));
export const nctDensity = (t, df, delta) => mixtureDensity(t, scaleMixture(df, delta));

// The t with probability `tail` beyond it, by Newton's method from the center outward.
export function tUpper(tail, df) {
  const mixture = scaleMixture(df);
  let t = 0;
  for (let i = 0; i < 100; i++) {
    const move = (mixtureCdf(-t, mixture) - tail) / mixtureDensity(t, mixture);
    t += move;
    if (Math.abs(move) < 1e-9 * (1 + t)) break;
  }
  return t;
}

// Below the first or above the second the test rejects; null where it never does.
export function criticalValues(n, alpha, alternative) {
  if (alternative === "two-sided") {
    const bound = tUpper(alpha / 2, n - 1);
    return [-bound, bound];
  }
  const bound = tUpper(alpha, n - 1);
  return alternative === "greater" ? [null, bound] : [-bound, null];
}

export function powerAt(effect, n, [low, high]) {
  const mixture = scaleMixture(n - 1, effect * Math.sqrt(n));
  return (low === null ? 0 : mixtureCdf(low, mixture)) + (high === null ? 0 : 1 - mixtureCdf(high, mixture));
}

export const power = (effect, n, alpha, alternative) =>
  powerAt(effect, n, criticalValues(n, alpha, alternative));

// The smallest n with the wanted power; null when it is above `most`, or no n has it.
export function sampleSize(effect, wanted, alpha, alternative, most = 100000) {
  const toward = { "two-sided": Math.abs(effect), greater: effect, less: -effect }[alternative];
  if (!(toward > 0)) return null;
  const enough = (n) => power(effect, n, alpha, alternative) >= wanted;
  let high = 2;
  while (!enough(high)) {
    high *= 2;
    if (high > 2 * most) return null;
  }
  let low = high >> 1;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (enough(middle)) high = middle;
    else low = middle;
  }
  return high <= most ? high : null;
}

// One experiment: mean and standard deviation of n standard normal observations.
export function experiment(n, uniform) {
  let [mean, squares] = [0, 0];
  for (let i = 1; i <= n; i++) {
    const z = Math.sqrt(-2 * Math.log(1 - uniform())) * Math.cos(2 * Math.PI * uniform());
    const gap = z - mean;
    mean += gap / i;
    squares += gap * (z - mean);
  }
  return { mean, sd: Math.sqrt(squares / (n - 1)) };
}

// ---------------------------------------------------------------- what the reader sees

const WANTED = 0.8;
const LARGEST = 1.5; // the largest effect the controls reach
const BATCH = 25; // experiments per frame
const percent = (p) => `${format(100 * p, 1)}%`;
const between = (low, high, count) =>
  Array.from({ length: count + 1 }, (_, i) => low + ((high - low) * i) / count);

function readout(name, title) {
  const number = html("span", { class: "number" });
  const seen = html("span", { class: "seen" });
  return {
    tile: html("div", { class: `tile ${name}` }, html("span", {}, title), number, seen),
    number,
    seen,
  };
}

// A filled area under the curve from one t to another.
function area(x, y, density, from, to) {
  if (!(to > from)) return "";
  const curve = between(from, to, 60).map((t) => [x(t), y(density(t))]);
  return path([[x(from), y(0)], ...curve, [x(to), y(0)]]);
}

function densities(drag, step) {
  const grid = svg("g");
  const part = (name) => svg("path", { class: name });
  const parts = Object.fromEntries(
    ["right", "beta", "alpha", "seen0", "seen1", "null", "other", "threshold"].map((name) => [
      name,
      part(name),
    ]),
  );
  const [nullName, otherName] = [svg("text", { class: "name without" }), svg("text", { class: "name with" })];
  const drawing = svg(
    "svg",
    { class: "densities", role: "slider" },
    grid,
    ...Object.values(parts),
    nullName,
    otherName,
  );
  let x = null;
  draggable(drawing, { move: (at) => drag(x.invert(at * x.width)), step });

  function draw({ effect, n, critical: [low, high], counts }) {
    const [width, height, delta] = [drawing.clientWidth || 600, 270, effect * Math.sqrt(n)];
    const ends = [Math.min(-5, 1.1 * delta - 4.5), Math.max(5, 1.1 * delta + 4.5)];
    x = Object.assign(linear(ends, [16, width - 16]), { width });
    const y = linear([0, 0.46], [height - 40, 24]);
    const [h0, h1] = [scaleMixture(n - 1), scaleMixture(n - 1, delta)];
    const [f0, f1] = [(t) => mixtureDensity(t, h0), (t) => mixtureDensity(t, h1)];
    const curve = (f) => path(between(...ends, 140).map((t) => [x(t), y(f(t))]));
    const outside = (f) => area(x, y, f, ends[0], low ?? ends[0]) + area(x, y, f, high ?? ends[1], ends[1]);
    axes(grid, { x, y, yTicks: [], xLabel: "t statistic", yLabel: "density" });
    set(parts.right, { d: outside(f1) });
    set(parts.beta, { d: area(x, y, f1, low ?? ends[0], high ?? ends[1]) });
    set(parts.alpha, { d: outside(f0) });
    set(parts.null, { d: curve(f0) });
    set(parts.other, { d: curve(f1) });
    set(parts.threshold, {
      d: [low, high]
        .filter((c) => c !== null)
        .map((c) => `M${x(c)} ${y(0)}V${y(0.45)}`)
        .join(""),
    });
    set(parts.seen0, { d: steps(counts.none, counts.runs, x, y) });
    set(parts.seen1, { d: steps(counts.some, counts.runs, x, y) });
    const apart = Math.abs(x(delta) - x(0)) > 76; // room for both names side by side
    set(nullName, { x: x(0), y: y(0.43), "text-anchor": "middle" });
    set(otherName, {
      x: clamp(x(delta), 46, width - 46),
      y: apart ? y(0.43) : y(0.43) - 14,
      "text-anchor": "middle",
    });
    nullName.textContent = "no effect";
    otherName.textContent = "the effect";
    set(drawing, {
      viewBox: `0 0 ${width} ${height}`,
      height,
      "aria-label": "Effect: where the density under the alternative stands",
      "aria-valuemin": -LARGEST,
      "aria-valuemax": LARGEST,
      "aria-valuenow": effect,
      "aria-valuetext": `effect ${format(effect, 2)}`,
    });
  }
  return { drawing, draw };
}

const BIN = 0.25;
const binOf = (t) => Math.floor(t / BIN);

// The histogram of simulated statistics, as a line of steps.
function steps(counts, runs, x, y) {
  if (!runs) return "";
  const [first, last] = x.domain.map(binOf);
  const points = [];
  for (let bin = first + 1; bin < last; bin++) {
    const height = y(Math.min((counts.get(bin) ?? 0) / (runs * BIN), 0.46));
    points.push([x(bin * BIN), height], [x((bin + 1) * BIN), height]);
  }
  return path(points);
}

const EFFECTS = between(-LARGEST, LARGEST, 48);

function powerFunction(drag) {
  const grid = svg("g");
  const [curve, size, now] = ["curve", "size", "threshold"].map((name) => svg("path", { class: name }));
  const label = svg("text", { class: "tick" });
  const point = svg("circle", { class: "point", r: 6 });
  const drawing = svg("svg", { class: "function", role: "img" }, grid, size, now, curve, label, point);
  let x = null;
  let [drawn, powers] = [null, null]; // they change with the critical values alone
  draggable(drawing, { move: (at) => drag(x.invert(at * x.width)) });

  function draw({ effect, n, alpha, critical }) {
    if (drawn !== critical) [drawn, powers] = [critical, EFFECTS.map((d) => powerAt(d, n, critical))];
    const [width, height] = [drawing.clientWidth || 600, 210];
    x = Object.assign(linear([-LARGEST, LARGEST], [40, width - 14]), { width });
    const y = linear([0, 1], [height - 42, 26]);
    axes(grid, {
      x,
      y,
      xText: (t) => format(t, 1),
      yTicks: [0, 0.5, 1],
      yText: (t) => format(t, 1),
      xLabel: "true effect d = (μ − μ₀)/σ",
      yLabel: "power function: P(reject)",
    });
    set(curve, { d: path(EFFECTS.map((d, i) => [x(d), y(powers[i])])) });
    set(size, { d: `M${x(-LARGEST)} ${y(alpha)}H${x(LARGEST)}` });
    set(now, { d: `M${x(effect)} ${y(0)}V${y(1)}` });
    set(label, { x: x(LARGEST), y: y(alpha) - 5, "text-anchor": "end" });
    label.textContent = "α";
    set(point, { cx: x(effect), cy: y(powerAt(effect, n, critical)) });
    set(drawing, {
      viewBox: `0 0 ${width} ${height}`,
      height,
      "aria-label": "Power function: the probability of rejecting against the true effect",
    });
  }
  return { drawing, draw };
}

function render({ model, el }) {
  const get = (name) => model.get(name);
  const put = (name) => (value) => update(model, { [name]: value });
  const move = (effect) =>
    update(model, { effect: clamp(Math.round(effect * 100) / 100, -LARGEST, LARGEST) });

  const effect = slider({
    label: "Effect d",
    min: -LARGEST,
    max: LARGEST,
    step: 0.01,
    value: get("effect"),
    text: (d) => format(d, 2),
    change: put("effect"),
  });
  const n = slider({ label: "Observations n", min: 2, max: 200, value: get("n"), change: put("n") });
  const levels = logarithmic([0.001, 0.3], [0, 100]);
  const alpha = slider({
    label: "Level α",
    min: 0,
    max: 100,
    step: 0.5,
    value: levels(get("alpha")),
    text: (at) => format(levels.invert(at), 3),
    change: (at) => update(model, { alpha: Number(levels.invert(at).toFixed(3)) }),
  });
  const alternative = radio({
    label: "H₁:",
    options: [
      ["two-sided", "d ≠ 0"],
      ["greater", "d > 0"],
      ["less", "d < 0"],
    ],
    value: get("alternative"),
    change: put("alternative"),
  });

  const plot = densities(
    (t) => move(t / Math.sqrt(get("n"))),
    (dx, dy) => move(get("effect") + 0.05 * (dx + dy)),
  );
  const curve = powerFunction(move);
  const tiles = [
    readout("alpha", "α: rejects, though there is no effect"),
    readout("beta", "β: misses the effect"),
    readout("right", "power 1 − β: finds it"),
  ];
  const needed = html("p", { class: "needed" });
  const result = resultLine();

  let counts = null;
  let [uniform, state, threshold, critical, smallest] = [null, "", "", null, null];
  const restart = () => {
    uniform = random(1);
    counts = { runs: 0, none: new Map(), some: new Map(), alarms: 0, found: 0 };
  };
  const rejects = (t) =>
    (critical[0] !== null && t < critical[0]) || (critical[1] !== null && t > critical[1]);
  const add = (map, t) => map.set(binOf(t), (map.get(binOf(t)) ?? 0) + 1);
  const player = play({
    label: "Run experiments",
    frame: () => {
      for (let i = 0; i < BATCH; i++) {
        const { mean, sd } = experiment(get("n"), uniform);
        const scale = Math.sqrt(get("n")) / sd;
        const [none, some] = [mean * scale, (mean + get("effect")) * scale];
        add(counts.none, none);
        add(counts.some, some);
        counts.alarms += rejects(none);
        counts.found += rejects(some);
      }
      counts.runs += BATCH;
      draw();
    },
  });
  const again = button("Clear", () => {
    restart();
    draw();
  });

  function draw() {
    const [d, size, level, side] = ["effect", "n", "alpha", "alternative"].map(get);
    const now = JSON.stringify([d, size, level, side]);
    if (now !== state) {
      state = now;
      const rule = JSON.stringify([size, level, side]);
      if (threshold !== rule) critical = criticalValues(size, level, side);
      threshold = rule;
      smallest = sampleSize(d, WANTED, level, side, 10000);
      restart();
    }
    effect.set(d);
    n.set(size);
    alpha.set(levels(level));
    alternative.set(side);
    const found = powerAt(d, size, critical);
    const share = (k) => (counts.runs ? `${percent(k / counts.runs)} of ${counts.runs} experiments` : "");
    [level, 1 - found, found].forEach((p, i) => {
      tiles[i].number.textContent = format(p, 3);
    });
    [counts.alarms, counts.runs - counts.found, counts.found].forEach((k, i) => {
      tiles[i].seen.textContent = share(k);
    });
    needed.textContent =
      smallest === null
        ? `No sample of up to 10 000 finds this effect with a power of ${format(WANTED, 1)}.`
        : `A power of ${format(WANTED, 1)} for this effect needs n = ${smallest}.`;
    plot.draw({ effect: d, n: size, critical, counts });
    curve.draw({ effect: d, n: size, alpha: level, critical });
    const limits = critical
      .filter((c) => c !== null)
      .map((c) => format(c, 2))
      .join(" and ");
    result.say(
      `δ = d√n = ${format(d * Math.sqrt(size), 2)}, critical value ${limits}, power ${format(found, 3)}`,
      player.playing(),
    );
  }

  el.classList.add("power");
  el.append(
    html(
      "div",
      { class: "controls" },
      html("div", {}, effect.row, n.row),
      html("div", {}, alpha.row, alternative.row),
    ),
    html("div", { class: "tiles" }, ...tiles.map(({ tile }) => tile)),
    plot.drawing,
    html("div", { class: "runs" }, player.button, again, needed),
    curve.drawing,
    result.row,
  );
  const unmount = mount({ model, el, traits: ["effect", "n", "alpha", "alternative"], draw });
  return () => {
    player.stop();
    unmount();
  };
}

export default { render };
