"""Cutting text into words: merges never cross their borders."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

import regex

from primer.datasets import utf8
from primer.inputs import checked

PATTERN = (
    r" ?[\p{L}\p{M}]+(?:'[\p{L}\p{M}]+)*"  # a word, with its inner apostrophes: " appear'd"
    r"| ?\p{N}+"
    r"| ?[^\p{White_Space}\p{L}\p{M}\p{N}]+"  # punctuation and all the rest
    r"|\p{White_Space}+"
)
"""What a word is, for Python's ``regex`` and for JavaScript with the flag ``u``.

It names Unicode properties only: ``\\s`` and ``\\w`` mean different things in the two languages.
A space before a word belongs to it, so that the pieces joined are the text again. A character newer
than the Unicode tables of a program counts there among the rest.
"""

_find_words = regex.compile(PATTERN).findall


@checked
def split_words(text: str) -> list[str]:
    r"""Cut a text into words, numbers, punctuation and white space.

    Parameters
    ----------
    text : str
        Any text.

    Returns
    -------
    list of str
        The pieces; joined, they are the text.

    Raises
    ------
    ValueError
        When the text holds a lone surrogate: half of a UTF-16 pair is no character, and UTF-8 has
        no bytes for it.

    Examples
    --------
    >>> split_words("To-night I'll see't 3 times.\n\nHAMLET")
    ['To', '-', 'night', " I'll", " see't", ' 3', ' times', '.', '\n\n', 'HAMLET']
    """
    utf8(text)
    return _find_words(text)


@checked
def count_words(texts: Iterable[str]) -> Counter[bytes]:
    """Count the words of a corpus, as UTF-8 bytes.

    Parameters
    ----------
    texts : iterable of str
        The texts; no word reaches from one into the next.

    Returns
    -------
    Counter of bytes
        Word → number of times it occurs.

    Raises
    ------
    ValueError
        When ``texts`` is a single string or a mapping, whose items would be characters or titles.

    Examples
    --------
    >>> count_words(["low lower", "low"])
    Counter({b'low': 2, b' lower': 1})
    """
    if isinstance(texts, (str, bytes, Mapping)):
        raise ValueError(
            f"need several texts, got one {type(texts).__name__}: "
            "pass [text] for a string, texts.values() for a mapping"
        )
    counts: Counter[str] = Counter()
    for text in texts:
        counts.update(split_words(text))
    return Counter({word.encode("utf-8"): count for word, count in counts.items()})
