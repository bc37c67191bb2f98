// Byte-pair encoding in the page: text to token ids and back, as primer.language_models.BytePairEncoding.
//
//   const tokenizer = readTokenizer({ pattern, merges, special_tokens });   // what its `save` writes
//   const ids = encode(tokenizer, "To be");
//   decode(tokenizer, ids);           // one wrong byte sequence becomes one U+FFFD
//   tokenizer.tokens[id];             // the bytes of a token
//   tokenText(tokenizer, id);         // a token alone, for labels: a byte that is no character is written as ‹E2›

const PAIRS = 2 ** 20; // more than there are tokens: two ids make one key

export function readTokenizer({ pattern, merges, special_tokens }) {
  const tokens = Array.from({ length: 256 }, (_, byte) => Uint8Array.of(byte));
  const newIds = new Map();
  for (const [first, second] of merges) {
    newIds.set(first * PAIRS + second, tokens.length);
    tokens.push(Uint8Array.of(...tokens[first], ...tokens[second]));
  }
  const special = new Map(special_tokens.map((name, i) => [name, tokens.length + i]));
  for (const name of special_tokens) tokens.push(new TextEncoder().encode(name));
  return { words: new RegExp(pattern, "gu"), newIds, tokens, special };
}

/** Apply the merges to the bytes of one word, the earliest learned first. */
function encodeWord(newIds, bytes) {
  const ids = [...bytes];
  const merged = (i) => newIds.get(ids[i] * PAIRS + ids[i + 1]) ?? Infinity;
  for (;;) {
    let first = Infinity;
    for (let i = 0; i + 1 < ids.length; i++) first = Math.min(first, merged(i));
    if (first === Infinity) return ids;
    for (let i = 0; i + 1 < ids.length; i++) if (merged(i) === first) ids.splice(i, 2, first);
  }
}

/** The token ids of a text. */
export function encode({ words, newIds }, text) {
  if (/\p{Surrogate}/u.test(text))
    throw new RangeError("The text holds half a character, a lone surrogate; take it out.");
  const bytes = new TextEncoder();
  return (text.match(words) ?? []).flatMap((word) => encodeWord(newIds, bytes.encode(word)));
}

/** The text of token ids. */
export function decode({ tokens }, ids) {
  const unknown = ids.find((id) => !(id in tokens));
  if (unknown !== undefined) throw new RangeError(`Token ids are 0 to ${tokens.length - 1}, not ${unknown}.`);
  const bytes = Uint8Array.from(ids.flatMap((id) => [...tokens[id]]));
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
}

/** The text of one token; the bytes of a character that several tokens share are written in hexadecimal. */
export function tokenText({ tokens }, id) {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(tokens[id]);
  } catch {
    return `‹${Array.from(tokens[id], (byte) => byte.toString(16).toUpperCase().padStart(2, "0")).join("")}›`;
  }
}

/** The token that ends a text, or −1. */
export const endOf = ({ special }) => special.get("<|end|>") ?? -1;

/** A text as a label: spaces and line breaks are shown. */
export const visible = (text) => text.replace(/ /g, "␣").replace(/\n/g, "⏎").replace(/\t/g, "⇥");

/** The name of a token: its text as a label, or that the text ends here. */
export const nameOf = (tokenizer, id) =>
  id === endOf(tokenizer) ? "the end" : visible(tokenText(tokenizer, id));

/** A label, cut to the room beside a drawing. */
export const cut = (text) => (text.length > 8 ? `${text.slice(0, 7)}…` : text);
