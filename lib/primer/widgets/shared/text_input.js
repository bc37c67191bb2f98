// The text that a language model reads: examples to choose from, a field to type in, a line about it.

import { div, html, select, write } from "../kit/kit.js";

/** { parts, draw(text, note) }: what is typed or chosen is handed to `change(text)`. */
export function textInput({ label, examples, longest, change }) {
  const area = html("textarea", { rows: 2, maxlength: longest, spellcheck: "false", "aria-label": label });
  area.addEventListener("input", () => change(area.value));
  const choice = select({
    label,
    options: [...examples.map((text) => [text, text.replace(/\s+/g, " ")]), ["", "your own"]],
    change: (text) => (text ? change(text) : area.focus()),
  });
  const note = html("p", { class: "note", role: "status" });
  function draw(text, words) {
    if (area.value !== text) area.value = text;
    choice.set(examples.includes(text) ? text : "");
    write(note, words); // said once
  }
  return { element: div("prompt", choice, area, note), parts: [choice.row, area, note], draw };
}

/** What of a text is read otherwise than it was typed, as the end of a sentence about it. */
export const BYTE_BY_BYTE = "a character that the model has no token for is read byte by byte";
