r"""What the residuals tell: leverage, studentized residuals, influence, and two tests of them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from scipy import stats
from scipy.linalg import solve_triangular

from primer.inputs import checked
from primer.inputs.magnitude import lengths, scaled
from primer.regression.inputs import Design
from primer.regression.least_squares_fit import Fit, ols


@checked
def leverage(fit: Fit) -> Float[np.ndarray, " n"]:
    r"""Compute how strongly each fitted value is pulled by its own observation.

    .. math:: h_{ii} = \frac{\partial\hat y_i}{\partial y_i} = (QQ^\top)_{ii}, \qquad
              \tfrac1n \le h_{ii} \le 1 \text{ with an intercept}, \qquad \sum_i h_{ii} = k

    Parameters
    ----------
    fit : Fit
        From :func:`primer.regression.ols`.

    Returns
    -------
    float array, shape (n,)
        The diagonal of the hat matrix; it depends on ``X`` alone.

    References
    ----------
    Hoaglin and Welsch (1978), "The hat matrix in regression and ANOVA".

    Examples
    --------
    >>> leverage(ols([[0], [1], [2], [3]], [1, 3, 2, 4])).round(12)
    array([0.7, 0.3, 0.3, 0.7])
    """
    return np.sum(fit.Q**2, axis=1)


@checked
def residual_share(fit: Fit) -> Float[np.ndarray, " n"]:
    r"""Compute the share of an error's variance that is left in its residual.

    .. math:: \operatorname{Var}(e_i)/\sigma^2 = 1 - h_{ii}

    Parameters
    ----------
    fit : Fit
        From :func:`primer.regression.ols`.

    Returns
    -------
    float array, shape (n,)
        Above 0.

    Raises
    ------
    ValueError
        When an observation has leverage 1, so that nothing of its error is left.

    Examples
    --------
    >>> residual_share(ols([[0], [1], [2], [3]], [1, 3, 2, 4])).round(12)
    array([0.3, 0.7, 0.7, 0.3])
    """
    share = 1 - leverage(fit)
    if alone := np.flatnonzero(share < 1e-10).tolist():
        raise ValueError(
            f"observations {alone} have leverage 1: each alone determines a coefficient, "
            "so its residual is always 0 and says nothing"
        )
    return share


@checked
def standardized_residuals(fit: Fit) -> Float[np.ndarray, " n"]:
    r"""Divide each residual by its own estimated standard deviation.

    .. math:: \operatorname{Var}(e_i) = \sigma^2 (1-h_{ii}), \qquad
              r_i = \frac{e_i}{s\sqrt{1-h_{ii}}}

    Parameters
    ----------
    fit : Fit
        From :func:`primer.regression.ols`.

    Returns
    -------
    float array, shape (n,)
        Internally studentized residuals, of variance about 1.

    Raises
    ------
    ValueError
        When an observation has leverage 1, or no noise can be estimated.

    References
    ----------
    Cook and Weisberg, *Residuals and Influence in Regression* (1982), chapter 2.

    Examples
    --------
    >>> standardized_residuals(ols([[0], [1], [2], [3]], [1, 3, 2, 4])).round(3)
    array([-0.577,  1.134, -1.134,  0.577])
    """
    return fit.residuals / fit.deviation / np.sqrt(residual_share(fit))


@checked
def studentized_residuals(fit: Fit) -> Float[np.ndarray, " n"]:
    r"""Compare each residual with the noise estimated without its observation.

    .. math:: t_i = \frac{e_i}{s_{(i)}\sqrt{1-h_{ii}}}, \qquad
              (n-k-1)\,s_{(i)}^2 = (n-k)\,s^2 - \frac{e_i^2}{1-h_{ii}}

    Parameters
    ----------
    fit : Fit
        From :func:`primer.regression.ols`.

    Returns
    -------
    float array, shape (n,)
        Externally studentized residuals; under normal errors each is :math:`t_{n-k-1}`.

    Raises
    ------
    ValueError
        When an observation has leverage 1, or :math:`n \le k + 1`.

    References
    ----------
    Cook and Weisberg, *Residuals and Influence in Regression* (1982), chapter 2.

    Examples
    --------
    >>> studentized_residuals(ols([[0], [1], [2], [3]], [1, 3, 2, 4])).round(3)
    array([-0.447,  1.342, -1.342,  0.447])
    """
    df = fit.df_residual - 1
    if df < 1:
        raise ValueError(
            "to leave one observation out, there must be at least two more of them than "
            f"coefficients; got {len(fit.y)} and {len(fit.names)}"
        )
    share = residual_share(fit)
    relative = fit.residuals / fit.deviation  # no square overflows
    without = (fit.df_residual - relative**2 / share) / df
    if (without <= 1e-12).any():
        raise ValueError(
            f"without observation {int(without.argmin())} the fit is exact: no noise is left to "
            "compare its residual with"
        )
    return relative / np.sqrt(without * share)


@checked
def leave_one_out_residuals(fit: Fit) -> Float[np.ndarray, " n"]:
    r"""Compute the error of predicting each observation from all others, without refitting.

    .. math:: y_i - x_i^\top\hat\beta_{(i)} = \frac{e_i}{1-h_{ii}}

    Parameters
    ----------
    fit : Fit
        From :func:`primer.regression.ols`.

    Returns
    -------
    float array, shape (n,)
        Prediction errors, in the unit of ``y``.

    Raises
    ------
    ValueError
        When an observation has leverage 1: without it there is no fit.

    References
    ----------
    Allen (1974), "The relationship between variable selection and data augmentation".

    Examples
    --------
    >>> leave_one_out_residuals(ols([[0], [1], [2], [3]], [1, 3, 2, 4])).round(3)
    array([-1.   ,  1.286, -1.286,  1.   ])
    """
    return fit.residuals / residual_share(fit)


@checked
def cooks_distance(fit: Fit) -> Float[np.ndarray, " n"]:
    r"""Measure how far all fitted values move when one observation is left out.

    .. math:: D_i = \frac{\lVert \hat y - \hat y_{(i)}\rVert^2}{k\,s^2}
                  = \frac{r_i^2}{k}\,\frac{h_{ii}}{1-h_{ii}}

    Parameters
    ----------
    fit : Fit
        From :func:`primer.regression.ols`.

    Returns
    -------
    float array, shape (n,)
        Values near or above 1 deserve a look.

    Raises
    ------
    ValueError
        When an observation has leverage 1, or no noise can be estimated.

    References
    ----------
    Cook (1977).

    Examples
    --------
    >>> cooks_distance(ols([[0], [1], [2], [3]], [1, 3, 2, 4])).round(3)
    array([0.389, 0.276, 0.276, 0.389])
    """
    h = leverage(fit)
    return standardized_residuals(fit) ** 2 / len(fit.names) * h / (1 - h)


@checked
def variance_inflation(X: Design) -> Float[np.ndarray, " p"]:
    r"""Compute by how much the other features inflate the variance of each coefficient.

    .. math:: \mathrm{VIF}_j = \frac{\lVert x_j-\bar x_j\rVert^2}{\lVert\tilde x_j\rVert^2}
              = \frac1{1-R_j^2}

    :math:`\tilde x_j` is what the other features leave of :math:`x_j`, and :math:`R_j^2` belongs to
    the regression of :math:`x_j` on them.

    Parameters
    ----------
    X : array_like, shape (n, p)
        The features, without the intercept's column.

    Returns
    -------
    float array, shape (p,)
        1 for a feature uncorrelated with the others, without upper bound for collinear ones.

    Raises
    ------
    ValueError
        When the columns are exactly collinear or one is constant; the sentence names them.

    References
    ----------
    Marquardt (1970).

    Examples
    --------
    >>> variance_inflation([[0.0, 1.0], [1.0, 0.0], [2.0, 3.0], [3.0, 2.0]]).round(4)
    array([1.5625, 1.5625])
    """
    R = ols(X, np.zeros(len(X))).R  # refuses dependent columns
    inverse = solve_triangular(R, np.eye(len(R)))[1:]  # of length 1/‖x̃ⱼ‖ are its rows
    return (lengths(X - X.mean(axis=0)) * lengths(inverse.T)) ** 2


class ChiSquaredTest(NamedTuple):
    """A statistic that is χ² under the hypothesis, its degrees of freedom and its p-value."""

    statistic: float
    df: int
    p_value: float


@checked
def breusch_pagan(fit: Fit) -> ChiSquaredTest:
    r"""Test whether the size of the residuals depends on the features (Koenker's form).

    .. math:: \mathrm{LM} = n R^2_{e^2 \sim X} \;\dot\sim\; \chi^2_p \text{ under homoscedasticity}

    Parameters
    ----------
    fit : Fit
        From :func:`primer.regression.ols`, with an intercept.

    Returns
    -------
    ChiSquaredTest
        ``statistic``, ``df`` and ``p_value``.

    Raises
    ------
    ValueError
        When the fit has no intercept or no feature, or is exact.

    References
    ----------
    Breusch and Pagan (1979); Koenker (1981).

    Examples
    --------
    >>> test = breusch_pagan(ols([[1], [2], [3], [4], [5]], [1.0, 2.1, 2.8, 4.9, 3.8]))
    >>> round(test.statistic, 3), test.df, round(test.p_value, 3)
    (2.349, 1, 0.125)
    """
    features = fit.X.shape[1] - 1
    if not fit.has_intercept or features < 1:
        raise ValueError("the test needs an intercept and at least one feature")
    parts, _ = scaled(fit.residuals / fit.deviation)
    squares = ols(fit.X[:, 1:], parts**2)
    statistic = len(fit.y) * squares.r_squared
    return ChiSquaredTest(statistic, features, float(stats.chi2(features).sf(statistic)))
