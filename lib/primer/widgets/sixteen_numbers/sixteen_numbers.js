// Sixteen numbers: real weights, rounded to a short list, block by block.
//
// The functions above `uses` are the mathematics; the tests compare them with primer.fine_tuning.

import { clamp, columns, format, grouped, heading, key, mean, memory, panel, paths } from "../kit/kit.js";
import { percent, resultLine, sum, widget } from "../kit/kit.js";
import { table } from "../shared/table.js";
import { details } from "../shared/folded.js";
import { inTurns } from "../shared/in_turns.js";

const BINS = 40;
const LISTED = 16; // rows of the table

/** Where one number of a code ends and the next begins: halfway between them. */
const limits = (values) => Float64Array.from(values.slice(1), (v, i) => (values[i] + v) / 2);

/** The code of the nearest number, values in rising order; halfway between two, the upper one. */
export function nearest(x, values, halves = limits(values)) {
  let low = 0;
  let high = halves.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (x >= halves[middle]) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Codes, the constant of each block, the weights over it, and as they are read back; block 0 is a single one. */
export function quantize(weights, values, block) {
  const size = block || weights.length;
  const halves = limits(values);
  const constants = new Float64Array(Math.ceil(weights.length / size));
  const codes = new Uint8Array(weights.length);
  const [scaled, restored] = [new Float64Array(weights.length), new Float64Array(weights.length)];
  for (let b = 0, from = 0; from < weights.length; b++, from += size) {
    const end = Math.min(from + size, weights.length);
    for (let i = from; i < end; i++) constants[b] = Math.max(constants[b], Math.abs(weights[i]));
    for (let i = from; i < end; i++) {
      scaled[i] = weights[i] / (constants[b] || 1);
      codes[i] = nearest(scaled[i], values, halves);
      restored[i] = values[codes[i]] * constants[b];
    }
  }
  return { codes, constants, scaled, restored };
}

/** The share of the weights that each number stands for. */
export function usage(codes, values) {
  const counts = Array(values.length).fill(0);
  for (const code of codes) counts[code]++;
  return counts.map((count) => count / codes.length);
}

/** The entropy of shares, in bits. */
export const entropy = (shares) => sum(shares.map((p) => (p > 0 ? -p * Math.log2(p) : 0)));

/** √(Σ(ŵ − w)² / Σw²) over all weights but `without`: of the whole, and of each block. */
export function errors(weights, restored, block, without = -1) {
  const size = block || weights.length;
  const [missed, whole] = [[], []];
  for (let from = 0; from < weights.length; from += size) {
    const end = Math.min(from + size, weights.length);
    let [off, all] = [0, 0];
    for (let i = from; i < end; i++) {
      if (i === without) continue;
      off += (restored[i] - weights[i]) ** 2;
      all += weights[i] ** 2;
    }
    missed.push(off);
    whole.push(all);
  }
  return {
    error: Math.sqrt(sum(missed) / sum(whole)),
    each: missed.map((m, b) => Math.sqrt(m / whole[b])),
  };
}

/** The weights with one of them made so many standard deviations large. */
export function withOutlier(weights, outlier, place) {
  if (!outlier) return weights;
  const middle = mean(weights);
  const spread = Math.sqrt(mean(weights.map((w) => (w - middle) ** 2)));
  return weights.with(place, outlier * spread);
}

/** Bits of a weight: its code, and its share of a constant of 32 bits. */
export const bitsOf = (values, block, count) => Math.ceil(Math.log2(values.length)) + 32 / (block || count);

/** What the result line says. */
export function describe({ code, block, outlier }, used, error, bits) {
  const taken = used.filter((p) => p > 0);
  const where = block ? `in blocks of ${grouped(block)}` : "in one block";
  const whose = outlier ? "the other weights" : "the weights";
  const range = `${percent(Math.min(...taken))} to ${percent(Math.max(...taken))} of the weights`;
  return `${code} ${where}: ${taken.length} of ${used.length} numbers are used, each by ${range}: ${format(entropy(used), 2)} bits of entropy. The error of ${whose} is ${percent(error)} of their size; a weight costs ${format(bits, 2)} bits, constants included.`;
}

// ---------------------------------------------------------------- what the reader sees

// The outline of a histogram of numbers from −1 to 1, as shares of all.
function outline(scaled) {
  const bins = Array(BINS).fill(0);
  for (const x of scaled) bins[clamp(Math.floor(((x + 1) / 2) * BINS), 0, BINS - 1)] += 1;
  const edge = (i) => -1 + (2 * i) / BINS;
  return [
    [-1, 0],
    ...bins
      .map((count) => (100 * count) / scaled.length)
      .flatMap((share, i) => [
        [edge(i), share],
        [edge(i + 1), share],
      ]),
    [1, 0],
  ];
}

const uses = () =>
  panel({
    label: "The weights, scaled by the largest of their block, and how often each number of the code is used",
    name: "uses",
    height: (width) => clamp(width * 0.38, 210, 270),
    margin: [26, 12, 40, 40],
    x: { domain: [-1.05, 1.05], label: "weight / largest of its block", ticks: [-1, -0.5, 0, 0.5, 1] },
    y: ({ highest }) => ({ domain: [0, highest], label: "percent of the weights" }),
    layers: { bell: "path", stems: "path" },
    over: { tops: { tag: "circle", many: true } },
    draw({ bell, stems, tops }, { x, y, line }, { values, used, outline: points }) {
      bell(line(points));
      stems(values.map((v, i) => `M${x(v)} ${y(0)}V${y(100 * used[i])}`).join(""));
      tops(values, (v, i) => ({ cx: x(v), cy: y(100 * used[i]), r: values.length > LISTED ? 1.5 : 4 }));
    },
  });

const blocks = () =>
  panel({
    label: "The relative error of each block",
    name: "blocks",
    height: 150,
    margin: [26, 12, 40, 40],
    x: ({ each }) => ({
      domain: [0, each.length],
      label: "block",
      ticks: [0.5, each.length - 0.5].slice(0, each.length),
      text: (t) => `${t - 0.5}`,
    }),
    y: ({ each }) => ({
      domain: [0, 1.06 * Math.max(0.19, ...each)],
      label: "error, of the size of the block's weights",
      text: (t) => percent(t, 0),
    }),
    layers: paths("bars", "spoiled"), // hundreds of rectangles would take most of a frame
    draw({ bars, spoiled: one }, { x, y }, { each, spoiled }) {
      const gap = each.length > 100 ? 0 : 0.1;
      const bar = (share, b) => `M${x(b + gap)} ${y(0)}V${y(share)}H${x(b + 1 - gap)}V${y(0)}Z`;
      bars(each.map((share, b) => (b === spoiled ? "" : bar(share, b))).join(""));
      one(spoiled < 0 ? null : bar(each[spoiled], spoiled));
    },
  });

/** Rows of the table: all numbers of a short code, the most used ones of a long one. */
export function rows(values, used) {
  const order = values.map((_, i) => i);
  if (values.length > LISTED) order.sort((a, b) => used[b] - used[a] || a - b);
  const kept = order.slice(0, LISTED).sort((a, b) => a - b);
  return kept.map((i) => [format(values[i], 4), percent(used[i], 2)]);
}

export default widget("sixteen-numbers", ({ model, controls, constants: { codes, place }, redraw }) => {
  const { buffer, byteOffset, byteLength } = model.get("weights");
  const stored = new DataView(buffer, byteOffset, byteLength);
  const weights = Float64Array.from({ length: byteLength / 4 }, (_, i) => stored.getFloat32(4 * i, true));
  const [plot, bars, result] = [uses(), blocks(), resultLine()];
  const list = details("The numbers in a table", table({ head: ["number", "used by"] }));
  const drawUses = (state) => {
    plot.draw(state);
    list.draw(rows(state.values, state.used));
    return true;
  };
  const drawErrors = (state) => {
    const { used, error, code, block, outlier, values, size } = state;
    bars.draw({ each: state.each, spoiled: outlier ? Math.floor(place / size) : -1 });
    result.say(describe({ code, block, outlier }, used, error, bitsOf(values, block, weights.length)));
    return true;
  };
  const picture = inTurns(redraw, drawUses, drawErrors);
  const once = memory();

  /** All that is drawn of one setting of the controls. */
  function assess({ code, block, outlier }) {
    const values = codes[code];
    const now = withOutlier(weights, outlier, place);
    const { codes: own, scaled, restored } = quantize(now, values, block);
    const used = usage(own, values);
    const bell = outline(scaled);
    return {
      ...{ code, block, outlier, values, used },
      ...errors(now, restored, block, outlier ? place : -1),
      size: block || now.length,
      outline: bell,
      highest: 1.06 * Math.max(11, 100 * Math.max(...used), ...bell.map(([, share]) => share)),
    };
  }

  return {
    layout: [
      columns("controls", [controls.code], [controls.block, controls.outlier]),
      heading(key("bell", "the weights"), key("stems", "a number of the code, and its use")),
      plot,
      bars,
      result,
      list,
    ],
    draw(state) {
      const { code, block, outlier } = state;
      picture.draw(once("all", [code, block, outlier], () => assess(state)));
    },
    stop: picture.stop,
  };
});
