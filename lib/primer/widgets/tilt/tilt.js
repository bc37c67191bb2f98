// The tilt: what a leash leaves of a reference when replies are rewarded, beside the best of n.
//
// Its mathematics is in policies.js.

import { clamp, columns, counted, format, heading, key, memory, panel, percent } from "../kit/kit.js";
import { resultLine, widget } from "../kit/kit.js";
import { inTurns } from "../shared/in_turns.js";
import { bestOf, climbed, direct, divergence, mean, push, tilted } from "../shared/policies.js";

// The end of an axis that is just long enough, of a few, so that it does not move with every step.
const reaching = (ends, largest) => ends.find((end) => largest <= 0.96 * end) ?? ends.at(-1);

// Where a policy stands in the lower drawing.
const place = (policy, { reference, reward }) => [divergence(policy, reference), mean(policy, reward)];

const bars = (replies, reference) =>
  panel({
    label: "Probability of six replies under the reference, outlined, and under the tilt, filled",
    height: 230,
    margin: [24, 10, 42, 112],
    x: ({ policy, climbing, following, gradient }) => {
      const pushed = climbing.map((p, i) => clamp(p + gradient[i], 0, 1));
      const largest = Math.max(...reference, ...policy, ...climbing, ...following, ...pushed);
      return { domain: [0, reaching([0.4, 0.6, 1], largest)], label: "probability" };
    },
    y: {
      domain: [replies.length - 0.5, -0.5],
      label: "",
      ticks: replies.map((_, i) => i),
      text: (i) => replies[i],
    },
    layers: {
      now: { tag: "rect", many: true },
      before: { tag: "rect", many: true },
      climber: { tag: "circle", many: true, r: 5 },
      direct: { tag: "circle", many: true, r: 4 },
    },
    over: { push: { tag: "path", many: true } },
    draw({ now, before, climber, direct: follower, push: pushed }, { x, y, spot, arrow }, state) {
      const { policy, reference, climbing, following, gradient } = state;
      const bar = (p) => (i) => ({
        x: x(0),
        y: Math.min(y(i - 0.34), y(i + 0.34)),
        width: x(p[i]) - x(0),
        height: Math.abs(y(i + 0.34) - y(i - 0.34)),
      });
      const all = replies.map((_, i) => i);
      now(all, bar(policy));
      before(all, bar(reference));
      climber(all, (i) => spot(climbing[i], i - 0.14));
      follower(all, (i) => spot(following[i], i + 0.16));
      pushed(all, (i) => {
        const to = clamp(climbing[i] + gradient[i], 0, 1);
        const seen = Math.abs(to - climbing[i]) > 0.02;
        return { d: seen ? arrow([climbing[i], i - 0.14], [to, i - 0.14]) : "" };
      });
    },
  });

// The ends of the axes: as far as one of the policies is from the reference, and what the tilt earns there.
const farthest = ({ policies }) => reaching([1, 2, 5], Math.max(...policies.map(([way]) => way)));
const highest = (state) => {
  const end = farthest(state);
  return Math.max(...state.road.filter(([way]) => way <= end).map(([, earned]) => earned));
};

const BETAS = Array.from({ length: 80 }, (_, i) => 0.1 * 300 ** (i / 79));

/** Where the tilts of all leashes stand. */
const roadOf = (reference, reward) =>
  BETAS.map((beta) => place(tilted(reference, reward, beta), { reference, reward }));

const ways = () =>
  panel({
    label: "Mean reward over the divergence: the tilt as a line, its present place, the best of n",
    height: 230,
    margin: [24, 10, 42, 44],
    x: (state) => ({ domain: [0, farthest(state)], label: "KL (nats)" }),
    y: (state) => ({ domain: [0, 1.06 * highest(state)], label: "mean reward" }),
    layers: {
      road: "path",
      best: { tag: "rect", width: 9, height: 9 },
      here: { tag: "circle", r: 7 },
      climber: { tag: "circle", r: 5 },
      direct: { tag: "circle", r: 4 },
    },
    draw({ road, best, here, climber, direct: follower }, { line, at, spot }, { road: places, policies }) {
      const [tilt, chosen, climbing, following] = policies;
      road(line(places));
      here(spot(...tilt));
      const [a, b] = at(chosen);
      best({ x: a - 4.5, y: b - 4.5 });
      climber(spot(...climbing));
      follower(spot(...following));
    },
  });

// What the result line says.
export function describe(replies, { policy, policies }, n, steps) {
  const [[far, earned], [way, gained], ...learners] = policies;
  const most = policy.indexOf(Math.max(...policy));
  const [one, other] = learners.map(([, mark]) => format(mark, 2));
  const trained = `After ${counted(steps, "step")} the policy gradient earns ${one} and DPO ${other}`;
  return `The tilt earns ${format(earned, 2)} at KL ${format(far, 2)} and says “${replies[most]}” in ${percent(policy[most], 0)}; the best of ${n} earns ${format(gained, 2)} at KL ${format(way, 2)}. ${trained}.`;
}

/** All policies for one setting of the controls, and in the same order where they stand. */
export function world({ reward: name, beta, draws, steps }, { reference, rewards, rates }) {
  const reward = rewards[name];
  const given = [reference, reward, beta];
  const policy = tilted(...given);
  const chosen = bestOf(reference, reward, draws);
  const climbing = climbed(...given, steps, rates.climb);
  const following = direct(...given, steps, rates.direct);
  const policies = [policy, chosen, climbing, following].map((one) => place(one, { reference, reward }));
  const gradient = push(climbing, ...given);
  return { reference, reward, policy, chosen, climbing, following, gradient, policies };
}

const learners = () => [key("climber", "policy gradient"), key("direct", "DPO")];

export default widget("tilt", ({ constants, controls, redraw }) => {
  const { replies } = constants;
  const [left, right, result] = [bars(replies, constants.reference), ways(), resultLine()];
  const once = memory();
  const found = ({ reward, beta, draws, steps }) =>
    once("world", [reward, beta, draws, steps], () => {
      const all = world({ reward, beta, draws, steps }, constants);
      return { ...all, road: once("road", reward, () => roadOf(all.reference, all.reward)) };
    });
  const chances = (shown) => {
    left.draw(found(shown));
    return true;
  };
  const places = (shown) => {
    right.draw(found(shown));
    result.say(describe(replies, found(shown), shown.draws, shown.steps));
    return true;
  };
  const picture = inTurns(redraw, chances, places);
  return {
    layout: [
      columns("controls", [controls.reward, controls.steps], [controls.beta, controls.draws]),
      columns(
        "views",
        [heading(key("before", "reference"), key("now", "tilt"), ...learners()), left],
        [heading(key("now", "tilt"), key("best", "best of n"), ...learners()), right],
      ),
      result,
    ],
    draw: picture.draw,
    stop: picture.stop,
  };
});
