// The power of a t test: two densities, a threshold between them, and the two ways to be wrong.
//
// The functions above `readout` are the mathematics; the tests compare them with primer.statistics.

import { between, button, clamp, columns, div, format, memory, panel, paragraph, paths } from "../kit/kit.js";
import { grouped, percent, resultLine, set, span, widget, write } from "../kit/kit.js";
import { play } from "../shared/play.js";
import { normal, random } from "../shared/random.js";

const ROOT = Math.sqrt(2 * Math.PI);

// Φ by its power series (Marsaglia).
function series(x) {
  let [sum, term] = [x, x];
  for (let k = 3; Math.abs(term) > 1e-16 * Math.abs(sum); k += 2) sum += term *= (x * x) / k;
  return 0.5 + (sum * Math.exp((-x * x) / 2)) / ROOT;
}

const [FARTHEST, PARTS] = [8, 128]; // beyond it Φ is 0 or 1 to the last digit; places in each unit
const PLACES = Float64Array.from({ length: 2 * FARTHEST * PARTS + 1 }, (_, i) => i / PARTS - FARTHEST);
const [HEIGHTS, SLOPES] = [PLACES.map(series), PLACES.map((x) => Math.exp((-x * x) / 2) / ROOT)];

// Φ by four terms of Taylor's series about the nearest of the places, to 1e-14: a frame asks for thousands.
export function normalCdf(x) {
  if (Math.abs(x) > FARTHEST) return x > 0 ? 1 : 0;
  const at = Math.round((x + FARTHEST) * PARTS);
  const z = PLACES[at];
  const h = x - z;
  const bend = (h / 3) * (z * z - 1 - (h / 4) * z * (z * z - 3));
  return HEIGHTS[at] + SLOPES[at] * h * (1 - (h / 2) * (z - bend));
}

// Scales s and weights that stand for s = √(V/ν): the trapezoidal rule in log s, to nine digits.
export function scaleMixture(df, delta = 0) {
  const width = 24 / df;
  const low = -(width + 1.1 * Math.sqrt(width));
  const high = 0.5 * Math.log1p(2 * width + 3 * Math.sqrt(width));
  const step = 0.45 / (Math.abs(delta) + Math.max(Math.sqrt(df), 3));
  const count = Math.ceil((high - low) / step) + 1;
  const [scales, weights] = [new Float64Array(count), new Float64Array(count)];
  let total = 0;
  for (let i = 0; i < count; i++) {
    const u = low + step * i;
    scales[i] = Math.exp(u);
    weights[i] = Math.exp(df * (u - Math.expm1(2 * u) / 2));
    total += weights[i];
  }
  for (let i = 0; i < count; i++) weights[i] /= total;
  return { scales, weights, delta };
}

// Both averages are plain loops: a frame asks for hundreds of them.
export function mixtureCdf(t, { scales, weights, delta }) {
  let total = 0;
  for (let i = 0; i < scales.length; i++) total += weights[i] * normalCdf(t * scales[i] - delta);
  return total;
}

export function mixtureDensity(t, { scales, weights, delta }) {
  let total = 0;
  for (let i = 0; i < scales.length; i++) {
    const z = t * scales[i] - delta;
    if (z * z < 1400) total += weights[i] * scales[i] * Math.exp((-z * z) / 2);
  }
  return total / ROOT;
}

export const nctCdf = (t, df, delta) => mixtureCdf(t, scaleMixture(df, delta));
export const nctDensity = (t, df, delta) => mixtureDensity(t, scaleMixture(df, delta));

// The t with probability `tail` beyond it, by Newton's method from the center outward; who looks for a sample size
// asks for the same ones again and again.
const bounds = new Map();
export function tUpper(tail, df) {
  const key = `${tail} ${df}`;
  if (bounds.size > 1000) bounds.clear();
  if (!bounds.has(key)) bounds.set(key, findUpper(tail, df));
  return bounds.get(key);
}

function findUpper(tail, df) {
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
  const bound = tUpper(alternative === "two-sided" ? alpha / 2 : alpha, n - 1);
  return [alternative === "greater" ? null : -bound, alternative === "less" ? null : bound];
}

/** @type {(effect: number, n: number, critical: number[]) => number} */
export function powerAt(effect, n, [low, high]) {
  const mixture = scaleMixture(n - 1, effect * Math.sqrt(n));
  return (low === null ? 0 : mixtureCdf(low, mixture)) + (high === null ? 0 : 1 - mixtureCdf(high, mixture));
}

export const power = (effect, n, alpha, alternative) =>
  powerAt(effect, n, criticalValues(n, alpha, alternative));

const LARGEST = 10000; // the largest sample that is looked for

// The smallest n with the wanted power; null when it is above `most`, or no n has it.
export function sampleSize(effect, wanted, alpha, alternative, most = LARGEST) {
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
    const z = normal(uniform);
    const gap = z - mean;
    mean += gap / i;
    squares += gap * (z - mean);
  }
  return { mean, sd: Math.sqrt(squares / (n - 1)) };
}

// ---------------------------------------------------------------- what the reader sees

const BATCH = 25; // experiments per frame
const BIN = 0.25;
const binOf = (t) => Math.floor(t / BIN);

function readout(name, title) {
  const [number, seen] = [span("number"), span("seen")];
  const draw = (p, count, runs) => {
    write(number, format(p));
    write(seen, runs ? `${percent(count / runs)} of ${runs} experiments` : "");
  };
  return { element: div(`tile ${name}`, span("", title), number, seen), draw };
}

// A density at even steps and at the cuts: [[t, f(t)], …], of which its curve and the areas under it are parts.
function sampled(density, [left, right], cuts) {
  const inner = cuts.filter((c) => left < c && c < right);
  return [...between(left, right, 140), ...inner].sort((a, b) => a - b).map((t) => [t, density(t)]);
}

// A filled area under a curve from one of its points to another.
function area({ x, y, line }, points, from, to) {
  const inside = points.filter(([t]) => from <= t && t <= to);
  return inside.length > 1 ? `${line(inside)}L${x(to)} ${y(0)}H${x(from)}Z` : "";
}

// The histogram of simulated statistics, as a line of steps.
function histogram({ x, line }, counts, runs) {
  if (!runs) return "";
  const [first, last] = x.domain.map(binOf);
  const points = [];
  for (let bin = first + 1; bin < last; bin++) {
    const height = Math.min((counts.get(bin) ?? 0) / (runs * BIN), 0.46);
    points.push([bin * BIN, height], [(bin + 1) * BIN, height]);
  }
  return line(points);
}

const densities = (range, drag, step) =>
  panel({
    label: "Effect: where the density under the alternative stands",
    name: "densities",
    role: "slider",
    height: 270,
    margin: [24, 16, 40, 16],
    x: ({ delta }) => ({
      domain: [Math.min(-5, 1.1 * delta - 4.5), Math.max(5, 1.1 * delta + 4.5)],
      label: "t statistic",
    }),
    y: { domain: [0, 0.46], label: "density", ticks: [] },
    layers: paths("right", "beta", "alpha", "seen0", "seen1", "null", "other", "threshold"),
    over: { without: { tag: "text", class: "name without" }, with: { tag: "text", class: "name with" } },
    drag,
    step,
    draw(layers, plot, { effect, n, delta, critical: [low, high], counts }) {
      const { x, y, line, width } = plot;
      const [left, right] = x.domain;
      const cuts = [low, high].filter((c) => c !== null);
      const [f0, f1] = [0, delta].map((shift) => {
        const mixture = scaleMixture(n - 1, shift);
        return sampled((t) => mixtureDensity(t, mixture), x.domain, cuts);
      });
      const outside = (f) => area(plot, f, left, low ?? left) + area(plot, f, high ?? right, right);
      layers.right(outside(f1));
      layers.beta(area(plot, f1, low ?? left, high ?? right));
      layers.alpha(outside(f0));
      layers.null(line(f0));
      layers.other(line(f1));
      layers.threshold(cuts.map((c) => `M${x(c)} ${y(0)}V${y(0.45)}`).join(""));
      layers.seen0(histogram(plot, counts.none, counts.runs));
      layers.seen1(histogram(plot, counts.some, counts.runs));
      const apart = Math.abs(x(delta) - x(0)) > 76; // room for both names side by side
      const middle = { y: y(0.43), "text-anchor": "middle" };
      layers.without("no effect", { x: x(0), ...middle });
      const beside = { x: clamp(x(delta), 46, width - 46), y: apart ? y(0.43) : y(0.43) - 14 };
      layers.with("the effect", { ...middle, ...beside });
      set(plot.element, {
        ...{ "aria-valuemin": range[0], "aria-valuemax": range[1] },
        ...{ "aria-valuenow": effect, "aria-valuetext": `effect ${format(effect, 2)}` },
      });
    },
  });

function powerFunction(range, drag) {
  const effects = between(...range, 48);
  const once = memory();
  return panel({
    label: "Power function: the probability of rejecting against the true effect",
    name: "function",
    height: 210,
    margin: [26, 14, 42, 40],
    x: { domain: range, label: "true effect d = (μ − μ₀)/σ", text: (t) => format(t, 1) },
    y: {
      ...{ domain: [0, 1], label: "power function: P(reject)" },
      ...{ ticks: [0, 0.5, 1], text: (t) => format(t, 1) },
    },
    layers: paths("size", "threshold", "curve"),
    over: { label: { tag: "text", class: "tick" }, point: { tag: "circle", r: 6 } },
    drag,
    draw({ size, threshold, curve, label, point }, { x, y, line, spot }, { effect, n, alpha, critical }) {
      const powers = once("powers", [n, critical], () => effects.map((d) => powerAt(d, n, critical)));
      curve(line(effects.map((d, i) => [d, powers[i]])));
      size(`M${x.range[0]} ${y(alpha)}H${x.range[1]}`);
      threshold(`M${x(effect)} ${y(0)}V${y(1)}`);
      label("α", { x: x.range[1], y: y(alpha) - 5, "text-anchor": "end" });
      point(spot(effect, powerAt(effect, n, critical)));
    },
  });
}

// What is said of the smallest sample with the wanted power.
export function describeSize(smallest, wanted) {
  const goal = `power of ${format(wanted, 1)}`;
  if (smallest !== null) return `A ${goal} for this effect needs n = ${smallest}.`;
  return `No sample of up to ${grouped(LARGEST)} finds this effect with a ${goal}.`;
}

export default widget("power", ({ controls, constants: { wanted }, get, write: put, redraw }) => {
  const move = (effect) => put({ effect: controls.effect.within(Math.round(effect * 100) / 100) });
  const range = controls.effect.range();
  const plot = densities(
    range,
    ([t]) => move(t / Math.sqrt(get("n"))),
    (dx, dy) => move(get("effect") + 0.05 * (dx + dy)),
  );
  const curve = powerFunction(range, ([effect]) => move(effect));
  const tiles = [
    readout("alpha", "α: rejects, though there is no effect"),
    readout("beta", "β: misses the effect"),
    readout("right", "power 1 − β: finds it"),
  ];
  const [needed, result, once] = [paragraph("needed"), resultLine(), memory()];
  let [uniform, counts, critical] = [null, null, null];

  function restart() {
    uniform = random(1);
    counts = { runs: 0, none: new Map(), some: new Map(), alarms: 0, found: 0 };
  }
  const rejects = (t) =>
    (critical[0] !== null && t < critical[0]) || (critical[1] !== null && t > critical[1]);
  const count = (map, t) => map.set(binOf(t), (map.get(binOf(t)) ?? 0) + 1);
  const player = play({
    label: "Run experiments",
    frame() {
      for (let i = 0; i < BATCH; i++) {
        const { mean, sd } = experiment(get("n"), uniform);
        const scale = Math.sqrt(get("n")) / sd;
        const [none, some] = [mean * scale, (mean + get("effect")) * scale];
        count(counts.none, none);
        count(counts.some, some);
        counts.alarms += Number(rejects(none));
        counts.found += Number(rejects(some));
      }
      counts.runs += BATCH;
      redraw();
    },
    end: redraw,
  });
  const again = button("Clear", () => {
    restart();
    redraw();
  });

  return {
    layout: [
      columns("controls", [controls.effect, controls.n], [controls.alpha, controls.alternative]),
      div("tiles", ...tiles),
      plot,
      div("runs", player.button, again, needed),
      curve,
      result,
    ],
    draw({ effect, n, alpha, alternative }) {
      const test = [n, alpha, alternative];
      critical = once("critical", test, () => criticalValues(n, alpha, alternative));
      once("counts", [effect, ...test], restart);
      const smallest = once("smallest", [effect, alpha, alternative], () =>
        sampleSize(effect, wanted, alpha, alternative),
      );
      const [delta, found] = [effect * Math.sqrt(n), powerAt(effect, n, critical)];
      const { runs, alarms, found: hits } = counts;
      tiles[0].draw(alpha, alarms, runs);
      tiles[1].draw(1 - found, runs - hits, runs);
      tiles[2].draw(found, hits, runs);
      write(needed, describeSize(smallest, wanted));
      plot.draw({ effect, n, delta, critical, counts });
      curve.draw({ effect, n, alpha, critical });
      const limits = critical.filter((c) => c !== null).map((c) => format(c, 2));
      const said = `critical value ${limits.join(" and ")}, power ${format(found)}`;
      result.say(`δ = d√n = ${format(delta, 2)}, ${said}`, player.playing());
    },
    stop: player.stop,
  };
});
