// The tilt: what a leash leaves of a reference when replies are rewarded, beside the best of n.
//
// The functions above `bars` are the mathematics; the tests compare them with primer.alignment.

import { columns, format, heading, key, panel, percent, resultLine, sum, widget } from "./kit.js";

// The reference times e^(R/β), normalized; the largest exponent is taken off first.
export function tilted(reference, reward, beta) {
  const most = Math.max(...reward);
  const weights = reference.map((p, i) => p * Math.exp((reward[i] - most) / beta));
  const total = sum(weights);
  return weights.map((w) => w / total);
}

// The best of n draws: F(r)ⁿ − F(r⁻)ⁿ, shared among replies of one reward by their probability.
export function bestOf(reference, reward, n) {
  const mass = (keep) => sum(reference.filter((_, i) => keep(reward[i])));
  return reference.map((p, i) => {
    const [upto, below] = [mass((r) => r <= reward[i]), mass((r) => r < reward[i])];
    return (p * (upto ** n - below ** n)) / (upto - below);
  });
}

export const divergence = (p, q) => sum(p.map((x, i) => (x > 0 ? x * Math.log(x / q[i]) : 0)));

const mean = (p, reward) => sum(p.map((x, i) => x * reward[i]));

// Where a policy stands in the lower drawing.
const place = (policy, { reference, reward }) => [divergence(policy, reference), mean(policy, reward)];

const bars = (replies) =>
  panel({
    label: "Probability of six replies under the reference, outlined, and under the tilt, filled",
    height: 230,
    margin: [24, 10, 42, 112],
    x: { domain: [0, 1], label: "probability", ticks: [0, 0.25, 0.5, 0.75, 1] },
    y: {
      domain: [replies.length - 0.5, -0.5],
      label: "",
      ticks: replies.map((_, i) => i),
      text: (i) => replies[i],
    },
    layers: { now: { tag: "rect", many: true }, before: { tag: "rect", many: true } },
    draw({ now, before }, { x, y }, { policy, reference }) {
      const bar = (p) => (i) => ({
        x: x(0),
        y: Math.min(y(i - 0.34), y(i + 0.34)),
        width: x(p[i]) - x(0),
        height: Math.abs(y(i + 0.34) - y(i - 0.34)),
      });
      const all = replies.map((_, i) => i);
      now(all, bar(policy));
      before(all, bar(reference));
    },
  });

const ways = () =>
  panel({
    label: "Mean reward over the divergence: the tilt as a line, its present place, the best of n",
    height: 230,
    margin: [24, 10, 42, 44],
    x: { domain: [0, 5], label: "KL (nats)" },
    y: ({ reward }) => ({ domain: [0, Math.max(...reward) * 1.05], label: "mean reward" }),
    layers: {
      road: "path",
      best: { tag: "rect", width: 9, height: 9 },
      here: { tag: "circle", r: 6 },
    },
    draw({ road, best, here }, { line, at }, state) {
      const { reference, reward, policy, chosen } = state;
      const betas = Array.from({ length: 80 }, (_, i) => 0.1 * 300 ** (i / 79));
      road(line(betas.map((beta) => place(tilted(reference, reward, beta), state))));
      const [cx, cy] = at(place(policy, state));
      here({ cx, cy });
      const [a, b] = at(place(chosen, state));
      best({ x: a - 4.5, y: b - 4.5 });
    },
  });

// What the result line says.
export function describe(replies, reference, reward, beta, n) {
  const [policy, chosen] = [tilted(reference, reward, beta), bestOf(reference, reward, n)];
  const state = { reference, reward };
  const [[far, earned], [way, gained]] = [place(policy, state), place(chosen, state)];
  const most = policy.indexOf(Math.max(...policy));
  return `The tilt earns ${format(earned, 2)} at KL ${format(far, 2)} and says “${replies[most]}” in ${percent(policy[most], 0)}; the best of ${n} earns ${format(gained, 2)} at KL ${format(way, 2)}.`;
}

export default widget("tilt", ({ constants, controls }) => {
  const { replies, reference, rewards } = constants;
  const [left, right, result] = [bars(replies), ways(), resultLine()];
  return {
    layout: [
      columns("controls", [controls.reward.row], [controls.beta.row, controls.draws.row]),
      columns(
        "views",
        [heading(key("before", "reference"), key("now", "tilt")), left.element],
        [heading(key("now", "tilt"), key("best", "best of n")), right.element],
      ),
      result.row,
    ],
    draw({ reward: name, beta, draws }) {
      const reward = rewards[name];
      const policy = tilted(reference, reward, beta);
      const state = { reference, reward, policy, chosen: bestOf(reference, reward, draws) };
      left.draw(state);
      right.draw(state);
      result.say(describe(replies, reference, reward, beta, draws));
    },
  };
});
