"""The LoRA dial: a change of low rank, turned up and down beside the book's model."""

from __future__ import annotations

import functools
from typing import Any, ClassVar

import torch
import traitlets
from jaxtyping import Float
from matplotlib.figure import Figure
from torch import Tensor, nn

from primer.fine_tuning.stored import DOCSTRINGS, Factors, turned, unpack_lora
from primer.palette import LIGHT
from primer.transformers import load_pretrained
from primer.widgets.controls import Number, Whole
from primer.widgets.language_model import LanguageModelWidget
from primer.widgets.quantized import pack

RANK, NEW_TOKENS, LONGEST = 8, 40, 400
DOCSTRING = (
    "Compute the eigenvalues and right eigenvectors of a square array.\n\n"
    "Parameters\n----------\na : (..., M, M) array\n"
)
PLAY = (
    "CALIBAN\nYou taught me language; and my profit on't\n"
    "Is, I know how to curse. The red plague rid you\nFor learning me your language!\n"
)


class LoraDial(LanguageModelWidget):
    r"""A docstring and a speech, read by the book's model with a share of a change of low rank.

    .. math:: W = W_0 + a\sum_{i<r} A_{:,i}\,B_{i,:}

    The change was trained on NumPy's docstrings and is stored in eight bits.  Its strength and its
    rank are the reader's; the model runs in the page.  Neither passage was trained on.

    Parameters
    ----------
    **state
        First values of the traits: ``strength`` (−0.5 to 1.5), ``rank`` (0 to 8), ``text`` (up to
        400 characters to be continued), ``examples``, ``checkpoint`` (the model, from
        :func:`primer.widgets.quantized.pack`) and ``change`` (the factors, from
        :func:`primer.fine_tuning.stored.pack_lora`).

    Raises
    ------
    traitlets.TraitError
        When a value is out of its range, the text is too long, or bytes are damaged.

    Examples
    --------
    >>> LoraDial(strength=0.5, rank=2)
    LoraDial(text='Return the ', strength=0.5, rank=2)
    """

    description = (
        "A docstring and a speech from a play, each token shaded by how much it surprises the "
        "model. With the change at full strength the docstring is pale and the speech dark; below "
        "them a text that the model writes, and a plot of both losses against the strength."
    )

    EXAMPLES = ("Return the ", "Parameters\n----------\n", "ROMEO\nBut soft", "Enter the King of ")
    constants: ClassVar[dict[str, Any]] = {
        "passages": [DOCSTRING, PLAY],
        "new_tokens": NEW_TOKENS,
        "longest": LONGEST,
    }

    strength = Number(1.0, low=-0.5, high=1.5, step=0.05, label="Strength a")
    rank = Whole(RANK, low=0, high=RANK, label="Rank r")
    change = traitlets.Bytes().tag(sync=True)

    @traitlets.default("checkpoint")
    def _default_second_edition(self) -> bytes:
        return _second_edition()

    @traitlets.default("change")
    def _default_change(self) -> bytes:
        return DOCSTRINGS.read_bytes()

    @traitlets.validate("change")
    def _check_change(self, proposal: traitlets.Bunch) -> bytes:
        try:
            turned(self.model(), _unpacked(bytes(proposal.value)), 1.0, RANK)
        except ValueError as error:
            raise traitlets.TraitError(f"change: {error}") from None
        return bytes(proposal.value)

    def turned_model(self) -> nn.Module:
        """Return the model with the share of the change."""
        return turned(self.model(), _unpacked(self.change), self.strength, self.rank)

    def surprises(self) -> list[Float[Tensor, " tokens"]]:
        """Compute the nats of each token but the first, of the docstring and of the speech."""
        model, found = self.turned_model(), []
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
            type(self)(strength=a, rank=self.rank, checkpoint=self.checkpoint, change=self.change)
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


@functools.cache
def _second_edition() -> bytes:
    """Pack the model that the change was trained beside, once."""
    return pack(*load_pretrained("plays-2"))


@functools.lru_cache(maxsize=4)
def _unpacked(data: bytes) -> Factors:
    """Read the factors once."""
    return unpack_lora(data)
