"""Of two proofs of one claim the right one is shown, whichever chapter is read first."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from press.audit.coverage import errata_of, gaps, notebook_of, proofs_of

HEADER = "id,chapter,item,source,kind,check\n"
NAMES = ("07-attention", "08-positions", "09-transformers")
HOME = "08-positions"
ROW = "POS-01"


in_every_order = pytest.mark.parametrize("order", [*permutations(NAMES)], ids=" ".join)


def prove(path: Path, *cells: tuple[str, bool]) -> None:
    """Write a notebook of checks that name the row; each held or did not."""
    path.parent.mkdir(parents=True, exist_ok=True)
    notebook = new_notebook(cells=[new_markdown_cell("(label)=\n# Title", id="title")])
    for name, held in cells:
        output = new_output("stream", text=f"{'✓' if held else '✗'} one: 1 = 1\n")
        metadata = {"tags": ["check"], "proves": {ROW: ["one"]}}
        notebook.cells.append(new_code_cell("", id=name, outputs=[output], metadata=metadata))
    nbformat.write(notebook, path)


@pytest.fixture
def book(tmp_path: Path) -> Path:
    """Write a book of one row, whose home is the second of three chapters."""
    folder = tmp_path / "chapters/appendix"
    folder.mkdir(parents=True)
    (folder / "coverage.csv").write_text(f"{HEADER}{ROW},{HOME},item,S1,kind,check\n")
    (folder / "errata.yml").write_text("[]\n")
    for name in NAMES:
        prove(notebook_of(tmp_path, name))
    return tmp_path


def shown(book: Path, chapters: tuple[str, ...]) -> str:
    """Return the cell whose proof is shown, and where; nothing when none is."""
    proof = proofs_of(book, list(chapters)).get(ROW)
    return f"{proof.document}:{proof.cell}" if proof else ""


@in_every_order
def test_a_chapters_own_proof_is_shown(book: Path, order: tuple[str, ...]) -> None:
    for name in NAMES:
        prove(notebook_of(book, name), ("first", True), ("second", True))
    assert shown(book, order) == f"{HOME}:first"


@in_every_order
def test_one_that_did_not_hold_gives_way(book: Path, order: tuple[str, ...]) -> None:
    prove(notebook_of(book, HOME), ("first", False), ("second", True))
    prove(notebook_of(book, NAMES[0]), ("elsewhere", True))
    assert shown(book, order) == f"{HOME}:second"
    prove(notebook_of(book, HOME), ("first", False))
    assert shown(book, order) == f"{NAMES[0]}:elsewhere"


@in_every_order
def test_where_the_own_chapter_has_none_the_first_of_another_is_shown(
    book: Path, order: tuple[str, ...]
) -> None:
    for name in {*NAMES} - {HOME}:
        prove(notebook_of(book, name), ("first", True), ("second", True))
    others = [name for name in order if name != HOME]
    assert shown(book, order) == f"{others[0]}:first"
    without_home = tuple(others)
    assert shown(book, without_home) == f"{others[0]}:first"


@in_every_order
def test_the_text_comes_before_the_page_of_errata(book: Path, order: tuple[str, ...]) -> None:
    for name in NAMES:
        prove(errata_of(book, name), ("erratum", True))
    assert shown(book, order) == f"errata/{HOME}:erratum"
    prove(notebook_of(book, HOME), ("text", True))
    assert shown(book, order) == f"{HOME}:text"


def test_a_proof_elsewhere_is_no_proof_of_ones_own(book: Path) -> None:
    (book / "chapters/book.toml").write_text(
        (Path(__file__).parents[2] / "chapters/book.toml").read_text("utf-8"), encoding="utf-8"
    )
    prove(notebook_of(book, NAMES[0]), ("elsewhere", True))
    assert [gap for gap in gaps(book) if gap.startswith(f"{ROW}: no check in {HOME}")]
    prove(notebook_of(book, HOME), ("own", True))
    assert gaps(book) == []
