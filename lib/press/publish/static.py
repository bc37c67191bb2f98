"""Sphinx extension: our styles, scripts and pictures lie beside the Python that needs them.

Sphinx takes them file by file, so each has one name in ``_static`` whatever room it comes from.  In
:file:`theme` stands what takes the place of a file of the theme, under that file's own path.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.config import Config

PRESS = Path(__file__).parents[1]
KINDS = {".css", ".js", ".png", ".svg"}


def own_files() -> list[Path]:
    """List what the rooms of the press give to the site, without what stands in for the theme's.

    Examples
    --------
    >>> names = [path.name for path in own_files()]
    >>> {"book.css", "popups.js", "logo.svg"} <= set(names), len(names) == len(set(names))
    (True, True)
    """
    return sorted(path for path in PRESS.glob("*/*") if path.suffix in KINDS)


def add_files(app: Sphinx, config: Config) -> None:
    """Let Sphinx copy them."""
    folders = [PRESS / "publish" / "theme", *own_files()]
    config.html_static_path = [*config.html_static_path, *map(str, folders)]


def setup(app: Sphinx) -> dict[str, Any]:
    """Add the files before Sphinx looks whether they are there."""
    app.connect("config-inited", add_files)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
