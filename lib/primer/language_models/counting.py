"""Counting n-grams: each is one whole number, and a sort brings equal ones together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Int

from primer.inputs import as_array, checked, count, whole
from primer.inputs.given import given

Codes = Int[np.ndarray, " n"]

BOUNDARY = 0
"""The symbol before the first and after the last one of a text."""


class Alphabet:
    """Characters as whole numbers, 1 and up; 0 is kept for the end of a text.

    Parameters
    ----------
    characters : iterable of str
        The different characters, or texts that contain them.

    Raises
    ------
    ValueError
        When there is no character.

    Examples
    --------
    >>> letters = Alphabet("abracadabra")
    >>> letters.characters, letters.vocab_size  # and the end
    ('abcdr', 6)
    >>> letters.encode("cab").tolist()
    [3, 1, 2]
    >>> letters.decode([3, 1, 2, 0])
    'cab'
    """

    @checked
    def __init__(self, characters: Iterable[str]) -> None:
        self.characters = "".join(sorted(set().union(*map(set, characters))))
        if not self.characters:
            raise ValueError("an alphabet needs at least one character, got no text")
        self._codes = {character: code for code, character in enumerate(self.characters, 1)}

    @property
    def vocab_size(self) -> int:
        """The number of symbols, with the end of a text."""
        return len(self.characters) + 1

    @checked
    def encode(self, text: str) -> Codes:
        """Turn a text into numbers.

        Raises
        ------
        ValueError
            When the text has a character that the alphabet does not have.

        Examples
        --------
        >>> Alphabet("to be").encode("toe?")
        Traceback (most recent call last):
            ...
        ValueError: the alphabet of 5 characters has no '?'; build it from all texts it shall spell
        """
        if unknown := set(text) - self._codes.keys():
            raise ValueError(
                f"the alphabet of {len(self.characters)} characters has no "
                f"{min(unknown)!r}; build it from all texts it shall spell"
            )
        return np.fromiter(map(self._codes.__getitem__, text), np.int64, len(text))

    @checked
    def decode(self, codes: Iterable[int | np.integer] | Codes) -> str:
        """Turn numbers into text; the end is not written.

        Raises
        ------
        ValueError
            When a number is none of this alphabet.
        """
        text = []
        for code in one_row("codes", codes):
            if not 0 <= code < self.vocab_size:
                raise ValueError(f"codes are 0 to {self.vocab_size - 1}, got {code}")
            if code:
                text.append(self.characters[code - 1])
        return "".join(text)


def one_row(name: str, numbers: Any) -> Iterator[int]:
    """Yield whole numbers of a list, an array or a tensor of one axis.

    Raises
    ------
    ValueError
        When there are several rows, or an entry is no whole number.
    """
    row = numbers.tolist() if hasattr(numbers, "tolist") else numbers
    if not isinstance(row, Iterable):
        raise ValueError(f"{name} must be a row of whole numbers, got {row!r}")
    for entry in row:
        if isinstance(entry, Sequence) or getattr(entry, "ndim", None):
            raise ValueError(f"{name} must be one row of whole numbers, got several; take each")
        yield whole(f"each of {name}", getattr(entry, "item", lambda e=entry: e)())


class Counts(NamedTuple):
    """The different n-grams of a corpus and how often each occurs.

    Attributes
    ----------
    keys : int array of shape (different,)
        The n-grams as numbers in ascending order, see :func:`ngram_keys`.
    values : int array of shape (different,)
        Their counts.
    """

    keys: Codes
    values: Codes


def largest_order(vocab_size: int) -> int:
    """Say how long an n-gram over so many symbols may be to fit into 63 bits.

    Examples
    --------
    >>> largest_order(81), largest_order(1024), largest_order(50_257)
    (9, 6, 4)
    """
    order = 1
    while count("vocab_size", vocab_size, at_least=2) ** (order + 1) < 2**63:
        order += 1
    return order


def checked_order(order: int, vocab_size: int) -> int:
    """Return the order of an n-gram, or say which orders are possible.

    Raises
    ------
    ValueError
        When it is below 1 or its numbers would not fit into 63 bits.
    """
    n = count("order", order)
    if n > (most := largest_order(vocab_size)):
        raise ValueError(
            f"{n}-grams over {vocab_size:,} symbols do not fit into 63 bits: "
            f"take at most order {most}, or fewer symbols"
        )
    return n


def checked_codes(text: Sequence[Any] | np.ndarray, vocab_size: int) -> Codes:
    """Return a text as an array of symbols that exist.

    Raises
    ------
    ValueError
        When it is no sequence of whole numbers, or one lies outside the vocabulary.
    """
    codes = as_array("text", text)
    if codes.ndim != 1 or (codes.size and codes.dtype.kind not in "iu"):
        raise ValueError(
            f"a text must be a sequence of whole numbers, got shape {codes.shape} and type "
            f"{codes.dtype}; encode strings first"
        )
    if codes.size and not 0 <= codes.min() <= codes.max() < vocab_size:
        wrong = codes.min() if codes.min() < 0 else codes.max()
        raise ValueError(f"symbols are 0 to {vocab_size - 1}, got {wrong}")
    return codes.astype(np.int64)


@checked
def ngram_keys(text: Sequence[Any] | np.ndarray, vocab_size: int, order: int) -> Codes:
    r"""Write the n-gram that ends at each symbol of a text, and at its end, as one number.

    .. math:: \mathrm{key}(x_{t-n+1}, \dots, x_t) = \sum_{j=0}^{n-1} x_{t-j}\,V^j

    In base :math:`V` these are the symbols as digits: dividing by :math:`V` removes the last symbol
    and leaves the context; the remainder by :math:`V^{n-1}` removes the first. Before the first
    symbol, and as the last one to be predicted, stands the boundary, 0.

    Parameters
    ----------
    text : sequence of int
        The symbols, each below ``vocab_size``.
    vocab_size : int
        :math:`V`, with the boundary.
    order : int
        :math:`n`.

    Returns
    -------
    int array of shape (len(text) + 1,)
        One number for each symbol and one for the end.

    Raises
    ------
    ValueError
        When the order is below 1 or too large for 63 bits, or a symbol does not exist.

    Examples
    --------
    >>> ngram_keys([1, 2], vocab_size=10, order=3).tolist()  # ··1, ·12, 12·
    [1, 12, 120]
    """
    n = checked_order(order, vocab_size)
    codes = checked_codes(text, vocab_size)
    padded = np.concatenate([np.full(n - 1, BOUNDARY), codes, [BOUNDARY]])
    keys = np.zeros(len(codes) + 1, np.int64)
    for start in range(n):
        keys *= vocab_size
        keys += padded[start : start + len(keys)]
    return keys


def distinct(keys: Codes, weights: Codes | None = None) -> Counts:
    """Sort numbers and count the equal ones, or add up their weights.

    Examples
    --------
    >>> keys, values = distinct(np.array([3, 1, 3]))
    >>> keys.tolist(), values.tolist()
    ([1, 3], [1, 2])
    """
    if weights is None:
        keys = np.sort(keys)
    else:
        order = np.argsort(keys, kind="stable")
        keys, weights = keys[order], weights[order]
    first = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]]))
    if weights is None:
        return Counts(keys[first], np.diff(first, append=len(keys)))
    return Counts(keys[first], np.add.reduceat(weights, first))


def count_ngrams(
    texts: Iterable[Sequence[Any] | np.ndarray], vocab_size: int, order: int
) -> Counts:
    """Count the n-grams of texts; none reaches from one text into the next.

    Parameters
    ----------
    texts : iterable of sequences of int
        The texts as symbols.
    vocab_size : int
        The number of symbols, with the boundary.
    order : int
        The length of an n-gram.

    Returns
    -------
    Counts
        In ascending order of their numbers.

    Raises
    ------
    ValueError
        When there is no text or one is empty, ``texts`` is one string or a mapping, or as
        :func:`ngram_keys`.

    Examples
    --------
    >>> keys, values = count_ngrams([[1, 2, 1, 2]], vocab_size=10, order=2)  # ·1 12 21 12 2·
    >>> keys.tolist(), values.tolist()
    ([1, 12, 20, 21], [1, 2, 1, 1])
    """
    if isinstance(texts, str | Mapping):
        raise ValueError(
            f"need several encoded texts, got one {type(texts).__name__}: encode each text first"
        )
    if not isinstance(texts, Iterable):
        raise ValueError(f"texts must be a list of encoded texts, got {given(texts)}")
    parts = []
    for number, text in enumerate(texts):
        keys = ngram_keys(text, vocab_size, order)
        if len(keys) == 1:  # the end alone
            raise ValueError(f"text {number} is empty: there is nothing to count")
        parts.append(keys)
    if not parts:
        raise ValueError("need at least one text to count, got none")
    return distinct(np.concatenate(parts))


@checked
def add_counts(*counts: Counts) -> Counts:
    """Add up counts of different texts: the counts of all these texts together.

    Parameters
    ----------
    *counts : Counts
        Of n-grams of one order over one vocabulary.

    Returns
    -------
    Counts
        In ascending order of their numbers.

    Raises
    ------
    ValueError
        When there is nothing to add.

    Examples
    --------
    >>> one, other = count_ngrams([[1, 2]], 10, 1), count_ngrams([[2]], 10, 1)
    >>> keys, values = add_counts(one, other)  # the ends of both texts, 1, and 2 twice
    >>> keys.tolist(), values.tolist()
    ([0, 1, 2], [2, 1, 2])
    """
    if not counts:
        raise ValueError("need counts of at least one text to add, got none")
    return distinct(
        np.concatenate([each.keys for each in counts]),
        np.concatenate([each.values for each in counts]),
    )


def lookup(counts: Counts, keys: Codes) -> Codes:
    """Read the counts of n-grams, 0 for one that never occurred.

    Examples
    --------
    >>> lookup(Counts(np.array([1, 3]), np.array([5, 7])), np.array([3, 2, 9])).tolist()
    [7, 0, 0]
    """
    at = np.minimum(np.searchsorted(counts.keys, keys), len(counts.keys) - 1)
    return np.where(counts.keys[at] == keys, counts.values[at], 0)
