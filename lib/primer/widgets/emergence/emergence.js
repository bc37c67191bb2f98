// Emergence: the same smooth improvement, seen through four measures and a finite test.
//
// The functions above `scores` are the mathematics; the tests compare them with primer.scaling.

import { clamp, columns, counted, format, panel, percent, resultLine, widget } from "../kit/kit.js";
import { scientific } from "../shared/scientific.js";
import { brief } from "../shared/large_numbers.js";
import { dots } from "../shared/pixels.js";
import { firstOf } from "../shared/random.js";

export const tokenProbability = (size) => Math.exp(-0.5 * (size / 1e8) ** -0.3);

export function score(metric, p, k) {
  if (metric === "exact match") return p ** k;
  if (metric === "tokens right") return p;
  if (metric === "Brier score") return (1 - p) ** 2;
  return k * Math.log(p);
}

// The numbers that decide a test: as many as were needed so far.
let drawn = { seed: null, numbers: new Float64Array(0) };
function luck(seed, count) {
  if (drawn.seed !== seed || drawn.numbers.length < count) drawn = { seed, numbers: firstOf(seed, count) };
  return drawn.numbers;
}

// How many events with one chance happen, of those that the numbers decide from one place to another.
function successes(chance, numbers, from, to) {
  let happened = 0;
  for (let i = from; i < to; i++) if (numbers[i] < chance) happened++;
  return happened;
}

// What a test of so many questions shows for each model; likelihood and Brier score read probabilities, which
// no test has to draw.
export function measured(metric, chances, k, items, seed) {
  if (!items || metric === "log likelihood" || metric === "Brier score")
    return chances.map((p) => score(metric, p, k));
  const numbers = luck(seed, items * chances.length);
  return chances.map((p, i) => successes(score(metric, p, k), numbers, i * items, (i + 1) * items) / items);
}

// What the result line says; a short test need not show what rises.
export function describe(metric, k, seen, sizes) {
  const last = seen.at(-1);
  if (metric !== "exact match") {
    const written =
      metric === "tokens right" ? [percent(seen[0]), percent(last)] : [format(seen[0], 2), format(last, 2)];
    const still = metric === "tokens right" ? seen.filter((x, i) => x <= seen[i - 1]).length : 0;
    const how = still
      ? `without a rise at ${counted(still, "step")} in size, by luck; the line, what is expected, rises at each`
      : "a little with every step in size";
    return `${metric[0].toUpperCase()}${metric.slice(1)} ${metric === "tokens right" ? "go" : "goes"} from ${written.join(" to ")}, ${how}: nothing jumps.`;
  }
  const first = seen.findIndex((share) => share > 0);
  if (first < 0) return `Not one answer of ${counted(k, "token")} is right at any size.`;
  const none = first
    ? `The ${first > 1 ? `${first} smallest models get` : "smallest model gets"} none right; the first right answer comes`
    : "Right answers come";
  return `${none} at ${brief(sizes[first], 2)} parameters, and the largest gets ${percent(last, 0)}.`;
}

const LOWEST = 1e-6;
const AXES = {
  "exact match": { domain: [0, 1], label: "share of answers that are all right" },
  "tokens right": { domain: [0, 1], label: "share of tokens that are right" },
  "Brier score": {
    domain: [1, 0],
    label: "Brier score of a token (up is better)",
    ticks: [0, 0.2, 0.4, 0.6, 0.8, 1],
  },
};

const scores = () =>
  panel({
    label: "The score of 21 models against their size",
    name: "scores",
    height: (width) => clamp(width * 0.5, 240, 320),
    margin: [26, 22, 42, 52],
    x: {
      domain: [8e5, 1.25e11],
      label: "parameters N",
      ticks: [1e6, 1e7, 1e8, 1e9, 1e10, 1e11],
      text: (t) => brief(t),
      logarithmic: true,
    },
    y: ({ metric, k, log }) => {
      if (log) {
        return {
          domain: [LOWEST, 1],
          label: AXES[metric].label,
          ticks: [1e-6, 1e-4, 1e-2, 1],
          text: (t) => (t < 0.01 ? scientific(t, 0).replace("1·", "") : String(t)),
          logarithmic: true,
        };
      }
      return AXES[metric] ?? { domain: [-2.1 * k, 0], label: "log likelihood of an answer, in nats" };
    },
    layers: { expected: "path" },
    over: { dot: "path" },
    draw({ expected, dot }, { line, at }, { sizes, truth, seen, log }) {
      const shown = (v) => (log ? Math.max(v, LOWEST) : v);
      expected(line(sizes.map((size, i) => [size, shown(truth[i])])));
      dot(
        dots(
          seen.map((v, i) => at([sizes[i], shown(v)])),
          4.5,
        ),
      );
    },
  });

export default widget("emergence", ({ controls, constants: { sizes } }) => {
  const [plot, result] = [scores(), resultLine()];
  const chances = sizes.map(tokenProbability);
  return {
    layout: [
      columns("controls", [controls.k, controls.items], [controls.metric, controls.logarithmic]),
      plot,
      result,
      controls.seed,
    ],
    draw({ k, items, metric, logarithmic, seed }) {
      const log = logarithmic && metric === "exact match";
      const truth = chances.map((p) => score(metric, p, k));
      const seen = measured(metric, chances, k, items, seed);
      plot.draw({ sizes, truth, seen, metric, k, log });
      result.say(describe(metric, k, seen, sizes));
    },
  };
});
