// Compile Python for the page, by the page's own Python: a zip of sources becomes a zip of bytecode.
// Usage: node compile.mjs FOLDER_OF_PYODIDE SOURCES.zip COMPILED.zip WHERE_THEY_LIE_IN_THE_PAGE
// Code names the file that it was compiled from: whoever asks where a function comes from gets an answer.
import { readFile, writeFile } from "node:fs/promises";
import { pathToFileURL } from "node:url";

const [folder, sources, compiled, home] = process.argv.slice(2);
const { loadPyodide } = await import(pathToFileURL(`${folder}/pyodide.mjs`).href);
const python = await loadPyodide({ indexURL: folder });
python.FS.writeFile("/sources.zip", await readFile(sources));
python.globals.set("home", home);
python.runPython(`
import importlib.util, zipfile
from importlib._bootstrap_external import _code_to_hash_pyc

with zipfile.ZipFile("/sources.zip") as given, zipfile.ZipFile("/compiled.zip", "w") as made:
    for name in given.namelist():
        source = given.read(name)
        try:
            code = compile(source, f"{home}/{name}", "exec", dont_inherit=True, optimize=0)
        except (SyntaxError, ValueError):
            continue  # a template, or a test of what is no Python: it stays as it is
        # the page never has another source, so nothing is compared when it is imported
        made.writestr(name + "c", _code_to_hash_pyc(code, importlib.util.source_hash(source), False))
`);
await writeFile(compiled, python.FS.readFile("/compiled.zip"));
