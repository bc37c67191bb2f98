"""Sphinx extension: a page is written anew when anything it is made of has changed.

Sphinx looks at a page's own text.  The outputs of a chapter also follow what of the library it
uses, through the key under which :mod:`press.execution.execute` ran it, and its widgets the scripts
and styles beside them.  Every page follows the templates and the code of these extensions, the
widget host among them.  The site's own style sheets and scripts are copied only by a build that
writes some page, so the first page follows them.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

from press.execution.cache import CACHE, key_file
from press.publish.static import PRESS
from sphinx_widget_host import HOST

WIDGETS = PRESS.parent / "primer" / "widgets"
MADE_OF = {".py", ".cjs", ".json", ".toml", ".html"}


def ingredients(book: Path, docname: str) -> Iterator[Path]:
    """Give the files besides its own text that a page is made of.

    Parameters
    ----------
    book : Path
        The root of the book.
    docname : str
        The page; ``index`` is the first one.

    Yields
    ------
    Path
        A file that exists.
    """
    key = key_file(book / CACHE, Path(docname))
    if key.is_file():
        yield key
        yield from (path for path in WIDGETS.rglob("*") if path.suffix in {".js", ".css"})
    yield from (path for path in PRESS.rglob("*") if path.suffix in MADE_OF)
    yield from HOST.parent.glob("*.*")


def static(app: Sphinx, docname: str) -> Iterator[Path]:
    """Give the site's own styles and scripts, which the first page follows."""
    for entry in app.config.html_static_path if docname == "index" else []:
        place = Path(app.srcdir) / entry
        yield from (path for path in [place, *place.rglob("*")] if path.is_file())


def depend(app: Sphinx, docname: str, source: list[str]) -> None:
    """Name what a page depends on while it is read."""
    book = Path(app.srcdir)
    for path in [*ingredients(book, docname), *static(app, docname)]:
        app.env.note_dependency(str(path))


def setup(app: Sphinx) -> dict[str, Any]:
    """Look at each page before it is read."""
    app.connect("source-read", depend)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
