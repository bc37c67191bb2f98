// A tone that sounds while it is changed.

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
