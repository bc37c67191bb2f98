"""The results of notebooks, kept where the site's builder looks for them.

The builder finds a result by the code of its notebook, in the cache of `jupyter-cache
<https://jupyter-cache.readthedocs.io>`_: a file for each, and a database that lists them.  Beside
them stands for each page the key under which it ran and the checksum of its result.  Only a result
that is as it was written, under the key of today, is served; all else is thrown away and made anew:
it is a cache.
"""

from __future__ import annotations

import contextlib
import hashlib
import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import nbformat
from jupyter_cache.cache.db import DB_NAME, NbCacheRecord
from jupyter_cache.cache.main import JupyterCacheBase
from jupyter_cache.readers import get_reader
from nbformat import NotebookNode
from sqlalchemy.exc import SQLAlchemyError

from press.notebook import NotANotebook, read_notebook
from primer.saving import write_whole

CACHE = Path("_build/.jupyter_cache")
KEYS = "keys"
"""In the cache: a file for each page, written only when it ran under another key."""
RESULTS = "executed"
"""In the cache: a folder for each result."""
TABLES = ("nbcache", "nbproject", "settings")


def read(page: Path) -> NotebookNode:
    """Read a page as the builder does: a notebook, or Markdown with code cells."""
    if page.suffix == ".ipynb":
        return read_notebook(page)
    try:
        return get_reader({"type": "plugin", "name": "myst_nb_md"})(str(page))
    except Exception as error:  # whatever the reader stumbles over
        first = str(error).strip().partition("\n")[0]
        raise NotANotebook(f"{page} cannot be read: {first}; mend its first lines") from error


def code_of(notebook: NotebookNode) -> str:
    """Return the name under which the builder looks for a notebook's result."""
    return str(JupyterCacheBase("").create_hashed_notebook(notebook)[1])


def key_file(cache: Path, page: Path) -> Path:
    """Return where the key is kept under which a page was executed; pages are built from it."""
    return cache / KEYS / page.with_suffix(".sha256")


def result_file(cache: Path, code: str) -> Path:
    """Return where the result of a notebook with this code is kept."""
    return cache / RESULTS / code / "base.ipynb"


def write_result(cache: Path, notebook: NotebookNode, code: str) -> None:
    """Write an executed notebook into the cache; :func:`seal` says that it may be served.

    Parameters
    ----------
    cache : Path
        The folder of the cache.
    notebook : NotebookNode
        The notebook, to whose cells running may have added metadata.
    code : str
        The :func:`code_of` the notebook before it ran.
    """
    stripped, _ = JupyterCacheBase("").create_hashed_notebook(notebook)
    file = result_file(cache, code)
    file.parent.mkdir(parents=True, exist_ok=True)
    write_whole(file, nbformat.writes(stripped, nbformat.NO_CONVERT).encode())


def _seal(cache: Path, key: str, code: str) -> bytes:
    """Return what stands in the key file of a page whose result is there and whole."""
    with result_file(cache, code).open("rb") as file:
        return f"{key} {hashlib.file_digest(file, 'sha256').hexdigest()}\n".encode()


def seal(cache: JupyterCacheBase, page: Path, key: str, code: str, seconds: float) -> None:
    """List the result of a page, and say that it may be served while the key is this one."""
    with contextlib.suppress(KeyError):
        NbCacheRecord.remove_record(NbCacheRecord.record_from_hashkey(code, cache.db).pk, cache.db)
    NbCacheRecord.create_record(str(page), code, cache.db, data={"execution_seconds": seconds})
    file = key_file(cache.path, page)
    file.parent.mkdir(parents=True, exist_ok=True)
    write_whole(file, _seal(cache.path, key, code))


def stale(cache: JupyterCacheBase, page: Path, key: str, code: str) -> str:
    """Say why the result of a page cannot be served; empty when it can.

    Returns
    -------
    str
        ``"never executed"``, ``"changed"``, or ``"damaged"`` when what was written is not there.
    """
    try:
        kept = key_file(cache.path, page).read_bytes()
    except FileNotFoundError:
        return "never executed"
    if kept.rpartition(b" ")[0] != key.encode():
        return "changed"
    try:
        NbCacheRecord.record_from_hashkey(code, cache.db)
        return "" if kept == _seal(cache.path, key, code) else "damaged"
    except (KeyError, FileNotFoundError):
        return "damaged"


def forget(cache: JupyterCacheBase, kept: set[str]) -> None:
    """Throw away all results but those of some codes: the builder would serve them as they are."""
    for record in NbCacheRecord.records_all(cache.db):
        if record.hashkey not in kept:
            NbCacheRecord.remove_record(record.pk, cache.db)
    results = cache.path / RESULTS
    for folder in results.iterdir() if results.is_dir() else ():
        if folder.name not in kept:
            shutil.rmtree(folder)


def is_sound(cache: Path) -> bool:
    """Say whether the database of a cache can be read; one that is not there yet can be made."""
    database = cache / DB_NAME
    if not database.exists():
        return True
    try:
        with contextlib.closing(sqlite3.connect(database)) as connection:
            for table in TABLES:
                connection.execute(f"SELECT * FROM {table}").fetchall()
            return connection.execute("PRAGMA quick_check").fetchone() == ("ok",)
    except sqlite3.DatabaseError:
        return False


@contextlib.contextmanager
def opened(folder: Path) -> Iterator[JupyterCacheBase]:
    """Open the cache, and close it; where its database is damaged, with a word, begin a new one.

    Parameters
    ----------
    folder : Path
        Where it is; it is made.
    """
    if not is_sound(folder):
        print(f"{folder / DB_NAME} is damaged: it is made anew, and all notebooks run.", flush=True)
        shutil.rmtree(folder)
    cache = JupyterCacheBase(folder)
    try:
        try:
            NbCacheRecord.records_all(cache.db)
        except (RuntimeError, SQLAlchemyError):  # of another version
            print(f"{folder} is of another version: all notebooks run.", flush=True)
            cache.db.dispose()
            shutil.rmtree(folder)
            cache = JupyterCacheBase(folder)
        yield cache
    finally:
        cache.db.dispose()
