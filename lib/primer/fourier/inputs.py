"""What a signal is: finite samples, real or complex, with time along the last axis."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import numpy as np
from numpy.typing import ArrayLike

from primer.inputs import Like, finite, real
from primer.inputs.magnitude import rescaled

FARTHEST = 1e9
"""Angles up to here, in rad, keep seven digits or more of what they are beyond whole turns."""


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


def powers(parts: np.ndarray, *scales: float) -> np.ndarray:
    """Multiply powers by the scales that the signal was divided by.

    Beside the largest the others may be as small as they like: what is lost of them is nothing.

    Raises
    ------
    ValueError
        When the largest is no floating-point number, or so small that its digits are lost.

    Examples
    --------
    >>> powers(np.array([1.0, 4.0]), 0.5, 0.5)
    array([0.25, 1.  ])
    >>> powers(np.array([1.0, 4.0]), 1e-170, 1e-170)
    Traceback (most recent call last):
        ...
    ValueError: the power is too small for a floating-point number; measure in a smaller unit
    """
    rescaled("the power", parts.max(), *scales)
    with np.errstate(under="ignore"):
        for scale in scales:
            parts = parts * scale
    return parts


Signals = Annotated[Like, signal]
"""Finite samples, real or complex, with time along the last axis."""
RealSignals = Annotated[Like, partial(signal, complex_allowed=False)]
"""Finite real samples, with time along the last axis."""
Signal = Annotated[Like, sequence]
"""One signal, real or complex."""
