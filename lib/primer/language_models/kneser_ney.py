"""Kneser–Ney smoothing: discounted counts, and for shorter contexts the variety before a word."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from primer.inputs import checked, not_negative
from primer.language_models.counting import (
    Codes,
    Counts,
    count_ngrams,
    distinct,
    lookup,
)
from primer.language_models.ngrams import NGramModel, Probabilities, Text, check_counts, check_keys


class Level(NamedTuple):
    """What a Kneser–Ney model knows of one order.

    Attributes
    ----------
    counts : Counts
        N-grams and their counts: true ones at the highest order, below it the number of different
        symbols that came before.
    contexts : int array
        The contexts in ascending order.
    totals : int array
        The sum of the counts after each context.
    kept_back : float array
        The share of the probability that the discounts take away, given to the order below.
    discounts : float array of shape (4,)
        What is taken from counts of 0, 1, 2 and of 3 or more.
    """

    counts: Counts
    contexts: Codes
    totals: Codes
    kept_back: Float[np.ndarray, " contexts"]
    discounts: Float[np.ndarray, "4"]


@checked
def kneser_ney_discounts(values: Codes) -> Float[np.ndarray, "4"]:
    r"""Estimate what to take from a count from how many n-grams have counts 1, 2, 3 and 4.

    .. math:: Y = \frac{n_1}{n_1 + 2n_2}, \qquad
              D_c = c - (c + 1)\,Y\,\frac{n_{c+1}}{n_c}, \quad c = 1, 2, 3

    Where one of :math:`n_1, \dots, n_4` is 0, or a discount is less than 0, as happens with few
    symbols or little text, ½, 1 and 1½ are taken.

    Parameters
    ----------
    values : int array
        The counts of the n-grams of one order.

    Returns
    -------
    array of shape (4,)
        0, :math:`D_1, D_2, D_{3+}`.

    References
    ----------
    Chen and Goodman (1999), modified Kneser–Ney smoothing.

    Examples
    --------
    >>> kneser_ney_discounts(np.repeat([1, 2, 3, 4], [40, 10, 6, 3])).round(3).tolist()
    [0.0, 0.667, 0.8, 1.667]
    """
    if len(values) == 0 or values.min() < 1:
        raise ValueError("values must be how often n-grams occur, whole numbers, 1 or more")
    n = np.bincount(np.minimum(values, 5), minlength=6)[1:5].astype(np.int64)  # products follow
    c = np.arange(1, 4)
    below = (n[0] + 2 * n[1]) * n[:3]
    above = c * below - (c + 1) * n[0] * n[1:]  # whole numbers: 0 is 0, not a little less
    if n.all() and (above >= 0).all():
        return np.concatenate([[0.0], above / below])
    return np.array([0.0, 0.5, 1.0, 1.5])


class KneserNey(NGramModel):
    r"""Interpolated modified Kneser–Ney smoothing.

    .. math:: P_n(w \mid h) = \frac{\max(c(hw) - D_{c(hw)}, 0)}{c(h)}
                              + \gamma(h)\,P_{n-1}(w \mid h'),
              \qquad \gamma(h) = \frac{\sum_w D_{c(hw)}}{c(h)}

    where :math:`h'` is the context :math:`h` without its first symbol, :math:`c` counts n-grams at
    the highest order, and below it the *different symbols* that came before them. The lowest order
    is interpolated with :math:`1/V`. After a context that never occurred, :math:`P_n = P_{n-1}`.

    Parameters
    ----------
    counts : Counts
        From :func:`~primer.language_models.counting.count_ngrams`.
    vocab_size, order : int
        With which they were counted.
    discount : float, optional
        One discount for all counts, at least 0 and less than 1; left out, each order has its own
        three from :func:`kneser_ney_discounts`.

    Raises
    ------
    ValueError
        When the discount is outside, or the order is below 1 or too large.

    References
    ----------
    Kneser and Ney (1995); Chen and Goodman (1999).

    Examples
    --------
    >>> model = KneserNey.fit([[1, 2, 1, 2]], vocab_size=3, order=2, discount=0.5)
    >>> model.distribution([1]).round(3).tolist()  # 1 2 occurs twice: 1.5 / 2 are kept
    [0.062, 0.125, 0.812]
    >>> model.distribution([1]).sum().round(15).tolist()
    1.0
    """

    @checked
    def __init__(
        self, counts: Counts, vocab_size: int, order: int, discount: float | None = None
    ) -> None:
        super().__init__(order, vocab_size)
        check_counts(counts, vocab_size**self.order)
        if discount is not None and not 0 <= not_negative("discount", discount) < 1:
            raise ValueError(f"discount must be at least 0 and less than 1, got {discount}")
        self.levels: list[Level] = []  # the highest order first
        for length in range(self.order, 0, -1):
            self.levels.append(_level(counts, vocab_size, discount))
            counts = distinct(counts.keys % vocab_size ** (length - 1))

    @classmethod
    def fit(
        cls,
        texts: Iterable[Text],
        vocab_size: int,
        order: int,
        discount: float | None = None,
    ) -> KneserNey:
        """Count texts, see :func:`~primer.language_models.counting.count_ngrams`."""
        return cls(count_ngrams(texts, vocab_size, order), vocab_size, order, discount)

    @property
    def numbers(self) -> int:
        """How many different n-grams of all orders are kept."""
        return sum(len(level.counts.keys) for level in self.levels)

    @checked
    def probabilities(self, keys: Codes) -> Probabilities:
        """Compute the probability of each n-gram's last symbol, from order 1 upwards.

        Many n-grams end in the same shorter one: of each order the different ones are looked up.
        """
        check_keys(keys, self.vocab_size**self.order)
        asked, places = keys, []
        for length in range(self.order, 0, -1):
            asked, place = np.unique(asked % self.vocab_size**length, return_inverse=True)
            places.append((asked, place))
        p = np.full(1, 1 / self.vocab_size)
        shorter = np.zeros(len(asked), np.int64)  # all 1-grams back off to one number
        for level, (grams, place) in zip(reversed(self.levels), reversed(places), strict=True):
            contexts = grams // self.vocab_size
            at = np.minimum(np.searchsorted(level.contexts, contexts), len(level.contexts) - 1)
            seen = level.contexts[at] == contexts
            values = lookup(level.counts, grams)
            kept = (values - level.discounts[np.minimum(values, 3)]) / level.totals[at]
            p = np.where(seen, kept + level.kept_back[at] * p[shorter], p[shorter])
            shorter = place
        return p[shorter]


def _level(counts: Counts, vocab_size: int, discount: float | None) -> Level:
    """Add up, for each context of one order, its counts and what the discounts take away."""
    if discount is None:
        discounts = kneser_ney_discounts(counts.values)
    else:
        discounts = np.array([0.0, discount, discount, discount])
    owners = counts.keys // vocab_size  # ascending, as the keys are
    first = np.flatnonzero(np.concatenate([[True], owners[1:] != owners[:-1]]))
    totals = np.add.reduceat(counts.values, first)
    taken = np.add.reduceat(discounts[np.minimum(counts.values, 3)], first)
    return Level(counts, owners[first], totals, taken / totals, discounts)
