r"""Ridge regression: primal, dual, as a filter on singular values, and with a general penalty.

The objective is :math:`\lVert y - Xw\rVert^2 + \lambda\lVert w\rVert^2` throughout: a sum, not a
mean, of squares.  No function adds an intercept or scales a column; see
:func:`primer.regression.fit_standardized` for a fit to real data.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from primer.inputs import (
    NotNegative,
    Positive,
    Reals,
    Vector,
    checked,
    vector,
)
from primer.regression.inputs import Design, column, observations, solve
from primer.regression.projection import least_squares


@checked
def ridge(X: ArrayLike, y: ArrayLike, penalty: NotNegative) -> Float[np.ndarray, "p *responses"]:
    r"""Solve ridge regression by :math:`p` equations, one for each feature (the primal form).

    .. math:: \hat w = \arg\min_w \lVert y - Xw\rVert^2 + \lambda\lVert w\rVert^2
              = (X^\top X + \lambda I)^{-1}X^\top y

    Parameters
    ----------
    X : array_like, shape (n, p)
        The features.
    y : array_like, shape (n,) or (n, m)
        The response, or ``m`` of them at once.
    penalty : float
        :math:`\lambda \ge 0`, in the squared unit of the features; 0 is least squares.

    Returns
    -------
    float array, shape (p,) or (p, m)
        The coefficients :math:`\hat w`.

    Raises
    ------
    ValueError
        When the penalty is negative, an entry is not finite, or the penalty is 0 and the columns
        are dependent.

    References
    ----------
    Hoerl and Kennard (1970).

    Examples
    --------
    >>> ridge([[1.0], [2.0]], [3.0, 5.0], penalty=5.0)
    array([1.3])
    >>> ridge([[1.0, 1.0], [2.0, 2.0]], [3.0, 5.0], penalty=3.0)  # collinear columns share alike
    array([1., 1.])
    """
    table, response = observations(X, y)
    if penalty == 0:
        return least_squares(table, response)
    gram = table.T @ table + penalty * np.eye(table.shape[1])
    return solve(gram, table.T @ response)


@checked
def ridge_dual(X: ArrayLike, y: ArrayLike, penalty: Positive) -> Float[np.ndarray, "p *responses"]:
    r"""Solve ridge regression by :math:`n` equations, one for each observation (the dual form).

    .. math:: \hat w = X^\top\alpha, \qquad \alpha = (XX^\top + \lambda I)^{-1}y

    The observations enter only through their inner products :math:`XX^\top`: put a kernel there,
    and this is kernel ridge regression.

    Parameters
    ----------
    X, y
        As :func:`ridge`.
    penalty : float
        :math:`\lambda > 0`.

    Returns
    -------
    float array, shape (p,) or (p, m)
        The same coefficients as :func:`ridge`, at lower cost when :math:`p > n`.

    Raises
    ------
    ValueError
        When the penalty is not above 0 or an entry is not finite.

    References
    ----------
    Saunders, Gammerman and Vovk (1998).

    Examples
    --------
    >>> ridge_dual([[1.0], [2.0]], [3.0, 5.0], penalty=5.0).round(12)
    array([1.3])
    """
    table, response = observations(X, y)
    inner = table @ table.T + penalty * np.eye(len(table))
    return table.T @ solve(inner, response)


@checked
def filter_factors(singular_values: Vector, penalties: Reals) -> Float[np.ndarray, "*penalties r"]:
    r"""Compute what ridge keeps of each direction of the data.

    .. math:: f_i(\lambda) = \frac{\sigma_i^2}{\sigma_i^2 + \lambda}, \qquad
              X\hat w = \sum_i f_i\,(u_i^\top y)\,u_i

    Parameters
    ----------
    singular_values : array_like, shape (r,)
        :math:`\sigma_i \ge 0` of ``X``.
    penalties : array_like
        :math:`\lambda \ge 0`, in any shape.

    Returns
    -------
    float array, shape (\*penalties.shape, r)
        Between 0 (dropped) and 1 (kept, as least squares does); their sum is the effective number
        of parameters, :math:`\operatorname{tr} X(X^\top X+\lambda I)^{-1}X^\top`.

    Raises
    ------
    ValueError
        When a singular value or a penalty is negative.

    References
    ----------
    Hastie, Tibshirani and Friedman (2009), section 3.4.1.

    Examples
    --------
    >>> filter_factors([3.0, 1.0], penalties=[0.0, 1.0, 9.0])
    array([[1. , 1. ],
           [0.9, 0.5],
           [0.5, 0.1]])
    """
    strength = singular_values**2
    lam = penalties
    if np.min(singular_values) < 0 or lam.min() < 0:
        raise ValueError("singular values and penalties must be 0 or larger")
    total = strength + lam[..., None]
    return np.divide(strength, total, out=np.zeros_like(total), where=total > 0)


@checked
def ridge_path(X: ArrayLike, y: ArrayLike, penalties: Vector) -> Float[np.ndarray, "m p"]:
    r"""Solve ridge regression for many penalties from one singular value decomposition.

    .. math:: X = U\Sigma V^\top, \qquad
              \hat w(\lambda) = \sum_i \frac{\sigma_i}{\sigma_i^2+\lambda}\,(u_i^\top y)\,v_i

    Parameters
    ----------
    X : array_like, shape (n, p)
        The features.
    y : array_like, shape (n,)
        The response.
    penalties : array_like, shape (m,)
        Each above 0.

    Returns
    -------
    float array, shape (m, p)
        One row of coefficients for each penalty.

    Raises
    ------
    ValueError
        When a penalty is not above 0 or an entry is not finite.

    References
    ----------
    Hastie, Tibshirani and Friedman (2009), section 3.4.1.

    Examples
    --------
    >>> ridge_path([[1.0], [2.0]], [3.0, 5.0], penalties=[5.0, 15.0]).round(12)
    array([[1.3 ],
           [0.65]])
    """
    table, response = observations(X, y)
    lam = penalties
    if lam.min() <= 0:
        raise ValueError(f"each penalty must be above 0, got {lam.min():g}")
    U, sigma, Vt = np.linalg.svd(table, full_matrices=False)
    shrunk = sigma / (sigma**2 + lam[:, None]) * (U.T @ column("y", response))  # (m, r)
    return shrunk @ Vt


@checked
def tikhonov(X: ArrayLike, y: ArrayLike, matrix: Reals) -> Float[np.ndarray, "p *responses"]:
    r"""Solve ridge regression with a general quadratic penalty.

    .. math:: \hat w = \arg\min_w \lVert y - Xw\rVert^2 + \lVert\Gamma w\rVert^2
              = (X^\top X + \Gamma^\top\Gamma)^{-1}X^\top y

    It is the least-squares fit to the data with the rows of :math:`\Gamma` added as observations of
    0, and that is how it is computed.

    Parameters
    ----------
    X, y
        As :func:`ridge`.
    matrix : array_like, shape (q, p)
        :math:`\Gamma`; :math:`\sqrt\lambda I` gives :func:`ridge`.

    Returns
    -------
    float array, shape (p,) or (p, m)
        The coefficients.

    Raises
    ------
    ValueError
        When :math:`\Gamma` has not one column for each feature, or some direction is seen neither
        by the data nor by the penalty.

    References
    ----------
    Tikhonov (1963).

    Examples
    --------
    >>> tikhonov([[1.0], [2.0]], [3.0, 5.0], [[5**0.5]]).round(12)
    array([1.3])
    """
    table, response = observations(X, y)
    gamma = matrix
    if gamma.ndim != 2 or gamma.shape[1] != table.shape[1]:
        raise ValueError(f"matrix must have {table.shape[1]} columns, got shape {gamma.shape}")
    zeros = np.zeros((len(gamma), *response.shape[1:]))
    return least_squares(np.vstack([table, gamma]), np.concatenate([response, zeros]))


class Risk(NamedTuple):
    """The two parts of an estimator's mean squared error."""

    squared_bias: Float[np.ndarray, " m"]
    variance: Float[np.ndarray, " m"]


@checked
def ridge_risk(
    X: Design, coefficients: ArrayLike, noise_variance: NotNegative, penalties: Vector
) -> Risk:
    r"""Compute the exact squared bias and variance of ridge for a known truth.

    .. math::
        \lVert E\hat w - w\rVert^2 = \sum_i (1-f_i)^2\,(v_i^\top w)^2, \qquad
        E\lVert\hat w - E\hat w\rVert^2 = \sigma^2\sum_i f_i^2/\sigma_i^2

    Parameters
    ----------
    X : array_like, shape (n, p)
        The features, with independent columns.
    coefficients : array_like, shape (p,)
        The true :math:`w`.
    noise_variance : float
        :math:`\sigma^2 \ge 0`.
    penalties : array_like, shape (m,)
        :math:`\lambda \ge 0`.

    Returns
    -------
    Risk
        ``squared_bias`` and ``variance`` for each penalty; their sum is
        :math:`E\lVert\hat w - w\rVert^2`.

    Raises
    ------
    ValueError
        When a penalty or the variance is negative, or the columns are dependent.

    References
    ----------
    Hoerl and Kennard (1970); Theobald (1974).

    Examples
    --------
    >>> ridge_risk([[1.0], [1.0]], [3.0], noise_variance=2.0, penalties=[0.0, 2.0])
    Risk(squared_bias=array([0.  , 2.25]), variance=array([1.  , 0.25]))
    """
    w = vector("coefficients", coefficients, X.shape[1])
    lam = penalties
    _, sigma, Vt = np.linalg.svd(X, full_matrices=False)
    if len(sigma) < X.shape[1] or sigma[-1] <= len(X) * np.finfo(float).eps * sigma[0]:
        raise ValueError("the columns of X are dependent: least squares has no finite variance")
    kept = filter_factors(sigma, lam)  # (m, p)
    return Risk(
        squared_bias=((1 - kept) ** 2) @ (Vt @ w) ** 2,
        variance=noise_variance * (kept**2 @ sigma**-2),
    )
