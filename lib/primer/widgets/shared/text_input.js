// The text that a language model reads: examples to choose from, a field to type in, a line about it.

import { div, html, select, write } from "../kit/kit.js";

/** { parts, draw(text, note) }: what is typed or chosen is handed to `change(text)`. */
export function textInput({ label, examples, longest, change }) {
  const area = html("textarea", { rows: 2, maxlength: longest, spellcheck: "false", "aria-label": label });
  let [said, hint] = ["", ""];
  const say = () => write(note, `${said} ${hint}`.trim()); // said once
  area.addEventListener("input", () => {
    hint = "";
    change(area.value);
  });
  // The text is read while it is typed, and Enter looks like "done": it adds no line that nobody meant. A
  // telephone's keys have no Shift; there Enter begins a line.
  area.addEventListener("keydown", (event) => {
    const alone = event.key === "Enter" && !event.shiftKey && !event.isComposing;
    if (!alone || !matchMedia("(pointer: fine)").matches) return;
    event.preventDefault();
    hint = "It is read as you type; Shift and Enter begin a new line.";
    say();
  });
  const choice = select({
    label,
    options: [...examples.map((text) => [text, text.replace(/\s+/g, " ")]), ["", "your own"]],
    change: (text) => (text ? change(text) : area.focus()),
  });
  const note = html("p", { class: "note", role: "status" });
  function draw(text, words) {
    if (area.value !== text) area.value = text;
    choice.set(examples.includes(text) ? text : "");
    said = words;
    say();
  }
  return { element: div("prompt", choice, area, note), parts: [choice.row, area, note], draw };
}

/** What of a text is read otherwise than it was typed, as the end of a sentence about it. */
export const BYTE_BY_BYTE = "a character that the model has no token for is read byte by byte";
