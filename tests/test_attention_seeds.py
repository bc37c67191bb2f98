"""No simulation of the chapter passes by luck of its seed: they run again with all seeds moved."""

from pathlib import Path

import nbformat
from nbclient import NotebookClient

CHAPTER = Path(__file__).parents[1] / "chapters" / "07-attention.ipynb"


def printed(notebook, name):
    """Return what a cell printed."""
    (cell,) = (cell for cell in notebook.cells if cell.id == name)
    return "".join(output.text for output in cell.outputs if output.output_type == "stream")


def test_every_simulation_holds_with_other_seeds(monkeypatch):
    monkeypatch.setenv("PRIMER_SEED", "1")  # the kernel inherits it
    notebook = nbformat.read(CHAPTER, as_version=4)
    before = printed(notebook, "scale-variance")
    first = next(i for i, cell in enumerate(notebook.cells) if cell.id == "scale-variance")
    last = next(i for i, cell in enumerate(notebook.cells) if cell.id == "scale-saturation-check")
    assert not [
        cell.id
        for cell in notebook.cells[:first] + notebook.cells[last + 1 :]
        if "verify_simulated(" in cell.source
    ]
    setup = [cell for cell in notebook.cells if cell.id == "setup"]
    notebook.cells = setup + notebook.cells[first : last + 1]  # the rest draws nothing
    directory = {"metadata": {"path": str(CHAPTER.parent)}}
    NotebookClient(notebook, timeout=300, resources=directory).execute()
    assert printed(notebook, "scale-variance") != before  # the seed did reach the kernel
