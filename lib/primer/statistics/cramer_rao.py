r"""How precise an estimator can be at best, and how close to that it comes."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from primer.inputs import Positive, Reals, checked, real
from primer.inputs.magnitude import TINY


@checked
def cramer_rao_bound(
    information: Reals, slope: ArrayLike | None = None
) -> Float[np.ndarray, "..."]:
    r"""Compute the Cramér–Rao bound on the variance or covariance of an estimator.

    For an estimator with :math:`E\,T = \psi(\theta)` and Jacobian
    :math:`\psi' = \partial\psi/\partial\theta`,

    .. math:: \mathrm{Cov}(T) \succeq \psi'(\theta)\, I(\theta)^{-1}\, \psi'(\theta)^\top.

    An unbiased estimator has :math:`\psi' = 1`; one with bias :math:`b(\theta)` has
    :math:`\psi' = 1 + b'(\theta)`.

    Parameters
    ----------
    information : array_like, shape () or (p, p)
        The Fisher information of the whole sample, :math:`n I_1` for independent observations.
    slope : array_like, shape () or (q, p), optional
        :math:`\psi'`; left out, the estimator is unbiased.

    Returns
    -------
    float array, shape () or (p, p) or (q, q)
        The bound; for matrices in the sense that the difference is positive semidefinite.

    Raises
    ------
    ValueError
        When the information is no positive number or symmetric positive definite matrix, or the
        slope does not fit to it.

    References
    ----------
    Rao (1945); Cramér (1946).

    Examples
    --------
    >>> float(cramer_rao_bound(4.0)), float(cramer_rao_bound(4.0, slope=0.5))
    (0.25, 0.0625)
    >>> cramer_rao_bound([[2, 0], [0, 4]]).tolist()
    [[0.5, 0.0], [0.0, 0.25]]
    """
    size = 1 if information.ndim == 0 else len(information)
    jacobian = np.eye(size) if slope is None else real("slope", slope)
    square = information.reshape(1, 1) if information.ndim == 0 else information
    if square.shape != (size, size) or not np.allclose(square, square.T):
        raise ValueError(
            f"information must be a number or a symmetric matrix, got {information.tolist()}"
        )
    if (np.linalg.eigvalsh(square) <= 0).any():
        raise ValueError("information must be positive (definite): it bounds nothing otherwise")
    rows = np.atleast_2d(jacobian)
    if rows.ndim > 2 or rows.shape[-1] != size:
        raise ValueError(f"slope must have {size} columns, got the shape {jacobian.shape}")
    bound = rows @ np.linalg.solve(square, rows.T)
    return bound.reshape(()) if information.ndim == 0 else bound


@checked
def efficiency(variance: Positive, information: Positive) -> float:
    r"""Compute the efficiency of an unbiased estimator.

    .. math:: e(T) = \frac{1/I(\theta)}{\mathrm{Var}(T)} \le 1

    Parameters
    ----------
    variance : float
        The variance of the estimator.
    information : float
        The Fisher information of the whole sample.

    Returns
    -------
    float
        The share of the information that the estimator uses; 1 for an efficient one.

    Raises
    ------
    ValueError
        When variance or information are not above 0.

    References
    ----------
    Fisher (1922).

    Examples
    --------
    >>> efficiency(variance=0.5, information=4.0)
    0.5
    """
    share = 1 / information / variance
    if share < TINY:
        raise ValueError(f"the efficiency of {variance:g} and {information:g} is below {TINY:g}")
    return share
