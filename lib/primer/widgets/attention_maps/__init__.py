"""Attention maps: what every head of the book's language model looks at in a text."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import torch
import traitlets
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from torch import Tensor

from primer.attention import (
    causal_mask,
    head_scores,
    head_targets,
    share_heads,
)
from primer.attention.induction import LENGTH
from primer.language_models import entropy
from primer.palette import LIGHT
from primer.transformers import Transformer
from primer.widgets.controls import Switch
from primer.widgets.shared.language_model import LanguageModelWidget
from primer.widgets.shared.two_layers import LETTERS, encode, letter_products, unpack

SHARE = 0.4
"""A head has a name when it gives at least this much of its weight to keys of one kind …"""

QUERIES = 3
"""… on average over at least so many queries."""

EVEN = 0.93
"""A head is called uniform when its entropy is at least this share of the largest possible."""


def head_products(
    model: Transformer, tokens: list[int]
) -> Float[Tensor, "layers heads queries keys"]:
    r"""Compute the scalar products of all queries with all keys, of later tokens too.

    Parameters
    ----------
    model : Transformer
        A model with rotary positions.
    tokens : list of int
        The text.

    Returns
    -------
    Tensor of shape (layers, heads, queries, keys)
        :math:`q_i \cdot k_j` for every head, turned by their positions, neither divided by
        :math:`\sqrt d` nor masked.  The layers run as trained, each on what the one before made.
    """
    seen: dict[str, Tensor] = {}
    with torch.no_grad():
        model(torch.tensor([tokens]), observe=seen.__setitem__)
    products = []
    for layer in range(model.config.n_layers):
        query, key = (seen[f"blocks.{layer}.attention.{name}"][0] for name in ("queries", "keys"))
        key, _ = share_heads(query, key, key)
        products.append(query @ key.mT)  # (heads, queries, keys)
    return torch.stack(products)


def evenness(weights: Float[Tensor, "*heads queries keys"]) -> Float[Tensor, "*heads"]:
    r"""Compute how evenly causal weights are spread, from 0 (one key) to 1 (all keys alike).

    .. math:: \frac{1}{n-1}\sum_{i=1}^{n-1} \frac{-\sum_j A_{ij}\log A_{ij}}{\log(i+1)}

    Parameters
    ----------
    weights : Tensor of shape (\*heads, n, n)
        The weights, 0 above the diagonal.

    Returns
    -------
    Tensor of shape (\*heads,)
        The mean over the queries, less the first, which has no choice; 0 for a single query.

    Examples
    --------
    >>> evenness(torch.tensor([[1.0, 0.0, 0.0], [0.5, 0.5, 0.0], [0.0, 1.0, 0.0]])).item()
    0.5
    """
    spread = entropy(weights)[..., 1:]
    most = torch.arange(2, weights.shape[-1] + 1, dtype=weights.dtype).log()
    return (spread / most).sum(dim=-1) / max(1, len(most))


class AttentionMaps(LanguageModelWidget):
    r"""The attention of all layers and heads of a language model to a text of the reader's.

    The reader types a text; the model runs in the page.  Every head is a thumbnail, the chosen one
    is drawn large, as a heat map and as arcs between the tokens.  With the mask, the division by
    :math:`\sqrt d` or the softmax taken away, the maps show the same queries and keys combined in
    another way; the model itself computes as it was trained.

    Parameters
    ----------
    text : str
        The text; its first ``longest`` tokens are read.
    layer, head : int
        The chosen head, counted from 0.
    query, key : int
        The pair of positions that is read out, counted from 0.
    causal, scaled, normalized : bool
        Whether a query sees no later keys, whether scores are divided by :math:`\sqrt d`, and
        whether the softmax has made weights of them.
    examples : list of str
        Texts to choose from.
    longest : int
        How many tokens are read.
    checkpoint : bytes
        The model, from :func:`primer.widgets.shared.quantized.pack`; the book's own when left out.
    second : bytes
        A second model to choose, from :func:`primer.widgets.shared.two_layers.pack`; none when
        left out.
    reads : {"text", "letters"}
        Which model reads: the first reads ``text``, the second ``letters``.
    letters : str
        The text of the second model; its first 32 letters, digits, spaces and full stops are read.

    Raises
    ------
    traitlets.TraitError
        When a value is out of its range or of another kind, or the checkpoint is none.

    Examples
    --------
    >>> AttentionMaps(text="To be, or not to be", layer=1)  # doctest: +ELLIPSIS
    AttentionMaps(text='To be, or not to be', layer=1, head=2, query=26, key=8, causal=True, ...
    """

    description = (
        "The attention weights of every layer and head of a language model to a line of text, as "
        "small heat maps, each named by what the head mostly looks at; the chosen head is drawn "
        "large, a row for each token that asks and a column for each token it may look at."
    )

    EXAMPLES = (
        "Tybalt, the kinsman of old Capulet. Tybalt, the kinsman of old Capulet.",
        "To be, or not to be: that is the question",
        "ROMEO\nIs the day so young?\n\nBENVOLIO\nBut new struck nine.\n\nROMEO\n",
        "Tomorrow, and tomorrow, and tomorrow, creeps in this petty pace",
    )
    layer = traitlets.Int(0, min=0).tag(sync=True)
    head = traitlets.Int(0, min=0).tag(sync=True)
    query = traitlets.Int(26, min=0).tag(sync=True)  # the second k of kinsman,
    key = traitlets.Int(8, min=0).tag(sync=True)  # and what followed the first
    causal = Switch(True, label="Causal mask")
    scaled = Switch(True, label="Divide by √d")
    normalized = Switch(True, label="Softmax")
    longest = traitlets.Int(48, min=2).tag(sync=True)
    second = traitlets.Bytes().tag(sync=True)
    reads = traitlets.Enum(("text", "letters"), "text").tag(sync=True)
    letters = traitlets.Unicode(EXAMPLES[0]).tag(sync=True)
    constants: ClassVar[dict[str, Any]] = {"rows": EXAMPLES}

    @traitlets.default("layer")
    def _default_layer(self) -> int:
        return min(1, self.model().config.n_layers - 1)

    @traitlets.default("head")
    def _default_head(self) -> int:
        return min(2, self.model().config.n_heads - 1)  # in the book's model, it looks up

    @traitlets.validate("layer", "head")
    def _check_head(self, proposal: dict[str, Any]) -> int:
        config, name = self.model().config, proposal["trait"].name
        count = config.n_layers if name == "layer" else config.n_heads
        if proposal["value"] >= count:
            raise traitlets.TraitError(
                f"the model's {name}s are 0 to {count - 1}, got {proposal['value']}"
            )
        return int(proposal["value"])

    @traitlets.validate("second")
    def _check_second(self, proposal: dict[str, Any]) -> bytes:
        if proposal["value"]:
            try:
                unpack(proposal["value"])
            except ValueError as error:
                raise traitlets.TraitError(f"second: {error}") from None
        return bytes(proposal["value"])

    @traitlets.validate("reads")
    def _check_reads(self, proposal: dict[str, Any]) -> str:
        if proposal["value"] == "letters" and not self.second:
            raise traitlets.TraitError("reads is 'letters', but there is no second model to read")
        return str(proposal["value"])

    def tokens(self) -> list[int]:
        """Encode the part of the text that is read."""
        if self.reads == "letters":
            return encode(self.letters)[:LENGTH]
        return self.encoding().encode(self.text)[: self.longest]

    def _chosen(self) -> tuple[int, int]:
        """Give layer and head; the second model has fewer of both."""
        if self.reads == "letters":
            return min(self.layer, 1), min(self.head, 1)
        return self.layer, self.head

    def _products(self) -> tuple[Float[Tensor, "layers heads queries keys"], int]:
        """Compute the products of queries and keys, and give their width."""
        if self.reads == "letters":
            second = unpack(self.second)
            width = second.embed.embedding_dim // second.distance_bias.shape[1]
            return letter_products(second, self.tokens()), width
        return head_products(self.model(), self.tokens()), self.model().config.d_head

    def maps(self) -> Float[Tensor, "layers heads queries keys"]:
        """Compute the maps of all heads as the present settings show them; NaN where masked."""
        scores, width = self._products()
        if self.scaled:
            scores = scores / width**0.5
        hidden = torch.zeros(scores.shape[-2:], dtype=torch.bool)
        if self.causal:
            hidden = ~causal_mask(len(hidden))
        if self.normalized:
            scores = scores.masked_fill(hidden, -torch.inf).softmax(dim=-1)
        return scores.masked_fill(hidden, torch.nan)

    def _trained(self) -> Float[Tensor, "layers heads queries keys"]:
        """Compute the weights as the model was trained."""
        scores, width = self._products()
        scores = (scores / width**0.5).masked_fill(~causal_mask(scores.shape[-1]), -torch.inf)
        return scores.softmax(dim=-1)

    def scores(self) -> dict[str, Float[Tensor, "layers heads"]]:
        """Measure how the heads behave in the text, as the model was trained."""
        tokens = torch.tensor([self.tokens()])
        layers = [head_scores(weights[None], tokens) for weights in self._trained()]
        return {name: torch.stack([layer[name] for layer in layers]) for name in layers[0]}

    def names(self) -> list[list[str]]:
        """Name each head, [layer][head]: by the kind of key it gives most to, uniform, or mixed."""
        names = self._kinds()
        if len(self.tokens()) > QUERIES:
            even = evenness(self._trained()) >= EVEN
            names = [
                ["uniform" if e else name for e, name in zip(*row, strict=True)]
                for row in zip(even.tolist(), names, strict=True)
            ]
        return names

    def _kinds(self) -> list[list[str]]:
        """Name each head by the kind of key it gives most to, or ``"mixed"``."""
        targets = head_targets(torch.tensor(self.tokens()))
        counted = {
            name: score
            for name, score in self.scores().items()
            if int(targets[name].any(dim=-1).sum()) >= QUERIES
        }
        if not counted:
            n_layers, n_heads = self._trained().shape[:2]
            return [["mixed"] * n_heads] * n_layers
        most, which = torch.stack(list(counted.values())).max(dim=0)  # (layers, heads)
        kinds = list(counted)
        return [
            [kinds[i] if s >= SHARE else "mixed" for s, i in zip(*row, strict=True)]
            for row in zip(most.tolist(), which.tolist(), strict=True)
        ]

    def picture(self) -> Figure:
        """Draw all heads small and the chosen one large."""
        figure = Figure(figsize=(7.6, 4.6))
        if len(self.tokens()) < 2:
            figure.text(0.5, 0.5, "A text of two tokens or more has maps.", ha="center")
            return figure
        maps, names = self.maps().numpy(), self.names()
        n_layers, n_heads = maps.shape[:2]
        panels: Any = figure.subfigures(1, 2, width_ratios=[1.0, 1.1])
        small = panels[0].subplots(n_layers, n_heads, squeeze=False)
        for (layer, head), axes in np.ndenumerate(small):
            values = maps[layer, head]  # a row's brightest key is the one it reads most
            most = np.nanmax(values, axis=1, keepdims=True) if self.normalized else 1
            self._draw_map(axes, values / most)
            axes.set(xticks=[], yticks=[])
            chosen = (layer, head) == self._chosen()
            axes.set_title(
                f"{layer}.{head} {names[layer][head].removesuffix(' token')}",
                fontsize=7,
                loc="center",
                color=LIGHT["blue" if chosen else "ink"],
            )
        self._draw_large(panels[1].add_subplot(), maps[self._chosen()])
        return figure

    def _draw_map(self, axes: Axes, values: np.ndarray) -> Any:
        """Draw one map, a row for each query."""
        limits = (0, 1) if self.normalized else (None, None)
        axes.grid(visible=False)
        return axes.imshow(values, vmin=limits[0], vmax=limits[1], aspect="equal")

    def _draw_large(self, axes: Axes, values: np.ndarray) -> None:
        """Draw the chosen head with the names of the tokens."""
        image = self._draw_map(axes, values)
        if self.reads == "letters":
            labels = [LETTERS[token] for token in self.tokens()]
        else:
            labels = [self.encoding().decode([t]).replace("\n", "⏎") for t in self.tokens()]
        axes.set_xticks(range(len(labels)), labels, rotation=90, fontsize=7)
        axes.set_yticks(range(len(labels)), labels, fontsize=7)
        axes.set(xlabel="key", ylabel="query")
        axes.set_title("Layer {}, head {}".format(*self._chosen()))
        label = "weight" if self.normalized else "score"
        axes.figure.colorbar(image, ax=axes, label=label, shrink=0.7)
