"""Draw again: one sample of waiting times after the other, and where their means fall."""

from __future__ import annotations

from itertools import islice
from typing import Any, ClassVar

import numpy as np
import traitlets
from jaxtyping import Float
from matplotlib.figure import Figure

from primer.palette import LIGHT
from primer.widgets.base import Widget
from primer.widgets.controls import Choice
from primer.widgets.shared.mulberry import mulberry

RATE = 2.0
"""Calls a minute; the mean waiting time is half a minute."""
SIZES = (3, 6, 12, 24, 48, 96, 192)
FIRST, STILL = 1, 60
"""So many samples are there before the reader draws one, and in a picture where nobody can."""
LONGEST, BINS = 2.0, 80
"""Minutes of the axis, and the bars of the histogram along it."""


class DrawAgain(Widget):
    r"""Samples of waiting times, drawn again and again, and the means that they have.

    .. math:: X = -\frac{\log(1-U)}\theta, \qquad \bar X = \frac1n\sum_{i=1}^n X_i

    with :math:`U` uniform and :math:`\theta=2` calls a minute.  The first n of 192 waiting times
    are the sample of size n, so that another n shows the same calls, noted for longer or shorter.

    Parameters
    ----------
    **state
        First values of the traits: ``n`` (3, 6, 12, 24, 48, 96 or 192) and ``seed`` (from 0 on).

    Raises
    ------
    traitlets.TraitError
        When ``n`` is not offered or ``seed`` is below 0.

    Examples
    --------
    >>> widget = DrawAgain(n=12)
    >>> widget.means(60).shape, round(widget.miss(60), 2)  # minutes, on average
    ((60, 7), 0.12)
    """

    description = (
        "Above, a sample of a dozen waiting times, one tick for each, and a mark at their mean. "
        "Below, the histogram of the means of all samples drawn so far, around a line at the "
        "truth, half a minute; a band reaches as far to both sides as the means miss it on average."
    )

    constants: ClassVar[dict[str, Any]] = {
        "rate": RATE,
        "sizes": SIZES,
        "first": FIRST,
        "longest": LONGEST,
        "bins": BINS,
    }

    n = Choice(12, SIZES, look="slider", label="Waiting times n")
    seed = traitlets.Int(17, min=0).tag(sync=True)

    def waits(self, samples: int) -> Float[np.ndarray, "samples longest"]:
        """Draw samples of 192 waiting times, in minutes."""
        uniform = np.array(list(islice(mulberry(self.seed), samples * SIZES[-1])))
        return np.asarray(-np.log1p(-uniform).reshape(samples, SIZES[-1]) / RATE)

    def means(self, samples: int) -> Float[np.ndarray, "samples sizes"]:
        """Compute the mean of the first n waiting times of each sample, for every size."""
        at = np.array(SIZES)
        return np.asarray(self.waits(samples).cumsum(axis=1)[:, at - 1] / at)

    def miss(self, samples: int) -> float:
        """Compute how far the means of n lie from the truth on average, in minutes."""
        return float(abs(self.means(samples)[:, SIZES.index(self.n)] - 1 / RATE).mean())

    def picture(self) -> Figure:
        """Draw the latest sample, and the means of sixty samples.

        Returns
        -------
        Figure
            Two panels below each other.
        """
        figure = Figure(figsize=(7.2, 3.8), layout="constrained")
        ticks, means = figure.subplots(2, 1, sharex=True, height_ratios=(1, 3))
        found = self.means(STILL)[:, SIZES.index(self.n)]
        ticks.plot(
            self.waits(STILL)[-1, : self.n], np.zeros(self.n), "|", color=LIGHT["ink"], ms=12
        )
        ticks.plot(found[-1], 0.6, "v", color=LIGHT["blue"], ms=9)
        ticks.set(yticks=[], ylim=(-0.5, 1), title=f"One sample: {self.n} waiting times")
        miss = self.miss(STILL)
        means.axvspan(1 / RATE - miss, 1 / RATE + miss, color=LIGHT["orange"], alpha=0.16)
        means.hist(found, np.linspace(0, LONGEST, BINS + 1), color=LIGHT["blue"], alpha=0.6)
        means.set(xlim=(0, LONGEST), xlabel="minutes", ylabel="samples")
        means.set_title(f"{STILL} samples: their means miss by {miss:.2f} min on average")
        for panel in (ticks, means):
            panel.axvline(1 / RATE, color=LIGHT["green"], lw=1.5)
        return figure
