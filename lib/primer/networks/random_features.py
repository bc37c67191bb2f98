r"""Random features: fewer parameters than data, more, and the peak of the error between.

A layer of random weights is drawn and kept; only the last, linear layer is fitted, by
:mod:`primer.networks.minimum_norm`.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Annotated, NamedTuple

import numpy as np
from jaxtyping import Float, Int
from numpy.polynomial import legendre

from primer.inputs import (
    Dim,
    Matrix,
    NotNegative,
    StepsOrNone,
    Vector,
    at_least,
    checked,
    not_negative,
)
from primer.networks.minimum_norm import CUT, _inverses


@checked
def relu_features(X: Matrix, width: Dim, rng: np.random.Generator) -> Float[np.ndarray, "n width"]:
    r"""Compute a layer of random ReLU units that is never trained.

    .. math:: \Phi = \frac{1}{\sqrt p}\max(0, XW), \qquad W_{ij}\sim N(0,1)

    Parameters
    ----------
    X : array_like, shape (n, d)
        Examples as rows; give training and test rows together, so that both see the same layer.
    width : int
        :math:`p\ge 1`.
    rng : numpy.random.Generator
        Where the weights come from.

    Returns
    -------
    float array, shape (n, width)
        Divided by :math:`\sqrt p`, so that one penalty means the same at every width.

    Raises
    ------
    ValueError
        When the width is below 1.

    References
    ----------
    Rahimi and Recht (2007).

    Examples
    --------
    >>> relu_features([[0.0, 0.0]], 3, np.random.default_rng(0))
    array([[0., 0., 0.]])
    """
    p = width
    return np.maximum(X @ rng.normal(size=(X.shape[1], p)), 0) / np.sqrt(p)


@checked
def legendre_features(x: Vector, degree: StepsOrNone) -> Float[np.ndarray, "n {degree}+1"]:
    r"""Evaluate the Legendre polynomials, orthogonal on :math:`[-1,1]`, up to a degree.

    .. math:: (k+1)P_{k+1}(x) = (2k+1)\,x\,P_k(x) - k\,P_{k-1}(x)

    Parameters
    ----------
    x : array_like, shape (n,)
        Points between −1 and 1.
    degree : int
        0 or more.

    Returns
    -------
    float array, shape (n, degree + 1)
        A column for each polynomial.

    Raises
    ------
    ValueError
        When a point lies outside, where the polynomials explode, or the degree is negative.

    References
    ----------
    Abramowitz and Stegun (1964), chapter 22.

    Examples
    --------
    >>> legendre_features([0.5], 2)
    array([[ 1.   ,  0.5  , -0.125]])
    """
    if abs(x).max() > 1:
        raise ValueError(f"x must lie between -1 and 1, got {x[abs(x).argmax()]:g}")
    return legendre.legvander(x, degree)


@checked
def cosine_features(x: Vector, degree: StepsOrNone) -> Float[np.ndarray, "n {degree}+1"]:
    r"""Evaluate cosines of rising frequency on :math:`[-1,1]`.

    .. math:: \cos\bigl(k\pi(x+1)/2\bigr), \qquad k = 0, \dots, \text{degree}

    Parameters
    ----------
    x : array_like, shape (n,)
        Points between −1 and 1.
    degree : int
        0 or more: half waves of the last one.

    Returns
    -------
    float array, shape (n, degree + 1)
        A column for each cosine.

    Raises
    ------
    ValueError
        When a point lies outside or the degree is negative.

    Examples
    --------
    >>> cosine_features([-1.0, 1.0], 1)
    array([[ 1.,  1.],
           [ 1., -1.]])
    """
    if abs(x).max() > 1:
        raise ValueError(f"x must lie between -1 and 1, got {x[abs(x).argmax()]:g}")
    k = np.arange(degree + 1)
    return np.cos(np.pi / 2 * (x[:, None] + 1) * k)


class FewDigits(NamedTuple):
    """A few digits to learn from and all others to be judged by; pixels are centered."""

    train_x: Float[np.ndarray, "train 64"]
    train_y: Int[np.ndarray, " train"]
    test_x: Float[np.ndarray, "test 64"]
    test_y: Int[np.ndarray, " test"]


@checked
def few_digits(
    n_train: Annotated[int, at_least(2)], rng: np.random.Generator, wrong: NotNegative = 0.0
) -> FewDigits:
    """Split scikit-learn's 1797 digits, and give some of the training labels another class.

    Parameters
    ----------
    n_train : int
        How many to learn from, 2 to 1796.
    rng : numpy.random.Generator
        Which ones, and which labels are wrong.
    wrong : float
        The part of the training labels that is replaced, at least 0 and at most 1.

    Returns
    -------
    FewDigits
        Pixels minus the mean of the training digits, over their root mean square length.

    Raises
    ------
    ValueError
        When nothing would be left to learn from or to test, or the part is no part.

    Examples
    --------
    >>> digits = few_digits(300, np.random.default_rng(0))
    >>> digits.test_x.shape, round(float((digits.train_x**2).sum(1).mean()), 6)
    ((1497, 64), 1.0)
    """
    from sklearn.datasets import load_digits  # here, for it takes half a second

    images, classes = load_digits(return_X_y=True)
    n = n_train
    if n >= len(images):
        raise ValueError(f"n_train must leave digits to test: at most {len(images) - 1}, got {n}")
    if not 0 <= wrong <= 1:
        raise ValueError(f"wrong must be a part of all labels, at most 1, got {wrong}")
    order = rng.permutation(len(images))
    train, test = order[:n], order[n:]
    center = images[train].mean(axis=0)
    X = images - center
    X = X / np.sqrt((X[train] ** 2).sum(axis=1).mean())
    y = classes[train].copy()
    replaced = rng.choice(n, size=round(wrong * n), replace=False)
    y[replaced] = (y[replaced] + rng.integers(1, 10, size=len(replaced))) % 10
    return FewDigits(X[train], y, X[test], classes[test])


class Width(NamedTuple):
    """How a fit with so many random features went.

    Attributes
    ----------
    width : int
        The number of features.
    penalty : float
        The ridge penalty.
    train_error, test_error : float
        The part of the digits that is misread.
    test_square : float
        The mean squared error of the ten outputs, summed over the classes.
    smallest : float
        The smallest singular value of the training features.
    labeling : int
        Which labels were fitted.
    """

    width: int
    penalty: float
    train_error: float
    test_error: float
    test_square: float
    smallest: float
    labeling: int


@checked
def double_descent(
    digits: FewDigits,
    widths: Sequence[int],
    rng: np.random.Generator,
    penalties: Sequence[float] = (0.0,),
    labelings: Sequence[Int[np.ndarray, " train"]] | None = None,
) -> Iterator[Width]:
    r"""Fit digits with more and more random features.

    The targets are one-hot rows minus their mean 0.1; a digit is read as its largest output.

    Parameters
    ----------
    digits : FewDigits
        See :func:`few_digits`.
    widths : sequence of int
        The numbers of features.
    rng : numpy.random.Generator
        Where the features come from, anew for each width.
    penalties : sequence of float
        Ridge penalties; each is tried with the same features.
    labelings : sequence of int array of shape (train,), optional
        Classes to be learned instead of ``digits.train_y``, several for the same pixels; each is
        tried with the same features.

    Yields
    ------
    Width
        One for each width, labeling and penalty.

    Raises
    ------
    ValueError
        When a width is below 1, a penalty negative, a labeling has another length or a class is
        none of the ten.

    References
    ----------
    Belkin et al. (2019).

    Examples
    --------
    >>> few = few_digits(50, np.random.default_rng(0))
    >>> [w.train_error for w in double_descent(few, [200], np.random.default_rng(1))]
    [0.0]
    """
    n = len(digits.train_x)
    both = np.vstack([digits.train_x, digits.test_x])
    labelings = [digits.train_y] if labelings is None else labelings
    if any(len(labels) != n for labels in labelings):
        raise ValueError(f"each labeling needs a class for each of the {n} training digits")
    for classes in (*labelings, digits.test_y):
        if classes.min() < 0 or classes.max() > 9:
            raise ValueError(f"a class must be 0 to 9, got {classes.min()} to {classes.max()}")
    truth = np.eye(10)[digits.test_y] - 0.1
    for width in widths:
        features = relu_features(both, width, rng)
        U, sigma, Vt = np.linalg.svd(features[:n], full_matrices=False)
        turned = features @ Vt.T
        for (number, labels), penalty in itertools.product(enumerate(labelings), penalties):
            lam = not_negative("penalties", penalty)
            kept = sigma > CUT * sigma[0]
            factor = _inverses(sigma, lam, kept)
            outputs = turned @ (factor[:, None] * (U.T @ (np.eye(10)[labels] - 0.1)))
            read = outputs.argmax(axis=1)
            yield Width(
                width,
                lam,
                float((read[:n] != labels).mean()),
                float((read[n:] != digits.test_y).mean()),
                float(((outputs[n:] - truth) ** 2).sum(axis=1).mean()),
                float(sigma[-1]),
                number,
            )
