r"""The associative scan: a linear recurrence in :math:`\log_2T` rounds instead of T steps."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from primer.beyond_attention.kernels import quiet
from primer.inputs import Reals, checked


@checked
@quiet
def scan(factor: Reals, term: Reals) -> tuple[Float[np.ndarray, "time ..."], int]:
    r"""Compute all states of a linear recurrence in rounds of doubling reach.

    .. math:: h_t = a_th_{t-1} + b_t, \qquad (a, b) \circ (a', b') = (aa',\ a'b + b')

    Applying one step after another is associative, so after round :math:`r` each place holds the
    step over the last :math:`2^r` places (Hillis and Steele).

    Parameters
    ----------
    factor, term : array_like, shape (T, ...)
        :math:`a_t` and :math:`b_t`, of one shape; time comes first.

    Returns
    -------
    array, shape (T, ...), and int
        :math:`h_0, \dots, h_{T-1}` from :math:`h_{-1} = 0`, and the number of rounds,
        :math:`\lceil\log_2T\rceil`.

    Raises
    ------
    ValueError
        When there is nothing to scan or the shapes differ.

    References
    ----------
    Hillis and Steele (1986); Blelloch (1990), "Prefix sums and their applications".

    Examples
    --------
    >>> scan([0.5, 0.5, 0.5], [8.0, 0.0, 1.0])
    (array([8., 4., 3.]), 2)
    """
    a, b = factor, term
    if a.shape != b.shape or a.ndim == 0:
        raise ValueError(
            f"factors and terms need one shape with time first, got {a.shape} and {b.shape}"
        )
    reach, rounds = 1, 0
    while reach < len(a):
        b[reach:] = a[reach:] * b[:-reach] + b[reach:]
        a[reach:] = a[reach:] * a[:-reach]
        reach, rounds = 2 * reach, rounds + 1
    return b, rounds


@checked
@quiet
def scan_by_loop(factor: Reals, term: Reals) -> Float[np.ndarray, "time ..."]:
    r"""Compute the same states one after the other.

    .. math:: h_t = a_th_{t-1} + b_t

    Parameters
    ----------
    factor, term : array_like, shape (T, ...)
        As in :func:`scan`.

    Returns
    -------
    array, shape (T, ...)
        :math:`h_0, \dots, h_{T-1}`.

    Raises
    ------
    ValueError
        As :func:`scan`.

    Examples
    --------
    >>> scan_by_loop([0.5, 0.5, 0.5], [8.0, 0.0, 1.0])
    array([8., 4., 3.])
    """
    a, h = factor, term
    if a.shape != h.shape or a.ndim == 0:
        raise ValueError(
            f"factors and terms need one shape with time first, got {a.shape} and {h.shape}"
        )
    for t in range(1, len(h)):
        h[t] += a[t] * h[t - 1]
    return h
