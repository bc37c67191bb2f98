"""Sphinx extension: a page is written anew when anything it is made of has changed.

Sphinx looks at a page's own text.  The outputs of a chapter also follow the library, through the
cache that :mod:`primer.book.execute` fills, and every page follows the templates and the code of
these extensions.  Style sheets and scripts are copied only by a build that writes some page, so
the first page follows them.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

from primer.book.execute import CACHE, STAMP

PACKAGE = Path(__file__).parent


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
    stamp = book / CACHE / STAMP
    yield from [stamp] if stamp.is_file() else []
    for folder, pattern in [(book / "_templates", "*.html"), (PACKAGE, "*.py"), (PACKAGE, "*.js")]:
        yield from folder.glob(pattern)
    if docname == "index":
        yield from (path for path in (book / "assets").rglob("*") if path.is_file())


def depend(app: Sphinx, docname: str, source: list[str]) -> None:
    """Name what a page depends on while it is read."""
    for path in ingredients(Path(app.srcdir), docname):
        app.env.note_dependency(str(path))


def setup(app: Sphinx) -> dict[str, Any]:
    """Look at each page before it is read."""
    app.connect("source-read", depend)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
