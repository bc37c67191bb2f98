"""A cache that fills: what is kept of each token, what a step fetches for it, and what waits."""

from __future__ import annotations

from typing import Any, ClassVar

from matplotlib.figure import Figure

from primer.inference import StepCost, held_positions, step_cost
from primer.palette import LIGHT
from primer.transformers import LLAMA_2_7B, count_parameters
from primer.widgets.base import Widget
from primer.widgets.controls import Choice, Whole

LAYERS, HEADS, WIDTH = LLAMA_2_7B.n_layers, LLAMA_2_7B.n_heads, LLAMA_2_7B.d_head
PARAMETERS = count_parameters(LLAMA_2_7B)
WINDOW = 1024
FETCH, COMPUTE, ROOM = 2e12, 312e12, 80e9
"""Bytes and operations a second, and bytes of memory: about an A100."""
KEPT = {
    "all": [2, HEADS * WIDTH, 4 * HEADS * WIDTH],
    "groups": [2, 8 * WIDTH, 4 * HEADS * WIDTH],
    "one": [2, WIDTH, 4 * HEADS * WIDTH],
    "latent": [1, 576, 2 * HEADS * (576 + 512)],
}
"""Of each token in a layer: how many rows, of how many numbers, and the operations on them."""
SHARED = {
    "all": "each head its own",
    "groups": "4 heads share",
    "one": "all heads share",
    "latent": "one latent",
}
PATTERNS = {1: "all see all tokens", 2: "every other a window", 6: "five of six a window"}
MOST = 256


class FillTheCache(Widget):
    r"""The cache of Llama-2-7B, drawn so that ink is bytes, with other ways to keep less.

    Weights, layers and query heads stay those of Llama-2-7B (32 layers, 32 heads of width 128),
    whatever is kept of the keys and values; the latent has the 576 numbers of DeepSeek-V3, and a
    window 1,024 tokens.  Scales of rounded numbers are not counted.

    Parameters
    ----------
    **state
        First values of the traits: ``shared`` (``"all"``, ``"groups"``, ``"one"`` or
        ``"latent"``), ``every`` (each such layer looks at all tokens: 1, 2 or 6), ``bits`` (16, 8
        or 4), ``prompt`` (16 to 3840 tokens), ``written`` (0 to 256) and ``texts`` (1 to 256).

    Raises
    ------
    traitlets.TraitError
        When a value is out of its range.

    Examples
    --------
    >>> FillTheCache(prompt=1000, written=0).cost().cache  # 2 · 32 · 32 · 128 · 2 · 1000
    524288000.0
    """

    description = (
        "Thirty-two rows, one for each layer of a model, filled from the left: the tokens of a "
        "prompt at once in blue, those written since one by one in orange. Below, how long a step "
        "takes to fetch weights and caches, seven milliseconds, and how long to compute, a "
        "twentieth of one."
    )

    constants: ClassVar[dict[str, Any]] = {
        "kept": KEPT,
        "layers": LAYERS,
        "parameters": PARAMETERS,
        "window": WINDOW,
        "fetch": FETCH,
        "compute": COMPUTE,
        "room": ROOM,
        "most": MOST,
    }

    shared = Choice("all", SHARED, label="Keys and values", look="select")
    every = Choice(1, PATTERNS, label="Layers", look="select")
    bits = Choice(16, {16: "16", 8: "8", 4: "4"}, label="Bits a number")
    prompt = Whole(
        1000, low=16, high=3840, step=0.05, scale="octaves", form="grouped", label="Prompt"
    )
    written = Whole(64, low=0, high=MOST, label="Written")
    texts = Whole(1, low=1, high=256, step=0.25, scale="octaves", label="Texts at once")

    def positions(self) -> int:
        """Count what is kept of one text, over all layers."""
        return held_positions(self.prompt + self.written, LAYERS, WINDOW, self.every)

    def cost(self) -> StepCost:
        """Count the bytes and the operations of the next step."""
        rows, numbers, operations = KEPT[self.shared]
        each = rows * numbers * self.bits / 8
        return step_cost(PARAMETERS, self.positions(), each, operations, self.texts)

    def picture(self) -> Figure:
        """Draw the rows of all layers, and the two times of a step.

        Returns
        -------
        Figure
            Two panels.
        """
        figure = Figure(figsize=(7.2, 4.6), layout="constrained")
        above, below = figure.subplots(2, 1, height_ratios=[3, 1])
        n = self.prompt + self.written
        rows, numbers, _ = KEPT[self.shared]
        thick = numbers * self.bits / (16 * HEADS * WIDTH)
        for layer in range(1, LAYERS + 1):
            first = 0 if layer % self.every == 0 else max(0, n - WINDOW)
            for row in range(rows):
                y = layer + 0.44 * row - 0.44
                for start, end, color in (
                    (first, self.prompt, "blue"),
                    (max(first, self.prompt), n, "orange"),
                ):
                    above.broken_barh(
                        [(start, max(0, end - start))], (y, 0.4 * thick), color=LIGHT[color], lw=0.3
                    )
        above.set(xlim=(0, self.prompt + MOST), ylim=(LAYERS + 0.8, 0.2))
        above.set(xlabel="token", ylabel="layer")
        weights, cache, operations = self.cost()
        fetched = [1e3 * size / FETCH for size in (weights, cache)]
        below.barh(["fetch"], fetched[:1], color=LIGHT["muted"], label="weights")
        below.barh(["fetch"], fetched[1:], left=fetched[:1], color=LIGHT["blue"], label="caches")
        below.barh(["compute"], [1e3 * operations / COMPUTE], color=LIGHT["green"])
        below.set(xlabel="milliseconds a step")
        below.legend(ncols=2, fontsize=8)
        return figure
