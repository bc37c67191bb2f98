"""The chapters that have the learner's form already, and how a test reaches their parts by key."""

from __future__ import annotations

from pathlib import Path

import nbformat
from playwright.sync_api import Locator, Page

from primer.book.form import guesses, tags_of

BOOK = Path(__file__).parents[1]


def is_converted(notebook: nbformat.NotebookNode) -> bool:
    """Say whether a chapter asks for guesses, and hides cells by their kinds alone."""
    asks = any(
        cell.cell_type == "markdown" and any(guesses(cell.source)) for cell in notebook.cells
    )
    return asks and not any("hide-cell" in tags_of(cell) for cell in notebook.cells)


CHAPTERS = sorted((BOOK / "chapters").glob("[0-9]*.ipynb"))
CONVERTED = [path.stem for path in CHAPTERS if is_converted(nbformat.read(path, as_version=4))]


def tab_to(page: Page, place: Locator) -> None:
    """Reach a control by the Tab key from just before it; fail where Tab passes it by."""
    place.evaluate("""(node) => {
      const before = document.createElement("span");
      before.id = "before";
      before.tabIndex = -1;
      (node.closest("summary")?.parentElement ?? node).before(before);
      before.focus({ preventScroll: true });
    }""")
    page.keyboard.press("Tab")
    assert place.evaluate("(node) => node === document.activeElement")
    page.evaluate("document.getElementById('before').remove()")
