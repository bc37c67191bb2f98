"""Learning which pairs to merge: the textbook's loop, and the same in a fraction of the time."""

from __future__ import annotations

import heapq
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice, pairwise

from primer.inputs import checked, count
from primer.inputs.guard import unasked

Pair = tuple[int, int]

# Ties go to the smaller pair, and among single bytes those with a visible Latin-1 character come
# first: the order in which GPT-2, and with it Hugging Face's trainer, numbers the bytes.
_VISIBLE = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
BYTE_ORDER = bytes(_VISIBLE + [byte for byte in range(256) if byte not in set(_VISIBLE)])
_PLACES = {byte: place for place, byte in enumerate(BYTE_ORDER)}


@checked
def merge_pair(ids: Sequence[int], pair: Pair, new_id: int) -> list[int]:
    """Replace a pair of neighbors by a new token, from left to right.

    Parameters
    ----------
    ids : sequence of int
        The tokens of a word.
    pair : tuple of two int
        The two tokens to be merged where they stand side by side.
    new_id : int
        The token put in their place.

    Returns
    -------
    list of int
        The shorter word.

    Examples
    --------
    >>> merge_pair([1, 1, 1, 2], (1, 1), 3)
    [3, 1, 2]
    """
    if len(pair) != 2:
        raise ValueError(f"a merge joins two tokens, got {len(pair)}: {pair!r}")
    first, second = pair
    merged: list[int] = []
    position, end = 0, len(ids) - 1
    while position < end:
        if ids[position] == first and ids[position + 1] == second:
            merged.append(new_id)
            position += 2
        else:
            merged.append(ids[position])
            position += 1
    merged.extend(ids[position:])
    return merged


_merged = unasked(merge_pair)
"""For the loops below, whose words are their own."""


@checked
def learn_merges_by_rescan(word_counts: Mapping[bytes, int], n_merges: int) -> list[Pair]:
    r"""Learn merges as the textbook says it: count all pairs, merge the most frequent, repeat.

    Merge :math:`m = 0, 1, \dots` makes token :math:`256 + m` of the pair

    .. math:: \arg\max_{(a, b)} \; \sum_w n_w \, \#\{i : (w_i, w_{i+1}) = (a, b)\},

    where :math:`n_w` counts word :math:`w`. Of several pairs with the same count the smallest is
    taken, by first, then second token, single bytes in the order ``BYTE_ORDER``.

    Every merge reads the whole corpus: use it to understand, and to check :func:`learn_merges`.

    Parameters
    ----------
    word_counts : mapping of bytes to int
        How often each word occurs.
    n_merges : int
        How many merges to learn.

    Returns
    -------
    list of pairs of int
        The merges in the order learned; a number below 256 is a byte.

    Raises
    ------
    ValueError
        When ``n_merges`` is negative or the corpus has no pair left before they are learned.

    References
    ----------
    Sennrich, Haddow and Birch (2016), algorithm 1.

    Examples
    --------
    >>> merges = learn_merges_by_rescan({b"low": 5, b"lower": 2, b"newest": 6, b"widest": 3}, 4)
    >>> [tuple(chr(x) if x < 256 else x for x in pair) for pair in merges]
    [('e', 's'), (256, 't'), ('l', 'o'), (258, 'w')]
    """
    _check_counts(word_counts, n_merges)
    _refuse_negative(n_merges)
    merges = list(islice(merges_by_rescan(word_counts), n_merges))
    if len(merges) < n_merges:
        raise _no_pair_left(len(merges), n_merges)
    return merges


@checked
def merges_by_rescan(word_counts: Mapping[bytes, int]) -> Iterator[Pair]:
    """Yield the merges of :func:`learn_merges_by_rescan` until every word is one token.

    Parameters
    ----------
    word_counts : mapping of bytes to int
        How often each word occurs.

    Yields
    ------
    pair of int
        The next merge.

    Examples
    --------
    >>> list(merges_by_rescan({b"aab": 1}))  # aab, then (aa)b has one pair left
    [(97, 97), (256, 98)]
    """
    words = [[_PLACES[byte] for byte in word] for word in word_counts]
    new_id = 256
    while True:
        pair_counts: Counter[Pair] = Counter()
        for word, times in zip(words, word_counts.values(), strict=True):
            for pair in pairwise(word):
                pair_counts[pair] += times
        if not pair_counts:
            return
        best = min(pair_counts, key=lambda pair: (-pair_counts[pair], pair))
        words = [_merged(word, best, new_id) for word in words]
        new_id += 1
        yield from _with_bytes([best])


@checked
def learn_merges(word_counts: Mapping[bytes, int], n_merges: int) -> list[Pair]:
    """Learn the merges of :func:`learn_merges_by_rescan`, touching only the words that change.

    Each pair keeps its count and the words it was seen in; a merge looks at those words alone, and
    there each pair with the new token takes its count from the pair whose place it has. The
    most frequent pair comes from a heap. A merge makes counts grow only for pairs with the new
    token, which are pushed; the entries of pairs whose counts it lowers are out of date, and one
    that is taken goes back with the count that holds now.

    Parameters
    ----------
    word_counts : mapping of bytes to int
        How often each word occurs.
    n_merges : int
        How many merges to learn.

    Returns
    -------
    list of pairs of int
        The merges in the order learned; a number below 256 is a byte.

    Raises
    ------
    ValueError
        When ``n_merges`` is negative or the corpus has no pair left before they are learned.

    Examples
    --------
    >>> corpus = {b"low": 5, b"lower": 2, b"newest": 6, b"widest": 3}
    >>> learn_merges(corpus, 4) == learn_merges_by_rescan(corpus, 4)
    True
    """
    _refuse_negative(n_merges)
    _check_counts(word_counts, n_merges)
    counts = list(word_counts.values())
    words = [[_PLACES[byte] for byte in word] for word in word_counts]
    pair_counts: defaultdict[Pair, int] = defaultdict(int)
    places: defaultdict[Pair, set[int]] = defaultdict(set)
    for index, word in enumerate(words):
        for pair in pairwise(word):
            pair_counts[pair] += counts[index]
            places[pair].add(index)
    heap = [(-count, pair) for pair, count in pair_counts.items()]
    heapq.heapify(heap)

    merges: list[Pair] = []
    while len(merges) < n_merges:
        if not heap:
            raise _no_pair_left(len(merges), n_merges)
        negative, best = heapq.heappop(heap)
        current = pair_counts[best]
        if current != -negative:
            if current:
                heapq.heappush(heap, (-current, best))
            continue
        new_id = 256 + len(merges)
        merges.append(best)
        first, second = best
        grown: set[Pair] = set()
        for index in places.pop(best):
            word = words[index] = _merged(words[index], best, new_id)
            for pair in pairwise(word):
                if new_id in pair:  # it stands where a pair of older tokens stood
                    left, right = pair
                    older = (
                        second if left == new_id else left,
                        first if right == new_id else right,
                    )
                    pair_counts[older] -= counts[index]
                    pair_counts[pair] += counts[index]
                    places[pair].add(index)
                    grown.add(pair)
        pair_counts[best] = 0
        for pair in grown:
            heapq.heappush(heap, (-pair_counts[pair], pair))
    return _with_bytes(merges)


def _check_counts(word_counts: Mapping[bytes, int], n_merges: int) -> None:
    """Raise a ``ValueError`` unless words are bytes, and counted."""
    count("n_merges", n_merges, at_least=0)
    for word, times in word_counts.items():
        if not isinstance(word, bytes):
            raise ValueError(f"words must be bytes, got {word!r}; write word.encode()")
        count(f"the count of {word!r}", times, at_least=0)


def _with_bytes(merges: Sequence[Pair]) -> list[Pair]:
    """Write bytes as their values again, no longer as their places in the order of ties."""

    def value(token: int) -> int:
        return BYTE_ORDER[token] if token < 256 else token

    return [(value(first), value(second)) for first, second in merges]


def _refuse_negative(n_merges: int) -> None:
    if n_merges < 0:
        raise ValueError(f"n_merges must be 0 or more, got {n_merges}")


def _no_pair_left(learned: int, n_merges: int) -> ValueError:
    return ValueError(
        f"after {learned} merges every word of the corpus is one token, but {n_merges} were asked "
        "for: ask for fewer, or give more text"
    )
