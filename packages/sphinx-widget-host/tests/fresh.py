"""Build the example book in an environment of its own: ``python tests/fresh.py``.

It installs this package with what the example needs, and nothing else, into a new virtual
environment; it fails when torch is among that, or when the book does not build without a warning.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

PACKAGE = Path(__file__).parents[1]


def main() -> int:
    """Install, look and build."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        leave = shutil.ignore_patterns("build", "_build", "*.egg-info", "__pycache__")
        package = shutil.copytree(PACKAGE, home / "package", ignore=leave)  # pip writes beside it
        venv.create(home / "venv", with_pip=True)
        programs = home / "venv" / ("Scripts" if sys.platform == "win32" else "bin")
        install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([programs / "python", *install, f"{package}[example]"], check=True)
        found = "import importlib.util, sys; sys.exit(bool(importlib.util.find_spec('torch')))"
        subprocess.run([programs / "python", "-c", found], check=True)
        build = ["build", "-W", "-q", "--path-output", home, package / "example"]
        subprocess.run([programs / "jupyter-book", *build], check=True)
        site = home / "_build" / "html"
        alone = sorted(path.name for path in (site / "embed").rglob("*.html"))
        print(f"built {site / 'index.html'}, with {', '.join(alone)}")
        return 0 if alone == ["parabola.html"] else 1


if __name__ == "__main__":
    sys.exit(main())
