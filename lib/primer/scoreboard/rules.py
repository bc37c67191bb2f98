"""What is measured: how many bits each held-out play costs a model, from its first letter on."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np
from jaxtyping import Int

from primer.language_models import Alphabet

Plays = Mapping[str, str]


class Score(NamedTuple):
    """What a model was found to do.

    Attributes
    ----------
    bits : mapping of str to float
        For each held-out play what its characters and its end cost together:
        −Σ log₂ P(what comes | what came before in this play).
    numbers : int
        How many numbers the model keeps: parameters, or counts; 0 for a program that keeps none.
    """

    bits: Mapping[str, float]
    numbers: int


Measure = Callable[[Plays, Plays], Score]
"""From the plays to learn from and those to be judged by (title → text) to a score.

The model may have been trained before, on the first of the two and nothing else. It must give
probabilities that sum to 1 over all that can come next, the end of the play included, and see
nothing of what comes later nor of the other held-out plays.
"""


@functools.lru_cache(maxsize=1)
def _encoded(texts: tuple[str, ...]) -> tuple[Alphabet, list[Int[np.ndarray, " n"]]]:
    """Encode texts once for all models of characters."""
    alphabet = Alphabet(texts)
    return alphabet, [alphabet.encode(text) for text in texts]


def encoded_plays(plays: Plays) -> tuple[Alphabet, list[Int[np.ndarray, " n"]]]:
    """Return the alphabet of plays and each of them as numbers.

    Examples
    --------
    >>> alphabet, [first, second] = encoded_plays({"one": "to be", "two": "or not"})
    >>> alphabet.characters, second.tolist()
    (' benort', [5, 6, 1, 4, 5, 7])
    """
    return _encoded(tuple(plays.values()))
