"""Touch the corner: ridge and lasso beside each other, with a minimum that can be dragged."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import traitlets
from jaxtyping import Float
from matplotlib.figure import Figure

from primer import regression
from primer.palette import LIGHT
from primer.widgets.base import Widget
from primer.widgets.controls import Choice, Number

PENALTIES = np.linspace(0, 3, 121)
REACH = (2.5, 1.9)
"""The minimum lies within so much of 0 in each weight."""


class Place(traitlets.List):  # type: ignore[type-arg]
    """The two weights at which the loss is lowest."""

    def validate(self, obj: Any, value: Any) -> list[float]:
        """Return the weights as a list, or say what is wrong with them."""
        try:
            found = np.asarray(value, dtype=float)
        except (TypeError, ValueError) as error:
            raise traitlets.TraitError(f"minimum must be numbers: {error}") from None
        if found.shape != (2,) or not (abs(found) <= REACH).all():
            raise traitlets.TraitError(
                f"minimum must be two numbers within ±{REACH[0]} and ±{REACH[1]}, got {value}"
            )
        return [float(w) for w in found]


class TouchTheCorner(Widget):
    r"""The loss of two weights, and what ridge and the lasso make of its minimum.

    The columns have the mean square 1 and the correlation c, the loss is
    :math:`\frac1{2n}\lVert y-Xw\rVert^2`.  The lasso charges :math:`\lambda\lVert w\rVert_1`, ridge
    :math:`\frac\lambda2\lVert w\rVert^2`.

    Parameters
    ----------
    **state
        First values of the traits: ``kind`` (``"lasso"`` or ``"ridge"``), ``penalty``
        (:math:`\lambda`, 0 to 3), ``tilt`` (the correlation, −0.9 to 0.9) and ``minimum`` (two
        weights, within ±2.5 and ±1.9).

    Raises
    ------
    traitlets.TraitError
        When a value is out of its range or NaN.

    Examples
    --------
    >>> TouchTheCorner(penalty=1.0).weights().round(3)  # the second is exactly 0
    array([1.075, 0.   ])
    >>> TouchTheCorner(kind="ridge", penalty=1.0).weights().round(3)
    array([0.933, 0.417])
    """

    description = (
        "Level lines of a loss around its minimum, a cross that can be dragged, and the region of "
        "the penalty that they touch: a circle for ridge, a diamond for the lasso. Beside it both "
        "weights for every penalty; those of the lasso reach zero one after the other and stay "
        "there."
    )

    kind = Choice("lasso", ("ridge", "lasso"), label="Penalty")
    penalty = Number(0.3, low=0.0, high=3.0, step=0.02, label="λ")
    tilt = Number(0.5, low=-0.9, high=0.9, step=0.05, label="Correlation")
    minimum = Place([1.9, 0.35]).tag(sync=True)
    constants: ClassVar = {"penalties": PENALTIES.tolist()}

    def weights(self, penalty: float | None = None) -> Float[np.ndarray, "2"]:
        """Compute the two weights, at the present penalty or another one."""
        charge = self.penalty if penalty is None else penalty
        gram = np.array([[1, self.tilt], [self.tilt, 1]])
        X = np.sqrt(2) * np.linalg.cholesky(gram).T  # two rows, with XᵀX/2 = gram
        y = X @ self.minimum
        if charge == 0:
            return np.array(self.minimum)
        if self.kind == "ridge":
            return np.asarray(regression.ridge(X, y, 2 * charge))
        return regression.lasso(X, y, charge, tolerance=1e-14)

    def picture(self) -> Figure:
        """Draw the plane of the weights, and their paths.

        Returns
        -------
        Figure
            Two panels.
        """
        figure = Figure(figsize=(7.2, 3.4), layout="constrained")
        plane, course = figure.subplots(1, 2)
        w = self.weights()
        grid = np.linspace(-2.6, 2.6, 209)
        first, second = np.meshgrid(grid, grid)
        length = np.hypot(first, second) if self.kind == "ridge" else abs(first) + abs(second)
        size = np.hypot(*w) if self.kind == "ridge" else abs(w).sum()
        u, v = first - self.minimum[0], second - self.minimum[1]
        height = (u**2 + 2 * self.tilt * u * v + v**2) / 2
        du, dv = w - self.minimum
        level = (du**2 + 2 * self.tilt * du * dv + dv**2) / 2
        if size > 0:
            plane.contourf(grid, grid, length, [0, size], colors=[LIGHT["green"]], alpha=0.25)
        if level > 0:
            levels = [level * part for part in (0.25, 0.6, 1.0)]
            plane.contour(grid, grid, height, levels, colors=[LIGHT["muted"]], linewidths=1)
        plane.plot(*self.minimum, "x", color=LIGHT["ink"])
        plane.plot(*w, "o", color=LIGHT["purple"])
        plane.set(xlim=(-2.6, 2.6), ylim=(-2, 2), aspect="equal", xlabel="w₁", ylabel="w₂")
        plane.set_title(f"{self.kind.capitalize()}, λ = {self.penalty:g}")
        path = np.array([self.weights(one) for one in PENALTIES])
        for i, color in enumerate(("blue", "orange")):
            course.plot(PENALTIES, path[:, i], color=LIGHT[color], label=("w₁", "w₂")[i])
        course.axvline(self.penalty, color=LIGHT["ink"], lw=1, ls=":")
        course.axhline(0, color=LIGHT["muted"], lw=1)
        course.set(ylim=(-2.6, 2.6), xlabel="penalty λ", ylabel="weight")
        course.legend()
        return figure
