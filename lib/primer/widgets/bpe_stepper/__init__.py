"""Byte-pair encoding, merge by merge: forwards and back, on a text that the reader types."""

from __future__ import annotations

import functools
from importlib.resources import as_file, files
from itertools import islice, pairwise
from typing import Any, ClassVar

import traitlets
from matplotlib.figure import Figure

from primer.language_models import (
    PATTERN,
    BytePairEncoding,
    count_words,
    merge_pair,
    merges_by_rescan,
    split_words,
)
from primer.language_models.merges import BYTE_ORDER
from primer.palette import LIGHT
from primer.widgets.base import Widget
from primer.widgets.controls import Choice, Whole

LONGEST, MOST = 400, 200
"""Characters of a text, and merges, at most."""

WORKED = " ".join(["low"] * 5 + ["lower"] * 2 + ["newest"] * 6 + ["widest"] * 3)
EXAMPLES = (
    WORKED,
    "To be, or not to be, that is the question",
    "She sells sea shells by the sea shore; the shells she sells are sea shells, I'm sure.",
    "naïve café, naïve cafés 🎭",
)


@functools.cache
def book_merges() -> list[tuple[int, int]]:
    """Read the merges that the book learned from the plays.

    Returns
    -------
    list of pairs of int
        In the order learned.
    """
    with as_file(files("primer") / "checkpoints" / "plays-bpe.json") as file:
        return BytePairEncoding.load(file).merges


class BytePairStepper(Widget):
    """A text and the merges of byte-pair encoding, one after the other.

    Parameters
    ----------
    **state
        First values of the traits: ``text`` (at most 400 characters), ``source`` (``"text"``: the
        merges are learned from this text, ``"book"``: those that the book learned from the plays),
        ``step`` (0 to 200: so many merges are made; no more than there are) and ``examples``.

    Raises
    ------
    traitlets.TraitError
        When a value is out of its range, or the text is too long or holds half a character.

    Examples
    --------
    >>> stepper = BytePairStepper(step=2)
    >>> stepper.encoding().tokens[256:]
    [b'es', b'est']
    """

    description = (
        "A text cut into bytes, of which pairs have been merged: the newest token, est, is marked "
        "wherever it stands. Beside it the number of words, characters, bytes and tokens."
    )
    constants: ClassVar[dict[str, Any]] = {
        "pattern": PATTERN,
        "byteOrder": list(BYTE_ORDER),
        "longest": LONGEST,
        "most": MOST,
    }

    text = traitlets.Unicode(WORKED).tag(sync=True)
    examples = traitlets.List(traitlets.Unicode(), list(EXAMPLES)).tag(sync=True)
    source = Choice(
        "text", {"text": "learned from this text", "book": "the book's"}, label="Merges"
    )
    step = Whole(2, low=0, high=MOST, label="Merges made")
    merges: traitlets.List[list[int]] = traitlets.List().tag(sync=True)

    @traitlets.default("merges")
    def _default_merges(self) -> list[list[int]]:
        return [list(pair) for pair in book_merges()]

    @traitlets.validate("merges")
    def _check_merges(self, proposal: traitlets.Bunch) -> list[list[int]]:
        try:
            pairs = [(int(a), int(b)) for a, b in proposal.value]
            BytePairEncoding(pairs, ())
        except (TypeError, ValueError) as error:
            raise traitlets.TraitError(f"merges: {error}") from None
        return [list(pair) for pair in pairs]

    @traitlets.validate("text")
    def _check_text(self, proposal: traitlets.Bunch) -> str:
        try:
            split_words(proposal.value)
        except ValueError as error:
            raise traitlets.TraitError(str(error)) from None
        if len(proposal.value) > LONGEST:
            raise traitlets.TraitError(
                f"text must have at most {LONGEST} characters, got {len(proposal.value)}"
            )
        return str(proposal.value)

    def made(self) -> list[tuple[int, int]]:
        """Return the merges that are made, at most ``step``, in their order.

        Returns
        -------
        list of pairs of int
            A number from 256 on is the token of a merge: of this list, or of the book's.
        """
        words = count_words([self.text])
        if self.source == "text":
            return list(islice(merges_by_rescan(words), self.step))
        numbers = {(first, second): 256 + m for m, (first, second) in enumerate(self.merges)}
        rest = [list(word) for word in words]
        found: list[tuple[int, int]] = []
        while len(found) < self.step:
            usable = {pair for word in rest for pair in pairwise(word)} & numbers.keys()
            if not usable:
                break
            found.append(min(usable, key=numbers.__getitem__))
            rest = [merge_pair(word, found[-1], numbers[found[-1]]) for word in rest]
        return found

    def encoding(self) -> BytePairEncoding:
        """Return the encoding with the merges that are made; the book's keep their numbers."""
        made = self.made()
        if self.source == "text":
            return BytePairEncoding(made, ())
        last = max((self.merges.index(list(pair)) + 1 for pair in made), default=0)
        return BytePairEncoding([(first, second) for first, second in self.merges[:last]], ())

    def tokens(self) -> list[int]:
        """Encode the text with the merges that are made."""
        return self.encoding().encode(self.text)

    def picture(self) -> Figure:
        """Draw how many words, characters, bytes and tokens the text has.

        Returns
        -------
        Figure
            One panel.
        """
        figure = Figure(figsize=(7.2, 2.6), layout="constrained")
        axes = figure.subplots()
        tokens = self.tokens()
        sizes = {
            "words": len(split_words(self.text)),
            "tokens": len(tokens),
            "characters": len(self.text),
            "bytes": len(self.text.encode()),
        }
        axes.barh(list(sizes), list(sizes.values()), color=LIGHT["blue"])
        for place, size in enumerate(sizes.values()):
            axes.annotate(f" {size}", (size, place), va="center")
        names = self.encoding().tokens
        made = [names[a] + names[b] for a, b in self.made()]
        last = made[-1].decode("utf-8", errors="replace") if made else "nothing"
        axes.set(xlabel="symbols", title=f"After {len(made)} merges; the last one made “{last}”")
        axes.invert_yaxis()
        axes.margins(x=0.1)
        return figure
