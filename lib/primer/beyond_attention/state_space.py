r"""Linear state spaces: in continuous time, with the input held, and as a convolution.

States are columns here, as in every paper on the subject: :math:`Ah`.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from primer.beyond_attention.kernels import quiet
from primer.fourier import convolve as convolve_signals
from primer.inputs import (
    Dim,
    Like,
    Number,
    Positive,
    Steps,
    Vector,
    among,
    checked,
    finite,
    matrix,
    vector,
)

METHODS = ("fft", "direct")
MOST_TURNED = 1e9
"""From an angle of so many radians on, the digits that are left below a turn are no seven."""


@checked
@quiet
def matrix_exponential(A: Square) -> Float[np.ndarray, "n n"]:
    r"""Compute :math:`e^A` by Taylor's series of :math:`A/2^s` and :math:`s` squarings.

    Parameters
    ----------
    A : array_like, shape (n, n)
        A real matrix.

    Returns
    -------
    array, shape (n, n)
        :math:`e^A`.

    Raises
    ------
    ValueError
        When ``A`` is not square, turns by 10⁹ rad or more, or the result is too large for a float.

    Examples
    --------
    >>> matrix_exponential([[0.0, 1.0], [0.0, 0.0]])
    array([[1., 1.],
           [0., 1.]])
    """
    return _exponential(A)[0]


def _exponential(A: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    r"""Compute :math:`e^A`, and :math:`e^A - I` without taking 1 from what is next to 1.

    Beside 1 a small number is rounded away, and each squaring doubles what that costs, so that the
    change :math:`E` is squared as well: :math:`(I + E)^2 = I + 2E + E^2`.  What fades has its
    digits in the power.
    """
    norm = np.abs(A).sum(axis=0).max()
    squarings = max(0, int(np.ceil(np.log2(norm))) + 1) if norm > 0 else 0
    if norm >= MOST_TURNED and (turned := np.abs(np.linalg.eigvals(A).imag).max()) >= MOST_TURNED:
        raise ValueError(
            f"A turns by {turned:.3g} rad, so far that no digits are left below a turn; take a "
            "shorter step"
        )
    a, one = np.ldexp(A, -squarings), np.eye(len(A))
    change = term = a
    for n in range(2, 19):  # norm ≤ 1/2: the first term left out is below 2⁻¹⁹/19! ≈ 2e-23
        term = term @ a / n
        change = change + term
    power = one + change
    for _ in range(squarings):
        power, change = power @ power, 2 * change + change @ change
    total = np.where(np.abs(one + change) > np.ldexp(1.0, -squarings), one + change, power)
    if not np.isfinite(total).all():
        raise ValueError("e^A is too large for a float: A grows too fast; take a shorter step")
    return total, change


@checked
@quiet
def zero_order_hold(
    A: Square, B: Vector, step: Positive
) -> tuple[Float[np.ndarray, "n n"], Float[np.ndarray, " n"]]:
    r"""Discretize :math:`\dot h = Ah + Bx` exactly for an input that is held during each step.

    .. math::

        \bar A = e^{\Delta A}, \qquad \bar B = \int_0^\Delta e^{sA}B\,ds
        = A^{-1}(e^{\Delta A} - I)B, \qquad
        \exp\begin{pmatrix} \Delta A & \Delta B\\ 0 & 0\end{pmatrix}
        = \begin{pmatrix} \bar A & \bar B\\ 0 & 1\end{pmatrix}

    It is computed by the block matrix, which needs no :math:`A^{-1}`.

    Parameters
    ----------
    A : array_like, shape (N, N)
        Any real matrix, singular ones too.
    B : array_like, shape (N,)
        What the input does to the state.
    step : float
        :math:`\Delta > 0`.

    Returns
    -------
    array, shape (N, N), and array, shape (N,)
        :math:`\bar A` and :math:`\bar B`.

    Raises
    ------
    ValueError
        When shapes do not fit or the step is not positive.

    References
    ----------
    Van Loan (1978), "Computing integrals involving the matrix exponential".

    Examples
    --------
    Position and speed of a body that is pushed for a tenth of a second:

    >>> zero_order_hold([[0, 1], [0, 0]], [0, 1], 0.1)[1]
    array([0.005, 0.1  ])
    """
    a, b = A, B
    block = np.zeros((len(a) + 1, len(a) + 1))
    block[:-1, :-1], block[:-1, -1] = a, vector("B", b, len(a))
    both = matrix_exponential(step * block)
    return both[:-1, :-1], both[:-1, -1]


@checked
@quiet
def hold_by_formula(
    A: Square, B: Vector, step: Positive
) -> tuple[Float[np.ndarray, "n n"], Float[np.ndarray, " n"]]:
    r"""Discretize by the formula that is printed everywhere, for an invertible :math:`A` only.

    .. math:: \bar A = e^{\Delta A}, \qquad \bar B = A^{-1}(\bar A - I)B

    Parameters
    ----------
    A, B, step
        As in :func:`zero_order_hold`.

    Returns
    -------
    array, shape (N, N), and array, shape (N,)
        :math:`\bar A` and :math:`\bar B`.

    Raises
    ------
    ValueError
        When ``A`` is singular, shapes do not fit or the step is not positive.

    References
    ----------
    Gu and Dao (2023), equation 4.

    Examples
    --------
    >>> hold_by_formula([[-1.0]], [1.0], np.log(2))
    (array([[0.5]]), array([0.5]))
    """
    a, b = A, B
    if _singular(a):
        raise ValueError("A is singular, so the formula has no A⁻¹; zero_order_hold does without")
    held, change = _exponential(finite("ΔA", step * a))  # e^{ΔA} − I, of which no digit is lost
    return held, np.linalg.solve(a, change @ vector("B", b, len(a)))


@checked
@quiet
def bilinear(
    A: ArrayLike, B: ArrayLike, step: Positive
) -> tuple[Float[np.ndarray, "n n"], Float[np.ndarray, " n"]]:
    r"""Discretize by the trapezoidal rule, which also maps stable systems to stable ones.

    .. math:: \bar A = (I - \tfrac\Delta2A)^{-1}(I + \tfrac\Delta2A), \qquad
              \bar B = (I - \tfrac\Delta2A)^{-1}\Delta B

    Parameters
    ----------
    A, B, step
        As in :func:`zero_order_hold`.

    Returns
    -------
    array, shape (N, N), and array, shape (N,)
        :math:`\bar A` and :math:`\bar B`.

    Raises
    ------
    ValueError
        When :math:`2/\Delta` is an eigenvalue, shapes do not fit or the step is not positive.

    References
    ----------
    Tustin (1947); Gu, Goel and Ré (2022), equation 3.

    Examples
    --------
    >>> bilinear([[-2.0]], [1.0], 1.0)
    (array([[0.]]), array([0.5]))
    """
    a = square("A", A)
    b = vector("B", B, len(a))
    left = np.eye(len(a)) - finite("ΔA/2", step / 2 * a)
    if _singular(left):
        raise ValueError(f"I − ΔA/2 is singular: 2/Δ = {2 / step:g} is an eigenvalue of A")
    both = np.linalg.solve(left, np.column_stack([np.eye(len(a)) + step / 2 * a, step * b]))
    return both[:, :-1], both[:, -1]


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


def _singular(a: np.ndarray) -> bool:
    """Say whether rows depend on each other, whatever their units."""
    largest = np.abs(a).max(axis=1, keepdims=True)
    return not largest.all() or bool(np.linalg.matrix_rank(a / largest) < len(a))


def square(name: str, values: ArrayLike) -> Float[np.ndarray, "n n"]:
    """Return a square matrix, or say that it is none."""
    a = matrix(name, values)
    if a.shape[0] != a.shape[1]:
        raise ValueError(f"{name} must be square, got shape {a.shape}")
    return a


Square = Annotated[Like, square]
"""A matrix with as many rows as columns."""


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
