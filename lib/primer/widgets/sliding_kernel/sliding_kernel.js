// A sliding kernel: convolution sum by sum, with its borders, and correlation beside it.
//
// What is computed is in sliding.js.

import { clamp, columns, div, heading, key, panel, paths, resultLine, widget } from "../kit/kit.js";
import { play } from "../shared/play.js";
import { describe, LENGTH, places, taps, total, under } from "./sliding.js";

const PACE = 2; // places a second
const REACH = { domain: [-4.6, LENGTH + 3.6], label: "", ticks: [-4, -2, 0, 2, 4, 6, 8, 10] };
const ASIDE = 0.26; // the kernel stands a little beside the signal

// Stems with heads, as the parts of two paths: [place, value], …
function stems(stem, head, { x, y }, pairs) {
  stem(pairs.map(([n, v]) => `M${x(n).toFixed(1)} ${y(0)}V${y(v).toFixed(1)}`).join(""));
  head(pairs.map(([n, v]) => `M${x(n).toFixed(1)} ${y(v).toFixed(1)}h0`).join(""));
}

const rows = (label, height, highest, name, more = {}) =>
  panel({
    label,
    height,
    margin: [8, 10, 22, 34],
    x: REACH,
    y: { domain: [-1.1, highest], label: "", ticks: [-1, 0, 1] },
    layers: paths("edges", "zero", `${name} stem`, `${name} head`, "kernel stem", "kernel head"),
    draw(layers, plot, { pairs, kernel = [] }) {
      const [bottom, top] = plot.y.range;
      layers.edges([-0.5, LENGTH - 0.5].map((n) => `M${plot.x(n)} ${bottom}V${top}`).join(""));
      layers.zero(`M${plot.x.range[0]} ${plot.y(0)}H${plot.x.range[1]}`);
      stems(layers[`${name} stem`], layers[`${name} head`], plot, pairs);
      stems(layers["kernel stem"], layers["kernel head"], plot, kernel);
    },
    ...more,
  });

export default widget("sliding-kernel", ({ controls, constants, write, read }) => {
  const found = () => {
    const state = read();
    const [x, own] = [constants.signals[state.signal], taps(constants.kernels[state.kernel], state.flip)];
    const [first, last] = places(own.length, state.border);
    return { ...state, x, own, first, last, place: clamp(state.place, first, last) };
  };
  const tell = (n) => {
    const { first, last } = found();
    change({ place: clamp(Math.round(n), first, last) });
  };
  const mark = {
    at: ({ place, own }) => [place + ASIDE, own[0]],
    label: () => "The kernel, by its right end",
    move: ([n]) => tell(n - ASIDE),
    keys: (dx, dy) => tell(found().place + dx + dy),
    attributes: { role: "slider", "aria-valuemin": 0, "aria-valuemax": LENGTH + 3 },
    live: ({ place }) => ({ "aria-valuenow": place, "aria-valuetext": `place ${place}` }),
  };
  const both = rows("The signal, and the kernel laid over it", 132, 1.2, "signal", { marks: [mark] });
  const products = rows("The products of the signal and the kernel over it", 104, 1.2, "product");
  const sums = rows("The sum of the products at each place so far", 142, 1.9, "sum", {
    margin: [8, 10, 40, 34],
    x: { ...REACH, label: "place n" },
  });
  const result = resultLine();
  let time = 0;
  const slide = play({
    label: "Slide",
    start() {
      const { place, first, last } = found();
      if (place >= last) write({ place: first });
      time = 0;
    },
    frame(seconds) {
      time += seconds;
      if (time < 1 / PACE) return true;
      time = 0;
      const { place, last } = found();
      if (place < last) write({ place: place + 1 });
      return place + 1 < last;
    },
    end: () => {},
  });
  const rest = () => slide.playing() && slide.stop();
  function change(changes) {
    rest();
    write(changes);
  }

  return {
    layout: [
      columns("controls", [controls.signal, controls.kernel], [controls.border, controls.flip]),
      controls.place,
      heading(key("signal", "the signal"), key("kernel", "the kernel, drag it"), key("ends", "its ends")),
      both,
      heading(key("product", "their products")),
      products,
      heading(key("sum", "their sum, at each place so far")),
      sums,
      result,
      div("buttons", slide.button),
    ],
    read: found,
    change,
    draw({ x, own, first, last, place, border }) {
      controls.place.limit({ low: first, high: last });
      controls.place.set(place);
      const now = under(x, own, place, border);
      both.draw({ pairs: [...x.entries()], kernel: now.map(({ at, tap }) => [at + ASIDE, tap]), place, own });
      products.draw({ pairs: now.map(({ at, product }) => [at, product]) });
      const done = Array.from({ length: place - first + 1 }, (_, i) => first + i);
      sums.draw({ pairs: done.map((n) => [n, total(x, own, n, border)]) });
      result.say(describe(x, own, place, border), slide.playing());
    },
    stop: rest,
  };
});
