// Safetensors files of float32 numbers and 8-bit whole numbers, as widgets get their models.
//
// https://github.com/huggingface/safetensors: the length of a header, the header in JSON, the numbers.

const WIDTHS = { F32: 4, I8: 1 };

/** The header of a file: what it holds, and its own length. */
function readHeader({ buffer, byteOffset, byteLength }) {
  const size = byteLength > 8 ? Number(new DataView(buffer, byteOffset).getBigUint64(0, true)) : Infinity;
  if (8 + size > byteLength)
    throw new Error("The language model's file is damaged: it ends before its weights.");
  try {
    return {
      size,
      header: JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, byteOffset + 8, size))),
    };
  } catch {
    throw new Error("The language model's file is damaged: it does not begin with a list of its weights.");
  }
}

/** The tensors { name: { data, shape } } and the metadata of a file, a DataView or Uint8Array. */
export function readTensors(data) {
  const { buffer, byteOffset, byteLength } = data;
  const {
    size,
    header: { __metadata__: metadata, ...entries },
  } = readHeader(data);
  const read = ([
    name,
    {
      dtype,
      shape,
      data_offsets: [from, to],
    },
  ]) => {
    const start = byteOffset + 8 + size;
    if (!(dtype in WIDTHS) || start + to > byteOffset + byteLength) {
      throw new Error(`The language model's file is damaged at ${name}.`);
    }
    const bytes = buffer.slice(start + from, start + to); // a copy begins where a Float32Array may
    return [name, { shape, data: dtype === "I8" ? new Int8Array(bytes) : new Float32Array(bytes) }];
  };
  return { metadata, tensors: Object.fromEntries(Object.entries(entries).map(read)) };
}
