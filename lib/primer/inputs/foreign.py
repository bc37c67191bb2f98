"""Errors that Python, NumPy or torch raise in the midst of a function: what is said of them."""

from __future__ import annotations

import linecache
import sysconfig
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from primer.inputs.given import given

LIBRARY = str(Path(__file__).parents[1])
INSTALLED = tuple({sysconfig.get_path(kind) for kind in ("stdlib", "purelib", "platlib")})
CYTHON = (".pyx", ".pxd")
"""Files of packages, numpy.random's among them, whose errors give no folder."""
THEIRS = ("builtins", "numpy", "torch", "scipy")
NOT_TAKEN = "cannot work with what it was given"
"""What is said where no better sentence is known; the probe counts it as none."""


def last_resort(error: Exception, name: str, arguments: Mapping[str, Any]) -> str:
    """Say what a function was given when it met an error that nobody has words for.

    What the library says itself, and what a function of the reader's does wrong, says enough.

    Parameters
    ----------
    error : Exception
        What was raised.
    name : str
        The function's.
    arguments : mapping from str to object
        Of the call.

    Returns
    -------
    str
        The sentence, or nothing where the error shall stay as it is.
    """
    if type(error).__module__.partition(".")[0] not in THEIRS or not _met(error):
        return ""
    values = ", ".join(f"{n} = {given(value)}" for n, value in arguments.items() if n != "self")
    return f"{name} {NOT_TAKEN}, {values}: {error}"


def is_own(error: Exception) -> bool:
    """Say whether a function that the reader gave the library met an error: it tells by itself.

    Examples
    --------
    >>> from primer.statistics import kolmogorov_distance
    >>> kolmogorov_distance([0.5, 1.0], lambda x: 1 / 0)
    Traceback (most recent call last):
        ...
    ZeroDivisionError: division by zero
    """
    files = [file for file, _ in _written(error)]
    own = [not file.startswith(LIBRARY) for file in files]
    return len(files) > 2 and own[-1] and not own[1]  # the first line is the guard's


def _written(error: Exception) -> list[tuple[str, int]]:
    """Give file and line of the calls in the library, and in what a reader wrote."""
    return [
        line
        for line in _lines(error)
        if line[0].startswith(LIBRARY)
        or not (line[0].startswith((*INSTALLED, "<frozen", "<string")) or line[0].endswith(CYTHON))
    ]


def _met(error: Exception) -> bool:
    """Say whether a line of the library met this error, and did not raise it itself."""
    lines = _written(error)
    return (
        len(lines) > 1  # the first is the guard's, which calls: Python says what is missing there
        and lines[-1][0].startswith(LIBRARY)
        and not linecache.getline(*lines[-1]).strip().startswith("raise")
    )


def _lines(error: Exception) -> Iterator[tuple[str, int]]:
    """Give file and line of each call that an error came through, the outermost first."""
    place = error.__traceback__
    while place is not None:
        yield place.tb_frame.f_code.co_filename, place.tb_lineno
        place = place.tb_next
