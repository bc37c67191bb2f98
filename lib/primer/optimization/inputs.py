"""What the functions ask of their input, said once: finite numbers of the right shape and sign."""

from __future__ import annotations

import math

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike


def finite(name: str, values: ArrayLike) -> np.ndarray:
    """Return ``values`` as a non-empty array of finite floats.

    Raises
    ------
    ValueError
        When an entry is no real number, NaN or infinite, or there is none.
    """
    array = np.asarray(values)
    if array.dtype.kind not in "biuf":
        raise ValueError(f"{name} must hold real numbers, got an array of type {array.dtype}")
    if array.size == 0:
        raise ValueError(f"{name} is empty: its shape is {array.shape}")
    array = array.astype(np.float64)
    if not np.isfinite(array).all():
        place = ", ".join(str(i) for i in np.argwhere(~np.isfinite(array))[0])
        raise ValueError(f"{name} must be finite, got {array[~np.isfinite(array)][0]} at [{place}]")
    return array


def vector(name: str, values: ArrayLike, length: int | None = None) -> Float[np.ndarray, " n"]:
    """Return a finite vector, of a given length if one is asked for.

    Raises
    ------
    ValueError
        When it is no finite vector, or of another length.
    """
    array = finite(name, values)
    if array.ndim != 1:
        raise ValueError(f"{name} must be a vector, got shape {array.shape}")
    if length is not None and len(array) != length:
        raise ValueError(f"{name} must have {length} entries, got {len(array)}")
    return array


def matrix(name: str, values: ArrayLike) -> Float[np.ndarray, "rows columns"]:
    """Return a finite matrix.

    Raises
    ------
    ValueError
        When it is no finite matrix.
    """
    array = finite(name, values)
    if array.ndim != 2:
        raise ValueError(f"{name} must be a matrix, got shape {array.shape}")
    return array


def positive(name: str, value: float) -> float:
    """Return a finite number above 0.

    Raises
    ------
    ValueError
        When it is not one.
    """
    if not (math.isfinite(value) and value > 0):  # a NaN fails both
        raise ValueError(f"{name} must be a finite number above 0, got {value}")
    return float(value)


def fraction(name: str, value: float) -> float:
    """Return a number that is at least 0 and below 1.

    Raises
    ------
    ValueError
        When it is not one.
    """
    if not 0 <= value < 1:
        raise ValueError(f"{name} must lie in [0, 1), got {value}")
    return float(value)


def count(name: str, value: int, least: int = 1) -> int:
    """Return a whole number that is ``least`` or larger.

    Raises
    ------
    ValueError
        When it is smaller.
    """
    if value < least:
        raise ValueError(f"{name} must be {least} or larger, got {value}")
    return int(value)


def spectrum(values: ArrayLike) -> Float[np.ndarray, " n"]:
    """Return singular values: a finite vector with every entry above 0.

    Raises
    ------
    ValueError
        When one is 0 or negative: then the loss is flat in some direction and nothing moves there.
    """
    array = vector("singular_values", values)
    if array.min() <= 0:
        raise ValueError(f"singular_values must be above 0, got {array.min():g}")
    return array
