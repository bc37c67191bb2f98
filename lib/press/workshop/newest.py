"""Build the book with the newest Sphinx and MyST, beside the pinned ones: ``make next``.

Jupyter Book 1 holds Sphinx and MyST where they were when it ended.  So that the day of leaving it
costs an afternoon, the book is built once a week as on that day: ``jupyter-book config sphinx``
writes a :file:`conf.py`, the extensions that belong to Jupyter Book alone go, and Sphinx builds.
What is newer lies in a folder of its own, before the pinned packages on Python's path; what does
not belong to the building of pages stays as it is pinned.  The outputs of cells come from the
cache that ``make executed`` fills.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]
FOLDER = Path("_build/next")
"""Where the newer packages and the site that they build lie."""
CONF = ROOT / "conf.py"
"""Stands in the root while Sphinx builds: paths in it begin there."""

NEWEST = (
    "sphinx>=9",
    "myst-parser>=5",
    "myst-nb",
    "numpydoc",
    "sphinx-book-theme",
    "sphinx-copybutton",
    "sphinx-design",
    "sphinx-exercise",
    "sphinx-external-toc",
    "sphinx-proof",
    "sphinx-togglebutton",
    "sphinxcontrib-bibtex",
)
BUILDERS = re.compile(r"sphinx|myst-|docutils|markdown-it|mdit-|pydata-|alabaster|numpydoc")
"""Of what is pinned these may be newer."""
LEFT = ("jupyter_book", "sphinx_comments", "sphinx_jupyterbook_latex", "sphinx_multitoc_numbering")
"""Extensions that belong to Jupyter Book 1."""


def constraints(pinned: str) -> str:
    r"""Return the pins that hold here too: of all that does not build pages.

    >>> constraints("numpy==2.2.6\nsphinx==7.4.7\nmyst-nb==1.4.0\n")
    'numpy==2.2.6\n'
    """
    lines = (line for line in pinned.splitlines() if re.match(r"[\w.-]+==", line))
    return "".join(f"{line}\n" for line in lines if not BUILDERS.match(line))


def without_jupyter_book(conf: str) -> str:
    r"""Take the extensions of Jupyter Book 1 out of a :file:`conf.py`.

    >>> without_jupyter_book("extensions = ['myst_nb', 'jupyter_book', 'press.links.search']\n")
    "extensions = ['myst_nb', 'press.links.search']\n"
    """
    for name in LEFT:
        conf = re.sub(rf"(?m)(['\"]){name}\1,? ?", "", conf)
    return conf


def install(folder: Path) -> None:
    """Put the newest builders into a folder, of what resolves together."""
    folder.mkdir(parents=True, exist_ok=True)
    kept = folder.with_name("constraints.txt")
    kept.write_text(constraints((ROOT / "requirements.txt").read_text("utf-8")), "utf-8")
    command = ["uv", "pip", "install", "--quiet", "--upgrade", "--python", sys.executable]
    uv = Path(sys.executable).with_name(command[0])
    options = [*command[1:], "--target", str(folder), "--constraint", str(kept)]
    subprocess.run([uv, *options, *NEWEST], check=True)


def build(packages: Path, site: Path, options: list[str]) -> int:
    """Build the site with what lies in a folder; return Sphinx's exit status."""
    if CONF.exists():
        raise SystemExit(f"{CONF} is in the way: 'make next' writes one there; move yours aside")
    jupyter_book = Path(sys.executable).with_name("jupyter-book")
    shutil.rmtree(site, ignore_errors=True)
    try:
        subprocess.run([jupyter_book, "config", "sphinx", "."], cwd=ROOT, check=True)
        CONF.write_text(without_jupyter_book(CONF.read_text("utf-8")), "utf-8")
        cache = f"nb_execution_cache_path={ROOT / '_build/.jupyter_cache'}"
        sphinx = [sys.executable, "-m", "sphinx", "-b", "html", "-n", "--keep-going", "--quiet"]
        places = ["-D", cache, "-d", str(site.with_name("doctrees")), *options, ".", str(site)]
        environment = {**os.environ, "PYTHONPATH": str(packages)}
        return subprocess.run([*sphinx, *places], cwd=ROOT, env=environment).returncode
    finally:
        CONF.unlink(missing_ok=True)


def main() -> None:
    """Install, build, and say where the site lies."""
    parser = argparse.ArgumentParser(prog="press.workshop.newest", description=__doc__)
    parser.add_argument("options", nargs="*", help="handed to Sphinx, behind --: -W, -E, -D …")
    given = parser.parse_args()
    packages, site = (ROOT / FOLDER / name for name in ("packages", "html"))
    install(packages)
    status = build(packages, site, given.options)
    if status == 0:
        print(f"Built with the newest Sphinx: {site / 'index.html'}")
    sys.exit(status)


if __name__ == "__main__":
    main()
