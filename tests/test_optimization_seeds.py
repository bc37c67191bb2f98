"""No check of the chapter passes by luck of its seed: it is run again with all seeds moved."""

from pathlib import Path

import nbformat
from nbclient import NotebookClient

CHAPTER = Path(__file__).parents[1] / "chapters" / "03-optimization.ipynb"


def printed(notebook, name):
    """Return what a cell printed."""
    (cell,) = (cell for cell in notebook.cells if cell.id == name)
    return "".join(output.text for output in cell.outputs if output.output_type == "stream")


def test_every_check_holds_with_other_seeds(monkeypatch):
    monkeypatch.setenv("PRIMER_SEED", "1")  # the kernel inherits it
    notebook = nbformat.read(CHAPTER, as_version=4)
    before = printed(notebook, "floor-check")
    directory = {"metadata": {"path": str(CHAPTER.parent)}}
    NotebookClient(notebook, timeout=300, resources=directory).execute()
    assert printed(notebook, "floor-check") != before  # the seed did reach the kernel
