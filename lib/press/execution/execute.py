"""Execute the notebooks that changed, in parallel, into the cache that Jupyter Book reads.

Jupyter Book's own cache compares only the code of a notebook, so it would go on serving the outputs
of an older library.  This step forgets the outputs of each notebook whose :func:`key
<press.execution.ingredients.key>` changed, which also follows what the code imports and reads, and
runs what is missing on all cores, the longest notebooks first.  The build that follows only
renders, and nbval compares the same outputs with the stored ones.

Run ``python -m press.execution.execute`` in the root of the book.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import NamedTuple

from jupyter_cache.cache.main import JupyterCacheBase
from nbformat import NotebookNode
from sqlalchemy.exc import SQLAlchemyError

from press.execution import ingredients, kernels
from press.execution.cache import CACHE, code_of, forget, opened, read, seal, stale
from press.execution.home import writable_home
from press.execution.normalize import notebooks
from press.execution.parents import end_with
from press.execution.running import Outcome, run_page, said
from press.notebook import NotANotebook
from press.publish.turns import our_turn

REQUIREMENTS = Path("requirements.txt")
MARKDOWN = tuple(
    map(Path, ("index.md", "chapters/appendix/one-token.md", "chapters/appendix/scratch.md"))
)
"""The pages that are no notebooks and have cells that run."""
FORM = 2
"""Raise it when a result holds what results had not before; then all are made anew."""


class Task(NamedTuple):
    """Pages of one code, of which the first is run for all."""

    pages: list[Path]
    notebook: NotebookNode
    key: str
    code: str


def pages() -> list[Path]:
    """List what is executed: the notebooks, and three pages in Markdown."""
    return [*notebooks(), *(page for page in MARKDOWN if page.is_file())]


def key_of(notebook: NotebookNode, book: Path = Path()) -> str:
    """Return the key of a notebook as it is now; see :func:`press.execution.ingredients.key`."""
    code = [cell.source for cell in notebook.cells if cell.cell_type == "code"]
    return f"{FORM}-{ingredients.key(code, ingredients.LIBRARY, book / REQUIREMENTS)}"


def tasks() -> list[Task]:
    """Read every page, before anything runs.

    Raises
    ------
    NotANotebook
        When a page cannot be read, or its code is no Python; the sentence names it.
    """
    found: dict[str, Task] = {}
    for page in pages():
        notebook = read(page)
        code = code_of(notebook)
        if code in found:
            found[code].pages.append(page)
            continue
        try:
            found[code] = Task([page], notebook, key_of(notebook), code)
        except ValueError as error:
            raise NotANotebook(f"{page}: {error}") from error
    return list(found.values())


def outdated(cache: JupyterCacheBase, asked: list[Task]) -> list[Task]:
    """Find what is to be executed, the longest first, and forget all other results."""
    todo = []
    for task in asked:
        reasons = {page: stale(cache, page, task.key, task.code) for page in task.pages}
        for page, reason in reasons.items():
            if reason == "damaged":
                print(f"The stored result of {page} is damaged or gone: it runs anew.", flush=True)
        if any(reasons.values()):
            todo.append(task)
    forget(cache, {task.code for task in asked} - {task.code for task in todo})
    return sorted(todo, key=lambda task: task.pages[0].stat().st_size, reverse=True)


def prepare(parent: int, forked: bool) -> None:
    """Make a process ready to run notebooks."""
    end_with(parent)
    kernels.use(forked=forked)


def run(cache: JupyterCacheBase, todo: list[Task]) -> list[Outcome]:
    """Execute pages, keep what they gave, and return those that failed."""
    failed = []
    started = time.perf_counter()
    workers = min(len(todo), os.cpu_count() or 1)
    forked = len(todo) > 2 * workers  # for a few it would take longer
    # its processes may have some of their own, which those of multiprocessing.Pool may not
    how = multiprocessing.get_context("fork" if sys.platform == "linux" else "spawn")
    with ProcessPoolExecutor(workers, how, prepare, (os.getpid(), forked)) as pool:
        tasks = {
            pool.submit(run_page, cache.path, task.pages[0], task.notebook): task for task in todo
        }
        for number, result in enumerate(as_completed(tasks), 1):
            task = tasks[result]
            try:
                outcome = result.result()
            except BrokenProcessPool:
                outcome = Outcome(
                    task.pages[0],
                    0.0,
                    f"{task.pages[0]}: a process that runs notebooks was ended from outside; "
                    "perhaps there is too little memory. What is done is kept: run `make book` "
                    "again",
                )
            if outcome.wrong:
                failed.append(outcome)
            else:
                for page in task.pages:
                    seal(cache, page, task.key, task.code, outcome.seconds)
            word = "failed" if outcome.wrong else "done"
            seconds = time.perf_counter() - started
            print(f"{number} of {len(todo)}, {seconds:4.0f} s: {outcome.page} {word}", flush=True)
    return failed


def build(cache: JupyterCacheBase) -> int:
    """Execute what changed; on an error say which cell of which notebook."""
    started = time.perf_counter()
    todo = outdated(cache, tasks())
    names = ", ".join(page.stem for task in todo for page in task.pages) or "none"
    print(f"{len(pages())} notebooks, to be executed: {names}", flush=True)
    failed = run(cache, todo) if todo else []
    for outcome in failed:
        print(f"\n{outcome.wrong}", file=sys.stderr)
    seconds = time.perf_counter() - started
    print(f"executed {len(todo) - len(failed)}, failed {len(failed)}, in {seconds:.1f} s")
    return 1 if failed else 0


def main() -> int:
    """Execute what changed, while no other build of this folder does; say what is in the way."""
    if not notebooks():
        print("No chapters/*.ipynb here: run this in the root of the book.", file=sys.stderr)
        return 1
    os.environ["PRIMER_FIGURES"] = "svg"  # read by primer.notebook.figures in the kernels
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # there are as many kernels as cores
    try:
        with our_turn(CACHE.parent), writable_home(), opened(CACHE) as cache:
            return build(cache)
    except NotANotebook as error:
        print(error, file=sys.stderr)
    except OSError as error:
        print(f"Cannot build: {said(error)}.", file=sys.stderr)
    except (SQLAlchemyError, RuntimeError) as error:
        cause = error if isinstance(error, SQLAlchemyError) else error.__cause__
        if not isinstance(cause, SQLAlchemyError):
            raise
        refused = OSError(0, str(getattr(cause, "orig", cause)), str(CACHE))
        print(f"Cannot build: {said(refused)}.", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
