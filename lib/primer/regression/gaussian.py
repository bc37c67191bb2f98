r"""Ridge as belief: conditioning a joint normal distribution, and the posterior it gives."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from primer.inputs import Matrix, Positive, Vector, checked, matrix, vector
from primer.inputs.magnitude import sum_of_squares
from primer.regression.inputs import Design, single_response, solve


class Gaussian(NamedTuple):
    """A normal distribution: its mean, where its density is largest, and its covariance."""

    mean: Float[np.ndarray, " d"]
    covariance: Float[np.ndarray, "d d"]


@checked
def decorrelating_matrix(
    cross_covariance: Matrix, covariance: ArrayLike
) -> Float[np.ndarray, "w y"]:
    r"""Compute the matrix that leaves nothing of :math:`W` correlated with :math:`Y`.

    .. math:: A = \Sigma_{WY}\Sigma_{YY}^{-1}
              \quad\Longleftrightarrow\quad \operatorname{Cov}(W - AY,\; Y) = 0

    Parameters
    ----------
    cross_covariance : array_like, shape (w, y)
        :math:`\Sigma_{WY}`.
    covariance : array_like, shape (y, y)
        :math:`\Sigma_{YY}`, positive definite.

    Returns
    -------
    float array, shape (w, y)
        :math:`A`, the coefficients of the regression of :math:`W` on :math:`Y`.

    Raises
    ------
    ValueError
        When the shapes do not match or the covariance is not symmetric positive definite.

    Examples
    --------
    >>> decorrelating_matrix([[1.0, 0.0]], [[2.0, 0.0], [0.0, 3.0]])
    array([[0.5, 0. ]])
    """
    sigma = _positive_definite("covariance", covariance)
    if cross_covariance.shape[1] != len(sigma):
        raise ValueError(f"shapes {cross_covariance.shape} and {sigma.shape} do not match")
    return solve(sigma, cross_covariance.T).T


def _symmetric(name: str, values: ArrayLike) -> Float[np.ndarray, "d d"]:
    """Return a matrix that is symmetric up to rounding, in whatever unit."""
    sigma = matrix(name, values)
    square = sigma.shape[0] == sigma.shape[1]
    if not square or np.abs(sigma - sigma.T).max() > 1e-8 * np.abs(sigma).max():
        raise ValueError(f"{name} must be a symmetric matrix, got shape {sigma.shape}")
    return sigma


def _joint_covariance(covariance: ArrayLike, size: int, known: int) -> Float[np.ndarray, "d d"]:
    """Return the covariance of so many coordinates, of which some but not all are known."""
    sigma = _symmetric("covariance", covariance)
    if known >= size or sigma.shape != (size, size):
        raise ValueError(
            f"a mean of {size} coordinates needs a covariance of shape ({size}, {size}) "
            f"and fewer than {size} values, got {sigma.shape} and {known}"
        )
    if np.linalg.eigvalsh(sigma)[0] < -1e-9 * np.abs(sigma).max():
        raise ValueError("covariance must be positive semidefinite: no variance is negative")
    return sigma


def _positive_definite(name: str, values: ArrayLike) -> Float[np.ndarray, "d d"]:
    """Return a covariance matrix that can be inverted."""
    sigma = _symmetric(name, values)
    if np.linalg.eigvalsh(sigma)[0] <= 0:
        raise ValueError(f"{name} must be positive definite; it has an eigenvalue that is not")
    return sigma


@checked
def condition(mean: Vector, covariance: ArrayLike, values: Vector) -> Gaussian:
    r"""Condition a joint normal distribution on its last coordinates.

    .. math::
        E[W\mid Y=y] = \mu_W + \Sigma_{WY}\Sigma_{YY}^{-1}(y-\mu_Y), \qquad
        \operatorname{Cov}[W\mid Y=y] = \Sigma_{WW} - \Sigma_{WY}\Sigma_{YY}^{-1}\Sigma_{YW}

    Parameters
    ----------
    mean : array_like, shape (w + y,)
        The mean of :math:`(W, Y)`.
    covariance : array_like, shape (w + y, w + y)
        Their covariance.
    values : array_like, shape (y,)
        What was observed of :math:`Y`, the last coordinates.

    Returns
    -------
    Gaussian
        The distribution of :math:`W` given :math:`Y = y`.

    Raises
    ------
    ValueError
        When all coordinates or more are observed, or :math:`\Sigma_{YY}` is not positive definite.

    References
    ----------
    Bishop, *Pattern Recognition and Machine Learning* (2006), section 2.3.1.

    Examples
    --------
    >>> condition([1.0, 5.0], [[2.0, 1.0], [1.0, 4.0]], [7.0])
    Gaussian(mean=array([1.5]), covariance=array([[1.75]]))
    """
    mu, y = mean, values
    sigma = _joint_covariance(covariance, len(mu), len(y))
    hidden = len(mu) - len(y)
    cross = sigma[:hidden, hidden:]
    A = decorrelating_matrix(cross, sigma[hidden:, hidden:])
    return Gaussian(mu[:hidden] + A @ (y - mu[hidden:]), sigma[:hidden, :hidden] - A @ cross.T)


@checked
def ridge_joint(X: Design, penalty: Positive) -> Gaussian:
    r"""Write down the joint distribution of the weights and the response that ridge believes in.

    .. math::
        W \sim N(0, I), \quad Y = XW + \sqrt\lambda\,N: \qquad
        \operatorname{Cov}\binom{W}{Y} =
        \begin{pmatrix} I & X^\top \\ X & XX^\top + \lambda I \end{pmatrix}

    Parameters
    ----------
    X : array_like, shape (n, p)
        The features.
    penalty : float
        :math:`\lambda > 0`, the variance of the noise in units of the weights' prior variance.

    Returns
    -------
    Gaussian
        Of :math:`p + n` coordinates, the weights first.

    Raises
    ------
    ValueError
        When the penalty is not above 0.

    Examples
    --------
    >>> ridge_joint([[2.0]], penalty=3.0).covariance
    array([[1., 2.],
           [2., 7.]])
    """
    n, p = X.shape
    response = X @ X.T + penalty * np.eye(n)
    return Gaussian(np.zeros(p + n), np.block([[np.eye(p), X.T], [X, response]]))


@checked
def ridge_posterior(
    X: ArrayLike, y: ArrayLike, noise_variance: Positive, prior_variance: Positive = 1.0
) -> Gaussian:
    r"""Compute what the data leave to believe about the weights.

    .. math::
        w \sim N(0, \tau^2 I), \quad y \mid w \sim N(Xw, \sigma^2 I): \qquad
        w \mid y \sim N\bigl(\hat w_\lambda,\; \sigma^2 (X^\top X + \lambda I)^{-1}\bigr), \quad
        \lambda = \sigma^2/\tau^2

    Parameters
    ----------
    X : array_like, shape (n, p)
        The features.
    y : array_like, shape (n,)
        The response.
    noise_variance, prior_variance : float
        :math:`\sigma^2` and :math:`\tau^2`, above 0.

    Returns
    -------
    Gaussian
        Its mean, which is also its mode, is the ridge estimate with penalty
        :math:`\sigma^2/\tau^2`.

    Raises
    ------
    ValueError
        When a variance is not above 0 or the shapes do not match.

    References
    ----------
    Bishop, *Pattern Recognition and Machine Learning* (2006), section 3.3.1.

    Examples
    --------
    >>> ridge_posterior([[1.0], [2.0]], [3.0, 5.0], noise_variance=5.0)
    Gaussian(mean=array([1.3]), covariance=array([[0.5]]))
    """
    table, response = single_response(X, y)
    penalty = noise_variance / prior_variance
    precision = table.T @ table + penalty * np.eye(table.shape[1])
    return Gaussian(
        solve(precision, table.T @ response),
        noise_variance * solve(precision, np.eye(len(precision))),
    )


@checked
def ridge_log_posterior(
    X: ArrayLike, y: ArrayLike, weights: ArrayLike, noise_variance: Positive
) -> float:
    r"""Compute the log posterior density of weights under a standard normal prior.

    .. math:: \log f(w \mid y) = -\frac{\lVert w\rVert^2}2 - \frac{\lVert y-Xw\rVert^2}{2\lambda}
              + \text{constant}

    Parameters
    ----------
    X, y : array_like
        As :func:`ridge_posterior`.
    weights : array_like, shape (p,)
        Where to evaluate it.
    noise_variance : float
        :math:`\lambda > 0`.

    Returns
    -------
    float
        The log density, less the constant that does not depend on the weights.

    Raises
    ------
    ValueError
        When the noise variance is not above 0 or the shapes do not match.

    References
    ----------
    Hastie, Tibshirani and Friedman (2009), section 3.4.1.

    Examples
    --------
    >>> ridge_log_posterior([[1.0], [2.0]], [3.0, 5.0], [2.0], noise_variance=0.5)
    -4.0
    """
    table, response = single_response(X, y)
    w = vector("weights", weights, table.shape[1])
    residual = response - table @ w
    noise = np.sqrt(noise_variance)
    return -sum_of_squares("the log density", w, residual / noise) / 2
