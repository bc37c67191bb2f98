r"""Who judges? Duels between models, and how far two judges agree beyond chance."""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from primer.inputs import checked, matrix
from primer.inputs.labels import labels


def duels(costs: ArrayLike) -> Float[np.ndarray, "models models"]:
    r"""Count on how many passages each model beats each other one.

    :func:`primer.alignment.fit_scores` makes strengths of the table.

    Parameters
    ----------
    costs : array_like of shape (models, passages)
        What each passage costs each model; the smaller wins.

    Returns
    -------
    array of shape (models, models)
        Entry (i, j): on how many passages i costs less than j; where both cost the same, each has
        half a win.

    Raises
    ------
    ValueError
        When there are fewer than two models, or a cost is not finite.

    Examples
    --------
    >>> duels([[1.0, 2.0, 5.0], [2.0, 2.0, 3.0]])
    array([[0. , 1.5],
           [1.5, 0. ]])
    """
    table = matrix("costs", costs)
    if len(table) < 2:
        raise ValueError(f"a duel needs two models, got {len(table)}")
    less = (table[:, None] < table).sum(axis=2) + (table[:, None] == table).sum(axis=2) / 2
    np.fill_diagonal(less, 0)
    return np.asarray(less, dtype=float)


class Agreement(NamedTuple):
    """How far two judges agree.

    Attributes
    ----------
    observed : float
        The share of cases in which they say the same.
    by_chance : float
        That share if each kept to its own habits and did not look.
    """

    observed: float
    by_chance: float

    @property
    def kappa(self) -> float:
        r"""Cohen's :math:`\kappa = (p_o - p_e)/(1 - p_e)`: 0 is chance, 1 agrees always.

        Raises
        ------
        ValueError
            When both always give one and the same verdict: then there is no chance to exceed.

        Examples
        --------
        >>> round(Agreement(0.91, 0.82).kappa, 6)
        0.5
        """
        if self.by_chance == 1:
            raise ValueError("both judges always give one verdict: kappa is 0 divided by 0")
        return (self.observed - self.by_chance) / (1 - self.by_chance)


@checked
def agreement(first: Sequence[Any] | np.ndarray, second: Sequence[Any] | np.ndarray) -> Agreement:
    r"""Compare the verdicts of two judges on the same cases.

    .. math:: p_o = \frac1n\sum_i \mathbb 1[a_i=b_i], \qquad
              p_e = \sum_v \hat P(a=v)\,\hat P(b=v)

    Parameters
    ----------
    first, second : sequences of n verdicts
        Whole numbers, truth values or texts.

    Returns
    -------
    Agreement
        Observed and expected.

    Raises
    ------
    ValueError
        When there is no case, or not one verdict of each judge for every case.

    References
    ----------
    Cohen (1960).

    Examples
    --------
    >>> verdicts = agreement([1, 1, 1, 0], [1, 1, 0, 1])
    >>> verdicts.observed, verdicts.by_chance
    (0.5, 0.625)
    """
    a, b = labels("first", first), labels("second", second)
    if len(a) != len(b) or not a:
        raise ValueError(
            f"both judges must judge the same cases, one or more, got {len(a)} and {len(b)}"
        )
    if {str, bytes} & {*map(type, a)} != {str, bytes} & {*map(type, b)}:
        raise ValueError("verdicts must be all numbers or all texts, of the same kind for both")
    said, also = Counter(a), Counter(b)
    by_chance = sum((said[v] / len(a)) * (also[v] / len(a)) for v in sorted({*a, *b}))
    return Agreement(sum(map(operator.eq, a, b)) / len(a), by_chance)
