"""Write a file whole or not at all: what a checkpoint, a tokenizer and a log have in common."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from primer.inputs.given import given


def write_whole(path: str | os.PathLike[str], content: bytes) -> None:
    """Replace a file in one step that no crash, kill or full disk can leave half done.

    The content goes to a second file beside the first and from there to the disk; only then does it
    take the place of the first, which the operating system does at once.  Whoever opens ``path``
    finds the old content or the new.

    Parameters
    ----------
    path : path
        The file; its folder must exist.
    content : bytes
        What it shall hold.

    Raises
    ------
    OSError
        When there is no room or no permission; what was there before is untouched.
    ValueError
        When the path names no file, or the content is no bytes.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "numbers.txt"
    ...     write_whole(file, b"1 2 3")
    ...     file.read_bytes(), os.listdir(folder)
    (b'1 2 3', ['numbers.txt'])
    """
    if not isinstance(path, str | os.PathLike) or "\0" in str(path) or not Path(path).name:
        raise ValueError(f"path must be that of a file, got {path!r}")
    if not isinstance(content, bytes | bytearray | memoryview):
        raise ValueError(f"content must be bytes, got {given(content)}; write content.encode()")
    path = Path(path)
    beside = path.with_name(path.name + ".writing")
    try:
        with beside.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, path)
    except OSError as error:
        with contextlib.suppress(OSError):
            beside.unlink()
        kept = "the file that was there before is untouched" if _there(path) else "nothing is kept"
        raise OSError(
            error.errno,
            f"cannot save {len(content):,} bytes ({error.strerror}); {kept}; "
            "free some room or choose another folder, then try again",
            str(path),
        ) from error


def _there(path: Path) -> bool:
    """Say whether there is a file; a name that is too long has none."""
    try:
        return path.exists()
    except OSError:
        return False
