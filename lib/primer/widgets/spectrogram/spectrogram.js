// The spectrogram widget: what joins its controls, the signals, the analysis, the panels and the sound.

import { counted, div, html, memory, named, paragraph, resultLine, set, span, widget } from "../kit/kit.js";
import {
  analysis,
  decode,
  describeFrame,
  describeSpread,
  firstView,
  ownSignal,
  wordsOf,
} from "../shared/signals.js";
import { ownSound, soundPlayer } from "../shared/sound.js";
import { computeFrames, imageRows, levelOf, spectrumDrawing, spreadDrawing } from "./spectrogram_panels.js";
import { timeDrawing } from "./spectrogram_panels.js";
import { framePowers, peaks, spread } from "../shared/spectrum.js";

/** Text with its subscripts, as nodes. */
const subscripted = (text) => text.split(/_(\w)/).map((piece, i) => (i % 2 ? html("sub", {}, piece) : piece));

export default widget("spectrogram", ({ model, el, controls, get, read, write: put, redraw, measured }) => {
  const records = get("signals");
  const signals = named(Object.keys(records), (name) => decode(name, records[name]));
  const once = memory();
  let own = null; // the reader's own sound and how it is looked at; never a trait, so that it stays here
  let shownOwn = false;
  const current = () => (shownOwn ? own.signal : signals[get("signal")]);
  const view = () => {
    const state = shownOwn ? own.view : read();
    return { ...state, time: player.position() ?? state.time };
  };
  const write = (changes) => {
    if (!shownOwn) return put(changes);
    Object.assign(own.view, changes);
    redraw();
  };
  const show = (name) => {
    player.rest();
    shownOwn = name === "own";
    if (!shownOwn) put({ signal: name, ...firstView(signals[name]) });
    redraw();
  };
  const adopt = async (name, get) => {
    try {
      const { samples, rate, told } = await get();
      const signal = ownSignal(name, samples, rate, told);
      player.rest();
      own = { signal, view: { ...view(), ...firstView(signal), signal: "own" } };
      controls.signal.row.lastChild.hidden = false;
      notice.say("");
      show("own");
    } catch (error) {
      notice.say(`${name}: ${error.message} The signal before it stays.`);
    }
  };
  const analyze = () => {
    const state = view();
    const content = [shownOwn, current().note];
    const key = [content, state.keep_every, state.window, state.window_length, state.hop];
    return { content, key, parts: once("parts", key, () => analysis(current(), state)) };
  };

  const notice = resultLine();
  const player = soundPlayer({ current, view, write, notice, kept: () => analyze().parts, redraw });
  const { signal: choice, window: shape, window_length: size, ...settings } = controls;
  choice.row.classList.add("signals");
  choice.row.lastChild.hidden = true;
  const move = () =>
    player.move(Math.min(current().duration, (Number(cursor.value) * view().hop) / current().rate));
  const frame = { type: "range", class: "cursor", min: 0, "aria-label": "Current frame" };
  const cursor = html("input", { ...frame, oninput: move });
  const [time, spectrum, spreads] = [timeDrawing(), spectrumDrawing(), spreadDrawing()];
  const [result, about, spreadLine] = [resultLine(), paragraph("about"), paragraph("spread-line")];
  const timePanel = div("time-panel", time.picture, time.root, cursor);
  const side = div("side", spreads.root, spectrum.root);
  const duration = (count) => {
    const samples = Math.max(1, Math.round(count / view().keep_every));
    return `${wordsOf(current()).duration(count / current().rate)} · ${counted(samples, "sample")}`;
  };
  const follow = () => {
    shownOwn = false;
  };
  model.on("change:signal", follow);

  const measure = () => ({
    width: timePanel.clientWidth,
    sideWidth: side.clientWidth,
    narrow: side.offsetTop > timePanel.offsetTop + 10, // the styles put it below
  });

  /** The sliders reach as far as the signal is long. */
  function limit({ samples }, state) {
    const octaves = Math.log2(samples.length);
    size.limit({ high: 2 ** (Math.floor(4 * (octaves - 1)) / 4) });
    settings.hop.limit({ high: 2 ** Math.floor(Math.min(10, octaves - 2)) });
    for (const name of ["window_length", "hop"]) controls[name].set(state[name]);
  }

  function draw(state) {
    const signal = current();
    const { width, sideWidth, narrow } = measured(measure);
    const { parts, key, content } = analyze();
    const frames = once("frames", key, () => computeFrames(parts, imageRows(state.keep_every)));
    limit(signal, state);
    const { keep_every, show_known, decibels } = state;
    const note = shownOwn ? [signal.note] : subscripted(signal.note);
    once("about", content, () => about.replaceChildren(...note));
    once("axes", [content, width], () => time.axes(signal, width));
    once("kept", [content, width, keep_every, show_known], () => time.kept(signal, state, parts));
    const beside = [sideWidth, !narrow];
    once("spectrum", [content, beside, decibels], () => spectrum.still(signal, decibels, ...beside));
    once("image", [key, width, decibels], () => time.image(signal, decibels, parts, frames));
    once("spread", [content, state.window, parts.window.length, parts.rate, sideWidth], () => {
      const widths = spread(parts.window, parts.rate);
      spreads.draw(signal, widths, sideWidth);
      spreadLine.replaceChildren(...subscripted(describeSpread(widths, signal.unit)));
    });
    const middle = Math.round(state.time * parts.rate);
    const power = framePowers(parts.samples, parts.window, [middle], frames.size);
    const peak = (k) => ({ frequency: (k * parts.rate) / frames.size, level: levelOf(power[Math.round(k)]) });
    const found = peaks(power).map(peak);
    time.move(signal, state.time, parts.window, parts.rate);
    spectrum.move(signal, power, parts.rate, found);
    const [last, here] = [signal.duration, state.time].map((t) => (t * signal.rate) / state.hop);
    once("cursor", [content, last, here], () => {
      cursor.max = Math.floor(last);
      cursor.value = Math.round(here);
    });
    set(cursor, { "aria-valuetext": wordsOf(signal).moment(signal.start + state.time) });
    result.say(describeFrame(signal, state.time, parts.rate, found), player.position() !== null);
    el.dataset.peaks = found.map(({ frequency }) => frequency.toFixed(2)).join(" ");
  }

  return {
    layout: [
      ...[choice, about, div("controls", size, shape), div("stage", timePanel, side), spreadLine, result],
      div("controls", ...Object.values(settings)),
      div("sound", player.button, ...ownSound(adopt, notice), span("", "Your sound stays on this device.")),
      notice,
    ],
    texts: {
      window_length: duration,
      hop: duration,
      keep_every(every) {
        const rate = wordsOf(current()).frequency(current().rate / every);
        return every === 1 ? rate : `${rate} · 1 sample of ${every}`;
      },
    },
    read: view,
    change({ signal, ...others }) {
      if (signal) return show(signal);
      write(others);
      if ("keep_every" in others) player.hear();
    },
    draw,
    stop() {
      model.off("change:signal", follow);
      player.rest();
      player.close();
    },
  };
});
