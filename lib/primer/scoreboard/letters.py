"""What the models of the guessing game expect, letter by letter, for two passages of *Macbeth*.

The tables of counts and the transformer are too large for a page, and the passages are short: so
their predictions are computed once, by the study ``scoreboard.letters``, and kept in
:file:`letters.json`.
"""

from __future__ import annotations

import functools
from pathlib import Path
from typing import NamedTuple

from primer.datasets import split_plays

FILE = Path(__file__).with_name("letters.json")

GIVEN, LETTERS, BEFORE = 30, 170, 250
"""Letters given, letters to be guessed, and what the transformer read before them."""

PASSAGES = {
    "verse": ("A king is told of a battle", "So well thy words become thee"),
    "prose": ("A porter is woken", "Here's a knocking indeed!"),
}
"""Name → what happens there, and how the passage begins."""

ORDERS = {"letters": 1, "3-gram": 3, "5-gram": 5, "7-gram": 7}
TRANSFORMER = "transformer"


class Passage(NamedTuple):
    """A piece of a play that nobody of the models has read.

    Attributes
    ----------
    before : str
        What stands in front of it.
    text : str
        The letters given and those to be guessed.
    """

    before: str
    text: str


@functools.cache
def passages() -> dict[str, Passage]:
    """Cut the passages out of *Macbeth*.

    Examples
    --------
    >>> passages()["prose"].text[:25]
    "Here's a knocking indeed!"
    """
    play = split_plays()[1]["Macbeth"]
    found = {}
    for name, (_, first_words) in PASSAGES.items():
        start = play.index(first_words)
        found[name] = Passage(play[start - BEFORE : start], play[start:][: GIVEN + LETTERS])
    return found


@functools.cache
def symbols() -> str:
    """Return what can be guessed: the characters of the plays, without their capitals.

    Examples
    --------
    >>> len(symbols()), symbols()[0] == chr(10)
    (54, True)
    """
    used = set().union(*split_plays()[0].values())
    return "".join(sorted({character.lower() for character in used}))
