"""Sphinx extension: the whole book as one file, and on each chapter how to run it.

The archive holds the folder that the site is built from, without what ``.gitignore`` names.  It is
written before the first page, so that the pages can say how large it is.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pathspec import GitIgnoreSpec
from sphinx.application import Sphinx

from primer.book.numbering import chapter_number
from primer.book.registry import read_book

FOLDER = "runnable-primer"
"""The folder that unpacking makes, and the name of the archive."""

NOTATION = "chapters/appendix/notation"
"""What a reader of a chapter may want at any place of it."""


def book_files(book: Path) -> Iterator[Path]:
    """Give the files of the book, without those that git ignores and git's own.

    Parameters
    ----------
    book : Path
        The folder, with a ``.gitignore`` or without.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for name, text in {".gitignore": "_build/", "a.md": "", "_build/a.html": ""}.items():
    ...         (Path(folder) / name).parent.mkdir(exist_ok=True)
    ...         _ = (Path(folder) / name).write_text(text)
    ...     print(*(path.name for path in book_files(Path(folder))))
    .gitignore a.md
    """
    rules = book / ".gitignore"
    lines = rules.read_text("utf-8").splitlines() if rules.exists() else []
    ignored = GitIgnoreSpec.from_lines(lines)

    def inside(folder: Path) -> Iterator[Path]:
        for path in sorted(folder.iterdir()):
            name = path.relative_to(book).as_posix() + "/" * path.is_dir()
            if path.name == ".git" or ignored.match_file(name):
                continue
            if not path.is_dir():
                yield path
            elif not path.is_symlink():
                yield from inside(path)

    yield from inside(book)


def write_archive(book: Path, target: Path) -> None:
    """Write the archive; the same files give the same bytes.

    Parameters
    ----------
    book : Path
        The folder, with a ``.gitignore`` or without.
    target : Path
        The archive; its folder is made.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in book_files(book):
            name = f"{FOLDER}/{path.relative_to(book).as_posix()}"
            entry = zipfile.ZipInfo(name)  # without times, which differ from copy to copy
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o755 if path.stat().st_mode & 0o100 else 0o644) << 16
            archive.writestr(entry, path.read_bytes())


def archive_book(app: Sphinx) -> None:
    """Write the archive beside the pages."""
    if app.builder.format == "html":
        write_archive(Path(app.srcdir), Path(app.outdir) / "_static" / f"{FOLDER}.zip")


def offer_archive(app: Sphinx, page: str, template: str, context: Any, tree: Any) -> None:
    """Tell a notebook's template which one it is, how large the archive, where the notation."""
    opening = {f"chapters/{name}" for name in read_book(Path(app.srcdir)).opening}
    kind = "chapter" if chapter_number(page) is not None else "page" if page in opening else ""
    if app.builder.format == "html" and kind:
        context["kind"] = kind
        archive = Path(app.outdir) / "_static" / f"{FOLDER}.zip"
        context["archive"] = archive.name
        context["archive_size"] = f"{archive.stat().st_size / 1e6:.1f} MB"
        context["notebook"] = f"{page}.ipynb"
        if NOTATION in app.env.found_docs:
            context["notation"] = app.builder.get_relative_uri(page, NOTATION)


def setup(app: Sphinx) -> dict[str, Any]:
    """Write the archive first, and offer it on each chapter."""
    app.connect("builder-inited", archive_book)
    app.connect("html-page-context", offer_archive)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
