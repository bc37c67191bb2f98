"""The kinds of arguments that signatures name, read by :func:`~primer.inputs.checked`.

``def moved(w: Vector, step: Positive)`` says what may be given, a list too, and what the function
gets: a vector of finite numbers in double precision, and a number above 0.  A topic makes kinds of
its own in the same way, ``Sample = Annotated[Like, sample]``, of a function that takes the name and
the value of an argument.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

from primer.inputs.arrays import distribution, finite, matrix, real, vector
from primer.inputs.values import (
    MANY,
    count,
    fraction,
    not_negative,
    number,
    one_of,
    positive,
    probability,
    whole,
)

if TYPE_CHECKING:
    import numpy as np

    Like = np.ndarray | Any
    """What NumPy makes an array of, for who calls; an array, for the function."""
else:
    Like = Any

Number = Annotated[float, number]
"""One finite number."""
Positive = Annotated[float, positive]
"""One finite number above 0."""
NotNegative = Annotated[float, not_negative]
"""One finite number, 0 or larger."""
Probability = Annotated[float, probability]
"""One number strictly between 0 and 1."""
Fraction = Annotated[float, fraction]
"""One number from 0 to below 1."""
Whole = Annotated[int, whole]
"""One whole number, which may be negative."""
Count = Annotated[int, count]
"""One whole number, 1 or larger."""
Natural = Annotated[int, partial(count, at_least=0)]
"""One whole number, 0 or larger."""
Dim = Annotated[int, partial(count, at_most=1 << 24)]
"""How long an axis of a table is that is made, such as the width of a layer: 1 to 2²⁴."""
Side = Annotated[int, partial(count, at_most=1 << 15)]
"""How long the sides of a square table are that is made: 1 to 2¹⁵."""
Many = Annotated[int, partial(count, at_most=10_000)]
"""How many layers or other parts of a model are made: 1 to 10,000."""
Steps = Annotated[int, partial(count, at_most=MANY)]
"""How often something is done, one time after the other: 1 to a million."""
StepsOrNone = Annotated[int, partial(count, at_least=0, at_most=MANY)]
"""How often something is done, one time after the other: 0 to a million."""
Seed = Natural
"""A whole number from 0 to below 2⁶³."""
Numbers = Annotated[Like, finite]
"""Finite numbers, real or complex, of any shape."""
Reals = Annotated[Like, real]
"""Finite real numbers of any shape."""
Vector = Annotated[Like, vector]
"""Finite real numbers, one sequence of them."""
Matrix = Annotated[Like, matrix]
"""Finite real numbers in rows and columns."""
Distribution = Annotated[Any, distribution]
"""Probabilities along the last axis, an array or a tensor."""


def at_least(least: int) -> Callable[[str, object], int]:
    """Ask for a whole number that is large enough: ``n: Annotated[int, at_least(2)]``.

    Examples
    --------
    >>> at_least(2)("n", 1)
    Traceback (most recent call last):
        ...
    ValueError: n must be a whole number ≥ 2, got 1
    """
    return partial(count, at_least=least)


def among(choices: Collection[str]) -> Callable[[str, str], str]:
    """Ask for one of several words, such as the keys of a table: ``Annotated[str, among(NORMS)]``.

    Examples
    --------
    >>> among({"l1": sum, "l2": max})("norm", "l3")
    Traceback (most recent call last):
        ...
    ValueError: norm must be one of 'l1', 'l2', got 'l3'
    """
    return partial(one_of, choices=choices)
