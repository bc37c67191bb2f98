r"""From continuous to discrete time: the input held over a step, or the bilinear rule."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from primer.beyond_attention.kernels import quiet
from primer.inputs import (
    Like,
    Positive,
    Vector,
    checked,
    finite,
    matrix,
    vector,
)

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
