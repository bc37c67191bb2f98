r"""A least-squares fit and what it consists of: coefficients, residuals, covariance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike
from scipy.linalg import solve_triangular

from primer.inputs import checked, checked_fields
from primer.inputs.magnitude import length, lengths, rescaled, scaled
from primer.regression.inputs import Design, column, column_names, single_response
from primer.regression.projection import add_intercept
from primer.regression.qr import independent_qr
from primer.regression.variation import adjusted, share_explained

EXACT = 1e-13
"""Residuals this small against ``y`` less its mean are rounding: the fit is exact."""
ROUNDING = 2 * float(np.finfo(float).eps)
"""So are residuals this small against ``y``, whose own last digits they are."""


@checked_fields
@dataclass(frozen=True, eq=False)
class Fit:
    r"""A least-squares fit of :math:`y = X\beta + \varepsilon`, made by :func:`ols`.

    Attributes
    ----------
    X : float array, shape (n, k)
        The design matrix, the intercept's column included.
    y : float array, shape (n,)
        The response.
    names : tuple of str
        One name for each column.
    Q, R : float arrays, shapes (n, k) and (k, k)
        The factors of ``X``, from which everything else follows.
    has_intercept : bool
        Whether the first column was added by :func:`ols`.
    """

    X: Float[np.ndarray, "n k"]
    y: Float[np.ndarray, " n"]
    names: tuple[str, ...]
    Q: Float[np.ndarray, "n k"]
    R: Float[np.ndarray, "k k"]
    has_intercept: bool

    @cached_property
    def has_constant(self) -> bool:
        """Whether the columns can make a constant, so that the mean is among the fits."""
        ones = np.ones(len(self.y))
        return self.has_intercept or length(ones - self.Q @ (self.Q.T @ ones)) < 1e-10 * len(ones)

    @cached_property
    def level(self) -> float:
        """What all responses have in common: their mean, where it is among the fits, else 0.

        It is taken off before anything is computed, so that the residuals keep their digits.
        """
        parts, scale = scaled(self.y)
        return float(parts.mean()) * scale if self.has_constant else 0.0

    @cached_property
    def varying(self) -> Float[np.ndarray, " n"]:
        """What is left of the response without its level, whose own rounding is taken off too."""
        rest = self.y - self.level
        return rest - rest.mean() if self.has_constant else rest

    @cached_property
    def moments(self) -> Float[np.ndarray, " k"]:
        r""":math:`Q^\top (y - \text{level})`."""
        return self.Q.T @ (self.y - self.level)

    @cached_property
    def coefficients(self) -> Float[np.ndarray, " k"]:
        r""":math:`\hat\beta`, from :math:`R\hat\beta = Q^\top y`."""
        constant = self.Q.sum(axis=0)  # Qᵀ1
        if self.has_intercept:
            found = solve_triangular(self.R, self.moments) + self.level * np.eye(len(self.R))[0]
        else:
            found = solve_triangular(self.R, self.moments + self.level * constant)
        return rescaled("a coefficient", found)

    @cached_property
    def fitted(self) -> Float[np.ndarray, " n"]:
        r""":math:`\hat y = X\hat\beta`."""
        return self.y - self.residuals

    @cached_property
    def residuals(self) -> Float[np.ndarray, " n"]:
        r""":math:`e = y - \hat y`, what is left when the projection is taken off, twice."""
        once = (self.y - self.level) - self.Q @ self.moments
        return once - self.Q @ (self.Q.T @ once)  # the first leaves rounding, which lies in Col(X)

    @property
    def df_residual(self) -> int:
        r"""The degrees of freedom of the residuals, :math:`n - k`."""
        return self.X.shape[0] - self.X.shape[1]

    @cached_property
    def deviation(self) -> float:
        r"""The square root :math:`s` of the variance.

        Raises
        ------
        ValueError
            As :attr:`variance`.
        """
        if self.df_residual < 1:
            n, k = self.X.shape
            raise ValueError(
                f"{n} observations and {k} coefficients leave no degree of freedom to estimate the "
                "noise; standard errors need more observations than coefficients"
            )
        size = length(self.residuals)
        if size <= max(EXACT * length(self.varying), ROUNDING * length(self.y)):
            raise ValueError(
                "the fit is exact up to rounding: with no residuals there is no noise to estimate"
            )
        return float(size / np.sqrt(self.df_residual))

    @cached_property
    def variance(self) -> float:
        r"""The unbiased estimate of the noise's variance, :math:`s^2 = \mathrm{RSS}/(n-k)`.

        Raises
        ------
        ValueError
            When no degree of freedom is left, the fit is exact, so that no noise is seen, or the
            variance is no floating-point number.
        """
        root, scale = scaled(np.array([self.deviation]))
        return float(rescaled("the variance", root[0] ** 2, scale, scale))

    @cached_property
    def inverse_gram(self) -> Float[np.ndarray, "k k"]:
        r""":math:`(X^\top X)^{-1} = R^{-1}R^{-\top}`."""
        inverse = solve_triangular(self.R, np.eye(len(self.R)))
        return inverse @ inverse.T

    @cached_property
    def covariance(self) -> Float[np.ndarray, "k k"]:
        r"""The estimated covariance of the coefficients, :math:`s^2 (X^\top X)^{-1}`.

        It is right when the errors are uncorrelated and have one variance; see
        :mod:`primer.regression.robust` for what to use when they are not.
        """
        return self.variance * self.inverse_gram

    @property
    def standard_errors(self) -> Float[np.ndarray, " k"]:
        """The square roots of the covariance's diagonal."""
        inverse = solve_triangular(self.R, np.eye(len(self.R)))
        return self.deviation * lengths(inverse.T)

    @property
    def r_squared(self) -> float:
        r"""The coefficient of determination.

        Where the columns can make a constant it is :math:`1 - \mathrm{RSS}/\mathrm{TSS}`.  Through
        the origin the mean is not among the fits, and the comparison is with 0, as NIST and
        statsmodels have it: :math:`1 - \mathrm{RSS}/\sum_i y_i^2`.
        :func:`primer.regression.r_squared` compares with the mean unless told otherwise.
        """
        return share_explained(self.residuals, self.varying)

    @property
    def adjusted_r_squared(self) -> float:
        """The adjusted coefficient of determination; needs an intercept."""
        if not self.has_intercept:
            raise ValueError("adjusted R² compares with the mean: fit with an intercept")
        return adjusted(self.r_squared, len(self.y), self.X.shape[1] - 1)


@checked
def ols(
    X: ArrayLike, y: ArrayLike, names: Sequence[str] | None = None, *, intercept: bool = True
) -> Fit:
    r"""Fit :math:`y = X\beta + \varepsilon` by ordinary least squares.

    Parameters
    ----------
    X : array_like, shape (n, p)
        One row for each observation, one column for each feature.
    y : array_like, shape (n,)
        The response.
    names : sequence of str, optional
        Names of the features; x1, x2, … otherwise.
    intercept : bool
        Whether to put a column of ones before the features.

    Returns
    -------
    Fit
        Coefficients, residuals, covariance and what follows from them.

    Raises
    ------
    ValueError
        When columns are dependent or constant (the sentence names them), there are more
        coefficients than observations, or an entry is not finite.

    Examples
    --------
    >>> fit = ols([[0], [1], [2], [3]], [1, 3, 2, 4], names=["x"])
    >>> fit.coefficients.round(12), round(fit.variance, 12)
    (array([1.3, 0.8]), 0.9)
    >>> ols([[1, 5], [2, 5], [4, 5]], [1, 2, 3], names=["dose", "year"])
    Traceback (most recent call last):
        ...
    ValueError: column year is constant, as the intercept is: leave it out
    """
    table, response = single_response(X, y)
    labels = column_names(names, table.shape[1])
    if intercept:
        table, labels = add_intercept(table), ("intercept", *labels)
    Q, R = independent_qr(table, labels, intercept=intercept)
    return Fit(table, response, labels, Q, R, intercept)


@checked
def partial_out(x: ArrayLike, others: Design) -> Float[np.ndarray, " n"]:
    r"""Return what is left of ``x`` when all that ``others`` explain is taken away.

    The coefficient of ``x`` in a regression on ``x`` and ``others`` is the slope of ``y`` on this
    remainder alone:

    .. math:: \tilde x = x - H_{\text{others}}\,x, \qquad
              \hat\beta_x = \frac{\tilde x^\top y}{\tilde x^\top\tilde x}, \qquad
              \operatorname{Var}(\hat\beta_x) = \frac{\sigma^2}{\tilde x^\top\tilde x}

    Parameters
    ----------
    x : array_like, shape (n,)
        One feature.
    others : array_like, shape (n, p)
        The other columns, with the intercept's if the regression has one.

    Returns
    -------
    float array, shape (n,)
        The residuals of ``x`` regressed on ``others``.

    Raises
    ------
    ValueError
        When the shapes do not match or the other columns are dependent.

    References
    ----------
    Frisch and Waugh (1933); Lovell (1963).

    Examples
    --------
    >>> partial_out([1.0, 2.0, 6.0], [[1.0], [1.0], [1.0]]).round(12)
    array([-2., -1.,  3.])
    """
    feature = column("x", x, len(others))
    Q, _ = independent_qr(others)
    left = feature - Q @ (Q.T @ feature)
    return left - Q @ (Q.T @ left)  # the first leaves rounding, which the others explain
