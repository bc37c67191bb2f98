"""The ball of a norm, taken hold of: turn the gradient and see where the best step is."""

from __future__ import annotations

import math

import numpy as np
from jaxtyping import Float
from matplotlib.figure import Figure

from primer import optimization as opt
from primer.optimization.norms import Norm
from primer.palette import LIGHT
from primer.widgets.base import Widget
from primer.widgets.controls import Choice, Number

KINDS: tuple[Norm, ...] = ("l1", "l2", "linf")
SYMBOLS = {"l1": "ℓ1", "l2": "ℓ2", "linf": "ℓ∞"}
COLORS = {"l1": "green", "l2": "purple", "linf": "orange"}


class NormBall(Widget):
    r"""A gradient in the plane, and the best step under three norms.

    .. math:: \arg\min_{\lVert\Delta\rVert\le\eta}\langle g,\Delta\rangle

    Parameters
    ----------
    **state
        First values of the traits: ``angle`` (the gradient's direction, −180 to 180 degrees),
        ``length`` (its length, 0.2 to 1.6), ``radius`` (:math:`\eta`, 0.1 to 1) and ``norm``
        (``"l1"``, ``"l2"`` or ``"linf"``, the ball that is highlighted).

    Raises
    ------
    traitlets.TraitError
        When a value is out of its range or NaN.

    Examples
    --------
    >>> NormBall(angle=30.0, norm="l1")
    NormBall(angle=30.0, length=1.2, radius=0.8, norm='l1')
    """

    description = (
        "A diamond, a circle and a square: all steps of length at most η in the norms ℓ1, ℓ2 and "
        "ℓ∞. An arrow shows the gradient, three others the step in each ball that lowers the loss "
        "most; it lies where a line across the gradient touches the ball last."
    )

    angle = Number(35.0, low=-180.0, high=180.0, step=1, digits=0, unit="°", label="Direction of g")
    length = Number(1.2, low=0.2, high=1.6, label="Length of g")
    radius = Number(0.8, low=0.1, high=1.0, label="Radius η")
    norm = Choice("linf", SYMBOLS, label="Norm")

    def gradient(self) -> Float[np.ndarray, "2"]:
        """Compute the gradient's two coordinates; along an axis the other one is 0."""
        turn = math.radians(self.angle)
        unit = np.array([math.cos(turn), math.sin(turn)])
        return self.length * np.where(np.abs(unit) < 1e-12, 0.0, unit)

    def steps(self) -> dict[str, Float[np.ndarray, "2"]]:
        """Compute the best step under each norm."""
        return {kind: opt.steepest_step(self.gradient(), self.radius, kind) for kind in KINDS}

    def picture(self) -> Figure:
        """Draw the balls, the gradient and the best steps.

        Returns
        -------
        Figure
            One panel.
        """
        figure = Figure(figsize=(5.2, 4.8), layout="constrained")
        panel = figure.subplots()
        turn = np.linspace(0, 2 * np.pi, 721)
        rim = np.stack([np.cos(turn), np.sin(turn)], axis=1)
        orders = {"l1": 1, "l2": 2, "linf": np.inf}
        for kind, step in self.steps().items():
            ball = self.radius * rim / np.linalg.norm(rim, orders[kind], axis=1)[:, None]
            width = 2.4 if kind == self.norm else 1.0
            panel.plot(*ball.T, color=LIGHT[COLORS[kind]], lw=width, label=SYMBOLS[kind])
            arrow = {"arrowstyle": "-|>", "color": LIGHT[COLORS[kind]], "lw": width}
            panel.annotate("", tuple(step), (0, 0), arrowprops=arrow)
        arrow = {"arrowstyle": "-|>", "color": LIGHT["ink"], "lw": 2}
        panel.annotate("", tuple(self.gradient()), (0, 0), arrowprops=arrow)
        panel.set(xlim=(-1.7, 1.7), ylim=(-1.7, 1.7), aspect="equal", xlabel="Δ₁", ylabel="Δ₂")
        panel.set_title("The gradient (black) and the best step in each ball")
        panel.legend(loc="lower right")
        return figure
