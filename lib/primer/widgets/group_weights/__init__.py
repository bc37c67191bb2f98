"""Which question gets the push: what a group of replies raises, by three ways to compare them."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import traitlets
from jaxtyping import Float
from matplotlib.figure import Figure
from scipy.special import expit, logit
from scipy.stats import binom

from primer import reasoning
from primer.palette import LIGHT
from primer.widgets.base import Widget
from primer.widgets.controls import Choice

SAID = {
    "leave one out": "Leaving one out",
    "mean": "With the mean as baseline",
    "spread": "Divided by the spread",
}
"""What the result line calls the ways."""
COLORS = {"leave one out": "blue", "mean": "green", "spread": "orange"}
QUESTIONS = "ABCDE"
LEAST = 0.005
"""A question is right with this chance at least, and with 1 less it at most."""
SIZES = (2, 3, 4, 8, 16, 32, 64)
REACH, GRID = 5.5, 121
"""The drawing reaches from −5.5 to 5.5 of log-odds, its curves have so many points."""


class Chances(traitlets.List):  # type: ignore[type-arg]
    """Five chances to be right, each between 0.005 and 0.995."""

    def validate(self, obj: Any, value: Any) -> list[float]:
        """Return the chances as a list, or say what is wrong with them."""
        try:
            found = np.asarray(value, dtype=float)
        except (TypeError, ValueError) as error:
            raise traitlets.TraitError(f"chances must be numbers: {error}") from None
        if found.shape != (len(QUESTIONS),):
            raise traitlets.TraitError(
                f"chances must be {len(QUESTIONS)} numbers, got shape {found.shape}"
            )
        if not ((found >= LEAST) & (found <= 1 - LEAST)).all():
            raise traitlets.TraitError(
                f"chances must lie between {LEAST} and {1 - LEAST}, got {found.tolist()}"
            )
        return [float(p) for p in found]


class GroupWeights(Widget):
    r"""Five questions, groups of n replies to each, and the mean step of each question's log-odds.

    Every question has one number of its own, its log-odds z, and is right with chance
    :math:`p = \sigma(z)`.  With c right replies among n a step moves z by the push of the group,

    .. math::
        \text{leave one out: } \frac{c(n-c)}{n(n-1)}, \qquad
        \text{mean: } \frac{c(n-c)}{n^2}, \qquad
        \text{spread: } \frac{\sqrt{c(n-c)}}{n},

    and its mean over :math:`c \sim \mathrm{Bin}(n, p)` is :math:`w(p)\,p(1-p)` with the weight of
    :func:`primer.reasoning.group_weight`.

    Parameters
    ----------
    **state
        First values of the traits: ``chances`` (five numbers between 0.005 and 0.995), ``kind``
        (``"leave one out"``, ``"mean"`` or ``"spread"``), ``n`` (replies of a group, 2 to 64) and
        ``question`` (the one looked at, 0 to 4).

    Raises
    ------
    traitlets.TraitError
        When a value is out of its range or NaN.

    Examples
    --------
    >>> widget = GroupWeights(n=2)
    >>> widget
    GroupWeights(kind='spread', n=2, question=0)
    >>> widget.shares().round(3)  # in groups of two as without the division
    array([0.042, 0.192, 0.533, 0.192, 0.042])
    """

    description = (
        "Five questions stand on a curve over their chance to be right, as high as a step pushes "
        "their log-odds on average; fainter are the curves of two other ways to compare the "
        "replies of a group. Beside it, for one question, the push of a group with c right "
        "replies, none where all are right or all wrong, and how often c are right. A table has "
        "each question's share of the whole push."
    )

    kind = Choice("spread", tuple(SAID), label="Way")
    n = Choice(16, SIZES, label="Replies in a group n", look="slider")
    question = Choice(0, dict(enumerate(QUESTIONS)), label="Question", look="radio")
    chances = Chances([0.02, 0.1, 0.5, 0.9, 0.98]).tag(sync=True)
    constants: ClassVar[dict[str, Any]] = {
        "said": SAID,
        "names": QUESTIONS,
        "least": LEAST,
        "reach": REACH,
        "grid": GRID,
    }

    def pushes(self, kind: str | None = None) -> Float[np.ndarray, " questions"]:
        """Compute the mean push of each question's log-odds, by the chosen way if none is named."""
        p = np.array(self.chances)
        return np.asarray(reasoning.group_weight(p, self.n, kind or self.kind) * p * (1 - p))

    def shares(self, kind: str | None = None) -> Float[np.ndarray, " questions"]:
        """Compute how much of the whole push each question gets."""
        pushes = self.pushes(kind)
        return np.asarray(pushes / pushes.sum())

    def of_groups(self) -> Float[np.ndarray, " groups"]:
        """Compute the push of a group with 0, 1, … n right replies."""
        k = np.arange(self.n + 1)
        if self.kind == "spread":
            return np.asarray(np.sqrt(k * (self.n - k)) / self.n)
        others = self.n - 1 if self.kind == "leave one out" else self.n
        return np.asarray(k * (self.n - k) / (self.n * others))

    def picture(self) -> Figure:
        """Draw the curves with the questions, the push of each group and how often it comes.

        Returns
        -------
        Figure
            Three panels: one on the left, two below each other on the right.
        """
        figure = Figure(figsize=(7.2, 3.6), layout="constrained")
        grid = figure.add_gridspec(2, 2, width_ratios=(3, 2))
        curves = figure.add_subplot(grid[:, 0])
        groups, law = figure.add_subplot(grid[0, 1]), figure.add_subplot(grid[1, 1])
        z = np.linspace(-REACH, REACH, GRID)
        p = expit(z)
        for kind in SAID:
            push = reasoning.group_weight(p, self.n, kind) * p * (1 - p)
            width, style = (2.2, "-") if kind == self.kind else (1.1, "--")
            curves.plot(z, push, style, lw=width, color=LIGHT[COLORS[kind]], label=kind)
        places, heights = logit(self.chances), self.pushes()
        curves.plot(places, heights, "o", color=LIGHT["ink"])
        for name, x, y in zip(QUESTIONS, places, heights, strict=True):
            curves.annotate(name, (x, y), (0, 6), textcoords="offset points", ha="center")
        marks = (0.01, 0.1, 0.5, 0.9, 0.99)
        curves.set_xticks(logit(marks), [f"{mark:g}" for mark in marks])
        curves.set(ylim=(0, 0.6), xlabel="chance to be right", ylabel="push of the log-odds")
        curves.set_title(f"Groups of {self.n}")
        curves.legend(fontsize=8, loc="upper left")
        k, chance = np.arange(self.n + 1), self.chances[self.question]
        dead = (k == 0) | (k == self.n)
        groups.plot(k, self.of_groups(), ".-", color=LIGHT[COLORS[self.kind]])
        groups.set(ylim=(-0.02, 0.6), ylabel="push")
        groups.set_title(f"Question {QUESTIONS[self.question]}: p = {chance:.3g}")
        for some, color in ((~dead, "purple"), (dead, "red")):
            law.bar(k[some], binom.pmf(k[some], self.n, chance), color=LIGHT[color])
        law.set(xlabel=f"right replies c of {self.n}", ylabel="probability")
        return figure
