// Safetensors files of float32 numbers and 8-bit whole numbers, as widgets get their models.
//
// https://github.com/huggingface/safetensors: the length of a header, the header in JSON, the numbers.

const KINDS = { F32: Float32Array, I8: Int8Array };

/** The tensors { name: { data, shape } } and the metadata of a file, a DataView or Uint8Array. */
export function readTensors({ buffer, byteOffset, byteLength }) {
  const damaged = (how) => new Error(`The language model's file is damaged${how}.`);
  const size = byteLength > 8 ? Number(new DataView(buffer, byteOffset).getBigUint64(0, true)) : Infinity;
  const start = byteOffset + 8 + size;
  if (8 + size > byteLength) throw damaged(": it ends before its weights");
  let header;
  try {
    header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, byteOffset + 8, size)));
  } catch {
    throw damaged(": it does not begin with a list of its weights");
  }
  const { __metadata__: metadata, ...entries } = header;
  const read = ([name, { dtype, shape, data_offsets: offsets }]) => {
    const [from, to] = offsets.map((offset) => start + offset);
    if (!(dtype in KINDS) || to > byteOffset + byteLength) throw damaged(` at ${name}`);
    const bytes = buffer.slice(from, to); // a copy begins where a Float32Array may
    return [name, { shape, data: new KINDS[dtype](bytes) }];
  };
  return { metadata, tensors: Object.fromEntries(Object.entries(entries).map(read)) };
}
