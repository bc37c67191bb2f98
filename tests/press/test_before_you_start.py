"""What *Before you start* says of the chapters that need torch is what their open cells use."""

from __future__ import annotations

import re

from written import BOOK, CHAPTER_NOTEBOOKS

from press.notebook import read_notebook

ROWS = {
    row[1]: row[2]
    for cell in read_notebook(BOOK / "chapters/before-you-start.ipynb").cells
    for row in re.finditer(r"^\| \[(.+?)\]\(before-\w+\) \| (.+?) \|", cell.source, re.MULTILINE)
}
"""For each thing that the page asks for the chapters that lean on it, as the table says it."""


def chapters_in(words: str) -> set[int]:
    """Read the numbers of the chapters in a list such as ``3 to 9, 11``."""
    spans = re.findall(r"(\d+)(?: to (\d+))?", words)
    return {k for first, last in spans for k in range(int(first), int(last or first) + 1)}


def open_cells_with(module: str) -> dict[int, int]:
    """Count the cells that a learner reads, and that name a module, in each chapter."""
    return {
        int(path.stem[:2]): sum(
            cell.cell_type == "code"
            and not set(cell.metadata.get("tags", ())) - {"draws"}
            and f"{module}." in cell.source
            for cell in read_notebook(path).cells
        )
        for path in CHAPTER_NOTEBOOKS
    }


def test_the_table_has_a_row_for_each_of_the_ten() -> None:
    assert len(ROWS) == 10


def test_every_chapter_that_is_named_is_written() -> None:
    written = {int(path.stem[:2]) for path in CHAPTER_NOTEBOOKS}
    for thing, words in ROWS.items():
        assert chapters_in(words) <= written, f"{thing}: {words}"


def test_the_chapters_that_lean_on_torch_are_those_whose_open_cells_use_it() -> None:
    used = {chapter for chapter, cells in open_cells_with("torch").items() if cells > 1}
    assert chapters_in(ROWS["torch"]) == used


def test_torch_takes_the_place_of_numpy_where_open_cells_hardly_use_numpy() -> None:
    hardly = {chapter for chapter, cells in open_cells_with("np").items() if cells < 3}
    assert chapters_in(ROWS["NumPy"]) == hardly
