r"""Sequences that tell the modes of convergence apart, and the distance between two laws."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from jaxtyping import Float, Int
from numpy.typing import ArrayLike

from primer.inputs import Count, Reals, as_array, checked, evaluated
from primer.statistics.inputs import Sample


@checked
def typewriter_interval(n: Count) -> tuple[float, float]:
    r"""Return where the head of the typewriter stands at step :math:`n`.

    Write :math:`n = 2^m + j` with :math:`0 \le j < 2^m`: the interval is the :math:`j`-th of the
    :math:`2^m` equal pieces of :math:`[0, 1)`,

    .. math:: A_n = \left[\,j\,2^{-m},\ (j+1)\,2^{-m}\right).

    Parameters
    ----------
    n : int
        The step, at least 1.

    Returns
    -------
    tuple of float
        The ends of the interval; the right one does not belong to it.

    Raises
    ------
    ValueError
        When ``n`` is no whole number of at least 1.

    Examples
    --------
    >>> [typewriter_interval(n) for n in (1, 2, 3, 4)]
    [(0.0, 1.0), (0.0, 0.5), (0.5, 1.0), (0.0, 0.25)]
    """
    pieces = 1 << (n.bit_length() - 1)
    return (n - pieces) / pieces, (n - pieces + 1) / pieces


@checked
def typewriter(n: ArrayLike, u: Reals) -> Int[np.ndarray, "..."]:
    r"""Compute the typewriter sequence :math:`X_n(u) = 1` if :math:`u \in A_n`, else 0.

    With :math:`u` uniform on :math:`[0, 1)` and :math:`n = 2^m + j`, :math:`P(X_n \ne 0) = 2^{-m}`;
    so :math:`X_n \to 0` in probability.  Yet every :math:`u` lies in one interval of each row, so
    :math:`X_n(u)` is 1 infinitely often and converges for no :math:`u` at all.

    Parameters
    ----------
    n : array_like of int
        Steps, at least 1.
    u : array_like
        Points of :math:`[0, 1)`; broadcast against ``n``, of which there are as many, or one.

    Returns
    -------
    int array
        Zeros and ones.

    Raises
    ------
    ValueError
        When a step is no whole number of at least 1, or a point lies outside :math:`[0, 1)`.

    Examples
    --------
    >>> typewriter(range(1, 8), 0.3).tolist()
    [1, 1, 0, 0, 1, 0, 0]
    """
    steps = _steps(n)
    if ((u < 0) | (u >= 1)).any():
        raise ValueError("u must lie in [0, 1)")
    exponents = np.frexp(steps)[1].astype(np.int64) - 1  # n = mantissa · 2^exponent
    exponents -= (1 << np.minimum(exponents, 62)) > steps  # where rounding made n a power of two
    pieces = 1 << np.minimum(exponents, 62)
    try:
        return np.asarray(np.floor(u * pieces).astype(np.int64) == steps - pieces, dtype=int)
    except ValueError:
        raise ValueError(
            f"n and u must have shapes that go together, got {steps.shape} and {u.shape}"
        ) from None


def _steps(n: ArrayLike) -> Int[np.ndarray, "..."]:
    """Return steps of a sequence as an integer array."""
    steps = as_array("n", n)
    if steps.dtype.kind not in "iu" or steps.size == 0 or (steps < 1).any():
        raise ValueError(f"n must be whole numbers of at least 1, below 2⁶³, got {n!r}")
    if (steps > np.iinfo(np.int64).max).any():
        raise ValueError(f"n must be below 2⁶³, got {steps.max()}")
    return steps.astype(np.int64)


@checked
def kolmogorov_distance(
    x: Sample, cdf: Callable[[Float[np.ndarray, " n"]], Float[np.ndarray, " n"]]
) -> float:
    r"""Measure the largest gap between the empirical distribution of a sample and a continuous law.

    .. math:: D = \sup_t \left|\hat F_n(t) - F(t)\right|

    The empirical distribution function jumps at each observation, so the gap is looked for on both
    sides of every jump.

    Parameters
    ----------
    x : array_like, shape (n,)
        A sample.
    cdf : callable
        :math:`F`, taking and returning an array.

    Returns
    -------
    float
        A number between :math:`1/2n` and 1.  For a sample from :math:`F` itself it is of the size
        :math:`1/\sqrt n`.

    Raises
    ------
    ValueError
        When the sample is empty or not finite.

    References
    ----------
    Kolmogorov (1933).

    Examples
    --------
    >>> kolmogorov_distance([0.5], lambda t: t)  # one step at 0.5 against the uniform law
    0.5
    """
    ordered = np.sort(x)
    theoretical = evaluated("cdf", cdf, ordered)
    if theoretical[0] < 0 or theoretical[-1] > 1 or (np.diff(theoretical) < 0).any():
        raise ValueError("cdf must be a distribution function: from 0 to 1, and never falling")
    n = len(ordered)
    above = np.arange(1, n + 1) / n - theoretical
    below = theoretical - np.arange(n) / n
    return float(max(above.max(), below.max()))
