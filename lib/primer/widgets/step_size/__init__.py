"""The step size, taken hold of: four rules on one valley, their paths and their errors."""

from __future__ import annotations

from typing import Any

import numpy as np
from jaxtyping import Float
from matplotlib.figure import Figure

from primer import optimization as opt
from primer.palette import LIGHT
from primer.widgets.base import Widget
from primer.widgets.controls import Choice, Number

STEPS = 100
START = (-2.0, 1.0)
NAMES = {
    "gradient": "gradient descent",
    "momentum": "momentum",
    "adam": "Adam",
    "sign": "sign descent",
}
RULES = tuple(NAMES)
LARGEST = 1e6


class StepSize(Widget):
    r"""A valley with curvatures :math:`1` and :math:`h`, and one rule that walks down it.

    The loss is :math:`\frac12(w_1^2 + hw_2^2)`.  Gradient descent converges for
    :math:`\eta<2/h`, momentum for :math:`\eta<2(1+\beta)/h`.

    Parameters
    ----------
    **state
        First values of the traits: ``rule`` (``"gradient"``, ``"momentum"``, ``"adam"`` or
        ``"sign"``), ``step`` (:math:`\eta`, 0.001 to 3), ``curvature`` (:math:`h`, 1 to 100) and
        ``momentum`` (:math:`\beta`, 0 to 0.99).

    Raises
    ------
    traitlets.TraitError
        When a value is out of its range or NaN.

    Examples
    --------
    >>> StepSize(rule="momentum", step=0.03)
    StepSize(rule='momentum', step=0.03, curvature=100.0, momentum=0.8)
    """

    description = (
        "A long valley drawn by rings of equal loss, and the path of an optimizer from its side. "
        "Below, the distance to the lowest point at each step on a logarithmic axis, along the "
        "valley and across it: straight lines down, or up beyond the step limit."
    )

    rule = Choice("gradient", NAMES | {"sign": "sign"}, label="Rule")
    step = Number(
        0.018, low=0.001, high=3.0, step=0.005, scale="decades", digits=4, label="Step size η"
    )
    curvature = Number(
        100.0, low=1.0, high=100.0, step=0.02, scale="decades", digits=1, label="Curvature h"
    )
    momentum = Number(0.8, low=0.0, high=0.99, label="Momentum β")

    def limit(self) -> float | None:
        """Compute the step limit; None for the rules whose steps do not follow the gradient."""
        if self.rule == "gradient":
            return opt.momentum_limit(self.curvature, 0.0)
        if self.rule == "momentum":
            return opt.momentum_limit(self.curvature, self.momentum)
        return None

    def path(self) -> Float[np.ndarray, "times 2"]:
        """Walk a hundred steps, or until a weight exceeds a million.

        Returns
        -------
        float array, shape (times, 2)
            The start first.
        """
        rules: dict[str, Any] = {
            "gradient": lambda: opt.GradientDescent(self.step),
            "momentum": lambda: opt.Momentum(self.step, self.momentum),
            "adam": lambda: opt.Adam(self.step),
            "sign": lambda: opt.SteepestDescent(self.step, "linf"),
        }
        rule = rules[self.rule]()
        curvatures = np.array([1.0, self.curvature])
        w, path = np.array(START), [np.array(START)]
        memory = rule.start(w)
        while len(path) <= STEPS and abs(w).max() <= LARGEST:
            w, memory = rule.move(w, curvatures * w, memory)
            path.append(w)
        return np.array(path)

    def picture(self) -> Figure:
        """Draw the valley with the path, and the errors.

        Returns
        -------
        Figure
            Two panels.
        """
        figure = Figure(figsize=(7.2, 3.5), layout="constrained")
        left, right = figure.subplots(1, 2)
        path = self.path()
        along, across = np.meshgrid(np.linspace(-2.4, 2.4, 121), np.linspace(-1.5, 1.5, 81))
        height = 0.5 * (along**2 + self.curvature * across**2)
        levels = height.max() * (np.arange(1, 9) / 8) ** 2
        left.contour(along, across, height, levels, colors=LIGHT["muted"], linewidths=0.7)
        left.plot(*path.T, "o-", color=LIGHT["blue"], markersize=3, lw=1.2)
        left.set(xlim=(-2.4, 2.4), ylim=(-1.5, 1.5), xlabel="$w_1$, flat", ylabel="$w_2$, steep")
        left.set_title(f"{NAMES[self.rule]}, η = {self.step:g}")
        for k, color, label in ((0, "green", "flat, $|w_1|$"), (1, "orange", "steep, $|w_2|$")):
            right.plot(np.maximum(abs(path[:, k]), 1e-12), color=LIGHT[color], label=label)
        right.set(yscale="log", ylim=(1e-6, 1e3), xlabel="step t", ylabel="error")
        right.legend()
        return figure
