"""What functions ask of their input, said once: finite numbers of a shape, in a range; a choice.

Each function takes the name its argument has in the caller, so that a ``ValueError`` can name it,
and returns the argument ready to compute with.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TypeVar

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

Choice = TypeVar("Choice")


def finite(name: str, values: ArrayLike, hint: str = "") -> np.ndarray:
    """Return numbers, real or complex, as an array in double precision.

    Parameters
    ----------
    name : str
        What the caller calls them.
    values : array_like
        The numbers.
    hint : str
        What to do about a missing number, where the caller knows it.

    Returns
    -------
    float or complex array
        A new array of the same shape.

    Raises
    ------
    ValueError
        When there is no entry, or one is no number, NaN or infinite.

    Examples
    --------
    >>> finite("x", [1, 2j])
    array([1.+0.j, 0.+2.j])
    >>> finite("x", [[1.0, 2.0], [3.0, float("nan")]], hint="fill the gaps first")
    Traceback (most recent call last):
        ...
    ValueError: x must be finite, got nan at [1, 1]; fill the gaps first
    """
    array = np.asarray(values)
    if array.dtype.kind not in "biufc":
        raise ValueError(f"{name} must hold numbers, got an array of type {array.dtype}")
    if array.size == 0:
        raise ValueError(f"{name} is empty, got shape {array.shape}; it needs at least one number")
    array = array.astype(np.complex128 if array.dtype.kind == "c" else np.float64)
    broken = ~np.isfinite(array)
    if broken.any():
        index = np.argwhere(broken)[0].tolist()
        place = f" at {index}" if index else ""
        raise ValueError(
            f"{name} must be finite, got {array[broken][0]}{place}" + (hint and f"; {hint}")
        )
    return array


def real(name: str, values: ArrayLike, hint: str = "") -> Float[np.ndarray, "..."]:
    """Return real numbers as an array in double precision.

    Parameters
    ----------
    name, values, hint
        As in :func:`finite`.

    Returns
    -------
    float array
        A new array of the same shape.

    Raises
    ------
    ValueError
        When there is no entry, or one is no number, complex, NaN or infinite.

    Examples
    --------
    >>> real("x", [1, 2j])
    Traceback (most recent call last):
        ...
    ValueError: x must hold real numbers, got complex ones; pass their real part or magnitude
    """
    array = np.asarray(values)
    if array.dtype.kind == "c":
        raise ValueError(
            f"{name} must hold real numbers, got complex ones; pass their real part or magnitude"
        )
    return finite(name, array, hint)


def vector(
    name: str, values: ArrayLike, length: int | None = None, hint: str = ""
) -> Float[np.ndarray, " n"]:
    """Return real numbers as a vector, of a given length if one is asked for.

    Parameters
    ----------
    name, values, hint
        As in :func:`finite`.
    length : int, optional
        How many numbers there must be; left out, any number of them.

    Returns
    -------
    float array, shape (n,)
        A new vector.

    Raises
    ------
    ValueError
        When the numbers are not real and finite, not one sequence, or not as many.

    Examples
    --------
    >>> vector("y", [1, 2], length=3)
    Traceback (most recent call last):
        ...
    ValueError: y must have length 3, got length 2
    """
    array = real(name, values, hint)
    if array.ndim != 1:
        raise ValueError(f"{name} must be a vector, one sequence of numbers, got {_shape(array)}")
    if length is not None and len(array) != length:
        raise ValueError(f"{name} must have length {length}, got length {len(array)}")
    return array


def matrix(name: str, values: ArrayLike) -> Float[np.ndarray, "rows columns"]:
    """Return real numbers as a matrix.

    Parameters
    ----------
    name, values
        As in :func:`finite`.

    Returns
    -------
    float array, shape (rows, columns)
        A new matrix.

    Raises
    ------
    ValueError
        When the numbers are not real and finite, or not a table of rows and columns.

    Examples
    --------
    >>> matrix("W", [1, 2])
    Traceback (most recent call last):
        ...
    ValueError: W must be a matrix, with rows and columns, got shape (2,)
    """
    array = real(name, values)
    if array.ndim != 2:
        raise ValueError(f"{name} must be a matrix, with rows and columns, got {_shape(array)}")
    return array


def _shape(array: np.ndarray) -> str:
    """Say what was given where other axes are asked for."""
    return f"shape {array.shape}" if array.ndim else f"the number {array}"


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
    array = np.asarray(value)
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


def count(name: str, value: object, *, at_least: int = 1) -> int:
    """Return one whole number.

    Parameters
    ----------
    name : str
        What the caller calls it.
    value : object
        What was given for it.
    at_least : int
        The smallest number that is allowed.

    Returns
    -------
    int
        The number.

    Raises
    ------
    ValueError
        When it is no integer, also not 2.0 or ``True``, or too small.

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
        raise ValueError(f"{name} must be a whole number ≥ {at_least}, got {value!r}")
    return int(value)


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
    if value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}, got {value!r}")
    return value
