"""The code of the example book: it is loaded with the cell that imports it."""

from __future__ import annotations


def half(number: float) -> float:
    """Return half of a number."""
    return number / 2
