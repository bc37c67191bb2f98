"""One layer learns a line: layers of attention beside steps of gradient descent."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import traitlets
from jaxtyping import Float
from matplotlib.figure import Figure

from primer.language_models import softmax
from primer.palette import LIGHT
from primer.pretraining import attention_layers, best_rate
from primer.widgets.base import Widget
from primer.widgets.controls import Choice, Number, Whole

REACH = 3.0
"""Questions and points lie between −3 and 3."""
PLACES = [round(-REACH + 0.1 * i, 1) for i in range(61)]
POINTS = [[-1.6, -1.9], [-0.9, -1.1], [0.3, 0.4], [0.8, 0.9], [1.4, 1.7]]


class Examples(traitlets.List):  # type: ignore[type-arg]
    """Five pairs of numbers, each between −3 and 3."""

    def validate(self, obj: Any, value: Any) -> list[list[float]]:
        """Return the pairs as lists, or say what is wrong with them."""
        try:
            table = np.asarray(value, dtype=float)
        except (TypeError, ValueError) as error:
            raise traitlets.TraitError(f"points must be pairs of numbers: {error}") from None
        if table.shape != (len(POINTS), 2) or not (abs(table) <= REACH).all():
            raise traitlets.TraitError(
                f"points must be {len(POINTS)} pairs between −3 and 3, got shape {table.shape}"
            )
        return [[float(x), float(y)] for x, y in table]


class LearnLine(Widget):
    r"""Five examples of a line, read by layers of attention that never change a weight.

    .. math:: r_i \leftarrow r_i - \frac\eta n\sum_j (x_ix_j)\,r_j

    Parameters
    ----------
    **state
        First values of the traits: ``points`` (five pairs between −3 and 3), ``rate`` (0 to 2),
        ``layers`` (1 to 20), ``attention`` (``"linear"`` or ``"softmax"``) and ``query``.

    Raises
    ------
    TraitError
        When a value is out of its range.

    Examples
    --------
    >>> widget = LearnLine(layers=20)
    >>> float(widget.answers()[-1].round(2))  # at x = 3
    3.59
    """

    description = (
        "Five points that can be moved, and what attention answers to every question x: a line "
        "through the origin that rises with each layer, or a mean of the points' heights."
    )
    constants: ClassVar[dict[str, Any]] = {"places": PLACES, "best": best_rate(len(POINTS), 1)}

    points = Examples(POINTS).tag(sync=True)
    rate = Number(0.3, low=0.0, high=2.0, step=0.01, label="Rate η")
    layers = Whole(1, low=1, high=20, label="Layers")
    attention = Choice("linear", {"linear": "linear", "softmax": "softmax"}, label="Attention")
    query = Number(1.2, low=-REACH, high=REACH, step=0.1, label="Question x")

    def answers(self) -> Float[np.ndarray, " places"]:
        """Compute what is answered from −3 to 3.

        Returns
        -------
        float array, shape (61,)
        """
        x, y = np.transpose(self.points)
        if self.attention == "softmax":
            return softmax(np.multiply.outer(PLACES, x)) @ y
        layers = [
            attention_layers(x[:, None].tolist(), y.tolist(), [q], self.rate, self.layers)[-1]
            for q in PLACES
        ]
        return np.array(layers)

    def picture(self) -> Figure:
        """Draw points and answers.

        Returns
        -------
        Figure
            One panel.
        """
        figure = Figure(figsize=(7.2, 3.4), layout="constrained")
        axes = figure.subplots()
        axes.plot(PLACES, self.answers(), color=LIGHT["blue"])
        axes.plot(*np.transpose(self.points), "o", color=LIGHT["ink"])
        axes.axvline(self.query, color=LIGHT["orange"], linestyle="--")
        axes.set(xlim=(-REACH, REACH), ylim=(-REACH, REACH), xlabel="x", ylabel="y")
        axes.set_title(f"{self.attention} attention, layers: {self.layers}")
        return figure
