// Print style sheets without the rules that no page can use. Started by unused_styles.py.
// Input: {content: [files], styles: [files], attributes: [names that scripts set]}; output: {file: what is left}.
"use strict";
const { readFileSync } = require("node:fs");
const { PurgeCSS } = require(process.argv[2]);

const { content, styles, attributes } = JSON.parse(readFileSync(0, "utf-8"));
// Bootstrap's scripts put the names of its placements together: `bs-tooltip-${side}`.
// What a reader does to an element (:hover, :focus-visible, :is of these) is in no page.
const safelist = { standard: [/^bs-/, /^:/] };
new PurgeCSS().purge({ content, css: styles, dynamicAttributes: attributes, safelist }).then((left) => {
  process.stdout.write(JSON.stringify(Object.fromEntries(left.map((one) => [one.file, one.css]))));
});
