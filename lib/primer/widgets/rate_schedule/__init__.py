"""A schedule over a noise floor: what is expected of a run in a bowl, and one run."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np
import traitlets
from jaxtyping import Float
from matplotlib.figure import Figure

from primer import optimization as opt
from primer.palette import LIGHT
from primer.widgets.base import Widget
from primer.widgets.controls import Choice, Number, Whole
from primer.widgets.shared.mulberry import mulberry

STEPS = 400
CURVATURES = np.logspace(-3, 0, 30)
SHAPES = {
    "constant": lambda x: np.ones_like(x),
    "1/t": lambda x: 1 / (1 + 20 * x),
    "cosine": lambda x: (1 + np.cos(np.pi * x)) / 2,
    "WSD": lambda x: np.minimum(1, (1 - x) / 0.2),
}
"""The part of the peak that is left when the part x of a run is over."""
SETTLES = 40
"""In so many steps the bowl's excess steepness falls to 1/e."""


class RateSchedule(Widget):
    r"""A bowl with thirty directions, noise in its gradients, and a schedule of the rate.

    The curvatures run from 0.001 to 1; the noise of a gradient has the variance :math:`h/B` in a
    direction of curvature h.  At first the bowl may be steeper by a factor, which falls to 1 like
    :math:`e^{-t/40}`.

    Parameters
    ----------
    **state
        First values of the traits: ``shape`` (``"constant"``, ``"1/t"``, ``"cosine"`` or
        ``"WSD"``), ``rate`` (its peak, 0.01 to 1.9), ``warm`` (steps in which the rate rises, 0 to
        100), ``batch`` (1, 4, 16 or 64), ``first`` (how much steeper the bowl is at first, 1 to 8),
        ``step`` (the one looked at, 0 to 400) and ``seed`` (of the one run, from 0 on).

    Raises
    ------
    traitlets.TraitError
        When a value is out of its range or NaN.

    Examples
    --------
    >>> widget = RateSchedule(shape="WSD", rate=0.09, batch=1)
    >>> round(float(sum(part[-1].sum() for part in widget.expected())), 3)  # the expected loss
    0.083
    """

    description = (
        "The loss of gradient descent in a noisy bowl over 400 steps: expected, in one run, and as "
        "a dashed line the floor of each step's rate. Beside it the rate over the steps, and for "
        "each of thirty directions, from flat to steep, how much of the loss is way still to go "
        "and how much is noise."
    )

    shape = Choice("constant", tuple(SHAPES), label="Schedule")
    rate = Number(0.3, low=0.01, high=1.9, step=0.02, scale="decades", label="Peak rate η")
    warm = Whole(0, low=0, high=100, step=5, label="Warm-up steps")
    batch = Choice(16, (1, 4, 16, 64), label="Batch", look="slider")
    first = Number(1.0, low=1.0, high=8.0, step=0.5, digits=1, label="Steeper at first ×")
    step = Whole(STEPS, low=0, high=STEPS, label="Look at step")
    seed = traitlets.Int(3, min=0).tag(sync=True)
    constants: ClassVar = {"curvatures": CURVATURES.tolist(), "steps": STEPS}

    def rates(self) -> Float[np.ndarray, " steps"]:
        """Compute the rate of each step."""
        t = np.arange(STEPS)
        risen = np.minimum(1, (t + 1) / (self.warm + 1))
        return np.asarray(self.rate * SHAPES[self.shape](t / STEPS) * risen)

    def curvatures(self) -> Float[np.ndarray, "steps d"]:
        """Compute the curvature of each direction at each step."""
        factor = 1 + (self.first - 1) * np.exp(-np.arange(STEPS) / SETTLES)
        return factor[:, None] * CURVATURES

    def expected(self) -> opt.Expected:
        """Compute the parts of the expected loss before and after each step."""
        return opt.expected_losses(self.curvatures(), self.rates(), 1 / self.batch)

    def floor(self) -> float:
        """Compute the loss at which the peak would come to rest."""
        return opt.loss_floor(CURVATURES, self.rate, 1 / self.batch)

    def run(self) -> Float[np.ndarray, " times"]:
        """Walk once, with the noise of the seed, and return the loss before and after each step."""
        uniform = mulberry(self.seed)
        drawn = [
            math.sqrt(-2 * math.log(1 - next(uniform))) * math.cos(2 * math.pi * next(uniform))
            for _ in range(STEPS * len(CURVATURES))
        ]
        noise = np.reshape(drawn, (STEPS, -1))
        h, w, losses = self.curvatures(), np.ones(len(CURVATURES)), []
        for t, eta in enumerate(self.rates()):
            losses.append(float((h[t] * w**2).sum() / 2))
            w = w - eta * (h[t] * w + np.sqrt(h[t] / self.batch) * noise[t])
        return np.array([*losses, float((h[-1] * w**2).sum() / 2)])

    def picture(self) -> Figure:
        """Draw the losses, the rate and the parts of the directions.

        Returns
        -------
        Figure
            Three panels: one on the left, two below each other on the right.
        """
        figure = Figure(figsize=(7.2, 3.6), layout="constrained")
        grid = figure.add_gridspec(2, 2, height_ratios=(2, 3))
        left = figure.add_subplot(grid[:, 0])
        course, parts = figure.add_subplot(grid[0, 1]), figure.add_subplot(grid[1, 1])
        way, noise = self.expected()
        left.plot(self.run()[: self.step + 1], color=LIGHT["muted"], lw=0.8, label="one run")
        left.plot((way + noise).sum(axis=1), color=LIGHT["blue"], lw=2, label="expected")
        left.axhline(self.floor(), color=LIGHT["orange"], ls="--", label="floor of the peak")
        left.axvline(self.step, color=LIGHT["ink"], lw=1, ls=":")
        left.set(yscale="log", ylim=(0.004, 30), xlabel="step", ylabel="loss")
        left.legend(fontsize=8)
        course.plot(self.rates(), color=LIGHT["blue"])
        course.set(ylim=(0, 1.15 * self.rate), ylabel="rate η")
        course.set_title(f"{self.shape}, batches of {self.batch}")
        places, low, high = np.arange(len(CURVATURES)), noise[self.step], way[self.step]
        parts.bar(places, low, color=LIGHT["orange"], label="noise")
        parts.bar(places, high, bottom=low, color=LIGHT["green"], label="way to go")
        parts.set_xticks([0, 29 / 3, 58 / 3, 29], ["0.001", "0.01", "0.1", "1"])
        parts.set(xlabel="curvature of the direction", ylabel="part of the loss")
        parts.legend(fontsize=8)
        return figure
