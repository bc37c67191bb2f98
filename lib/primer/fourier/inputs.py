"""What the functions ask of their input, said once: finite, and real where it must be."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike


def finite(name: str, x: ArrayLike) -> np.ndarray:
    """Return ``x`` as a float or complex array without NaN or infinity.

    Raises
    ------
    ValueError
        When an entry is no number, is NaN or is infinite.
    """
    array = np.asarray(x)
    if array.dtype.kind not in "biufc":
        raise ValueError(f"{name} must hold numbers, got an array of type {array.dtype}")
    array = array.astype(np.complex128 if array.dtype.kind == "c" else np.float64)
    if not np.isfinite(array).all():
        raise ValueError(
            f"{name} must be finite, got NaN or infinity; remove or fill the gaps first"
        )
    return array


def real(name: str, x: ArrayLike) -> np.ndarray:
    """Return ``x`` as a finite array of floats.

    Raises
    ------
    ValueError
        When ``x`` is complex, or not finite.
    """
    array = finite(name, x)
    if np.iscomplexobj(array):
        raise ValueError(
            f"{name} must be real, got complex numbers; pass its real part or magnitude"
        )
    return array


def signal(name: str, x: ArrayLike, *, complex_allowed: bool = True) -> np.ndarray:
    """Return ``x`` as a finite array with time along its last axis and at least one sample.

    Raises
    ------
    ValueError
        When ``x`` is a single number, is empty, is not finite, or is complex where it must be real.
    """
    array = finite(name, x) if complex_allowed else real(name, x)
    if array.ndim == 0:
        raise ValueError(f"{name} must be an array with time along the last axis, got one number")
    if array.size == 0:
        raise ValueError(f"{name} is empty; it needs at least one sample")
    return array


def positive(name: str, x: float) -> float:
    """Return ``x`` as a finite number above zero.

    Raises
    ------
    ValueError
        When ``x`` is zero, negative, not finite or no single real number.
    """
    array = real(name, x)
    if array.ndim or array <= 0:
        raise ValueError(f"{name} must be one number above 0, got {x!r}")
    return float(array)


def count(name: str, x: float) -> int:
    """Return ``x`` as a whole number of at least 1.

    Raises
    ------
    ValueError
        When ``x`` is not an integer or is below 1.
    """
    if not isinstance(x, int | np.integer):
        raise ValueError(f"{name} must be a whole number, got {x!r}")
    if x < 1:
        raise ValueError(f"{name} must be at least 1, got {x}")
    return int(x)
