// Bundle the editor into one script that a page can load from disk.
// Usage: node bundle.mjs NODE_MODULES EDITOR.js BUNDLE.js
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [modules, source, bundle] = process.argv.slice(2);
const { build } = createRequire(pathToFileURL(`${modules}/`).href)("esbuild");
await build({
  entryPoints: [source],
  outfile: bundle,
  bundle: true,
  minify: true,
  format: "iife",
  target: "es2021",
  charset: "utf8",
  legalComments: "inline",
  nodePaths: [modules],
  logLevel: "error",
});
