r"""How sure a fit is: standard errors, t and F tests, intervals."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike
from scipy import stats
from scipy.linalg import solve_triangular

from primer.inputs import Probability, checked, matrix, one_of
from primer.inputs.magnitude import length
from primer.regression.inputs import design
from primer.regression.least_squares_fit import Fit
from primer.regression.projection import add_intercept


class Coefficients(NamedTuple):
    """Tests and intervals of the coefficients, one entry for each; printing gives a table."""

    names: tuple[str, ...]
    estimates: Float[np.ndarray, " k"]
    standard_errors: Float[np.ndarray, " k"]
    t: Float[np.ndarray, " k"]
    p_values: Float[np.ndarray, " k"]
    low: Float[np.ndarray, " k"]
    high: Float[np.ndarray, " k"]

    def __str__(self) -> str:
        width = max(map(len, self.names))
        head = f"{'':{width}} {'estimate':>10} {'s.e.':>9} {'t':>8} {'p':>8}   interval"
        rows = [
            f"{name:{width}} {b:>10.4g} {se:>9.4g} {t:>8.2f} {p:>8.4f}   [{low:.4g}, {high:.4g}]"
            for name, b, se, t, p, low, high in zip(*self, strict=True)
        ]
        return "\n".join([head, *rows])


@checked
def coefficient_tests(
    fit: Fit, covariance: ArrayLike | None = None, level: Probability = 0.95
) -> Coefficients:
    r"""Test whether each coefficient is zero, and give its confidence interval.

    .. math::
        t_j = \frac{\hat\beta_j}{\operatorname{se}_j} \sim t_{n-k} \text{ if } \beta_j = 0, \qquad
        \hat\beta_j \pm t_{n-k,\,(1+\ell)/2}\,\operatorname{se}_j

    Parameters
    ----------
    fit : Fit
        From :func:`ols`.
    covariance : array_like, shape (k, k), optional
        A covariance of the coefficients to use instead of ``fit.covariance``, for example from
        :func:`primer.regression.robust_covariance`.
    level : float
        The coverage :math:`\ell` of the intervals.

    Returns
    -------
    Coefficients
        Estimates, standard errors, t statistics, two-sided p-values, ends of the intervals.

    Raises
    ------
    ValueError
        When no degree of freedom is left, the fit is exact, the covariance is not k×k with
        positive variances, or the level is not between 0 and 1.

    References
    ----------
    Hastie, Tibshirani and Friedman (2009), section 3.2.

    Examples
    --------
    >>> from primer.regression import ols
    >>> fit = ols([[0], [1], [2], [3]], [1, 3, 2, 4], names=["x"])
    >>> print(coefficient_tests(fit))
                estimate      s.e.        t        p   interval
    intercept        1.3    0.7937     1.64   0.2431   [-2.115, 4.715]
    x                0.8    0.4243     1.89   0.2000   [-1.025, 2.625]
    """
    k = len(fit.names)
    if covariance is None:
        errors = fit.standard_errors
    else:
        spread = matrix("covariance", covariance)
        if spread.shape != (k, k) or (np.diag(spread) <= 0).any():
            raise ValueError(
                f"the covariance must be a {k}×{k} matrix with positive variances, "
                f"got shape {spread.shape} with diagonal {np.diag(spread)}"
            )
        errors = np.sqrt(np.diag(spread))
    law = stats.t(fit.df_residual)
    t = fit.coefficients / errors
    reach = -law.ppf((1 - level) / 2) * errors  # of a level near 1, too
    return Coefficients(
        fit.names, fit.coefficients, errors, t, 2 * law.sf(np.abs(t)),
        fit.coefficients - reach, fit.coefficients + reach,
    )  # fmt: skip


class FTest(NamedTuple):
    """An F statistic, its two degrees of freedom and its p-value."""

    statistic: float
    df_numerator: int
    df_denominator: int
    p_value: float


@checked
def f_test(fit: Fit, restricted: Fit | None = None) -> FTest:
    r"""Test whether a fit explains more than a restricted one inside it could by chance.

    .. math:: F = \frac{(\mathrm{RSS}_0 - \mathrm{RSS})/q}{\mathrm{RSS}/(n-k)} \sim F_{q,\,n-k}
              \text{ if the restriction is true}

    Parameters
    ----------
    fit : Fit
        The larger model, with :math:`k` coefficients.
    restricted : Fit, optional
        The smaller model, with :math:`k - q` coefficients, on the same response; its columns must
        be combinations of the larger one's.  Without it, the model that has an intercept alone.

    Returns
    -------
    FTest
        ``statistic``, ``df_numerator`` :math:`q`, ``df_denominator`` :math:`n - k`, ``p_value``.

    Raises
    ------
    ValueError
        When the models are not nested, have different responses, or are of one size.

    References
    ----------
    Hastie, Tibshirani and Friedman (2009), section 3.2.

    Examples
    --------
    >>> from primer.regression import ols
    >>> test = f_test(ols([[0], [1], [2], [3]], [1, 3, 2, 4]))
    >>> round(test.statistic, 4), test.df_numerator, test.df_denominator, round(test.p_value, 4)
    (3.5556, 1, 2, 0.2)
    """
    if restricted is None:
        if not fit.has_intercept:
            raise ValueError("the overall F test compares with the mean: fit with an intercept")
        basis = np.ones((len(fit.y), 1)) / np.sqrt(len(fit.y))
        left = fit.varying
    else:
        if not np.array_equal(restricted.y, fit.y):
            raise ValueError("the two fits must have the same response")
        basis, left = restricted.Q, restricted.residuals
    outside = basis - fit.Q @ (fit.Q.T @ basis)
    q = fit.X.shape[1] - basis.shape[1]
    if q < 1 or np.linalg.norm(outside) > 1e-6:
        raise ValueError(
            "the models are not nested: every column of the restricted model must be a "
            "combination of the columns of the larger one, which must have more"
        )
    gained = length(left - fit.residuals) / fit.deviation  # RSS₀ − RSS, by Pythagoras
    statistic = float(gained * gained / q)
    p_value = float(stats.f(q, fit.df_residual).sf(statistic))
    return FTest(statistic, q, fit.df_residual, p_value)


class Prediction(NamedTuple):
    """Predicted means with an interval, one entry for each new observation."""

    mean: Float[np.ndarray, " m"]
    low: Float[np.ndarray, " m"]
    high: Float[np.ndarray, " m"]


@checked
def predict(
    fit: Fit, X: ArrayLike, level: Probability = 0.95, *, of: str = "observation"
) -> Prediction:
    r"""Predict with an interval for a new observation, or for its mean.

    .. math::
        x^\top\hat\beta \pm t_{n-k}\, s\sqrt{x^\top (X^\top X)^{-1} x + 1}

    The 1 is the new observation's own noise; the interval for the mean goes without it.

    Parameters
    ----------
    fit : Fit
        From :func:`ols`.
    X : array_like, shape (m, p)
        The features of the new observations, without an intercept column if ``fit`` added one.
    level : float
        The coverage of the interval.
    of : {"observation", "mean"}
        What the interval is for.

    Returns
    -------
    Prediction
        ``mean``, ``low`` and ``high``.

    Raises
    ------
    ValueError
        When the number of features differs from the fit's, or ``of`` is neither of the two.

    Examples
    --------
    >>> from primer.regression import ols
    >>> fit = ols([[0], [1], [2], [3]], [1, 3, 2, 4])
    >>> [float(v[0].round(3)) for v in predict(fit, [[1.5]])]
    [2.5, -2.064, 7.064]
    >>> [float(v[0].round(3)) for v in predict(fit, [[1.5]], of="mean")]
    [2.5, 0.459, 4.541]
    """
    one_of("of", of, ("observation", "mean"))
    table = add_intercept(X) if fit.has_intercept else design("X", X)
    if table.shape[1] != fit.X.shape[1]:
        raise ValueError(
            f"the fit has {fit.X.shape[1] - fit.has_intercept} features, "
            f"got {table.shape[1] - fit.has_intercept}"
        )
    parts = solve_triangular(fit.R, table.T, trans="T").T  # x = Rᵀz, so that xᵀβ = zᵀQᵀy
    mean = parts @ fit.moments + fit.level * (parts @ fit.Q.sum(axis=0))
    spread = np.sum(parts**2, axis=1) + (of == "observation")
    quantile = -stats.t(fit.df_residual).ppf((1 - level) / 2)
    reach = quantile * fit.deviation * np.sqrt(spread)
    return Prediction(mean, mean - reach, mean + reach)
