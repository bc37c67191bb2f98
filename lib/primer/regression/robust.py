r"""Standard errors that stay right when errors differ in variance, or follow each other.

All are sandwiches: the bread :math:`(X^\top X)^{-1}` on both sides of an estimate of
:math:`X^\top\Omega X`, where :math:`\Omega` is the unknown covariance of the errors.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np
from jaxtyping import Float
from scipy.linalg import solve_triangular

from primer.inputs import Natural, Reals, among, checked
from primer.inputs.magnitude import rescaled, scaled
from primer.regression.diagnostics import residual_share
from primer.regression.inputs import Design
from primer.regression.least_squares_fit import Fit

KINDS = ("HC0", "HC1", "HC2", "HC3")


@checked
def sandwich(X: Design, error_covariance: Reals) -> Float[np.ndarray, "k k"]:
    r"""Compute the exact covariance of the least-squares coefficients for any errors.

    .. math:: \operatorname{Cov}(\hat\beta) = (X^\top X)^{-1}\,X^\top\Omega X\,(X^\top X)^{-1}

    Parameters
    ----------
    X : array_like, shape (n, k)
        The design matrix, the intercept's column included.
    error_covariance : array_like, shape (n, n) or (n,)
        :math:`\Omega`, or its diagonal alone when the errors are uncorrelated.

    Returns
    -------
    float array, shape (k, k)
        The covariance.

    Raises
    ------
    ValueError
        When the shapes do not match.

    References
    ----------
    Huber (1967); White (1980).

    Examples
    --------
    >>> sandwich([[1.0], [1.0]], [1.0, 3.0])
    array([[1.]])
    """
    omega = error_covariance
    n = len(X)
    if omega.shape not in ((n,), (n, n)):
        raise ValueError(f"error_covariance must be {n} variances or {n}×{n}, got {omega.shape}")
    if (omega if omega.ndim == 1 else np.linalg.eigvalsh(omega)).min() < -1e-9 * np.abs(
        omega
    ).max():
        raise ValueError("error_covariance must be positive semidefinite: no variance is negative")
    weights = np.linalg.pinv(X)  # (k, n): the rows that make the coefficients from y
    return weights * omega @ weights.T if omega.ndim == 1 else weights @ omega @ weights.T


@checked
def robust_covariance(
    fit: Fit, kind: Annotated[str, among(KINDS)] = "HC3"
) -> Float[np.ndarray, "k k"]:
    r"""Estimate the covariance of the coefficients without assuming one variance for all errors.

    .. math:: (X^\top X)^{-1}\Bigl(\sum_i \omega_i x_i x_i^\top\Bigr)(X^\top X)^{-1}

    with :math:`\omega_i` the squared residual :math:`e_i^2` (HC0), times :math:`n/(n-k)` (HC1),
    over :math:`1-h_{ii}` (HC2), or over :math:`(1-h_{ii})^2` (HC3, the leave-one-out residual).

    Parameters
    ----------
    fit : Fit
        From :func:`primer.regression.ols`.
    kind : {"HC0", "HC1", "HC2", "HC3"}
        HC2 is unbiased when the errors do have one variance; HC3 errs on the safe side.

    Returns
    -------
    float array, shape (k, k)
        To be passed to :func:`primer.regression.coefficient_tests`.

    Raises
    ------
    ValueError
        When the kind is unknown, no degree of freedom is left, or (HC2, HC3) an observation has
        leverage 1.

    References
    ----------
    White (1980); MacKinnon and White (1985); Long and Ervin (2000).

    Examples
    --------
    >>> from primer.regression import ols
    >>> fit = ols([[0], [1], [2], [3]], [1, 3, 2, 4])
    >>> np.sqrt(np.diag(robust_covariance(fit, "HC0"))).round(4)
    array([0.4306, 0.18  ])
    """
    if fit.df_residual < 1:
        raise ValueError("no degree of freedom is left: all residuals are 0")
    errors = fit.residuals
    if kind == "HC1":
        errors = errors * np.sqrt(len(fit.y) / fit.df_residual)
    elif kind == "HC2":
        errors = errors / np.sqrt(residual_share(fit))
    elif kind == "HC3":
        errors = errors / residual_share(fit)
    pulls, scale = scaled(_pulls(fit, errors))
    return rescaled("the covariance", pulls.T @ pulls, scale, scale)


def _pulls(fit: Fit, errors: Float[np.ndarray, " n"]) -> Float[np.ndarray, "n k"]:
    r"""Compute how far each error moves the coefficients, :math:`(X^\top X)^{-1} x_i e_i`.

    They have the unit of the coefficients, whatever that of X and of y is.
    """
    return (solve_triangular(fit.R, fit.Q.T) * errors).T


@checked
def newey_west_covariance(fit: Fit, lags: Natural) -> Float[np.ndarray, "k k"]:
    r"""Estimate the covariance of the coefficients when neighboring errors are correlated.

    .. math:: \hat S = \Gamma_0 + \sum_{\ell=1}^{L}\Bigl(1-\frac{\ell}{L+1}\Bigr)
              (\Gamma_\ell+\Gamma_\ell^\top), \qquad
              \Gamma_\ell = \sum_i e_i e_{i-\ell}\,x_i x_{i-\ell}^\top

    The falling weights keep the matrix positive semidefinite.

    Parameters
    ----------
    fit : Fit
        From :func:`primer.regression.ols`, with observations in the order of time.
    lags : int
        How many neighbors :math:`L` to take into account; 0 gives HC0.

    Returns
    -------
    float array, shape (k, k)
        To be passed to :func:`primer.regression.coefficient_tests`.

    Raises
    ------
    ValueError
        When ``lags`` is negative or not below the number of observations.

    References
    ----------
    Newey and West (1987).

    Examples
    --------
    >>> from primer.regression import ols
    >>> fit = ols([[0], [1], [2], [3]], [1, 3, 2, 4])
    >>> np.sqrt(np.diag(newey_west_covariance(fit, lags=1))).round(4)
    array([0.2877, 0.1559])
    """
    if lags >= len(fit.y):
        raise ValueError(f"lags must lie between 0 and {len(fit.y) - 1}, got {lags}")
    pulls, scale = scaled(_pulls(fit, fit.residuals))
    total = pulls.T @ pulls
    for lag in range(1, lags + 1):
        neighbors = pulls[lag:].T @ pulls[:-lag]
        total += (1 - lag / (lags + 1)) * (neighbors + neighbors.T)
    return rescaled("the covariance", total, scale, scale)
