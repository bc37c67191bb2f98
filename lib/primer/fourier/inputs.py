"""What a signal is: finite samples, real or complex, with time along the last axis."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import numpy as np
from numpy.typing import ArrayLike

from primer.inputs import Like, finite, real


def signal(name: str, x: ArrayLike, *, complex_allowed: bool = True) -> np.ndarray:
    """Return ``x`` as a finite array with time along its last axis and at least one sample.

    Raises
    ------
    ValueError
        When ``x`` is a single number, is empty, is not finite, or is complex where it must be real.
    """
    array = (finite if complex_allowed else real)(name, x, hint="remove or fill the gaps first")
    if array.ndim == 0:
        raise ValueError(f"{name} must be an array with time along the last axis, got one number")
    return array


def sequence(name: str, x: ArrayLike) -> np.ndarray:
    """Return ``x`` as one signal, real or complex.

    Raises
    ------
    ValueError
        When ``x`` is not one sequence, is empty or is not finite.
    """
    array = signal(name, x)
    if array.ndim != 1:
        raise ValueError(f"{name} must be one sequence, got an array of shape {array.shape}")
    return array


Signals = Annotated[Like, signal]
"""Finite samples, real or complex, with time along the last axis."""
RealSignals = Annotated[Like, partial(signal, complex_allowed=False)]
"""Finite real samples, with time along the last axis."""
Signal = Annotated[Like, sequence]
"""One signal, real or complex."""
