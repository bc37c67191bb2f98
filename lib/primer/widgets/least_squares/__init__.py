"""Least squares by hand: move points and a line of your own, and see what the squares say."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np
import traitlets
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from numpy.typing import ArrayLike

from primer import regression
from primer.palette import LIGHT
from primer.widgets.base import Widget
from primer.widgets.controls import Choice, Name, Number, Switch, known

FEWEST, MOST = 2, 40
LARGEST_PENALTY = 999.0
ENDS = (0.12, 0.88)
"""Where the handles of the reader's line stand, as parts of the width."""


def example_points() -> dict[str, list[list[float]]]:
    """Make the sets of points the widget offers.

    Returns
    -------
    dict
        A list of [x, y] for each name: a noisy line, the same with one far point, and Anscombe's
        four sets.

    Examples
    --------
    >>> list(example_points())[:3]
    ['a noisy line', 'one far point', 'Anscombe I']
    """
    rng = np.random.default_rng(4)
    x = np.linspace(4, 13, 10)
    y = 3 + 0.6 * x + rng.normal(0, 1.5, 10)
    line = np.column_stack([x, y]).round(1).tolist()
    quartet = {
        f"Anscombe {name}": np.column_stack(points).tolist()
        for name, points in regression.anscombe_quartet().items()
    }
    return {"a noisy line": line, "one far point": [*line, [19.0, 3.0]], **quartet}


def frame_around(points: ArrayLike) -> list[float]:
    """Choose the axes' ends so that the points can be moved about: [x₀, x₁, y₀, y₁].

    Examples
    --------
    >>> frame_around([[0, 0], [12, 6]])
    [-2.0, 14.0, -1.0, 7.0]
    """
    table = np.asarray(points, dtype=float)
    low, high = table.min(axis=0), table.max(axis=0)
    margin = np.where(high > low, (high - low) / 6, 1.0)
    return [float(v) for pair in zip(low - margin, high + margin, strict=True) for v in pair]


class Points(traitlets.List):  # type: ignore[type-arg]
    """A list of [x, y], 2 to 40 of them, all finite."""

    def validate(self, obj: Any, value: Any) -> list[list[float]]:
        """Return the points as nested lists, or say what is wrong with them."""
        try:
            table = np.asarray(value, dtype=float)
        except (TypeError, ValueError) as error:
            raise traitlets.TraitError(f"points must be pairs of numbers: {error}") from None
        if table.ndim != 2 or table.shape[1] != 2 or not FEWEST <= len(table) <= MOST:
            raise traitlets.TraitError(
                f"points must be {FEWEST} to {MOST} pairs [x, y], got shape {table.shape}"
            )
        if not np.isfinite(table).all():
            raise traitlets.TraitError("points must be finite, got NaN or infinity")
        return [[float(x), float(y)] for x, y in table]


class LeastSquaresByHand(Widget):
    r"""Points, the least-squares or ridge line through them, and a line of the reader's own.

    The fit minimizes :math:`\sum_i (y_i-\beta_0-\beta_1x_i)^2 + \lambda\beta_1^2`: the intercept is
    not penalized.

    Parameters
    ----------
    points : array_like, shape (n, 2), optional
        Points of your own, 2 to 40; they join the examples as ``"your points"`` and come first.
    **state
        First values of the traits: ``data`` (the name of an example), ``penalty`` (λ, 0 to 999),
        ``intercept`` and ``slope`` of the reader's line, ``squares`` (``"fit"``, ``"own"`` or
        ``"none"``), ``show_fit``, ``show_own`` and ``show_leverage``.

    Raises
    ------
    traitlets.TraitError
        When the points are not 2 to 40 finite pairs, or a value is out of its range.

    Examples
    --------
    >>> LeastSquaresByHand(data="Anscombe III", show_own=False)  # doctest: +NORMALIZE_WHITESPACE
    LeastSquaresByHand(data='Anscombe III', penalty=0.0, intercept=7.5, slope=0.0, squares='fit',
                       show_fit=True, show_own=False, show_leverage=False)
    """

    description = (
        "Points with the least-squares line and a line of the reader's own; each residual is drawn "
        "as a square. Beside them a map on which every line is a point, with rings of equal loss "
        "around the least-squares line, and bars of the sums of squares."
    )

    datasets = traitlets.Dict().tag(sync=True)
    constants: ClassVar[dict[str, Any]] = {"ends": ENDS, "most": MOST}

    data = Name("a noisy line", among="datasets", label="Points")
    points = Points().tag(sync=True)
    frame = traitlets.List(trait=traitlets.Float(), minlen=4, maxlen=4).tag(sync=True)
    penalty = Number(
        0.0,
        low=0.0,
        high=LARGEST_PENALTY,
        step=0.02,
        scale="shifted",
        form="short",
        label="Ridge λ",
    )
    intercept = traitlets.Float(0.0).tag(sync=True)
    slope = traitlets.Float(0.0).tag(sync=True)
    squares = Choice(
        "fit", {"fit": "the fit", "own": "your line", "none": "none"}, label="Squares of"
    )
    show_fit = Switch(True, label="the fit")
    show_own = Switch(True, label="your line")
    show_leverage = Switch(False, label="leverage")

    def __init__(self, points: ArrayLike | None = None, **state: Any) -> None:
        examples = example_points()
        common = frame_around([p for example in examples.values() for p in example])
        datasets: dict[str, dict[str, Any]] = {}
        if points is not None:
            own = Points().validate(self, points)
            datasets["your points"] = {"points": own, "frame": frame_around(own)}
        datasets |= {name: {"points": p, "frame": common} for name, p in examples.items()}
        name = known("data", state.setdefault("data", next(iter(datasets))), datasets)
        first = datasets[name]
        state.setdefault("intercept", round(float(np.mean(first["points"], axis=0)[1]), 2))
        super().__init__(datasets=datasets, **first, **state)
        self.observe(self._follow_data, "data")
        self.observe(self._keep_in_frame, "points")

    def _follow_data(self, change: traitlets.Bunch) -> None:
        """Show the points of a newly chosen example."""
        with self.hold_trait_notifications():
            self.frame = self.datasets[change.new]["frame"]
            self.points = self.datasets[change.new]["points"]

    def _keep_in_frame(self, change: traitlets.Bunch) -> None:
        """Widen the axes when points set from Python lie outside."""
        x0, x1, y0, y1 = self.frame
        if not all(x0 <= x <= x1 and y0 <= y <= y1 for x, y in change.new):
            self.frame = frame_around(change.new)

    @traitlets.validate("intercept", "slope")
    def _finite(self, proposal: traitlets.Bunch) -> float:
        if not math.isfinite(proposal.value):
            raise traitlets.TraitError(
                f"{proposal.trait.name} must be finite, got {proposal.value}"
            )
        return float(proposal.value)

    def fit(self) -> regression.Line | None:
        """Fit the line by :mod:`primer.regression`.

        Returns
        -------
        Line or None
            None when all x are equal and there is no penalty: then every slope fits equally well.
        """
        x, y = np.transpose(self.points)
        if np.ptp(x) == 0 and self.penalty == 0:
            return None
        (slope,) = regression.ridge((x - x.mean())[:, None], y - y.mean(), self.penalty)
        return regression.Line(float(y.mean() - slope * x.mean()), float(slope))

    def picture(self) -> Figure:
        """Draw the points, both lines and the squares; beside them the map of losses.

        Returns
        -------
        Figure
            Two panels.
        """
        figure = Figure(figsize=(7.2, 3.6), layout="constrained")
        left, right = figure.subplots(1, 2, width_ratios=(1.45, 1))
        fit = self.fit()
        own = regression.Line(self.intercept, self.slope)
        lines = [
            (line, kind, LIGHT[color], style)
            for line, kind, color, style, shown in (
                (fit, "fit", "blue", "-", self.show_fit),
                (own, "own", "orange", "--", self.show_own),
            )
            if line is not None and shown
        ]
        self._draw_points(left, lines)
        self._draw_map(right, lines, fit)
        return figure

    def _draw_points(self, axes: Axes, lines: list[tuple[regression.Line, str, str, str]]) -> None:
        """Draw the scatter plot with its lines and the squares of one of them."""
        x, y = np.transpose(self.points)
        x0, x1, y0, y1 = self.frame
        axes.set(xlim=(x0, x1), ylim=(y0, y1), xlabel="x", ylabel="y")
        axes.set_title("Residuals as squares")
        for line, kind, color, style in lines:
            ends = line.intercept + line.slope * np.array([x0, x1])
            axes.plot([x0, x1], ends, style, color=color)
            if kind != self.squares:
                continue
            # A square on paper: as wide in the unit of x as the residual is high on the drawing.
            unit = (x1 - x0) / (y1 - y0) * 0.85
            for px, py in zip(x, y, strict=True):
                foot = line.intercept + line.slope * px
                side = abs(py - foot)
                start = px - side * unit if px > (x0 + x1) / 2 else px
                axes.add_patch(
                    Rectangle((start, min(py, foot)), side * unit, side, color=color, alpha=0.2)
                )
        axes.plot(x, y, "o", color=LIGHT["ink"])

    def _draw_map(
        self,
        axes: Axes,
        lines: list[tuple[regression.Line, str, str, str]],
        fit: regression.Line | None,
    ) -> None:
        """Draw the rings of equal loss and the lines as points."""
        x, y = np.transpose(self.points)
        x0, x1, y0, y1 = self.frame
        steepest = 1.6 * (y1 - y0) / (x1 - x0)
        if fit is not None and self.show_fit:
            height, slope = np.meshgrid(
                np.linspace(y0, y1, 80), np.linspace(-steepest, steepest, 80)
            )
            rise = len(x) * (height - y.mean()) ** 2
            rise += (np.sum((x - x.mean()) ** 2) + self.penalty) * (slope - fit.slope) ** 2
            unit = len(x) * ((y1 - y0) / 9) ** 2
            levels = unit * np.arange(1, 8) ** 2
            axes.contour(height, slope, rise, levels, colors=LIGHT["muted"], linewidths=0.8)
        for line, kind, color, _ in lines:
            at = line.intercept + line.slope * x.mean()
            axes.plot(at, line.slope, "o" if kind == "fit" else "s", color=color)
        axes.set(xlim=(y0, y1), ylim=(-steepest, steepest), ylabel="slope")
        axes.set_xlabel("height at the mean of x")
        axes.set_title("Every line is a point")
