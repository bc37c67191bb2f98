r"""HiPPO: a curve's whole past in N numbers, its scaled Legendre memory."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import numpy as np
from jaxtyping import Float
from numpy.polynomial import legendre

from primer.beyond_attention.kernels import quiet
from primer.inputs import Dim, Vector, checked, count

Size = Annotated[int, partial(count, at_most=10_000)]
"""How many coefficients a state has; a matrix holds the square of it."""


@checked
def legs_matrices(size: Size) -> tuple[Float[np.ndarray, "n n"], Float[np.ndarray, " n"]]:
    r"""Return the matrices of HiPPO-LegS.

    .. math::

        \dot h = \tfrac1t(Ah + Bx), \qquad B_n = \sqrt{2n+1}, \qquad
        A_{nm} = -\begin{cases}\sqrt{(2n+1)(2m+1)} & n > m\\ n + 1 & n = m\\ 0 & n < m\end{cases}

    Parameters
    ----------
    size : int
        :math:`N`, how many coefficients the state has.

    Returns
    -------
    array, shape (N, N), and array, shape (N,)
        A, lower triangular with eigenvalues :math:`-1, \dots, -N`, and B.

    Raises
    ------
    ValueError
        When ``size`` is below 1.

    References
    ----------
    Gu et al. (2020), "HiPPO: Recurrent memory with optimal polynomial projections", theorem 2.

    Examples
    --------
    >>> legs_matrices(2)[0].round(3)
    array([[-1.   ,  0.   ],
           [-1.732, -2.   ]])
    """
    n = np.arange(size)
    B = np.sqrt(2.0 * n + 1)
    return 0.0 - np.tril(np.outer(B, B), -1) - np.diag(n + 1.0), B  # 0 − 0 is no −0


@checked
@quiet
def remember(x: Vector, size: int) -> Float[np.ndarray, "time n"]:
    r"""Read a curve sample by sample and keep N Legendre coefficients of all of it so far.

    .. math::

        h_t = \Big(I - \frac{A}{2(t+1)}\Big)^{-1}
        \Big[\Big(I + \frac{A}{2(t+1)}\Big)h_{t-1} + \frac{B}{t+1}x_t\Big]

    The trapezoidal rule with the step that time :math:`t + 1` asks for: no length is given
    beforehand.

    Parameters
    ----------
    x : array_like, shape (T,)
        The curve.
    size : int
        :math:`N`.

    Returns
    -------
    array, shape (T, N)
        The state after each sample.

    Raises
    ------
    ValueError
        When ``x`` is no vector of finite numbers or ``size`` is below 1.

    References
    ----------
    Gu et al. (2020), theorem 2, made discrete by the bilinear rule.

    Examples
    --------
    A constant is its mean:

    >>> remember([3.0] * 50, 2)[-1].round(2) + 0
    array([3., 0.])
    """
    A, B = legs_matrices(size)
    one = np.eye(size)
    h, states = np.zeros(size), np.empty((len(x), size))
    for t, value in enumerate(x):
        half = A / (2 * (t + 1))
        if t == 0:  # everything so far is this one sample: its mean, and no shape
            h[0] = value
        else:
            h = np.linalg.solve(one - half, (one + half) @ h + B * value / (t + 1))
        states[t] = h
    return states


@checked
@quiet
def reconstruct(state: Vector, length: Dim) -> Float[np.ndarray, " time"]:
    r"""Draw the curve that a state holds.

    .. math:: \hat x(s) = \sum_n h_n\sqrt{2n+1}\,P_n(2s - 1), \qquad 0 \le s \le 1

    Parameters
    ----------
    state : array_like, shape (N,)
        Coefficients, from :func:`remember` or :func:`best_state`.
    length : int
        How many samples the curve so far had.

    Returns
    -------
    array, shape (length,)
        The curve at the middles of ``length`` equal pieces of the past.

    Raises
    ------
    ValueError
        When ``state`` is no vector or ``length`` is below 1.

    References
    ----------
    Gu et al. (2020), "HiPPO: Recurrent memory with optimal polynomial projections".

    Examples
    --------
    >>> reconstruct([3.0, 1 / np.sqrt(3)], 2)
    array([2.5, 3.5])
    """
    return _polynomials(length, len(state)) @ state


@checked
@quiet
def best_state(x: Vector, size: Size) -> Float[np.ndarray, " n"]:
    r"""Fit N Legendre coefficients to a whole curve by least squares: no memory can do better.

    Parameters
    ----------
    x : array_like, shape (T,)
        The curve.
    size : int
        :math:`N \le T`.

    Returns
    -------
    array, shape (N,)
        The coefficients that :func:`reconstruct` draws.

    Raises
    ------
    ValueError
        When there are fewer samples than coefficients.

    Examples
    --------
    >>> best_state([2.5, 3.5], 2).round(3)
    array([3.   , 0.577])
    """
    if len(x) < size:
        raise ValueError(f"{len(x)} samples cannot fix {size} coefficients; give a longer curve")
    return np.linalg.lstsq(_polynomials(len(x), size), x, rcond=None)[0]


def _polynomials(length: int, size: int) -> np.ndarray:
    """Return orthonormal Legendre polynomials at the middles of ``length`` pieces of [0, 1]."""
    places = 2 * (np.arange(length) + 0.5) / length - 1
    return legendre.legvander(places, size - 1) * np.sqrt(2 * np.arange(size) + 1)
