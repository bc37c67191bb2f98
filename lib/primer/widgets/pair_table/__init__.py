"""Pair table: which letter follows which in plays, as a map that a text walks through."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable
from pathlib import Path
from typing import ClassVar

import numpy as np
import traitlets
from jaxtyping import Float, Int
from matplotlib.figure import Figure

from primer import language_models as lm
from primer.palette import LIGHT
from primer.widgets.base import Widget
from primer.widgets.shared.mulberry import mulberry

LETTERS = "␣abcdefghijklmnopqrstuvwxyz"
"""The symbols: all that is no letter counts as one space, which is also what stands at the ends."""

SIZE = len(LETTERS)
LONGEST = 48
"""How many letters of a text are shown."""

DARKEST = 10
"""Bits at the dark end of the colors."""

FILE = Path(__file__).with_name("pairs.csv")


def fold(text: str) -> list[int]:
    """Write a text in the 27 symbols: capitals as small letters, runs of all else as one space.

    Parameters
    ----------
    text : str
        Any text.

    Returns
    -------
    list of int
        Places in :data:`LETTERS`; a text does not begin with a space.

    Examples
    --------
    >>> fold("O, be")
    [15, 0, 2, 5]
    """
    folded = re.sub("[^a-z]+", " ", text.lower()).lstrip(" ")
    return [0 if letter == " " else ord(letter) - ord("a") + 1 for letter in folded]


def count_pairs(texts: Iterable[str]) -> Int[np.ndarray, "27 27"]:
    """Count how often each symbol, a column, follows each other, a row.

    Parameters
    ----------
    texts : iterable of str
        The texts; each begins and ends with a space.

    Returns
    -------
    array of shape (27, 27)
        The counts.

    Examples
    --------
    >>> counts = count_pairs(["ab", "Abba!"])
    >>> counts[1, 2].item(), counts[0].sum().item()  # a → b; two beginnings
    (2, 2)
    """
    counted = lm.count_ngrams([fold(text.rstrip() + " ")[:-1] for text in texts], SIZE, 2)
    return lm.counting.lookup(counted, np.arange(SIZE * SIZE)).reshape(SIZE, SIZE)


@functools.cache
def pairs() -> Int[np.ndarray, "27 27"]:
    """Read the counts of the 34 plays that the models learn from; nobody may change it."""
    return np.loadtxt(FILE, delimiter=",", dtype=np.int64)


class PairTable(Widget):
    r"""The table of pairs: what follows each letter, what a text costs, and texts drawn from it.

    The probability of letter w after h is that of :class:`primer.language_models.AddK` with
    :math:`k=1` on 27 symbols: :math:`(c(hw) + 1)/(c(h) + 27)`, with the counts of 34 plays.

    Parameters
    ----------
    **state
        First values of the traits: ``text`` (what walks through the table; its first 48 letters
        are shown), ``first`` and ``second`` (the pair looked at, from 0 for the space to 26 for z)
        and ``drawn`` (how many letters the reader has had drawn).

    Raises
    ------
    traitlets.TraitError
        When a value is out of its range or of another kind.

    Examples
    --------
    >>> PairTable(text="the").bits().sum().round(1), PairTable(text="eht").bits().sum().round(1)
    (np.float64(5.9), np.float64(20.2))
    """

    description = (
        "A square of 27 by 27 colors, a row for the space and each letter, a column for what "
        "comes next: bright where it is expected. Beside it the chosen row as bars and a text with "
        "a bar for what each letter cost in bits."
    )
    EXAMPLES: ClassVar[tuple[str, ...]] = ("our revels now are ended", "to be or not to be", "the")

    text = traitlets.Unicode(EXAMPLES[0]).tag(sync=True)
    first = traitlets.Int(22, min=0, max=SIZE - 1).tag(sync=True)
    second = traitlets.Int(5, min=0, max=SIZE - 1).tag(sync=True)
    drawn = traitlets.Int(0, min=0).tag(sync=True)
    counts = traitlets.List(traitlets.Int()).tag(sync=True)
    constants: ClassVar[dict[str, object]] = {
        "letters": LETTERS,
        "longest": LONGEST,
        "darkest": DARKEST,
        "examples": EXAMPLES,
    }

    @traitlets.default("counts")
    def _default_counts(self) -> list[int]:
        return [int(count) for count in pairs().ravel()]

    @traitlets.validate("counts")
    def _check_counts(self, proposal: traitlets.Bunch) -> list[int]:
        if proposal.value != self._default_counts():
            raise traitlets.TraitError("counts holds the plays' pairs, which nobody sets")
        return list(proposal.value)

    def chances(self) -> Float[np.ndarray, "27 27"]:
        """Compute the probability of each symbol, a column, after each, a row."""
        counts = pairs()
        return np.asarray((counts + 1) / (counts.sum(axis=1, keepdims=True) + SIZE))

    def shown(self) -> list[int]:
        """Return the letters of the text that are shown."""
        return fold(self.text)[:LONGEST]

    def bits(self) -> Float[np.ndarray, " n"]:
        """Compute what each letter of the text costs after the one before it."""
        letters = self.shown()
        return -np.log2(self.chances()[[0, *letters][:-1], letters])

    def continued(self, count: int) -> str:
        """Draw so many letters after the text, as the page's button does."""
        letters, chances = [0, *fold(self.text)], self.chances()
        for drawn in range(self.drawn, self.drawn + count):
            uniform = next(mulberry(drawn))
            line = chances[letters[-1]].cumsum()
            letters.append(min(int(np.searchsorted(line, uniform, side="right")), SIZE - 1))
        return "".join(LETTERS[letter] for letter in letters[1:]).replace("␣", " ")

    def picture(self) -> Figure:
        """Draw the table and what the text costs.

        Returns
        -------
        Figure
            Two panels.
        """
        figure = Figure(figsize=(6.4, 7.6), layout="constrained")
        table, walk = figure.subplots(2, 1, height_ratios=[4, 1])
        image = table.imshow(np.log2(self.chances()), vmin=-DARKEST, vmax=0)
        table.grid(visible=False)
        table.set_xticks(range(SIZE), list(LETTERS), fontsize=8)
        table.set_yticks(range(SIZE), list(LETTERS), fontsize=8)
        table.xaxis.tick_top()
        table.plot(self.second, self.first, "s", color=LIGHT["orange"], fillstyle="none")
        table.set(ylabel="a letter", title="What comes next")
        figure.colorbar(image, ax=table, label="minus its price in bits")
        letters, bits = self.shown(), self.bits()
        walk.bar(range(len(letters)), bits, color=LIGHT["blue"])
        walk.set_xticks(range(len(letters)), [LETTERS[letter] for letter in letters], fontsize=8)
        walk.set(ylabel="bits", title=f"The text costs {bits.sum():.1f} bits")
        return figure
