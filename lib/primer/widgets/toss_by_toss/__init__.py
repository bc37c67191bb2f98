"""Toss by toss: a posterior that moves with every toss, and what two hypotheses win by it."""

from __future__ import annotations

import math
from itertools import islice
from typing import Any, ClassVar

import numpy as np
import traitlets
from jaxtyping import Float, Int
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from scipy.stats import beta, betabinom, binom

from primer import statistics
from primer.evaluation import clopper_pearson
from primer.palette import LIGHT
from primer.widgets.base import Widget
from primer.widgets.controls import Choice, Number, Switch, Whole
from primer.widgets.shared.mulberry import mulberry

MOST = 1000
"""So many tosses have room."""
LEVEL = 0.95
RUNGS = 50
"""So many other coins have an interval on the ladder."""
SIDES = {
    "bets": "the bets of two hypotheses",
    "credible": "50 credible intervals",
    "confidence": "50 confidence intervals",
}


class Tosses(traitlets.Unicode[str, Any]):
    """Heads and tails as letters, a thousand at most."""

    def validate(self, obj: Any, value: Any) -> str:
        """Return the letters, or say what is wrong with them."""
        letters = str(super().validate(obj, value))
        if wrong := sorted(set(letters) - set("HT")):
            raise traitlets.TraitError(f"tosses holds {wrong[0]!r}; a toss is H or T")
        if len(letters) > MOST:
            raise traitlets.TraitError(f"tosses has {len(letters)} letters, {MOST} have room")
        return letters


class TossByToss(Widget):
    r"""A coin, a Beta prior, the posterior, and the bets of a fair and a bent coin.

    After k heads in n tosses the posterior is :math:`\mathrm{Beta}(a+k,\,b+n-k)`.  The fair coin
    (:math:`H_0`: :math:`\theta=\tfrac12`) bets on k heads by the binomial law, the bent one
    (:math:`H_1`: :math:`\theta\sim\mathrm{Beta}(a,b)`) by the beta-binomial law; the ratio of the
    two is :math:`B_{01}`.  In their place stands, when it is asked for, a ladder: the 95 % interval
    of each of fifty other coins of that chance, credible or, by Clopper and Pearson, confidence.

    Parameters
    ----------
    **state
        First values of the traits: ``chance`` (of heads, 0 to 1), ``hidden`` (whether the reader is
        to guess it), ``a`` and ``b`` (of the prior, 1 to 30), ``tosses`` (letters H and T, a
        thousand at most), ``beside`` (``"bets"``, ``"credible"`` or ``"confidence"``) and
        ``seed`` (of the tosses to come, from 0 on).

    Raises
    ------
    traitlets.TraitError
        When a value is out of its range or NaN, or a letter is none of the two.

    Examples
    --------
    >>> widget = TossByToss(tosses="HTTHHHHTHH")
    >>> widget.posterior()
    Beta(a=8.0, b=4.0)
    >>> round(float(10 ** widget.course()[-1]), 2)  # the Bayes factor of the fair coin
    1.29
    """

    description = (
        "The density of a coin's chance of heads before and after some tosses, with the middle 95 "
        "percent filled and a line at the true chance. Beside it what a fair coin and a bent one "
        "bet on each number of heads, the number that came, and on a logarithmic axis the Bayes "
        "factor after each toss."
    )

    chance = Number(0.7, low=0.0, high=1.0, step=0.01, label="Chance θ", when=("hidden", False))
    hidden = Switch(False, label="hide it")
    a = Whole(1, low=1, high=30, label="Prior, heads a")
    b = Whole(1, low=1, high=30, label="Prior, tails b")
    tosses = Tosses("HTTHHHHTHH").tag(sync=True)
    seed = traitlets.Int(19, min=0).tag(sync=True)
    beside = Choice("bets", SIDES, label="Beside it", look="select")
    constants: ClassVar[dict[str, Any]] = {"most": MOST, "rungs": RUNGS}

    def posterior(self) -> statistics.Beta:
        """Return the law of the chance after the tosses."""
        return statistics.Beta(self.a, self.b).update(self.tosses.count("H"), len(self.tosses))

    def course(self) -> Float[np.ndarray, " times"]:
        """Compute the logarithm of the Bayes factor to base 10 before and after every toss."""
        heads = np.cumsum([0, *(letter == "H" for letter in self.tosses)])
        factors = [
            statistics.coin_bayes_factor(int(k), n, 0.5, self.a, self.b)
            for n, k in enumerate(heads)
        ]
        return np.array([math.log10(factor) for factor in factors])

    def bets(self) -> Float[np.ndarray, "2 counts"]:
        """Compute what the fair and the bent coin bet on each number of heads."""
        n = len(self.tosses)
        k = np.arange(n + 1)
        return np.array([binom.pmf(k, n, 0.5), betabinom.pmf(k, n, self.a, self.b)])

    def others(self) -> Int[np.ndarray, " coins"]:
        """Count the heads of the other coins, tossed as often."""
        n = len(self.tosses)
        numbers = list(islice(mulberry(self.seed + 1_000_000), RUNGS * n))
        return (np.reshape(numbers, (RUNGS, n)) < self.chance).sum(axis=1)

    def intervals(self, heads: Any) -> Float[np.ndarray, "coins 2"]:
        """Compute the 95 % interval of each number of heads: confidence, or else credible."""
        k, n = np.asarray(heads), len(self.tosses)
        if self.beside != "confidence":
            return np.stack(beta(self.a + k, self.b + n - k).interval(LEVEL), axis=1)
        if n == 0:
            return np.tile([0.0, 1.0], (len(k), 1))
        return np.array([clopper_pearson(int(one), n, LEVEL) for one in k])

    def coverage(self) -> float:
        """Compute with which probability such an interval holds the chance."""
        k = np.arange(len(self.tosses) + 1)
        low, high = self.intervals(k).T
        holds = (low <= self.chance) & (self.chance <= high)
        return float(binom.pmf(k, len(self.tosses), self.chance)[holds].sum())

    def picture(self) -> Figure:
        """Draw the posterior, and beside it the bets and the Bayes factor, or the ladder.

        Returns
        -------
        Figure
            One panel on the left, and two below each other on the right, or one.
        """
        figure = Figure(figsize=(7.2, 3.6), layout="constrained")
        grid = figure.add_gridspec(2, 2)
        left = figure.add_subplot(grid[:, 0])
        law = beta(*self.posterior())
        theta = np.linspace(0, 1, 401)
        low, high = law.interval(LEVEL)
        left.plot(theta, beta(self.a, self.b).pdf(theta), "--", color=LIGHT["muted"], label="prior")
        left.plot(theta, law.pdf(theta), color=LIGHT["blue"], label="posterior")
        inside = theta[(theta > low) & (theta < high)]
        left.fill_between(inside, law.pdf(inside), color=LIGHT["blue"], alpha=0.25)
        if not self.hidden:
            left.axvline(self.chance, color=LIGHT["ink"], lw=1, ls=":")
        n, k = len(self.tosses), self.tosses.count("H")
        if self.beside == "bets":
            self._draw_bets(figure.add_subplot(grid[0, 1]))
            course = figure.add_subplot(grid[1, 1])
            course.plot(self.course(), color=LIGHT["ink"])
            course.axhline(0, color=LIGHT["muted"], lw=1, ls="--")
            course.set(xlabel="tosses", ylabel="log₁₀ B₀₁")
        else:
            self._draw_ladder(figure.add_subplot(grid[:, 1]))
        left.set(xlabel="chance of heads θ", ylabel="density", ylim=0)
        left.set_title(f"{k} heads in {n}: {low:.2f} to {high:.2f}")
        left.legend(fontsize=8)
        return figure

    def _draw_bets(self, bets: Axes) -> None:
        """Draw what both hypotheses bet on each number of heads."""
        n, k = len(self.tosses), self.tosses.count("H")
        for row, shift, color, name in zip(
            self.bets(),
            (-0.2, 0.2),
            ("orange", "purple"),
            ("a fair coin", "a bent one"),
            strict=True,
        ):
            bets.bar(np.arange(n + 1) + shift, row, 0.4, color=LIGHT[color], label=name)
        bets.axvline(k, color=LIGHT["ink"], lw=1, ls=":")
        bets.set(xlabel=f"heads in {n}", ylabel="bet on it")
        bets.legend(fontsize=8)

    def _draw_ladder(self, ladder: Axes) -> None:
        """Draw the intervals of the other coins; those that miss the chance are thicker."""
        intervals = np.empty((0, 2)) if self.hidden else self.intervals(self.others())
        for row, (low, high) in enumerate(intervals):
            held = low <= self.chance <= high
            color, width = (LIGHT["blue"], 1.2) if held else (LIGHT["orange"], 3)
            ladder.plot([low, high], [row, row], color=color, lw=width)
        if not self.hidden:
            ladder.axvline(self.chance, color=LIGHT["ink"], lw=1, ls=":")
        ladder.set(xlim=(0, 1), ylim=(RUNGS, -1), yticks=[], xlabel="chance of heads θ")
        ladder.set_title(f"{RUNGS} {self.beside} intervals")
