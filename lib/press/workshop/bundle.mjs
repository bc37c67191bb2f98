// Bundles the widgets' modules with esbuild: node bundle.mjs FOLDER prints { "name.js": text, … } as JSON.
//
// The kit becomes one script, `var kit = …`, that stands before every widget; in a widget's own part the
// imports from "../kit/kit.js" are taken from it.  The styles are bundled beside them.

import { existsSync, readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";

const folder = resolve(process.argv[2]);
const { build } = createRequire(join(process.cwd(), "package.json"))("esbuild");
const has = (name, file) => existsSync(join(folder, name, file));
// A widget is a folder with a Python file and a module of the folder's name, and perhaps styles.
const python = readdirSync(folder).filter((name) => name !== "shared" && has(name, "__init__.py"));
const widgets = python.filter((name) => has(name, `${name}.js`));
const styled = ["kit", ...widgets].filter((name) => has(name, `${name}.css`));
const common = {
  bundle: true,
  minify: true,
  charset: "utf8",
  legalComments: "none",
  logLevel: "silent",
  write: false,
  target: "es2022",
  tsconfigRaw: "{}",
};

/** What the kit exports. */
async function exportsOfKit() {
  const options = { format: "esm", metafile: true, outfile: "kit.js" };
  const { metafile } = await build({ ...common, entryPoints: [join(folder, "kit/kit.js")], ...options });
  return Object.values(metafile.outputs)[0].exports;
}

/** Imports of the kit become the members of the global `kit`; those that nobody needs fall away. */
const sharedKit = (names) => ({
  name: "shared kit",
  setup(bundler) {
    const contents = names.map((name) => `export const ${name} = /* @__PURE__ */ (() => kit.${name})();`);
    bundler.onResolve({ filter: /^\.\.\/kit\/kit\.js$/ }, () => ({ path: "kit", namespace: "shared" }));
    bundler.onLoad({ filter: /.*/, namespace: "shared" }, () => ({ contents: contents.join("\n") }));
  },
});

/**
 * A module as a script that keeps its exports in a variable: `export { a as b };` at its end becomes what a
 * function returns.  esbuild's own form for this is half a kilobyte longer, in each of the widgets.
 */
function asGlobal(name, text) {
  const [, body, list] = text.match(/^(.*)export\{([^}]*)\};\s*$/s);
  const members = list.split(",").map((one) => one.split(" as ").reverse().join(":"));
  return `var ${name}=(()=>{${body}return{${members}}})();\n`;
}

/** What a widget takes from the kit, here and there, is taken once, at its beginning. */
function takenOnce(text) {
  const found = [...text.matchAll(/([\w$]+)=kit\.(\w+)/g)].map(([, own, name]) => `${name}:${own}`);
  const rest = text.replace(/var (?:[\w$]+=kit\.\w+,?)+;/g, "");
  return found.length ? `var{${found.sort()}}=kit;${rest}` : rest;
}

async function bundle(entry, options) {
  const { outputFiles } = await build({ ...common, entryPoints: [join(folder, entry)], ...options });
  return outputFiles[0].text;
}

try {
  for (const name of python)
    if (!widgets.includes(name))
      throw new Error(
        `widgets/${name} has no ${name}.js: write the module that draws it, or remove the folder`,
      );
  const plugins = [sharedKit(await exportsOfKit())];
  const results = await Promise.all([
    bundle("kit/kit.js", { format: "esm" }).then((text) => ["kit.js", asGlobal("kit", text)]),
    ...widgets.map((name) =>
      bundle(`${name}/${name}.js`, { format: "esm", plugins }).then((text) => [
        `${name}.js`,
        takenOnce(text),
      ]),
    ),
    ...styled.map(async (name) => [`${name}.css`, await bundle(`${name}/${name}.css`, {})]),
  ]);
  process.stdout.write(JSON.stringify(Object.fromEntries(results)));
} catch (error) {
  process.stderr.write(
    (error.errors ?? [{ text: error.message }])
      .map(({ text, location }) => (location ? `${location.file}:${location.line}: ${text}` : text))
      .join("\n"),
  );
  process.exit(1);
}
