// A cache that fills: what is kept of each token, what a step fetches for it, and what waits.
//
// The functions above `rows` are the mathematics; the tests compare them with primer.inference.

import { columns, counted, format, grouped, heading, key, panel, paragraph, paths } from "../kit/kit.js";
import { resultLine, short, widget, write as say } from "../kit/kit.js";
import { play } from "../shared/play.js";

/** The first token that a layer, counted from 1, still keeps of n. */
export const firstHeld = (layer, n, window, every) => (layer % every ? Math.max(0, n - window) : 0);

/** What a cache keeps of one text of n tokens: positions, added up over the layers. */
export function heldPositions(n, layers, window, every) {
  const whole = Math.floor(layers / every);
  return whole * n + (layers - whole) * Math.min(n, window);
}

/** The bytes that a decode step fetches, of weights and of caches, and its operations. */
export const stepCost = (parameters, positions, bytes, operations, texts) => ({
  weights: 2 * parameters,
  cache: texts * positions * bytes,
  operations: texts * (2 * parameters + positions * operations),
});

/** A state's cost, with the parts that it is made of. */
export function costOf({ shared, every, bits, prompt, written, texts }, constants) {
  const { kept, layers, window, parameters } = constants;
  const [rowsKept, numbers, operations] = kept[shared];
  const [each, positions] = [
    (rowsKept * numbers * bits) / 8,
    heldPositions(prompt + written, layers, window, every),
  ];
  return { each, positions, ...stepCost(parameters, positions, each, operations, texts) };
}

const gigabytes = (bytes) => (bytes < 5e6 ? "under 0.01 GB" : `${format(bytes / 1e9, 2)} GB`);

/** The formula of the bytes with its numbers. */
export function formula({ shared, bits, texts }, constants, { each, positions, cache }) {
  const [kinds, numbers] = constants.kept[shared];
  const row = `${kinds === 2 ? "2 · " : ""}${grouped(numbers)} numbers · ${bits} bits = ${grouped(each)} bytes`;
  return `A token in a layer: ${row}. Held: × ${grouped(positions)} such tokens × ${counted(texts, "text")} = ${grouped(cache)} bytes.`;
}

/** What the result line says. */
export function describe({ prompt, texts }, { fetch, compute, room }, { weights, cache, operations }) {
  const [reading, working] = [(weights + cache) / fetch, operations / compute].map((x) => 1000 * x);
  const ridge = compute / fetch;
  const rowsRead = prompt * texts;
  const first = `Prefill: ${grouped(rowsRead)} rows share each weight that is fetched, so the ${rowsRead > ridge ? "memory waits for arithmetic" : "arithmetic waits for memory"}.`;
  if (weights + cache > room)
    return `${first} Decode: with ${gigabytes(weights)} of weights and ${gigabytes(cache)} of caches this does not fit into ${short(room / 1e9)} GB.`;
  const verdict = reading > working ? "the arithmetic waits for memory" : "the memory waits for arithmetic";
  const rate = Math.round((1000 * texts) / Math.max(reading, working));
  return `${first} Decode: a step fetches ${gigabytes(weights)} of weights and ${gigabytes(cache)} of caches in ${format(reading, 1)} ms and computes for ${format(working, 2)} ms: ${verdict}. ${grouped(rate)} tokens a second.`;
}

// ---------------------------------------------------------------- what the reader sees

const LEFT = 58;
const rect = (x0, x1, y0, y1) =>
  x1 > x0 ? `M${x0.toFixed(1)} ${y0.toFixed(2)}H${x1.toFixed(1)}V${y1.toFixed(2)}H${x0.toFixed(1)}Z` : "";

const rows = ({ kept, layers, window, most }) =>
  panel({
    label: "The cache: a row for each layer, filled with the tokens of the prompt and those written since",
    name: "rows",
    height: 262,
    margin: [20, 10, 38, LEFT],
    x: ({ prompt }) => ({ domain: [0, prompt + most], label: "token" }),
    y: { domain: [layers + 0.6, 0.4], label: "layer", ticks: [1, 8, 16, 24, 32], text: (t) => `${t}` },
    layers: paths("ground", "read", "written", "newest"),
    draw({ ground, read, written: wrote, newest }, { x, y }, { shared, every, bits, prompt, written }) {
      const [kinds, numbers] = kept[shared];
      const n = prompt + written;
      const high = y(1) - y(0);
      const thick = Math.max(0.5, (0.42 * high * numbers * bits) / (16 * kept.all[1]));
      const drawn = ["", "", ""];
      for (let layer = 1; layer <= layers; layer++) {
        const first = firstHeld(layer, n, window, every);
        const top = y(layer) - 0.46 * high;
        drawn[0] += rect(x(0), x(n), top, top + 0.92 * high);
        for (let kind = 0; kind < kinds; kind++) {
          const at = top + kind * 0.48 * high;
          drawn[1] += rect(x(first), x(prompt), at, at + thick);
          drawn[2] += rect(x(Math.max(first, prompt)), x(n), at, at + thick);
        }
      }
      for (const [i, layer] of [ground, read, wrote].entries()) layer(drawn[i]);
      newest(`M${x(n)} ${y.range[1]}V${y.range[0]}`);
    },
  });

const times = () =>
  panel({
    label: "How long a decode step fetches and how long it computes",
    name: "times",
    height: 112,
    margin: [6, 10, 38, LEFT],
    x: ({ longest }) => ({ domain: [0, longest], label: "milliseconds a step" }),
    y: { domain: [0, 2], label: "", ticks: [0.5, 1.5], text: (t) => (t > 1 ? "fetch" : "compute") },
    layers: paths("weights", "caches", "work"),
    draw({ weights, caches, work }, { x, y }, { first, both, working }) {
      weights(rect(x(0), x(first), y(1.8), y(1.2)));
      caches(rect(x(first), x(both), y(1.8), y(1.2)));
      work(rect(x(0), x(working), y(0.8), y(0.2)));
    },
  });

export default widget("fill-the-cache", ({ controls, constants, read, write }) => {
  const [cache, bars, result] = [rows(constants), times(), resultLine()];
  const told = paragraph("formula");
  let time = 0;
  const animation = play({
    label: "Write",
    start() {
      const { written } = read();
      time = written < constants.most ? written : 0;
      write({ written: Math.round(time) });
    },
    frame(seconds) {
      time = Math.min(constants.most, time + 24 * seconds);
      write({ written: Math.floor(time) });
      return time < constants.most;
    },
    end: () => {},
  });
  return {
    layout: [
      columns(
        "controls",
        [controls.shared, controls.every, controls.bits],
        [controls.prompt, controls.written, controls.texts],
      ),
      heading(
        key("read", "prompt, read at once"),
        key("written", "written, one by one"),
        key("ground", "not kept"),
      ),
      cache,
      told,
      heading(key("weights", "weights"), key("caches", "caches"), key("work", "arithmetic")),
      bars,
      result,
      animation.button,
    ],
    stop: () => animation.playing() && animation.stop(),
    draw(state) {
      const cost = costOf(state, constants);
      const [first, both] = [cost.weights, cost.weights + cost.cache].map(
        (b) => (1000 * b) / constants.fetch,
      );
      const working = (1000 * cost.operations) / constants.compute;
      const longest = 8 * 2 ** Math.max(0, Math.ceil(Math.log2(Math.max(both, working) / 8)));
      cache.draw(state);
      bars.draw({ first, both, working, longest });
      say(told, formula(state, constants, cost));
      result.say(describe(state, constants, cost), animation.playing());
    },
  };
});
