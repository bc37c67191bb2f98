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
import { inTurns, news } from "../shared/in_turns.js";
import { ownSound, soundPlayer } from "../shared/sound.js";
import {
  computeFrames,
  imageRows,
  levelOf,
  sizeOf,
  spectrumDrawing,
  spreadDrawing,
} from "./spectrogram_panels.js";
import { timeDrawing } from "./spectrogram_panels.js";
import { framePowers, peaks, spread } from "../shared/spectrum.js";

/** Text with its subscripts, as nodes. */
const subscripted = (text) => text.split(/_(\w)/).map((piece, i) => (i % 2 ? html("sub", {}, piece) : piece));

export default widget("spectrogram", ({ model, el, controls, get, read, write: put, redraw, measured }) => {
  const records = get("signals");
  const signals = named(Object.keys(records), (name) => decode(name, records[name]));
  const [once, anew] = [memory(), news()];
  let own = null; // the reader's own sound and how it is looked at; never a trait, so that it stays here
  let shownOwn = false;
  let frames = null; // the levels that the image shows
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
  const analyze = (state = view()) => {
    const content = [shownOwn, current().note];
    const key = [content, state.keep_every, state.window, state.window_length, state.hop];
    return { content, key, parts: once("parts", key, () => analysis(current(), state)) };
  };

  const notice = resultLine();
  const player = soundPlayer({ current, view, write, notice, kept: () => analyze().parts, redraw });
  const { signal: choice, window: shape, window_length: size, ...settings } = controls;
  choice.row.classList.add("signals");
  choice.row.lastChild.hidden = true;
  const jump = () =>
    player.move(Math.min(current().duration, (Number(cursor.value) * view().hop) / current().rate));
  const frame = { type: "range", class: "cursor", min: 0, "aria-label": "Current frame" };
  const cursor = html("input", { ...frame, oninput: jump });
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
    size.set(state.window_length);
    settings.hop.set(state.hop);
  }

  /** The axes. */
  function still(state) {
    const signal = current();
    const { width, sideWidth, narrow } = measured(measure);
    const { content } = analyze(state);
    const { decibels } = state;
    limit(signal, state);
    const note = shownOwn ? [signal.note] : subscripted(signal.note);
    once("about", content, () => about.replaceChildren(...note));
    once("axes", [content, width], () => time.axes(signal, width));
    const beside = [sideWidth, !narrow];
    return anew("spectrum", [content, beside, decibels], () => spectrum.still(signal, decibels, ...beside));
  }

  /** What moves with time: the frame and its spectrum. */
  function move(state) {
    const signal = current();
    const { width, sideWidth, narrow } = measured(measure);
    const { parts, key } = analyze(state);
    const at = [key, state.time];
    const { power, found } = once("found", at, () => {
      const size = sizeOf(parts);
      const power = framePowers(parts.samples, parts.window, [Math.round(state.time * parts.rate)], size);
      const peak = (k) => ({ frequency: (k * parts.rate) / size, level: levelOf(power[Math.round(k)]) });
      return { power, found: peaks(power).map(peak) };
    });
    const moved = anew("moved", [at, width], () => {
      time.move(signal, state.time, parts.window, parts.rate);
      set(cursor, {
        max: Math.floor((signal.duration * signal.rate) / state.hop),
        "aria-valuetext": wordsOf(signal).moment(signal.start + state.time),
      });
      cursor.value = Math.round((state.time * signal.rate) / state.hop);
      result.say(describeFrame(signal, state.time, parts.rate, found), player.position() !== null);
      set(el, { "data-peaks": found.map(({ frequency }) => frequency.toFixed(2)).join(" ") });
    });
    const scale = [sideWidth, narrow, state.decibels];
    const drawn = anew("curve", [at, scale], () => spectrum.move(signal, power, parts.rate, found));
    return moved || drawn;
  }

  /** The levels of the spectrogram, and in another frame its image. */
  function compute(state) {
    const { parts, key } = analyze(state);
    return anew("frames", key, () => {
      frames = computeFrames(parts, imageRows(state.keep_every));
    });
  }
  function paint(state) {
    const { width } = measured(measure);
    const { parts, key } = analyze(state);
    const { decibels } = state;
    return anew("image", [key, width, decibels], () => time.image(current(), decibels, parts, frames));
  }

  /** The samples that are kept. */
  function keep(state) {
    const { width } = measured(measure);
    const { parts, content } = analyze(state);
    const known = [state.keep_every, state.show_known];
    return anew("kept", [content, width, known], () => time.kept(current(), state, parts));
  }

  /** What the window spreads over. */
  function spreadOut(state) {
    const signal = current();
    const { sideWidth } = measured(measure);
    const { parts, content } = analyze(state);
    const window = [state.window, parts.window.length, parts.rate];
    return anew("spread", [content, window, sideWidth], () => {
      const widths = spread(parts.window, parts.rate);
      spreads.draw(signal, widths, sideWidth);
      const said = describeSpread(widths, signal.unit);
      anew("said", said, () => spreadLine.replaceChildren(...subscripted(said))); // the same in another width
    });
  }
  const picture = inTurns(redraw, still, move, compute, paint, keep, spreadOut);

  /** Another signal, or another size of the page, is drawn at once. */
  function draw(state) {
    picture.draw(state, anew("whole", [shownOwn, current().note, measured(measure)]));
  }

  return {
    layout: [
      ...[choice, about, div("controls", size, shape), div("stage", timePanel, side), spreadLine, result],
      div("controls", settings.hop, settings.keep_every, settings.decibels, settings.show_known),
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
      picture.stop();
      player.rest();
      player.close();
    },
  };
});
