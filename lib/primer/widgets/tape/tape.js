// A tape played backward: an expression as a graph, its gradients node by node, and two bugs.
//
// The functions above `WIDE` are the mathematics; the tests compare them with primer.networks.

import { button, clamp, columns, div, format, heading, key, panel } from "../kit/kit.js";
import { resultLine, short, widget, write as put } from "../kit/kit.js";
import { table } from "../shared/table.js";
import { play } from "../shared/play.js";

// What a node computes of its operands, and its slope with respect to each of them.
const OPS = {
  "+": [(a, b) => a + b, () => [1, 1]],
  "−": [(a, b) => a - b, () => [1, -1]],
  "·": [(a, b) => a * b, (a, b) => [b, a]],
  tanh: [(a) => Math.tanh(a), (a) => [1 - Math.tanh(a) ** 2]],
  relu: [(a) => Math.max(a, 0), (a) => [a > 0 ? 1 : 0]],
};

/** The nodes of an expression, from the lists that Python declares. */
export const nodesOf = (spots) =>
  spots.map(([name, said, op, operands, column, lane, value]) => ({
    ...{ name, said, op, operands, column, lane, value },
    leaf: op === "leaf",
  }));

/** The value of every node; without leaves, those that the expression begins with. */
export function values(nodes, leaves) {
  const [found, waiting] = [[], leaves.length ? [...leaves] : null];
  for (const { leaf, op, operands, value } of nodes) {
    if (leaf) found.push(waiting ? waiting.shift() : value);
    else found.push(OPS[op][0](...operands.map((i) => found[i])));
  }
  return found;
}

/** For each node its slope with respect to each operand. */
export const slopes = (nodes, found) =>
  nodes.map(({ leaf, op, operands }) => (leaf ? [] : OPS[op][1](...operands.map((i) => found[i]))));

/** The nodes that hand on a gradient, in the order in which the tape plays them. */
export function order(nodes, bug) {
  const end = nodes.length - 1;
  const playing = (list) => list.filter((i) => !nodes[i].leaf);
  if (bug === "order") {
    const queue = [end];
    for (const node of queue) {
      for (const i of nodes[node].operands) if (!queue.includes(i)) queue.push(i);
    }
    return playing(queue);
  }
  const done = [];
  const operandsFirst = (node) => {
    if (done.includes(node)) return;
    nodes[node].operands.forEach(operandsFirst);
    done.push(node);
  };
  operandsFirst(end);
  return playing(done.reverse());
}

/** Play so many nodes back: { gradients, shares, late }, late being what came after a node had handed on. */
export function playBack(nodes, found, bug, steps) {
  const own = slopes(nodes, found);
  const [gradients, shares, late] = [nodes.map(() => 0), nodes.map(() => []), nodes.map(() => false)];
  gradients[nodes.length - 1] = 1;
  const played = order(nodes, bug).slice(0, steps);
  played.forEach((node, turn) => {
    nodes[node].operands.forEach((operand, k) => {
      const share = own[node][k] * gradients[node];
      shares[operand].push(share);
      gradients[operand] = share + (bug === "assign" ? 0 : gradients[operand]);
      late[operand] ||= played.indexOf(operand) >= 0 && played.indexOf(operand) < turn;
    });
  });
  return { gradients, shares, late };
}

const STEP = 1e-5;

/** For each leaf: how much the last node changes when the leaf is disturbed, for each unit of disturbance. */
export function differences(nodes, leaves) {
  const start = leaves.length ? leaves : nodes.filter(({ leaf }) => leaf).map(({ value }) => value);
  const last = (i, by) =>
    values(
      nodes,
      start.map((v, j) => (i === j ? v + by : v)),
    ).at(-1);
  return start.map((_, i) => (last(i, STEP) - last(i, -STEP)) / (2 * STEP));
}

const say = (x) => short(x, 3);
const listed = (names) =>
  names.length > 1 ? `${names.slice(0, -1).join(", ")} and ${names.at(-1)}` : names[0];

/** Which nodes have a wrong gradient when all is played. */
export function wrongOf(nodes, found, bug) {
  const right = playBack(nodes, found, "none", nodes.length).gradients;
  const now = playBack(nodes, found, bug, nodes.length).gradients;
  return nodes.map((_, i) => Math.abs(right[i] - now[i]) > 1e-9);
}

// At the end: what is wrong, and why; or why a bug did no harm.
function verdict(nodes, found, bug) {
  const { shares, late } = playBack(nodes, found, bug, nodes.length);
  const wrong = wrongOf(nodes, found, bug);
  const names = nodes.filter(({ leaf }, i) => leaf && wrong[i]).map(({ name }) => name);
  const several = nodes.filter((_, i) => shares[i].length > 1).map(({ name }) => name);
  const hasty = nodes.filter((_, i) => late[i]).map(({ name }) => name);
  if (nodes.some(({ op, operands: [i] }) => op === "relu" && Math.abs(found[i]) < STEP))
    return "All played back. At its corner a ReLU has no slope: the tape takes 0, a nudge meets both sides.";
  if (bug === "none") return "All played back: the tape and the nudge agree.";
  const cause = {
    assign: `${listed(several)} kept only the last share`,
    order: `${listed(hasty)} handed on before all shares had come`,
  };
  if (names.length) return `All played back, and wrong at ${listed(names)}: ${cause[bug]}.`;
  const mild = { assign: "no value is used twice", order: "each had all its shares when it handed on" };
  if (bug === "assign" ? several.length : hasty.length)
    return "All played back: a bug, and with these numbers it does not show.";
  return `All played back: a bug, and it does no harm here: ${mild[bug]}.`;
}

/** What a box says of its shares: the one that has just come as += slope × gradient, several as a sum. */
export function arriving(nodes, found, bug, steps, i) {
  const several = playBack(nodes, found, bug, steps).shares[i];
  const turns = order(nodes, bug);
  const node = turns[steps - 1];
  const uses =
    steps && steps < turns.length
      ? nodes[node].operands.flatMap((operand, k) => (operand === i ? [k] : []))
      : [];
  if (uses.length === 1) {
    const gradient = playBack(nodes, found, bug, steps - 1).gradients[node];
    const sign = bug === "assign" ? "=" : "+=";
    return `${sign} ${short(slopes(nodes, found)[node][uses[0]], 2)}×${short(gradient, 2)}`;
  }
  if (several.length < 2) return "";
  const texts = several.map((v) => short(v, 2));
  if (bug === "assign") return texts.join(" → ");
  return texts.join(" + ").replaceAll("+ −", "− ");
}

/** What the result line says. */
export function describe(nodes, leaves, bug, steps) {
  const found = values(nodes, leaves);
  const turns = order(nodes, bug);
  const end = nodes.at(-1).name;
  if (steps === 0)
    return `${end} = ${say(found.at(-1))}. With respect to itself its gradient is 1: press Back.`;
  if (steps >= turns.length) return verdict(nodes, found, bug);
  const node = turns[steps - 1];
  const gradient = playBack(nodes, found, bug, steps - 1).gradients[node];
  const sign = bug === "assign" ? "=" : "+=";
  const own = slopes(nodes, found)[node];
  const lines = nodes[node].operands.map(
    (i, k) => `${nodes[i].name} ${sign} ${say(own[k])} × ${say(gradient)}`,
  );
  return `${nodes[node].name} hands back: ${lines.join(", ")}.`;
}

// ---------------------------------------------------------------- what the reader sees

const WIDE = 600; // from here on the graph runs from left to right, below from top to bottom
const HIGH = { leaf: 66, inner: 52 };
const [LANE, ROW, BESIDE, EDGE, INSET, KNOB] = [76, 82, 6, 3, 6, 11];
const [ROOMY, TIGHT] = [92, 78]; // a box so wide has room for three decimals, or for no shares

/** Where the boxes stand: [{ left, top, wide, high }], in pixels; and how high all of it is. */
export function layout(nodes, width) {
  const [column, lane] = ["column", "lane"].map((name) => Math.max(...nodes.map((node) => node[name])));
  const turned = width < WIDE;
  const across = turned ? lane : column;
  const least = turned ? BESIDE : 26;
  const wide = Math.min(turned ? 104 : 96, (width - 2 * EDGE - across * least) / (across + 1));
  const apart = turned
    ? Math.min(wide + 34, (width - 2 * EDGE - wide) / across)
    : (width - 2 * EDGE - wide) / across;
  const aside = turned ? (width - 2 * EDGE - wide - apart * across) / 2 : 0;
  const boxes = nodes.map((node) => {
    const high = node.leaf ? HIGH.leaf : HIGH.inner;
    const [a, b] = turned ? [node.lane, node.column * ROW] : [node.column, node.lane * LANE];
    return { left: EDGE + aside + a * apart, top: EDGE + b + (HIGH.leaf - high) / 2, wide, high };
  });
  return { boxes, turned, height: 2 * EDGE + HIGH.leaf + (turned ? column * ROW : lane * LANE) };
}

// From a box to the place of its operand's port on another: straight along its own lane, then across in the last gap.
function wire(from, to, part, turned) {
  if (turned) {
    const [x, y] = [from.left + from.wide / 2, from.top + from.high];
    const [u, v] = [to.left + to.wide * part, to.top];
    const start = Math.max(y, v - (ROW - HIGH.inner + 8));
    const middle = (start + v) / 2;
    return `M${x} ${y}V${start}C${x} ${middle} ${u} ${middle} ${u} ${v}`;
  }
  const [x, y] = [from.left + from.wide, from.top + from.high / 2];
  const [u, v] = [to.left, to.top + to.high * part];
  const start = Math.max(x, u - 40);
  const middle = (start + u) / 2;
  return `M${x} ${y}H${start}C${middle} ${y} ${middle} ${v} ${u} ${v}`;
}

const DRAWN = ["wire ", "wire played", "wire now"]; // the last over the others

const shape = ({ left, top, wide, high }) => ({ x: left, y: top, width: wide, height: high });
const trackOf = ({ left, top, wide, high }) => [left + 12, left + wide - 12, top + high - KNOB];

/** The value at a place of the track, on the grid of the keys. */
export const valueAt = (place, [low, high], reach) =>
  Number(
    clamp(Math.round(20 * reach * ((2 * (place - low)) / (high - low) - 1)) / 20, -reach, reach).toFixed(2),
  );

const graph = ({ reach, move, at }) => {
  let laid = null;
  return panel({
    label: "The graph of the expression: values, and the gradients that have come back",
    name: "graph",
    height: (width) => {
      laid = layout(at().nodes, width);
      return laid.height;
    },
    margin: [0, 0, 0, 0],
    x: (_, width) => ({ domain: [0, width], label: "", ticks: [] }),
    y: () => ({ domain: [laid.height, 0], label: "", ticks: [] }),
    layers: {
      wire: { tag: "path", many: true },
      box: { tag: "rect", rx: 6, many: true },
      said: { tag: "text", many: true },
      value: { tag: "text", many: true },
      gradient: { tag: "text", "text-anchor": "end", many: true },
      shares: { tag: "text", many: true },
      track: "path",
      knob: { tag: "circle", r: 6, many: true },
    },
    marks: [
      {
        count: ({ leafs }) => leafs.length,
        at: ({ leafs, found }, i) => {
          const [low, high, y] = trackOf(laid.boxes[leafs[i]]);
          return [low + ((found[leafs[i]] + reach) / (2 * reach)) * (high - low), y];
        },
        label: ({ nodes, leafs }, i) => `Value of ${nodes[leafs[i]].name}`,
        move: ([x], i) => {
          const [low, high] = trackOf(laid.boxes[at().leafs[i]]);
          move(i, valueAt(x, [low, high], reach));
        },
        keys: (dx, dy, i, { leafs, found }) =>
          move(i, Number(clamp(found[leafs[i]] + 0.05 * (dx + dy), -reach, reach).toFixed(2))),
        attributes: { role: "slider", r: 15, "aria-valuemin": -reach, "aria-valuemax": reach },
        live: ({ leafs, found }, i) => ({ "aria-valuenow": found[leafs[i]] }),
      },
    ],
    draw(layers, _, { nodes, leafs, found, back, turns, steps, wrong, bug }) {
      const { boxes, turned } = laid;
      const done = turns.slice(0, steps);
      const last = done.at(-1);
      const roomy = boxes[0].wide >= ROOMY;
      const number = (v) => format(v, roomy ? 3 : 2);
      const arrived = (i) => i === nodes.length - 1 || back.shares[i].length > 0;
      const placed = (i, down) => ({ x: boxes[i].left + INSET, y: boxes[i].top + down });
      const state = (i) => (i === last ? "now" : done.includes(i) ? "played" : "");
      const wires = nodes.flatMap(({ operands }, to) =>
        operands.map((from, k) => ({
          d: wire(boxes[from], boxes[to], (k + 1) / (operands.length + 1), turned),
          class: `wire ${state(to)}`,
        })),
      );
      layers.wire(wires.sort((one, other) => DRAWN.indexOf(one.class) - DRAWN.indexOf(other.class)));
      const kind = (i) => (wrong[i] ? "wrong" : i === last ? "now" : arrived(i) ? "reached" : "");
      layers.box(boxes, (box, i) => ({ ...shape(box), class: `box ${kind(i)}` }));
      layers.said(nodes, ({ said }, i) => ({
        ...placed(i, 15),
        ...{ class: roomy ? "said" : "said tight", words: roomy ? said : said.replaceAll(" = ", "=") },
      }));
      layers.value(found, (v, i) => ({ ...placed(i, 31), words: short(v, roomy ? 3 : 2) }));
      const tight = boxes[0].wide < TIGHT;
      layers.gradient(nodes, (_, i) => ({
        ...{ x: boxes[i].left + boxes[i].wide - INSET, y: boxes[i].top + (tight ? 45 : 31) },
        ...{ class: `gradient ${kind(i)}`, words: arrived(i) ? number(back.gradients[i]) : "" },
      }));
      layers.shares(nodes, (_, i) => ({
        ...placed(i, 45),
        class: roomy ? "shares" : "shares tight",
        words: tight ? "" : arriving(nodes, found, bug, steps, i),
      }));
      const tracks = leafs.map((i) => trackOf(boxes[i]));
      layers.track(tracks.map(([low, high, y]) => `M${low} ${y}H${high}`).join(""));
      layers.knob(tracks, ([low, high, cy], i) => ({
        cx: low + ((found[leafs[i]] + reach) / (2 * reach)) * (high - low),
        cy,
      }));
    },
  });
};

const PACE = 0.9; // seconds for each node

export default widget("tape", ({ controls, constants, read, write }) => {
  const { expressions, reach } = constants;
  let waited = 0;
  const now = () => {
    const { expression, leaves, bug, played } = read();
    const nodes = nodesOf(expressions[expression]);
    const leafs = nodes.flatMap(({ leaf }, i) => (leaf ? [i] : []));
    const [found, turns] = [values(nodes, leaves), order(nodes, bug)];
    return { nodes, leafs, leaves, found, turns, bug, steps: Math.min(played, turns.length) };
  };
  const move = (i, value) => {
    const { leafs, found } = now();
    write({ leaves: leafs.map((node, j) => (i === j ? value : found[node])) });
  };
  const onward = () => {
    const { steps, turns } = now();
    write({ played: Math.min(steps + 1, turns.length) });
    return steps + 1 < turns.length;
  };
  const atEnd = () => now().steps === now().turns.length;
  const player = play({
    label: "Back",
    start: () => {
      waited = 0;
      if (atEnd()) write({ played: 0 });
    },
    frame: (seconds) => {
      waited += seconds;
      if (waited < PACE) return true;
      waited = 0;
      return onward();
    },
    end: () => {},
  });
  const step = button("One node", () => (atEnd() ? write({ played: 0 }) : onward()));
  const [view, result] = [graph({ reach, move, at: now }), resultLine()];
  const judged = table({});
  return {
    layout: [
      columns(
        "controls",
        [controls.expression, controls.bug],
        [controls.played, div("buttons", player.button, step)],
      ),
      heading(
        "Drag the leaves. In each box: ",
        key("value", "value"),
        key("gradient", "gradient, with its shares"),
      ),
      view,
      result,
      judged,
    ],
    // Another expression has other leaves, and is played from its end.
    change: (changes) => write("expression" in changes ? { ...changes, leaves: [], played: 0 } : changes),
    draw() {
      const state = now();
      const { nodes, leafs, leaves, found, turns, bug, steps } = state;
      const back = playBack(nodes, found, bug, steps);
      const ended = steps === turns.length;
      const wrong = ended ? wrongOf(nodes, found, bug) : nodes.map(() => false);
      controls.played.limit({ high: turns.length });
      controls.played.set(steps);
      put(step, ended ? "Start again" : "One node");
      view.draw({ ...state, back, wrong });
      const checked = differences(nodes, leaves);
      const digits = leafs.length > 3 ? 2 : 3;
      judged.draw([
        ["leaf", ...leafs.map((i) => nodes[i].name)],
        [
          "the tape",
          ...leafs.map((i) => ({
            text: back.shares[i].length ? format(back.gradients[i], digits) : "–",
            class: wrong[i] ? "wrong" : "says",
          })),
        ],
        // what it says before is the answer to "what will the tape say?"
        ["a nudge", ...checked.map((slope) => (ended ? format(slope, digits) : "–"))],
      ]);
      result.say(describe(nodes, leaves, bug, steps), player.playing());
    },
    stop: () => player.playing() && player.stop(),
  };
});
