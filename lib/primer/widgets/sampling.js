// A laboratory of sampling: draw samples without end and watch where the estimates fall.
//
// The functions above `strip` are the mathematics; the tests compare them with primer.statistics.

import {
  axes,
  button,
  clamp,
  format,
  html,
  linear,
  logarithmic,
  mount,
  path,
  play,
  resultLine,
  select,
  set,
  slider,
  svg,
  update,
} from "./kit.js";
import { scientific } from "./powers.js";
import { random } from "./random.js";

export const SIZES = [3, 5, 8, 12, 20, 32, 50, 80, 120, 200];
const LONGEST = SIZES[SIZES.length - 1];

// Every population has the parameter θ = 1.  Its draw turns uniform numbers into an observation.
const POPULATIONS = {
  normal: {
    information: 1,
    view: [-2, 4],
    density: (x) => Math.exp(-((x - 1) ** 2) / 2) / Math.sqrt(2 * Math.PI),
    draw: (uniform) => 1 + Math.sqrt(-2 * Math.log(1 - uniform())) * Math.cos(2 * Math.PI * uniform()),
  },
  Laplace: {
    information: 1,
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
    information: 1,
    view: [-0.5, 5],
    density: (x) => (x < 0 ? 0 : Math.exp(-x)),
    draw: (uniform) => -Math.log(1 - uniform()),
  },
  uniform: {
    information: 1,
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

const total = (x, from = 0, to = x.length) => {
  let sum = 0;
  for (let i = from; i < to; i++) sum += x[i];
  return sum;
};
const mean = (x) => total(x) / x.length;
const middle = (s) => (s[(s.length - 1) >> 1] + s[s.length >> 1]) / 2;

// An estimator takes a sample as drawn and the same sample in order.
const ESTIMATORS = {
  mean,
  median: (_, s) => middle(s),
  "trimmed mean": (x, s) => {
    const cut = Math.floor(x.length / 4);
    return total(s, cut, s.length - cut) / (s.length - 2 * cut);
  },
  midrange: (_, s) => (s[0] + s[s.length - 1]) / 2,
  "first value": (x) => x[0],
  "0.8 × mean": (x) => 0.8 * mean(x),
  "1 / mean": (x) => 1 / mean(x),
  "(n − 1) / sum": (x) => (x.length - 1) / total(x),
  "(n − 2) / sum": (x) => (x.length - 2) / total(x),
  maximum: (_, s) => s[s.length - 1],
  "(n + 1)/n × maximum": (x, s) => ((x.length + 1) / x.length) * s[s.length - 1],
  "2 × mean": (x) => 2 * mean(x),
};

export const estimate = (estimator, x) => ESTIMATORS[estimator](x, Float64Array.from(x).sort());

// How the expectation of an estimator changes with θ; 1 for an unbiased one.
export const slope = (estimator, n) =>
  ({ "0.8 × mean": 0.8, "1 / mean": n / (n - 1), "(n − 2) / sum": (n - 2) / (n - 1), maximum: n / (n + 1) })[
    estimator
  ] ?? 1;

// The Cramér–Rao bound ψ′² / (n I₁) at θ = 1.
export const bound = (population, estimator, n) =>
  slope(estimator, n) ** 2 / (n * POPULATIONS[population].information);

// Mean, variance and mean squared error around θ = 1 of numbers given one by one, and the standard
// errors of mean and variance.
export function moments() {
  let [count, center, second, third, fourth, squares] = [0, 0, 0, 0, 0, 0];
  const add = (value) => {
    const [before, gap] = [count, value - center];
    count += 1;
    const [share, product] = [gap / count, (gap * gap * before) / count];
    center += share;
    fourth +=
      product * share * share * (count * count - 3 * count + 3) +
      6 * share * share * second -
      4 * share * third;
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
const between = (low, high, count) =>
  Array.from({ length: count + 1 }, (_, i) => low + ((high - low) * i) / count);
const signed = (x, digits) => (x < 0 ? "" : "+") + format(x, digits);
const plain = (x, digits) => (Math.abs(x) < 1000 ? format(x, digits) : scientific(x));

// The population and the last sample drawn from it.
function strip() {
  const grid = svg("g");
  const [curve, dots, truth] = ["population", "dots", "truth"].map((name) => svg("path", { class: name }));
  const guess = svg("path", { class: "guess" });
  const drawing = svg(
    "svg",
    { class: "strip", role: "img", "aria-label": "The population's density and the last sample" },
    grid,
    curve,
    truth,
    dots,
    guess,
  );

  function draw({ population, x: values, value }) {
    const [width, height, { view }] = [drawing.clientWidth || 600, 150, POPULATIONS[population]];
    const x = linear(view, [16, width - 16]);
    const points = between(...view, 240).map((at) => [at, density(population, at)]);
    const y = linear([0, 1.1 * Math.max(...points.map(([, f]) => f))], [height - 42, 24]);
    axes(grid, { x, y, yTicks: [], xLabel: "one sample: observations x", yLabel: "population" });
    set(curve, { d: path(points.map(([at, f]) => [x(at), y(f)])) });
    set(truth, { d: `M${x(1)} ${y(0)}V${y.range[1]}` });
    const inside = (v) => v >= view[0] && v <= view[1];
    set(dots, {
      d: values
        .filter(inside)
        .map((v) => `M${x(v).toFixed(1)} ${y(0) - 9}v9`)
        .join(""),
    });
    set(guess, { d: inside(value) ? `M${x(value)} ${y(0) - 12}l-6 -10h12Z` : "" });
    set(drawing, { viewBox: `0 0 ${width} ${height}`, height });
  }
  return { drawing, draw };
}

// Where the estimates fell.
function histogram() {
  const grid = svg("g");
  const [bars, normal, truth, average] = ["bars", "bound", "truth", "average"].map((name) =>
    svg("path", { class: name }),
  );
  const note = svg("text", { class: "tick" });
  const drawing = svg(
    "svg",
    { class: "histogram", role: "img", "aria-label": "Histogram of the estimates" },
    grid,
    bars,
    normal,
    truth,
    average,
    note,
  );

  function draw({ bins, read, limit, center, outside }) {
    const [width, height, step] = [drawing.clientWidth || 600, 210, (HIGH - LOW) / BINS];
    const x = linear([LOW, HIGH], [16, width - 16]);
    const deviation = Math.sqrt(limit);
    const peak = 1 / (deviation * Math.sqrt(2 * Math.PI));
    const shares = Array.from(bins, (k) => k / (read.count * step));
    const y = linear([0, 1.1 * Math.max(peak, ...shares)], [height - 42, 24]);
    axes(grid, {
      x,
      y,
      yTicks: [],
      xText: (t) => format(t, 1),
      xLabel: "many samples: estimates of θ",
      yLabel: "sampling distribution",
    });
    set(bars, {
      d: shares
        .map((f, i) =>
          f
            ? `M${x(LOW + i * step).toFixed(1)} ${y(0)}V${y(f).toFixed(1)}H${x(LOW + (i + 1) * step).toFixed(1)}V${y(0)}`
            : "",
        )
        .join(""),
    });
    const curve = between(center - 4 * deviation, center + 4 * deviation, 80).filter(
      (t) => t >= LOW && t <= HIGH,
    );
    set(normal, {
      d: path(curve.map((t) => [x(t), y(peak * Math.exp(-(((t - center) / deviation) ** 2) / 2))])),
    });
    set(truth, { d: `M${x(1)} ${y(0)}V${y.range[1]}` });
    set(average, {
      d: read.mean > LOW && read.mean < HIGH ? `M${x(read.mean)} ${y.range[1] + 11}l-6 -10h12Z` : "",
    });
    set(note, { x: width - 16, y: 14, "text-anchor": "end" });
    note.textContent = outside ? `${format((100 * outside) / read.count, 1)}% fall outside` : "";
    set(drawing, { viewBox: `0 0 ${width} ${height}`, height });
  }
  return { drawing, draw };
}

// The variance at every sample size, against the bound.
function decline(choose) {
  const grid = svg("g");
  const [line, whiskers, now] = ["bound", "whiskers", "now"].map((name) => svg("path", { class: name }));
  const points = SIZES.map(() => svg("circle", { r: 4, class: "dot" }));
  const drawing = svg(
    "svg",
    {
      class: "decline",
      role: "img",
      "aria-label": "Variance of the estimates against the sample size, with the Cramér–Rao line",
    },
    grid,
    now,
    line,
    whiskers,
    ...points,
  );

  function draw({ population, estimator, n, reads }) {
    const [width, height] = [drawing.clientWidth || 300, 300];
    const x = logarithmic([SIZES[0] * 0.85, LONGEST * 1.15], [50, width - 14]);
    const lowest = population === "uniform" ? 1e-5 : 1e-3;
    const y = logarithmic([lowest, 10], [height - 42, 24]);
    const inside = (v) => v >= lowest && v <= 10;
    axes(grid, {
      x,
      y,
      xTicks: [3, 10, 30, 100],
      yTicks: [1e-5, 1e-4, 1e-3, 0.01, 0.1, 1, 10].filter((v) => v >= lowest),
      yText: (v) => (v < 0.001 ? scientific(v, 0).replace("1·", "") : String(v)),
      xLabel: "sample size n",
      yLabel: "variance of the estimates",
    });
    set(line, { d: path(SIZES.map((size) => [x(size), y(bound(population, estimator, size))])) });
    set(now, { d: `M${x(n)} ${y.range[0]}V${y.range[1]}` });
    set(whiskers, {
      d: reads
        .map(({ variance: v, varianceError: e }, i) =>
          inside(v) ? `M${x(SIZES[i])} ${y(Math.max(v - 2 * e, lowest))}V${y(Math.min(v + 2 * e, 10))}` : "",
        )
        .join(""),
    });
    points.forEach((point, i) => {
      // a variance off the scale waits at its edge
      const at = y(clamp(reads[i].variance, lowest, 10));
      const kind = `${SIZES[i] === n ? " current" : ""}${inside(reads[i].variance) ? "" : " off"}`;
      set(point, { cx: x(SIZES[i]), cy: at, class: `dot${kind}` });
    });
    set(drawing, { viewBox: `0 0 ${width} ${height}`, height });
  }
  set(drawing, {
    onclick: (event) => {
      const box = drawing.getBoundingClientRect();
      const at = logarithmic([SIZES[0] * 0.85, LONGEST * 1.15], [50, box.width - 14]).invert(
        event.clientX - box.left,
      );
      choose(
        SIZES.reduce((best, size) =>
          Math.abs(Math.log(size / at)) < Math.abs(Math.log(best / at)) ? size : best,
        ),
      );
    },
  });
  return { drawing, draw };
}

// The bound's share of the variance, with twice its standard error.
function efficiency({ variance, varianceError }, limit) {
  const share = limit / variance;
  return share < 0.005
    ? "0.00"
    : `${format(share, 2)} ± ${format((2 * share * varianceError) / variance, 2)}`;
}

const NUMBERS = ["bias", "variance", "Cramér–Rao", "MSE"];

function render({ model, el }) {
  const get = (name) => model.get(name);
  const offered = get("offered"); // { population: { note, estimators: [...] } }
  const population = select({
    label: "Population",
    options: Object.keys(offered).map((name) => [name, name]),
    value: get("population"),
    change: (name) => update(model, { population: name, estimator: offered[name].estimators[0] }),
  });
  const estimator = select({
    label: "Estimator",
    options: [],
    value: "",
    change: (name) => update(model, { estimator: name }),
  });
  const n = slider({
    label: "Sample size n",
    min: 0,
    max: SIZES.length - 1,
    value: SIZES.indexOf(get("n")),
    text: (i) => String(SIZES[i]),
    change: (i) => update(model, { n: SIZES[i] }),
  });
  const note = html("p", { class: "note" });
  const [above, below] = [strip(), histogram()];
  const fall = decline((size) => update(model, { n: size }));
  const cells = NUMBERS.map(() => [html("td"), html("td", { class: "error" })]);
  const table = html(
    "table",
    {},
    html(
      "tbody",
      {},
      ...NUMBERS.map((name, i) => html("tr", {}, html("th", { scope: "row" }, name), ...cells[i])),
    ),
  );
  const result = resultLine();

  let [state, listed, uniform, runs, last] = ["", "", null, null, null];
  const buffer = new Float64Array(LONGEST);

  // One sample of 200; its first n observations are the sample of size n.
  function once() {
    const { draw: observe } = POPULATIONS[get("population")];
    const name = get("estimator");
    for (let i = 0; i < LONGEST; i++) buffer[i] = observe(uniform);
    runs.forEach((run, i) => {
      const part = buffer.subarray(0, SIZES[i]);
      const value = ESTIMATORS[name](part, part.slice().sort());
      run.moments.add(value);
      const bin = Math.floor(((value - LOW) / (HIGH - LOW)) * BINS);
      if (bin >= 0 && bin < BINS) run.bins[bin] += 1;
      else run.outside += 1;
      run.value = value;
    });
    last = buffer;
  }
  function restart() {
    uniform = random(get("seed"));
    runs = SIZES.map(() => ({ moments: moments(), bins: new Uint32Array(BINS), outside: 0, value: 0 }));
    for (let i = 0; i < FIRST; i++) once();
  }
  const player = play({
    label: "Draw samples",
    frame: () => {
      for (let i = 0; i < BATCH; i++) once();
      draw();
    },
  });
  const single = button("One sample", () => {
    once();
    draw();
  });
  const again = button("Start again", () => {
    restart();
    draw();
  });

  function draw() {
    const [people, name, size] = ["population", "estimator", "n"].map(get);
    if (listed !== people) {
      listed = people;
      estimator.input.replaceChildren(
        ...offered[people].estimators.map((e) => html("option", { value: e }, e)),
      );
      note.textContent = offered[people].note;
    }
    const now = JSON.stringify([people, name, get("seed")]);
    if (now !== state) {
      state = now;
      restart();
    }
    const at = SIZES.indexOf(size);
    const reads = runs.map((run) => run.moments.read());
    const [run, read, limit] = [runs[at], reads[at], bound(people, name, size)];
    population.set(people);
    estimator.set(name);
    n.set(at);
    above.draw({ population: people, x: Array.from(last.subarray(0, size)), value: run.value });
    below.draw({ bins: run.bins, read, limit, center: slope(name, size), outside: run.outside });
    fall.draw({ population: people, estimator: name, n: size, reads });
    const regular = people !== "uniform";
    const rows = [
      [signed(read.bias, 4), `± ${plain(2 * read.biasError, 4)}`],
      [plain(read.variance, 5), `± ${plain(2 * read.varianceError, 5)}`],
      [
        regular ? format(limit, 5) : `(${format(limit, 5)})`,
        regular ? `efficiency ${efficiency(read, limit)}` : "does not hold here",
      ],
      [plain(read.mse, 5), "var + bias²"],
    ];
    rows.forEach((row, i) =>
      row.forEach((text, j) => {
        cells[i][j].textContent = text;
      }),
    );
    result.say(
      `${read.count.toLocaleString("en")} samples of ${size}: bias ${signed(read.bias, 3)}, variance ${plain(read.variance, 4)}, bound ${format(limit, 4)}`,
      player.playing(),
    );
  }

  el.classList.add("sampling");
  el.append(
    html("div", { class: "controls" }, population.row, estimator.row, n.row),
    note,
    html("div", { class: "runs" }, player.button, single, again, result.row),
    html(
      "div",
      { class: "panels" },
      html("div", {}, above.drawing, below.drawing),
      html("div", {}, table, fall.drawing),
    ),
    html(
      "p",
      { class: "legend" },
      html("span", { class: "truth" }, "the truth, θ = 1"),
      html("span", { class: "average" }, "mean of the estimates"),
      html("span", { class: "bound" }, "Cramér–Rao: no unbiased estimate is narrower"),
    ),
  );
  const unmount = mount({ model, el, traits: ["population", "estimator", "n", "seed"], draw });
  return () => {
    player.stop();
    unmount();
  };
}

export default { render };
