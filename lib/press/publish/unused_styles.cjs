// Print style sheets without the rules that no page can use. Started by unused_styles.py.
// Input: {content: [files], styles: [files], attributes: [names that scripts set], unwanted: [patterns of selectors]};
// output: {file: what is left}.
"use strict";
const { readFileSync } = require("node:fs");
const { PurgeCSS } = require(process.argv[2]);
const postcss = require(require.resolve("postcss", { paths: [process.argv[2]] })); // which PurgeCSS reads with

const { content, styles, attributes, unwanted } = JSON.parse(readFileSync(0, "utf-8"));
// Bootstrap's scripts put the names of its placements together: `bs-tooltip-${side}`.
// What a reader does to an element (:hover, :focus-visible, :is of these) is in no page.
const safelist = { standard: [/^bs-/, /^:/] };
const costly = new RegExp(unwanted.join("|"));
const withoutCostly = (css) => {
  const sheet = postcss.parse(css);
  sheet.walkRules((rule) => {
    const left = rule.selectors.filter((selector) => !costly.test(selector));
    if (left.length === 0) rule.remove();
    else if (left.length < rule.selectors.length) rule.selectors = left;
  });
  return sheet.toString();
};
new PurgeCSS().purge({ content, css: styles, dynamicAttributes: attributes, safelist }).then((left) => {
  const kept = left.map((one) => [one.file, withoutCostly(one.css)]);
  process.stdout.write(JSON.stringify(Object.fromEntries(kept)));
});
