"""Sphinx extension: the whole book as one file, and on each chapter how to run it.

The archive holds what git tracks of the folder that the site is built from.  What git neither
tracks nor ignores, a note or a password of whoever builds, stays out, and is named.  Without git,
as in an archive that was unpacked, it holds what ``.gitignore`` does not name.  It is written
before the first page, so that the pages can say how large it is.
"""

from __future__ import annotations

import io
import os
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pathspec import GitIgnoreSpec
from sphinx.application import Sphinx

from press.pages.numbering import chapter_number
from press.registry import read_book
from primer.saving import write_whole

FOLDER = "runnable-primer"
"""The folder that unpacking makes, and the name of the archive."""

NOTATION = "chapters/appendix/notation"
"""What a reader of a chapter may want at any place of it."""

NAMED = 5
"""How many files that stay out are named; the rest is counted."""


def asked_of_git(book: Path, *command: str) -> str | None:
    """Ask git about a folder; None where git keeps nothing, or keeps it as a part of something.

    Parameters
    ----------
    book : Path
        The root of what git keeps.
    *command
        What it is asked.
    """
    # Git's own hooks name another repository in variables; only this folder counts.
    clean = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}

    def ask(*words: str) -> str | None:
        try:
            done = subprocess.run(
                ["git", *words], cwd=book, capture_output=True, env=clean, check=False
            )
        except OSError:  # there is no git
            return None
        return None if done.returncode else os.fsdecode(done.stdout)

    top = ask("rev-parse", "--show-cdup")
    return ask(*command) if top is not None and not top.strip() else None


def listed(book: Path, *which: str) -> list[Path] | None:
    """Ask git for files of a folder, in their order; None where git does not keep that folder."""
    names = asked_of_git(book, "ls-files", "-z", *which)
    return None if names is None else [book / name for name in sorted(names.split("\0")) if name]


def not_ignored(book: Path) -> Iterator[Path]:
    """Give the files of a folder that its ``.gitignore`` does not name, without git's own.

    Parameters
    ----------
    book : Path
        The folder, with a ``.gitignore`` or without.
    """
    rules = book / ".gitignore"
    lines = rules.read_text("utf-8").splitlines() if rules.exists() else []
    ignored = GitIgnoreSpec.from_lines(lines)

    def inside(folder: Path) -> Iterator[Path]:
        for path in sorted(folder.iterdir()):
            is_folder = path.is_dir() and not path.is_symlink()
            name = path.relative_to(book).as_posix() + "/" * is_folder
            if path.name == ".git" or ignored.match_file(name):
                continue
            if is_folder:
                yield from inside(path)
            else:
                yield path

    yield from inside(book)


def book_files(book: Path) -> list[Path]:
    """List the files of the book: what git tracks, or without git what it would not ignore.

    No link is followed: one that leads to a file of the list is a second copy of that file, and any
    other is left out, as what it leads to may be nobody's business.

    Parameters
    ----------
    book : Path
        The folder.

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
    tracked, root = listed(book), os.path.realpath(book)
    given = not_ignored(book) if tracked is None else tracked
    places = {path: os.path.join(root, path.relative_to(book)) for path in given}
    leads_to = {path: os.path.realpath(place) for path, place in places.items()}
    own = {at for path, at in leads_to.items() if at == places[path] and os.path.isfile(at)}
    return [path for path, at in leads_to.items() if at in own]


def left_out(book: Path) -> str:
    """Say which files git neither tracks nor ignores; empty where there are none, or no git.

    Parameters
    ----------
    book : Path
        The folder.
    """
    files = listed(book, "--others", "--exclude-standard") or []
    if not files:
        return ""
    names = [path.relative_to(book).as_posix() for path in files]
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return (
        f"{', '.join(names[:NAMED])}{more}: git neither tracks nor ignores this, so it is not in "
        f"{FOLDER}.zip; `git add` what belongs to the book, and name the rest in .gitignore"
    )


def write_archive(book: Path, target: Path) -> None:
    """Write the archive, whole or not at all; the same files give the same bytes.

    Parameters
    ----------
    book : Path
        The folder, with a ``.gitignore`` or without.
    target : Path
        The archive; its folder is made.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in book_files(book):
            name = f"{FOLDER}/{path.relative_to(book).as_posix()}"
            entry = zipfile.ZipInfo(name)  # without times, which differ from copy to copy
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.create_system = 3  # Unix, on whatever machine: it is its modes that are written
            entry.external_attr = (0o755 if path.stat().st_mode & 0o100 else 0o644) << 16
            archive.writestr(entry, path.read_bytes())
    write_whole(target, content.getvalue())


def archive_book(app: Sphinx) -> None:
    """Write the archive beside the pages, and say what stays out of it."""
    if app.builder.format == "html":
        if said := left_out(Path(app.srcdir)):
            print(f"warning: {said}", file=sys.stderr)  # a draft is no reason to stop, as with -W
        write_archive(Path(app.srcdir), Path(app.outdir) / "_static" / f"{FOLDER}.zip")


def offer_archive(app: Sphinx, page: str, template: str, context: Any, tree: Any) -> None:
    """Tell a notebook's template which one it is, how large the archive, where the notation."""
    beside = {f"chapters/{name}" for name in read_book(Path(app.srcdir)).beside}
    kind = "chapter" if chapter_number(page) is not None else "page" if page in beside else ""
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
