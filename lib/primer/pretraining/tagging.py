r"""Labels on words: spans as BIO tags, words as pieces, and the way back."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

import numpy as np

from primer.inputs import Steps, checked, whole
from primer.inputs.values import MANY

LONG = 100
"""Letters of a word from which on it is long."""


class Span(NamedTuple):
    """A stretch of words with a kind.

    Attributes
    ----------
    start, end : int
        The first word, and the first word behind the last.
    kind : str
        What it is, such as ``"LOC"``.
    """

    start: int
    end: int
    kind: str


@checked
def encode_bio(spans: Sequence[Span], n_words: Steps) -> list[str]:
    """Tag each word: B for the first of a span, I for the others in it, O for those in none.

    Parameters
    ----------
    spans : sequence of Span
        They do not overlap.
    n_words : int
        The length of the sentence.

    Returns
    -------
    list of str
        A tag for each word.

    Raises
    ------
    ValueError
        When a span is empty, leaves the sentence, overlaps another or has no kind.

    References
    ----------
    Ramshaw and Marcus (1995).

    Examples
    --------
    >>> encode_bio([Span(0, 2, "LOC")], 4)
    ['B-LOC', 'I-LOC', 'O', 'O']
    """
    tags = ["O"] * n_words
    for start, end, kind in spans:
        if not 0 <= whole("start", start) < whole("end", end) <= n_words:
            raise ValueError(f"a span from {start} to {end} does not fit into {n_words} words")
        if not isinstance(kind, str) or not kind:
            raise ValueError(f"kind must be a word such as 'LOC', got {kind!r}")
        if any(tag != "O" for tag in tags[start:end]):
            raise ValueError(f"the span from {start} to {end} overlaps another")
        tags[start:end] = [f"B-{kind}"] + [f"I-{kind}"] * (end - start - 1)
    return tags


@checked
def decode_bio(tags: Sequence[str]) -> list[Span]:
    """Read the spans off the tags: the inverse of :func:`encode_bio`.

    Parameters
    ----------
    tags : sequence of str
        ``"O"``, ``"B-…"`` or ``"I-…"``, where I stands behind B or I of the same kind.

    Returns
    -------
    list of Span
        In the order of the words.

    Raises
    ------
    ValueError
        When a tag is none, or an I continues nothing.

    Examples
    --------
    >>> decode_bio(["B-LOC", "I-LOC", "O", "B-LOC"])
    [Span(start=0, end=2, kind='LOC'), Span(start=3, end=4, kind='LOC')]
    >>> decode_bio(["O", "I-LOC"])
    Traceback (most recent call last):
        ...
    ValueError: tag 1, 'I-LOC', continues nothing: 'O' stands before it; begin with 'B-LOC'
    """
    spans: list[Span] = []
    before = "O"
    for place, tag in enumerate(tags):
        kind = _kind(tag)
        if not may_follow(before, tag):
            raise ValueError(
                f"tag {place}, {tag!r}, continues nothing: {before!r} stands before it; "
                f"begin with 'B-{kind}'"
            )
        if tag.startswith("B-"):
            spans.append(Span(place, place + 1, kind))
        elif tag.startswith("I-"):
            spans[-1] = spans[-1]._replace(end=place + 1)
        before = tag
    return spans


@checked
def may_follow(before: str, tag: str) -> bool:
    """Say whether a tag may stand behind another; the sentence begins as if behind ``"O"``.

    Examples
    --------
    >>> may_follow("B-LOC", "I-LOC"), may_follow("O", "I-LOC"), may_follow("B-PER", "I-LOC")
    (True, False, False)
    """
    if not _kind(tag) or not tag.startswith("I-"):
        return True
    return before in (f"B-{_kind(tag)}", tag)


def _kind(tag: str) -> str:
    """Return what a tag's span is, empty for O."""
    if tag == "O":
        return ""
    if tag[:2] not in ("B-", "I-") or len(tag) < 3:
        raise ValueError(f"{tag!r} is no BIO tag: it must be 'O', or 'B-' or 'I-' and a kind")
    return tag[2:]


@checked
def longest_match(word: str, vocabulary: Collection[str]) -> list[str]:
    """Cut a word into pieces, always taking the longest that the vocabulary has.

    Parameters
    ----------
    word : str
        One word.
    vocabulary : collection of str
        Pieces; those inside a word begin with ``##``.

    Returns
    -------
    list of str
        Pieces, or ``[UNK]`` alone for a word that cannot be cut.

    References
    ----------
    Wu et al. (2016), section 4.1, for the pieces; the code of Devlin et al. (2019) for the match.

    Examples
    --------
    >>> longest_match("sanitas", {"san", "sa", "##itas", "##it", "##as"})
    ['san', '##itas']
    """
    if not word:
        raise ValueError("there is no word to cut: give at least one letter")
    if isinstance(vocabulary, str):  # of which every part of a text would be a piece
        raise ValueError(f"vocabulary must be several pieces, got one text; write [{vocabulary!r}]")
    pieces, start, reach = [], 0, len(word)
    if len(word) > LONG:  # no piece is longer than the longest, which is sought where it pays
        reach = max(map(len, vocabulary), default=0)
    while start < len(word):
        mark = "##" if start else ""
        for end in range(min(len(word), start + reach), start, -1):
            if (piece := mark + word[start:end]) in vocabulary:
                break
        else:
            return ["[UNK]"]
        pieces.append(piece)
        start = end
    return pieces


@checked
def spread_tags(tags: Sequence[str], pieces: Sequence[int]) -> list[str]:
    """Give each piece the tag of its word, to train on.

    Parameters
    ----------
    tags : sequence of str
        One for each word.
    pieces : sequence of int
        How many pieces each word has.

    Returns
    -------
    list of str
        One for each piece.

    Raises
    ------
    ValueError
        When there are not as many tags as words, or a word has no piece.

    Examples
    --------
    >>> spread_tags(["B-LOC", "O"], [2, 1])
    ['B-LOC', 'B-LOC', 'O']
    """
    _check_pieces(len(tags), pieces)
    return [tag for tag, n in zip(tags, pieces, strict=True) for _ in range(n)]


@checked
def collect_tags(tags: Sequence[str], pieces: Sequence[int]) -> list[str]:
    """Read each word's tag off its first piece: the inverse of :func:`spread_tags`.

    Parameters
    ----------
    tags : sequence of str
        One for each piece.
    pieces : sequence of int
        How many pieces each word has.

    Returns
    -------
    list of str
        One for each word.

    Raises
    ------
    ValueError
        When the pieces are not as many as the tags.

    Examples
    --------
    >>> collect_tags(["B-LOC", "O", "O"], [2, 1])  # the second piece is not asked
    ['B-LOC', 'O']
    """
    _check_pieces(len(pieces), pieces)
    if sum(pieces) != len(tags):
        raise ValueError(f"{len(tags)} tags for {sum(pieces)} pieces: each needs one")
    starts = np.cumsum([0, *pieces[:-1]])
    return [tags[start] for start in starts]


def _check_pieces(n_words: int, pieces: Sequence[int]) -> None:
    """Raise a ``ValueError`` unless each word has a piece."""
    if len(pieces) != n_words or min(pieces, default=0) < 1 or sum(pieces) > MANY:
        raise ValueError(
            f"{n_words} words need as many numbers of pieces, each ≥ 1 and together at most "
            f"{MANY:,}, got {pieces}"
        )
