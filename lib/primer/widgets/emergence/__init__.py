"""Emergence: the same smooth improvement, seen through four measures and a finite test."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from matplotlib.figure import Figure

from primer import scaling
from primer.palette import LIGHT
from primer.widgets.base import Widget
from primer.widgets.controls import Choice, Switch, Whole

SIZES = [float(size) for size in np.logspace(6, 11, 21)]
ITEMS = {20: "20", 100: "100", 1000: "1000", 10_000: "10,000", 0: "∞"}


class Emergence(Widget):
    r"""Models of 10⁶ to 10¹¹ parameters, whose chance of a right token grows smoothly.

    Parameters
    ----------
    **state
        First values of the traits: ``k`` (1 to 30 tokens in an answer), ``items`` (20, 100, 1000,
        10000 or, for infinitely many, 0), ``metric`` (one of ``primer.scaling.METRICS``),
        ``logarithmic`` and ``seed`` (1 to 20).

    Raises
    ------
    TraitError
        When a value is out of its range.

    Examples
    --------
    >>> widget = Emergence(k=4)
    >>> widget.expected()[[0, 10, 20]].round(3)
    array([0.   , 0.243, 0.777])
    """

    description = (
        "The score of 21 models against their size: dots as a test of some questions measures it, "
        "a line as infinitely many would."
    )
    constants: ClassVar[dict[str, Any]] = {"sizes": SIZES}

    k = Whole(10, low=1, high=30, label="Tokens k")
    items = Choice(100, ITEMS, look="slider", label="Questions")
    metric = Choice("exact match", scaling.METRICS, label="Measure")
    logarithmic = Switch(False, label="logarithmic axis", when=("metric", "exact match"))
    seed = Whole(1, low=1, high=20, label="Test no.")

    def expected(self) -> np.ndarray:
        """Compute the score that infinitely many questions would show.

        Returns
        -------
        float array, shape (21,)
            For each size.
        """
        return scaling.score(self.metric, scaling.token_probability(SIZES), self.k)

    def picture(self) -> Figure:
        """Draw the scores.

        Returns
        -------
        Figure
            One panel.
        """
        figure = Figure(figsize=(7.2, 3.4), layout="constrained")
        axes = figure.subplots()
        axes.plot(SIZES, self.expected(), color=LIGHT["blue"])
        if self.metric == "exact match" and self.items:
            p = scaling.token_probability(SIZES)
            seen = scaling.measured_matches(p, self.k, self.items, self.seed)
            axes.plot(SIZES, seen, "o", color=LIGHT["orange"])
        axes.set(xscale="log", xlabel="parameters N", ylabel=self.metric)
        if self.logarithmic and self.metric == "exact match":
            axes.set_yscale("log")
        axes.set_title(f"Answers of {self.k} tokens")
        return figure
