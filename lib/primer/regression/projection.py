r"""Least squares three ways: the zero of the gradient, a projection, and a slope by hand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, NamedTuple

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike
from scipy.linalg import solve_triangular

from primer.inputs import Vector, checked
from primer.inputs.magnitude import rescaled, scaled
from primer.regression.inputs import (
    Column,
    Design,
    column,
    observations,
    solve,
)
from primer.regression.qr import independent_qr


@checked
def add_intercept(X: Design) -> Float[np.ndarray, "n columns"]:
    r"""Put a column of ones before the features, so that :math:`\beta_0` is a coefficient too.

    Parameters
    ----------
    X : array_like, shape (n, p)
        The features.

    Returns
    -------
    float array, shape (n, p + 1)
        :math:`[\mathbf 1\; X]`.

    Examples
    --------
    >>> add_intercept([[5.0], [7.0]])
    array([[1., 5.],
           [1., 7.]])
    """
    return np.column_stack([np.ones(len(X)), X])


@checked
def mean_squared_error_gradient(
    X: Annotated[Design, "n p"], y: Annotated[Column, "n"], coefficients: Annotated[Vector, "p"]
) -> Float[np.ndarray, " p"]:
    r"""Compute the gradient of the mean squared error.

    .. math:: L(\beta) = \frac1n\,\lVert y - X\beta\rVert^2, \qquad
              \nabla L(\beta) = -\frac2n\,X^\top (y - X\beta)

    Parameters
    ----------
    X : array_like, shape (n, p)
        The design matrix.
    y : array_like, shape (n,)
        The response.
    coefficients : array_like, shape (p,)
        :math:`\beta`.

    Returns
    -------
    float array, shape (p,)
        It is zero exactly where the residual is orthogonal to every column.

    Raises
    ------
    ValueError
        When a shape does not match or an entry is not finite.

    Examples
    --------
    >>> mean_squared_error_gradient([[1.0], [2.0]], [3.0, 5.0], [2.0])
    array([-3.])
    """
    return -2 / len(y) * X.T @ (y - X @ coefficients)


@checked
def normal_equations(X: Design, y: ArrayLike) -> Float[np.ndarray, "p *responses"]:
    r"""Solve the normal equations, as the formula is written.

    .. math:: X^\top X\,\hat\beta = X^\top y, \qquad \hat\beta = (X^\top X)^{-1}X^\top y

    Forming :math:`X^\top X` squares the condition number: :func:`least_squares` keeps twice as
    many digits.

    Parameters
    ----------
    X : array_like, shape (n, p)
        The design matrix, with independent columns.
    y : array_like, shape (n,) or (n, m)
        The response, or ``m`` of them at once.

    Returns
    -------
    float array, shape (p,) or (p, m)
        The least-squares coefficients.

    Raises
    ------
    ValueError
        When the columns are dependent (the sentence names them), there are more columns than
        observations, or an entry is not finite.

    References
    ----------
    Legendre (1805); Gauss (1809).

    Examples
    --------
    >>> normal_equations([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]], [1.0, 2.0, 6.0]).round(12)
    array([0.5, 2.5])
    """
    table, response = observations(X, y)
    independent_qr(table)
    return solve(table.T @ table, table.T @ response)


@checked
def least_squares(
    X: ArrayLike, y: ArrayLike, names: Sequence[str] | None = None
) -> Float[np.ndarray, "p *responses"]:
    r"""Compute the least-squares coefficients from the QR factorization.

    .. math:: X = QR, \qquad R\,\hat\beta = Q^\top y

    Parameters
    ----------
    X, y, names
        As :func:`normal_equations`.

    Returns
    -------
    float array, shape (p,) or (p, m)
        The :math:`\beta` with the smallest :math:`\lVert y - X\beta\rVert^2`.

    Raises
    ------
    ValueError
        As :func:`normal_equations`.

    References
    ----------
    Golub and Van Loan (2013), section 5.3.

    Examples
    --------
    >>> least_squares([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]], [1.0, 2.0, 6.0]).round(12)
    array([0.5, 2.5])
    >>> least_squares([[1.0, 2.0], [1.0, 2.0]], [1.0, 2.0], names=["intercept", "dose"])
    Traceback (most recent call last):
        ...
    ValueError: column dose is constant, as the intercept is: leave it out
    """
    table, response = observations(X, y)
    Q, R = independent_qr(table, names)
    return solve_triangular(R, Q.T @ response)


@checked
def project(X: Design, y: ArrayLike) -> Float[np.ndarray, "n *responses"]:
    r"""Project ``y`` onto the column space of ``X``: the fitted values of least squares.

    .. math:: \hat y = QQ^\top y = X\hat\beta

    Parameters
    ----------
    X, y
        As :func:`normal_equations`.

    Returns
    -------
    float array of the shape of ``y``
        The point of :math:`\operatorname{Col}(X)` nearest to ``y``.

    Raises
    ------
    ValueError
        As :func:`normal_equations`.

    Examples
    --------
    >>> project([[1.0], [1.0], [1.0]], [1.0, 2.0, 6.0]).round(12)
    array([3., 3., 3.])
    """
    table, response = observations(X, y)
    Q, _ = independent_qr(table)
    return Q @ (Q.T @ response)


@checked
def hat_matrix(X: Design) -> Float[np.ndarray, "n n"]:
    r"""Compute the matrix that puts the hat on ``y``.

    .. math:: H = X(X^\top X)^{-1}X^\top = QQ^\top, \qquad \hat y = Hy

    Parameters
    ----------
    X : array_like, shape (n, p)
        The design matrix, with independent columns.

    Returns
    -------
    float array, shape (n, n)
        Symmetric, with :math:`H^2 = H` and trace :math:`p`.

    Raises
    ------
    ValueError
        When the columns are dependent or an entry is not finite.

    References
    ----------
    Hoaglin and Welsch (1978), "The hat matrix in regression and ANOVA".

    Examples
    --------
    >>> hat_matrix([[1.0], [1.0]]).round(12)
    array([[0.5, 0.5],
           [0.5, 0.5]])
    """
    Q, _ = independent_qr(X)
    return Q @ Q.T


class Line(NamedTuple):
    r"""A straight line :math:`\hat y = \hat\beta_0 + \hat\beta_1 x`."""

    intercept: float
    slope: float


@checked
def simple_regression(x: Column, y: ArrayLike) -> Line:
    r"""Fit a line to points by the formulas one can evaluate by hand.

    .. math::
        \hat\beta_1 = \frac{\sum_i (x_i-\bar x)(y_i-\bar y)}{\sum_i (x_i-\bar x)^2}, \qquad
        \hat\beta_0 = \bar y - \hat\beta_1\bar x

    Parameters
    ----------
    x, y : array_like, shape (n,)
        The points.

    Returns
    -------
    Line
        ``intercept`` and ``slope``.

    Raises
    ------
    ValueError
        When the sequences differ in length, are not finite, or all ``x`` are equal.

    Examples
    --------
    >>> simple_regression([0, 1, 2], [1, 2, 6])
    Line(intercept=0.5, slope=2.5)
    """
    y = column("y", y, len(x))
    if np.ptp(x) == 0:
        raise ValueError(f"a slope needs two different x, but all {len(x)} are {x[0]:g}")
    (deviation, across), (response, up) = scaled(_centered(x)), scaled(_centered(y))
    ratio = float(deviation @ response / (deviation @ deviation))
    slope = float(rescaled("the slope", ratio, up, 1 / across))
    return Line(float(y.mean()) - slope * float(x.mean()), slope)


def _centered(values: np.ndarray) -> Float[np.ndarray, " n"]:
    """Take off the mean, and then the rounding of the mean."""
    rest = values - values.mean()
    return rest - rest.mean()
