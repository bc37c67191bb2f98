"""Whose chance: which true shares k of n leaves, by three intervals, and how often each holds."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from scipy.special import ndtri
from scipy.stats import binom

from primer import evaluation
from primer.palette import LIGHT
from primer.widgets.base import Widget
from primer.widgets.controls import Choice, Number, Whole

LEVEL = 0.95
METHODS = {
    "wald": evaluation.wald,
    "wilson": evaluation.wilson,
    "clopper_pearson": evaluation.clopper_pearson,
}
NAMES = {"wald": "Wald", "wilson": "Wilson", "clopper_pearson": "Clopper–Pearson"}
GRID = 400
"""Into so many steps the axis of true shares is cut for the curves."""


class WhoseChance(Widget):
    r"""Intervals of 95 % for k of n, the law of k at a true share, and the exact coverage.

    The coverage at a share p is the sum of the probabilities of those k whose interval holds p.

    Parameters
    ----------
    **state
        First values of the traits: ``n`` questions (10 to 200), of which ``wrong`` are wrong (0 to
        10), ``p`` (the true share, 0.01 to 0.99) and ``method`` (``"wald"``, ``"wilson"`` or
        ``"clopper_pearson"``).

    Raises
    ------
    traitlets.TraitError
        When a value is out of its range or NaN.

    Examples
    --------
    >>> WhoseChance(n=30, wrong=0)
    WhoseChance(n=30, wrong=0, p=0.9, method='wald')
    """

    description = (
        "Three intervals for the share of right answers, one below the other, with a vertical line "
        "at a true share. Below it how probable each number of right answers is at this share; "
        "filled are those whose interval would hold it. Below that how often the interval holds "
        "the truth, over all true shares, with a line at 95 %."
    )

    n = Whole(10, low=10, high=200, label="Questions n")
    wrong = Whole(1, low=0, high=10, label="Wrong answers")
    p = Number(0.9, low=0.01, high=0.99, step=0.01, label="True share p")
    method = Choice("wald", NAMES, label="Interval")
    constants: ClassVar = {
        "z": float(ndtri((1 + LEVEL) / 2)),
        "level": LEVEL,
        "names": NAMES,
        "grid": GRID,
    }

    def intervals(self) -> dict[str, evaluation.Interval]:
        """Compute the interval of each method for the right answers of n."""
        right = self.n - self.wrong
        return {name: method(right, self.n, LEVEL) for name, method in METHODS.items()}

    def coverage(self, p: float | np.ndarray | None = None) -> np.ndarray:
        """Compute how often the chosen interval holds a share, the one shown if none is given."""
        shares = self.p if p is None else p
        return evaluation.coverage(METHODS[self.method], self.n, shares, LEVEL)

    def picture(self) -> Figure:
        """Draw the intervals, the law of k and the coverage.

        Returns
        -------
        Figure
            Three panels, one above the other.
        """
        figure = Figure(figsize=(7.2, 5.4), layout="constrained")
        top, middle, bottom = figure.subplots(3, 1, sharex=True, height_ratios=(3, 4, 4))
        places = range(len(NAMES))
        for place, (name, (low, high)) in zip(places, self.intervals().items(), strict=True):
            shown = 1.0 if name == self.method else 0.4
            top.plot([low, high], [place, place], color=LIGHT["blue"], lw=5, alpha=shown)
        top.plot([1 - self.wrong / self.n] * 3, places, "o", color=LIGHT["ink"])
        top.set_yticks(places, NAMES.values())
        top.set(ylim=(2.6, -0.6))
        top.set_title(f"{self.n - self.wrong} of {self.n} right: which true shares are left?")
        self._draw_law(middle)
        shares = np.linspace(0, 1, GRID + 1)[1:-1]
        bottom.plot(shares, self.coverage(shares), color=LIGHT["green"])
        bottom.axhline(LEVEL, color=LIGHT["muted"], lw=1, ls="--")
        bottom.plot(self.p, self.coverage(), "o", color=LIGHT["ink"])
        bottom.set(xlim=(-0.04, 1.04), ylim=(0.5, 1.01), xlabel="share of right answers")
        bottom.set_ylabel("holds the truth")
        for axes in (top, middle, bottom):
            axes.axvline(self.p, color=LIGHT["ink"], lw=1, ls="--")
        return figure

    def _draw_law(self, axes: Axes) -> None:
        """Draw the probability of each k; those whose interval holds the true share are filled."""
        k = np.arange(self.n + 1)
        low, high = np.transpose([METHODS[self.method](int(i), self.n, LEVEL) for i in k])
        holds = (low <= self.p) & (self.p <= high)
        chance = binom.pmf(k, self.n, self.p)
        for some, color in ((holds, "blue"), (~holds, "orange")):
            axes.bar(k[some] / self.n, chance[some], 0.8 / self.n, color=LIGHT[color])
        axes.set_ylabel("probability")
