"""Who remembers: what three networks that read a text feel of each letter before."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import torch
import traitlets
from jaxtyping import Float
from matplotlib.figure import Figure

from primer.palette import LIGHT
from primer.recurrent import RecurrentLanguageModel, character_models, input_gradients
from primer.recurrent.stored import MODELS
from primer.widgets.base import Widget
from primer.widgets.controls import Switch, Whole

LONGEST, FAINTEST = 80, 6
NAMES = {"rnn": "RNN", "lstm": "LSTM", "gru": "GRU"}
PASSAGE = "If music be the food of love, play on; give me excess of it, that, surfeiting, "


class Remembering(Widget):
    r"""The gradient of a predicted letter with respect to each letter before it, for three nets.

    .. math:: g_k = \left\lVert\frac{\partial\ln P(w_t\mid w_0,\dots,w_{t-1})}
        {\partial e_k}\right\rVert_2

    The book's three character models run in the page on whatever is typed.

    Parameters
    ----------
    **state
        First values of the traits: ``text`` (2 to 80 characters that the networks know), ``letter``
        (the place of the letter to predict, from 1; beyond the text it is the last one), ``kept``
        (how many letters before it are left, the older ones are replaced by another text; None
        for all), ``logarithmic`` (the shading) and ``examples`` (texts to choose from).

    Raises
    ------
    traitlets.TraitError
        When a value is out of its range, or the text holds fewer than two letters, more than 80,
        or one that the networks have never seen.

    Examples
    --------
    >>> Remembering(text="To be, or not to be", kept=4)
    Remembering(text='To be, or not to be', letter=79, kept=4, logarithmic=True)
    """

    description = (
        "A line of text three times, once for each of three recurrent networks that are asked for "
        "its last letter. The stronger the color of a letter before it, the larger the gradient of "
        "the prediction with respect to it, on a logarithmic scale: with the Elman network the "
        "shade fades out, with the GRU it reaches the first letter."
    )

    EXAMPLES: ClassVar[tuple[str, ...]] = (
        "Is this a dagger which I see before me",
        "To be, or not to be: that is the question",
        "The keys of the cabinet of the lady are",
        "Romeo, Romeo! wherefore art thou Romeo",
    )
    constants: ClassVar[dict[str, Any]] = {
        "names": NAMES,
        "passage": PASSAGE,
        "longest": LONGEST,
        "faintest": FAINTEST,
    }

    text = traitlets.Unicode(EXAMPLES[0]).tag(sync=True)
    letter = Whole(LONGEST - 1, low=1, high=LONGEST - 1, label="Letter to predict")
    kept = Whole(
        None, low=1, high=LONGEST - 1, none="all", label="Letters left", hint="None for all"
    )
    logarithmic = Switch(True, label="Shade by the logarithm")
    examples = traitlets.List(traitlets.Unicode(), list(EXAMPLES)).tag(sync=True)
    models = traitlets.Bytes().tag(sync=True)

    @traitlets.default("models")
    def _default_models(self) -> bytes:
        return MODELS.read_bytes()

    @traitlets.validate("text")
    def _check_text(self, proposal: traitlets.Bunch) -> str:
        text = str(proposal.value)
        unknown = sorted(set(text) - set(character_models()["rnn"].alphabet))
        if unknown:
            raise traitlets.TraitError(f"the networks have never seen {''.join(unknown)!r}")
        if not 2 <= len(text) <= LONGEST:
            raise traitlets.TraitError(
                f"text must have 2 to {LONGEST} letters, a last one to predict and some to read, "
                f"got {len(text)}"
            )
        return text

    def place(self) -> int:
        """Say where the letter stands that is predicted."""
        return min(self.letter, len(self.text) - 1)

    def shown(self) -> str:
        """Return what the networks read, and the letter they are to predict.

        Letters older than those that are left come from another text.
        """
        place = self.place()
        erased = 0 if self.kept is None else max(0, place - self.kept)
        return PASSAGE[:erased] + self.text[erased : place + 1]

    def sizes(self, model: RecurrentLanguageModel) -> Float[np.ndarray, " letters"]:
        """Compute the gradient's size for each letter read, the first one first."""
        return input_gradients(model, model.encode(self.shown())[None])[0].flip(0).numpy()

    @torch.no_grad()
    def probability(self, model: RecurrentLanguageModel) -> float:
        """Compute the probability of the letter that comes."""
        tokens = model.encode(self.shown())
        return float(model(tokens[None, :-1])[0, -1].softmax(-1)[tokens[-1]])

    def picture(self) -> Figure:
        """Draw the shaded letters, a row for each network.

        Returns
        -------
        Figure
            One panel.
        """
        text, models = self.shown(), character_models()
        figure = Figure(figsize=(7.2, 2.6), layout="constrained")
        axes = figure.subplots()
        rows = np.stack([self.sizes(models[name]) for name in NAMES])
        shares = rows / rows.max(axis=1, keepdims=True)
        if self.logarithmic:
            depth = 1 + np.log10(np.maximum(shares, 10.0**-FAINTEST)) / FAINTEST
        else:
            depth = shares
        axes.imshow(depth, cmap="Blues", vmin=0, vmax=1, aspect="auto")
        axes.set_xticks(range(len(text) - 1), list(text[:-1]), fontsize=9)
        said = [f"{word}, {self.probability(models[name]):.0%}" for name, word in NAMES.items()]
        axes.set_yticks(range(len(NAMES)), said)
        axes.set_xlabel(f"letters read; to predict is “{text[-1]}”", color=LIGHT["ink"])
        axes.grid(visible=False)
        axes.set_title("How much the next letter feels each letter before it")
        return figure
