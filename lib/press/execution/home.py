"""A folder for what kernels keep of their user, where the user's own cannot be written.

IPython, Jupyter and matplotlib write into the home folder; in containers and services it is often
one that nobody may write.  A build then gives them an empty one, which is gone with the build.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path


def can_be_written(folder: Path) -> bool:
    """Say whether a file can be made in a folder, which alone tells: the rights do not."""
    try:
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


@contextlib.contextmanager
def writable_home() -> Iterator[None]:
    """Let the home folder be one that can be written, with a word when it is another."""
    home = Path(os.environ.get("HOME") or Path.home())
    if can_be_written(home):
        yield
        return
    with tempfile.TemporaryDirectory(prefix="home-") as folder:
        print(f"HOME is {home}, which cannot be written: this build uses an empty one.", flush=True)
        before = os.environ.get("HOME")
        os.environ["HOME"] = folder
        try:
            yield
        finally:
            if before is None:
                del os.environ["HOME"]
            else:
                os.environ["HOME"] = before
