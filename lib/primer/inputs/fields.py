"""Hold what a dataclass is made of against the hints of its fields."""

from __future__ import annotations

from typing import TypeVar

from primer.inputs.guard import checked

Class = TypeVar("Class", bound=type)


def checked_fields(made: Class) -> Class:
    """Let a dataclass refuse, in words, fields that differ from their hints.

    Parameters
    ----------
    made : type
        A dataclass; what else its fields must be stands in its ``__post_init__``.

    Returns
    -------
    type
        The same class.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> @checked_fields
    ... @dataclass(frozen=True)
    ... class Point:
    ...     x: float
    >>> Point("3")
    Traceback (most recent call last):
        ...
    ValueError: x must be one finite number, got '3'
    """
    made.__init__ = checked(made.__init__)  # type: ignore[misc]
    return made
