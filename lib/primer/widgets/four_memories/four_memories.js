// One memory, four ways to write: what each recalls of the pairs that were written into it.
//
// The functions above `strips` are the mathematics; the tests compare them with primer.beyond_attention.

import {
  clamp,
  columns,
  counted,
  div,
  heading,
  key,
  memory,
  named,
  panel,
  paths,
  resultLine,
} from "../kit/kit.js";
import { widget } from "../kit/kit.js";
import { softmax } from "../shared/probability.js";

// ---------------------------------------------------------------- what is computed

// All rows are Float64Arrays, and the loops are plain: a frame does half a million products.  What comes out of one is
// written into a row that is there: to make thousands anew would take as long.

const dot = (a, b) => {
  let total = 0;
  for (let i = 0; i < a.length; i++) total += a[i] * b[i];
  return total;
};

// The products of one row with many, four at a time: each sum waits for its own last step, not for another's.
function productsWith(rows, x) {
  const found = new Array(rows.length).fill(0);
  let at = 0;
  for (; at + 4 <= rows.length; at += 4) {
    const [one, two, three, four] = [rows[at], rows[at + 1], rows[at + 2], rows[at + 3]];
    let [a, b, c, d] = [0, 0, 0, 0];
    for (let i = 0; i < x.length; i++) {
      const number = x[i];
      a += one[i] * number;
      b += two[i] * number;
      c += three[i] * number;
      d += four[i] * number;
    }
    found[at] = a;
    found[at + 1] = b;
    found[at + 2] = c;
    found[at + 3] = d;
  }
  for (; at < rows.length; at++) found[at] = dot(rows[at], x);
  return found;
}

const zeros = (rows, columns) => Array.from({ length: rows }, () => new Float64Array(columns));

// W ← W + share · kᵀu
const add = (W, share, k, u) => {
  for (let i = 0; i < k.length; i++) {
    const [row, x] = [W[i], share * k[i]];
    for (let j = 0; j < u.length; j++) row[j] += x * u[j];
  }
};

// q W
function times(q, W, out) {
  out.fill(0);
  for (let i = 0; i < q.length; i++) {
    const [row, x] = [W[i], q[i]];
    for (let j = 0; j < out.length; j++) out[j] += x * row[j];
  }
  return out;
}

// v − k W
function error(W, k, v, out) {
  times(k, W, out);
  for (let j = 0; j < out.length; j++) out[j] = v[j] - out[j];
  return out;
}

/** The keys there are: own directions and, in all of them, a common one; of length 1. */
export function keysOf(directions, similar) {
  const common = directions[directions.length - 1];
  const [shared, own] = [Math.sqrt(similar), Math.sqrt(1 - similar)];
  return directions.slice(0, -1).map((direction) => {
    const mixed = new Float64Array(common.length);
    for (let i = 0; i < mixed.length; i++) mixed[i] = shared * common[i] + own * direction[i];
    const size = Math.sqrt(dot(mixed, mixed));
    for (let i = 0; i < mixed.length; i++) mixed[i] /= size;
    return mixed;
  });
}

/** What each memory depends on, besides what is written. */
const OWN = { softmax: "sharpness", ridge: "penalty", delta: "rate" };

/** Each memory takes pairs and then answers a key: { write(k, v), read(q) }, in a row that holds one answer. */
const MEMORIES = {
  softmax({ sharpness, width }) {
    const [keys, values, out] = [[], [], new Float64Array(width)];
    return {
      write(k, v) {
        keys.push(k);
        values.push(v);
      },
      read(q) {
        const scores = productsWith(keys, q);
        for (let i = 0; i < scores.length; i++) scores[i] *= sharpness;
        return times(softmax(scores), values, out);
      },
    };
  },
  ridge({ penalty, width }) {
    const [W, P] = [zeros(width, width), zeros(width, width)];
    const [Pk, out] = zeros(2, width);
    P.forEach((row, i) => {
      row[i] = 1 / penalty;
    });
    return {
      write(k, v) {
        times(k, P, Pk); // P is symmetric
        const part = 1 / (1 + dot(k, Pk));
        add(P, -part, Pk, Pk);
        add(W, part, Pk, error(W, k, v, out)); // k P is now so much of what it was
      },
      read: (q) => times(q, W, out),
    };
  },
  addition({ width }) {
    const [W, out] = [zeros(width, width), new Float64Array(width)];
    return { write: (k, v) => add(W, 1, k, v), read: (q) => times(q, W, out) };
  },
  delta({ rate, width }) {
    const [W, out] = [zeros(width, width), new Float64Array(width)];
    return { write: (k, v) => add(W, rate, k, error(W, k, v, out)), read: (q) => times(q, W, out) };
  },
};

/**
 * For each memory and each key, the one written longest ago first, the products of its answer with all codes;
 * and `right`, which code the answer should be.  What is kept `once` is not computed again.
 */
export function answers(
  state,
  { keys: directions, codes: values, answers: stored, names },
  once = (_name, _on, make) => make(),
) {
  const { writes, different, similar } = state;
  const keys = once("keys", similar, () => keysOf(directions, similar));
  const codes = once("codes", 0, () => values.map((value) => Float64Array.from(value)));
  const first = Math.max(0, writes - different);
  const kept = Array.from({ length: writes - first }, (_, i) => first + i);
  const asked = (name) => {
    const memory = MEMORIES[name]({ ...state, width: codes[0].length });
    for (let t = 0; t < writes; t++) memory.write(keys[t % different], codes[stored[t]]);
    return kept.map((t) => productsWith(codes, memory.read(keys[t % different])));
  };
  const products = names.map((name) =>
    once(name, [writes, different, similar, state[OWN[name]] ?? 0], () => asked(name)),
  );
  return { products, right: kept.map((t) => stored[t]) };
}

/** Whether the largest product is the right one, for each memory and key. */
export const hits = ({ products, right }) =>
  products.map((rows) => rows.map((row, i) => row[right[i]] >= Math.max(...row)));

/** What the result line says. */
export function describe({ writes, different }, found, names) {
  const n = Math.min(writes, different);
  const again = writes > different ? `, the newest value of each (${writes} writes)` : "";
  const each = names.map((name, i) => `${name} ${found[i].filter(Boolean).length}`);
  return `Recalled of ${counted(n, "pair")}${again}: ${each.join(", ")}.`;
}

// ---------------------------------------------------------------- what the reader sees

const ROOM = 0.12; // between two squares

// Many squares or dots are one path: a browser moves one shape faster than two hundred.
const square = (x, y, wide, high) =>
  `M${x.toFixed(1)} ${y.toFixed(1)}h${wide.toFixed(1)}v${high.toFixed(1)}h${(-wide).toFixed(1)}Z`;
const spot = ([x, y]) => `M${x.toFixed(1)} ${y.toFixed(1)}h0`;

// a row for each memory, the first one on top
const rowsOf = (names) => ({
  domain: [0, names.length],
  ticks: names.map((_, i) => names.length - i - 0.5),
  text: (t) => names[names.length - 0.5 - t],
});

const strips = (names, choose, step) =>
  panel({
    label: "A square for each memory and each pair, filled if it is recalled",
    height: 44 + 30 * names.length,
    margin: [8, 8, 36, 62],
    x: ({ n }) => ({
      domain: [0, n],
      label: "pairs, from the oldest to the newest",
      ticks: [0.5, n - 0.5],
      text: (t) => `${t + 0.5}`,
    }),
    y: { ...rowsOf(names), label: "" },
    layers: {
      chosen: "rect",
      ...paths(...names.flatMap((name) => [name, `${name}-all`])),
    },
    drag: ([x]) => choose(Math.floor(x)),
    step,
    draw({ chosen, ...rows }, { x, y }, { found, place }) {
      const [wide, high] = [x(1) - x(0), y(0) - y(1)];
      chosen({ x: x(place), y: y(names.length), width: wide, height: names.length * high });
      names.forEach((name, i) => {
        const top = y(names.length - i) + ROOM * high;
        const squares = found[i].map((hit, j) => [hit, x(j + ROOM)]);
        const path = (some) =>
          some.map(([, left]) => square(left, top, wide * (1 - 2 * ROOM), high * (1 - 2 * ROOM))).join("");
        rows[name](path(squares.filter(([hit]) => hit)));
        rows[`${name}-all`](path(squares));
      });
    },
  });

const comparison = (names) =>
  panel({
    label: "For the chosen pair, the answer of each memory compared with the right value and all others",
    height: 44 + 34 * names.length,
    margin: [8, 14, 36, 62],
    x: { domain: [-1.5, 2], label: "answer · value", ticks: [-1, 0, 1, 2] },
    y: { ...rowsOf(names), label: "" },
    layers: {
      ...paths("one", "others"),
      ...named(names, () => ({ tag: "circle", r: 6 })),
    },
    draw({ one, others, ...rights }, { x, y }, { products, right, place }) {
      one(`M${x(1)} ${y(0)}V${y(names.length)}`);
      const middle = (i) => y(names.length - i - 0.5);
      const at = (product, i) => [x(clamp(product, -1.45, 1.95)), middle(i)];
      const wrong = products.flatMap((rows, i) =>
        rows[place].filter((_, code) => code !== right[place]).map((product) => at(product, i)),
      );
      others(wrong.map(spot).join(""));
      names.forEach((name, i) => {
        const [cx, cy] = at(products[i][place][right[place]], i);
        rights[name]({ cx, cy });
      });
    },
  });

export default widget("four-memories", ({ controls, constants, read, write }) => {
  const { names } = constants;
  const last = () => Math.min(read().writes, read().different);
  const choose = (i) => write({ asked: clamp(i + 1, 1, last()) });
  const step = (dx) => choose(Math.min(read().asked, last()) - 1 + dx);
  const [rows, line, result] = [strips(names, choose, step), comparison(names), resultLine()];
  const once = memory();
  return {
    layout: [
      columns(
        "controls",
        [controls.writes, controls.different, controls.similar],
        [controls.rate, controls.penalty, controls.sharpness],
      ),
      heading(key("recalled", "recalled"), key("missed", "not")),
      rows,
      result,
      div("ask", controls.asked),
      heading(
        key("right", "the right value"),
        key("other", "every other one; recalled is what lies furthest right"),
      ),
      line,
    ],
    draw(state) {
      const computed = answers(state, constants, once);
      const n = computed.right.length;
      const place = Math.min(state.asked, n) - 1;
      controls.asked.limit({ high: Math.max(2, n) });
      controls.asked.set(place + 1);
      const found = hits(computed);
      const seen = { ...computed, found, n, place };
      rows.draw(seen);
      line.draw(seen);
      result.say(describe(state, found, names));
    },
  };
});
