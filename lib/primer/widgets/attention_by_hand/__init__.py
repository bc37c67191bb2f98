"""Attention by hand: a query and three keys to move, and what the query then reads."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch
import traitlets
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from torch import Tensor

from primer.attention import scaled_dot_product_attention
from primer.palette import LIGHT
from primer.widgets.attention_by_hand.arrow_names import name_tips
from primer.widgets.base import Widget
from primer.widgets.controls import Number, Switch

N_KEYS = 3
COLORS = ("green", "orange", "purple")
FRAMES = {"key": ((-8, 13), (-4, 17)), "value": ((-2, 10), (-6, 6))}
"""Where points may lie: the ends of both axes of the two planes."""
NEAR = {"key": ((-4, 4), (-4, 4)), "value": ((-2, 4), (-2, 4))}
"""What the planes show while ``far`` is false and all points lie there."""

WORDS = ("the", "king", "sleeps")
WORD_EMBEDDINGS = ((1.0, 0.0), (0.0, 1.0), (-1.0, 1.0))
WORD_QUERY = ((-1.0, 0.0), (1.0, 1.0))
WORD_KEY = ((-1.0, 3.0), (2.0, 0.0))
WORD_VALUE = ((3.0, -1.0), (2.0, 2.0))

EMBEDDINGS = ((1.0, 2.0), (3.0, 4.0), (5.0, 6.0))
W_QUERY = ((1.0, 0.0), (0.0, 1.0))
W_KEY = ((1.0, 2.0), (0.0, 1.0))
W_VALUE = ((0.5, -0.5), (1.0, 0.5))


def three_words() -> dict[str, Any]:
    """Compute query, keys and values of three words; the last one, *sleeps*, asks.

    Returns
    -------
    dict
        The traits ``query``, ``key``, ``value``, ``words``, ``far``, ``scale`` and
        ``temperature``.

    Examples
    --------
    >>> words = three_words()
    >>> words["query"], words["key"]
    ([2.0, 1.0], [[-1.0, 3.0], [2.0, 0.0], [3.0, -3.0]])
    >>> words["value"]
    [[3.0, -1.0], [2.0, 2.0], [-1.0, 3.0]]
    """
    matrices = WORD_QUERY, WORD_KEY, WORD_VALUE
    return {**_projected(WORD_EMBEDDINGS, matrices), "words": list(WORDS), "far": False}


def worked_example() -> dict[str, Any]:
    """Compute query, keys and values of the worked example: three tokens, one head, d = 2.

    The query is that of the last token that is known, the third.

    Returns
    -------
    dict
        The traits ``query``, ``key``, ``value``, ``words``, ``far``, ``scale`` and
        ``temperature``.

    Examples
    --------
    >>> example = worked_example()
    >>> example["query"], example["key"]
    ([5.0, 6.0], [[1.0, 4.0], [3.0, 10.0], [5.0, 16.0]])
    >>> example["value"]
    [[2.5, 0.5], [5.5, 0.5], [8.5, 0.5]]
    """
    return {**_projected(EMBEDDINGS, (W_QUERY, W_KEY, W_VALUE)), "words": [], "far": True}


def _projected(embeddings: Any, matrices: Any) -> dict[str, Any]:
    """Compute the last token's query and all keys and values."""
    x = np.array(embeddings)
    query, keys, values = (x @ np.array(w) for w in matrices)  # each (3, 2)
    return {
        "query": query[-1].tolist(),
        "key": keys.tolist(),
        "value": values.tolist(),
        "scale": True,
        "temperature": 1.0,
    }


class Points(traitlets.List):  # type: ignore[type-arg]
    """Points inside a plane's frame, as nested lists of the shape that the tag ``shape`` names."""

    def validate(self, obj: Any, value: Any) -> Any:
        """Return the coordinates as (nested) lists, or say what is wrong with them."""
        shape, frame = self.metadata["shape"], np.array(self.metadata["frame"])
        try:
            table = np.asarray(value, dtype=float)
        except (TypeError, ValueError) as error:
            raise traitlets.TraitError(f"{self.name} must be numbers: {error}") from None
        if table.shape != shape:
            raise traitlets.TraitError(
                f"{self.name} must have the shape {shape}, got the shape {table.shape}"
            )
        low, high = frame.T
        if not ((low <= table) & (table <= high)).all():  # a NaN fails these comparisons too
            raise traitlets.TraitError(
                f"{self.name} must lie in {frame[0].tolist()} × {frame[1].tolist()}, "
                f"got {table.tolist()}"
            )
        return table.tolist()


class AttentionByHand(Widget):
    r"""A query, three keys and three values in the plane, and what attention makes of them.

    .. math:: z = \operatorname{softmax}\!\Big(\frac{qK^\top}{\sqrt d\,\tau}\Big)V

    It starts with three words, whose weights are 0.07, 0.62 and 0.31; in the worked example, behind
    a button, the query reads the third key alone.

    Parameters
    ----------
    **state
        First values of the traits: ``query`` (2 numbers), ``key`` and ``value`` (3 pairs each),
        ``words`` (three names, or none), ``far`` (whether the planes show all of their frames),
        ``scale`` (whether scores are divided by :math:`\sqrt d`) and ``temperature``
        (:math:`\tau`, 0.1 to 100).

    Raises
    ------
    traitlets.TraitError
        When points are not of the right number or outside their plane (query and keys
        [−8, 13] × [−4, 17], values [−2, 10] × [−6, 6]), when there are words and not three, or
        when the temperature is out of its range.

    Examples
    --------
    >>> AttentionByHand(temperature=20.0)
    AttentionByHand(far=False, scale=True, temperature=20.0)
    >>> output, weights = AttentionByHand().attention()
    >>> [round(weight, 3) for weight in weights.tolist()]
    [0.074, 0.62, 0.306]
    >>> [round(v, 6) for v in AttentionByHand(**worked_example()).attention()[0].tolist()]
    [8.5, 0.5]
    """

    description = (
        "Two planes. In one, arrows for a query and three keys; dashed lines drop from the keys to "
        "the line of the query. In the other, arrows for three values and for the context vector, "
        "their sum weighted by attention. A table has scores, scaled scores and weights."
    )

    examples = traitlets.List(traitlets.List()).tag(sync=True)  # pairs: a file sorts names
    query = Points().tag(sync=True, shape=(2,), frame=FRAMES["key"])
    key = Points().tag(sync=True, shape=(N_KEYS, 2), frame=FRAMES["key"])
    value = Points().tag(sync=True, shape=(N_KEYS, 2), frame=FRAMES["value"])
    words = traitlets.List(traitlets.Unicode()).tag(sync=True)
    far = traitlets.Bool(False).tag(sync=True)
    scale = Switch(True, label="divide by √d = √2")
    temperature = Number(
        1.0,
        low=0.1,
        high=100.0,
        scale="decades",
        form="significant",
        digits=3,
        label="Temperature τ",
    )

    def __init__(self, **state: Any) -> None:
        examples = [["Three words", three_words()], ["Worked example", worked_example()]]
        if {"query", "key", "value"} & set(state):
            state = {"words": [], **state}
        super().__init__(**{"examples": examples, **three_words(), **state})

    @traitlets.validate("words")
    def _check_words(self, proposal: traitlets.Bunch) -> list[str]:
        if len(proposal.value) not in (0, N_KEYS):
            raise traitlets.TraitError(f"words must be {N_KEYS} or none, got {proposal.value}")
        return list(proposal.value)

    def attention(self) -> tuple[Float[Tensor, "2"], Float[Tensor, "3"]]:
        """Compute the context vector and the weights by :mod:`primer.attention`."""
        query, keys, values = (
            torch.tensor(points, dtype=torch.float64)
            for points in (self.query, self.key, self.value)
        )
        scale = 1 / ((math.sqrt(2) if self.scale else 1.0) * self.temperature)
        output, weights = scaled_dot_product_attention(query[None], keys, values, scale=scale)
        return output[0], weights[0]

    def picture(self) -> Figure:
        """Draw both planes.

        Returns
        -------
        Figure
            Two panels.
        """
        figure = Figure(figsize=(7.4, 4.0), layout="constrained")
        left, right = figure.subplots(1, 2)
        context, weights = (x.tolist() for x in self.attention())
        words = [f" {word}" for word in self.words] or [""] * N_KEYS

        def name(letter: str, j: int) -> str:
            return f"{letter}{'₁₂₃'[j]}"

        names = [
            f"{name('k', j)}{word}: {w:.3f}"
            for j, (word, w) in enumerate(zip(words, weights, strict=True))
        ]
        self._draw(left, "key", [self.query, *self.key], ["q", *names], ("blue", *COLORS))
        left.set_title("Query, keys and their weights")
        names = [f"{name('v', j)}{word}" for j, word in enumerate(words)]
        self._draw(right, "value", [*self.value, context], [*names, "z"], (*COLORS, "ink"))
        right.set_title(f"Values, and z = ({context[0]:.2f}, {context[1]:.2f})")
        return figure

    def _draw(
        self, axes: Axes, kind: str, tips: list[list[float]], names: list[str], colors: Any
    ) -> None:
        """Draw one plane, near or far."""
        points = np.array([*self.key, self.query] if kind == "key" else self.value)
        low, high = np.array(NEAR[kind]).T
        near = not self.far and bool(((low <= points) & (points <= high)).all())
        _draw_arrows(axes, (NEAR if near else FRAMES)[kind], tips, names, colors)


def _draw_arrows(
    axes: Axes, frame: Any, tips: list[list[float]], names: list[str], colors: tuple[str, ...]
) -> None:
    """Draw an arrow from the origin to each tip, with its name."""
    for (x, y), color in zip(tips, colors, strict=True):
        style = {"arrowstyle": "-|>", "color": LIGHT[color], "lw": 2, "shrinkA": 0, "shrinkB": 0}
        axes.annotate("", (x, y), (0, 0), arrowprops=style)
    xlim, ylim = frame
    axes.set(xlim=xlim, ylim=ylim, aspect="equal")
    axes.set(xlabel="first coordinate", ylabel="second coordinate")
    name_tips(axes, tips, names, colors)
