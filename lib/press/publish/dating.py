"""When the book was written: the same for every build of one commit, and later for later ones."""

from __future__ import annotations

import os
from pathlib import Path

from press.downloads.archive import asked_of_git

EARLIEST = 1_767_225_600
"""The first of January 2026: older is only a clock that is wrong, or an archive without times."""


def written_at(book: Path) -> int:
    """Return the time of the book's state, in seconds since 1970.

    It is what ``SOURCE_DATE_EPOCH`` says, else the time of the last commit, else of the newest
    notebook; never that of the build.

    Parameters
    ----------
    book : Path
        The root of the book.

    Examples
    --------
    >>> os.environ["SOURCE_DATE_EPOCH"] = "1800000000"
    >>> written_at(Path())
    1800000000
    >>> del os.environ["SOURCE_DATE_EPOCH"]
    """
    said = os.environ.get("SOURCE_DATE_EPOCH", "") or committed_at(book)
    if not said.strip().isdecimal():
        times = [path.stat().st_mtime for path in (book / "chapters").rglob("*.ipynb")]
        said = str(int(max(times, default=0)))
    return max(int(said), EARLIEST)


def committed_at(book: Path) -> str:
    """Return the time of the last commit; empty where git does not keep this folder."""
    return asked_of_git(book, "log", "-1", "--format=%ct") or ""
