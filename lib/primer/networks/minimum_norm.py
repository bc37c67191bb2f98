r"""The shortest of all fits that pass through the data, which gradient descent finds from 0."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from primer.inputs import Matrix, NotNegative, Positive, StepsOrNone, checked, vector
from primer.regression.inputs import observations

CUT = 1e-10
"""Singular values below this part of the largest are rounding, and count as 0."""


class Fit(NamedTuple):
    """Weights, and the singular values of the features they belong to, the largest first."""

    weights: Float[np.ndarray, "p *responses"]
    singular_values: Float[np.ndarray, " r"]


@checked
def minimum_norm_fit(
    features: ArrayLike, y: ArrayLike, penalty: NotNegative = 0.0, cut: NotNegative = CUT
) -> Fit:
    r"""Fit linear weights to any number of features, the shortest where many fit alike.

    .. math::
        \hat w = \lim_{\mu\downarrow\lambda}
        (\Phi^\top\Phi+\mu I)^{-1}\Phi^\top y
        = \sum_i \frac{\sigma_i}{\sigma_i^2+\lambda}\,(u_i^\top y)\,v_i

    Parameters
    ----------
    features : array_like, shape (n, p)
        :math:`\Phi`, one feature or more.
    y : array_like, shape (n,) or (n, m)
        The response, or ``m`` of them.
    penalty : float
        :math:`\lambda\ge 0`; with 0 this is :math:`\Phi^+y`.
    cut : float
        Directions whose singular value is below this part of the largest are left out.  A large
        cut is a hidden penalty.

    Returns
    -------
    Fit
        The weights and all singular values.

    Raises
    ------
    ValueError
        When there is no feature, shapes do not fit, or the penalty is negative.

    References
    ----------
    Golub and Van Loan (2013), section 5.5.

    Examples
    --------
    >>> minimum_norm_fit([[1.0, 1.0]], [2.0]).weights  # x₀ + x₁ = 2: the shortest solution
    array([1., 1.])
    """
    table, response = observations(features, y)
    lam = penalty
    U, sigma, Vt = np.linalg.svd(table, full_matrices=False)
    kept = sigma > cut * sigma[0]
    factor = _inverses(sigma, lam, kept)
    return Fit(Vt.T @ (factor.reshape(-1, *[1] * (response.ndim - 1)) * (U.T @ response)), sigma)


def _inverses(sigma: np.ndarray, penalty: float, kept: np.ndarray) -> Float[np.ndarray, " r"]:
    """Compute σ/(σ² + λ), in which no square overflows, and 0 for what is left out."""
    safe = np.where(kept, sigma, 1.0)
    try:
        with np.errstate(over="raise"):  # of a penalty near the largest number there is
            return np.where(kept, 1 / (safe + penalty / safe), 0.0)
    except FloatingPointError:
        raise ValueError(
            f"penalty must be smaller, got {penalty:.3g}: no number holds λ/σ"
        ) from None


@checked
def descend_from(
    features: Matrix, y: ArrayLike, start: ArrayLike, step: Positive, steps: StepsOrNone
) -> Float[np.ndarray, " p"]:
    r"""Minimize half the squared error by plain gradient descent.

    .. math:: w_{t+1} = w_t - \eta\,\Phi^\top(\Phi w_t-y)

    Parameters
    ----------
    features : array_like, shape (n, p)
        :math:`\Phi`.
    y : array_like, shape (n,)
        The response.
    start : array_like, shape (p,)
        :math:`w_0`.
    step : float
        :math:`\eta`, above 0 and below :math:`2/\sigma_{\max}^2`.
    steps : int
        How many.

    Returns
    -------
    float array, shape (p,)
        In the limit :math:`\Phi^+y + (I-\Phi^+\Phi)w_0`: what the data cannot see stays.

    Raises
    ------
    ValueError
        When the step is too large to converge, or shapes do not fit.

    Examples
    --------
    >>> descend_from([[1.0, 1.0]], [2.0], start=[3.0, 0.0], step=0.5, steps=20).round(9)
    array([ 2.5, -0.5])
    """
    response = vector("y", y, len(features))
    w = vector("start", start, features.shape[1])
    limit = 2 / np.linalg.norm(features, 2) ** 2
    if step >= limit:
        raise ValueError(f"step must be below 2/σ²max = {limit:.4g} to converge, got {step}")
    for _ in range(steps):
        w = w - step * features.T @ (features @ w - response)
    return w
