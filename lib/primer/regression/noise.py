r"""Ridge as noise: what training on shaken or partly erased features minimizes on average.

A feature matrix is disturbed anew at each look; averaged over the disturbance, the squared error
is the old one plus a penalty.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from primer.inputs import NotNegative, Probability, checked, vector
from primer.inputs.magnitude import lengths, sum_of_squares
from primer.regression.inputs import Design, single_response
from primer.regression.shrinkage import tikhonov


@checked
def expected_loss_with_noise(
    X: ArrayLike, y: ArrayLike, weights: ArrayLike, deviation: NotNegative
) -> float:
    r"""Compute the expected squared error when normal noise is added to every feature.

    .. math::
        \tilde X = X + N, \; N_{ij} \sim N(0,\eta^2): \qquad
        E\,\lVert\tilde Xw - y\rVert^2 = \lVert Xw - y\rVert^2 + n\eta^2\lVert w\rVert^2

    Parameters
    ----------
    X : array_like, shape (n, p)
        The features.
    y : array_like, shape (n,)
        The response.
    weights : array_like, shape (p,)
        :math:`w`.
    deviation : float
        The noise's standard deviation :math:`\eta \ge 0`, in the unit of the features.

    Returns
    -------
    float
        A sum over the observations.

    Raises
    ------
    ValueError
        When the deviation is negative or the shapes do not match.

    References
    ----------
    Bishop (1995).

    Examples
    --------
    >>> expected_loss_with_noise([[1.0], [2.0]], [3.0, 5.0], [2.0], deviation=0.5)
    4.0
    """
    table, response = single_response(X, y)
    w = vector("weights", weights, table.shape[1])
    residual = table @ w - response
    shaken = deviation * np.sqrt(len(response)) * w
    return sum_of_squares("the expected loss", residual, shaken)


@checked
def dropout_matrix(X: Design, keep: Probability) -> Float[np.ndarray, "p p"]:
    r"""Compute the penalty matrix of dropout.

    .. math:: \Gamma = \sqrt{p(1-p)}\,\operatorname{diag}\bigl(\lVert x_{\cdot1}\rVert, \dots\bigr)

    Parameters
    ----------
    X : array_like, shape (n, d)
        The features.
    keep : float
        The probability :math:`p` that an entry is kept, between 0 and 1.

    Returns
    -------
    float array, shape (d, d)
        Diagonal; :math:`\lVert x_{\cdot j}\rVert` is the length of column :math:`j`.

    Raises
    ------
    ValueError
        When the probability does not lie strictly between 0 and 1.

    References
    ----------
    Srivastava et al. (2014), section 9.1.

    Examples
    --------
    >>> dropout_matrix([[3.0, 0.0], [4.0, 2.0]], keep=0.5)
    array([[2.5, 0. ],
           [0. , 1. ]])
    """
    p = keep
    return np.sqrt(p * (1 - p)) * np.diag(lengths(X))


@checked
def expected_loss_with_dropout(
    X: ArrayLike, y: ArrayLike, weights: ArrayLike, keep: Probability
) -> float:
    r"""Compute the expected squared error when each entry of ``X`` is erased at random.

    .. math::
        R_{ij} \sim \operatorname{Bernoulli}(p): \qquad
        E\,\lVert y - (R\circ X)w\rVert^2
        = \lVert y - pXw\rVert^2 + p(1-p)\sum_j \lVert x_{\cdot j}\rVert^2 w_j^2

    Parameters
    ----------
    X, y, weights : array_like
        As :func:`expected_loss_with_noise`.
    keep : float
        The probability :math:`p` that an entry is kept, between 0 and 1.

    Returns
    -------
    float
        A sum over the observations.

    Raises
    ------
    ValueError
        When the probability does not lie strictly between 0 and 1, or the shapes do not match.

    References
    ----------
    Srivastava et al. (2014), section 9.1.

    Examples
    --------
    >>> expected_loss_with_dropout([[1.0], [2.0]], [3.0, 5.0], [2.0], keep=0.5)
    18.0
    """
    table, response = single_response(X, y)
    w = vector("weights", weights, table.shape[1])
    residual = response - keep * table @ w
    penalty = dropout_matrix(table, keep) @ w
    return sum_of_squares("the expected loss", residual, penalty)


@checked
def dropout_regression(X: ArrayLike, y: ArrayLike, keep: Probability) -> Float[np.ndarray, " p"]:
    r"""Compute the weights that dropout training would reach after infinitely many masks.

    .. math:: \arg\min_w \lVert y - pXw\rVert^2 + \lVert\Gamma w\rVert^2

    Parameters
    ----------
    X, y : array_like
        As :func:`expected_loss_with_noise`.
    keep : float
        The probability :math:`p` that an entry is kept, between 0 and 1.

    Returns
    -------
    float array, shape (p,)
        Weights for masked features; times ``keep``, they are weights for whole ones.

    Raises
    ------
    ValueError
        When a column is zero everywhere, so that its weight does not matter.

    References
    ----------
    Srivastava et al. (2014), section 9.1.

    Examples
    --------
    >>> dropout_regression([[1.0], [2.0]], [3.0, 5.0], keep=0.5).round(12)
    array([2.6])
    """
    table, response = single_response(X, y)
    return tikhonov(keep * table, response, dropout_matrix(table, keep))
