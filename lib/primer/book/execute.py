"""Execute the notebooks that changed, in parallel, into the cache that Jupyter Book reads.

Jupyter Book's own cache compares only the code of a notebook, so it would go on serving the outputs
of an older library.  This step forgets the outputs of each notebook whose :func:`key
<primer.book.ingredients.key>` changed, which also follows what the code imports and reads, and runs
what is missing on all cores, the longest notebooks first.  The build that follows only renders, and
nbval compares the same outputs with the stored ones.

Run ``python -m primer.book.execute`` in the root of the book.
"""

from __future__ import annotations

import os
import sys
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Any

from jupyter_cache.base import CacheBundleIn, JupyterCacheAbstract
from jupyter_cache.cache.db import NbCacheRecord
from jupyter_cache.cache.main import JupyterCacheBase
from jupyter_cache.executors.basic import ExecutionWorkerLocalMProc, ProcessData
from nbformat import NotebookNode

from primer.book import ingredients, kernels
from primer.book.normalize import TIMEOUT, notebooks
from primer.book.streams import join

CACHE = Path("_build/.jupyter_cache")
KEYS = "keys"
"""In the cache: a file for each notebook, written only when it ran under another key."""
REQUIREMENTS = Path("requirements.txt")
MARKDOWN = (Path("index.md"), Path("chapters/appendix/one-token.md"))
"""The pages that are no notebooks and yet show what code does."""


class Cache(JupyterCacheBase):  # type: ignore[misc]  # which has no types
    """A cache in which several processes may store, each stream of output in one piece."""

    def cache_notebook_bundle(self, bundle: CacheBundleIn, **how: Any) -> NbCacheRecord:
        """Store a notebook, from which the page is written, as a stored one is normalized."""
        join(bundle.nb)
        return super().cache_notebook_bundle(bundle, **how)

    def truncate_caches(self) -> None:
        """Delete nothing; :func:`forget` leaves one record of each page.

        Jupyter-cache asks first which records are the newest and then which are not among them:
        what another process stored in between would be deleted.
        """


def pages() -> list[Path]:
    """List what is executed: the notebooks, and two pages in Markdown."""
    return [*notebooks(), *(page for page in MARKDOWN if page.is_file())]


def reader(page: Path) -> dict[str, str]:
    """Say how jupyter-cache reads a page."""
    return {"type": "plugin", "name": "nbformat" if page.suffix == ".ipynb" else "myst_nb_md"}


def key_file(cache: Path, page: Path) -> Path:
    """Return where the key is kept under which a page was executed; pages are built from it."""
    return cache / KEYS / page.with_suffix(".sha256")


def key_of(notebook: NotebookNode, book: Path = Path()) -> str:
    """Return the key of a notebook as it is now; see :func:`primer.book.ingredients.key`."""
    code = [cell.source for cell in notebook.cells if cell.cell_type == "code"]
    return ingredients.key(code, ingredients.LIBRARY, book / REQUIREMENTS)


def forget(cache: JupyterCacheAbstract, page: Path, notebook: NotebookNode) -> None:
    """Take all outputs of a page out of the cache, also those of the same code elsewhere."""
    _, code = cache.create_hashed_notebook(notebook)
    for record in cache.list_cache_records():
        if record.uri == str(page.resolve()) or record.hashkey == code:
            cache.remove_cache(record.pk)


def outdated(cache: JupyterCacheAbstract, folder: Path) -> dict[str, tuple[Path, str]]:
    """Find the pages to execute, and forget their outputs.

    Returns
    -------
    dict of str to tuple
        The page as jupyter-cache names it → its path and its key; the longest first.
    """
    for record in cache.list_project_records():
        if not Path(record.uri).exists():
            cache.remove_nb_from_project(record.uri)
    found = []
    for page in pages():
        record = cache.add_nb_to_project(str(page.resolve()), read_data=reader(page))
        notebook = cache.get_project_notebook(record.pk).nb
        key, kept = key_of(notebook), key_file(folder, page)
        if not kept.is_file() or kept.read_text() != key:
            forget(cache, page, notebook)
        if cache.get_cached_project_nb(record.pk) is None:
            found.append((page, record.uri, key))
    found.sort(key=lambda one: one[0].stat().st_size, reverse=True)
    return {uri: (page, key) for page, uri, key in found}


def run(cache: JupyterCacheAbstract, folder: Path, todo: dict[str, tuple[Path, str]]) -> list[str]:
    """Execute pages, store their outputs in the cache, and return those that failed."""
    failed = []
    tasks = []
    for uri in todo:
        record = cache.get_project_record(uri)
        tasks.append(ProcessData(record.pk, uri, cache, TIMEOUT, False))
    started = time.perf_counter()
    workers = min(len(tasks), os.cpu_count() or 1)
    prepare = kernels.use if len(tasks) > 2 * workers else None  # for a few it would take longer
    # its processes may have some of their own, which those of multiprocessing.Pool may not
    with ProcessPoolExecutor(workers, initializer=prepare) as pool:
        results = [pool.submit(ExecutionWorkerLocalMProc(), task) for task in tasks]
        for number, result in enumerate(as_completed(results), 1):
            status, uri = result.result()
            page, key = todo[uri]
            if status == 0:
                kept = key_file(folder, page)
                kept.parent.mkdir(parents=True, exist_ok=True)
                kept.write_text(key)
            else:
                failed.append(uri)
            word = "failed" if status else "done"
            seconds = time.perf_counter() - started
            print(f"{number} of {len(tasks)}, {seconds:4.0f} s: {page} {word}", flush=True)
    return failed


def main() -> int:
    """Execute what changed; on an error print the notebook's traceback."""
    started = time.perf_counter()
    if not notebooks():
        print("No chapters/*.ipynb here: run this in the root of the book.", file=sys.stderr)
        return 1
    os.environ["PRIMER_FIGURES"] = "svg"  # read by primer.notebook.figures in the kernels
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # there are as many kernels as cores
    cache = Cache(CACHE)
    cache.list_project_records()  # creates the folder and its database
    todo = outdated(cache, CACHE)
    names = ", ".join(page.stem for page, _ in todo.values()) or "none"
    print(f"{len(pages())} notebooks, to be executed: {names}", flush=True)
    failed = run(cache, CACHE, todo) if todo else []
    for uri in failed:
        print(f"\n{uri}\n{cache.get_project_record(uri).traceback}", file=sys.stderr)
    seconds = time.perf_counter() - started
    print(f"executed {len(todo) - len(failed)}, failed {len(failed)}, in {seconds:.1f} s")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
