// One line of JSON in, one line out: {tex, display} -> {html} or {error}. Started by __init__.py.
"use strict";
const readline = require("node:readline");
const { thin } = require("./lean.js");
const katex = require(process.argv[2]);

// What has two or three elements in MathML, and no more.
const FEW = new Set(["mfrac", "mroot", "msub", "msup", "msubsup", "munder", "mover", "munderover"]);

// KaTeX writes "max" as two elements, the word and the invisible sign that it is applied to something,
// also in an index, which then has one too many: there they become one row.
function inRows(node) {
  for (const child of node.children ?? []) inRows(child);
  if (!FEW.has(node.type)) return;
  const MathNode = node.constructor;
  node.children = node.children.map((child) =>
    child.type || !child.children ? child : new MathNode("mrow", child.children),
  );
}

readline.createInterface({ input: process.stdin }).on("line", (line) => {
  const { tex, display } = JSON.parse(line);
  let reply;
  try {
    // Macros of its own for each formula: \gdef in one must not reach the next.
    const tree = katex.__renderToDomTree(tex, { displayMode: display, strict: "error", macros: {} });
    inRows(tree);
    thin(tree, display);
    reply = { html: tree.toMarkup() };
  } catch (error) {
    if (!(error instanceof katex.ParseError)) throw error;
    reply = { error: error.message };
  }
  process.stdout.write(`${JSON.stringify(reply)}\n`);
});
