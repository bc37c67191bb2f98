"""What a sample is: finite real numbers, the observations along the last axis."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from primer.inputs import Like, real


def samples(name: str, x: ArrayLike, *, at_least: int = 1) -> Float[np.ndarray, "... n"]:
    """Return ``x`` as finite floats with the observations of a sample along the last axis.

    Raises
    ------
    ValueError
        When ``x`` is a single number, holds NaN, or has fewer than ``at_least`` observations.
    """
    array = real(name, x, hint="remove the gaps first")
    if array.ndim == 0:
        raise ValueError(f"{name} must be a sample, a sequence of numbers, got the number {x!r}")
    if array.shape[-1] < at_least:
        raise ValueError(
            f"{name} needs at least {at_least} observations, got an array of shape {array.shape}"
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


Samples = Annotated[Like, samples]
"""Samples along the last axis."""
Sample = Annotated[Like, sample]
"""One sample."""
