"""Language models made of counts: maximum likelihood, add-k and Kneser–Ney."""

from __future__ import annotations

import abc
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from primer.inputs import Count, NotNegative, checked
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


def check_counts(counts: Counts, below: int) -> None:
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


def check_keys(keys: Codes, below: int) -> None:
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
        check_counts(counts, vocab_size**self.order)
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
        check_keys(keys, self.vocab_size**self.order)
        total = lookup(self.contexts, keys // self.vocab_size) + self.k * self.vocab_size
        seen = total > 0
        share = (lookup(self.counts, keys) + self.k) / np.where(seen, total, 1)
        return np.where(seen, share, 1 / self.vocab_size)
