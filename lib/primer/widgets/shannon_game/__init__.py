"""Shannon's game: guess a play letter by letter, against counts and a transformer."""

from __future__ import annotations

import functools
import json
from typing import Any, ClassVar

import numpy as np
import traitlets
from matplotlib.figure import Figure

from primer.language_models import shannon_bounds
from primer.palette import LIGHT
from primer.scoreboard.letters import (
    FILE,
    GIVEN,
    LETTERS,
    ORDERS,
    PASSAGES,
    TRANSFORMER,
    symbols,
)
from primer.widgets.base import Widget
from primer.widgets.controls import Choice, Switch

HIGHEST = 12
"""Bits at the upper end of the drawing; what surprises more is cut there."""

MODELS = (*ORDERS, TRANSFORMER)


@functools.cache
def stored() -> bytes:
    """Read the models' predictions, once for all widgets of a notebook."""
    return FILE.read_bytes()


@functools.cache
def predictions() -> dict[str, Any]:
    """Return the same, for Python; nobody may change it."""
    found: dict[str, Any] = json.loads(stored())
    return found


class Ranks(traitlets.List):  # type: ignore[type-arg]
    """How many guesses each letter took, one number for each letter that was found."""

    def validate(self, obj: Any, value: Any) -> list[int]:
        """Return the numbers, or raise a ``TraitError`` that says what is wrong with them."""
        numbers = list(super().validate(obj, value) or ())
        most = len(symbols())
        if len(numbers) > LETTERS or not all(type(n) is int and 1 <= n <= most for n in numbers):
            raise traitlets.TraitError(
                f"ranks must be at most {LETTERS} whole numbers from 1 to {most}, got {value!r}"
            )
        return numbers


class ShannonGame(Widget):
    r"""Guess the next letter of *Macbeth*, which none of the models has read either.

    The reader's guesses are counted; their numbers bound the entropy of the reader's own
    predictions (:func:`primer.language_models.shannon_bounds`). The models say probabilities, so
    that their surprise is known exactly.

    Parameters
    ----------
    **state
        First values of the traits: ``passage`` (``"verse"`` or ``"prose"``), ``rival``
        (``"letters"``, ``"3-gram"``, ``"5-gram"``, ``"7-gram"`` or ``"transformer"``),
        ``smoothing`` (False takes the n-grams' counts as they are), ``ranks`` (how many guesses
        each letter took that was found) and ``tried`` (wrong guesses at the present letter).

    Raises
    ------
    traitlets.TraitError
        When a value is none of these.

    Examples
    --------
    >>> game = ShannonGame(ranks=[1, 1, 2, 2])
    >>> game.bounds()
    (1.0, 1.0)
    """

    description = (
        "The beginning of a passage of Macbeth, and above each letter a bar: how many bits it "
        "surprised a 7-gram model. The bars are high where words begin. The next letter is hidden."
    )
    constants: ClassVar[dict[str, Any]] = {
        "given": GIVEN,
        "letters": LETTERS,
        "highest": HIGHEST,
        "models": list(MODELS),
        "lengths": ORDERS,
    }

    passage = Choice(
        "verse", {name: words for name, (words, _) in PASSAGES.items()}, label="Passage"
    )
    rival = Choice("7-gram", MODELS, label="Against")
    smoothing = Switch(True, label="Smoothing: n-grams never say never")
    ranks = Ranks([]).tag(sync=True)
    tried = traitlets.Unicode().tag(sync=True)
    game = traitlets.Bytes().tag(sync=True)

    @traitlets.default("game")
    def _default_game(self) -> bytes:
        return stored()

    @traitlets.validate("game")
    def _check_game(self, proposal: traitlets.Bunch) -> bytes:
        if proposal.value != stored():
            raise traitlets.TraitError("game holds the models' predictions, which nobody sets")
        return bytes(proposal.value)

    @traitlets.validate("tried")
    def _check_tried(self, proposal: traitlets.Bunch) -> str:
        letters = str(proposal.value)
        if len(set(letters)) < len(letters) or not set(letters) <= set(symbols()):
            raise traitlets.TraitError(
                f"tried must be different ones of {symbols()!r}, got {letters!r}"
            )
        return letters

    def text(self) -> str:
        """Return the letters that are known: those given and those found."""
        whole: str = predictions()["passages"][self.passage]["text"]
        return whole[: GIVEN + len(self.ranks)]

    def surprises(self) -> list[float]:
        """Return the rival's surprise at each of these letters, in bits."""
        name = (
            self.rival
            if self.smoothing or self.rival == TRANSFORMER
            else self.rival + " unsmoothed"
        )
        bits = predictions()["passages"][self.passage]["models"][name]["bits"]
        return [np.inf if b is None else b for b in bits[: len(self.text())]]

    def bounds(self) -> tuple[float, float]:
        """Bound the entropy of the reader's predictions.

        Returns
        -------
        lower, upper : float
            In bits per letter.

        Raises
        ------
        ValueError
            When no letter was found yet.
        """
        if not self.ranks:
            raise ValueError("there are no guesses yet: find a letter first")
        return shannon_bounds(np.array(self.ranks))

    def picture(self) -> Figure:
        """Draw the rival's surprise at the last letters.

        Returns
        -------
        Figure
            One panel.
        """
        figure = Figure(figsize=(7.2, 3.2), layout="constrained")
        axes = figure.subplots()
        text, bits = self.text()[-GIVEN:], np.minimum(self.surprises()[-GIVEN:], HIGHEST)
        first = [i > 0 and text[i - 1] in " \n" for i in range(len(text))]
        colors = [LIGHT["orange" if begins else "blue"] for begins in first]
        axes.bar(range(len(text)), bits, color=colors)
        labels = [*(c.replace(" ", "␣").replace("\n", "⏎") for c in text), "?"]
        axes.set_xticks(range(len(labels)), labels)
        axes.set(ylabel="surprise (bits)", ylim=(0, HIGHEST), xlabel="what came")
        axes.grid(axis="x", visible=False)
        axes.set_title(
            f"What comes next? So far the {self.rival} paid {bits.mean():.2f} bits a letter"
        )
        return figure
