"""Execute the notebooks that changed, in parallel, into the cache that Jupyter Book reads.

Jupyter Book's own cache compares only the code of the notebooks, so it would go on serving the
outputs of an older library.  This step drops the cache when the library, a widget or the pinned
requirements change, and runs what is missing on all cores: the build that follows only renders.

Run ``python -m primer.book.execute`` in the root of the book.
"""

from __future__ import annotations

import hashlib
import logging
import os
import shutil
import sys
import time
from pathlib import Path

from jupyter_cache import get_cache
from jupyter_cache.base import JupyterCacheAbstract
from jupyter_cache.executors import load_executor
from jupyter_cache.executors.base import ExecutorRunResult

from primer.book.normalize import TIMEOUT, notebooks

CACHE = Path("_build/.jupyter_cache")
STAMP = "library.sha256"
"""Beside the cache's own files: the library that filled it. It is written only when it changes."""
LIBRARY = Path(__file__).parents[1]


def library_hash(library: Path, requirements: Path) -> str:
    """Hash everything a notebook's outputs depend on besides its own code.

    Parameters
    ----------
    library : Path
        The folder of the package; its ``book`` folder is left out, it only renders.
    requirements : Path
        The pinned requirements; left out when there is no such file.

    Returns
    -------
    str
        A SHA-256 in hexadecimal; it depends on names and contents, not on dates.
    """
    files = [
        path
        for path in sorted(library.rglob("*"))
        if path.suffix in {".py", ".js", ".css", ".json", ".toml", ".csv", ".txt", ".safetensors"}
        and path.relative_to(library).parts[0] != "book"
    ]
    digest = hashlib.sha256()
    for path in [*files, *([requirements] if requirements.is_file() else [])]:
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def open_cache(folder: Path, key: str) -> JupyterCacheAbstract:
    """Open the cache, emptied first when it was filled under another key."""
    stamp = folder / STAMP
    known = stamp.is_file() and stamp.read_text() == key
    if folder.exists() and not known:
        print("The library changed: every notebook runs again.")
        shutil.rmtree(folder)
    cache = get_cache(str(folder))
    cache.list_project_records()  # creates the folder and its database
    if not known:
        stamp.write_text(key)
    return cache


def run(cache: JupyterCacheAbstract, notebooks: list[Path]) -> ExecutorRunResult:
    """Execute the notebooks that the cache does not hold and store their outputs in it."""
    for path in notebooks:
        cache.add_nb_to_project(str(path.resolve()))
    stale = cache.list_unexecuted()
    names = ", ".join(Path(record.uri).stem for record in stale) or "none"
    print(f"{len(notebooks)} notebooks, to be executed: {names}", flush=True)
    logger = logging.getLogger("primer.book.execute")
    logger.setLevel(logging.INFO)  # the executor then reports each notebook as it ends
    return load_executor("local-parallel", cache, logger=logger).run_and_cache(timeout=TIMEOUT)


def main() -> int:
    """Execute what changed; on an error print the notebook's traceback."""
    started = time.perf_counter()
    chapters = notebooks()
    if not chapters:
        print("No chapters/*.ipynb here: run this in the root of the book.", file=sys.stderr)
        return 1
    os.environ["PRIMER_FIGURES"] = "svg"  # read by primer.notebook.figures in the kernels
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # there are as many kernels as cores
    cache = open_cache(CACHE, library_hash(LIBRARY, Path("requirements.txt")))
    result = run(cache, chapters)
    failed = [*result.excepted, *result.errored]
    for uri in failed:
        print(f"\n{uri}\n{cache.get_project_record(uri).traceback}", file=sys.stderr)
    seconds = time.perf_counter() - started
    print(f"executed {len(result.succeeded)}, failed {len(failed)}, in {seconds:.1f} s")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
