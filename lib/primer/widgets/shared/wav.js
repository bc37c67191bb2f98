// WAV files, read from their bytes.

const PCM = 1;
const FLOAT = 3;
const EXTENSIBLE = 0xfffe;
// What follows the number of a format in its long name, of which the first two bytes stand before it.
const LONG_NAME = [0x80, 0x00, 0x00, 0xaa, 0x00, 0x38, 0x9b, 0x71];
// Who writes into a stream cannot know the length: some write the largest number, SoX and arecord about half of it.
const NO_LENGTH = 0x7ff00000;
const TO_ITS_END = "It says no length and is read to its end.";

/** A number of so many bits that stands left in so many bytes, full scale 1. */
function integer(view, at, width, little) {
  if (width === 1) return (view.getUint8(at) - 128) / 128;
  let value = 0; // a byte at a time, the highest last; of more than four bytes the lower ones change nothing
  const used = Math.min(width, 4);
  for (let n = used - 1; n >= 0; n--) {
    const byte = view.getUint8(little ? at + width - 1 - n : at + n);
    value += byte * 256 ** (used - 1 - n);
  }
  const full = 256 ** used / 2;
  return (value < full ? value : value - 2 * full) / full;
}

/** What reads one sample of a layout, or undefined. */
function readerOf({ kind, bits, width, little }) {
  const whole = kind === PCM && Number.isInteger(width) && width <= 8 && bits >= 1 && bits <= 8 * width;
  if (whole && (bits > 8 || width === 1)) return (view, at) => integer(view, at, width, little);
  if (kind === FLOAT && bits === 32 && width === 4) return (view, at) => view.getFloat32(at, little);
  if (kind === FLOAT && bits === 64 && width === 8) return (view, at) => view.getFloat64(at, little);
}

/** The samples (channels averaged, full scale 1) and the rate of a WAV file's bytes, and what to say of it. */
export function parseWav(bytes) {
  const data = new Uint8Array(bytes);
  const view = new DataView(data.buffer);
  const name = (at) => String.fromCharCode(...data.subarray(at, at + 4));
  if (!["RIFF", "RIFX", "RF64", "BW64"].includes(name(0)) || name(8) !== "WAVE") {
    throw new Error("This is not a WAV file: it does not start with RIFF and WAVE.");
  }
  const little = name(0) !== "RIFX";
  let [layout, long] = [null, null]; // `long` is the length of the sound where it takes more than four bytes
  for (let at = 12, size; at + 8 <= data.length; at += 8 + size + (size % 2)) {
    size = view.getUint32(at + 4, little);
    const whole = at + 8 + size <= data.length;
    if (name(at) === "ds64" && size >= 16 && whole)
      long = view.getUint32(at + 16, true) + 2 ** 32 * view.getUint32(at + 20, true);
    if (name(at) === "fmt " && size >= 16 && whole) layout = readLayout(view, at + 8, size, little);
    if (name(at) === "data") {
      // A header that was never finished says 0, and of the whole file that it ends here.
      const unfinished = size === 0 && at + 8 < data.length && view.getUint32(4, little) <= at;
      const length = size === 0xffffffff ? long || size : unfinished ? NO_LENGTH : size;
      return readSamples(view, at + 8, length, layout);
    }
  }
  throw new Error("The WAV file is damaged: it ends before its sound begins.");
}

function readLayout(view, at, size, little) {
  const [channels, align, bits] = [2, 12, 14].map((offset) => view.getUint16(at + offset, little));
  let kind = view.getUint16(at, little);
  if (kind === EXTENSIBLE && size >= 40 && LONG_NAME.every((byte, n) => view.getUint8(at + 32 + n) === byte))
    kind = view.getUint32(at + 24, little);
  return { kind, channels, bits, little, rate: view.getUint32(at + 4, little), width: align / channels };
}

function readSamples(view, start, size, layout) {
  const here = view.byteLength - start;
  if (!layout) throw new Error("The WAV file is damaged: its format is missing.");
  const { channels, rate, width, bits } = layout;
  if (!rate || !channels) throw new Error("The WAV file is damaged: it names a rate or channels of 0.");
  if ([PCM, FLOAT].includes(layout.kind) && (!Number.isInteger(width) || 8 * width < bits))
    throw new Error(
      `The WAV file is damaged: ${channels} × ${bits} bits do not fit its frames of ${channels * width} bytes.`,
    );
  const read = readerOf(layout);
  if (!read) throw new Error("The WAV file is compressed or of a rare format; save it as PCM of 16 bits.");
  const unknown = size >= NO_LENGTH;
  if (size > here && !unknown) {
    throw new Error(`The WAV file is cut off: it announces ${size} bytes of sound and has ${here}.`);
  }
  const samples = new Float32Array(Math.floor(Math.min(size, here) / width / channels));
  for (let n = 0, at = start; n < samples.length; n++) {
    for (let c = 0; c < channels; c++, at += width) samples[n] += read(view, at) / channels;
  }
  if (!samples.every(Number.isFinite)) throw new Error("The WAV file holds values that are no numbers.");
  return { samples, rate, told: unknown ? TO_ITS_END : "" };
}
