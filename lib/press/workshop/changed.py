"""What a translation has to follow: the cells of the chapters that changed since a version.

``python -m press.workshop.changed v0.1.0 [08-positions …]`` lists them by chapter, each with its
id, what happened to it and its first words; with ``--diff`` also the lines.  A cell keeps its id
for ever, so a translation that keeps ids, too, finds its own cell at once.
"""

from __future__ import annotations

import argparse
import difflib
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from nbformat import NotebookNode

from press.notebook import NotANotebook, read_notebook
from press.registry import read_book

WORDS = 8
"""How many of a cell's words name it in the list."""


class Change(NamedTuple):
    """A cell that is not what it was.

    Attributes
    ----------
    cell : str
        Its id.
    what : {"new", "changed", "moved", "gone"}
        What happened to it.
    before, after : str
        Its text.
    """

    cell: str
    what: str
    before: str
    after: str

    def __str__(self) -> str:
        """Write it on a line."""
        words = (self.after or self.before).split()
        begins = " ".join(words[:WORDS]) + (" …" if len(words) > WORDS else "")
        return f"{self.what:8}{self.cell:28}{begins}"


def changes(before: NotebookNode | None, after: NotebookNode | None) -> Iterator[Change]:
    """Compare two versions of a notebook, cell by cell.

    Parameters
    ----------
    before, after : NotebookNode, optional
        The old version and the new one; None where there is none.

    Yields
    ------
    Change
        New, changed and moved cells in their new order, then those that are gone.  A cell has moved
        when it stands behind another one than before, of those that both versions have.

    Examples
    --------
    >>> from nbformat.v4 import new_markdown_cell, new_notebook
    >>> def notebook(**texts: str) -> NotebookNode:
    ...     return new_notebook(cells=[new_markdown_cell(texts[id], id=id) for id in texts])
    >>> old, new = notebook(a="One.", b="Two."), notebook(a="One.", b="2.", c="Three.")
    >>> for change in changes(old, new):
    ...     print(change.cell, change.what)
    b changed
    c new
    """
    old = {cell.id: cell.source for cell in before.cells} if before else {}
    new = {cell.id: cell.source for cell in after.cells} if after else {}
    matched = difflib.SequenceMatcher(None, list(old), list(new), autojunk=False)
    in_place = {
        cell
        for block in matched.get_matching_blocks()
        for cell in list(new)[block.b : block.b + block.size]
    }
    for cell, text in new.items():
        if cell not in old:
            yield Change(cell, "new", "", text)
        elif text != old[cell]:
            yield Change(cell, "changed", old[cell], text)
        elif cell not in in_place:
            yield Change(cell, "moved", text, text)
    for cell, text in old.items():
        if cell not in new:
            yield Change(cell, "gone", text, "")


def at(version: str, path: Path) -> NotebookNode | None:
    """Read a notebook as it was at a version; None if there was none.

    Raises
    ------
    ValueError
        When git knows no such version, or there is no git.
    """

    def git(*words: str) -> subprocess.CompletedProcess[bytes]:
        try:
            return subprocess.run(["git", *words], capture_output=True, check=False)
        except OSError:
            raise ValueError("there is no git here: install it, or compare two folders") from None

    if git("rev-parse", "--verify", "--quiet", f"{version}^{{commit}}").returncode:
        raise ValueError(
            f"git knows no version {version!r} here: give a tag, a branch or a commit; "
            "`git tag` lists the tags, `git fetch --tags` brings those that are missing"
        )
    shown = git("show", f"{version}:{path.as_posix()}")
    return None if shown.returncode else read_notebook(path, shown.stdout.decode("utf-8"))


def lines(change: Change) -> Iterator[str]:
    """Give the lines of a cell that came and went."""
    compared = difflib.unified_diff(
        change.before.splitlines(), change.after.splitlines(), lineterm="", n=1
    )
    yield from (f"    {line}" for line in list(compared)[2:])


def main(arguments: Sequence[str] | None = None) -> int:
    """List what changed since a version."""
    parser = argparse.ArgumentParser(prog="python -m press.workshop.changed", description=__doc__)
    parser.add_argument("version", help="what was translated: a tag, a branch or a commit")
    parser.add_argument("chapter", nargs="*", help="for example 08-positions; all, if none")
    parser.add_argument("--diff", action="store_true", help="show the lines, too")
    asked = parser.parse_args(arguments)
    book = read_book(Path())
    names = [*book.opening, *(chapter.name for chapter in book.written), *book.closing]
    if unknown := sorted(set(asked.chapter) - set(names)):
        print(f"There is no chapter {unknown[0]!r}: one of {', '.join(names)}.", file=sys.stderr)
        return 1
    total = 0
    try:
        for name in asked.chapter or names:
            path = Path(f"chapters/{name}.ipynb")
            found = list(changes(at(asked.version, path), read_notebook(path)))
            total += len(found)
            if found:
                print(f"\n{name}: {len(found)} cells")
            for change in found:
                print(f"  {change}")
                if asked.diff:
                    print(*lines(change), sep="\n")
    except (ValueError, NotANotebook) as error:
        print(f"{error}.", file=sys.stderr)
        return 1
    print(f"{total} cells changed since {asked.version}." if total else "Nothing changed.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
