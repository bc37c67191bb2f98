"""A kernel keeps the memory of an array that went for the one that follows."""

from __future__ import annotations

import platform

import pytest
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook

ASKED = """
import resource

def faults():
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt

def filled():
    return len(b"x" * 40_000_000)

filled()
before = faults()
filled()
print(faults() - before)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="what is told is told to glibc")
def test_the_next_large_array_costs_no_fresh_pages() -> None:
    notebook = new_notebook(cells=[new_code_cell(ASKED)])
    NotebookClient(notebook, kernel_name="python3").execute()
    assert int(notebook.cells[0].outputs[0].text) < 1000  # of the 9,766 that it is made of
