"""No check of the chapter on optimization passes by luck of a seed."""

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

CHAPTER = Path(__file__).parents[1] / "chapters" / "03-optimization.ipynb"


@pytest.mark.parametrize("seed", ["1"])
def test_the_chapter_runs_with_other_seeds(seed, monkeypatch):
    monkeypatch.setenv("PRIMER_SEED", seed)
    monkeypatch.setenv("MPLBACKEND", "module://matplotlib_inline.backend_inline")
    notebook = nbformat.read(CHAPTER, as_version=4)
    # A cell that raises ends the run with CellExecutionError, which names the cell.
    NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
