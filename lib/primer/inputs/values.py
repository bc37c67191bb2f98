"""What functions ask of single values: a number in a range, a whole one, a choice."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Collection
from typing import TypeVar

import numpy as np

from primer.inputs.arrays import as_array
from primer.inputs.given import given, is_tensor

Choice = TypeVar("Choice")


def number(name: str, value: object) -> float:
    """Return one real number.

    Parameters
    ----------
    name : str
        What the caller calls it.
    value : object
        What was given for it.

    Returns
    -------
    float
        The number.

    Raises
    ------
    ValueError
        When it is no number, a truth value, several numbers, complex, NaN or infinite.

    Examples
    --------
    >>> number("mean", [1.0, 2.0])
    Traceback (most recent call last):
        ...
    ValueError: mean must be one finite number, got an array of shape (2,)
    """
    if type(value) is float and math.isfinite(value):
        return value
    if isinstance(value, int) and not isinstance(value, bool):  # of any size
        with contextlib.suppress(OverflowError):
            return float(value)
        raise ValueError(f"{name} must be one finite number, got one of {value.bit_length()} bits")
    array = as_array(name, value)
    if array.ndim or array.dtype.kind not in "iuf" or not np.isfinite(array):
        got = f"an array of shape {array.shape}" if array.ndim else repr(array.item())
        raise ValueError(f"{name} must be one finite number, got {got}")
    return float(array)


def positive(name: str, value: object) -> float:
    """Return one number above 0.

    Parameters
    ----------
    name, value
        As in :func:`number`.

    Returns
    -------
    float
        The number.

    Raises
    ------
    ValueError
        When it is 0, negative or not one finite number.

    Examples
    --------
    >>> positive("step", -0.1)
    Traceback (most recent call last):
        ...
    ValueError: step must be a finite number above 0, got -0.1
    """
    x = number(name, value)
    if x <= 0:
        raise ValueError(f"{name} must be a finite number above 0, got {x}")
    return x


def not_negative(name: str, value: object) -> float:
    """Return one number that is 0 or larger.

    Parameters
    ----------
    name, value
        As in :func:`number`.

    Returns
    -------
    float
        The number.

    Raises
    ------
    ValueError
        When it is negative or not one finite number.

    Examples
    --------
    >>> not_negative("penalty", -1)
    Traceback (most recent call last):
        ...
    ValueError: penalty must be a finite number, 0 or larger, got -1.0
    """
    x = number(name, value)
    if x < 0:
        raise ValueError(f"{name} must be a finite number, 0 or larger, got {x}")
    return x


def probability(name: str, value: object) -> float:
    """Return one number between 0 and 1, where neither end is allowed.

    Parameters
    ----------
    name, value
        As in :func:`number`.

    Returns
    -------
    float
        The number.

    Raises
    ------
    ValueError
        When it is 0, 1, outside or not one finite number.

    Examples
    --------
    >>> probability("level", 95)
    Traceback (most recent call last):
        ...
    ValueError: level must lie strictly between 0 and 1, got 95.0
    """
    x = number(name, value)
    if not 0 < x < 1:
        raise ValueError(f"{name} must lie strictly between 0 and 1, got {x}")
    return x


def fraction(name: str, value: object) -> float:
    """Return one number between 0 and 1, where 0 is allowed: what is kept of something.

    Parameters
    ----------
    name, value
        As in :func:`number`.

    Returns
    -------
    float
        The number.

    Raises
    ------
    ValueError
        When it is negative, 1 or larger, or not one finite number.

    Examples
    --------
    >>> fraction("momentum", 0)
    0.0
    >>> fraction("momentum", 1)
    Traceback (most recent call last):
        ...
    ValueError: momentum must be at least 0 and less than 1, got 1.0
    """
    x = number(name, value)
    if not 0 <= x < 1:
        raise ValueError(f"{name} must be at least 0 and less than 1, got {x}")
    return x


LARGEST_WHOLE = 2**63 - 1
"""The largest whole number that arrays and tensors count with."""
MANY = 1_000_000
"""What is done one after the other so often takes minutes."""


def count(name: str, value: object, *, at_least: int = 1, at_most: int = LARGEST_WHOLE) -> int:
    """Return one whole number.

    Parameters
    ----------
    name : str
        What the caller calls it.
    value : object
        What was given for it.
    at_least, at_most : int
        The smallest and the largest number that is allowed.

    Returns
    -------
    int
        The number.

    Raises
    ------
    ValueError
        When it is no integer, also not 2.0 or ``True``, too small or too large.

    Examples
    --------
    >>> count("steps", 0, at_least=0)
    0
    >>> count("steps", 2.5)
    Traceback (most recent call last):
        ...
    ValueError: steps must be a whole number ≥ 1, got 2.5
    """
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < at_least:
        raise ValueError(f"{name} must be a whole number ≥ {at_least}, got {given(value)}")
    if value > at_most:
        most = "below 2⁶³" if at_most == LARGEST_WHOLE else f"at most {at_most:,}"
        raise ValueError(f"{name} must be {most}, got {given(value)}")
    return int(value)


def whole(name: str, value: object) -> int:
    """Return one whole number, which may be negative: a place, an offset.

    Parameters
    ----------
    name, value
        As in :func:`number`.

    Returns
    -------
    int
        The number.

    Raises
    ------
    ValueError
        When it is no integer, also not 2.0 or ``True``.

    Examples
    --------
    >>> whole("start", 0.5)
    Traceback (most recent call last):
        ...
    ValueError: start must be a whole number, got 0.5
    """
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise ValueError(f"{name} must be a whole number, got {given(value)}")
    return int(value)


def truth(name: str, value: object) -> bool:
    """Return one truth value, as Python's.

    Parameters
    ----------
    name, value
        As in :func:`number`.

    Returns
    -------
    bool
        The truth value.

    Raises
    ------
    ValueError
        When it is another thing than True or False, NumPy's or torch's too: every text but an empty
        one would count as true, also "no".

    Examples
    --------
    >>> truth("cache", np.bool_(True))
    True
    >>> truth("cache", "no")
    Traceback (most recent call last):
        ...
    ValueError: cache must be True or False, got 'no'
    """
    if isinstance(value, bool):
        return value
    single = isinstance(value, np.generic | np.ndarray) or is_tensor(value)
    if single and not isinstance(value, np.ma.MaskedArray):
        array = as_array(name, value)
        if array.ndim == 0 and array.dtype.kind == "b":
            return bool(array)
    raise ValueError(f"{name} must be True or False, got {given(value)}")


def one_of(name: str, value: Choice, choices: Collection[Choice]) -> Choice:
    """Return one of the things there are to choose from.

    Parameters
    ----------
    name : str
        What the caller calls it.
    value : object
        What was given for it.
    choices : collection of object
        What is allowed.

    Returns
    -------
    object
        The value.

    Raises
    ------
    ValueError
        When it is none of the choices.

    Examples
    --------
    >>> one_of("norm", "l3", ["l1", "l2"])
    Traceback (most recent call last):
        ...
    ValueError: norm must be one of 'l1', 'l2', got 'l3'
    """
    if not any(isinstance(value, type(choice)) and value == choice for choice in choices):
        raise ValueError(
            f"{name} must be one of {', '.join(map(repr, choices))}, got {given(value)}"
        )
    return value


def random_generator(name: str, value: object) -> np.random.Generator:
    """Return NumPy's source of random numbers, whose seed the caller chose.

    Parameters
    ----------
    name, value
        As in :func:`number`.

    Returns
    -------
    numpy.random.Generator
        The generator itself: what draws from it moves it on.

    Raises
    ------
    ValueError
        When it is no generator, as when a seed is given in its place.

    Examples
    --------
    >>> random_generator("rng", 0)
    Traceback (most recent call last):
        ...
    ValueError: rng must be a generator of random numbers, numpy.random.default_rng(seed), got 0
    """
    if not isinstance(value, np.random.Generator):
        raise ValueError(
            f"{name} must be a generator of random numbers, numpy.random.default_rng(seed), "
            f"got {given(value)}"
        )
    return value
