"""Each direction of a bowl: how far one step size and one momentum bring each of its curvatures."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np
import traitlets
from jaxtyping import Float
from matplotlib.figure import Figure

from primer import optimization as opt
from primer.palette import LIGHT
from primer.widgets.base import Widget
from primer.widgets.controls import Number, Whole

STEPS = 200
CURVATURES = (1.0, 100.0)
STEP = (0.001, 4.0)
AT_FIRST = [1.0, 3.0, 10.0, 30.0, 100.0]
LEVELS = (0.99, 0.98, 0.95, 0.9, 0.8, 0.65, 0.5, 0.25)
"""The factors whose regions are drawn in the plane of step size and momentum."""
LARGEST = 1e12
COLORS = ("green", "blue", "purple", "gold", "orange")


class EachDirection(Widget):
    r"""A bowl of five directions, whose curvatures can be moved, under the heavy ball.

    The loss is :math:`\frac12\sum_ih_iw_i^2`; every :math:`w_i` starts at 1, from rest.  In the
    long run the error of a direction shrinks by the spectral radius of its 2×2 matrix
    (:func:`primer.optimization.momentum_matrix`) per step.

    Parameters
    ----------
    **state
        First values of the traits: ``step`` (:math:`\eta`, 0.001 to 4), ``momentum``
        (:math:`\beta`, 0 to 0.99), ``time`` (how many steps were taken, 0 to 200) and
        ``curvatures`` (five numbers from 1 to 100).

    Raises
    ------
    traitlets.TraitError
        When a value is out of its range or NaN, or there are not five curvatures.

    Examples
    --------
    >>> EachDirection(step=0.02, momentum=0.0, curvatures=[1, 10, 40, 50, 90]).factors().round(2)
    array([0.98, 0.8 , 0.2 , 0.  , 0.8 ])
    """

    description = (
        "Five bars stand at the curvatures of a bowl's five directions, as high as the factor by "
        "which a step shrinks the error there; their tops lie on one curve, which falls, lies "
        "flat where the roots are complex, and rises beyond 1. Below, what is left of each error "
        "after some steps. Beside it the loss over the steps with the part of each direction, "
        "and a map of all pairs of step size and momentum, stronger in color where the slowest "
        "direction is faster."
    )

    constants: ClassVar[dict[str, Any]] = {
        "steps": STEPS,
        "ends": CURVATURES,
        "range": STEP,
        "levels": LEVELS,
        "largest": LARGEST,
    }

    step = Number(
        0.018,
        low=STEP[0],
        high=STEP[1],
        step=0.005,
        scale="decades",
        form="significant",
        digits=3,
        label="Step size η",
    )
    momentum = Number(0.0, low=0.0, high=0.99, digits=3, label="Momentum β")
    time = Whole(60, low=0, high=STEPS, label="Steps taken")
    curvatures = traitlets.List(traitlets.Float(), AT_FIRST).tag(sync=True)

    @traitlets.validate("curvatures")
    def _check_curvatures(self, proposal: traitlets.Bunch) -> list[float]:
        found = [float(h) for h in proposal.value]
        low, high = CURVATURES
        if len(found) != len(AT_FIRST) or not all(low <= h <= high for h in found):
            raise traitlets.TraitError(
                f"curvatures must be {len(AT_FIRST)} numbers from {low:g} to {high:g}, got {found}"
            )
        return found

    def factors(self) -> Float[np.ndarray, " d"]:
        """Compute the factor of each direction's error per step, in the long run."""
        return np.array([opt.momentum_factor(h, self.step, self.momentum) for h in self.curvatures])

    def errors(self) -> Float[np.ndarray, "times d"]:
        """Run all 200 steps; an error of more than 10¹² stays there."""
        path = []
        for h in self.curvatures:
            matrix = opt.momentum_matrix(h, self.step, self.momentum)
            pair, own = np.ones(2), [1.0]
            for _ in range(STEPS):
                pair = np.clip(matrix @ pair, -LARGEST, LARGEST)
                own.append(pair[0])
            path.append(own)
        return np.array(path).T

    def limit(self) -> float:
        """Compute the step size at which the steepest direction stops converging."""
        return opt.momentum_limit(max(self.curvatures), self.momentum)

    def best(self) -> tuple[opt.BestStep, opt.BestMomentum]:
        """Find the best settings for these curvatures: without momentum, and with it."""
        low, high = min(self.curvatures), max(self.curvatures)
        return opt.best_step(np.sqrt([low / 2, high / 2])), opt.best_momentum(low, high)

    def picture(self) -> Figure:
        """Draw the factors and what is left, the loss and the map of the settings.

        Returns
        -------
        Figure
            Four panels.
        """
        figure = Figure(figsize=(7.2, 5.4), layout="constrained")
        (rates, loss), (left, plane) = figure.subplots(2, 2)
        low, high = 0.8 * CURVATURES[0], 1.25 * CURVATURES[1]
        grid, beta = np.geomspace(low, high, 300), self.momentum
        swings = [(1 + sign * math.sqrt(beta)) ** 2 / self.step for sign in (-1, 1)]
        rates.axvspan(*swings, color=LIGHT["blue"], alpha=0.12, lw=0)
        curve = [opt.momentum_factor(h, self.step, beta) for h in grid]
        rates.plot(grid, curve, color=LIGHT["muted"], lw=1.5)
        rates.axhline(1, color=LIGHT["red"], lw=1, ls="--")
        rates.set(xscale="log", xlim=(low, high), ylim=(0, 1.3), ylabel="factor per step")
        path = self.errors()
        parts = np.array(self.curvatures) * path**2 / 2
        for h, factor, error, part, name in zip(
            self.curvatures, self.factors(), abs(path[self.time]), parts.T, COLORS, strict=True
        ):
            color = LIGHT[name]
            rates.plot([h, h], [0, factor], color=color, lw=6, solid_capstyle="butt")
            left.plot([h, h], [1e-9, max(error, 1e-9)], color=color, lw=6, solid_capstyle="butt")
            loss.plot(np.maximum(part, 1e-15), color=color, lw=1)
        left.set(xscale="log", yscale="log", xlim=(low, high), ylim=(1e-6, 1e3))
        left.set(xlabel="curvature h", ylabel=f"error after {self.time} steps")
        loss.plot(np.maximum(parts.sum(axis=1), 1e-15), color=LIGHT["ink"], lw=2, label="loss")
        loss.axvline(self.time, color=LIGHT["ink"], lw=1, ls=":")
        loss.set(yscale="log", ylim=(1e-8, 1e4), xlabel="step t", ylabel="loss")
        ends = min(self.curvatures), max(self.curvatures)
        for level in (1 - 1e-9, *LEVELS):
            corners = opt.momentum_settings(level, *ends)
            if len(corners):
                plane.fill(*corners.T, color=LIGHT["blue"], alpha=0.14, lw=0)
        plain, heavy = self.best()
        plane.plot(
            [plain.step, heavy.step], [0, heavy.momentum], "o", mfc="none", color=LIGHT["orange"]
        )
        plane.plot(min(self.step, 4 / ends[1]), beta, "o", color=LIGHT["ink"])
        plane.axline(
            (opt.momentum_limit(ends[1], 0.0), 0), slope=ends[1] / 2, color=LIGHT["red"], ls="--"
        )
        plane.set(xlim=(0, 4 / ends[1]), ylim=(0, 1), xlabel="step size η", ylabel="momentum β")
        return figure
