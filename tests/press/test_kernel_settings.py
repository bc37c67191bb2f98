"""What a kernel of the environment is told before a notebook's first line."""

from __future__ import annotations

import pytest
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook

ASKED = """
import threadpoolctl, scipy.linalg, torch
print({told["num_threads"] for told in threadpoolctl.threadpool_info()}, torch.get_num_threads())
"""


@pytest.mark.parametrize(("variables", "threads"), [({}, 1), ({"OMP_NUM_THREADS": "2"}, 2)])
def test_small_matrices_are_computed_on_one_core_unless_somebody_asks_for_more(
    monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], threads: int
) -> None:
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "JUPYTER_DEFAULT_PROVISIONER_NAME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    notebook = new_notebook(cells=[new_code_cell(ASKED)])
    NotebookClient(notebook, kernel_name="python3").execute()
    assert notebook.cells[0].outputs[0].text == f"{{{threads}}} {threads}\n"
