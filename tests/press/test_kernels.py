"""Kernels that are forked are as good as new, and one that dies is noticed."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import nbformat
import pytest
from jupyter_client.provisioning import KernelProvisionerFactory
from nbclient import NotebookClient
from nbclient.exceptions import DeadKernelError
from nbformat.v4 import new_code_cell, new_notebook

from press.execution import kernels

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="kernels are forked on Linux"),
    pytest.mark.thorough,  # the notebooks ran on them
]

Run = Callable[[str], nbformat.NotebookNode]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Run]:
    """Return a function that runs a cell in a kernel of its own and returns what it gave."""
    for name in (kernels.NAMED_IN, "MPLBACKEND"):  # left as they were
        monkeypatch.setenv(name, "")
    KernelProvisionerFactory.clear_instance()
    kernels.use(forked=True)

    def run(source: str) -> nbformat.NotebookNode:
        notebook = new_notebook(cells=[new_code_cell(source)])
        where = {"metadata": {"path": str(tmp_path)}}
        client = NotebookClient(notebook, kernel_name="python3", resources=where)
        # in a loop of its own that ends: the browser's may run here, and no other may share it
        with ThreadPoolExecutor(1) as thread:
            thread.submit(lambda: asyncio.run(client.async_execute())).result()
        return notebook.cells[0].outputs

    yield run
    KernelProvisionerFactory.clear_instance()  # it remembers which one it gave


def test_it_has_imported_and_run_nothing_else(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASKED", "yes")
    (told,) = run(
        "import os, sys\nleft = 1\nprint(os.environ['ASKED'], os.getcwd(), 'torch' in sys.modules)"
    )
    assert told.text == f"yes {tmp_path} True\n"
    (told,) = run("print([name in globals() for name in ('left', 'torch', 'plt', 'run')])")
    assert told.text == f"{[False] * 4}\n"


def test_it_draws_into_the_notebook(run: Run) -> None:
    *_, drawn = run("import matplotlib.pyplot as plt\nplt.plot([1, 2]);")
    assert drawn.data["image/png"]


def test_its_errors_and_its_end_are_told(run: Run) -> None:
    with pytest.raises(Exception, match="ZeroDivisionError"):
        run("1 / 0")
    with pytest.raises(DeadKernelError):
        run("import os; os._exit(3)")


def test_it_does_not_outlive_what_started_it(run: Run) -> None:
    (told,) = run("import os; print(os.getpid())")
    with pytest.raises(ProcessLookupError):
        os.kill(int(told.text), 0)


def test_it_is_spoken_to_through_files_that_are_gone_at_its_end(run: Run) -> None:
    (told,) = run("from ipykernel.connect import get_connection_info as info; print(info())")
    known = json.loads(told.text)
    assert known["transport"] == "ipc"
    assert Path(known["ip"]).parent == Path(tempfile.gettempdir())
    assert not [*Path(tempfile.gettempdir()).glob(f"{Path(known['ip']).name}*")]
