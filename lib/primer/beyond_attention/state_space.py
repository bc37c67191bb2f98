r"""Linear state spaces in discrete time: run step by step, and as a convolution.

States are columns here, as in every paper on the subject: :math:`Ah`.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from primer.beyond_attention.discretization import square
from primer.beyond_attention.kernels import quiet
from primer.fourier import convolve as convolve_signals
from primer.inputs import (
    Dim,
    Number,
    Steps,
    Vector,
    among,
    checked,
    finite,
    vector,
)

METHODS = ("fft", "direct")


@checked
def run_system(
    A: ArrayLike, B: ArrayLike, C: ArrayLike, x: Vector, skip: Number = 0.0
) -> Float[np.ndarray, " time"]:
    r"""Run a discrete system step by step: one state in memory, :math:`O(T)` steps.

    .. math:: h_t = Ah_{t-1} + Bx_t, \qquad y_t = Ch_t + Dx_t, \qquad h_{-1} = 0

    Parameters
    ----------
    A : array_like, shape (N, N)
        The step of the state.
    B, C : array_like, shape (N,)
        Into the state, and out of it.
    x : array_like, shape (T,)
        The input.
    skip : float
        :math:`D`.

    Returns
    -------
    array, shape (T,)
        The output.

    Raises
    ------
    ValueError
        When shapes do not fit, or an unstable state grows beyond all floats.

    References
    ----------
    Kalman (1960); Gu, Goel and Ré (2022), equation 3.

    Examples
    --------
    >>> run_system([[0.5]], [1.0], [1.0], [1.0, 0.0, 0.0])
    array([1.  , 0.5 , 0.25])
    """
    a, b, c = system(A, B, C)
    h, outputs = np.zeros(len(a)), np.empty(len(x))
    with np.errstate(over="ignore", invalid="ignore"):
        for t, value in enumerate(x):
            h = a @ h + b * value
            outputs[t] = c @ h + skip * value
    return bounded(outputs, a)


@checked
def kernel(A: ArrayLike, B: ArrayLike, C: ArrayLike, length: Steps) -> Float[np.ndarray, " time"]:
    r"""Compute what a discrete system answers to a single 1: its convolution kernel.

    .. math:: K_t = CA^tB, \qquad y = K * x

    Parameters
    ----------
    A, B, C
        As in :func:`run_system`.
    length : int
        How many entries.

    Returns
    -------
    array, shape (length,)
        :math:`K_0, K_1, \dots`

    Raises
    ------
    ValueError
        When shapes do not fit, or the powers of an unstable A grow beyond all floats.

    References
    ----------
    Gu, Goel and Ré (2022), equations 4 and 5.

    Examples
    --------
    >>> kernel([[0.5]], [1.0], [3.0], 3)
    array([3.  , 1.5 , 0.75])
    """
    a, b, c = system(A, B, C)
    values = np.empty(length)
    with np.errstate(over="ignore", invalid="ignore"):
        for t in range(length):
            values[t] = c @ b
            b = a @ b
    return bounded(values, a)


@checked
@quiet
def diagonal_kernel(eigenvalues: ArrayLike, B: ArrayLike, C: ArrayLike, length: Dim) -> np.ndarray:
    r"""Compute the kernel of a diagonal system: elementwise powers, a Vandermonde matrix.

    .. math:: K_t = \sum_n c_nb_n\lambda_n^t

    Parameters
    ----------
    eigenvalues : array_like, shape (N,)
        :math:`\lambda_n`, real or complex, none outside the unit circle.
    B, C : array_like, shape (N,)
        Into the state, and out of it.
    length : int
        How many entries.

    Returns
    -------
    array, shape (length,)
        Complex if an eigenvalue, B or C is.

    Raises
    ------
    ValueError
        When lengths differ or an eigenvalue lies outside the unit circle.

    References
    ----------
    Gu, Goel, Gupta and Ré (2022), "On the parameterization and initialization of diagonal state
    space models".

    Examples
    --------
    >>> diagonal_kernel([0.5, -0.5], [1.0, 1.0], [1.0, 1.0], 3)
    array([2. , 0. , 0.5])
    """
    parts = {"eigenvalues": eigenvalues, "B": B, "C": C}
    poles, b, c = (np.atleast_1d(finite(name, part)) for name, part in parts.items())
    if not poles.shape == b.shape == c.shape or poles.ndim != 1:
        raise ValueError(
            f"eigenvalues, B and C need one length, got shapes {poles.shape}, {b.shape}, {c.shape}"
        )
    stable(poles)
    return (c * b) @ np.vander(poles, length, increasing=True)


@checked
@quiet
def convolve(
    x: Vector, taps: ArrayLike, method: Annotated[str, among(METHODS)] = "fft"
) -> Float[np.ndarray, " time"]:
    r"""Filter a signal from its first sample on: linear convolution, as long as the signal.

    .. math:: y_t = \sum_{s\le t} K_s\, x_{t-s}

    Parameters
    ----------
    x, taps : array_like, shape (T,)
        Signal and kernel, of one length.
    method : str
        ``"fft"``, :math:`O(T\log T)`, by this book's own transform and with zeros behind both;
        ``"direct"``, :math:`O(T^2)`.

    Returns
    -------
    array, shape (T,)
        The output.

    Raises
    ------
    ValueError
        When lengths differ.

    Examples
    --------
    >>> convolve([1.0, 2.0, 3.0], [1.0, 10.0, 0.0], "direct")
    array([ 1., 12., 23.])
    """
    values = vector("taps", taps, len(x), "compute the kernel as long as the signal")
    if method == "direct":
        return np.convolve(x, values)[: len(x)]
    return convolve_signals(x, values)[: len(x)]


def system(A: ArrayLike, B: ArrayLike, C: ArrayLike) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return a system's three parts, or say which does not fit."""
    a = square("A", A)
    return a, vector("B", B, len(a)), vector("C", C, len(a))


def stable(eigenvalues: np.ndarray) -> None:
    """Raise a ``ValueError`` when an eigenvalue lies outside the unit circle."""
    radius = float(np.abs(eigenvalues).max())
    if radius > 1 + 1e-12:
        raise ValueError(
            f"the system is unstable: an eigenvalue has size {radius:.4g}; "
            "discretize a continuous system first, with a step in which no mode grows"
        )


def bounded(values: np.ndarray, a: np.ndarray) -> np.ndarray:
    """Return what a system computed, or say that it ran away."""
    if not np.isfinite(values).all():
        radius = float(np.abs(np.linalg.eigvals(a)).max())
        raise ValueError(
            f"the system is unstable: its largest eigenvalue has size {radius:.4g} and the state "
            f"overflows at step {int(np.argmin(np.isfinite(values)))}"
        )
    return values
