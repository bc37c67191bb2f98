"""What the functions ask of their input, said once: finite numbers, in tables of matching shape."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike


def real(name: str, values: ArrayLike) -> np.ndarray:
    """Return ``values`` as a finite array of floats with at least one entry.

    Raises
    ------
    ValueError
        When an entry is no real number, is NaN or infinite, or there is none.
    """
    array = np.asarray(values)
    if array.dtype.kind not in "biuf":
        raise ValueError(f"{name} must hold real numbers, got an array of type {array.dtype}")
    if array.size == 0:
        raise ValueError(f"{name} is empty: its shape is {array.shape}")
    array = array.astype(np.float64)
    if not np.isfinite(array).all():
        place = ", ".join(str(i) for i in np.argwhere(~np.isfinite(array))[0])
        raise ValueError(
            f"{name} must be finite, got NaN or infinity at [{place}]; "
            "remove or fill incomplete observations first"
        )
    return array


def design(X: ArrayLike, name: str = "X") -> Float[np.ndarray, "n p"]:
    """Return a design matrix: one row for each observation, one column for each feature.

    Raises
    ------
    ValueError
        When ``X`` is not a finite, non-empty table.
    """
    array = real(name, X)
    if array.ndim != 2:
        raise ValueError(
            f"{name} must be a table with one row for each observation, got shape {array.shape}; "
            "write a single feature as a column, x[:, None]"
        )
    return array


def vector(name: str, values: ArrayLike, length: int | None = None) -> Float[np.ndarray, " n"]:
    """Return a finite sequence of numbers, of a given length if one is asked for.

    Raises
    ------
    ValueError
        When it is no finite sequence, or of another length.
    """
    array = real(name, values)
    if array.ndim != 1:
        raise ValueError(f"{name} must be one sequence of numbers, got shape {array.shape}")
    if length is not None and len(array) != length:
        raise ValueError(f"{name} must have {length} numbers, got {len(array)}")
    return array


def observations(
    X: ArrayLike, y: ArrayLike
) -> tuple[Float[np.ndarray, "n p"], Float[np.ndarray, "n *responses"]]:
    """Return a design matrix and its response, or a table with one response in each column.

    Raises
    ------
    ValueError
        When either is not finite or they differ in the number of observations.
    """
    table, response = design(X), real("y", y)
    if response.ndim not in (1, 2) or len(response) != len(table):
        raise ValueError(
            f"X has {len(table)} observations, so y must have shape ({len(table)},), or "
            f"({len(table)}, m) for m responses at once; got {response.shape}"
        )
    return table, response


def single_response(
    X: ArrayLike, y: ArrayLike
) -> tuple[Float[np.ndarray, "n p"], Float[np.ndarray, " n"]]:
    """Return a design matrix and one response.

    Raises
    ------
    ValueError
        When either is not finite, or their shapes do not match.
    """
    table = design(X)
    return table, vector("y", y, len(table))


def not_negative(name: str, value: float) -> float:
    """Return a finite number that is 0 or larger.

    Raises
    ------
    ValueError
        When it is negative, not finite or no single number.
    """
    array = real(name, value)
    if array.ndim or array < 0:
        raise ValueError(f"{name} must be one number, 0 or larger, got {value!r}")
    return float(array)


def positive(name: str, value: float) -> float:
    """Return a finite number above 0.

    Raises
    ------
    ValueError
        When it is 0, negative, not finite or no single number.
    """
    number = not_negative(name, value)
    if number == 0:
        raise ValueError(f"{name} must be above 0, got {value!r}")
    return number


def probability(name: str, value: float) -> float:
    """Return a number strictly between 0 and 1.

    Raises
    ------
    ValueError
        When it lies outside.
    """
    number = not_negative(name, value)
    if not 0 < number < 1:
        raise ValueError(f"{name} must lie strictly between 0 and 1, got {value!r}")
    return number


def column_names(names: Sequence[str] | None, count: int) -> tuple[str, ...]:
    """Return one name for each column: the given ones, or x1, x2, ….

    Raises
    ------
    ValueError
        When there is not exactly one name for each column.
    """
    if names is None:
        return tuple(f"x{j}" for j in range(1, count + 1))
    if len(names) != count:
        raise ValueError(f"X has {count} columns, got {len(names)} names: {', '.join(names)}")
    return tuple(names)
