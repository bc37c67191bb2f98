"""Read from the notebooks which claims they prove, where, and whether the checks were seen to hold.

The metadata of a check cell names what it proves, a row of the source map or an erratum, and the
printed names of the checks that prove it: ``"proves": {"POS-01": ["words swapped, …"]}``.  That,
the section the cell stands in and the ``✓`` lines in its stored output are all the source map, the
list of errata and the coverage test go by: nobody keeps a second list by hand.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from press.audit.form import held_checks, holds
from press.notebook import read_notebook
from press.pages.headings import Headings, Section


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
    headings = Headings()
    for cell in read_notebook(notebook).cells:
        if cell.cell_type == "markdown":
            headings.read(cell.source)
        elif cell.cell_type == "code":
            headings.pass_code()
            lines, section = held_checks(cell), headings.linked
            for row, names in cell.metadata.get("proves", {}).items():
                seen = bool(names) and all(holds(name, lines) for name in names)
                proofs.append(Proof(row, document, section, cell.id, seen))
    return proofs
