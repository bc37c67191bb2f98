// The winding machine: tones added up, their sum wound around zero, and how far its center of mass comes out.
//
// What is computed is in winding.js.

import { button, checkbox, clamp, columns, counted, div, format, heading, html, key } from "../kit/kit.js";
import { memory, panel, paths, resultLine, set, sum, widget } from "../kit/kit.js";
import { glide } from "../shared/glide.js";
import {
  binsBetween,
  center,
  curveOf,
  curveOfSum,
  HIGHEST,
  partsOf,
  RATE,
  samples,
  wound,
} from "./winding.js";

const FINE = 20; // points of the curve to a hertz
const TAKES = 4; // seconds of the winding
const TRAIL = 0.5; // Hz on either side that the way of the center is drawn
const SMOOTH = 3; // points of the string to a sample
const SPEED = 0.8; // Hz a second of the sweep
const SWELLS = 0.7; // seconds in which a tone comes or goes
const ROOM = 1.1; // of the height of a part, what it has above and below its own zero
const MANY = { tag: "path", many: true };

const round = (reach) => (reach > 2 ? [-2, 0, 2] : [-1, 0, 1]);

const record = (move, nudge) =>
  panel({
    label:
      "The signal over time, and below it each of its tones; a dashed line at each full turn of the winding",
    height: 178,
    margin: [10, 10, 38, 40],
    x: ({ seconds }) => ({ domain: [0, seconds], label: "time (s)" }),
    y: ({ reach, bottom }) => ({ domain: [bottom, reach], label: "", ticks: round(reach) }),
    layers: { ...paths("turns", "zeros"), whole: MANY, part: MANY, ...paths("wave", "hand") },
    over: { moment: { tag: "circle", r: 5 }, name: { tag: "text", many: true } },
    marks: [
      {
        at: ({ moment, value }) => [moment, value],
        label: () => "A moment of the signal",
        move: ([t]) => move(t),
        keys: (dx, dy) => nudge(dx + dy),
        attributes: { role: "slider", "aria-valuemin": 0 },
        live: ({ moment, seconds }) => ({
          "aria-valuemax": seconds,
          "aria-valuenow": format(moment, 2),
          "aria-valuetext": `${format(moment, 2)} seconds`,
        }),
      },
    ],
    draw({ turns, zeros, whole, part, wave, hand, moment: dot, name }, { x, y, line, spot }, state) {
      const { samples: values, alone, frequency, seconds, moment, value } = state;
      const over = (zero, numbers) => line(numbers.map((number, n) => [n / RATE, zero + number]));
      zeros(alone.map(({ zero }) => `M${x(0)} ${y(zero)}H${x(seconds)}`).join(""));
      whole(alone, ({ zero, own }) => ({ d: over(zero, own) }));
      part(alone, ({ zero, own, gain }, i) => ({
        class: `part of${i}`,
        d: gain ? over(zero, gain === 1 ? own : own.map((number) => gain * number)) : "",
      }));
      name(alone, ({ zero, name: words }) => ({ x: x(0) - 6, y: y(zero) + 4, "text-anchor": "end", words }));
      const around = Math.floor(Math.abs(frequency) * seconds + 1e-9);
      const at = Array.from({ length: around }, (_, i) => x((i + 1) / Math.abs(frequency)));
      turns(at.map((px) => `M${px.toFixed(1)} ${y.range[0]}V${y.range[1]}`).join(""));
      wave(over(0, values));
      const sticks = [[0, value], ...alone.map(({ zero, gain, at }) => [zero, zero + gain * at])];
      hand(sticks.map(([from, to]) => `M${x(moment)} ${y(from)}V${y(to)}`).join(""));
      dot(spot(moment, value));
    },
  });

const plane = () =>
  panel({
    label: "The signal wound around zero, and an arrow to its center of mass",
    height: (width) => width + 16, // the margins take 16 px more above and below
    widest: 310,
    margin: [24, 8, 40, 40],
    x: ({ reach }) => ({ domain: [-reach, reach], label: "real part", ticks: round(reach) }),
    y: ({ reach }) => ({ domain: [-reach, reach], label: "imaginary part", ticks: round(reach) }),
    layers: {
      ...paths("circle", "string", "done", "hand", "trail"),
      part: MANY,
      arm: "path",
      moment: { tag: "circle", r: 5 },
      mass: { tag: "circle", r: 6 },
    },
    draw(shapes, { x, y, line, spot }, { points, upTo, winding, way, middle, reach, chain }) {
      const [cx, cy, r] = [x(0), y(0), x(1) - x(0)];
      shapes.circle(`M${cx - r} ${cy}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0Z`);
      const dense = reach > 2 ? " dense" : "";
      shapes.string(winding ? "" : line(points), { class: `string${dense}` });
      shapes.done(line(points.slice(0, upTo + 1)), { class: `done${dense}` });
      shapes.hand(line([[0, 0], points[upTo]]));
      shapes.moment(spot(...points[upTo]));
      shapes.trail(line(way));
      shapes.part(chain, (link, i) => ({ class: `part of${i}`, d: line(link) })); // head to tail
      shapes.arm(line([[0, 0], middle]));
      shapes.mass(spot(...middle));
    },
  });

const chart = (move, nudge) =>
  panel({
    label: "How far the center is from zero, at every frequency that was passed",
    height: 160,
    margin: [24, 10, 40, 40],
    x: {
      domain: [-HIGHEST, HIGHEST],
      label: "winding frequency (Hz)",
      ticks: [-6, -4, -2, 0, 2, 4, 6],
    },
    y: { domain: [0, 0.6], label: "distance from 0", ticks: [0, 0.2, 0.4, 0.6] },
    layers: { area: "path", part: MANY, ...paths("curve", "now", "bins") },
    over: { mass: { tag: "circle", r: 6 } },
    marks: [
      {
        at: ({ frequency, length }) => [frequency, length],
        label: () => "Winding frequency, on the curve",
        move: ([f]) => move(f),
        keys: (dx, dy) => nudge(dx + dy),
        attributes: { role: "slider", "aria-valuemin": -HIGHEST, "aria-valuemax": HIGHEST },
        live: ({ frequency }) => ({
          "aria-valuenow": format(frequency, 2).replace("−", "-"),
          "aria-valuetext": `${format(frequency, 2)} hertz`,
        }),
      },
    ],
    draw({ area, part, curve, now, bins, mass }, { x, y, line, at, spot }, state) {
      const { passed, each, dots, frequency, length } = state;
      const found = line(passed);
      part(each, (one, i) => ({ class: `part of${i}`, d: line(one) }));
      curve(found);
      area(`${found}L${x(passed.at(-1)[0])} ${y(0)}H${x(passed[0][0])}Z`);
      now(`M${x(frequency)} ${y.range[0]}V${y.range[1]}`);
      bins(
        dots
          .map(at)
          .map(([a, b]) => `M${a.toFixed(1)} ${b.toFixed(1)}h0`)
          .join(""),
      );
      mass(spot(frequency, length));
    },
  });

const LEAST = 0.0005; // of a distance that is not called zero

// What the result line says of the center at a frequency.
export function describe({ frequency, seconds }, /** @type {number[]} */ [real, imaginary]) {
  const length = Math.hypot(real, imaginary);
  const angle = format((180 / Math.PI) * Math.atan2(imaginary, real), 0);
  const where =
    length < LEAST
      ? "at 0"
      : `${format(length, 3)} from 0, at an angle of ${angle === "−180" ? "180" : angle}°`;
  const turns = Math.abs(frequency * seconds);
  const whole = Math.floor(turns + 1e-6);
  const parts = [
    whole || turns < 1e-6 ? counted(whole, "turn") : "",
    turns - whole > 1e-6 ? "a part of a turn" : "",
  ];
  const made = parts.filter(Boolean).join(" and ");
  const asked = `In the record it makes ${made}${frequency < 0 ? ", backward" : ""}.`;
  return `Wound at ${format(frequency, 2)} Hz, the center is ${where}. ${asked}`;
}

export default widget("winding-machine", ({ controls, constants, write, read, redraw }) => {
  const once = memory();
  const within = (f) => controls.frequency.within(Math.round(FINE * f) / FINE);
  const tell = (f) => change({ frequency: within(f) });
  const now = () => {
    const state = read();
    const moment = Math.min(wind.at() ?? state.moment, state.seconds - 1 / RATE);
    return { ...state, moment, frequency: sweep.at() ?? state.frequency };
  };
  const reach = (t) => change({ moment: clamp(Math.round(RATE * t) / RATE, 0, read().seconds - 1 / RATE) });
  const view = record(reach, (by) => reach(now().moment + by / RATE));
  const wheel = plane();
  const curve = chart(tell, (by) => tell(now().frequency + by / FINE));
  const result = resultLine();
  let [low, high, of] = [0, 0, ""]; // what was passed, and with which signal
  let playedBefore = ""; // the signal
  const sweep = glide({
    label: "Sweep",
    begin() {
      if (wind.playing()) wind.stop();
      const { frequency } = read();
      if (frequency < HIGHEST) return frequency;
      of = "";
      return 0;
    },
    highest: () => HIGHEST,
    speed: () => SPEED,
    draw: redraw,
    put: (frequency) => write({ frequency: within(frequency) }),
  });
  const wind = glide({
    label: "Wind",
    begin() {
      if (sweep.playing()) sweep.stop();
      return 0;
    },
    highest: () => read().seconds - 1 / RATE,
    speed: () => read().seconds / TAKES,
    draw: redraw,
    put: (moment) => write({ moment: Math.round(RATE * moment) / RATE }),
  });
  const rest = () => {
    for (const one of [sweep, wind]) if (one.playing()) one.stop();
  };
  function change(changes) {
    rest();
    write("signal" in changes ? { ...changes, gains: [1, 1, 1] } : changes);
  }
  const named = (signal) => constants.parts[signal] ?? [];
  const boxes = html("fieldset", { class: "control sounding" });
  const offered = (signal) => {
    const box = ([label], i) => {
      const tell = (on) => write({ gains: read().gains.with(i, on ? 1 : 0) });
      const made = checkbox({ label, change: tell });
      made.row.classList.add(`of${i}`);
      return made;
    };
    const made = named(signal).map(box);
    boxes.replaceChildren(html("legend", {}, "Add up"), ...made.map(({ row }) => row));
    return made;
  };
  /** @type {number[] | null} */
  let heard = null; // how much of each part sounds at the moment
  let [since, request] = [0, 0];
  // A tone that is switched on swells, and so does its peak.
  function swelling(gains, anew) {
    const calm = anew || !heard || matchMedia("(prefers-reduced-motion: reduce)").matches;
    const now = performance.now();
    const most = calm ? 1 : Math.min(now - since, 50) / (1000 * SWELLS);
    heard = gains.map((gain, i) => (heard ? heard[i] + clamp(gain - heard[i], -most, most) : gain));
    since = now;
    cancelAnimationFrame(request);
    request = heard.every((gain, i) => gain === gains[i]) ? 0 : requestAnimationFrame(redraw);
    return heard;
  }
  const again = button("Start over", () => {
    of = "";
    change({ frequency: 0, whole: false });
  });

  return {
    layout: [
      columns("controls", [controls.signal, controls.seconds], [controls.delay, controls.tone, boxes]),
      controls.frequency,
      columns(
        "views",
        [
          heading(key("wave", "The sum"), key("moment", "a moment"), key("turns", "a full turn")),
          view,
          heading(key("center", "Distance of the center"), key("bins", "whole turns in the record")),
          curve,
        ],
        [
          heading(key("wave", "Wound around 0"), key("moment", "that moment"), key("center", "center")),
          wheel,
        ],
      ),
      result,
      div("buttons", wind.button, sweep.button, again, controls.whole),
    ],
    read: now,
    change,
    draw(state) {
      const { signal, seconds, tone, delay, frequency, whole, moment } = state;
      const which = [signal, seconds, signal === "tone" && tone, delay];
      const parts = once("parts", which, () => partsOf(state, constants));
      const curves = once("curves", which, () => parts.map((part) => curveOf(part, FINE)));
      const names = named(signal);
      const offer = once("offer", signal, () => offered(signal));
      const gains = swelling(state.gains, playedBefore !== signal);
      playedBefore = signal;
      const x = once("samples", [which, gains], () => samples(parts, gains));
      const all = once("curve", [which, gains], () => curveOfSum(curves, gains));
      set(controls.tone.row, { hidden: names.length > 0 });
      set(boxes, { hidden: !names.length });
      offer.forEach((box, i) => box.set(state.gains[i] > 0));
      if (of !== which.join()) [low, high, of] = [0, 0, which.join()];
      low = Math.min(low, frequency);
      high = Math.max(high, frequency);
      const [from, to] = whole ? [-HIGHEST, HIGHEST] : [low, high];
      const centers = parts.map((part) => center(part, frequency));
      const added = (shares) => [0, 1].map((axis) => sum(centers.map((c, i) => shares[i] * c[axis])));
      const middle = added(gains);
      const size = (/** @type {any[]} */ [f, c]) => [f, Math.hypot(...c)];
      const ended = (values, course) => [
        [from, center(values, from)],
        ...course.filter(([f]) => f > from && f < to),
        [to, center(values, to)],
      ];
      const passed = ended(x, all);
      const each = names.map((_, i) =>
        ended(parts[i], curves[i])
          .map(size)
          .map(([f, length]) => [f, gains[i] * length]),
      );
      const dots = binsBetween(from, to, seconds).map((k) => size([k / seconds, center(x, k / seconds)]));
      const near = [...passed, [frequency, middle]]
        .filter(([f]) => Math.abs(f - frequency) <= TRAIL)
        .sort((one, other) => one[0] - other[0]);
      const place = Math.round(RATE * moment * SMOOTH); // of the string
      const n = Math.floor(place / SMOOTH);
      const part = place / SMOOTH - n;
      const atMoment = (values) => (part ? (1 - part) * values[n] + part * values[n + 1] : values[n]);
      const reach = constants.reach[signal];
      let [bottom, tip] = [-reach, [0, 0]];
      const alone = names.map(([name, height], i) => {
        const zero = bottom - ROOM * height;
        bottom -= 2 * ROOM * height;
        return { name, zero, own: parts[i], gain: gains[i], at: atMoment(parts[i]) };
      });
      const chain = names.map((_, i) => {
        const before = tip;
        tip = centers[i].map((c, axis) => before[axis] + gains[i] * c);
        return [before, tip];
      });
      const shown = { reach, seconds, frequency };
      const now = { moment: place / SMOOTH / RATE, value: atMoment(x) };
      view.draw({ ...shown, ...now, bottom, alone, samples: x });
      const points = wound(x, frequency, SMOOTH);
      const way = near.map(([, c]) => c);
      wheel.draw({ ...shown, points, upTo: place, winding: wind.playing(), way, middle, chain });
      curve.draw({ passed: passed.map(size), each, dots, frequency, length: Math.hypot(...middle) });
      result.say(describe(state, added(state.gains)), sweep.playing() || wind.playing());
    },
    stop() {
      rest();
      cancelAnimationFrame(request);
    },
  };
});
