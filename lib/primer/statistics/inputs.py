"""What the functions ask of their input, said once: finite samples, probabilities, counts."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike


def finite(name: str, x: ArrayLike) -> Float[np.ndarray, "..."]:
    """Return ``x`` as an array of finite floats.

    Raises
    ------
    ValueError
        When an entry is no real number, is NaN or is infinite.
    """
    array = np.asarray(x)
    if array.dtype.kind not in "biuf":
        raise ValueError(f"{name} must hold real numbers, got an array of type {array.dtype}")
    array = array.astype(np.float64)
    if not np.isfinite(array).all():
        raise ValueError(f"{name} must be finite, got NaN or infinity; remove the gaps first")
    return array


def samples(name: str, x: ArrayLike, *, at_least: int = 1) -> Float[np.ndarray, "... n"]:
    """Return ``x`` as finite floats with the observations of a sample along the last axis.

    Raises
    ------
    ValueError
        When ``x`` is a single number, holds NaN, or has fewer than ``at_least`` observations.
    """
    array = finite(name, x)
    if array.ndim == 0:
        raise ValueError(f"{name} must be a sample, a sequence of numbers, got the number {x!r}")
    if array.size == 0 or array.shape[-1] < at_least:
        raise ValueError(
            f"{name} needs at least {at_least} observation{'s' * (at_least > 1)}, "
            f"got an array of shape {array.shape}"
        )
    return array


def sample(name: str, x: ArrayLike, *, at_least: int = 1) -> Float[np.ndarray, " n"]:
    """Return ``x`` as one sample: a sequence of finite floats.

    Raises
    ------
    ValueError
        When ``x`` is not one sequence, holds NaN, or has fewer than ``at_least`` observations.
    """
    array = samples(name, x, at_least=at_least)
    if array.ndim != 1:
        raise ValueError(f"{name} must be one sample, got an array of shape {array.shape}")
    return array


def number(name: str, x: float) -> float:
    """Return ``x`` as one finite float.

    Raises
    ------
    ValueError
        When ``x`` is not one real, finite number.
    """
    array = finite(name, x)
    if array.ndim:
        raise ValueError(f"{name} must be one number, got an array of shape {array.shape}")
    return float(array)


def positive(name: str, x: float) -> float:
    """Return ``x`` as one finite float above zero.

    Raises
    ------
    ValueError
        When ``x`` is zero, negative or not one finite number.
    """
    value = number(name, x)
    if value <= 0:
        raise ValueError(f"{name} must be above 0, got {value:g}")
    return value


def probability(name: str, p: float) -> float:
    """Return ``p`` as a float strictly between 0 and 1.

    Raises
    ------
    ValueError
        When ``p`` is 0, 1 or outside, or not one finite number.
    """
    value = number(name, p)
    if not 0 < value < 1:
        raise ValueError(f"{name} must lie strictly between 0 and 1, got {value:g}")
    return value


def count(name: str, n: int, *, at_least: int = 1) -> int:
    """Return ``n`` as a whole number of at least ``at_least``.

    Raises
    ------
    ValueError
        When ``n`` is no integer or too small.
    """
    if isinstance(n, bool) or not isinstance(n, int | np.integer):
        raise ValueError(f"{name} must be a whole number, got {n!r}")
    if n < at_least:
        raise ValueError(f"{name} must be at least {at_least}, got {n}")
    return int(n)
