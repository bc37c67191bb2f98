"""Swap one: a vector of one run of the book's model carried into another, place by place."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import torch
import traitlets
from jaxtyping import Float
from matplotlib.figure import Figure
from torch import Tensor

from primer.inside import patched, record, swap
from primer.palette import LIGHT
from primer.widgets.controls import Choice, Whole
from primer.widgets.shared.language_model import LanguageModelWidget

PARTS = {
    "stream": "the whole stream",
    "head": "what heads found",
    "keys": "keys",
    "values": "values",
}
ACTIVATION = {
    "stream": "before",
    "head": "attention.heads",
    "keys": "attention.keys",
    "values": "attention.values",
}
"""What a part is called among the activations of a block."""

DIRECTIONS = {"denoise": "first → changed", "noise": "changed → first"}
LONGEST = 32
"""How many tokens the map has room for."""

SMALL = 0.05
"""A difference of two logits below which there is nothing to restore."""

PAIRS = (
    (
        "A good word, a fair hand, a true heart. A fair",
        "A good word, a poor hand, a true heart. A fair",
    ),
    (
        "Good morrow, sweet lady. Good morrow, sweet",
        "Good morrow, sweet death. Good morrow, sweet",
    ),
    (
        "A poor fool, a noble death, a sweet word. A noble",
        "A poor fool, a gentle death, a sweet word. A noble",
    ),
)
"""A passage read twice, and the same with one word replaced in its first reading."""


class SwapOne(LanguageModelWidget):
    r"""Two texts that differ in one token, and one vector carried from one run into the other.

    The difference is the logit of B less that of B′: B is what the first text expects most, B′ what
    the changed text expects most besides B.  With m for it, *denoising* runs the changed text with
    one vector of the first, *noising* the first with one of the changed, and the share is

    .. math::
        \frac{m(\text{patched}) - m(\text{changed})}{m(\text{first}) - m(\text{changed})}
        \quad\text{or}\quad
        \frac{m(\text{first}) - m(\text{patched})}{m(\text{first}) - m(\text{changed})}.

    Parameters
    ----------
    **state
        First values of the traits: ``text`` and ``changed`` (the two texts), ``direction``
        (``"denoise"`` or ``"noise"``), ``part`` (``"stream"``, ``"head"``, ``"keys"`` or
        ``"values"``), ``head`` (0 to 3, or None for all; the stream has none), ``place`` and
        ``layer`` (the cell looked at, from 0), ``probed`` (the cells that are filled, layer times
        the number of tokens plus place) and ``checkpoint`` (the model, from
        :func:`primer.widgets.shared.quantized.pack`; the book's own when left out).

    Raises
    ------
    traitlets.TraitError
        When a value is out of its range or of another kind, or the checkpoint is none.

    Examples
    --------
    >>> widget = SwapOne()
    >>> widget.trouble(), round(float(widget.shares()[1, 6]), 1)  # at the right neighbor
    ('', 0.9)
    >>> SwapOne(changed=PAIRS[0][0]).trouble()
    'Both texts are the same: replace a word of the second.'
    """

    description = (
        "Two texts that differ in one word, what the model expects after each, and a map with a "
        "column for each token and a row for each block: how much of the difference between the "
        "two runs comes back when one vector is carried over. Before block 0 only the replaced "
        "word's does it."
    )

    EXAMPLES = tuple(first for first, _ in PAIRS)
    changed = traitlets.Unicode(PAIRS[0][1]).tag(sync=True)
    direction = Choice("denoise", DIRECTIONS, label="Carry")
    part = Choice("stream", PARTS, label="What", look="select")
    head = Whole(None, low=0, high=3, none="all", label="Head")
    layer = traitlets.Int(1, min=0).tag(sync=True)
    place = traitlets.Int(6, min=0).tag(sync=True)
    probed = traitlets.List(traitlets.Int(min=0), list(range(14))).tag(sync=True)
    constants: ClassVar[dict[str, Any]] = {"pairs": PAIRS, "longest": LONGEST}

    @traitlets.validate("changed")
    def _check_changed(self, proposal: traitlets.Bunch) -> str:
        return self._check_text(proposal)

    def both(self) -> tuple[list[int], list[int]]:
        """Encode the two texts."""
        encoding = self.encoding()
        return encoding.encode(self.text), encoding.encode(self.changed)

    def trouble(self) -> str:
        """Say why the two texts cannot be compared; nothing when they can."""
        (tokens, other), longest = self.both(), LONGEST
        n, m = len(tokens), len(other)
        if not n and not m:
            return "Type two texts: the model needs a token to continue."
        if not n:
            return "The first text is empty: the model needs a token to continue."
        if not m:
            return "The changed text is empty: type the first once more, with one word replaced."
        if n != m:
            return (
                f"The first text has {n} tokens and the changed one {m}: replace a word by one of "
                "as many tokens, so that each place has its counterpart."
            )
        if n > longest:
            return f"The texts have {n} tokens; the map has room for {longest}."
        return "" if tokens != other else "Both texts are the same: replace a word of the second."

    def contrast(self) -> tuple[int, int]:
        """Return B and B′: what the first text expects most, the changed text most besides it."""
        first, changed = self._logits(0), self._logits(1).clone()
        right = int(first.argmax())
        changed[right] = -torch.inf
        return right, int(changed.argmax())

    def _logits(self, which: int) -> Float[Tensor, " vocab"]:
        """Compute the logits after one of the texts."""
        with torch.no_grad():
            return self.model()(torch.tensor([self.both()[which]]), n_last=1)[0, -1]

    def carried(self, layer: int) -> Float[Tensor, "places vocab"]:
        """Compute the logits of runs into which one place of the other run is carried, for each.

        Raises
        ------
        ValueError
            When the texts differ in length, or there is no such block.
        """
        into, source = self.both()[::-1] if self.direction == "denoise" else self.both()
        name = f"blocks.{layer}.{ACTIVATION[self.part]}"
        other = record(self.model(), torch.tensor([source]), [name])[name]
        heads = None if self.part == "stream" else self.head

        def each(x: Tensor) -> Tensor:
            rows = zip(range(len(into)), x.split(1), strict=True)
            return torch.cat([swap(other, place=place, heads=heads)(row) for place, row in rows])

        with torch.no_grad():
            tokens = torch.tensor([into]).repeat(len(into), 1)
            return patched(self.model(), tokens, {name: each}, n_last=1)[:, -1]

    def shares(self) -> Float[np.ndarray, "layers places"]:
        """Compute the whole map."""
        right, wrong = self.contrast()

        def difference(logits: Tensor) -> np.ndarray:
            return np.asarray(logits[..., right] - logits[..., wrong])

        first, changed = (difference(self._logits(i)) for i in (0, 1))
        start, end = (changed, first) if self.direction == "denoise" else (first, changed)
        found = [difference(self.carried(b)) for b in range(self.model().config.n_layers)]
        return np.asarray((np.stack(found) - start) / (end - start))

    def picture(self) -> Figure:
        """Draw the map of the cells that are filled.

        Returns
        -------
        Figure
            One panel, or a sentence where the texts cannot be compared.
        """
        figure = Figure(figsize=(7.2, 3.0), layout="constrained")
        if trouble := self.trouble():
            figure.text(0.5, 0.5, trouble, ha="center", wrap=True)
            return figure
        axes = figure.subplots()
        shares, n = self.shares(), len(self.both()[0])
        hidden = np.ones(shares.size, dtype=bool)
        hidden[[at for at in self.probed if at < shares.size]] = False
        shares[hidden.reshape(shares.shape)] = np.nan
        image = axes.imshow(shares, vmin=0, vmax=1, aspect="auto")
        axes.grid(visible=False)
        names = [self.encoding().decode([token]).replace("\n", "⏎") for token in self.both()[0]]
        axes.set_xticks(range(n), names, rotation=60, fontsize=8)
        axes.set_yticks(range(len(shares)))
        for label, one, other in zip(axes.get_xticklabels(), *self.both(), strict=True):
            if one != other:
                label.set_color(LIGHT["orange"])
        axes.plot(min(self.place, n - 1), min(self.layer, len(shares) - 1), "s", color=LIGHT["ink"])
        axes.set(ylabel="block", title=f"Share carried: {PARTS[self.part]}")
        figure.colorbar(image, ax=axes, label="share")
        return figure
