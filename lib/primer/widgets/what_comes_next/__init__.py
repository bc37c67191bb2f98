"""What comes next: type a line, see the bars of the next piece, and let the model write it on."""

from __future__ import annotations

import base64
import contextlib
import textwrap
from itertools import islice
from typing import Any, ClassVar

import matplotlib as mpl
import numpy as np
import torch
import traitlets
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from torch import Tensor

from primer.alignment.recorded import ALIGNED
from primer.fine_tuning.stored import unpack_lora
from primer.inference import probabilities
from primer.notebook.figures import png, use_book_style
from primer.palette import LIGHT
from primer.widgets.base import light
from primer.widgets.controls import Name, Number
from primer.widgets.shared.changed_model import NOTHING, ChangedModelWidget
from primer.widgets.shared.mulberry import mulberry
from primer.widgets.shared.quantized import unpacked

MOST = 100
"""Pieces that the model writes behind a line."""
SHOWN = 8
COLUMNS, LINES = 42, 10
"""Letters of a line that is written in a still picture, and lines."""
MODELS = {"plays": "trained on plays", "aligned": "then aligned: rewarded for “!”"}
STEPS = {
    "pieces": "05-language-models.html#language-models-symbols",
    "attention": "07-attention.html#attention-by-hand",
    "layers": "09-transformers.html#transformers-real",
    "probabilities": "05-language-models.html#language-models-definition",
    "a draw": "11-inference.html#inference-decoding",
}
"""What happens to a line, in order, and where the book explains it."""
WISH = "15-alignment.html#alignment-picture"


class WhatComesNext(ChangedModelWidget):
    r"""A line of the reader's, the probabilities of the next token, and a model that writes on.

    The model runs in the page, as it was trained on plays, or aligned with a rater's wish.  The
    color of a token of the text is the stronger, the more the last one attends to it, on average
    over all heads of all layers.

    Parameters
    ----------
    **state
        First values of the traits: ``text`` (the line), ``written`` (ids of the tokens behind it,
        at most 100), ``change`` (``"plays"`` for none, or ``"aligned"``), ``temperature`` (0.1 to
        3), ``seed`` (from 0 on; the k-th token is drawn by its k-th number), ``examples`` (lines
        to choose from), ``checkpoint`` (the model, from
        :func:`primer.widgets.shared.quantized.pack`; the book's own when left out) and
        ``changes`` (name → factors, from :func:`primer.fine_tuning.stored.pack_lora`; those that
        fit the model when left out).

    Raises
    ------
    traitlets.TraitError
        When a value is out of its range or of another kind, the checkpoint is none, or a change
        belongs to another model.

    Examples
    --------
    >>> WhatComesNext(text="To be, or not to")
    WhatComesNext(text='To be, or not to', change='plays', temperature=1.0, seed=1)
    """

    description = (
        "A line of text, cut into the pieces that a small language model reads, the color of each "
        "the stronger, the more the last one attends to it. Below, bars of the pieces that the "
        "model finds most probable next; in the page it writes on, as trained on plays or aligned "
        "with a wish."
    )

    EXAMPLES = (
        "Good morrow, cousin",
        "My lord, I",
        "To be, or not to",
        "HAMLET\nWho comes here?\n\nHORATIO\n",
        "Enter the King of ",
        "O my dear",
    )
    constants: ClassVar[dict[str, Any]] = {
        "most": MOST,
        "shown": SHOWN,
        "steps": list(map(list, STEPS.items())),
        "wish": WISH,
    }

    written = traitlets.List(traitlets.Int()).tag(sync=True)
    change = Name(
        "plays", among="changes", label="Model", look="radio", words=lambda n: MODELS.get(n, n)
    )
    temperature = Number(
        1.0,
        low=0.1,
        high=3.0,
        step=0.02,
        scale="decades",
        label="Temperature τ",
        hint="its limit 0 is greedy",
    )
    seed = traitlets.Int(1, min=0).tag(sync=True)

    @traitlets.default("changes")
    def _default_changes(self) -> dict[str, bytes]:
        changes, data = {"plays": NOTHING}, ALIGNED.read_bytes()
        with contextlib.suppress(ValueError):  # of another model
            unpack_lora(data, self.model())
            changes["aligned"] = data
        return changes

    @traitlets.validate("written")
    def _check_written(self, proposal: traitlets.Bunch) -> list[int]:
        written, size = list(proposal.value), unpacked(self.checkpoint)[0].config.vocab_size
        if len(written) > MOST:
            raise traitlets.TraitError(f"written has at most {MOST} tokens, got {len(written)}")
        if strange := [token for token in written if not 0 <= token < size]:
            raise traitlets.TraitError(f"written holds ids below {size}, got {strange[0]}")
        return written

    def tokens(self) -> list[int]:
        """Encode the end of the line for which there is room, and add what was written, no end."""
        room = self.model().config.context_length - MOST
        whole = self.encoding().encode(self.text)[-room:] + self.written
        return [token for token in whole if token != self.end()]

    def read(self) -> tuple[Float[Tensor, " vocab"], Float[Tensor, " seq"]]:
        """Compute the logits of the next token, and what the last one attends to.

        Returns
        -------
        logits : Tensor of shape (vocab,)
            Of the model that is chosen.
        attention : Tensor of shape (seq,)
            The weights of the last token, their mean over all heads of all layers.
        """
        seen: dict[str, Tensor] = {}
        model = self.changed_model()
        with torch.no_grad():
            logits = model(torch.tensor([self.tokens()]), observe=seen.__setitem__)[0, -1]
        last = [weights[0, :, -1] for name, weights in seen.items() if name.endswith("weights")]
        return logits.double(), torch.cat(last).double().mean(dim=0)

    def distribution(self) -> Float[Tensor, " vocab"]:
        """Compute the distribution that the next token is drawn from."""
        return probabilities(self.read()[0], self.temperature)

    def write(self, count: int) -> None:
        """Draw tokens one after the other, as the page does, until the model ends its text."""
        for uniform in islice(mulberry(self.seed), len(self.written), len(self.written) + count):
            if self.end() in self.written:
                return
            p = self.distribution().numpy()
            token = int(np.searchsorted(np.cumsum(p), uniform, side="right"))
            self.written = [*self.written, min(token, int(np.flatnonzero(p)[-1]))]

    def picture(self) -> Figure:
        """Draw the line in its tokens, and the bars of the next one.

        Returns
        -------
        Figure
            Two panels, as narrow as a telephone needs them.
        """
        figure = Figure(figsize=(4.4, 4.8), layout="constrained")
        if self._can_go_on(figure):
            above, below = figure.subplots(2, 1, height_ratios=[1, 9])
            self._draw_line(above)
            self._draw_bars(below)
        return figure

    def narrow_picture(self) -> Figure:
        """Draw the line, the bars and a text that the model writes, as high as a telephone's page.

        Returns
        -------
        Figure
            Three panels, one below the other.
        """
        figure = Figure(figsize=(4.4, 9.3), layout="constrained")
        if self._can_go_on(figure):
            above, middle, below = figure.subplots(3, 1, height_ratios=[1, 10, 6])
            self._draw_line(above)
            self._draw_bars(middle)
            self._draw_text(below)
        return figure

    def _repr_mimebundle_(self, **kwargs: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        """Offer beside the picture a narrow one, where the place of the widget is high."""
        data, metadata = super()._repr_mimebundle_(**kwargs)
        with mpl.rc_context():
            use_book_style()
            narrow = light(png(self.narrow_picture()))
        metadata["image/png"]["narrow"] = base64.b64encode(narrow).decode()
        return data, metadata

    def _can_go_on(self, figure: Figure) -> bool:
        """Say in a figure that there is no line to go on with, if there is none."""
        if not self.tokens():
            figure.text(0.5, 0.5, "A line of one letter or more can be continued.", ha="center")
        return bool(self.tokens())

    def _draw_line(self, axes: Axes) -> None:
        """Draw the last tokens as boxes, colored where the last one looks."""
        attention = self.read()[1]
        names = [self.name_of(token) for token in self.tokens()]
        widths = np.array([1.5 + len(name) for name in names])
        shown = int((np.cumsum(widths[::-1]) <= 34).sum()) or 1
        most, left = float(attention.max()), 0.0
        for name, wide, look in zip(
            names[-shown:], widths[-shown:], attention[-shown:].tolist(), strict=True
        ):
            axes.barh(0, wide - 0.3, 1, left, color=LIGHT["orange"], alpha=0.45 * look / most)
            axes.text(left + wide / 2 - 0.15, 0, name, ha="center", va="center", family="monospace")
            left += wide
        axes.set(xlim=(0, max(left, 34.0)), ylim=(-0.6, 0.6))
        axes.set_axis_off()

    def _draw_bars(self, axes: Axes) -> None:
        """Draw the most probable tokens as bars with their probabilities."""
        p = self.distribution()
        order = p.argsort(descending=True, stable=True)[:SHOWN].tolist()
        shares = [float(p[token]) for token in order]
        axes.barh(range(len(order)), shares, 0.7, color=LIGHT["blue"])
        names = [self.name_of(token) for token in order]
        axes.set_yticks(range(len(order)), names, family="monospace")
        for row, share in enumerate(shares):
            axes.text(share, row, f" {100 * share:.1f} %", va="center")
        axes.set(ylim=(len(order) - 0.4, -0.6), xlim=(0, 1.25 * max(shares)), xticks=[])
        axes.tick_params(left=False)
        axes.spines[["left", "bottom"]].set_visible(False)
        axes.grid(visible=False)
        axes.set_title("What comes next?")

    def _draw_text(self, axes: Axes) -> None:
        """Write the line and what the model writes behind it, a piece after the other."""
        encoding, before = self.encoding(), self.written
        given = encoding.decode(self.tokens()).rpartition("\n")[2]  # its end, where it is long
        with self.hold_sync():  # no page is told
            self.write(MOST - len(before))
            new = [token for token in self.written[len(before) :] if token != self.end()]
            self.written = before
        text = given[-COLUMNS:] + encoding.decode(new)
        lines = [part for line in text.split("\n") for part in textwrap.wrap(line, COLUMNS) or [""]]
        for row, line in enumerate(lines[:LINES]):
            axes.text(0, 1 - row / LINES, line, va="top", size="large", parse_math=False)
        axes.set_axis_off()
        axes.set_title("One way it goes on")
