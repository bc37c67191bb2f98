"""Choosing and counting over many tries: votes, and curves of pass@k with their uncertainty."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float, Int
from numpy.typing import ArrayLike

from primer.evaluation import pass_at_k
from primer.inputs import Count, Probability, Steps, as_array, checked
from primer.inputs.given import is_tensor


@checked
def majority(groups: Iterable[Sequence[Hashable]]) -> list[Hashable]:
    """Return the most frequent answer of each group; of equally frequent ones the first drawn.

    Parameters
    ----------
    groups : iterable of sequences
        Final answers of each question.

    Returns
    -------
    list
        One answer for each question.

    Raises
    ------
    ValueError
        When a group is empty, or an answer is NaN.

    References
    ----------
    Wang et al. (2022), who call it self-consistency.

    Examples
    --------
    >>> majority([[3, 4, 4], [1, 2]])
    [4, 1]
    """
    found: list[Hashable] = []
    for place, answers in enumerate(groups):
        if len(answers) == 0:
            raise ValueError(f"group {place} has no answer to vote on")
        votes = [_without_torch(one) for one in answers]
        if any(is_tensor(one) or one != one for one in votes):
            raise ValueError(f"group {place} holds NaN or a tensor, which equals no other answer")
        found.append(Counter(votes).most_common(1)[0][0])
    return found


def _without_torch(answer: Any) -> Hashable:
    """Return a number in place of a tensor, which is equal to itself alone."""
    return answer.item() if is_tensor(answer) and answer.ndim == 0 else answer


class PassCurve(NamedTuple):
    """pass@k for several k.

    Attributes
    ----------
    mean, low, high : array of shape (ks,)
        The mean over questions, and an interval for questions like these.
    """

    mean: Float[np.ndarray, " ks"]
    low: Float[np.ndarray, " ks"]
    high: Float[np.ndarray, " ks"]


@checked
def pass_curve(
    right: ArrayLike,
    answers: Count,
    ks: Sequence[int],
    rng: np.random.Generator,
    level: Probability = 0.95,
    resamples: Steps = 1000,
) -> PassCurve:
    r"""Estimate the mean of :math:`1-(1-p)^k` over questions, with a bootstrap over questions.

    Parameters
    ----------
    right : array_like of int of shape (questions,)
        How many answers to each question are right.
    answers : int
        How many answers each question has.
    ks : sequence of int
        None above ``answers``.
    rng : numpy.random.Generator
        Draws questions with replacement.
    level, resamples : float and int
        Of the percentile interval.

    Returns
    -------
    PassCurve
        A number for each k.

    Raises
    ------
    ValueError
        When there is no question, or as :func:`primer.evaluation.pass_at_k`.

    References
    ----------
    Chen et al. (2021); Efron (1979).

    Examples
    --------
    >>> curve = pass_curve([0, 1, 5], 5, [1, 2], np.random.default_rng(0))
    >>> curve.mean.round(4)
    array([0.4   , 0.4667])
    """
    if as_array("right", right).size == 0:
        raise ValueError("there is no question: give how many answers to each are right")
    if not len(ks):
        raise ValueError("ks is empty: give one number of tries or more")
    each = np.stack([pass_at_k(right, answers, k) for k in ks])  # (ks, questions)
    rows: Int[np.ndarray, "resamples questions"] = rng.integers(
        each.shape[1], size=(resamples, each.shape[1])
    )
    means = each[:, rows].mean(axis=-1)  # (ks, resamples)
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2], axis=1)
    return PassCurve(each.mean(axis=1), low, high)
