// Runs in a worker made from text. It has no network: the policy of the page holds here, too.
"use strict";

const SITE = "/lib/python3.12/site-packages/";
const OFTEN = 30; // milliseconds between two messages of what was printed
let python;
let runner;

// The files of a tar archive, as parts of its bytes.
const untar = (bytes) => {
  const files = {};
  const decoder = new TextDecoder();
  const text = (from, length) => decoder.decode(bytes.subarray(from, from + length)).replace(/\0.*$/s, "");
  let long = "";
  for (let at = 0; at + 512 <= bytes.length && bytes[at]; ) {
    const size = parseInt(text(at + 124, 12), 8) || 0;
    const body = bytes.subarray(at + 512, at + 512 + size);
    if (String.fromCharCode(bytes[at + 156]) === "L") long = decoder.decode(body).replace(/\0.*$/s, "");
    else {
      files[long || text(at, 100)] = body;
      long = "";
    }
    at += 512 + Math.ceil(size / 512) * 512;
  }
  return files;
};
const decode = (base64) =>
  Uint8Array.fromBase64?.(base64) ?? Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
const unpack = async (name, packed) => {
  try {
    const stream = new Blob([decode(packed)]).stream().pipeThrough(new DecompressionStream("gzip"));
    return untar(new Uint8Array(await new Response(stream).arrayBuffer()));
  } catch {
    throw Error(`The file of ${name} is damaged: load the page again, or the book anew.`);
  }
};

const url = (bytes, type) => URL.createObjectURL(new Blob([bytes], { type }));
const startPython = async (files) => {
  const kinds = { wasm: "application/wasm", zip: "application/zip", json: "application/json" };
  // Pyodide asks for its files; they are here, and nothing else can be had.
  self.fetch = async (what) => {
    const name = String(what.url ?? what)
      .split("/")
      .at(-1);
    if (!files[name]) throw TypeError(`nothing is fetched in a page of this book: ${name}`);
    return new Response(files[name], { headers: { "Content-Type": kinds[name.split(".").at(-1)] } });
  };
  for (const name of ["pyodide.asm.js", "pyodide.js"]) importScripts(url(files[name], "text/javascript"));
  const silent = () => {};
  python = await self.loadPyodide({ indexURL: "https://book.invalid/", stdout: silent, stderr: silent });
};

const install = async (files) => {
  const folders = new Set();
  for (const [path, bytes] of Object.entries(files)) {
    const shared = path.endsWith(".so") && !path.includes("/");
    const to = (shared ? "/usr/lib/" : SITE) + path;
    const folder = to.slice(0, to.lastIndexOf("/"));
    if (!folders.has(folder)) python.FS.mkdirTree(folder);
    folders.add(folder);
    python.FS.writeFile(to, bytes, { canOwn: true });
    // a library that several modules share is loaded before them
    if (shared && path.startsWith("lib")) await python._api.loadDynlib(to, true, []);
  }
};

// What is printed goes to the page in few messages: a loop that prints must not drown it.
let waiting = [];
let last = 0;
const flush = () => {
  if (waiting.length) self.postMessage({ outputs: waiting });
  waiting = [];
  last = performance.now();
};
const tell = (kind, data, alt) => {
  const before = waiting.at(-1);
  if (kind === "text/plain" && before?.[0] === kind) before[1] += data;
  else waiting.push([kind, data, alt]);
  if (kind === "takes" || kind === "imports" || performance.now() - last > OFTEN) flush();
};

const deeds = {
  async pack({ name, packed }) {
    const files = await unpack(name, packed);
    if (name === "python") return startPython(files);
    await install(files);
    python.runPython("import importlib; importlib.invalidate_caches()");
    runner?.arrived(name);
  },
  begin({ files, known }) {
    const text = new TextEncoder();
    const package_ = Object.entries(files).map(([path, code]) => [path, text.encode(code)]);
    const home = `${SITE}sphinx_run_in_page/`;
    python.FS.mkdirTree(`${home}in_page`);
    python.FS.writeFile(`${home}__init__.py`, "");
    for (const [path, bytes] of package_) python.FS.writeFile(SITE + path, bytes);
    runner = python.pyimport("sphinx_run_in_page.in_page.running").begin(known, tell);
  },
  packs: ({ cell, code }) => JSON.parse(runner.packs(cell, code)),
  run({ cell, code }) {
    const answer = JSON.parse(runner.run(cell, code));
    flush();
    return answer;
  },
  restore: ({ cell }) => runner.restore(cell),
  warm: () => runner.warm(),
  memory: () => python?._module.HEAP8.length,
};

let queue = Promise.resolve();
self.addEventListener("message", ({ data: { id, deed, ...given } }) => {
  queue = queue.then(async () => {
    try {
      self.postMessage({ id, answer: (await deeds[deed](given)) ?? null });
    } catch (error) {
      // what Python reports itself is an answer; whatever arrives here ended it
      self.postMessage({ id, error: String(error.message ?? error).slice(0, 2000), fatal: deed === "run" });
    }
  });
});
