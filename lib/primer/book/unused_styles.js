// Print style sheets without the rules that no page can use. Started by unused_styles.py.
// Input: {content: [globs], styles: [files]}; output: {file: what is left of it}.
"use strict";
const { readFileSync } = require("node:fs");
const { PurgeCSS } = require(process.argv[2]);

const { content, styles } = JSON.parse(readFileSync(0, "utf-8"));
// Bootstrap's scripts put the names of its placements together: `bs-tooltip-${side}`.
new PurgeCSS().purge({ content, css: styles, safelist: { standard: [/^bs-/] } }).then((left) => {
  process.stdout.write(JSON.stringify(Object.fromEntries(left.map((one) => [one.file, one.css]))));
});
