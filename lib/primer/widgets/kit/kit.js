// The drawing kit of the widgets, in files of one idea.  A module imports what it needs from here; what only the kit
// itself needs (bind.js, the grip) is not told to each page.

export * from "./controls.js";
export * from "./elements.js";
export * from "./life.js";
export * from "./maps.js";
export { draggable, hover } from "./marks.js";
export * from "./memory.js";
export * from "./numbers.js";
export * from "./panel.js";
export * from "./scales.js";
