"""Read from the notebooks which claims they prove, where, and whether the checks were seen to hold.

The metadata of a check cell names what it proves, a row of the source map or an erratum, and the
printed names of the checks that prove it: ``"proves": {"POS-01": ["words swapped, …"]}``.  That,
the section the cell stands in and the ``✓`` lines in its stored output are all the source map, the
list of errata and the coverage test go by: nobody keeps a second list by hand.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import nbformat

from primer.book.form import held_checks, holds

LABEL = re.compile(r"\(([\w.:-]+)\)=\s*")
HEADING = re.compile(r"(#{1,6})\s+(.+)")
FENCE = re.compile(r"`{3,}|~{3,}")


@dataclass(frozen=True)
class Section:
    """A heading of a notebook and the label written above it, ``""`` when there is none."""

    title: str
    label: str


@dataclass(frozen=True)
class Proof:
    """One name in the metadata of one check: the claim, its place, and whether it was seen to hold.

    Attributes
    ----------
    row : str
        A row of the source map or an erratum, for example ``"FOU-03"``.
    document : str
        The notebook's path below ``chapters``, for example ``"errata/16-fourier"``.
    section : Section
        The innermost section with a label that the cell stands in; where no heading above it has
        one, the innermost section.
    cell : str
        The id of the cell.
    holds : bool
        Whether every check named for the row has its ``✓`` line in the cell's stored output.
    """

    row: str
    document: str
    section: Section
    cell: str
    holds: bool


def _marks(markdown: str) -> Iterator[tuple[str, str]]:
    """Yield the labels, headings and other lines of a markdown cell, less what is in fences."""
    fence = ""  # the marks that opened the fence we are in
    for line in map(str.strip, markdown.splitlines()):
        if fence:
            if line.startswith(fence) and not line.strip(fence[0]):
                fence = ""
        elif opening := FENCE.match(line):
            fence = opening[0]
        elif not line:
            continue
        elif label := LABEL.fullmatch(line):
            yield "label", label[1]
        elif heading := HEADING.fullmatch(line):
            yield heading[1], heading[2]
        else:
            yield "text", line


def _linked(sections: list[Section]) -> Section:
    """Choose the innermost section that can be linked to."""
    labeled = [section for section in sections if section.label]
    return (labeled or sections or [Section("", "")])[-1]


def read_proofs(notebook: Path, document: str) -> list[Proof]:
    """List what a notebook proves, in the order of its cells.

    Parameters
    ----------
    notebook : Path
        An executed notebook.
    document : str
        Its name in the proofs.
    """
    proofs: list[Proof] = []
    sections: dict[str, Section] = {}  # the headings we are under, from "#" inwards
    label = ""
    for cell in nbformat.read(notebook, as_version=4).cells:
        if cell.cell_type == "markdown":
            for kind, text in _marks(cell.source):
                if kind.startswith("#"):
                    sections = {mark: held for mark, held in sections.items() if mark < kind}
                    sections[kind] = Section(text, label)
                label = text if kind == "label" else ""
        elif cell.cell_type == "code":
            label = ""
            lines, section = held_checks(cell), _linked([*sections.values()])
            for row, names in cell.metadata.get("proves", {}).items():
                seen = bool(names) and all(holds(name, lines) for name in names)
                proofs.append(Proof(row, document, section, cell.id, seen))
    return proofs
