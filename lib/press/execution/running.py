"""How one notebook is run, and what is said when that does not end well."""

from __future__ import annotations

import asyncio
import json
import time
import traceback
from pathlib import Path
from typing import Any, NamedTuple

from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
from nbformat import NotebookNode

from press.execution.cache import code_of, write_result
from press.execution.generators import Walk
from press.execution.model_ids import rename_models
from press.execution.normalize import TIMEOUT
from press.execution.streams import join

MOST = 5_000_000
"""Characters that one cell may give: a figure has a tenth of that, a page cannot show more."""
BEGINNING = 200
"""How many of them are told when there are more."""


class Outcome(NamedTuple):
    """How a page ran: the time it took, and what went wrong, if anything did."""

    page: Path
    seconds: float
    wrong: str


class TooMuch(Exception):
    """A cell gives more than a page can show."""


class Client(NotebookClient):
    """Runs a notebook; knows which cell runs, and stops one that prints without an end."""

    at = -1
    """The number of the cell that runs."""
    given = 0
    """How many characters it gave so far."""
    died: int | None = None
    """How the kernel ended that died: its exit code, or minus the number of a signal."""

    def __init__(self, *a: Any, **k: Any) -> None:
        super().__init__(*a, **k)
        self.walk = Walk()

    async def async_execute_cell(
        self, cell: NotebookNode, cell_index: int, *a: Any, **k: Any
    ) -> Any:
        """Run a cell."""
        self.at, self.given = cell_index, 0
        try:
            ran = await super().async_execute_cell(cell, cell_index, *a, **k)
            if cell.cell_type == "code":
                await self.walk.note(self.kc, ran)
            return ran
        except DeadKernelError:
            if self.given > MOST:
                raise TooMuch from None
            if self.km and self.km.provisioner:
                self.died = await self.km.provisioner.poll()
            raise

    def output(self, outs: list[NotebookNode], msg: dict[str, Any], *more: Any) -> Any:
        """Take what a cell gives, up to a limit, at which its kernel is ended."""
        content = msg["content"]
        self.given += len(content["text"] if "text" in content else json.dumps(content))
        if self.given > MOST:
            self.shutdown_kernel = "immediate"  # it would not hear a polite request
            if self.task_poll_for_reply:
                self.task_poll_for_reply.cancel()
            return None
        return super().output(outs, msg, *more)

    @property
    def where(self) -> str:
        """Name the cell that runs or ran last."""
        return f"cell {self.nb.cells[self.at].get('id', self.at)}"


def run_page(cache: Path, page: Path, notebook: NotebookNode) -> Outcome:
    """Run a notebook and write what it gave into the cache.

    Parameters
    ----------
    cache : Path
        The folder of the cache.
    page : Path
        The file that the notebook was read from, below the current folder.
    notebook : NotebookNode
        What was read.
    """
    started = time.perf_counter()
    wrong, code = "", code_of(notebook)
    client = Client(
        notebook,
        timeout=TIMEOUT,
        startup_timeout=TIMEOUT,
        iopub_timeout=TIMEOUT,  # what comes late, on a busy machine, is not lost without a word
        raise_on_iopub_timeout=True,
        record_timing=False,
        resources={"metadata": {"path": str(page.parent.absolute())}},
    )
    try:
        asyncio.run(client.async_execute())
        rename_models(notebook, code)
        join(notebook)
        write_result(cache, notebook, code)
    except (CellExecutionError, CellTimeoutError) as error:
        wrong = f"{page}, {client.where}\n{error}"
    except TooMuch:
        wrong = _too_much(page, client)
    except DeadKernelError:
        wrong = f"{page}, {client.where}: {_death(client.died)}"
    except OSError as error:
        wrong = f"{page}, {client.where}: {said(error)}"
    except Exception as error:
        if client.at < 0:
            wrong = f"{page}: no kernel started ({type(error).__name__}: {error})"
        else:
            wrong = f"{page}, {client.where}: {error}\n{traceback.format_exc()}"
    return Outcome(page, time.perf_counter() - started, wrong)


def _too_much(page: Path, client: Client) -> str:
    """Say which cell printed without an end, and how it began."""
    outputs = client.nb.cells[client.at].outputs
    began = next((output.text for output in outputs if output.output_type == "stream"), "")
    return (
        f"{page}, {client.where}: it gave more than {MOST:,} characters and was stopped; let it "
        f"print less. It began:\n{began[:BEGINNING]}"
    )


def _death(code: int | None) -> str:
    """Say that the kernel died, and how, as far as that is known.

    Examples
    --------
    >>> _death(-9).partition(" while")[0]
    'the kernel died (signal 9)'
    """
    how = "" if code is None else f" (signal {-code})" if code < 0 else f" (exit code {code})"
    return f"the kernel died{how} while this cell ran; perhaps there is too little memory"


def said(error: OSError) -> str:
    """Say in a sentence what the operating system refused."""
    where = f": {error.filename}" if error.filename else ""
    if isinstance(error, PermissionError) and not where:  # a semaphore, which names no file
        where = " (no file is named, so perhaps in /dev/shm, where processes meet)"
    return (
        f"{error.strerror or error}{where}; free some room, or see to it that you may write there, "
        "and run `make book` again"
    )
