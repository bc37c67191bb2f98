"""Build the example book in an environment of its own: ``python tests/fresh.py``.

It installs this package with what the example needs, Node and KaTeX among it, into a new virtual
environment; it fails when the book does not build without a warning, or has no formula.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

PACKAGE = Path(__file__).parents[1]
NPM = (
    "import subprocess, sys; from sphinx_katex_prerender.node import wheel_folder as folder; "
    "npm = folder() / 'lib/node_modules/npm/bin/npm-cli.js'; "
    "sys.exit(subprocess.run([folder() / 'bin/node', npm, *sys.argv[1:]]).returncode)"
)


def main() -> int:
    """Install and build."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        leave = shutil.ignore_patterns(
            "build", "_build", "node_modules", "*.egg-info", "__pycache__"
        )
        package = shutil.copytree(PACKAGE, home / "package", ignore=leave)  # pip writes beside it
        venv.create(home / "venv", with_pip=True)
        programs = home / "venv" / ("Scripts" if sys.platform == "win32" else "bin")
        install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([programs / "python", *install, f"{package}[example,node]"], check=True)
        npm = ["install", "--silent", "--no-audit", "--no-fund", "--prefix", package / "example"]
        subprocess.run([programs / "python", "-c", NPM, *npm], check=True)
        build = ["build", "-W", "-q", "--path-output", home, package / "example"]
        subprocess.run([programs / "jupyter-book", *build], check=True)
        page = home / "_build/html/index.html"
        formulas = page.read_text("utf-8").count('class="katex-html')
        print(f"built {page}, with {formulas} formulas")
        return 0 if formulas == 4 else 1


if __name__ == "__main__":
    sys.exit(main())
