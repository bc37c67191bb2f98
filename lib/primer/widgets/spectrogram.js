// The spectrogram widget: its controls, and what joins the signals, the analysis, the panels and the sound.
import { checkbox, format, html, mount, radio, resultLine, slider, update } from "./kit.js";
import { memory } from "./memory.js";
import { analysis, decode, describeFrame, describeSpread, firstView, ownSignal, wordsOf } from "./signals.js";
import { ownSound, soundPlayer } from "./sound.js";
import {
  computeFrames,
  imageRows,
  levelOf,
  spectrumDrawing,
  spreadDrawing,
  timeDrawing,
} from "./spectrogram_panels.js";
import { framePowers, peaks, SHAPES, spread } from "./spectrum.js";

const FINENESS = 4; // window lengths per octave on the slider
const lengthAt = (v) => Math.round(2 ** (v / FINENESS));
const capital = (text) => text[0].toUpperCase() + text.slice(1);
const STATE = ["window", "window_length", "hop", "keep_every", "time", "decibels", "show_known"];

/** The controls of the analysis; `settle` brings them to a state. */
function analysisControls({ current, view, write, hear }) {
  const duration = (count) => {
    const samples = Math.max(1, Math.round(count / view().keep_every));
    return `${wordsOf(current()).duration(count / current().rate)} · ${samples} samples`;
  };
  const rate = (v) => {
    const text = wordsOf(current()).frequency(current().rate / -v);
    return v === -1 ? text : `${text} · 1 sample of ${-v}`;
  };
  const controls = {
    window: radio({
      label: "Window",
      options: Object.keys(SHAPES).map((name) => [name, capital(name)]),
      change: (window) => write({ window }),
    }),
    window_length: slider({
      label: "Window length",
      min: 3 * FINENESS,
      max: 48,
      value: 0,
      text: () => duration(view().window_length),
      change: (v) => write({ window_length: lengthAt(v) }),
    }),
    hop: slider({
      label: "Hop",
      min: 0,
      max: 10,
      value: 0,
      text: () => duration(view().hop),
      change: (v) => write({ hop: 2 ** v }),
    }),
    keep_every: slider({
      label: "Sampling rate",
      min: -12,
      max: -1,
      value: -1,
      text: rate,
      change: (v) => {
        write({ keep_every: -v });
        hear();
      },
    }),
    decibels: slider({
      label: "Levels shown",
      min: 20,
      max: 120,
      step: 5,
      value: 70,
      text: (v) => `${format(v, 0)} dB`,
      change: (decibels) => write({ decibels }),
    }),
    show_known: checkbox({ label: "Show what is known", change: (show_known) => write({ show_known }) }),
  };
  const settle = (signal, state) => {
    const octaves = Math.log2(signal.samples.length);
    controls.window_length.input.max = Math.floor(FINENESS * (octaves - 1));
    controls.hop.input.max = Math.floor(Math.min(10, octaves - 2));
    controls.window.set(state.window);
    controls.window_length.set(Math.round(FINENESS * Math.log2(state.window_length)));
    controls.hop.set(Math.round(Math.log2(state.hop)));
    controls.keep_every.set(-state.keep_every);
    controls.decibels.set(state.decibels);
    controls.show_known.set(state.show_known);
  };
  return { rows: Object.values(controls).map((control) => control.row), settle };
}

/** Text with its subscripts, as nodes. */
const subscripted = (text) => text.split(/_(\w)/).map((piece, i) => (i % 2 ? html("sub", {}, piece) : piece));

function render({ model, el }) {
  const records = Object.entries(model.get("signals")).sort(([, a], [, b]) => a.order - b.order);
  const signals = Object.fromEntries(records.map(([name, record]) => [name, decode(name, record)]));
  const once = memory();
  let own = null; // the reader's own sound and how it is looked at; never a trait, so that it stays here
  let shownOwn = false;
  const current = () => (shownOwn ? own.signal : signals[model.get("signal")]);
  const view = () => {
    const state = shownOwn ? own.view : Object.fromEntries(STATE.map((name) => [name, model.get(name)]));
    return { ...state, time: player.position() ?? state.time };
  };
  const write = (changes) => {
    if (!shownOwn) return update(model, changes);
    Object.assign(own.view, changes);
    draw();
  };
  const show = (name) => {
    player.rest();
    shownOwn = name === "own";
    if (!shownOwn) update(model, { signal: name, ...firstView(signals[name]) });
    draw();
  };
  const adopt = async (name, get) => {
    try {
      const { samples, rate } = await get();
      const signal = ownSignal(name, samples, rate);
      player.rest();
      own = { signal, view: { ...view(), ...firstView(signal) } };
      choice.row.lastChild.hidden = false;
      notice.say("");
      show("own");
    } catch (error) {
      notice.say(`${name}: ${error.message} The signal shown is still the one before.`);
    }
  };
  const analyze = () => {
    const state = view();
    const content = [shownOwn, current().note, state.keep_every].join();
    const key = [content, state.window, state.window_length, state.hop].join();
    return { content, key, parts: once("parts", key, () => analysis(current(), state)) };
  };

  const notice = resultLine();
  const player = soundPlayer({
    current,
    view,
    write,
    notice,
    kept: () => analyze().parts,
    redraw: () => draw(),
  });
  const choice = radio({
    label: "Signal",
    value: model.get("signal"),
    change: show,
    options: [...Object.keys(signals).map((name) => [name, capital(name)]), ["own", "Your sound"]],
  });
  choice.row.classList.add("signals");
  choice.row.lastChild.hidden = true;
  const controls = analysisControls({ current, view, write, hear: player.hear });
  const cursor = html("input", {
    type: "range",
    class: "cursor",
    min: 0,
    "aria-label": "Current frame",
    oninput: () => {
      player.move(Math.min(current().duration, (Number(cursor.value) * view().hop) / current().rate));
    },
  });

  const time = timeDrawing();
  const spectrum = spectrumDrawing();
  const spreads = spreadDrawing();
  const result = resultLine();
  const about = html("p", { class: "about" });
  const spreadLine = html("p", { class: "spread-line" });
  const timePanel = html("div", { class: "time-panel" }, time.picture, time.root, cursor);
  const side = html("div", { class: "side" }, spreads.root, spectrum.root);
  el.classList.add("spectrogram");
  el.append(
    choice.row,
    about,
    html("div", { class: "stage" }, timePanel, side),
    spreadLine,
    result.row,
    html("div", { class: "controls" }, ...controls.rows),
    html(
      "div",
      { class: "sound" },
      player.button,
      ...ownSound(adopt, notice),
      html("span", {}, "Your sound stays on this device."),
    ),
    notice.row,
  );

  function draw() {
    const [signal, state] = [current(), view()];
    const [width, sideWidth] = [timePanel.clientWidth, side.clientWidth];
    const narrow = side.offsetTop > timePanel.offsetTop + 10; // the styles put it below
    const { parts, key, content } = analyze();
    const frames = once("frames", key, () => computeFrames(parts, imageRows(state.keep_every)));
    once("still", [content, width, state.show_known].join(), () => {
      about.replaceChildren(...(shownOwn ? [signal.note] : subscripted(signal.note)));
      time.still(signal, state, parts, width);
    });
    once("spectrum", [content, sideWidth, narrow, state.decibels].join(), () =>
      spectrum.still(signal, state, sideWidth, !narrow),
    );
    once("image", [key, width, state.decibels].join(), () =>
      time.image(signal, state.decibels, parts, frames),
    );
    once("spread", [key, sideWidth].join(), () => {
      const widths = spread(parts.window, parts.rate);
      spreads.draw(signal, widths, sideWidth);
      spreadLine.replaceChildren(...subscripted(describeSpread(widths, signal.unit)));
    });
    const power = framePowers(
      parts.samples,
      parts.window,
      [Math.round(state.time * parts.rate)],
      frames.size,
    );
    const found = peaks(power).map((k) => ({
      frequency: (k * parts.rate) / frames.size,
      level: levelOf(power[Math.round(k)]),
    }));
    time.move(signal, state.time, parts.window, parts.rate);
    spectrum.move(signal, power, parts.rate, found);
    controls.settle(signal, state);
    choice.set(shownOwn ? "own" : model.get("signal"));
    cursor.max = Math.floor((signal.duration * signal.rate) / state.hop);
    cursor.value = Math.round((state.time * signal.rate) / state.hop);
    cursor.setAttribute("aria-valuetext", wordsOf(signal).moment(signal.start + state.time));
    result.say(describeFrame(signal, state.time, parts.rate, found), player.position() !== null);
    el.dataset.peaks = found.map((peak) => peak.frequency.toFixed(2)).join(" ");
  }

  model.on("change:signal", () => {
    shownOwn = false;
  });
  const end = mount({ model, el, traits: ["signal", ...STATE], draw });
  return () => {
    end();
    player.rest();
    player.close();
  };
}

export default { render };
