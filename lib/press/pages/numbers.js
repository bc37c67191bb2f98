// A number as a person writes it: 4,608 and 4 608, −40 Hz, 60 %, ½, 3/5, 2^9, 2 × 10⁻³, 8 × 2145 × 65.
(() => {
  "use strict";
  const SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹";
  const HERTZ = { hz: 1, hertz: 1, khz: 1e3, kilohertz: 1e3 };
  const LONGEST = 100; // letters
  const DO = {
    "+": (a, b) => a + b,
    "-": (a, b) => a - b,
    "*": (a, b) => a * b,
    "/": (a, b) => a / b,
  };
  const PART = /(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?|[-+*/^()]/gi;
  const GROUPS = /(?<![\d.,])[1-9]\d{0,2}(?:[,\s'’_]\d{3})+(?![\d,])/g;

  const lowered = (up) => [...up].map((digit) => SUPERSCRIPTS.indexOf(digit)).join("");
  // One spelling for each sign, and no separators within a number.
  const spelled = (text) =>
    text
      .trim()
      .replaceAll(/[！-～]/g, (wide) => wide.normalize("NFKC"))
      .replace(/^[=≈~]\s*/, "")
      .replaceAll(/[−–‐‑]/g, "-")
      .replaceAll(/[×·⋅∙](?=\s*[\d(.½¼¾])|(?<=\d)(?<!\b0)\s*x\s*(?=\d)/gi, "*")
      .replaceAll(/[÷⁄∕]/g, "/")
      .replace(/-fold$/i, " fold")
      .replaceAll("**", "^")
      .replaceAll(GROUPS, (digits) => digits.replaceAll(/\D/g, ""))
      .replaceAll(/(?<=\d)_(?=\d)/g, "")
      .replaceAll(/(⁻?)([⁰¹²³⁴-⁹]+)/g, (_, minus, up) => `^${minus && "-"}${lowered(up)}`)
      .replaceAll(
        /(\d*)\s?([¼-¾⅐-⅞])/g,
        (_, whole, part) => `(${whole || 0}+${part.normalize("NFKC").replace("⁄", "/")})`,
      )
      .replaceAll(/(\d+)\s+(\d{1,2}\/\d+)/g, "($1+$2)");

  // The value of an expression with + − * / ^ and brackets, as Python reads it, or NaN.
  const resultOf = (text) => {
    const parts = text.match(PART) ?? [];
    if (parts.join("") !== text.replaceAll(/\s/g, "")) return Number.NaN;
    const take = (...signs) => (signs.includes(parts[0]) ? parts.shift() : undefined);
    const signed = (what) => (take("+", "-") === "-" ? -what() : what());
    const atom = () => {
      if (!take("(")) return /\d/.test(parts[0]) ? Number(parts.shift()) : Number.NaN;
      const inner = sum();
      return take(")") ? inner : Number.NaN;
    };
    const power = () => {
      const base = atom();
      return take("^") ? base ** signed(power) : base;
    };
    const chain = (first, next, ...signs) => {
      let value = first();
      for (let sign = take(...signs); sign; sign = take(...signs)) value = DO[sign](value, next());
      return value;
    };
    const product = () => chain(power, power, "*", "/");
    const sum = () => chain(() => signed(product), product, "+", "-");
    const value = sum();
    return parts.length === 0 && Number.isFinite(value) ? value : Number.NaN;
  };

  // What a unit multiplies by where such an answer is expected; nothing where it means something else.
  const factorOf = (unit, expects) => {
    const word = unit.toLowerCase().replace(/\.$/, "");
    if (/^(?:%|per ?cent)$/.test(word)) return /\bpercent/.test(expects) ? 1 : 0.01;
    if (/\bhertz\b/.test(expects) && Object.hasOwn(HERTZ, word)) return HERTZ[word];
    if (/\b(?:factor|ratio)\b/.test(expects) && /^(?:×|x|times|fold)$/.test(word)) return 1;
    const said = new Set(expects.toLowerCase().match(/[a-z]+/g));
    const known = word
      .split(/\s+/)
      .every((one) => said.has(one) || said.has(`${one}s`) || said.has(one.replace(/s$/, "")));
    return known ? 1 : undefined;
  };

  // Give the value of what was typed, or the problem with it, which may have no words of its own.
  window.readNumber = (text, expects = "") => {
    if (text.length > LONGEST) return { problem: "that is too long" };
    const [, number, unit] = /^(.*?)\s*([%×]|[a-z][a-z\s]*\.?)?$/is.exec(spelled(text));
    const value = resultOf(number);
    if (Number.isNaN(value)) {
      if (/\d,\d/.test(number)) return { problem: "decimals follow a point, not a comma" };
      if (/\/\s*0+(?![\d.])/.test(number)) return { problem: "nothing is divided by 0" };
      return { problem: /\d/.test(number) ? "+ − * / ^ and brackets are understood" : "" };
    }
    const factor = unit === undefined ? 1 : factorOf(unit, expects);
    return factor === undefined ? { problem: `leave out “${unit.trim()}”` } : { value: value * factor };
  };
})();
