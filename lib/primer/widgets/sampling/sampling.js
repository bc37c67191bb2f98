// A laboratory of sampling: draw samples without end and watch where the estimates fall.
//
// The functions above `strip` are the mathematics; the tests compare them with primer.statistics.

import {
  between,
  button,
  clamp,
  columns,
  counted,
  div,
  format,
  legend,
  mean,
  memory,
  panel,
} from "../kit/kit.js";
import { paragraph, paths, percent, resultLine, signed, span, sum } from "../kit/kit.js";
import { widget, write } from "../kit/kit.js";
import { table } from "../shared/table.js";
import { play } from "../shared/play.js";
import { scientific } from "../shared/scientific.js";
import { normal, random } from "../shared/random.js";

export const SIZES = [3, 5, 8, 12, 20, 32, 50, 80, 120, 200];
const LONGEST = SIZES[SIZES.length - 1];

// Every population has the parameter θ = 1, with Fisher information 1 unless it says otherwise.  Its draw turns
// uniform numbers into an observation.
const POPULATIONS = {
  normal: {
    view: [-2, 4],
    density: (x) => Math.exp(-((x - 1) ** 2) / 2) / Math.sqrt(2 * Math.PI),
    draw: (uniform) => 1 + normal(uniform),
  },
  Laplace: {
    view: [-4, 6],
    density: (x) => Math.exp(-Math.abs(x - 1)) / 2,
    draw: (uniform) => 1 + Math.log(1 - uniform()) * (uniform() < 0.5 ? 1 : -1),
  },
  Cauchy: {
    information: 0.5,
    view: [-7, 9],
    density: (x) => 1 / (Math.PI * (1 + (x - 1) ** 2)),
    draw: (uniform) => 1 + Math.tan(Math.PI * (uniform() - 0.5)),
  },
  exponential: {
    view: [-0.5, 5],
    density: (x) => (x < 0 ? 0 : Math.exp(-x)),
    draw: (uniform) => -Math.log(1 - uniform()),
  },
  uniform: {
    view: [-0.5, 1.5],
    density: (x) => (x >= 0 && x <= 1 ? 1 : 0),
    draw: (uniform) => uniform(),
  },
};

export const density = (population, x) => POPULATIONS[population].density(x);

export function sample(population, n, seed) {
  const uniform = random(seed);
  return Array.from({ length: n }, () => POPULATIONS[population].draw(uniform));
}

const middle = (s) => (s[(s.length - 1) >> 1] + s[s.length >> 1]) / 2;

const quarter = (s) => Math.floor(s.length / 4);

// An estimator takes a sample as drawn and the same sample in order.
const ESTIMATORS = {
  mean,
  median: (_, s) => middle(s),
  "trimmed mean": (_, s) => mean(s.slice(quarter(s), s.length - quarter(s))),
  midrange: (_, s) => (s[0] + s[s.length - 1]) / 2,
  "first value": (x) => x[0],
  "0.8 × mean": (x) => 0.8 * mean(x),
  "1 / mean": (x) => 1 / mean(x),
  "(n − 1) / sum": (x) => (x.length - 1) / sum(x),
  "(n − 2) / sum": (x) => (x.length - 2) / sum(x),
  maximum: (_, s) => s[s.length - 1],
  "(n + 1)/n × maximum": (x, s) => ((x.length + 1) / x.length) * s[s.length - 1],
  "2 × mean": (x) => 2 * mean(x),
};

export const estimate = (estimator, x) => ESTIMATORS[estimator](x, Float64Array.from(x).sort());

// How the expectation of an estimator changes with θ; 1 for an unbiased one.
export function slope(estimator, n) {
  const slopes = { "0.8 × mean": 0.8, "1 / mean": n / (n - 1), "(n − 2) / sum": (n - 2) / (n - 1) };
  return { ...slopes, maximum: n / (n + 1) }[estimator] ?? 1;
}

// The Cramér–Rao bound ψ′² / (n I₁) at θ = 1.
export const bound = (population, estimator, n) =>
  slope(estimator, n) ** 2 / (n * (POPULATIONS[population].information ?? 1));

// Moments of an estimate exist below this order: far out, a density that falls like a power leaves no higher ones.
// A Cauchy sample's k-th value from either end has those below k; the sum of n waiting times is near 0 like uⁿ.
export function order(population, estimator, n) {
  if (population === "exponential") return n;
  if (population !== "Cauchy") return Infinity;
  return { median: (n + 1) >> 1, "trimmed mean": Math.floor(n / 4) + 1 }[estimator] ?? 1;
}

// Mean, variance and mean squared error around θ = 1 of numbers given one by one, and the standard
// errors of mean and variance.
export function moments() {
  let [count, center, second, third, fourth, squares] = [0, 0, 0, 0, 0, 0];
  const add = (value) => {
    const [before, gap] = [count, value - center];
    count += 1;
    const [share, product] = [gap / count, (gap * gap * before) / count];
    center += share;
    fourth += product * share ** 2 * (count ** 2 - 3 * count + 3);
    fourth += 6 * share ** 2 * second - 4 * share * third;
    third += product * share * (count - 2) - 3 * share * second;
    second += product;
    squares += (value - 1) ** 2;
  };
  const read = () => {
    const variance = second / count;
    return {
      count,
      mean: center,
      variance,
      mse: squares / count,
      bias: center - 1,
      biasError: Math.sqrt(variance / count),
      varianceError: Math.sqrt(Math.max(fourth / count - variance ** 2, 0) / count),
    };
  };
  return { add, read };
}

export function momentsOf(values) {
  const m = moments();
  values.forEach(m.add);
  return m.read();
}

// ---------------------------------------------------------------- what the reader sees

const [LOW, HIGH, BINS] = [-0.5, 2.5, 120];
const BATCH = 12; // samples per frame
const FIRST = 400; // samples before the reader does anything
const plain = (x, digits) => (Math.abs(x) < 1000 ? format(x, digits) : scientific(x));
const apart = (n, at) => Math.abs(Math.log(n / at));

// The axis of a density, which needs no numbers.
const densityAxis = (highest, label) => ({ domain: [0, 1.1 * highest], ticks: [], label });

// The population and the last sample drawn from it.
const strip = () =>
  panel({
    label: "The population's density and the last sample",
    name: "strip",
    height: 150,
    margin: [24, 16, 42, 16],
    x: ({ view }) => ({ domain: view, label: "one sample: observations x" }),
    y: ({ points }) => densityAxis(Math.max(...points.map(([, f]) => f)), "population"),
    layers: paths("population", "truth"),
    over: paths("dots", "guess"),
    draw({ population, truth, dots, guess }, { x, y, line }, { points, view, values, value }) {
      const inside = (v) => v >= view[0] && v <= view[1];
      const shown = values.filter(inside).map((v) => `M${x(v).toFixed(1)} ${y(0) - 9}v9`);
      population(line(points));
      truth(`M${x(1)} ${y(0)}V${y.range[1]}`);
      dots(shown.join(""));
      guess(inside(value) ? `M${x(value)} ${y(0) - 12}l-6 -10h12Z` : "");
    },
  });

// Where the estimates fell.
const histogram = () =>
  panel({
    label: "Histogram of the estimates",
    name: "histogram",
    height: 210,
    margin: [24, 16, 42, 16],
    x: { domain: [LOW, HIGH], text: (t) => format(t, 1), label: "many samples: estimates of θ" },
    y: ({ peak, shares }) => densityAxis(Math.max(peak, ...shares), "sampling distribution"),
    layers: paths("bars", "bound", "truth"),
    over: { average: "path", note: { tag: "text", class: "tick" } },
    draw(layers, { x, y, curve, width }, { shares, peak, deviation, center, read, outside }) {
      const at = shares.map((_, i) => x(LOW + (i * (HIGH - LOW)) / BINS).toFixed(1));
      const bar = (f, i) => (f ? `M${at[i]} ${y(0)}V${y(f).toFixed(1)}H${at[i + 1] ?? x(HIGH)}V${y(0)}` : "");
      layers.bars(shares.map(bar).join(""));
      const bell = (t) => peak * Math.exp(-(((t - center) / deviation) ** 2) / 2);
      const ends = [Math.max(center - 4 * deviation, LOW), Math.min(center + 4 * deviation, HIGH)];
      layers.bound(curve(bell, ...ends, 80));
      layers.truth(`M${x(1)} ${y(0)}V${y.range[1]}`);
      const seen = read.mean > LOW && read.mean < HIGH;
      layers.average(seen ? `M${x(read.mean)} ${y.range[1] + 11}l-6 -10h12Z` : "");
      const text = outside ? `${percent(outside / read.count)} fall outside` : "";
      layers.note(text, { x: width - 16, y: 14, "text-anchor": "end" });
    },
  });

// The variance at every sample size, against the bound.
const decline = (choose) =>
  panel({
    label: "Variance of the estimates against the sample size, with the Cramér–Rao line",
    name: "decline",
    height: 300,
    margin: [24, 14, 42, 50],
    x: {
      ...{ domain: [SIZES[0] * 0.85, LONGEST * 1.15], logarithmic: true, label: "sample size n" },
      ticks: [3, 10, 30, 100],
    },
    y: ({ lowest }) => ({
      ...{ domain: [lowest, 10], logarithmic: true, label: "variance of the estimates" },
      ticks: [1e-5, 1e-4, 1e-3, 0.01, 0.1, 1, 10].filter((v) => v >= lowest),
      text: (v) => (v < 0.001 ? scientific(v, 0).replace("1·", "") : String(v)),
    }),
    layers: paths("now", "bound", "whiskers"),
    over: { dot: { tag: "circle", r: 4, many: true } },
    drag: ([at]) => choose(SIZES.reduce((best, n) => (apart(n, at) < apart(best, at) ? n : best))),
    draw(layers, { x, y, line }, { population, estimator, n, lowest, reads }) {
      const inside = (v) => v >= lowest && v <= 10;
      const edge = (v) => y(clamp(v, lowest, 10)); // a variance off the scale waits there
      layers.bound(line(SIZES.map((size) => [size, bound(population, estimator, size)])));
      layers.now(`M${x(n)} ${y.range[0]}V${y.range[1]}`);
      const whisker = ({ variance: v, varianceError: e }, i) =>
        inside(v) && Number.isFinite(e) ? `M${x(SIZES[i])} ${edge(v - 2 * e)}V${edge(v + 2 * e)}` : "";
      layers.whiskers(reads.map(whisker).join(""));
      layers.dot(reads, ({ variance }, i) => ({
        ...{ cx: x(SIZES[i]), cy: edge(variance) },
        class: `dot${SIZES[i] === n ? " current" : ""}${inside(variance) ? "" : " off"}`,
      }));
    },
  });

const number = (x, digits) => (Number.isFinite(x) ? plain(x, digits) : "∞");
const within = (x, digits) => (Number.isFinite(x) ? `± ${plain(2 * x, digits)}` : "");

// What was read, but nothing that no larger number of samples would settle.
export function settled(read, moments) {
  const all = { ...read };
  if (moments <= 4) all.varianceError = Infinity;
  if (moments <= 2) [all.variance, all.mse, all.biasError] = [Infinity, Infinity, Infinity];
  if (moments <= 1) [all.mean, all.bias] = [NaN, NaN];
  return all;
}

// The bound's share of the variance, with twice its standard error.
export function efficiency({ variance, varianceError }, limit) {
  const share = limit / variance;
  if (share < 0.005) return "0.00";
  const error = (2 * share * varianceError) / variance;
  return format(share, 2) + (Number.isFinite(error) ? ` ± ${format(error, 2)}` : "");
}

// The numbers in the table: each with what stands behind it.
function numbers(read, limit, regular) {
  const written = format(limit, 5);
  const rows = [
    Number.isNaN(read.bias)
      ? ["bias", "none", "no expectation"]
      : ["bias", signed(read.bias, 4), within(read.biasError, 4)],
    ["variance", number(read.variance, 5), within(read.varianceError, 5)],
    regular
      ? ["Cramér–Rao", written, `efficiency ${efficiency(read, limit)}`]
      : ["Cramér–Rao", `(${written})`, "does not hold here"],
    ["MSE", number(read.mse, 5), "var + bias²"],
  ];
  return rows.map(([name, value, error]) => [name, value, { text: error, class: "error" }]);
}

export default widget("sampling", ({ controls, get, write: put, redraw }) => {
  const offered = get("offered"); // { population: { note, estimators: [...] } }
  const note = paragraph("note");
  const [above, below, values, result, once] = [strip(), histogram(), table({}), resultLine(), memory()];
  const fall = decline((n) => put({ n }));
  const line = span("bound", "");
  const buffer = new Float64Array(LONGEST);
  let [uniform, runs] = [null, null];

  // One sample of 200; its first n observations are the sample of size n.
  function draw() {
    const { draw: observe } = POPULATIONS[get("population")];
    const name = get("estimator");
    for (let i = 0; i < LONGEST; i++) buffer[i] = observe(uniform);
    runs.forEach((run, i) => {
      const part = buffer.subarray(0, SIZES[i]);
      const value = ESTIMATORS[name](part, part.slice().sort());
      run.moments.add(value);
      const bin = Math.floor(((value - LOW) / (HIGH - LOW)) * BINS);
      if (bin in run.bins) run.bins[bin] += 1;
      else run.outside += 1;
      run.value = value;
    });
  }
  function drawMany(count) {
    for (let i = 0; i < count; i++) draw();
    redraw();
  }
  function restart() {
    uniform = random(get("seed"));
    const run = () => ({ moments: moments(), bins: new Uint32Array(BINS), outside: 0, value: 0 });
    runs = SIZES.map(run);
    for (let i = 0; i < FIRST; i++) draw();
  }
  const player = play({ label: "Draw samples", frame: () => drawMany(BATCH), end: redraw });
  const one = button("One sample", () => drawMany(1));
  const again = button("Start again", () => {
    restart();
    redraw();
  });

  const { population, estimator, n } = controls;
  const key = legend({ truth: "the truth, θ = 1", average: "mean of the estimates" });
  key.append(line);
  return {
    layout: [
      div("controls", population, estimator, n),
      note,
      div("runs", player.button, one, again, result),
      columns("panels", [above, below], [values, fall]),
      key,
    ],
    change({ population: people, ...others }) {
      put(people ? { population: people, estimator: offered[people].estimators[0] } : others);
    },
    draw({ population: people, estimator: name, n: size, seed }) {
      once("offered", people, () => {
        estimator.offer(offered[people].estimators.map((e) => [e, e]));
        estimator.set(name);
        write(note, offered[people].note);
        write(
          line,
          `Cramér–Rao: ${people === "uniform" ? "no bound here" : "with this bias none is narrower"}`,
        );
      });
      once("runs", [people, name, seed], restart);
      const at = SIZES.indexOf(size);
      const reads = runs.map((run, i) => settled(run.moments.read(), order(people, name, SIZES[i])));
      const [run, read, limit] = [runs[at], reads[at], bound(people, name, size)];
      const { view } = POPULATIONS[people];
      const points = between(...view, 240).map((x) => [x, density(people, x)]);
      above.draw({ view, points, values: Array.from(buffer.subarray(0, size)), value: run.value });
      const deviation = Math.sqrt(limit);
      const peak = 1 / (deviation * Math.sqrt(2 * Math.PI));
      const shares = Array.from(run.bins, (k) => (k * BINS) / (read.count * (HIGH - LOW)));
      below.draw({ read, shares, deviation, peak, center: slope(name, size), outside: run.outside });
      const lowest = people === "uniform" ? 1e-5 : 1e-3;
      fall.draw({ population: people, estimator: name, n: size, lowest, reads });
      values.draw(numbers(read, limit, people !== "uniform"));
      const bias = Number.isNaN(read.bias) ? "no bias" : `bias ${signed(read.bias, 3)}`;
      const found = `${bias}, variance ${number(read.variance, 4)}, bound ${format(limit, 4)}`;
      result.say(`${counted(read.count, "sample")} of ${size}: ${found}`, player.playing());
    },
    stop: player.stop,
  };
});
