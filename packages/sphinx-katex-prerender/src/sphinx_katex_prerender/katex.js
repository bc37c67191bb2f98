// One line of JSON in, one line out: {tex, display} -> {html} or {error}. Started by __init__.py.
"use strict";
const readline = require("node:readline");
const katex = require(process.argv[2]);

readline.createInterface({ input: process.stdin }).on("line", (line) => {
  const { tex, display } = JSON.parse(line);
  let reply;
  try {
    // Macros of its own for each formula: \gdef in one must not reach the next.
    const html = katex.renderToString(tex, { displayMode: display, strict: "error", macros: {} });
    reply = { html };
  } catch (error) {
    if (!(error instanceof katex.ParseError)) throw error;
    reply = { error: error.message };
  }
  process.stdout.write(`${JSON.stringify(reply)}\n`);
});
