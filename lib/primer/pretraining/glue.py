r"""GLUE: nine tasks, and the measures that sum a system up."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from primer.inputs import Vector, checked, vector


class Task(NamedTuple):
    """A task of GLUE.

    Attributes
    ----------
    name, asks, metric : str
        What it is called, what it asks, and which measure BERT's table reports.
    train, test : int
        How many examples there are.
    """

    name: str
    asks: str
    train: int
    test: int
    metric: str


GLUE = (
    Task("CoLA", "is this sentence grammatical?", 8_551, 1_063, "Matthews"),
    Task("SST-2", "is this review positive?", 67_349, 1_821, "accuracy"),
    Task("MRPC", "do these say the same?", 3_668, 1_725, "F1"),
    Task("STS-B", "how alike are these, 0 to 5?", 5_749, 1_379, "Spearman"),
    Task("QQP", "are these the same question?", 363_846, 390_965, "F1"),
    Task("MNLI", "does it follow, contradict, neither?", 392_702, 9_796, "accuracy"),
    Task("QNLI", "is the answer in here?", 104_743, 5_463, "accuracy"),
    Task("RTE", "does it follow?", 2_490, 3_000, "accuracy"),
    Task("WNLI", "whom does the pronoun mean?", 635, 146, "accuracy"),
)
"""Sizes of the published data; MNLI's test set is the matched one."""


@checked
def matthews(truth: Vector, guess: Vector) -> float:
    r"""Correlate two rows of yes and no.

    .. math::
        \frac{TP\cdot TN - FP\cdot FN}{\sqrt{(TP+FP)(TP+FN)(TN+FP)(TN+FN)}}

    It is 0 for whoever always says the same, which accuracy may praise.

    Parameters
    ----------
    truth, guess : array_like of 0 and 1, shape (n,)
        Right answers and given ones.

    Returns
    -------
    float
        From −1 to 1; 0 when a row is constant.

    Raises
    ------
    ValueError
        When the rows differ in length or hold anything but 0 and 1.

    References
    ----------
    Matthews (1975).

    Examples
    --------
    >>> matthews([1, 1, 1, 0], [1, 1, 1, 1])  # three of four right, and no idea
    0.0
    """
    tp, fp, fn, tn = _table(truth, guess)
    bottom = float((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn))
    return (tp * tn - fp * fn) / bottom**0.5 if bottom else 0.0


@checked
def f1(truth: Vector, guess: Vector) -> float:
    r"""Compute the harmonic mean of precision and recall of the class 1.

    .. math:: \frac{2TP}{2TP + FP + FN}

    Parameters
    ----------
    truth, guess : array_like of 0 and 1, shape (n,)
        Right answers and given ones.

    Returns
    -------
    float
        From 0 to 1; 0 when nobody says 1.

    Raises
    ------
    ValueError
        As :func:`matthews`.

    References
    ----------
    van Rijsbergen (1979), *Information Retrieval*, chapter 7.

    Examples
    --------
    >>> f1([1, 0, 0, 0], [1, 1, 0, 0]).__round__(4)
    0.6667
    """
    tp, fp, fn, _ = _table(truth, guess)
    return 2 * tp / (2 * tp + fp + fn) if tp else 0.0


@checked
def spearman(first: Vector, second: ArrayLike) -> float:
    r"""Correlate two rows of numbers by their ranks; equal numbers share the mean of theirs.

    Parameters
    ----------
    first, second : array_like, shape (n,)
        Numbers, not all equal.

    Returns
    -------
    float
        From −1 to 1.

    Raises
    ------
    ValueError
        When the rows differ in length or one is constant.

    References
    ----------
    Spearman (1904).

    Examples
    --------
    >>> spearman([1, 2, 3, 4], [1, 10, 100, 1000]).__round__(12)  # only the order counts
    1.0
    """
    two = vector("second", second, len(first))
    ranks = np.array([_ranks(first), _ranks(two)])
    ranks -= ranks.mean(axis=1, keepdims=True)
    lengths = np.linalg.norm(ranks, axis=1)
    if not lengths.all():
        raise ValueError("a row of equal numbers has no order to compare")
    return float(np.clip(ranks[0] @ ranks[1] / lengths.prod(), -1, 1))


def _ranks(values: np.ndarray) -> np.ndarray:
    """Rank numbers from 1; equal ones share the mean."""
    _, place, times = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(times)
    return (last - (times - 1) / 2)[place]


def _table(truth: ArrayLike, guess: ArrayLike) -> tuple[int, int, int, int]:
    """Count true positives, false positives, false negatives and true negatives."""
    right = vector("truth", truth)
    given = vector("guess", guess, len(right))
    if not np.isin([right, given], (0, 1)).all():
        raise ValueError("answers must be 0 or 1; turn scores into answers first")
    yes, said = right == 1, given == 1
    return (
        int((yes & said).sum()),
        int((~yes & said).sum()),
        int((yes & ~said).sum()),
        int((~yes & ~said).sum()),
    )
