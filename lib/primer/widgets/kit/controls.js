// Single controls: each is { row, input, set(value) } and calls `change(value)` on the reader's input.

import { div, html, set, uniqueId, write } from "./elements.js";
import { clamp } from "./numbers.js";

/** `text(value)` is written beside it; `limit({ min, max, step })` moves its ends. */
export function slider({ label, min, max, step = 1, value = undefined, text = (x) => `${x}`, change }) {
  const id = uniqueId();
  const input = html("input", { id, type: "range", min, max, step });
  const output = html("output", { for: id, "aria-live": "off" }); // the input itself says its value
  let [place, reach] = [null, ""];
  const known = { min, max }; // the input itself would have to read them anew
  const show = (x) => {
    const at = clamp(x, known.min, known.max); // as a slider cuts what it is given
    if (at !== place) input.value = place = at; // written again, the same would be laid out again
    const words = text(x);
    write(output, words); // so that a frame lays out only what has changed
    set(input, { "aria-valuetext": words });
  };
  input.addEventListener("input", () => {
    place = Number(input.value); // where the reader put it, it stands
    show(place);
    change(place);
  });
  if (value !== undefined) show(value);
  // input and value stand together, beside their name or below it
  const row = div("control", html("label", { for: id }, label), div("setting", input, output));
  const limit = (ends) => {
    const now = Object.values(ends).join();
    if (now === reach) return;
    [place, reach] = [null, now]; // where it stands is cut to its ends
    set(input, Object.assign(known, ends));
  };
  return { row, input, set: show, limit };
}

/** options: [[value, text], …]; `offer(options)` takes others. */
export function select({ label, options = [], value = undefined, change }) {
  const id = uniqueId();
  const input = html("select", { id });
  const offer = (list) =>
    input.replaceChildren(...list.map(([v, text]) => html("option", { value: v }, text)));
  const show = (v) => {
    input.value = v;
  };
  input.addEventListener("change", () => change(input.value));
  offer(options);
  show(value);
  const row = div("control", html("label", { for: id }, label), input);
  return { row, input, set: show, offer };
}

/** options: [[value, text or element], …] */
export function radio({ label, options, value = undefined, change }) {
  const name = uniqueId();
  const inputs = options.map(([v]) =>
    html("input", { type: "radio", name, value: v, onchange: () => change(v) }),
  );
  const show = (v) => {
    for (const input of inputs) input.checked = input.value === String(v);
  };
  show(value);
  const choices = options.map(([, text], i) => html("label", {}, inputs[i], text));
  const row = html("fieldset", { class: "control" }, html("legend", {}, label), ...choices);
  return { row, input: inputs[0], set: show };
}

export function checkbox({ label, value = false, change }) {
  const input = html("input", { type: "checkbox", onchange: () => change(input.checked) });
  const show = (v) => {
    input.checked = v;
  };
  show(value);
  return { row: html("label", { class: "control" }, input, label), input, set: show };
}

export const button = (text, click) => html("button", { type: "button", onclick: click }, text);
