// WAV files, read from their bytes.

const PCM = 1;
const FLOAT = 3;
const EXTENSIBLE = 0xfffe;

const READERS = {
  [`${PCM}/8`]: (view, at) => (view.getUint8(at) - 128) / 128,
  [`${PCM}/16`]: (view, at) => view.getInt16(at, true) / 2 ** 15,
  [`${PCM}/24`]: (view, at) => (view.getUint8(at) + 256 * view.getInt16(at + 1, true)) / 2 ** 23,
  [`${PCM}/32`]: (view, at) => view.getInt32(at, true) / 2 ** 31,
  [`${FLOAT}/32`]: (view, at) => view.getFloat32(at, true),
  [`${FLOAT}/64`]: (view, at) => view.getFloat64(at, true),
};

/** The samples (channels averaged, full scale 1) and the rate of a WAV file's bytes. */
export function parseWav(bytes) {
  const data = new Uint8Array(bytes);
  const view = new DataView(data.buffer);
  const name = (at) => String.fromCharCode(...data.subarray(at, at + 4));
  if (name(0) !== "RIFF" || name(8) !== "WAVE") {
    throw new Error("This is not a WAV file: it does not start with RIFF and WAVE.");
  }
  let layout = null;
  for (let at = 12, size; at + 8 <= data.length; at += 8 + size + (size % 2)) {
    size = view.getUint32(at + 4, true);
    if (name(at) === "fmt " && size >= 16 && at + 8 + size <= data.length) {
      let kind = view.getUint16(at + 8, true);
      if (kind === EXTENSIBLE && size >= 26) kind = view.getUint16(at + 32, true);
      const [channels, rate, bits] = [
        view.getUint16(at + 10, true),
        view.getUint32(at + 12, true),
        view.getUint16(at + 22, true),
      ];
      layout = { read: READERS[`${kind}/${bits}`], channels, rate, width: bits / 8 };
    }
    if (name(at) === "data") return readSamples(view, at + 8, size, layout);
  }
  throw new Error("The WAV file is damaged: it ends before its sound begins.");
}

function readSamples(view, start, size, layout) {
  const here = view.byteLength - start;
  if (!layout) throw new Error("The WAV file is damaged: its format is missing.");
  if (!layout.read)
    throw new Error(
      "The WAV file is compressed or of a rare format; save it as PCM of 8, 16, 24 or 32 bits.",
    );
  if (!layout.rate || !layout.channels)
    throw new Error("The WAV file is damaged: it names a rate or a number of channels of 0.");
  // A recorder that writes into a stream cannot know the size and writes the largest number.
  if (size > here && size !== 0xffffffff) {
    throw new Error(`The WAV file is cut off: it announces ${size} bytes of sound and has ${here}.`);
  }
  const { read, channels, rate, width } = layout;
  const samples = new Float32Array(Math.floor(Math.min(size, here) / width / channels));
  for (let n = 0, at = start; n < samples.length; n++) {
    for (let c = 0; c < channels; c++, at += width) samples[n] += read(view, at) / channels;
  }
  if (!samples.every(Number.isFinite)) throw new Error("The WAV file holds values that are no numbers.");
  return { samples, rate };
}
