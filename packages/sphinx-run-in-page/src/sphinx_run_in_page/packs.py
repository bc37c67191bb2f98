"""Packs: what the page loads when a reader presses Run, each a script of its own.

A page that is opened from disk may load scripts and nothing else, so a pack is a script: it hands a
compressed archive, as text, to the page.  There is one of Python itself, one of each library, and
one of each part of the book's own code.  The same files give the same bytes everywhere, and a pack
is made anew only when what goes into it has changed.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import importlib.metadata
import io
import json
import re
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sphinx_run_in_page.node import run_node
from sphinx_run_in_page.trimming import ALWAYS, NOT_WANTED, OF, STANDARD, trimmed
from sphinx_run_in_page.wheels import Runtime, Wheels, closure

INSTALLED, STANDARD_LIBRARY = "/lib/python3.12/site-packages", "/lib/python312.zip"
"""Where the page keeps libraries, and Python its own; worker.js writes them there."""
COMPILE = Path(__file__).with_name("compile.mjs")
RUNTIME = ("pyodide.js", "pyodide.asm.js", "pyodide.asm.wasm")
FORM = 2
"""Raise it when packs are made in another way from the same files."""


@dataclass(frozen=True)
class Pack:
    """A pack that has been made.

    Parameters
    ----------
    name : str
        What the page calls it.
    path : Path
        The script.
    size : int
        Bytes on the wire, where a server compresses.
    modules : tuple of str
        The modules that it brings, at the top level.
    """

    name: str
    path: Path
    size: int
    modules: tuple[str, ...]


def archive(files: Mapping[str, bytes]) -> bytes:
    """Return files as a compressed archive that depends on nothing but them.

    Examples
    --------
    >>> archive({"b": b"2", "a": b"1"}) == archive({"a": b"1", "b": b"2"})
    True
    """
    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode="w", format=tarfile.GNU_FORMAT) as tar:
        for path in sorted(files):
            entry = tarfile.TarInfo(path)  # with no date, owner or mode of its own
            entry.size = len(files[path])
            tar.addfile(entry, io.BytesIO(files[path]))
    return gzip.compress(written.getvalue(), 9, mtime=0)


def compiled(
    files: Mapping[str, bytes], runtime: Runtime, home: str = INSTALLED
) -> dict[str, bytes]:
    """Return files with bytecode in the place of sources, which the page then need not compile.

    Parameters
    ----------
    files : mapping
        By their paths.
    runtime : Runtime
        The Python that compiles.
    home : str
        The folder of the page that they come into.
    """
    sources = {path: file for path, file in files.items() if path.endswith(".py")}
    if not sources:
        return dict(files)
    with tempfile.TemporaryDirectory() as folder:
        given, made = Path(folder) / "sources.zip", Path(folder) / "compiled.zip"
        with zipfile.ZipFile(given, "w") as zipped:
            for path, file in sources.items():
                zipped.writestr(path, file)
        run_node(COMPILE, runtime.folder.resolve(), given, made, home)
        with zipfile.ZipFile(made) as zipped:
            code = {name: zipped.read(name) for name in zipped.namelist()}
    rest = {path: file for path, file in files.items() if f"{path}c" not in code}
    return rest | code


def unzipped(content: bytes) -> dict[str, bytes]:
    """Return the files of a wheel or of another zip."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {e.filename: archive.read(e) for e in archive.infolist() if not e.is_dir()}


def python_files(runtime: Runtime) -> dict[str, bytes]:
    """Return the files of Python itself; its library is bytecode, zipped and not compressed."""
    library = {
        path: file
        for path, file in unzipped(runtime.read("python_stdlib.zip")).items()
        if not STANDARD.match(path)
    }
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_STORED) as zipped:
        for path, file in sorted(compiled(library, runtime, STANDARD_LIBRARY).items()):
            zipped.writestr(zipfile.ZipInfo(path, (1980, 1, 1, 0, 0, 0)), file)
    files = {name: runtime.read(name) for name in RUNTIME}
    info = json.dumps({"info": runtime.lock["info"], "packages": {}}, sort_keys=True)
    return files | {"python_stdlib.zip": written.getvalue(), "pyodide-lock.json": info.encode()}


def library_files(names: list[str], wheels: Wheels) -> dict[str, bytes]:
    """Return the files of some packages of the release, without what the page does not need."""
    files: dict[str, bytes] = {}
    for name in names:
        files |= trimmed(unzipped(wheels.take(name)), name)
    return files


def installed_files(name: str, taken: str = "") -> dict[str, bytes]:
    r"""Return the files of a package that is installed where the book is built.

    Parameters
    ----------
    name : str
        The package, by the name that it is installed with.
    taken : str
        A pattern of the paths that are wanted.  Without it all are that a page needs.

    Raises
    ------
    ValueError
        When there is no such package, or compiled code is wanted, which runs on this machine alone.

    Examples
    --------
    >>> sorted(installed_files("jinja2", r"/utils\.py$"))
    ['jinja2/utils.py']
    """
    try:
        files = importlib.metadata.files(name) or []
    except importlib.metadata.PackageNotFoundError:
        raise ValueError(
            f"{name} is not installed here: install it, or take it out of run_own"
        ) from None
    found: dict[str, bytes] = {}
    for file in files:
        path, wanted = Path(str(file.locate())), re.search(taken, file.as_posix())
        if not wanted or file.parts[0] == ".." or "__pycache__" in file.parts or not path.is_file():
            continue
        if file.suffix in {".so", ".pyd", ".dylib"}:
            raise ValueError(f"{name} has compiled code ({file.name}): it does not run in the page")
        found[file.as_posix()] = path.read_bytes()
    return found if taken else trimmed(found, name)


def folder_files(folder: Path, left_out: str) -> dict[str, bytes]:
    """Return the files of a folder by their paths in it, less those that a pattern names."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if left_out and re.search(left_out, name):
            continue
        if path.is_file() and "__pycache__" not in path.parts:
            found[name] = path.read_bytes()
    return found


def modules_of(files: Mapping[str, bytes]) -> tuple[str, ...]:
    """Name the modules that files bring at the top level.

    Examples
    --------
    >>> modules_of({"numpy/__init__.pyc": b"", "six.pyc": b"", "numpy-2.dist-info/LICENSE": b""})
    ('numpy', 'six')
    """
    code = [path for path in files if path.endswith((".py", ".pyc")) or ".cpython-" in path]
    return tuple(sorted({path.split("/")[0].split(".")[0] for path in code}))


class Maker:
    """Makes packs, and keeps them from one build to the next.

    Parameters
    ----------
    wheels : Wheels
        Where the files of Pyodide's release come from.
    cache : Path
        Where made packs stay.
    """

    def __init__(self, wheels: Wheels, cache: Path) -> None:
        self.wheels, self.runtime, self.cache = wheels, wheels.runtime, cache

    def _kept(self, name: str, of: str, make: Any) -> Pack:
        """Return a pack that was made before from the same, or make it."""
        key = hashlib.sha256(f"{FORM} {self.runtime.version} {of}".encode()).hexdigest()[:16]
        script, note = self.cache / f"{name}-{key}.js", self.cache / f"{name}-{key}.json"
        if not (note.is_file() and script.is_file()):
            files = make()
            packed = archive(files)
            self.cache.mkdir(parents=True, exist_ok=True)
            for old in self.cache.glob(f"{name}-????????????????.js*"):
                if key not in old.name:  # which another build may be making
                    old.unlink(missing_ok=True)
            data = base64.b64encode(packed).decode()
            script.write_text(f'runInPage.deliver("{name}", "{data}");\n', "ascii")
            known = {"size": len(packed), "modules": modules_of(files)}
            note.write_text(json.dumps(known), "utf-8")
        known = json.loads(note.read_text("utf-8"))
        return Pack(name, script, known["size"], tuple(known["modules"]))

    def python(self) -> Pack:
        """Make the pack of Python itself."""
        pack = self._kept("python", STANDARD.pattern, lambda: python_files(self.runtime))
        return Pack(pack.name, pack.path, pack.size, ())

    def libraries(self, names: list[str]) -> list[Pack]:
        """Make a pack for each library of the release, of what the ones before it do not bring.

        Parameters
        ----------
        names : list of str
            The libraries, a library before those that need it.

        Raises
        ------
        NotToBeHad, Altered
            As :meth:`Wheels.take`.
        """
        there, parts = set(NOT_WANTED), {}
        for name in names:
            parts[name.lower()] = closure(self.runtime.lock, name, frozenset(there))
            there |= set(parts[name.lower()])
        for part in parts.values():  # all of them are here before the first is made
            for one in part:
                self.wheels.take(one)

        def make(name: str) -> Pack:
            entries = [self.runtime.lock["packages"][one]["sha256"] for one in parts[name]]
            rules = [ALWAYS, [OF.get(one) for one in parts[name]]]

            def files() -> dict[str, bytes]:
                return compiled(library_files(parts[name], self.wheels), self.runtime)

            return self._kept(name, json.dumps([entries, rules]), files)

        with ThreadPoolExecutor(2) as workers:  # each waits for a Node of its own
            return list(workers.map(make, parts))

    def own_files(self, source: Path, parts: Mapping[str, Any]) -> dict[str, bytes]:
        """Return the files of a pack of the book's own code.

        Parameters
        ----------
        source : Path
            What the names of folders are relative to.
        parts : mapping
            ``folders``: by name, each with a pattern of the paths in it that are left out;
            ``installed``: packages without compiled code, as they are installed here, each with a
            pattern of the paths that are taken; ``libraries``: packages of Pyodide's release that
            need no pack of their own; ``made_by``: modules that write files into a folder, as
            ``python -m MODULE FOLDER``.
        """
        files: dict[str, bytes] = {}
        for library in parts.get("libraries", ()):
            files |= library_files([library], self.wheels)
        for package, taken in parts.get("installed", {}).items():
            files |= installed_files(package, taken)
        for module in parts.get("made_by", ()):
            with tempfile.TemporaryDirectory() as made:
                subprocess.run(
                    [sys.executable, "-m", module, made], check=True, capture_output=True
                )
                files |= folder_files(Path(made), "")
        for folder, left_out in parts.get("folders", {}).items():
            files |= folder_files(source / folder, left_out)
        return files

    def own(self, name: str, files: Mapping[str, bytes]) -> Pack:
        """Make a pack of the book's own code, which keeps its sources."""
        sums = {path: hashlib.sha256(file).hexdigest() for path, file in files.items()}
        return self._kept(name, json.dumps(sums, sort_keys=True), lambda: files)
