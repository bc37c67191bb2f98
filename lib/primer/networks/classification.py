r"""Logistic and softmax regression: likelihood, gradient, curvature, fit and calibration.

The loss is a sum over the examples, in nats, plus half the penalty times the squared weights; the
biases are free.  It is convex, and Newton's method finds its only minimum.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int
from numpy.typing import ArrayLike
from scipy.special import expit, logsumexp, softmax

from primer.inputs import (
    Dim,
    Matrix,
    NotNegative,
    Positive,
    Vector,
    as_array,
    checked,
    matrix,
    vector,
)

MAX_STEPS = 1000
"""Of Newton's method: where a plane separates the classes, each step adds about 1 to the scores."""
Loss = Callable[[np.ndarray], float]
Slope = Callable[[np.ndarray], np.ndarray]


class LinearClassifier(NamedTuple):
    """A weight for each feature (and class), and a bias (for each class)."""

    weights: Float[np.ndarray, "features *classes"]
    bias: Float[np.ndarray, "*classes"]

    @checked
    def scores(self, X: Matrix) -> Float[np.ndarray, "n *classes"]:
        """Compute the logits, the scores before they become probabilities."""
        if X.shape[1] != len(self.weights):
            raise ValueError(f"X must have {len(self.weights)} columns, got {X.shape[1]}")
        return X @ self.weights + self.bias


@checked
def logistic_loss(
    weights: ArrayLike, X: ArrayLike, labels: ArrayLike, penalty: NotNegative = 0.0
) -> float:
    r"""Compute the negative log-likelihood of logistic regression.

    .. math::
        \sum_i \bigl[\log(1+e^{s_i}) - y_is_i\bigr] + \tfrac\lambda2\lVert w\rVert^2,
        \qquad s = Xw

    Parameters
    ----------
    weights : array_like, shape (p,)
        :math:`w`; append a column of ones to ``X`` for a bias (it is then penalized as well).
    X : array_like, shape (n, p)
        Examples as rows.
    labels : array_like, shape (n,)
        :math:`y_i`, 0 or 1.
    penalty : float
        :math:`\lambda\ge 0`.

    Returns
    -------
    float
        In nats, summed over the examples.

    Raises
    ------
    ValueError
        When shapes do not fit, a label is not 0 or 1, or the penalty is negative.

    References
    ----------
    Cox (1958).

    Examples
    --------
    >>> round(logistic_loss([0.0], [[1.0], [2.0]], [0, 1]), 6)  # two fair coins
    1.386294
    """
    table, y = _binary(X, labels)
    w = vector("weights", weights, table.shape[1])
    away = (1 - 2 * y) * (table @ w)  # where it is far below 0, 1 + e^s would lose the loss
    return float(np.logaddexp(0, away).sum() + penalty / 2 * w @ w)


@checked
def logistic_gradient(
    weights: ArrayLike, X: ArrayLike, labels: ArrayLike, penalty: NotNegative = 0.0
) -> Float[np.ndarray, " p"]:
    r"""Compute the gradient of :func:`logistic_loss`: features weighted by the errors.

    .. math:: X^\top(\sigma(s)-y)+\lambda w

    Parameters, errors as in :func:`logistic_loss`.

    References
    ----------
    Hastie, Tibshirani and Friedman (2009), section 4.4.1.

    Examples
    --------
    >>> logistic_gradient([0.0], [[1.0], [2.0]], [0, 1])
    array([-0.5])
    """
    table, y = _binary(X, labels)
    w = vector("weights", weights, table.shape[1])
    sign = 1 - 2 * y
    return table.T @ (sign * expit(sign * (table @ w))) + penalty * w  # σ(s) − y, near 1 as well


@checked
def logistic_hessian(
    weights: ArrayLike, X: Matrix, penalty: NotNegative = 0.0
) -> Float[np.ndarray, "p p"]:
    r"""Compute the curvature of :func:`logistic_loss`; no eigenvalue is negative.

    .. math:: X^\top\operatorname{diag}\bigl(\sigma(s)(1-\sigma(s))\bigr)X+\lambda I

    Parameters, errors as in :func:`logistic_loss`; the labels play no part.

    References
    ----------
    Hastie, Tibshirani and Friedman (2009), section 4.4.1.

    Examples
    --------
    >>> logistic_hessian([0.0], [[1.0], [2.0]])
    array([[1.25]])
    """
    s = X @ vector("weights", weights, X.shape[1])
    curved = expit(s) * expit(-s)
    penalty_part = penalty * np.eye(X.shape[1])
    return (X.T * curved) @ X + penalty_part


@checked
def logistic_regression(X: ArrayLike, labels: ArrayLike, penalty: Positive) -> LinearClassifier:
    r"""Fit logistic regression by Newton's method.

    Parameters
    ----------
    X : array_like, shape (n, p)
        Examples as rows.
    labels : array_like, shape (n,)
        0 or 1, both of them.
    penalty : float
        :math:`\lambda>0`.  Without it there is no minimum when a plane separates the classes.

    Returns
    -------
    LinearClassifier
        ``weights`` of shape (p,) and one free ``bias``; :math:`\sigma` of its scores is the
        probability of label 1.

    Raises
    ------
    ValueError
        When shapes do not fit, only one label occurs, or the penalty is not above 0.

    Examples
    --------
    >>> fit = logistic_regression([[-2.0], [-1.0], [1.0], [2.0]], [0, 0, 1, 1], penalty=1.0)
    >>> fit.weights.round(3), round(float(abs(fit.bias)), 6)
    (array([1.007]), 0.0)
    """
    table, y = _binary(X, labels)
    lam = penalty
    if y.min() == y.max():
        raise ValueError(f"only the label {y[0]:g} occurs; two are needed to tell them apart")
    table, middle = _centered(table)
    wide = np.column_stack([table, np.ones(len(table))])
    free = np.append(np.full(table.shape[1], lam), 0.0)  # the bias is not penalized
    w = _newton(
        lambda w: logistic_loss(w, wide, y) + free @ w**2 / 2,
        lambda w: logistic_gradient(w, wide, y) + free * w,
        lambda w: logistic_hessian(w, wide) + np.diag(free),
        np.zeros(wide.shape[1]),
    )
    return LinearClassifier(w[:-1], np.asarray(w[-1] - middle @ w[:-1]))


@checked
def softmax_regression(X: ArrayLike, classes: ArrayLike, penalty: Positive) -> LinearClassifier:
    r"""Fit softmax regression by Newton's method.

    .. math::
        \min_{W,b}\; -\sum_i \log\operatorname{softmax}(x_iW+b)_{y_i}
        + \tfrac\lambda2\lVert W\rVert^2

    Parameters
    ----------
    X : array_like, shape (n, p)
        Examples as rows.
    classes : array_like of int, shape (n,)
        From 0 to :math:`k-1`, each at least once.
    penalty : float
        :math:`\lambda>0`: without it all weights of a feature could be shifted alike.

    Returns
    -------
    LinearClassifier
        ``weights`` of shape (p, k) and ``bias`` of shape (k,), which add up to 0.

    Raises
    ------
    ValueError
        When shapes do not fit, a class is missing, or the penalty is not above 0.

    References
    ----------
    Hastie, Tibshirani and Friedman (2009), section 4.4.

    Examples
    --------
    >>> fit = softmax_regression([[-2.0], [-1.0], [1.0], [2.0]], [0, 0, 1, 1], penalty=1.0)
    >>> fit.weights.round(3)
    array([[-0.671,  0.671]])
    """
    table, y, k = _classes(X, classes)
    lam = penalty
    n, p = table.shape
    table, middle = _centered(table)
    wide = np.column_stack([table, np.ones(n)])
    truth = np.eye(k, dtype=bool)[y]
    free = np.repeat(np.append(np.full(p, lam), 0.0), k)
    # What all classes get alike no probability sees, so that the Hessian is flat there.
    alike = np.kron(np.eye(p + 1), np.ones((k, k)))

    def loss(w: np.ndarray) -> float:
        s = wide @ w.reshape(p + 1, k)
        above = np.where(truth, -np.inf, s - s[truth][:, None])  # the others over the right one
        return float(np.logaddexp(0, logsumexp(above, axis=1)).sum() + free @ w**2 / 2)

    def gradient(w: np.ndarray) -> np.ndarray:
        P = softmax(wide @ w.reshape(p + 1, k), axis=1)
        others = P * ~truth
        errors = np.where(truth, -others.sum(axis=1, keepdims=True), others)
        return (wide.T @ errors).ravel() + free * w

    def hessian(w: np.ndarray) -> np.ndarray:
        P = softmax(wide @ w.reshape(p + 1, k), axis=1)
        H = np.empty((p + 1, k, p + 1, k))
        for a in range(k):
            for b in range(a, k):
                curved = P[:, a] * (np.delete(P, a, axis=1).sum(axis=1) if a == b else -P[:, b])
                H[:, a, :, b] = H[:, b, :, a] = (wide.T * curved) @ wide
        flat = H.reshape(len(w), len(w))
        return flat + np.diag(free) + alike * flat.diagonal().max()

    W = _newton(loss, gradient, hessian, np.zeros((p + 1) * k)).reshape(p + 1, k)
    bias = W[-1] - middle @ W[:-1]
    return LinearClassifier(W[:-1], bias - bias.mean())


class Reliability(NamedTuple):
    """What a classifier said and what came true, in bins of its confidence.

    Attributes
    ----------
    confidence, accuracy : float array
        The mean of each bin that holds an example.
    counts : int array
        How many examples.
    error : float
        The expected calibration error: the mean distance of the two, weighted by the counts.
    """

    confidence: Float[np.ndarray, " bins"]
    accuracy: Float[np.ndarray, " bins"]
    counts: Int[np.ndarray, " bins"]
    error: float


@checked
def reliability(confidence: Vector, correct: Bool[np.ndarray, " n"], bins: Dim = 10) -> Reliability:
    r"""Compare how sure a classifier was with how often it was right.

    .. math:: \mathrm{ECE} = \sum_b \frac{n_b}{n}\,\bigl|\mathrm{acc}_b-\mathrm{conf}_b\bigr|

    Parameters
    ----------
    confidence : array_like, shape (n,)
        The probability of the class it chose, between 0 and 1.
    correct : bool array, shape (n,)
        Whether that class was right.
    bins : int
        How many bins of equal width.

    Returns
    -------
    Reliability
        Means and counts of the bins that are not empty, and the calibration error.

    Raises
    ------
    ValueError
        When lengths differ, a confidence is no probability, or there is no bin.

    References
    ----------
    Guo et al. (2017).

    Examples
    --------
    >>> reliability([0.9, 0.9, 0.9, 0.9], np.array([True, True, True, False])).error.__round__(6)
    0.15
    """
    p = confidence
    right = vector("correct", np.asarray(correct, dtype=float), len(p))
    if p.min() < 0 or p.max() > 1:
        raise ValueError(f"confidence must lie between 0 and 1, got {p.min():g} … {p.max():g}")
    place = np.minimum((p * bins).astype(int), bins - 1)
    counts = np.bincount(place, minlength=bins)
    used = counts > 0
    n = counts[used]
    means = [np.bincount(place, values, bins)[used] / n for values in (p, right)]
    gap = abs(means[0] - means[1])
    return Reliability(means[0], means[1], n, float(gap @ n / len(p)))


def _centered(
    table: Float[np.ndarray, "n p"],
) -> tuple[Float[np.ndarray, "n p"], Float[np.ndarray, " p"]]:
    """Take off what each column has in common: the free bias takes it up, no weight does."""
    middle = table.mean(axis=0)
    left = table - middle
    more = left.mean(axis=0)  # for a mean is rounded to the digits of a common offset
    return left - more, middle + more


def _newton(
    loss: Loss, gradient: Slope, hessian: Slope, start: np.ndarray
) -> Float[np.ndarray, " p"]:
    """Minimize a strictly convex function: Newton's steps, halved until they help enough."""
    w = start
    for _ in range(MAX_STEPS):
        g = gradient(w)
        step = np.linalg.solve(hessian(w), g)
        decrease = g @ step
        if decrease <= 1e-16 * loss(w):
            return w - step
        size, here = 1.0, loss(w)
        while loss(w - size * step) > here - 0.25 * size * decrease and size > 1e-10:
            size /= 2
        w = w - size * step
    raise ValueError(
        f"{MAX_STEPS} steps of Newton do not reach the minimum: make the penalty larger, or the "
        "numbers of X"
    )


def _binary(X: ArrayLike, labels: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """Return examples and their labels, 0 or 1."""
    table = matrix("X", X)
    y = vector("labels", labels, len(table))
    if not np.isin(y, (0, 1)).all():
        raise ValueError(f"labels must be 0 or 1, got {sorted(set(y.tolist()))[:4]}")
    return table, y


def _classes(X: ArrayLike, classes: ArrayLike) -> tuple[np.ndarray, np.ndarray, int]:
    """Return examples, their classes and how many classes there are."""
    table, y = matrix("X", X), as_array("classes", classes)
    if y.shape != (len(table),) or y.dtype.kind not in "iu":
        raise ValueError(
            f"classes must be {len(table)} whole numbers, one for each row of X, got shape "
            f"{y.shape} of type {y.dtype}"
        )
    found = np.unique(y)
    k = len(found)
    if k < 2 or found[0] != 0 or found[-1] != k - 1:
        raise ValueError(
            f"classes must be 0, 1, …, two or more of them, none left out, got {found.tolist()}"
        )
    return table, y, k
