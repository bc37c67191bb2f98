// Aliasing by ear: a tone, its samples, and the tone that the samples also fit.
//
// What is computed is in folding.js.

import { button, columns, div, format, grouped, heading, key, panel, paths } from "../kit/kit.js";
import { resultLine, widget, write as put } from "../kit/kit.js";
import { glide } from "../shared/glide.js";
import { describe, fold, HIGHEST, heard, SHOWN, valueAt } from "./folding.js";
import { NO_SOUND, speaker } from "../shared/speaker.js";

const STEP = 10; // Hz of an arrow key
const SPEED = 400; // Hz a second of the glide
const LASTS = 6000; // ms that a tone sounds when nobody moves it

const course = () =>
  panel({
    label: "The tone over time, its samples as dots, and the tone that is heard through them",
    height: 214,
    margin: [14, 10, 40, 38],
    x: { domain: [0, 1000 * SHOWN], label: "time (ms)" },
    y: { domain: [-1.2, 1.2], label: "", ticks: [-1, 0, 1] },
    layers: paths("tone", "heard", "samples"),
    draw({ tone: own, heard: low, samples }, { curve, at }, { tone, phase, rate, filtered, found }) {
      const whole = { frequency: tone, level: 1, phase: (phase * Math.PI) / 180 };
      own(curve((ms) => valueAt(whole, ms / 1000), 0, 1000 * SHOWN, 400));
      low(curve((ms) => valueAt(found, ms / 1000), 0, 1000 * SHOWN, 400));
      const taken = filtered ? found : whole;
      const times = Array.from({ length: Math.floor(SHOWN * rate + 1e-9) + 1 }, (_, n) => n / rate);
      const dots = times.map((t) => at([1000 * t, valueAt(taken, t)]));
      samples(dots.map(([a, b]) => `M${a.toFixed(1)} ${b.toFixed(1)}h0`).join(""));
    },
  });

const chart = (move, nudge) =>
  panel({
    label: "The frequency that is heard, against the frequency of the tone",
    height: 214,
    margin: [24, 12, 40, 34],
    x: {
      domain: [0, HIGHEST],
      label: "tone (kHz)",
      ticks: [0, 1000, 2000, 3000, 4000],
      text: (f) => `${f / 1000}`,
    },
    y: {
      domain: [0, HIGHEST],
      label: "heard (kHz)",
      ticks: [0, 1000, 2000, 3000, 4000],
      text: (f) => `${f / 1000}`,
    },
    layers: paths("half", "same", "zigzag"),
    over: { now: { tag: "circle", r: 6 } },
    marks: [
      {
        at: ({ tone, found }) => [tone, found.frequency],
        label: () => "Tone, on the line of what is heard",
        move: ([f]) => move(f),
        keys: (dx, dy) => nudge(dx + dy),
        attributes: { role: "slider", "aria-valuemin": 50, "aria-valuemax": HIGHEST },
        live: ({ tone }) => ({
          "aria-valuenow": Math.round(tone),
          "aria-valuetext": `${grouped(tone)} hertz`,
        }),
      },
    ],
    draw({ half, same, zigzag, now }, { x, y, line, spot }, { tone, rate, filtered, found }) {
      half(`M${x.range[0]} ${y(rate / 2)}H${x.range[1]}`);
      same(
        line([
          [0, 0],
          [HIGHEST, HIGHEST],
        ]),
      );
      zigzag(line(fold(rate, filtered)));
      now(spot(tone, found.frequency));
    },
  });

export default widget("alias-by-ear", ({ controls, write, read, redraw }) => {
  const sound = speaker();
  const within = (f) => controls.tone.within(STEP * Math.round(f / STEP));
  const tell = (f) => change({ tone: within(f) });
  const now = () => {
    const state = read();
    return { ...state, tone: gliding.at() ?? state.tone };
  };
  const [view, map] = [course(), chart(tell, (by) => tell(now().tone + STEP * by))];
  const result = resultLine();
  let [which, timer] = ["", 0]; // what sounds: the tone, its samples, or nothing
  const pitch = () => {
    const state = now();
    return which === "tone" ? { frequency: state.tone, level: 1 } : heard(state);
  };
  const quiet = () => {
    clearTimeout(timer);
    sound.stop();
    which = "";
    name();
  };
  const last = () => {
    clearTimeout(timer);
    timer = setTimeout(quiet, LASTS);
  };
  const sounds = (what) => () => {
    if (which === what) return quiet();
    which = what;
    if (!sound.start(pitch())) return mute();
    last();
    name();
  };
  const [own, low] = [button("", sounds("tone")), button("", sounds("samples"))];
  function name() {
    put(own, which === "tone" ? "❚❚ Silence" : "♪ Hear the tone");
    put(low, which === "samples" ? "❚❚ Silence" : "♪ Hear its samples");
  }
  // Without sound the buttons say so, where they are.
  function mute() {
    which = "";
    name();
    put(own, NO_SOUND);
    for (const one of [own, low]) one.disabled = true;
  }
  name();
  const gliding = glide({
    label: "Glide up",
    begin() {
      const { tone } = read();
      return tone >= HIGHEST ? controls.tone.range()[0] : tone;
    },
    highest: () => HIGHEST,
    speed: () => SPEED,
    draw: redraw,
    put: (tone) => write({ tone: within(tone) }),
  });
  const rest = () => gliding.playing() && gliding.stop();
  function change(changes) {
    if ("tone" in changes) rest();
    write(changes);
  }

  return {
    layout: [
      columns("controls", [controls.tone, controls.rate], [controls.phase, controls.filtered]),
      columns(
        "views",
        [
          heading(key("tone", "the tone"), key("samples", "samples"), key("heard", "what they are heard as")),
          view,
        ],
        [heading(key("heard", "heard"), key("tone", "the tone"), key("half", "half the rate")), map],
      ),
      result,
      div("buttons", own, low, gliding.button),
    ],
    read: now,
    change,
    draw(state) {
      const found = heard(state);
      view.draw({ ...state, found });
      map.draw({ ...state, found });
      if (which) {
        sound.tune(pitch());
        last();
      }
      result.say(describe({ ...state, tone: Number(format(state.tone, 0)) }), gliding.playing());
    },
    stop() {
      rest();
      quiet();
      sound.close();
    },
  };
});
