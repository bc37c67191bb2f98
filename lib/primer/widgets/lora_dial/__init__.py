"""The LoRA dial: a change of low rank, turned up and down beside the book's model."""

from __future__ import annotations

from typing import Any, ClassVar

import torch
from jaxtyping import Float
from matplotlib.figure import Figure
from torch import Tensor

from primer.palette import LIGHT
from primer.widgets.controls import Name, Number, Whole
from primer.widgets.shared.changed_model import ChangedModelWidget

RANK, NEW_TOKENS, LONGEST = 8, 40, 400
DOCSTRING = (
    "Compute the eigenvalues and right eigenvectors of a square array.\n\n"
    "Parameters\n----------\na : (..., M, M) array\n"
)
PLAY = (
    "CALIBAN\nYou taught me language; and my profit on't\n"
    "Is, I know how to curse. The red plague rid you\nFor learning me your language!\n"
)
WORDS = {"docstrings": "NumPy's docstrings", "aligned": "a rater who likes !"}
"""What the changes that come with the book were trained on."""


class LoraDial(ChangedModelWidget):
    r"""A docstring and a speech, read by the book's model with a share of a change of low rank.

    .. math:: W = W_0 + a\sum_{i<r} A_{:,i}\,B_{i,:}

    The change was trained on NumPy's docstrings, or, as chapter 15 does it, on speeches and then
    on the wish of a rater who likes an exclamation mark; both are stored in eight bits.  Strength
    and rank are the reader's; the model runs in the page.  Neither passage was trained on.

    Parameters
    ----------
    **state
        First values of the traits: ``change`` (``"docstrings"`` or ``"aligned"``), ``strength``
        (−0.5 to 1.5), ``rank`` (0 to 8; a change of a lower rank is then whole), ``text`` (up to
        400 characters to be continued), ``examples``, ``checkpoint`` (the model, from
        :func:`primer.widgets.shared.quantized.pack`) and ``changes`` (name → factors, from
        :func:`primer.fine_tuning.stored.pack_lora`).

    Raises
    ------
    traitlets.TraitError
        When a value is out of its range, the text is too long, bytes are damaged, or a change
        belongs to another model.

    Examples
    --------
    >>> LoraDial(strength=0.5, rank=2)
    LoraDial(text='Return the ', change='docstrings', strength=0.5, rank=2)
    """

    description = (
        "A docstring and a speech from a play, each token shaded by how much it surprises the "
        "model. With the change at full strength the docstring is pale and the speech dark; below "
        "them a text that the model writes, and a plot of both losses against the strength."
    )

    EXAMPLES = (
        "Return the ",
        "Parameters\n----------\n",
        "ROMEO\nBut soft",
        "HAMLET\nWho comes here?\n\nHORATIO\n",
    )
    constants: ClassVar[dict[str, Any]] = {
        "passages": [DOCSTRING, PLAY],
        "new_tokens": NEW_TOKENS,
        "longest": LONGEST,
    }

    change = Name(
        "docstrings", among="changes", label="Trained on", words=lambda n: WORDS.get(n, n)
    )
    strength = Number(1.0, low=-0.5, high=1.5, step=0.05, label="Strength a")
    rank = Whole(RANK, low=0, high=RANK, label="Rank r")

    def surprises(self) -> list[Float[Tensor, " tokens"]]:
        """Compute the nats of each token but the first, of the docstring and of the speech."""
        model, found = self.changed_model(self.strength, self.rank), []
        for passage in (DOCSTRING, PLAY):
            tokens = torch.tensor(self.encoding().encode(passage))
            with torch.no_grad():
                log_p = model(tokens[None])[0, :-1].double().log_softmax(dim=1)
            found.append(-log_p.gather(1, tokens[1:, None])[:, 0])
        return found

    def losses(self) -> tuple[float, float]:
        """Return the mean surprise on the docstring and on the speech."""
        docstring, play = self.surprises()
        return float(docstring.mean()), float(play.mean())

    def picture(self) -> Figure:
        """Draw both losses against the strength, and where the dial stands.

        Returns
        -------
        Figure
            One panel.
        """
        figure = Figure(figsize=(7.2, 3.4), layout="constrained")
        axes = figure.subplots()
        strengths = [-0.5, 0.0, 0.5, 1.0, 1.5]
        each = [
            type(self)(
                strength=a,
                rank=self.rank,
                change=self.change,
                checkpoint=self.checkpoint,
                changes=self.changes,
            )
            for a in strengths
        ]
        curves = zip(*(widget.losses() for widget in each), strict=True)
        for name, curve, color in zip(
            ("docstring", "speech"), curves, ("blue", "orange"), strict=True
        ):
            axes.plot(strengths, curve, "o-", color=LIGHT[color], label=name)
        axes.axvline(self.strength, color=LIGHT["muted"], linestyle=":")
        axes.set(xlabel="strength a", ylabel="nats per token")
        axes.set_title(f"A change of rank {self.rank}, turned up and down")
        axes.legend()
        return figure
