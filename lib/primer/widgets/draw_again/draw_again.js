// Draw again: one sample of waiting times after the other, and where their means fall.
//
// The functions above `strip` are the mathematics; the tests compare them with the widget's Python.

import { button, clamp, counted, div, format, grouped, heading, key, memory, panel } from "../kit/kit.js";
import { paths, resultLine, widget, write as put } from "../kit/kit.js";
import { play } from "../shared/play.js";
import { random } from "../shared/random.js";

/** A source of samples: each call returns the `longest` waiting times of one, `rate` a minute. */
export function waits(seed, longest, rate) {
  const uniform = random(seed);
  return () => Array.from({ length: longest }, () => -Math.log1p(-uniform()) / rate);
}

/** The means of the first n of a sample, for each n. */
export function meansOf(sample, sizes) {
  let [total, taken] = [0, 0];
  return sizes.map((n) => {
    for (; taken < n; taken++) total += sample[taken];
    return total / n;
  });
}

/** All samples so far: for each size their histogram, how far they missed in all, and the latest mean. */
export function drawnFrom(seed, count, settings) {
  const { sizes, rate, bins } = settings;
  const runs = sizes.map(() => ({ bars: new Array(bins).fill(0), missed: 0, mean: 0 }));
  const all = { next: waits(seed, sizes.at(-1), rate), count: 0, sample: [], runs };
  for (let i = 0; i < count; i++) add(all, settings);
  return all;
}

/** One sample more. */
export function add(all, { sizes, rate, bins, longest }) {
  all.sample = all.next();
  all.count += 1;
  meansOf(all.sample, sizes).forEach((mean, i) => {
    const run = all.runs[i];
    const bin = Math.floor((mean * bins) / longest);
    if (bin < bins) run.bars[bin] += 1;
    run.missed += Math.abs(mean - 1 / rate);
    run.mean = mean;
  });
}

/** What the result line says. */
export function describe(count, { mean, missed }, rate) {
  const off = format(Math.abs(mean - 1 / rate), 2);
  const latest = `Sample ${grouped(count)}: mean ${format(mean, 2)} min, ${off} off the truth.`;
  const average = `${format(missed / count, 3)} min on average`;
  return count === 1 ? latest : `${latest} ${counted(count, "mean")} miss it by ${average}.`;
}

const [LEFT, RIGHT] = [14, 14];
const FASTEST = 20; // samples in a frame

const strip = (longest, rate) =>
  panel({
    label: "The latest sample: a tick for each waiting time, and a mark at their mean",
    name: "strip",
    height: 64,
    margin: [6, RIGHT, 8, LEFT],
    x: { domain: [0, longest], label: "", ticks: [] },
    y: { domain: [0, 1], label: "", ticks: [] },
    layers: paths("truth", "ticks"),
    over: { mean: "path", note: { tag: "text", class: "tick" } },
    draw({ truth, ticks, mean, note }, { x, y, width }, { sample, run }) {
      truth(`M${x(1 / rate)} ${y(0)}V${y(1)}`);
      const seen = sample.filter((wait) => wait <= longest);
      ticks(seen.map((wait) => `M${x(wait).toFixed(1)} ${y(0)}V${y(0.4)}`).join(""));
      mean(`M${x(Math.min(run.mean, longest)).toFixed(1)} ${y(0.45)}l-7 -13h14Z`);
      const beyond = sample.length - seen.length;
      note(beyond ? `${beyond} longer` : "", { x: width - RIGHT, y: y(0.62), "text-anchor": "end" });
    },
  });

const histogram = (longest, rate) =>
  panel({
    label: "Histogram of the means of all samples so far, with the truth and how far they miss it",
    name: "means",
    height: (width) => clamp(0.36 * width, 150, 190),
    margin: [6, RIGHT, 42, LEFT],
    x: { domain: [0, longest], label: "minutes", text: (t) => format(t, 1) },
    y: ({ run }) => ({ domain: [0, 1.15 * Math.max(4, ...run.bars)], label: "", ticks: [] }),
    layers: paths("miss", "bars", "latest", "truth"),
    draw({ miss, bars, latest, truth }, { x, y }, { count, run }) {
      const wide = longest / run.bars.length;
      const far = run.missed / count;
      const [low, high] = [1 / rate - far, 1 / rate + far].map((t) => x(clamp(t, 0, longest)).toFixed(1));
      miss(`M${low} ${y.range[0]}V${y.range[1]}H${high}V${y.range[0]}Z`);
      const at = run.bars.map((_, i) => x(i * wide).toFixed(1));
      const end = x(longest).toFixed(1);
      bars(
        run.bars
          .map((k, i) => (k ? `M${at[i]} ${y(0)}V${y(k).toFixed(1)}H${at[i + 1] ?? end}V${y(0)}` : ""))
          .join(""),
      );
      const place = Math.floor(run.mean / wide);
      const top = y(run.bars[place] ?? 0);
      const thick = Math.max(y(0) - y(1), 3); // among thousands it would not be seen
      latest(
        run.bars[place]
          ? `M${at[place]} ${top.toFixed(1)}h${(x(wide) - x(0)).toFixed(1)}v${thick.toFixed(1)}H${at[place]}Z`
          : "",
      );
      truth(`M${x(1 / rate)} ${y(0)}V${y.range[1]}`);
    },
  });

export default widget("draw-again", ({ controls, constants, read, redraw }) => {
  const { sizes, rate, first, longest } = constants;
  const [ticks, means, result, once] = [
    strip(longest, rate),
    histogram(longest, rate),
    resultLine(),
    memory(),
  ];
  /** @type {any} */
  let all = null;
  const more = (count) => {
    for (let i = 0; i < count; i++) add(all, constants);
    redraw();
  };
  // The first come one by one, so that each can be followed.
  const player = play({
    label: "Draw many",
    frame: () => more(clamp(Math.floor(all.count / 40), 1, FASTEST)),
    end: redraw,
  });
  const one = button("Draw one", () => more(1));
  const again = button("Start again", () => {
    if (player.playing()) player.stop();
    all = drawnFrom(read().seed, 1, constants);
    redraw();
  });
  const title = heading("");
  return {
    layout: [
      div("controls", controls.n),
      div("buttons", one, player.button, again),
      title,
      ticks,
      heading(key("bar", "means of all samples"), key("truth", "truth"), key("miss", "± average miss")),
      means,
      result,
    ],
    draw({ n, seed }) {
      once("seed", seed, () => {
        all = drawnFrom(seed, first, constants);
      });
      const run = all.runs[sizes.indexOf(n)];
      put(title, `The latest sample: ${n} waiting times, and their mean`);
      ticks.draw({ sample: all.sample.slice(0, n), run });
      means.draw({ count: all.count, run });
      result.say(describe(all.count, run, rate), player.playing());
    },
    stop: player.stop,
  };
});
