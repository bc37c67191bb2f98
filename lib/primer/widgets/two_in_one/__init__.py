"""Two in one: two features that share one number, and the weights that lose least."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import traitlets
from matplotlib.figure import Figure
from scipy.optimize import minimize_scalar

from primer.inside import shared_loss, sharing_border
from primer.palette import LIGHT
from primer.widgets.base import Widget
from primer.widgets.controls import Number, Switch

REACH, BIAS = 1.5, 1.0
"""How far a weight and a bias may go."""

LEAST = (
    "oooooooooooooooooooooooos",
    "oooooooooooooooooaaaaaaaa",
    "oooooooooooooaaaaaaaaaaaa",
    "ooooooooooooaaaaaaaaaaaaa",
    "ooooooooooaaaaaaaaaaaaaaa",
    "oooooooooaaaaaaaaaaaaaaaa",
    "ooooooooaaaaaaaaaaaaaaaaa",
    "oooooooaaaaaaaaaaaaaaaaaa",
    "oooooaaaaaaaaaaaaaaaaaaaa",
    "oooooaaaaaaaaaaaaaaaaaaaa",
    "ooooaaaaaaaaaaaaaaaaaaaaa",
)
"""Where the loss is least: o opposite signs, a one alone (below 5 % of the other), s the same sign.

A row for each importance :math:`10^{k/10}` of the second feature, k = 0 … 10, a letter for each
chance 1/25 … 1; with importance 1/r the features change places.  A test computes it again.
"""

COLORS = {"o": "blue", "a": "orange", "s": "green"}


class TwoInOne(Widget):
    r"""Two features that must share one number, their exact loss, and the weights that lose least.

    .. math:: h = w_1x_1 + w_2x_2, \qquad \hat x_i = \max(w_ih + b_i, 0), \qquad
        L = E\,(x_1-\hat x_1)^2 + r\,E\,(x_2-\hat x_2)^2

    Each feature is active with chance p, independently, and then uniform on [0, 1].

    Parameters
    ----------
    **state
        First values of the traits: ``p`` (0.02 to 1), ``ratio`` (r, 0.1 to 10), ``weights`` (two
        numbers from −1.5 to 1.5), ``best`` (whether the biases are the best for the weights),
        ``first_bias`` and ``second_bias`` (−1 to 1, used when ``best`` is off).

    Raises
    ------
    traitlets.TraitError
        When a value is out of its range or NaN, or there are not two weights.

    Examples
    --------
    >>> widget = TwoInOne(weights=[1.0, -1.0], best=False)
    >>> round(widget.loss(), 6)  # p²/3
    0.03
    """

    description = (
        "A plane of two weights, colored by the exact loss: two dark valleys where the weights "
        "have opposite signs, shallower ones where they have the same, and the handle in one of "
        "those. Beside it where each pair of features comes back, and a map of which arrangement "
        "loses least, by the chance to be active and by how much the second feature matters."
    )

    p = Number(0.3, low=0.02, high=1.0, label="Chance p")
    ratio = Number(1.0, low=0.1, high=10.0, scale="decades", label="Importance r")
    best = Switch(True, label="Best biases for the weights")
    first_bias = Number(0.0, low=-BIAS, high=BIAS, label="Bias b₁", when=("best", False))
    second_bias = Number(0.0, low=-BIAS, high=BIAS, label="Bias b₂", when=("best", False))
    weights = traitlets.List(traitlets.Float(), [0.8, 0.6]).tag(sync=True)
    constants: ClassVar[dict[str, Any]] = {"rows": LEAST}

    @traitlets.validate("weights")
    def _check_weights(self, proposal: traitlets.Bunch) -> list[float]:
        weights = [float(w) for w in proposal.value]
        if len(weights) != 2 or not all(-REACH <= w <= REACH for w in weights):
            raise traitlets.TraitError(
                f"weights must be two numbers from {-REACH} to {REACH}, got {weights}"
            )
        return weights

    def biases(self) -> tuple[float, float]:
        """Return the biases: those of the traits, or with ``best`` those that lose least."""
        if not self.best:
            return self.first_bias, self.second_bias
        first, second = (self._lowest(i) for i in range(2))
        return first, second

    def _lowest(self, feature: int) -> float:
        """Find the bias with which one feature loses least."""

        def of(bias: float) -> float:
            # far below, where nothing comes back, the other feature's part does not move
            both = [-9.0, -9.0]
            both[feature] = bias
            return shared_loss(self.weights, both, self.p, self.ratio)

        tried = np.linspace(-BIAS, BIAS, 11)
        found = np.array([of(bias) for bias in tried])
        at = int(np.flatnonzero(found <= found.min() + 1e-12)[-1])  # of equal ones the largest
        sides = [(tried[max(at - 1, 0)], tried[at]), (tried[at], tried[min(at + 1, 10)])]
        options = {"xatol": 1e-7}
        ends = [
            minimize_scalar(of, bounds=side, method="bounded", options=options)
            for side in sides
            if side[0] < side[1]
        ]
        return float(min(ends, key=lambda end: float(end.fun)).x)

    def loss(self) -> float:
        """Compute the exact loss of the present weights and biases."""
        return shared_loss(self.weights, self.biases(), self.p, self.ratio)

    def returned(self) -> tuple[np.ndarray, np.ndarray]:
        """Compute for a grid of feature pairs what comes back; both have shape (36, 2)."""
        grid = np.linspace(0, 1, 6)
        given = np.stack(np.meshgrid(grid, grid, indexing="ij"), axis=-1).reshape(-1, 2)
        weights = np.array(self.weights)
        return given, np.maximum(np.outer(given @ weights, weights) + self.biases(), 0)

    def picture(self) -> Figure:
        """Draw where feature pairs come back, and which arrangement loses least.

        Returns
        -------
        Figure
            Two panels beside each other.
        """
        figure = Figure(figsize=(7.2, 3.6), layout="constrained")
        back, chart = figure.subplots(1, 2)
        given, found = self.returned()
        for one, other in zip(given, found, strict=True):
            back.plot(*np.stack([one, other]).T, color=LIGHT["muted"], lw=0.8)
        alone = (given == 0).any(axis=1)
        back.plot(*found[~alone].T, "o", ms=4, color=LIGHT["ink"], label="both active")
        back.plot(*found[alone].T, "o", ms=4, color=LIGHT["purple"], label="one active")
        back.set(xlim=(-0.08, 1.3), ylim=(-0.08, 1.3), aspect="equal")
        back.set(xlabel="first feature", ylabel="second feature", title=f"Loss {self.loss():.4f}")
        back.legend(fontsize=8)
        rows = [*LEAST[:0:-1], *LEAST]  # from r = 0.1 to r = 10
        p, k = np.meshgrid(np.arange(1, 26) / 25, np.arange(-10, 11) / 10)
        kinds = np.array([list(row) for row in rows])
        for name, color in COLORS.items():
            some = kinds == name
            chart.plot(p[some], 10 ** k[some], "s", ms=4, alpha=0.5, color=LIGHT[color])
        ratios = 10 ** np.linspace(-1, 1, 41)
        chart.plot([sharing_border(r) for r in ratios], ratios, "--", color=LIGHT["ink"], lw=1)
        chart.plot(self.p, self.ratio, "o", color=LIGHT["ink"])
        chart.set(yscale="log", xlim=(0, 1.03), xlabel="chance p", ylabel="importance r")
        chart.set_title("Least loss with")
        marks = {"o": "opposite signs", "a": "one alone", "s": "the same sign"}
        for name, words in marks.items():
            chart.plot([], [], "s", color=LIGHT[COLORS[name]], label=words)
        chart.legend(fontsize=8, loc="lower left", frameon=True, framealpha=1.0)
        return figure
