// What sounds while it is changed: a tone, or a sound that repeats.

const LOUD = 0.12;
const LOWEST = 20; // Hz; below it nobody hears a tone
const SMOOTH = 0.012; // seconds in which a change arrives, so that nothing clicks

export const NO_SOUND = "This browser plays no sound";

/** A speaker: start(tone), whether it could, tune(tone), stop() and close(); a tone is { frequency, level }. */
export function speaker() {
  /** @type {any} */
  let [context, source, gain] = [null, null, null];
  const tune = ({ frequency, level }) => {
    if (!source) return;
    const loud = frequency < LOWEST ? 0 : LOUD * Math.abs(level);
    source.frequency.setTargetAtTime(frequency, context.currentTime, SMOOTH);
    gain.gain.setTargetAtTime(loud, context.currentTime, SMOOTH);
  };
  const stop = () => {
    if (!source) return;
    gain.gain.setTargetAtTime(0, context.currentTime, SMOOTH);
    source.stop(context.currentTime + 6 * SMOOTH);
    source = null;
  };
  const start = (tone) => {
    stop();
    try {
      context ??= new AudioContext();
    } catch {
      return false; // a browser without, or a machine that gives none
    }
    context.resume();
    gain = new GainNode(context, { gain: 0 });
    source = new OscillatorNode(context, { frequency: tone.frequency });
    source.connect(gain).connect(context.destination);
    source.start();
    tune(tone);
    return true;
  };
  return { start, tune, stop, close: () => context?.close() };
}

/**
 * A sound of some waves that repeats `base` times a second: start(waves), whether it could, tune(waves), stop() and
 * close(); wave k is [a, b], a cos(2πkt) + b sin(2πkt) with t in periods.  What is new comes in with the next period
 * and fades over what was, so that waves which stay go on unbroken.
 */
export function repeater(base) {
  /** @type {any} */
  let [context, now, begun] = [null, null, 0];
  const fade = ({ source, gain }, at) => {
    gain.gain.setTargetAtTime(0, at, SMOOTH);
    source.stop(at + 6 * SMOOTH);
  };
  const stop = () => {
    if (now) fade(now, context.currentTime);
    now = null;
  };
  const play = (waves, at) => {
    const [real, imag] = [0, 1].map((part) => Float32Array.from(waves, (wave) => wave[part]));
    const periodicWave = new PeriodicWave(context, { real, imag, disableNormalization: true });
    const gain = new GainNode(context, { gain: 0 });
    const source = new OscillatorNode(context, { frequency: base, periodicWave });
    source.connect(gain).connect(context.destination);
    source.start(at);
    gain.gain.setTargetAtTime(2 * LOUD, at, SMOOTH);
    now = { source, gain };
  };
  const start = (waves) => {
    stop();
    try {
      context ??= new AudioContext();
    } catch {
      return false;
    }
    context.resume();
    begun = context.currentTime;
    play(waves, begun);
    return true;
  };
  const tune = (waves) => {
    if (!now) return;
    const at = begun + Math.ceil((context.currentTime - begun) * base + 0.1) / base;
    fade(now, at);
    play(waves, at);
  };
  return { start, tune, stop, close: () => context?.close() };
}
