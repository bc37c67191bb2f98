"""What is measured, what each scene of the held-out plays costs a model, and how it reads them."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from primer.language_models import Alphabet

Plays = Mapping[str, str]

READINGS: dict[str, str] = {
    "whole": "each play from its beginning, in one pass",
    "pieces": "pieces of 1,024 characters, each after the 256 before it and nothing else",
    "windows": "windows as long as the context, side by side",
    "half windows": "windows that overlap by half, each charged for its second half only",
}
"""How a play is read: name → what a model sees of what stands before a place.

Counts, compressors and recurrent networks read ``"whole"``, though some look back on little of it.
A transformer has a longest text. Its ``"windows"`` begin anew again and again, and what comes first
in each is predicted from little; in ``"half windows"`` at least half of a window stands before what
is charged (but at a play's beginning).
"""


class Score(NamedTuple):
    """What a model was found to do.

    Attributes
    ----------
    bits : mapping of str to array of shape (scenes,)
        For each held-out play what the characters of each of its scenes cost together, its end
        counted to the last: −Σ log₂ P(what comes | what the model has read of this play).
    numbers : int
        How many numbers the model keeps: parameters, or counts; 0 for a program that keeps none.
    """

    bits: Mapping[str, Float[np.ndarray, " scenes"]]
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
