"""Write ``requirements.txt``: every package of a fresh install, pinned, for every Python promised.

The bounds stand in ``pyproject.toml``, and so does the promise, ``requires-python``.  This resolves
them once, on the oldest Python promised, so that everyone builds the book with the versions its
numbers were checked with.  What is pinned already stays as far as the bounds allow: to take a newer
version, raise or delete its line; to take the newest of all, delete every line.

``requirements-hashed.txt`` beside it, which ``make`` installs, holds the same pins with the
checksums of their files on every system.  The last step asks that each pin has a file that needs no
compiler, for every Python promised on every system promised.

Run ``python -m press.workshop.pin`` in the root of the book.
"""

from __future__ import annotations

import itertools
import os
import re
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import NamedTuple

from packaging.markers import Marker
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

FIXED = (
    "torch==2.13.0",  # the numbers of trained models hold for one version
)
PINS, HASHED = Path("requirements.txt"), Path("requirements-hashed.txt")
HEADER = {
    PINS: """\
# Every package the book is built and tested with. Made by `make pin`; the bounds stand in
# pyproject.toml. CUDA packages are never pinned: the book needs no GPU (README, "Two commands").
""",
    HASHED: """\
# What requirements.txt pins, with the checksums of its files; `make pin` makes both. torch is not
# here: its file differs from index to index (PyPI's, PyTorch's own), and it is installed by itself.
""",
}
# What README promises, as uv names it and as the markers of a requirement see it.
SYSTEMS = {
    "x86_64-manylinux_2_28": {"sys_platform": "linux", "platform_machine": "x86_64"},
    "aarch64-manylinux_2_28": {"sys_platform": "linux", "platform_machine": "aarch64"},
    "aarch64-apple-darwin": {"sys_platform": "darwin", "platform_machine": "arm64"},
}
OLDEST_MACOS = "14.0"  # torch's


class Pin(NamedTuple):
    """A package of the list: name, version, where it is needed, the checksums of its files."""

    name: str
    version: str
    marker: str
    hashes: tuple[str, ...]

    def line(self) -> str:
        """Return the line of ``requirements.txt``."""
        return f"{self.name}=={self.version}" + (f" ; {self.marker}" if self.marker else "")


def pythons(requires: str) -> list[str]:
    """Return the minor versions of Python 3 that ``requires-python`` promises.

    Examples
    --------
    >>> pythons(">=3.11,<3.14")
    ['3.11', '3.12', '3.13']
    """
    promised = SpecifierSet(requires)
    return [f"3.{minor}" for minor in range(100) if promised.contains(f"3.{minor}.0")]


def left_out(requires: str | None, promise: str) -> list[str]:
    """Return the promised Pythons on which a package that says ``requires`` does not install.

    Each is asked from its first patch version on: Debian 12 has 3.11.2 for as long as it lives.

    Examples
    --------
    >>> left_out(">=3.11.5", ">=3.11,<3.13")
    ['3.11.0', '3.11.1', '3.11.2', '3.11.3', '3.11.4']
    >>> left_out(">=3.9", ">=3.11,<3.13"), left_out(None, ">=3.11,<3.13")
    ([], [])
    """
    promised, allowed = SpecifierSet(promise), SpecifierSet(requires or "")
    patches = [f"{minor}.{patch}" for minor in pythons(promise) for patch in range(30)]
    return [one for one in patches if promised.contains(one) and not allowed.contains(one)]


def narrowed(marker: str, promised: list[str]) -> str | None:
    """Say where a package is needed, of the Pythons and systems promised: ``None`` is nowhere.

    Examples
    --------
    >>> narrowed("sys_platform != 'emscripten'", ["3.11"])  # everywhere
    ''
    >>> narrowed("sys_platform == 'win32'", ["3.11"])
    >>> narrowed("sys_platform == 'darwin'", ["3.11"])
    "sys_platform == 'darwin'"
    """
    if not marker:
        return ""
    there = {"implementation_name": "cpython", "platform_python_implementation": "CPython"}
    needed = {
        Marker(marker).evaluate(
            {**there, **system, "os_name": "posix", "python_version": python}
            | {"python_full_version": f"{python}.0"}
        )
        for system, python in itertools.product(SYSTEMS.values(), promised)
    }
    return None if needed == {False} else "" if needed == {True} else marker


def pinned(resolved: str, promised: list[str]) -> list[Pin]:
    r"""Read what uv resolved; leave out what no system promised needs, and CUDA.

    Examples
    --------
    >>> pinned("numpy==2.4.6 \\\n    --hash=sha256:12\n"
    ...        "triton==3.7.1 ; sys_platform == 'linux' \\\n    --hash=sha256:34", ["3.11"])
    [Pin(name='numpy', version='2.4.6', marker='', hashes=('sha256:12',))]
    """
    pins = []
    for entry in re.split(r"\n(?=\S)", resolved.strip()):
        head, *hashes = re.split(r"\s*\\?\s+--hash=", entry)
        requirement, _, marker = head.partition(" ; ")
        name, _, version = requirement.partition("==")
        where = narrowed(marker, promised)
        if where is not None and not re.match(r"nvidia|triton|cuda", name):
            pins.append(Pin(name, version, where, tuple(sorted(hashes))))
    names = [canonicalize_name(pin.name) for pin in pins]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise SystemExit(
            f"{', '.join(twice)}: no one version suits Python {promised[0]} to {promised[-1]}; "
            "bound it in pyproject.toml"
        )
    return sorted(pins)


def _uv(*arguments: str | Path) -> None:
    """Let uv resolve, as if on a system and a Python that need not be these."""
    command = [sys.executable, "-m", "uv", "pip", "compile", "--quiet", "--no-header"]
    options = ["--no-annotate", "--only-binary", ":all:"]
    environment = {**os.environ, "MACOSX_DEPLOYMENT_TARGET": OLDEST_MACOS}
    subprocess.run([*command, *options, *arguments], check=True, env=environment)


def resolve(promised: list[str]) -> list[Pin]:
    """Pin what ``pyproject.toml`` asks for, each package at one version for all Pythons."""
    with tempfile.TemporaryDirectory() as folder:
        fixed, pins = Path(folder, "fixed.in"), Path(folder, "pins.txt")
        fixed.write_text("\n".join(FIXED) + "\n")
        if PINS.exists():
            pins.write_text(PINS.read_text())  # uv prefers what its output file says
        everywhere = ["--universal", "--python-version", promised[0], "--fork-strategy", "fewest"]
        _uv(*everywhere, "--all-extras", "--generate-hashes", "-o", pins, "pyproject.toml", fixed)
        return pinned(pins.read_text(), promised)


def hashed(pins: list[Pin]) -> str:
    """Return the list that is installed, torch left out."""
    lines = (
        " \\\n    ".join([pin.line(), *(f"--hash={sum_}" for sum_ in pin.hashes)])
        for pin in pins
        if pin.name != "torch"
    )
    return HEADER[HASHED] + "\n".join(lines) + "\n"


def main() -> int:
    """Resolve, write both lists, and ask that every Python promised can install them."""
    project = tomllib.loads(Path("pyproject.toml").read_text())["project"]
    promised = pythons(project["requires-python"])
    print(f"Resolving for Python {promised[0]} to {promised[-1]} …", flush=True)
    pins = resolve(promised)
    PINS.write_text(HEADER[PINS] + "\n".join(pin.line() for pin in pins) + "\n")
    HASHED.write_text(hashed(pins))
    print(f"{PINS}: {len(pins)} packages")
    for python, system in itertools.product(promised, SYSTEMS):
        print(f"  asking for wheels: Python {python}, {system}", flush=True)
        asked = ["--no-deps", "--python-version", python, "--python-platform", system]
        _uv(*asked, "-o", os.devnull, PINS)
    return 0


if __name__ == "__main__":
    sys.exit(main())
