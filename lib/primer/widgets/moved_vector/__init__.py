"""Moved vector: what an attention layer adds to one token's vector, arrow by arrow."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import torch
import traitlets
from jaxtyping import Float
from matplotlib.figure import Figure
from torch import Tensor

from primer.inside import patched
from primer.language_models import BytePairEncoding
from primer.palette import LIGHT
from primer.transformers import Transformer
from primer.widgets.controls import Choice, Number, Whole
from primer.widgets.shared.language_model import LanguageModelWidget

PLANES = {"move": "of the move", "guesses": "of two guesses"}
LONGEST = 32
"""How many tokens are read."""

NAMED = 4
"""So many of the arrows, the longest, have a color and a name; the others are drawn as one."""

ALL = NAMED + 2
"""As many arrows as there can be: those of other tokens and those of other heads are one each."""

COLORS = ("orange", "blue", "green", "purple")


class Moved(NamedTuple):
    """What an attention layer does to the vector of the last token."""

    before: Float[Tensor, " d"]
    arrows: Float[Tensor, "heads sources d"]
    """What each head writes because of each token; their sum is what is added."""

    logits: Float[Tensor, " vocab"]


def take_apart(model: Transformer, tokens: list[int], layer: int) -> Moved:
    r"""Take apart what an attention layer adds to the vector of the last token.

    .. math:: x' = x + \sum_h \sum_j \alpha^h_j\, v^h_j\, W_O^h

    Parameters
    ----------
    model : Transformer
        The model.
    tokens : list of int
        The text up to the token that is looked at.
    layer : int
        The layer, from 0.

    Returns
    -------
    Moved
        The vector before, the arrows and the scores of the next token.
    """
    seen: dict[str, Tensor] = {}
    with torch.no_grad():
        logits = model(torch.tensor([tokens]), observe=seen.__setitem__)[0, -1]
        at = f"blocks.{layer}"
        weights = seen[f"{at}.attention.weights"][0, :, -1]  # (heads, sources)
        values = seen[f"{at}.attention.values"][0]  # (key-value heads, sources, d_head)
        values = values.repeat_interleave(len(weights) // len(values), dim=0)
        output = model.get_parameter(f"{at}.attention.output.weight").unflatten(
            1, (len(weights), -1)
        )
        arrows = torch.einsum("hj,hjk,dhk->hjd", weights, values, output)
    return Moved(seen[f"{at}.before"][0, -1], arrows, logits)


def span(first: Float[Tensor, " d"], second: Float[Tensor, " d"]) -> Float[Tensor, "2 d"]:
    """Return two orthogonal directions of length 1 that span what two vectors span.

    Parameters
    ----------
    first, second : Tensor of shape (d,)
        The first direction is that of the first vector; the second is what the second has besides.

    Returns
    -------
    Tensor of shape (2, d)
        The directions; 0 where there is none.

    Examples
    --------
    >>> span(torch.tensor([2.0, 0.0]), torch.tensor([3.0, 4.0])).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    one = first / first.norm().clamp(min=1e-9)
    other = second - (second @ one) * one
    return torch.stack([one, other / other.norm().clamp(min=1e-9)])


class MovedVector(LanguageModelWidget):
    r"""The vector of one token before and after an attention layer, with an arrow for each source.

    The arrow from token j is what it adds, :math:`\sum_h \alpha^h_j v^h_j W_O^h`, over all heads or
    for one.  They are laid tip to tail and lead from the vector before to the vector after.  The
    plane is that of these two, or that of two guesses: to the right what raises the score of the
    likeliest next token over that of the second, upwards what raises both.

    Parameters
    ----------
    **state
        First values of the traits: ``text``; ``place`` (the token looked at, from 0), ``layer``
        (0 to 3), ``head`` (0 to 3, or None for all), ``plane`` (``"move"`` or ``"guesses"``),
        ``strength`` (by what the arrows are multiplied, 0 to 2), ``arrows`` (how many of them are
        drawn so far, 1 to 6; with the last comes the vector after), ``kept_text`` and
        ``kept_place`` (another token, whose move is drawn beside; none where the text is empty),
        ``examples`` and ``checkpoint`` (the model, from
        :func:`primer.widgets.shared.quantized.pack`; the book's own when left out).

    Raises
    ------
    traitlets.TraitError
        When a value is out of its range or of another kind, or the checkpoint is none.

    Examples
    --------
    >>> widget = MovedVector()
    >>> widget.names()[widget.longest()], *(round(widget.chance(s)[0], 2) for s in (1.0, 0.0))
    ('␣hand', 0.35, 0.01)
    """

    description = (
        "The vector of one token of a text in a plane, before and after an attention layer of a "
        "small language model, and between them an arrow for each token that it heard; beside it "
        "the probabilities of the next token as the model runs and with the arrows shortened."
    )

    EXAMPLES = (
        "A good word, a fair hand, a true heart. A fair",
        "Good morrow, sweet lady. Good morrow, sweet",
        "The king is dead. Long live the",
        "To be, or not to be: that is the question",
        "By your leave",
        "I will leave",
    )
    place = traitlets.Int(13, min=0).tag(sync=True)
    layer = Whole(1, low=0, high=3, label="Layer")
    head = Whole(None, low=0, high=3, none="all", label="Head")
    plane = Choice("move", PLANES, label="Plane")
    strength = Number(1.0, low=0.0, high=2.0, step=0.05, label="Arrows, times")
    arrows = traitlets.Int(ALL, min=1, max=ALL).tag(sync=True)
    kept_text = traitlets.Unicode("").tag(sync=True)
    kept_place = traitlets.Int(0, min=0).tag(sync=True)
    constants: ClassVar[dict[str, Any]] = {"longest": LONGEST, "all": ALL}

    @traitlets.validate("kept_text")
    def _check_kept(self, proposal: traitlets.Bunch) -> str:
        try:
            proposal.value.encode()
        except UnicodeEncodeError:
            message = "kept_text holds half a character, a lone surrogate"
            raise traitlets.TraitError(message) from None
        return str(proposal.value)

    def model(self) -> Transformer:
        """Return the model that the page runs; reading it draws no number of the notebook's."""
        with torch.random.fork_rng():
            return super().model()

    def encoding(self) -> BytePairEncoding:
        """Return the model's tokens; the same holds."""
        with torch.random.fork_rng():
            return super().encoding()

    def tokens(self) -> list[int]:
        """Encode the text up to the token that is looked at."""
        return self._read(self.text, self.place)

    def _read(self, text: str, place: int) -> list[int]:
        return self.encoding().encode(text)[:LONGEST][: place + 1]

    def kept(self) -> Float[Tensor, " d"] | None:
        """Return the whole move of the token that was kept; none where it is the present one."""
        tokens = self._read(self.kept_text, self.kept_place)
        if not tokens or tokens == self.tokens():
            return None
        return take_apart(self.model(), tokens, self.layer).arrows.sum(dim=(0, 1))

    def angle(self) -> float | None:
        """Compute how far the move points away from the one that was kept, in degrees."""
        kept = self.kept()
        if kept is None:
            return None
        cosine = torch.cosine_similarity(kept, self.moved().arrows.sum(dim=(0, 1)), dim=0)
        return float(torch.rad2deg(torch.arccos(cosine.clamp(-1, 1))))

    def names(self) -> list[str]:
        """Write the tokens with spaces and line breaks shown."""
        return [self.name_of(token) for token in self.tokens()]

    def moved(self) -> Moved:
        """Take the chosen layer apart, at the chosen token."""
        return take_apart(self.model(), self.tokens(), self.layer)

    def sources(self) -> Float[Tensor, "sources d"]:
        """Return the arrows of the chosen heads, one for each token, as the model draws them."""
        arrows = self.moved().arrows
        return arrows.sum(dim=0) if self.head is None else arrows[self.head]

    def longest(self) -> int:
        """Return the token that the longest arrow comes from."""
        return int(self.sources().norm(dim=1).argmax())

    def guesses(self, strength: float) -> Float[Tensor, " vocab"]:
        """Compute what comes next, with the chosen arrows so many times as long."""
        tokens = torch.tensor([self.tokens()])
        change = (strength - 1) * self.sources().sum(dim=0)

        def lengthen(output: Tensor) -> Tensor:
            longer = output.clone()
            longer[:, -1] += change
            return longer

        name = f"blocks.{self.layer}.attention.output"
        with torch.no_grad():
            return patched(self.model(), tokens, {name: lengthen}, n_last=1)[0, -1].softmax(dim=0)

    def best(self) -> list[int]:
        """Return the two likeliest next tokens of the model as it runs."""
        return self.moved().logits.topk(2).indices.tolist()

    def chance(self, strength: float) -> list[float]:
        """Compute the probabilities of these two with the arrows so many times as long."""
        return self.guesses(strength)[self.best()].tolist()

    def directions(self) -> Float[Tensor, "2 d"]:
        """Return the directions of the plane, to the right and upwards."""
        model, (before, arrows, _) = self.model(), self.moved()
        if self.plane == "move":
            kept = self.kept()
            return span(before if kept is None else kept, arrows.sum(dim=(0, 1)))
        with torch.no_grad():
            head = model.embed if model.config.tied_embeddings else model.head
            first, second = head.weight[self.best()] * model.get_parameter("norm.weight")
        return span(first - second, first + second)

    def picture(self) -> Figure:
        """Draw the vectors before and after, with the arrows between them.

        Returns
        -------
        Figure
            One panel, or a sentence where there is no text.
        """
        figure = Figure(figsize=(5.2, 4.4), layout="constrained")
        if not self.tokens():
            figure.text(0.5, 0.5, "Type something: the model needs a token.", ha="center")
            return figure
        axes, names = figure.subplots(), self.names()
        directions, (before, arrows, _) = self.directions(), self.moved()
        sources = self.strength * self.sources()
        order = sources.norm(dim=1).argsort(descending=True).tolist()
        parts = [(names[j], color, sources[j]) for j, color in zip(order, COLORS, strict=False)]
        rest = before + self.strength * self.sources().sum(dim=0)
        if len(order) > NAMED:
            parts.append(("the others", "muted", sources[order[NAMED:]].sum(dim=0)))
        if self.head is not None:
            other = arrows.sum(dim=(0, 1)) - self.sources().sum(dim=0)
            parts.append(("other heads", "muted", other))
            rest = rest + other
        style: dict[str, Any] = {"angles": "xy", "scale_units": "xy", "scale": 1}
        axes.quiver(0, 0, *(directions @ before), color=LIGHT["muted"], **style)
        if whole := self.arrows >= len(parts):
            axes.quiver(0, 0, *(directions @ rest), color=LIGHT["ink"], **style)
        start, corners = before, [torch.zeros_like(before), before]
        for number, (name, color, step) in enumerate(parts):
            at = directions @ start
            if number < self.arrows:
                axes.quiver(*at, *(directions @ step), color=LIGHT[color], label=name, **style)
            corners.append(start := start + step)
        kept = self.kept()
        if kept is not None and whole:
            at = directions @ before
            whose = self.encoding().decode(self._read(self.kept_text, self.kept_place)).strip()
            look: dict[str, Any] = {"color": LIGHT["muted"], "alpha": 0.6, **style}
            axes.quiver(*at, *(directions @ kept), label=f"“{whose}”", **look)
            corners.append(before + kept)
        told = "before and after" if whole else f"{self.arrows} of {len(parts)} arrows"
        along = "the vector before" if kept is None else "the kept move"
        spots = torch.stack(corners) @ directions.T
        (low, high), pad = (spots.amin(dim=0), spots.amax(dim=0)), 0.3
        axes.set(
            xlim=(low[0].item() - pad, high[0].item() + pad),
            ylim=(low[1].item() - pad, high[1].item() + pad),
            aspect="equal",
            title=f"“{names[-1]}” in layer {self.layer}, {told}",
            xlabel=f"along {along}" if self.plane == "move" else "one guess over the other",
            ylabel="across it" if self.plane == "move" else "both guesses",
        )
        axes.legend(fontsize=8)
        return figure
