// Which question gets the push: what a group of replies raises, by three ways to compare them.
//
// The functions above `LEFT` are the mathematics; the tests compare them with primer.reasoning.

import {
  between,
  clamp,
  columns,
  div,
  format,
  heading,
  key,
  memory,
  named,
  panel,
  percent,
  resultLine,
  short,
  sum,
  widget,
} from "../kit/kit.js";
import { axisEnd } from "../shared/axis_end.js";
import { table } from "../shared/table.js";
import { chances as binomial } from "../shared/binomial.js";
import { aroundMarks, news } from "../shared/in_turns.js";
import { dots } from "../shared/pixels.js";

/** By how much a step moves the log-odds after a group with c right replies of n: PUSHES[kind](c, n). */
export const PUSHES = {
  "leave one out": (c, n) => (c * (n - c)) / (n * (n - 1)),
  mean: (c, n) => (c * (n - c)) / (n * n),
  spread: (c, n) => Math.sqrt(c * (n - c)) / n,
};

/** The probabilities of 0, 1, … n right replies. */
export const law = (n, p) => binomial(n, p);

/** The pushes of groups with 0, 1, … n right replies. */
export const ofGroups = (kind, n) => Array.from({ length: n + 1 }, (_, k) => PUSHES[kind](k, n));

// The mean of pushes, one for each number of right replies, by how often there are so many.
function meanOf(pushes, often) {
  let total = 0;
  for (let k = 0; k < pushes.length; k++) total += often[k] * pushes[k];
  return total;
}

/** The mean push of the log-odds of a question that is right with chance p. */
export const push = (kind, n, p) => meanOf(ofGroups(kind, n), law(n, p));

/** How often a group tells nothing, since all its replies are right or all wrong. */
export const dead = (n, p) => p ** n + (1 - p) ** n;

/** The mean pushes of several questions by all kinds, { kind: […] }; the law of each question serves them all. */
export function allPushes(n, chances) {
  const laws = chances.map((p) => law(n, p));
  return named(Object.keys(PUSHES), (kind) => {
    const pushes = ofGroups(kind, n);
    return laws.map((often) => meanOf(pushes, often));
  });
}

const parts = (pushes) => pushes.map((x) => x / sum(pushes));

/** Each question's share of the whole push. */
export const shares = (kind, n, chances) => parts(allPushes(n, chances)[kind]);

const logit = (p) => Math.log(p / (1 - p));
const sigmoid = (z) => 1 / (1 + Math.exp(-z));

/** The chance at a place on the axis of log-odds, in thousandths, between `least` and 1 − `least`. */
export const chanceAt = (z, least) => clamp(Math.round(1000 * sigmoid(z)) / 1000, least, 1 - least);

/** What the result line says. */
export function describe({ kind, n, question, chances }, { said, names }) {
  const [own, pushes, name] = [chances[question], allPushes(n, chances)[kind], names[question]];
  const share = parts(pushes);
  const most = share.indexOf(Math.max(...share));
  const moved = `the log-odds of ${name} (p = ${short(own, 3)}) move by ${format(pushes[question], 3)} on average`;
  const part = `${percent(share[question], 0)} of the whole push`;
  const end = most === question ? "no other gets more" : `${names[most]} gets ${percent(share[most], 0)}`;
  const silent = `${percent(dead(n, own), 0)} of the groups of ${name} are dead, all right or all wrong`;
  return `${said[kind]}, groups of ${n}: ${moved}, ${part}; ${end}. ${silent}.`;
}

// ---------------------------------------------------------------- what the reader sees

const LEFT = 44;
const classOf = (kind) => kind.replaceAll(" ", "-");
const TICKS = [0.01, 0.1, 0.5, 0.9, 0.99].map(logit);
const HIGHEST = 0.6;

const curves = (kinds, { names, least, reach }, move, take) =>
  panel({
    label: "The mean push of the log-odds over the chance to be right, and five questions on the curve",
    name: "curves",
    height: (width) => clamp(0.62 * width, 190, 250),
    margin: [24, 10, 42, LEFT],
    x: {
      domain: [-reach, reach],
      label: "chance to be right, spaced by log-odds",
      ticks: TICKS,
      text: (z) => short(sigmoid(z), 2),
    },
    y: { domain: [0, HIGHEST], label: "push of the log-odds", ticks: [0, 0.2, 0.4, 0.6] },
    layers: { road: { tag: "path", many: true } },
    over: { dot: { tag: "circle", many: true, r: 6 }, name: { tag: "text", many: true } },
    marks: [
      {
        count: () => names.length,
        at: ({ chances, pushes }, i) => [logit(chances[i]), pushes[i]],
        label: ({ chances, pushes }, i) =>
          `Question ${names[i]}: p = ${short(chances[i], 3)}, pushed by ${format(pushes[i], 3)}`,
        move: ([z], i) => move(chanceAt(z, least), i),
        step: [0.12, 0],
        take,
      },
    ],
    draw({ road, dot, name }, { line, x, y, spot }, { roads, kind, chances, pushes, question }) {
      road(kinds, (one) => ({
        class: `road ${classOf(one)}${one === kind ? " chosen" : ""}`,
        d: line(roads[one]),
      }));
      dot(chances, (p, i) => ({
        class: i === question ? "dot looked" : "dot",
        ...spot(logit(p), pushes[i]),
      }));
      name(chances, (p, i) => ({
        ...{ x: x(logit(p)), y: y(pushes[i]) - 11, "text-anchor": "middle", words: names[i] },
      }));
    },
  });

// The axis of right replies, the same in both drawings.
const right = ({ n }, label) => ({
  domain: [-0.7, n + 0.7],
  label,
  ticks: [0, n / 2, n],
  text: (k) => short(k, 1),
});

const groups = () =>
  panel({
    label: "The push after a group with c right replies",
    name: "groups",
    height: 104,
    margin: [24, 10, 22, LEFT],
    x: (state) => right(state, ""),
    y: { domain: [0, HIGHEST], label: "push of a group with c right", ticks: [0, 0.3, 0.6] },
    layers: { road: "path" },
    over: { dot: { tag: "path", many: true } },
    draw({ road, dot }, { line, at }, { n, kind, each }) {
      const points = each.map((height, k) => [k, height]);
      const round = (some) => dots(some.map(at), n > 16 ? 2 : 4);
      road(line(points), { class: `road chosen ${classOf(kind)}` });
      dot([
        { class: `dot ${classOf(kind)}`, d: round(points.slice(1, -1)) },
        { class: "dot dead", d: round([points[0], points[n]]) },
      ]);
    },
  });

const often = () =>
  panel({
    label: "How often c replies of a group are right; dead groups in another color",
    name: "often",
    height: 128,
    margin: [24, 10, 42, LEFT],
    x: (state) => right(state, `right replies c of ${state.n}`),
    y: ({ most }) => ({ domain: [0, most], label: "how often c are right" }),
    layers: { alive: "path", dead: "path" },
    draw({ alive, dead: silent }, { x, y }, { n, chances_of_k: all }) {
      const half = 0.42 * (x(1) - x(0));
      const stand = (some) =>
        all.map((c, k) => (some(k) ? `M${x(k) - half} ${y(0)}V${y(c)}h${2 * half}V${y(0)}Z` : "")).join("");
      alive(stand((k) => k % n !== 0));
      silent(stand((k) => k % n === 0));
    },
  });

export default widget("group-weights", ({ constants, controls, read, write: put, redraw }) => {
  const { names, reach, grid } = constants;
  const kinds = Object.keys(PUSHES); // a notebook's file sorts the names
  const places = between(-reach, reach, grid - 1);
  const move = (p, i) => put({ chances: read().chances.with(i, p), question: i });
  const look = (i) => put({ question: i });
  const [mean, each, counts] = [curves(kinds, constants, move, look), groups(), often()];
  const list = table({ head: ["question", "p", "dead", ...kinds] });
  const result = resultLine();
  const [once, anew] = [memory(), news()];
  // The pushes of the questions, by each kind.
  const moved = ({ n, chances }) => once("moved", [n, chances], () => allPushes(n, chances));
  const show = (state) => {
    const { n, kind, question, chances } = state;
    return anew("mean", [n, kind, question, chances], () => {
      const roads = once("roads", n, () => {
        const found = allPushes(n, places.map(sigmoid));
        return named(kinds, (one) => found[one].map((height, i) => [places[i], height]));
      });
      mean.draw({ kind, question, chances, roads, pushes: moved(state)[kind] });
    });
  };
  const follow = ({ n, kind, question, chances }) => {
    each.draw({ n, kind, each: ofGroups(kind, n) });
    const all = law(n, chances[question]);
    counts.draw({ n, chances_of_k: all, most: Math.min(1, axisEnd(Math.max(...all))) });
    return true;
  };
  const tell = (state) => {
    const { n, kind, question, chances } = state;
    const gets = kinds.map((one) => parts(moved(state)[one]));
    const largest = gets.map((part) => Math.max(...part));
    const rows = chances.map((p, i) => [
      names[i],
      short(p, 3),
      percent(dead(n, p), 0),
      ...gets.map((part, j) => ({
        text: percent(part[i], 1),
        class: `${part[i] === largest[j] ? "most" : ""}${kinds[j] === kind ? " used" : ""}`.trim(),
      })),
    ]);
    list.draw(rows, { chosen: question });
    result.say(describe(state, constants));
    return true;
  };
  const picture = aroundMarks(redraw, show, follow, tell);
  const keys = kinds.map((kind) => key(classOf(kind), kind));
  return {
    layout: [
      columns("controls", [controls.kind], [controls.n, controls.question]),
      columns(
        "views",
        [heading(...keys), mean],
        [heading(key("alive", "groups that tell"), key("dead", "dead groups")), each, counts],
      ),
      heading("Of the whole push, each way, a question gets"),
      div("shares", list),
      result,
    ],
    draw: picture.draw,
    stop: picture.stop,
  };
});
