"""Sphinx extension: two builds of one folder take turns; the second waits for the first to end.

The lock is the operating system's, on a file of the folder: it is gone with the process that holds
it, however that ended, so that none is ever left over.  The file says which process that is.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

LOCK = "build.lock"
POLL = 0.2  # seconds between two looks at whether it is our turn
_HELD: dict[str, int] = {}
"""How often this process holds a lock, by its path: a build within a build does not wait for it."""


@contextlib.contextmanager
def our_turn(folder: Path) -> Iterator[None]:
    """Hold the lock of a folder; wait, with a word, while another process holds it.

    Parameters
    ----------
    folder : Path
        What is written; it is made.

    Raises
    ------
    OSError
        When the folder cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    path = os.path.realpath(folder / LOCK)
    if not _HELD.get(path):
        file = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        _wait_for(file)
        os.truncate(file, 0)
        os.pwrite(file, f"{os.getpid()}\n".encode(), 0)
        _HELD[path] = 0
    _HELD[path] += 1
    try:
        yield
    finally:
        _HELD[path] -= 1
        if not _HELD[path]:
            os.truncate(file, 0)
            os.close(file)  # which lets the next one in


def _wait_for(file: int) -> None:
    """Take the lock when it is free; say once who has it."""
    said = False
    while True:
        try:
            # POSIX's lock is this process's own: neither kernels nor workers inherit it
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except (BlockingIOError, PermissionError):
            if not said:
                holder = os.pread(file, 32, 0).decode().strip() or "unknown"
                print(
                    f"Another build is running here (process {holder}): waiting until it ends …",
                    file=sys.stderr,
                    flush=True,
                )
                said = True
            time.sleep(POLL)
        else:
            return


def begin(app: Sphinx) -> None:
    """Wait for our turn before anything is written."""
    turn = contextlib.ExitStack()
    try:
        turn.enter_context(our_turn(Path(app.outdir).parent))
    except OSError as error:
        raise ExtensionError(
            f"cannot write to {error.filename}: {error.strerror}; free some room, or see to it "
            "that you may write there, and build again"
        ) from error
    app.connect("build-finished", lambda *_: turn.close(), priority=999)


def setup(app: Sphinx) -> dict[str, Any]:
    """Hold the lock from the first step to the last."""
    app.connect("builder-inited", begin, priority=1)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
