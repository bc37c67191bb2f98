"""Language models made of counts: maximum likelihood, add-k and Kneser–Ney."""

from __future__ import annotations

import abc
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float, Int

from primer.inputs import Count, NotNegative, checked, not_negative
from primer.inputs import tokens as token_ids
from primer.language_models.counting import (
    BOUNDARY,
    Codes,
    Counts,
    checked_codes,
    checked_order,
    count_ngrams,
    distinct,
    lookup,
    ngram_keys,
)
from primer.language_models.losses import entropy

Text = Sequence[Any] | np.ndarray
Probabilities = Float[np.ndarray, " n"]


class NGramModel(abc.ABC):
    r"""A model that sees the last :math:`n - 1` symbols: what all models of counts share.

    .. math:: P(x_t \mid x_1, \dots, x_{t-1}) = P(x_t \mid x_{t-n+1}, \dots, x_{t-1})

    Every text begins after :math:`n - 1` boundaries and ends with one, which is predicted like any
    other symbol: so the probabilities of all finite texts sum to 1.

    Attributes
    ----------
    order : int
        :math:`n`.
    vocab_size : int
        :math:`V`, the symbols with the boundary 0.
    """

    def __init__(self, order: int, vocab_size: int) -> None:
        self.vocab_size = vocab_size
        self.order = checked_order(order, vocab_size)

    @abc.abstractmethod
    def probabilities(self, keys: Codes) -> Probabilities:
        """Compute the probability of the last symbol of each n-gram, given the others.

        Parameters
        ----------
        keys : int array of shape (n,)
            N-grams as numbers, see :func:`~primer.language_models.counting.ngram_keys`.

        Returns
        -------
        array of shape (n,)
            Probabilities.
        """

    @property
    @abc.abstractmethod
    def numbers(self) -> int:
        """How many numbers the model keeps: its different n-grams."""

    @checked(infinite="return")
    def log2_probabilities(self, text: Text) -> Probabilities:
        r"""Compute :math:`\log_2 P(x_t\mid\dots)` of every symbol of a text and of its end.

        Parameters
        ----------
        text : sequence of int
            Symbols below ``vocab_size``.

        Returns
        -------
        array of shape (len(text) + 1,)
            Minus their sum is what the text costs in bits; −∞ where a model excludes a symbol.

        Raises
        ------
        ValueError
            When a symbol does not exist.
        """
        keys, inverse = np.unique(
            ngram_keys(text, self.vocab_size, self.order), return_inverse=True
        )  # what occurs often is looked up once
        with np.errstate(divide="ignore"):
            return np.log2(self.probabilities(keys))[inverse]

    @checked
    def distributions(self, contexts: Int[np.ndarray, " n"]) -> Float[np.ndarray, "n vocab"]:
        """Compute the probabilities of all symbols after each of several contexts.

        Parameters
        ----------
        contexts : int array of shape (n,)
            Runs of ``order − 1`` symbols as numbers.

        Returns
        -------
        array of shape (n, vocab_size)
            Rows that sum to 1.
        """
        known = token_ids("contexts", contexts, self.vocab_size ** (self.order - 1))
        keys = known[:, None] * self.vocab_size + np.arange(self.vocab_size)
        return self.probabilities(keys.ravel()).reshape(keys.shape)

    @checked
    def distribution(self, context: Text) -> Float[np.ndarray, " vocab"]:
        """Compute the probabilities of all symbols after a beginning of a text.

        Parameters
        ----------
        context : sequence of int
            What was read so far; only the last ``order − 1`` symbols count.

        Returns
        -------
        array of shape (vocab_size,)
            Numbers that sum to 1.

        Raises
        ------
        ValueError
            When a symbol does not exist.
        """
        codes = checked_codes(context, self.vocab_size)
        codes = codes[max(0, len(codes) - self.order + 1) :]
        key = 0
        for code in codes.tolist():
            key = key * self.vocab_size + code
        return self.distributions(np.array([key]))[0]

    @checked
    def sample(self, length: Count, rng: np.random.Generator, prompt: Text = ()) -> list[int]:
        """Write a text, symbol by symbol, until its end or until it is long enough.

        Parameters
        ----------
        length : int
            How many symbols to write at most.
        rng : numpy Generator
            Draws the symbols.
        prompt : sequence of int
            What stands before them.

        Returns
        -------
        list of int
            The new symbols, without the boundary.

        Raises
        ------
        ValueError
            When the length is below 1, or a symbol of the prompt does not exist.
        """
        text = checked_codes(prompt, self.vocab_size).tolist()
        start = len(text)
        for _ in range(length):
            p = self.distribution(text[max(0, len(text) - self.order) :])
            symbol = int(rng.choice(self.vocab_size, p=p / p.sum()))
            if symbol == BOUNDARY:
                break
            text.append(symbol)
        return text[start:]


def _check_counts(counts: Counts, below: int) -> None:
    """Raise a ``ValueError`` unless these are counts of n-grams over this vocabulary."""
    keys, values = counts
    if len(keys) == 0 or keys.shape != values.shape:
        raise ValueError("counts must be of one n-gram or more, each with its number")
    if keys[0] < 0 or keys[-1] >= below or (keys[1:] <= keys[:-1]).any():
        raise ValueError(
            "counts must be of n-grams of this order over this vocabulary, in ascending order, as "
            "count_ngrams gives them"
        )
    if values.min() < 0:
        raise ValueError(f"counts must not be negative, got {values.min()}")


def _check_keys(keys: Codes, below: int) -> None:
    """Raise a ``ValueError`` unless these are numbers of n-grams."""
    if keys.size and not 0 <= keys.min() <= keys.max() < below:
        wrong = keys.min() if keys.min() < 0 else keys.max()
        raise ValueError(f"keys are numbers of n-grams, 0 to {below - 1}, got {wrong}")


class AddK(NGramModel):
    r"""Counts with :math:`k` added to each: maximum likelihood for 0, Laplace for 1.

    .. math:: P(w \mid h) = \frac{c(hw) + k}{c(h) + kV}

    With :math:`k = 0` a context that never occurred has no counts to divide: every symbol gets
    :math:`1/V` there, so that each row still sums to 1.

    Parameters
    ----------
    counts : Counts
        From :func:`~primer.language_models.counting.count_ngrams`.
    vocab_size, order : int
        With which they were counted.
    k : float
        What to add, 0 or more.

    Raises
    ------
    ValueError
        When ``k`` is negative, or the order is below 1 or too large.

    Examples
    --------
    >>> bigrams = AddK.fit([[1, 2, 1, 2]], vocab_size=3, order=2)
    >>> bigrams.distribution([2]).tolist()  # after 2 came 1 once and the end once
    [0.5, 0.5, 0.0]
    >>> laplace = AddK.fit([[1, 2, 1, 2]], vocab_size=3, order=2, k=1)
    >>> laplace.distribution([2]).tolist()
    [0.4, 0.4, 0.2]
    """

    @checked
    def __init__(self, counts: Counts, vocab_size: int, order: int, k: NotNegative = 0.0) -> None:
        super().__init__(order, vocab_size)
        _check_counts(counts, vocab_size**self.order)
        if not np.isfinite(k * vocab_size):
            raise ValueError(f"k = {k:g} for each of {vocab_size:,} symbols is no number together")
        self.counts, self.k = counts, k
        self.contexts = distinct(counts.keys // vocab_size, counts.values)

    @classmethod
    @checked
    def fit(cls, texts: Iterable[Text], vocab_size: int, order: int, k: float = 0.0) -> AddK:
        """Count texts, see :func:`~primer.language_models.counting.count_ngrams`."""
        return cls(count_ngrams(texts, vocab_size, order), vocab_size, order, k)

    @property
    def numbers(self) -> int:
        """How many different n-grams were counted."""
        return len(self.counts.keys)

    @checked
    def probabilities(self, keys: Codes) -> Probabilities:
        """Compute (c + k) / (total + kV) for each n-gram."""
        _check_keys(keys, self.vocab_size**self.order)
        total = lookup(self.contexts, keys // self.vocab_size) + self.k * self.vocab_size
        seen = total > 0
        share = (lookup(self.counts, keys) + self.k) / np.where(seen, total, 1)
        return np.where(seen, share, 1 / self.vocab_size)


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
        _check_counts(counts, vocab_size**self.order)
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
        _check_keys(keys, self.vocab_size**self.order)
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


@checked
def shannon_bounds(ranks: Int[np.ndarray, " guesses"]) -> tuple[float, float]:
    r"""Bound the entropy of a text by how many guesses each of its letters needed.

    .. math:: \sum_{r\ge1} r\,(q_r - q_{r+1})\log_2 r \;\le\; H \;\le\; -\sum_{r\ge1} q_r\log_2 q_r

    :math:`q_r` is the share of letters that the guesser named as the :math:`r`-th. Shannon's
    theorem says it of the ideal guesser, who names letters in the order of their probability.

    Parameters
    ----------
    ranks : int array of shape (letters,)
        1 where the first guess was right.

    Returns
    -------
    lower, upper : float
        In bits per letter.

    Raises
    ------
    ValueError
        When there is no rank, or one is below 1.

    References
    ----------
    Shannon (1951).

    Examples
    --------
    >>> shannon_bounds(np.array([1, 1, 2, 2]))  # a coin that is tossed for each letter
    (1.0, 1.0)
    """
    found = np.asarray(ranks)
    if found.ndim != 1 or not found.size or found.dtype.kind not in "iu" or found.min() < 1:
        raise ValueError("ranks must be whole numbers, 1 for a first guess that was right")
    rank, times = np.unique(found.astype(np.float64), return_counts=True)
    q = times / len(found)
    # Summed by parts, so that ranks that nobody needed take no time.
    # r log r − (r − 1) log (r − 1), of which the large parts cancel
    before = np.log1p(-1 / np.maximum(rank, 2)) / np.log(2)
    lower = (q * (np.log2(rank) - (rank - 1) * before)).sum()
    return float(lower), entropy(q, base=2)
