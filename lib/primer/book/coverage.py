"""What the book owes its sources: their claims, their errors, and what is still to be proved.

``chapters/appendix/coverage.csv`` has one row for each definition, formula, claim and worked number
of the five sources; ``chapters/appendix/errata.yml`` has one entry for each of their errors.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from primer.book.proofs import Proof, read_proofs

CHAPTERS = {
    "01-statistics": "Statistics",
    "02-regression": "Linear regression",
    "03-optimization": "Optimization",
    "04-networks": "Neural networks",
    "05-language-models": "Language models",
    "06-recurrent": "Recurrent networks",
    "07-attention": "Attention",
    "08-positions": "Positions",
    "09-transformers": "Transformers",
    "10-beyond-attention": "Beyond attention",
    "11-inference": "Inference",
    "12-pretraining": "Pretraining",
    "13-scaling": "Scaling laws",
    "14-fine-tuning": "Fine-tuning",
    "15-alignment": "Alignment",
    "16-fourier": "Fourier analysis",
}


@dataclass(frozen=True)
class Row:
    """A claim of the sources, and how its chapter checks it."""

    id: str
    chapter: str
    item: str
    source: str
    kind: str
    check: str


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
    """Read the rows of the source map, in the order of the book."""
    with (book / "chapters/appendix/coverage.csv").open(encoding="utf-8", newline="") as file:
        return [Row(**row) for row in csv.DictReader(file)]


def read_errata(book: Path) -> list[Erratum]:
    """Read the errata, by number."""
    text = (book / "chapters/appendix/errata.yml").read_text(encoding="utf-8")
    return [Erratum(**entry) for entry in yaml.safe_load(text)]


def read_entries(book: Path) -> list[Row | Erratum]:
    """Read all that is to be proved: the rows, then the errata."""
    return [*read_rows(book), *read_errata(book)]


def listed_chapters(book: Path) -> list[str]:
    """Name the chapters that ``_toc.yml`` puts into the book, in its order."""

    def files(node: Any) -> Iterator[str]:
        if isinstance(node, dict):
            if "file" in node:
                yield str(node["file"])
            for value in node.values():
                yield from files(value)
        elif isinstance(node, list):
            for value in node:
                yield from files(value)

    toc = yaml.safe_load((book / "_toc.yml").read_text(encoding="utf-8"))
    names = (file.removesuffix(".ipynb").removeprefix("chapters/") for file in files(toc))
    return [name for name in names if name in CHAPTERS]


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
    """Say, a sentence each, what the listed chapters owe: nothing when every claim is proved.

    Parameters
    ----------
    book : Path
        The directory of the repository, or of a copy of its data and notebooks.
    """
    sentences: list[str] = []
    entries = read_entries(book)
    known = {entry.id for entry in entries}
    chapters = listed_chapters(book)
    missing = [chapter for chapter in chapters if not notebook_of(book, chapter).exists()]
    sentences += [f"{chapter}: listed in _toc.yml, but there is no notebook" for chapter in missing]
    for chapter in (chapter for chapter in chapters if chapter not in missing):
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
        sentences += [
            f"{entry.id}: no check in {chapter} proves it"
            for entry in entries
            if entry.chapter == chapter and entry.id not in proved
        ]
    return list(dict.fromkeys(sentences))
