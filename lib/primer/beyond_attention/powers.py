r"""Many powers of a matrix at once: by doubling, and in closed form for identity plus rank one."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from primer.beyond_attention.discretization import square
from primer.beyond_attention.kernels import quiet
from primer.inputs import Natural, Steps, Vector, checked, room


@checked
@quiet
def power_block(A: ArrayLike, length: Steps) -> tuple[Float[np.ndarray, "length n n"], int]:
    r"""Compute the first powers of a matrix by doubling.

    .. math:: (A, \dots, A^L) = \big(X, A^{L/2}X\big), \qquad X = (A, \dots, A^{L/2})

    Parameters
    ----------
    A : array_like, shape (n, n)
        The matrix.
    length : int
        How many powers, :math:`L`.

    Returns
    -------
    array, shape (L, n, n), and int
        :math:`A, \dots, A^L`, and the number of doublings, :math:`\lceil\log_2L\rceil`.

    Raises
    ------
    ValueError
        When ``A`` is not square or ``length`` is below 1.

    Examples
    --------
    >>> powers, doublings = power_block([[2.0]], 5)
    >>> powers.ravel(), doublings
    (array([ 2.,  4.,  8., 16., 32.]), 3)
    """
    block, doublings = square("A", A)[None], 0
    room(length=length, **{"n²": block.size})
    while len(block) < length:
        block = np.concatenate([block, block[-1] @ block])
        doublings += 1
    return block[:length], doublings


@checked
@quiet
def rank_one_power(p: Vector, length: Natural) -> Float[np.ndarray, "n n"]:
    r"""Compute a power of identity plus rank one in closed form.

    .. math:: (I + p^\top p)^L = I + p^\top p\,\frac{(1+\alpha)^L - 1}{\alpha}, \qquad
              \alpha = pp^\top

    Parameters
    ----------
    p : array_like, shape (n,)
        A row.
    length : int
        :math:`L \ge 0`.

    Returns
    -------
    array, shape (n, n)
        The power; the identity for :math:`p = 0`.

    Raises
    ------
    ValueError
        When ``p`` is no vector or ``length`` is negative.

    Examples
    --------
    >>> rank_one_power([1.0, 1.0], 2)
    array([[5., 4.],
           [4., 5.]])
    """
    alpha = float(p @ p)
    # expm1 and log1p keep the digits of a small α; its limit at 0 is L
    growth = np.expm1(length * np.log1p(alpha)) / alpha if alpha > 0 else length
    return np.eye(len(p)) + growth * np.outer(p, p)
