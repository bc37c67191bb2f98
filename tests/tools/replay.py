"""nbval compares the stored outputs with those of the one execution that `make book` did.

nbval asks a kernel to run each cell and reads its messages.  Here it asks a kernel that only
remembers: it gives the messages that the cell's outputs in the cache of `make book` came from.  A
notebook that never ran, or ran with other code, an older library or other data, is refused.
``pytest --nbval chapters/08-positions.ipynb`` alone, without this folder, still runs a notebook.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from nbformat import NotebookNode
from nbval.plugin import IPyNbFile

from press.execution.cache import CACHE, code_of, opened, read, stale
from press.execution.execute import key_of
from press.execution.normalize import normalize
from press.registry import REGISTRY, read_book


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out the notebooks of chapters to come, which may be half written."""
    if collection_path.suffix != ".ipynb" or not (config.rootpath / REGISTRY).exists():
        return None  # no notebook, or one that a test made
    book = read_book(config.rootpath)
    to_come = {chapter.name for chapter in book.chapters if not chapter.written}
    return collection_path.stem in to_come or None


class NotExecuted(Exception):
    """The cache does not hold the outputs of a notebook as it is now."""


def executed(book: Path, page: Path) -> NotebookNode:
    """Return a notebook with the outputs of its one execution, normalized as stored ones are.

    Raises
    ------
    NotExecuted
        When it was not executed as it is now.
    """
    notebook = read(book / page)
    advice = "run `make book`, which executes it"
    with opened(book / CACHE) as cache:
        reason = stale(cache, page, key_of(notebook, book), code_of(notebook))
        if reason == "never executed":
            raise NotExecuted(f"{page} was never executed: {advice}")
        if reason == "changed":
            raise NotExecuted(
                f"{page}, or what it imports or reads, changed since it ran: {advice}"
            )
        if reason:
            raise NotExecuted(f"the outputs of {page} are gone: {advice}")
        _, fresh = cache.merge_match_into_notebook(notebook)
    return normalize(fresh)


class RememberingKernel:
    """What nbval needs of a kernel, for cells whose outputs are known."""

    def __init__(self, notebook: NotebookNode) -> None:
        self.cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
        self.next = 0
        """The cell that is asked for next: a process may be given some cells of a notebook."""
        self.messages: deque[dict[str, Any]] = deque()

    def is_alive(self) -> bool:
        return True

    def execute_cell_input(self, source: str, allow_stdin: bool) -> str:
        """Begin to give the messages of the next cell; return their number."""
        cell = self.cells[self.next]
        assert cell.source == source
        number = f"cell {self.next}"
        self.messages = deque(messages(cell, number))
        return number

    def await_reply(self, number: str, timeout: float) -> None:
        """Come back at once."""

    def await_idle(self, number: str, timeout: float) -> None:
        """Leave out what is still to be said."""

    def get_message(self, stream: str, timeout: float) -> dict[str, Any]:
        return self.messages.popleft()

    def stop(self) -> None:
        """There is nothing to stop."""


def messages(cell: NotebookNode, number: str) -> Iterator[dict[str, Any]]:
    """Give the messages that a kernel sends for a cell with these outputs."""
    idle = {"msg_type": "status", "content": {"execution_state": "idle"}}
    for output in cell.outputs:
        yield {
            "msg_type": output.output_type,
            "content": {"metadata": {}, "execution_count": None, **output},
            "parent_header": {"msg_id": number},
        }
    yield {**idle, "parent_header": {"msg_id": number}}


class ReplayedNotebook(IPyNbFile):
    """A notebook for nbval that is not executed again."""

    def setup(self) -> None:
        """Read what nbval's own start of a kernel would compute."""
        book = self.config.rootpath
        try:
            self.kernel = RememberingKernel(executed(book, self.path.relative_to(book)))
        except NotExecuted as error:
            pytest.fail(str(error), pytrace=False)
        self.setup_sanitize_files()


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> Iterator[None]:
    """Put our notebooks in the place of nbval's."""
    return [
        ReplayedNotebook.from_parent(parent, path=file_path) if type(one) is IPyNbFile else one
        for one in (yield)
    ]


@pytest.hookimpl(trylast=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Tell the kernel, once it was started, which cell comes: the first may be any."""
    if isinstance(item.parent, ReplayedNotebook) and item.parent.kernel:
        item.parent.kernel.next = item.cell_num
