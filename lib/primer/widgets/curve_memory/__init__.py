"""A memory of a curve: its whole past, drawn again from N numbers."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import traitlets
from jaxtyping import Float
from matplotlib.figure import Figure

from primer.beyond_attention import best_state, reconstruct, remember
from primer.palette import LIGHT
from primer.widgets.base import Widget
from primer.widgets.controls import Switch, Whole

SAMPLES, SHORTEST, LARGEST = 240, 40, 32
HIGHEST = 1.5
CURVES = {
    "waves": [0.1, 0.9, 0.2, -0.8, -0.3, 0.9, 0.8, -0.2, -1.0, -0.3, 0.6, 0.4],
    "an early bump": [0.0, 0.0, 1.3, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
    "a late bump": [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.3, 0.0, 0.0],
    "a jump": [-0.8, -0.8, -0.8, -0.8, -0.8, -0.8, 0.8, 0.8, 0.8, 0.8, 0.8, 0.8],
}
KNOTS = len(CURVES["waves"])


class CurveMemory(Widget):
    r"""A curve is read sample by sample into N Legendre coefficients, and drawn again from them.

    .. math:: \dot h = \tfrac1t(Ah + Bx)

    with HiPPO's matrices (:func:`primer.beyond_attention.remember`).  The curve runs smoothly
    through twelve knots, by Catmull and Rom's cubics, each of which the reader can move.

    Parameters
    ----------
    **state
        First values of the traits: ``knots`` (12 heights from −1.5 to 1.5), ``size`` (:math:`N`, 1
        to 32 numbers), ``now`` (how many samples have been read, 40 to 240) and ``best`` (whether
        the best fit of so many numbers is shown).

    Raises
    ------
    traitlets.TraitError
        When a value is out of its range, or there are not twelve finite heights.

    Examples
    --------
    >>> CurveMemory(size=16).missed() < CurveMemory(size=4).missed()
    True
    """

    description = (
        "A wavy curve and, over it, the curve that a memory of eight numbers draws of it after "
        "reading all of it once: it follows the waves, rounder than they are. Below it the eight "
        "numbers as bars."
    )

    constants: ClassVar[dict[str, Any]] = {
        "curves": list(map(list, CURVES.items())),  # a notebook's file sorts names
        "samples": SAMPLES,
        "highest": HIGHEST,
    }

    size = Whole(8, low=1, high=LARGEST, label="Numbers kept N")
    now = Whole(SAMPLES, low=SHORTEST, high=SAMPLES, label="Samples read")
    best = Switch(False, label="show the best fit of N numbers")
    knots = traitlets.List(traitlets.Float(), CURVES["waves"]).tag(sync=True)

    @traitlets.validate("knots")
    def _check_knots(self, proposal: traitlets.Bunch) -> list[float]:
        knots = [float(height) for height in proposal.value]
        if len(knots) != KNOTS or not all(abs(height) <= HIGHEST for height in knots):
            raise traitlets.TraitError(
                f"knots must be {KNOTS} heights from −{HIGHEST} to {HIGHEST}, got {knots}"
            )
        return knots

    def curve(self) -> Float[np.ndarray, " samples"]:
        """Draw the curve through the knots: all of it, also what was not read yet."""
        heights = np.array(self.knots)
        padded = np.concatenate([heights[:1], heights, heights[-1:]])
        place = (np.arange(SAMPLES) + 0.5) / SAMPLES * (KNOTS - 1)
        i = place.astype(int)
        u = place - i
        before, left, right, after = (padded[i + shift] for shift in range(4))
        slopes = (right - before) / 2, (after - left) / 2
        turn = 3 * (right - left) - 2 * slopes[0] - slopes[1]
        bend = slopes[0] + slopes[1] - 2 * (right - left)
        return left + u * (slopes[0] + u * (turn + u * bend))

    def drawn(self) -> Float[np.ndarray, " now"]:
        """Return the past as the memory draws it."""
        return reconstruct(remember(self.curve()[: self.now], self.size)[-1], self.now)

    def missed(self) -> float:
        """Return the squared error of what is drawn, over the variance of the past."""
        past = self.curve()[: self.now]
        if (past == past[0]).all():
            return 0.0  # the page says so, too
        return float(((self.drawn() - past) ** 2).mean() / past.var())

    def picture(self) -> Figure:
        """Draw the curve, what is remembered of it, and the numbers.

        Returns
        -------
        Figure
            Two panels.
        """
        figure = Figure(figsize=(7.2, 3.8), layout="constrained")
        top, bottom = figure.subplots(2, 1, height_ratios=[2.2, 1])
        curve = self.curve()
        top.plot(curve, color=LIGHT["muted"], lw=3, alpha=0.5, label="the curve")
        top.plot(self.drawn(), color=LIGHT["blue"], label=f"from {self.size} numbers")
        if self.best:
            fit = reconstruct(best_state(curve[: self.now], self.size), self.now)
            top.plot(fit, "--", color=LIGHT["orange"], label="the best fit")
        top.axvline(self.now, color=LIGHT["ink"], lw=1, ls=":")
        top.set(xlabel="sample", ylabel="x", xlim=(0, SAMPLES))
        top.legend(fontsize=8)
        state = remember(curve[: self.now], self.size)[-1]
        bottom.bar(range(self.size), state, color=LIGHT["blue"])
        bottom.set(xlabel="number, by the degree of its polynomial", ylabel="h")
        return figure
