// Spend your compute: the loss over the size of the model, for one budget of operations.
//
// The functions above `valley` are the mathematics; the tests compare them with primer.scaling.

import { between, clamp, columns, format, panel, resultLine, significant, widget, set } from "../kit/kit.js";
import { scientific } from "../shared/scientific.js";
import { brief } from "../shared/large_numbers.js";

// A law with a floor { E, A, B, alpha, beta }, or Kaplan's { N_c, D_c, alpha_N, alpha_D }.
export function loss(law, size, tokens) {
  if ("E" in law) return law.E + law.A / size ** law.alpha + law.B / tokens ** law.beta;
  return ((law.N_c / size) ** (law.alpha_N / law.alpha_D) + law.D_c / tokens) ** law.alpha_D;
}

export const tokensFor = (budget, size, inference) => budget / (6 * size) - inference / 3;

export function isoflop(law, budget, size, inference) {
  const tokens = tokensFor(budget, size, inference);
  return tokens > 0 ? loss(law, size, tokens) : Number.POSITIVE_INFINITY;
}

// The size at the bottom of the valley, by the golden section in its logarithm.
export function optimum(law, budget, inference) {
  const golden = (Math.sqrt(5) - 1) / 2;
  const at = (t) => isoflop(law, budget, Math.exp(t), inference);
  // beyond the upper end the later use takes the whole budget
  let [low, high] = [0, Math.log(budget / (6 * Math.max(inference / 3, 1e-9)))];
  for (let i = 0; i < 120; i++) {
    const [a, b] = [high - golden * (high - low), low + golden * (high - low)];
    if (at(a) <= at(b)) high = b;
    else low = a;
  }
  return Math.exp((low + high) / 2);
}

const CLOSE = 0.01; // nats above the bottom of the valley

// The sizes on both sides of the bottom whose loss is higher by `more`.
export function band(law, budget, inference, best, more = CLOSE) {
  const limit = isoflop(law, budget, best, inference) + more;
  return [-1, 1].map((side) => {
    let [inside, outside] = [Math.log(best), Math.log(best) + 40 * side];
    for (let i = 0; i < 60; i++) {
      const middle = (inside + outside) / 2;
      if (isoflop(law, budget, Math.exp(middle), inference) <= limit) inside = middle;
      else outside = middle;
    }
    return Math.exp(inside);
  });
}

const many = (x) => (x < 1e15 ? brief(x) : scientific(x, 1));
const ratio = (x) => (x < 0.1 || x >= 99_950 ? scientific(x, 1) : significant(x));

// What the result line says.
export function describe(law, budget, size, inference) {
  const [best, now] = [optimum(law, budget, inference), tokensFor(budget, size, inference)];
  const [low, high] = band(law, budget, inference, best);
  const fewest = tokensFor(budget, best, inference);
  const here =
    now > 0
      ? `${many(size)} parameters read ${many(now)} tokens, ${ratio(now / size)} for each: loss ` +
        `${format(loss(law, size, now))}.`
      : `${many(size)} parameters: using them later costs more than the whole budget.`;
  return (
    `${here} Lowest: ${many(best)} parameters, ${ratio(fewest / best)} tokens for each, loss ` +
    `${format(loss(law, best, fewest))}; within ${CLOSE} of it from ${many(low)} to ${many(high)}.`
  );
}

const DECADES = Array.from({ length: 24 }, (_, i) => 10 ** i);
const sizeTicks = (domain) => DECADES.filter((t) => t >= domain[0] && t <= domain[1]);

const domainOf = ({ best, parameters }) => [
  Math.min(best / 100, parameters / 2),
  Math.max(best * 100, parameters * 2),
];

const valley = (move) =>
  panel({
    label: "Size of the model: its loss under the budget",
    name: "valley",
    role: "slider",
    height: (width) => clamp(width * 0.5, 250, 330),
    margin: [26, 14, 42, 48],
    x: (state) => {
      const domain = domainOf(state);
      const ticks = sizeTicks(domain);
      const kept = ticks.length > 6 ? ticks.filter((_, i) => i % 2 === 0) : ticks;
      return { domain, label: "parameters N", ticks: kept, text: many, logarithmic: true };
    },
    y: ({ lowest, law }) => {
      const floor = law.E ?? 0;
      return {
        domain: [lowest - 0.04 * (lowest - floor), lowest + 0.9 * (lowest - floor)],
        label: "loss, nats for a token",
      };
    },
    layers: { model: { tag: "path" }, band: "path", curve: "path" },
    over: {
      name: { tag: "text", many: true, class: "name" },
      bottom: { tag: "circle", r: 6 },
      now: { tag: "circle", r: 6 },
    },
    drag: ([size]) => move(size),
    step: (dx, dy) => move(null, dx + dy),
    draw(
      layers,
      { x, y, line, spot, element },
      { law, budget, parameters, inference, best, sides, lowest, models },
    ) {
      const [low, high] = x.domain.map(Math.log);
      const at = (size) => Math.min(isoflop(law, budget, size, inference), 2 * y.domain[1]);
      layers.curve(line(between(low, high, 160).map((t) => [Math.exp(t), at(Math.exp(t))])));
      const inside = models.filter(([, size]) => size > x.domain[0] && size < x.domain[1]);
      layers.model(inside.map(([, size]) => `M${x(size)} ${y.range[0]}V${y.range[1]}`).join(""));
      layers.band(`M${x(sides[0])} ${y(lowest)}H${x(sides[1])}`);
      layers.bottom(spot(best, lowest));
      layers.now(spot(parameters, clamp(at(parameters), ...y.domain)));
      const room = x.range[1] - 68; // a name that would leave the plot stands on the other side of its line
      layers.name(inside, ([words, size], i) => ({
        words,
        x: x(size) + (x(size) < room ? 4 : -4),
        y: y.range[1] + 12 + 14 * i,
        "text-anchor": x(size) < room ? "start" : "end",
      }));
      set(element, {
        "aria-valuetext": `${many(parameters)} parameters`,
        "aria-valuenow": Math.log10(parameters),
      });
    },
  });

export default widget("spend-compute", ({ controls, constants: { laws, models }, read, write }) => {
  const move = (size, steps = 0) => {
    const wanted = size ?? read().parameters * 10 ** (0.05 * steps);
    write({ parameters: controls.parameters.within(Number(wanted.toPrecision(3))) });
  };
  const [plot, result] = [valley(move), resultLine()];
  return {
    layout: [
      columns("controls", [controls.budget, controls.parameters], [controls.law, controls.inference]),
      plot,
      result,
    ],
    texts: { budget: (v) => scientific(v, 2), parameters: many, inference: (v) => `${many(v)} tokens` },
    draw(state) {
      const law = laws[state.law];
      const best = optimum(law, state.budget, state.inference);
      const lowest = isoflop(law, state.budget, best, state.inference);
      const sides = band(law, state.budget, state.inference, best);
      plot.draw({ ...state, law, best, lowest, sides, models });
      result.say(describe(law, state.budget, state.parameters, state.inference));
    },
  };
});
