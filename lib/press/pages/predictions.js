// A prediction is compared with the number of the library, and told how far it is away; the fold below says
// what the number means, and opens.
(() => {
  "use strict";
  const FAR = 2; // from here on a distance is a factor

  // The shortest of 0.10, 2.5, 1,200 and 3.2 × 10⁻⁷ that says a distance: two digits are enough.
  const short = (number) => {
    const rounded = Number(number.toPrecision(2));
    if (rounded >= 1e-4 && rounded < 1e9)
      return rounded.toLocaleString("en-US", { maximumFractionDigits: 6 });
    const [digits, power] = number.toExponential(1).split("e");
    const up = [...String(Number(power))].map((sign) => "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"["-0123456789".indexOf(sign)]);
    return `${digits} × 10${up.join("")}`;
  };
  const grouped = (text) => text.replace(/^-/, "−").replace(/\B(?<!\.\d*)(?=(\d{3})+(?!\d))/g, ",");

  // How far the number is from what was said.
  const distance = (said, value) => {
    const [more, factor] = [value > said, value / said];
    const by = Math.max(factor, 1 / factor);
    const far =
      said > 0 && value > 0 && by >= FAR ? `a factor of ${short(by)}` : short(Math.abs(value - said));
    return `${more ? "larger" : "smaller"} by ${far}`;
  };
  const replyTo = ({ value, within, unit }, text) => {
    const { value: said, problem } = window.readNumber(text, unit === "%" ? "percent" : unit);
    if (said === undefined) return { reply: `A number is expected${problem && `: ${problem}`}.` };
    const off = Math.abs(said - Number(value));
    const right = off <= Number(within) * (1 + 1e-9); // 0.85 is 0.05 from 0.80, whatever binary digits say
    const it = `it is ${grouped(value)}${unit && ` ${unit}`}`;
    const told = `You said ${text.trim()}; ${it}`;
    return { right, reply: right ? `Right. ${told}.` : `${told}, ${distance(said, Number(value))}.` };
  };
  window.predictions = { replyTo }; // the tests call it

  window.asker(".admonition:has(> form.prediction)", (box, said, told) => {
    const form = box.querySelector("form.prediction");
    const fold = box.querySelector(":scope > .fold-answer");
    const [field] = form.elements;
    const line = form.querySelector(".reply");
    const answer = () => {
      const { right, reply } = replyTo(form.dataset, field.value);
      line.textContent = reply;
      if (right === undefined) delete form.dataset.state;
      else form.dataset.state = right ? "held" : "failed";
      return right;
    };
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const right = answer();
      if (right === undefined) return field.focus();
      told(window.keptText(field.value), right);
      fold.open = true;
    });
    // What was said of one number is not said of the next one.
    form.addEventListener("input", () => {
      line.textContent = "";
      delete form.dataset.state;
    });
    fold.addEventListener("toggle", () => {
      if (fold.open && !form.dataset.state) told("", false);
    });
    if (said) {
      field.value = said;
      answer();
    }
  });
})();
