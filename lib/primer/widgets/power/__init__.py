"""The power of a t test, taken hold of: effect, sample size and level against the two errors."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from primer import statistics
from primer.palette import LIGHT
from primer.statistics.testing import Alternative
from primer.widgets.base import Widget
from primer.widgets.controls import Choice, Number, Whole

LARGEST_EFFECT = 1.5
ALTERNATIVES: list[Alternative] = ["two-sided", "greater", "less"]


class PowerExplorer(Widget):
    r"""The t statistic without and with an effect, and the threshold that has to tell them apart.

    Parameters
    ----------
    **state
        First values of the traits: ``effect`` (:math:`d = (\mu-\mu_0)/\sigma`, −1.5 to 1.5), ``n``
        (2 to 200), ``alpha`` (0.001 to 0.3) and ``alternative`` (``"two-sided"``, ``"greater"`` or
        ``"less"``).

    Raises
    ------
    TraitError
        When a value is out of its range or NaN.

    Examples
    --------
    >>> PowerExplorer(effect=0.7, n=16, alternative="greater")
    PowerExplorer(effect=0.7, n=16, alpha=0.05, alternative='greater')
    """

    description = (
        "Two densities of the t statistic, one without an effect and one shifted by the effect. "
        "A threshold cuts them: beyond it under the first lies the type I error, before it under "
        "the second the type II error. Below, the probability of rejecting against the true effect."
    )

    constants: ClassVar[dict[str, Any]] = {"wanted": 0.8}

    effect = Number(0.5, low=-LARGEST_EFFECT, high=LARGEST_EFFECT, label="Effect d")
    n = Whole(16, low=2, high=200, label="Observations n")
    alpha = Number(
        0.05, low=0.001, high=0.3, step=0.0125, scale="decades", digits=3, label="Level α"
    )
    alternative = Choice(
        "two-sided", {"two-sided": "d ≠ 0", "greater": "d > 0", "less": "d < 0"}, label="H₁:"
    )

    def power(self) -> float:
        """Compute the probability that the test finds the effect."""
        return statistics.t_power(self.effect, self.n, self.alpha, self.alternative)

    def picture(self) -> Figure:
        """Draw the two densities with the errors shaded, and the power function.

        Returns
        -------
        Figure
            Two panels, one above the other.
        """
        figure = Figure(figsize=(7.2, 5.2), layout="constrained")
        top, bottom = figure.subplots(2, 1, height_ratios=(3, 2))
        self._draw_densities(top)
        effects = np.linspace(-LARGEST_EFFECT, LARGEST_EFFECT, 101)
        powers = [statistics.t_power(d, self.n, self.alpha, self.alternative) for d in effects]
        bottom.plot(effects, powers, color=LIGHT["green"])
        bottom.axhline(self.alpha, color=LIGHT["blue"], lw=1, ls=":")
        bottom.plot([self.effect], [self.power()], "o", color=LIGHT["ink"])
        bottom.set(xlabel="true effect $d = (\\mu - \\mu_0)/\\sigma$", ylabel="P(reject)")
        return figure

    def _draw_densities(self, panel: Axes) -> None:
        """Draw the statistic's density without and with the effect, and what lies beyond."""
        delta, df = self.effect * math.sqrt(self.n), self.n - 1
        low, high = statistics.t_critical_values(df, self.alpha, self.alternative)
        t = np.linspace(min(-5, 1.1 * delta - 4.5), max(5, 1.1 * delta + 4.5), 801)
        without = statistics.noncentral_t_density(t, df)
        with_effect = statistics.noncentral_t_density(t, df, delta)
        rejected = (t < low) | (t > high)
        areas = [
            (with_effect, rejected, "green", f"power {self.power():.3f}"),
            (with_effect, ~rejected, "orange", f"β {1 - self.power():.3f}"),
            (without, rejected, "blue", f"α {self.alpha:g}"),
        ]
        for density, where, color, label in areas:
            area = panel.fill_between(t, density, where=where, alpha=0.35, lw=0, label=label)
            area.set_facecolor(LIGHT[color])
        panel.plot(t, without, color=LIGHT["blue"])
        panel.plot(t, with_effect, color=LIGHT["orange"])
        for limit in (low, high):
            if math.isfinite(limit):
                panel.axvline(limit, color=LIGHT["ink"], lw=1, ls="--")
        panel.set(xlabel="t statistic", ylabel="density", ylim=(0, 0.46), xlim=(t[0], t[-1]))
        panel.set_title(
            f"n = {self.n}, d = {self.effect:g}: the test finds it with {self.power():.3f}"
        )
        panel.legend(loc="upper left")
