"""Too many parameters: a curve through twenty points, from few coefficients to far too many."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np
import traitlets
from jaxtyping import Float
from matplotlib.figure import Figure

from primer import networks
from primer.palette import LIGHT
from primer.widgets.base import Widget
from primer.widgets.controls import Choice, Number, Whole

POINTS, SAMPLES, MOST = 20, 8, 200
CUT = 1e-13
GRID = np.linspace(-0.95, 0.95, 101)
"""Where the test error is measured: the ends, where every polynomial runs away, are left out."""

DEGREES = (*range(25), 27, 30, 34, 39, 45, 53, 63, 76, 92, 112, 136, 165, MOST)
"""The degrees of the curves of errors: dense where something happens."""

FEATURES = {"polynomials": networks.legendre_features, "cosines": networks.cosine_features}
SMALL = {1e-6: "10⁻⁶", 1e-4: "10⁻⁴", 1e-3: "0.001", 1e-2: "0.01", 0.1: "0.1", 1.0: "1"}


def truth(x: np.ndarray) -> np.ndarray:
    """Compute the smooth curve that the points lie on but for noise.

    Examples
    --------
    >>> truth(np.array([0.0])).item()
    0.0
    """
    return np.asarray(np.sin(4 * x) + x / 2)


def drawn() -> tuple[list[float], list[list[float]]]:
    """Draw the places of the points, and noise of variance 1 for each of the samples.

    Examples
    --------
    >>> places, noise = drawn()
    >>> len(places), len(noise), len(noise[0])
    (20, 8, 20)
    """
    rng = np.random.default_rng(4)
    places = np.sort(rng.uniform(-1, 1, POINTS))
    return places.tolist(), rng.normal(size=(SAMPLES, POINTS)).tolist()


class Heights(traitlets.List):  # type: ignore[type-arg]
    """One finite number for each point."""

    def validate(self, obj: Any, value: Any) -> list[float]:
        """Return the numbers, or raise a ``TraitError`` that says what is wrong with them."""
        numbers = [float(v) for v in super().validate(obj, value) or ()]
        if len(numbers) != POINTS or not all(map(math.isfinite, numbers)):
            raise traitlets.TraitError(f"pulls must be {POINTS} finite numbers, got {value!r}")
        return numbers


class TooManyParameters(Widget):
    r"""Twenty points and a fit with up to 201 coefficients, the smallest that fit best.

    The fit minimizes :math:`\lVert y-\Phi c\rVert^2+\lambda\lVert c\rVert^2`; with
    :math:`\lambda=0` it is the shortest of all best fits.

    Parameters
    ----------
    **state
        First values of the traits: ``degree`` (0 to 200), ``noise`` (0 to 0.5), ``penalty``
        (:math:`\lambda`: 0, 1e-6, 1e-4, 0.001, 0.01, 0.1 or 1), ``basis`` (``"polynomials"`` or
        ``"cosines"``), ``sample`` (1 to 8) and ``pulls``, by how much each point is moved up.

    Raises
    ------
    traitlets.TraitError
        When a value is out of its range or NaN.

    Examples
    --------
    >>> widget = TooManyParameters(degree=19, noise=0.0)
    >>> bool(widget.smallest() < 1e-5)
    True
    """

    description = (
        "Twenty points near a smooth curve and a fit through them. Beside it, over the number of "
        "coefficients, the error on new points, which explodes at twenty and falls again, and the "
        "smallest singular value, which is nearly 0 at the same place."
    )
    constants: ClassVar[dict[str, Any]] = {
        "places": drawn()[0],
        "draws": drawn()[1],
        "degrees": list(DEGREES),
    }

    degree = Whole(19, low=0, high=MOST, scale="shifted", step=0.01, label="Degree")
    noise = Number(0.1, low=0.0, high=0.5, label="Noise")
    penalty = Choice(0.0, {0.0: "0", **SMALL}, look="slider", label="Ridge λ")
    sample = Whole(1, low=1, high=SAMPLES, label="Sample")
    basis = Choice("polynomials", tuple(FEATURES), label="Made of")
    pulls = Heights([0.0] * POINTS).tag(sync=True)

    def answers(self) -> Float[np.ndarray, " points"]:
        """Compute the heights of the points."""
        places, draws = map(np.array, drawn())
        return truth(places) + self.noise * draws[self.sample - 1] + np.array(self.pulls)

    def _features(self, x: np.ndarray, degree: int | None = None) -> np.ndarray:
        return FEATURES[self.basis](x, self.degree if degree is None else degree)

    def coefficients(self, degree: int | None = None) -> Float[np.ndarray, " p"]:
        """Fit the points, with the present degree or another one.

        Returns
        -------
        float array, shape (degree + 1,)
            The coefficients.
        """
        features = self._features(np.array(drawn()[0]), degree)
        return networks.minimum_norm_fit(features, self.answers(), self.penalty, CUT).weights

    def smallest(self, degree: int | None = None) -> float:
        """Compute the smallest singular value of the features.

        Returns
        -------
        float
            Near 0 where there are as many coefficients as points.
        """
        features = self._features(np.array(drawn()[0]), degree)
        return float(np.linalg.svd(features, compute_uv=False)[-1])

    def test_error(self, degree: int | None = None) -> float:
        """Compute the mean squared distance of fit and curve, at the present degree or another.

        Returns
        -------
        float
            Without noise: the distance to what the points should have shown.
        """
        found = self._features(GRID, degree) @ self.coefficients(degree)
        return float(((found - truth(GRID)) ** 2).mean())

    def picture(self) -> Figure:
        """Draw the fit, the errors of all degrees and the smallest singular values.

        Returns
        -------
        Figure
            Three panels.
        """
        figure = Figure(figsize=(7.2, 3.8), layout="constrained")
        parts = figure.subplot_mosaic([["fit", "errors"], ["fit", "small"]])
        wide = np.linspace(-1, 1, 601)
        parts["fit"].plot(wide, truth(wide), "--", color=LIGHT["muted"], lw=1)
        parts["fit"].plot(wide, self._features(wide) @ self.coefficients(), color=LIGHT["blue"])
        parts["fit"].plot(drawn()[0], self.answers(), "o", color=LIGHT["orange"], markersize=4)
        parts["fit"].set(ylim=(-2.5, 2.5), xlabel="x", ylabel="y", title=f"Degree {self.degree}")
        count = np.array(DEGREES) + 1
        parts["errors"].plot(count, [self.test_error(d) for d in DEGREES], color=LIGHT["blue"])
        parts["small"].plot(count, [self.smallest(d) for d in DEGREES], color=LIGHT["green"])
        parts["errors"].set(xscale="log", yscale="log", ylabel="test error", ylim=(1e-4, 1e15))
        parts["small"].set(xscale="log", yscale="log", ylabel="smallest s")
        parts["small"].set_xlabel("coefficients")
        for name in ("errors", "small"):
            parts[name].axvline(self.degree + 1, color=LIGHT["muted"], lw=1)
        return figure
