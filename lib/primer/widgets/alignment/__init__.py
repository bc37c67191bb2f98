"""Alignment: where a decoder looks while it writes a word backwards."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import torch
import traitlets
from jaxtyping import Float
from matplotlib.figure import Figure
from torch import Tensor

from primer.palette import LIGHT
from primer.recurrent import EncoderDecoder
from primer.recurrent.backwards import LONGEST as TRAINED
from primer.recurrent.backwards import WEIGHTS, backwards_writer
from primer.widgets.base import Widget
from primer.widgets.controls import Switch, Whole

LONGEST = 20
MARK = "∎"


class Written(NamedTuple):
    """What the decoder wrote, and where it looked at each step."""

    text: str
    weights: Float[Tensor, "steps letters"]


class Alignment(Widget):
    r"""The weights of attention between the letters of a word and those written.

    .. math:: \alpha_{tk} = \operatorname{softmax}_k(h_tWs_k^\top)

    The trained encoder and decoder run in the page on whatever word is typed.

    Parameters
    ----------
    **state
        First values of the traits: ``word`` (1 to 20 small letters a to z), ``row`` (which of the
        letters written is looked at, from 1), ``forced`` (whether each step is told the true letter
        before it) and ``examples`` (words to choose from).

    Raises
    ------
    traitlets.TraitError
        When a value is out of its range, or the word has other characters, none, or more than 20.

    Examples
    --------
    >>> Alignment(word="state").written().text
    'etats∎'
    """

    description = (
        "A grid with a column for each letter of a word and a row for each letter that the decoder "
        "writes, the word backwards. The stronger the color of a square, the more the decoder "
        "looks at that letter: the strongest run from the top right to the bottom left."
    )

    EXAMPLES: ClassVar[tuple[str, ...]] = (
        "remember",
        "sequence",
        "banana",
        "alphabetical",
        "uncopyrightable",
    )
    constants: ClassVar[dict[str, Any]] = {"longest": LONGEST, "trained": TRAINED, "mark": MARK}

    word = traitlets.Unicode(EXAMPLES[0]).tag(sync=True)
    row = Whole(1, low=1, high=LONGEST + 1, label="Letter written")
    forced = Switch(False, label="Tell it the truth at each step (teacher forcing)")
    examples = traitlets.List(traitlets.Unicode(), list(EXAMPLES)).tag(sync=True)
    weights = traitlets.Bytes().tag(sync=True)

    @traitlets.default("weights")
    def _default_weights(self) -> bytes:
        return WEIGHTS.read_bytes()

    @traitlets.validate("word")
    def _check_word(self, proposal: traitlets.Bunch) -> str:
        word = str(proposal.value)
        if not (1 <= len(word) <= LONGEST and word.isascii() and word.isalpha() and word.islower()):
            raise traitlets.TraitError(f"word must be 1 to {LONGEST} letters a to z, got {word!r}")
        return word

    @torch.no_grad()
    def written(self, model: EncoderDecoder | None = None) -> Written:
        """Write the word backwards, until the mark or one step more than the word has letters."""
        model = model or backwards_writer()
        source = torch.tensor([[ord(letter) - ord("a") for letter in self.word]])
        keys, state = model.encode(source)
        truth = [*source[0].flip(0).tolist(), model.mark]
        tokens, weights, token = [], [], torch.tensor([model.mark])
        for true in truth:
            logits, state, now = model.step(token, state, keys, state)
            token = logits.argmax(-1)
            tokens.append(int(token))
            weights.append(now[0])
            if token == model.mark and not self.forced:
                break
            if self.forced:
                token = torch.tensor([true])
        letters = [MARK if token == model.mark else chr(ord("a") + token) for token in tokens]
        return Written("".join(letters), torch.stack(weights))

    def picture(self) -> Figure:
        """Draw the weights as a grid.

        Returns
        -------
        Figure
            One panel.
        """
        text, weights = self.written()
        figure = Figure(figsize=(4.6, 4.6), layout="constrained")
        axes = figure.subplots()
        axes.imshow(weights.numpy(), cmap="Blues", vmin=0, vmax=1)
        axes.set_xticks(range(len(self.word)), list(self.word))
        axes.set_yticks(range(len(text)), list(text))
        axes.set_xlabel("letter read", color=LIGHT["ink"])
        axes.set_ylabel("letter written", color=LIGHT["ink"])
        axes.grid(visible=False)
        axes.set_title("Where attention looks")
        return figure
