// A tone to erase: the waves of a sound as bars, and the sound without those pulled down.
//
// What is computed is in waves.js.

import { button, clamp, columns, div, format, grouped, heading, key, memory } from "../kit/kit.js";
import { panel, paths, resultLine, slider, widget, write as put } from "../kit/kit.js";
import { paintedOver } from "../shared/painted.js";
import { NO_SOUND, repeater } from "../shared/speaker.js";
import {
  BARS,
  COUNT,
  cut,
  curveOf,
  describe,
  lookedAt,
  rest,
  sounds,
  topOf,
  waveAt,
  wavesOf,
} from "./waves.js";

const PEN = 0.05; // of an arrow key, up or down
const PULL = 0.05; // of the axis: a smaller move of the pointer is a press
const ASIDE = 1.5; // bars to a side before a pull becomes a wipe
const LASTS = 8000; // ms that a sound lasts when nobody changes it
const LEFT = 38;

const view = (base, { drag, step }) =>
  panel({
    label: "The sound over one period; draw in it, or move the pen with the arrow keys",
    name: "sheet",
    height: (width) => (width < 340 ? 176 : 216),
    margin: [8, 10, 38, LEFT],
    x: { domain: [0, 1000 / base], label: "time (ms)" },
    y: { domain: [-1.3, 1.3], label: "", ticks: [-1, 0, 1] },
    layers: { ...paths("zero", "sound", "dots", "wave", "left"), pen: { tag: "circle", r: 5 } },
    drag,
    step,
    touch: "none",
    draw(
      { zero, sound, dots, wave, left, pen },
      { x, y, line, at: pixels, spot },
      { samples, whole, own, curve, at },
    ) {
      const ms = 1000 / base;
      zero(`M${x.range[0]} ${y(0)}H${x.range[1]}`);
      sound(line(whole.map(([t, value]) => [ms * t, value])));
      const places = samples.map((value, n) => pixels([(ms * n) / COUNT, value]));
      dots(places.map(([a, b]) => `M${a.toFixed(1)} ${b.toFixed(1)}h0`).join(""));
      wave(own && line(own.map(([t, value]) => [ms * t, value])));
      left(line(curve.map(([t, value]) => [ms * t, value])));
      pen(spot((ms * at) / COUNT, samples[at]));
    },
  });

const spectrum = (base, { drag, step }) =>
  panel({
    label:
      "The waves of the sound as bars; press or pull one down, or choose it with the arrow keys and press Enter",
    name: "bars",
    height: (width) => (width < 340 ? 176 : 216),
    margin: [8, 10, 38, LEFT],
    x: {
      domain: [-0.8, BARS - 0.2],
      label: "frequency (kHz)",
      ticks: [0, 5, 10, 15, 20, 25, 30],
      text: (k) => format((k * base) / 1000, 1),
    },
    y: ({ top }) => ({ domain: [0, top], label: "", ticks: [0, top / 2, top], text: (a) => `${a}` }),
    layers: paths("band", "whole", "kept", "chosen"),
    drag,
    step,
    touch: "none",
    draw({ band, whole, kept, chosen }, { x, y }, { waves, gains, at }) {
      const half = 0.36 * (x(1) - x(0));
      const bar = (k, height) =>
        `M${(x(k) - half).toFixed(1)} ${y(0)}V${y(height).toFixed(1)}H${(x(k) + half).toFixed(1)}V${y(0)}Z`;
      const all = waves.map(({ amplitude }, k) => [k, amplitude]);
      const left = all.map(([k, amplitude]) => [k, gains[k] * amplitude]);
      const drawn = (bars) => bars.map(([k, height]) => bar(k, height)).join("");
      band(bar(at, y.domain[1]));
      whole(drawn(all.filter(([k]) => sounds(waves[k]))));
      kept(drawn(left.filter(([k, height]) => k !== at && height)));
      chosen(drawn([left[at]]));
    },
  });

export default widget("erase-a-tone", ({ controls, constants, read, write }) => {
  const { given, base } = constants;
  const once = memory();
  const sound = repeater(base);
  const samplesOf = ({ signal, drawn }) => (signal === "own" ? drawn : given[signal]);
  const found = (state) => once("waves", samplesOf(state), () => wavesOf(samplesOf(state)));
  const whole = () => Array.from({ length: BARS }, () => 1);
  let pen = COUNT / 4; // the sample under it
  let last = [0, 0]; // where the pointer was
  const paint = (/** @type {number[]} */ from, /** @type {number[]} */ to) => {
    pen = to[0];
    write({ signal: "own", drawn: paintedOver(samplesOf(read()), from, to, -1) });
  };
  const sheet = view(base, {
    drag([ms, value], begins) {
      const now = [clamp(Math.round((COUNT * ms * base) / 1000), 0, COUNT - 1), value];
      paint(begins ? now : last, now);
      last = now;
    },
    step(dx, dy) {
      pen = clamp(pen + dx, 0, COUNT - 1);
      const now = [pen, samplesOf(read())[pen] + PEN * dy];
      paint(now, now);
    },
  });
  const set = (k, share) => write({ at: k, gains: read().gains.with(k, share) });
  const press = (/** @type {number} */ k) => {
    const state = read();
    if (sounds(found(state)[k])) set(k, state.gains[k] ? 0 : 1);
  };
  /** @type {any} */
  let hold = null; // how the pointer holds a bar: { k, place, from, pulled, wipes }
  const bars = spectrum(base, {
    /** @type {(point: number[], begins: boolean) => void} */
    drag([place, height], begins) {
      const state = read();
      const waves = found(state);
      const k = clamp(Math.round(place), 0, BARS - 1);
      if (begins) {
        hold = { k, place, from: [k, height], pulled: false, wipes: false };
        return write({ at: k });
      }
      const top = topOf(waves);
      hold.wipes ||= Math.abs(place - hold.place) > ASIDE;
      hold.pulled ||= hold.wipes || Math.abs(height - hold.from[1]) > PULL * top;
      if (!hold.pulled) return;
      const now = [hold.wipes ? k : hold.k, height];
      write({ at: now[0], gains: cut(state.gains, waves, hold.from, now, top) });
      hold.from = now;
    },
    step(dx, dy) {
      const { at, gains } = read();
      if (dx) return write({ at: clamp(at + dx, 0, BARS - 1) });
      set(at, clamp(Number((gains[at] + 0.1 * dy).toFixed(2)), 0, 1));
    },
  });
  bars.element.addEventListener("pointerup", () => {
    if (hold && !hold.pulled) press(hold.k);
    hold = null;
  });
  bars.element.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    press(read().at);
  });
  const share = slider({
    label: "Its bar",
    min: 0,
    max: 100,
    value: 100,
    text: (value) => `${value}%`,
    change: (value) => set(read().at, value / 100),
  });
  const result = resultLine();
  let [hearing, timer, heard] = [false, 0, ""];
  const wave = (state) => found(state).map(({ re, im }, k) => [re, im].map((x) => state.gains[k] * x));
  const quiet = () => {
    clearTimeout(timer);
    sound.stop();
    hearing = false;
    put(hear, "♪ Hear what is left");
  };
  const hear = button("", () => {
    if (hearing) return quiet();
    if (!sound.start(wave(read()))) {
      put(hear, NO_SOUND);
      hear.disabled = true;
      return;
    }
    hearing = true;
    heard = "";
    put(hear, "❚❚ Silence");
    timer = setTimeout(quiet, LASTS);
  });
  put(hear, "♪ Hear what is left");
  const back = button("All up", () => write({ gains: whole() }));
  const second = button("Odd bars down", () =>
    write({ gains: read().gains.map((gain, k) => (k % 2 ? 0 : gain)) }),
  );
  const empty = button("Empty sheet", () =>
    write({ signal: "own", drawn: Array.from({ length: COUNT }, () => 0), gains: whole() }),
  );

  return {
    layout: [
      columns("controls", [controls.signal, hear], [controls.at, share]),
      columns(
        "views",
        [
          heading(key("left", "what is left"), key("sound", "sound: draw in it"), key("wave", "one wave")),
          sheet,
        ],
        [heading("Amplitudes of its waves: press a bar, or pull it down"), bars],
      ),
      result,
      div("buttons", second, back, empty),
    ],
    texts: { at: (k) => `${grouped(base * k)} Hz` },
    change(changes) {
      if (!("signal" in changes)) return write(changes);
      const state = { ...read(), ...changes };
      write({ ...changes, gains: whole(), at: lookedAt(wavesOf(samplesOf(state)), state.at) });
    },
    draw(state) {
      const { gains, at } = state;
      const [samples, waves] = [samplesOf(state), found(state)];
      share.set(Math.round(100 * gains[at]));
      const shown = gains[at] * waves[at].amplitude > 0.005;
      const times = Array.from({ length: 4 * COUNT + 1 }, (_, i) => i / (4 * COUNT));
      const own = shown ? times.map((t) => [t, gains[at] * waveAt(waves[at], at, t)]) : null;
      const all = once("whole", samples, () => curveOf(samples));
      sheet.draw({ samples, whole: all, own, curve: curveOf(rest(waves, gains)), at: pen });
      bars.draw({ waves, gains, at, top: topOf(waves) });
      result.say(describe({ at, gains, base }, waves));
      const now = JSON.stringify([samples, gains]);
      if (hearing && heard !== now) {
        if (heard) {
          sound.tune(wave(state));
          clearTimeout(timer);
          timer = setTimeout(quiet, LASTS);
        }
        heard = now;
      }
    },
    stop() {
      quiet();
      sound.close();
    },
  };
});
