// Sound in and out: the reader's own, from a file or the microphone, and the player.
import { button, format, html } from "../kit/kit.js";
import { play } from "./play.js";
import { interpolate, powerOfTwo } from "./spectrum.js";
import { parseWav } from "./wav.js";

const LARGEST = 64; // megabytes of a file that are read
const RECORDED = 3; // seconds taken from the microphone
const RECORDED_RATE = 16000;

const NO_ACCESS =
  "This page has no access to a microphone: browsers give it only to pages from https or localhost.";
const NO_MICROPHONE = "There is no microphone.";
const NOT_ALLOWED = "The browser did not allow the microphone.";

/** Record from the microphone; the sound stays in this page. */
async function record() {
  if (!navigator.mediaDevices?.getUserMedia || !window.MediaRecorder) throw new Error(NO_ACCESS);
  const stream = await navigator.mediaDevices.getUserMedia({ audio: true }).catch(({ name }) => {
    throw new Error(name === "NotFoundError" ? NO_MICROPHONE : NOT_ALLOWED);
  });
  const recorder = new MediaRecorder(stream);
  const pieces = [];
  recorder.ondataavailable = (event) => pieces.push(event.data);
  const ended = new Promise((resolve) => recorder.addEventListener("stop", resolve));
  recorder.start();
  setTimeout(() => recorder.stop(), 1000 * RECORDED);
  await ended;
  stream.getTracks().forEach((track) => track.stop());
  const bytes = await new Blob(pieces).arrayBuffer();
  const decoded = await new OfflineAudioContext(1, 1, RECORDED_RATE).decodeAudioData(bytes);
  return { samples: decoded.getChannelData(0), rate: RECORDED_RATE };
}

/** Plays samples, after band-limited interpolation, so that an alias is heard as the samples have it. */
function loudspeaker() {
  /** @type {any[]} */
  let [context, source, begun, turn] = [null, null, 0, 0];
  const stop = () => {
    turn += 1;
    source?.stop();
    source = null;
  };
  const start = async (samples, rate, from) => {
    stop();
    context ??= new AudioContext();
    const mine = turn;
    await context.resume();
    if (mine !== turn) return; // stopped, or started again, while the device woke up
    const factor = Math.max(1, powerOfTwo(32000 / rate));
    const buffer = context.createBuffer(1, samples.length * factor, rate * factor);
    const quiet = Float32Array.from(interpolate(samples, factor), (x) => 0.5 * x);
    buffer.copyToChannel(quiet, 0);
    source = new AudioBufferSourceNode(context, { buffer });
    source.connect(context.destination);
    source.start(0, from);
    begun = context.currentTime - from;
  };
  const position = () => (source ? context.currentTime - begun : null);
  return { start, stop, position, close: () => context?.close() };
}

/** A file input and a button for the microphone; `adopt(name, get)` takes what they bring. */
export function ownSound(adopt, notice) {
  const read = async (chosen) => {
    const megabytes = chosen.size / 2 ** 20;
    if (megabytes > LARGEST)
      throw new Error(`The file has ${format(megabytes, 0)} MB; at most ${LARGEST} are read.`);
    return parseWav(await chosen.arrayBuffer());
  };
  const onchange = async () => {
    const chosen = file.files[0];
    if (chosen) await adopt(chosen.name, () => read(chosen));
    file.value = ""; // so that the same file can be chosen again
  };
  const file = html("input", { type: "file", accept: ".wav,audio/wav", onchange });
  const microphone = button("Record 3 s", async () => {
    microphone.disabled = true;
    notice.say("Listening for three seconds …");
    await adopt("Microphone", record);
    microphone.disabled = false;
  });
  return [html("label", { class: "file" }, file, "Open a WAV file"), microphone];
}

/** The play button and where it is: `position()` is null while nothing plays. */
export function soundPlayer({ current, view, write, kept, redraw, notice }) {
  const speaker = loudspeaker();
  let playhead = null;
  const silent = () => current().unit !== "s";
  const hear = async () => {
    if (silent() || playhead === null) return;
    try {
      await speaker.start(kept().samples, kept().rate, playhead);
    } catch (error) {
      notice.say(`The browser plays no sound: ${error.message}`);
    }
  };
  const player = play({
    start() {
      const { time } = view();
      playhead = time > 0.98 * current().duration ? 0 : time;
      hear();
    },
    frame(seconds) {
      const { duration } = current();
      // What cannot be heard passes in eight seconds.
      const next = speaker.position() ?? playhead + (silent() ? duration / 8 : 1) * seconds;
      playhead = Math.min(duration, next);
      redraw();
      return playhead < duration;
    },
    end() {
      const time = playhead;
      playhead = null;
      speaker.stop();
      if (time !== null) write({ time });
      redraw();
    },
  });
  const rest = () => playhead !== null && player.stop();
  const move = (time) => {
    if (playhead === null) return write({ time });
    playhead = time;
    hear();
  };
  return { button: player.button, position: () => playhead, hear, rest, move, close: speaker.close };
}
