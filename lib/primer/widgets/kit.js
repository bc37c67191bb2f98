// The drawing kit of the widgets, in files of one idea.  A module imports what it needs from here.

export * from "./kit/bind.js";
export * from "./kit/controls.js";
export * from "./kit/elements.js";
export * from "./kit/life.js";
export * from "./kit/maps.js";
export * from "./kit/marks.js";
export * from "./kit/memory.js";
export * from "./kit/numbers.js";
export * from "./kit/panel.js";
export * from "./kit/scales.js";
export * from "./kit/table.js";
