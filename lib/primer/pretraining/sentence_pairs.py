"""Two sentences in one input, and whether the second follows the first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from primer.inputs import Steps, checked


class Pair(NamedTuple):
    """Two sentences.

    Attributes
    ----------
    first, second : list of int
        Tokens.
    follows : bool
        Whether the second comes right after the first in its document.
    """

    first: list[int]
    second: list[int]
    follows: bool


@checked
def next_sentence_pairs(
    documents: Sequence[Sequence[Sequence[int]]], n_pairs: Steps, rng: np.random.Generator
) -> list[Pair]:
    """Draw pairs, half of which (in the mean) are neighbors and half from two documents.

    Parameters
    ----------
    documents : sequence of documents
        Each is a sequence of sentences, each of these a sequence of tokens.
    n_pairs : int
        How many.
    rng : numpy.random.Generator
        Decides.

    Returns
    -------
    list of Pair

    Raises
    ------
    ValueError
        When there are fewer than two documents, or none has two sentences.

    References
    ----------
    Devlin et al. (2019), section 3.1, task 2.

    Examples
    --------
    >>> pairs = next_sentence_pairs([[[1], [2]], [[3], [4]]], 100, np.random.default_rng(0))
    >>> all(second == [first[0] + 1] for first, second, follows in pairs if follows)
    True
    """
    if len(documents) < 2:
        raise ValueError(
            "a sentence that does not follow comes from another document: give at least two"
        )
    long = [number for number, sentences in enumerate(documents) if len(sentences) >= 2]
    if not long or min(map(len, documents)) == 0:
        raise ValueError("documents need sentences, and one of them at least two neighbors")
    pairs = []
    for _ in range(n_pairs):
        number = int(rng.choice(long))
        place = int(rng.integers(len(documents[number]) - 1))
        first, second = documents[number][place], documents[number][place + 1]
        follows = bool(rng.random() < 0.5)
        if not follows:
            other = (number + int(rng.integers(1, len(documents)))) % len(documents)
            second = documents[other][int(rng.integers(len(documents[other])))]
        pairs.append(Pair([*first], [*second], follows))
    return pairs
