"""Where torch's global generator stood before a cell: a page that runs the cell alone begins there.

A cell that draws from the global generator prints other numbers when the cells before it are left
out, as in a page, where each cell can be the first.  So a kernel is asked after each cell where its
generator stands.  A cell that moved it keeps, in its metadata, the line that brings another
generator, of the same seed, to where this one stood before.
"""

from __future__ import annotations

import ast
import queue
from typing import Any

from nbformat import NotebookNode

from sphinx_run_in_page.cells import FIRST
from torch_in_page.generator import place_of

ASK = "__import__('sys').modules['torch'].get_rng_state().numpy().tobytes().hex()"
PATIENCE = 60
"""Seconds to wait for a kernel that has just run a cell."""
CHOSEN = 2**32
"""Seeds from here on torch draws by itself, when nobody gives one: no build draws the same."""
MOST = 10**8
"""Numbers that a page would pass over; a cell that comes after more begins anywhere."""


def line(seed: int, draws: int, kept: float | None) -> str:
    """Return the line that brings a generator to a place.

    Examples
    --------
    >>> line(0, 20, None)
    'import torch; torch.manual_seed(0).forward(20, None)'
    """
    return f"import torch; torch.manual_seed({seed}).forward({draws}, {kept!r})"


class Walk:
    """How far a kernel's generator has gone."""

    def __init__(self) -> None:
        self.state = b""
        self.place: tuple[int, int, float | None] | None = None

    async def note(self, client: Any, cell: NotebookNode) -> None:
        """Ask a kernel that has run a cell, and write into the cell where it began to draw.

        Parameters
        ----------
        client : jupyter_client.AsyncKernelClient
            The kernel.
        cell : NotebookNode
            What it has run.
        """
        cell.metadata.pop(FIRST, None)
        state = await _asked(client)
        if not state or state == self.state:
            return
        before, self.state = self.place, state
        try:
            self.place = place_of(state, MOST)
        except ValueError:
            self.place = None
        if before and before[0] < CHOSEN and before != self.place:
            cell.metadata[FIRST] = line(*before)


async def _asked(client: Any) -> bytes:
    """Return the state of a kernel's generator, nothing when it has none or does not answer."""
    asked = client.execute("", silent=True, store_history=False, user_expressions={"state": ASK})
    while True:
        try:
            reply = await client.get_shell_msg(timeout=PATIENCE)
        except queue.Empty:
            return b""
        if reply["parent_header"].get("msg_id") == asked:
            break
    await _rest(client, asked)
    said = reply["content"].get("user_expressions", {}).get("state", {})
    if said.get("status") != "ok":
        return b""
    return bytes.fromhex(ast.literal_eval(said["data"]["text/plain"]))


async def _rest(client: Any, asked: str) -> None:
    """Wait until a kernel has told that it is idle again, so that nothing interrupts its answer."""
    while True:
        try:
            told = await client.get_iopub_msg(timeout=PATIENCE)
        except queue.Empty:
            return
        idle = told["content"].get("execution_state") == "idle"
        if idle and told["parent_header"].get("msg_id") == asked:
            return
