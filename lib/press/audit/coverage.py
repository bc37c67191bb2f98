"""What the book owes: claims of its sources and of its own, and what is still to be proved.

``chapters/appendix/coverage.csv`` has one row for each definition, formula, claim and worked number
of the five sources, and, for chapters that have none of the sources, rows of the book's own: their
``source`` begins with "this book", and may name a paper after it.
``chapters/appendix/errata.yml`` has one entry for each error of the sources.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass, fields
from pathlib import Path

import yaml

from press.audit.form import tags_of
from press.audit.proofs import Proof, read_proofs
from press.notebook import read_notebook
from press.registry import read_book

OWN = "this book"
"""Begins the source of a row that the book itself owes."""


@dataclass(frozen=True)
class Row:
    """A claim of the sources or of the book, and how its chapter checks it."""

    id: str
    chapter: str
    item: str
    source: str
    kind: str
    check: str

    @property
    def own(self) -> bool:
        """Whether the book itself makes the claim, and none of its sources."""
        return self.source.startswith(OWN)


@dataclass(frozen=True)
class Erratum:
    """An error of the sources: where it stands, what is said there, and what is right."""

    id: str
    chapter: str
    kind: str
    where: str
    says: str
    right: str


def read_rows(book: Path) -> list[Row]:
    """Read the rows of the source map, in the order of the book.

    Raises
    ------
    ValueError
        If a row has another number of fields: a comma within one needs quotes around it.
    """
    path = book / "chapters/appendix/coverage.csv"
    names = [field.name for field in fields(Row)]
    with path.open(encoding="utf-8", newline="") as file:
        reader = csv.reader(file)
        if next(reader) != names:
            raise ValueError(f"{path}: the first line must read {','.join(names)}")
        rows = []
        for row in reader:
            if len(row) != len(names):
                where = f"{path}, line {reader.line_num}, {row[0] if row else 'empty'}"
                raise ValueError(
                    f"{where}: it has {len(row)} fields, not {len(names)}; "
                    "a field with a comma stands in quotes"
                )
            rows.append(Row(*row))
    return rows


def read_errata(book: Path) -> list[Erratum]:
    """Read the errata, by number."""
    text = (book / "chapters/appendix/errata.yml").read_text(encoding="utf-8")
    return [Erratum(**entry) for entry in yaml.safe_load(text)]


def read_entries(book: Path) -> list[Row | Erratum]:
    """Read all that is to be proved: the rows, then the errata."""
    return [*read_rows(book), *read_errata(book)]


def written_chapters(book: Path) -> list[str]:
    """Name the chapters that are pages of the site; in an excerpt of the book some have no file."""
    written = (chapter.name for chapter in read_book(book).written)
    return [name for name in written if notebook_of(book, name).exists()]


def notebook_of(book: Path, chapter: str) -> Path:
    """Return where a chapter's notebook is."""
    return book / "chapters" / f"{chapter}.ipynb"


def errata_of(book: Path, chapter: str) -> Path:
    """Return where the notebook with the errata of a chapter is that stand not in its text."""
    return book / "chapters" / "errata" / f"{chapter}.ipynb"


def proofs_in(book: Path, chapter: str) -> list[Proof]:
    """List what a chapter proves, in its text and on its page of errata."""
    proofs = read_proofs(notebook_of(book, chapter), chapter)
    errata = errata_of(book, chapter)
    return proofs + (read_proofs(errata, f"errata/{chapter}") if errata.exists() else [])


def free_checks(book: Path, chapter: str) -> list[str]:
    """Name the checks of a chapter that prove no row: where one is owed, one of them may do it."""
    return [
        f"{document}, cell {cell.id}"
        for document, path in [
            (chapter, notebook_of(book, chapter)),
            (f"errata/{chapter}", errata_of(book, chapter)),
        ]
        if path.exists()
        for cell in read_notebook(path).cells
        if "check" in tags_of(cell) and not cell.metadata.get("proves")
    ]


def proofs_of(book: Path, chapters: list[str]) -> dict[str, Proof]:
    """Map each proved name to the proof to show for it: its first in its own chapter.

    A name that its own chapter does not prove, perhaps because it is not written, is mapped to the
    first proof of another chapter.  Only checks that were seen to hold count.
    """
    home = {entry.id: entry.chapter for entry in read_entries(book)}
    proofs: dict[str, Proof] = {}
    shown_by: dict[str, str] = {}
    for chapter in chapters:
        for proof in proofs_in(book, chapter):
            moves_home = chapter == home.get(proof.row) != shown_by.get(proof.row)
            if proof.holds and proof.row in home and (proof.row not in proofs or moves_home):
                proofs[proof.row], shown_by[proof.row] = proof, chapter
    return proofs


def gaps(book: Path) -> list[str]:
    """Say, a sentence each, what the written chapters owe: nothing when every claim is proved.

    Parameters
    ----------
    book : Path
        The directory of the repository, or of a copy of its data and notebooks.
    """
    sentences: list[str] = []
    entries = read_entries(book)
    known = {entry.id for entry in entries}
    for chapter in written_chapters(book):
        proofs = proofs_in(book, chapter)
        for proof in proofs:
            place = f"{proof.document}, cell {proof.cell}"
            if proof.row not in known:
                sentences.append(f"{proof.row}: no such row or erratum ({place})")
            elif not proof.holds:
                sentences.append(
                    f"{proof.row}: a check named for it has no ✓ in the stored output ({place})"
                )
            elif not proof.section.label:
                sentences.append(
                    f"{proof.row}: the section {proof.section.title!r} has no label ({place})"
                )
        proved = {proof.row for proof in proofs if proof.holds}
        free = free_checks(book, chapter)
        hint = f"; without `proves` are {', '.join(free)}" if free else ""
        sentences += [
            f"{entry.id}: no check in {chapter} proves it{hint}"
            for entry in entries
            if entry.chapter == chapter and entry.id not in proved
        ]
    return list(dict.fromkeys(sentences))
