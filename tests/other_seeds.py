"""A chapter is run again with all seeds moved, so that no check passes by luck of its seed."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient
from nbformat import NotebookNode

CHAPTERS = Path(__file__).parents[1] / "chapters"


def check_with_other_seeds(
    monkeypatch: pytest.MonkeyPatch,
    chapter: str,
    drawing: str,
    only: Collection[str] | None = None,
) -> None:
    """Execute a chapter: a check that fails raises, and the cell ``drawing`` draws other numbers.

    Where few cells draw, ``only`` names them and what they need; no simulation may be left out.
    """
    notebook = nbformat.read(CHAPTERS / f"{chapter}.ipynb", as_version=4)
    if only is not None:
        others = [cell for cell in notebook.cells if cell.id not in only]
        assert [cell.id for cell in others if "verify_simulated(" in cell.source] == []
        notebook.cells = [cell for cell in notebook.cells if cell.id in only]
    before = printed(notebook, drawing)
    monkeypatch.setenv("PRIMER_SEED", "1")  # the kernel inherits it
    directory = {"metadata": {"path": str(CHAPTERS)}}
    NotebookClient(notebook, timeout=300, resources=directory).execute()
    assert printed(notebook, drawing) != before  # the seed did reach the kernel


def printed(notebook: NotebookNode, name: str) -> str:
    """Return what a cell printed."""
    (cell,) = (cell for cell in notebook.cells if cell.id == name)
    return "".join(output.text for output in cell.outputs if output.output_type == "stream")
