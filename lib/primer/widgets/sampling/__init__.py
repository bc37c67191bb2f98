"""The sampling laboratory: draw samples without end and watch where the estimates fall."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import traitlets
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from primer import statistics
from primer.palette import LIGHT
from primer.widgets.base import Widget
from primer.widgets.controls import Choice

TRUTH = 1.0
"""The parameter of every population."""

SIZES = (3, 5, 8, 12, 20, 32, 50, 80, 120, 200)

Table = Float[np.ndarray, "... n"]


class Estimator(NamedTuple):
    """A way to estimate, and how its expectation changes with the truth."""

    function: Callable[[Table], np.ndarray]
    """From a table of samples, one in each row, to their estimates."""
    slope: Callable[[int], float] = lambda n: 1.0
    """ψ′ for samples of size n; 1 for an unbiased estimator."""


def _n(x: Table) -> int:
    """Return the size of the samples of a table."""
    return x.shape[-1]


ESTIMATORS = {
    "mean": Estimator(statistics.sample_mean),
    "median": Estimator(statistics.sample_median),
    "trimmed mean": Estimator(statistics.trimmed_mean),
    "midrange": Estimator(statistics.midrange),
    "first value": Estimator(lambda x: x[..., 0]),
    "0.8 × mean": Estimator(lambda x: 0.8 * statistics.sample_mean(x), lambda n: 0.8),
    "1 / mean": Estimator(lambda x: 1 / statistics.sample_mean(x), lambda n: n / (n - 1)),
    "(n − 1) / sum": Estimator(lambda x: (_n(x) - 1) / x.sum(-1)),
    "(n − 2) / sum": Estimator(lambda x: (_n(x) - 2) / x.sum(-1), lambda n: (n - 2) / (n - 1)),
    "maximum": Estimator(lambda x: x.max(-1), lambda n: n / (n + 1)),
    "(n + 1)/n × maximum": Estimator(lambda x: (_n(x) + 1) / _n(x) * x.max(-1)),
    "2 × mean": Estimator(lambda x: 2 * statistics.sample_mean(x)),
}

CENTERS = ["mean", "median", "trimmed mean", "midrange", "0.8 × mean", "first value"]


class Population(NamedTuple):
    """A family of laws, a word on it, and the estimators that fit it."""

    family: statistics.Family
    note: str
    estimators: list[str]


POPULATIONS = {
    "normal": Population(
        statistics.NormalMean(),
        "Bell-shaped, θ its center. Here nothing unbiased beats the mean.",
        CENTERS,
    ),
    "Laplace": Population(
        statistics.Laplace(),
        "Peaked, with longer tails, θ its center. Now the median wins as n grows.",
        CENTERS,
    ),
    "Cauchy": Population(
        statistics.Cauchy(),
        "Tails so long that there is no mean: an average of 200 is no better than one value.",
        ["median", *(name for name in CENTERS if name != "median")],
    ),
    "exponential": Population(
        statistics.Exponential(),
        "Waiting times with rate θ. The maximum likelihood estimate is biased; its bias fades.",
        ["1 / mean", "(n − 1) / sum", "(n − 2) / sum"],
    ),
    "uniform": Population(
        statistics.Uniform(),
        "From 0 to θ: the support moves with θ, so the Cramér–Rao line is no bound here.",
        ["maximum", "(n + 1)/n × maximum", "2 × mean"],
    ),
}


def order(population: str, estimator: str, n: int) -> float:
    """Return the order below which the moments of an estimate from n observations exist.

    The k-th of n Cauchy observations, counted from the nearer end, has the moments below k; the
    sum of n waiting times is near 0 with a density like its (n − 1)th power.

    Examples
    --------
    >>> [order("Cauchy", "median", n) for n in (3, 5)]  # a variance needs more than 2
    [2, 3]
    """
    if population == "exponential":
        return n
    if population != "Cauchy":
        return math.inf
    return {"median": (n + 1) // 2, "trimmed mean": n // 4 + 1}.get(estimator, 1)


class SamplingLaboratory(Widget):
    r"""A population, an estimator, a sample size, and the sampling distribution they make.

    Parameters
    ----------
    **state
        First values of the traits: ``population`` (``"normal"``, ``"Laplace"``, ``"Cauchy"``,
        ``"exponential"`` or ``"uniform"``), ``estimator`` (one of those that fit it), ``n`` (3, 5,
        8, 12, 20, 32, 50, 80, 120 or 200) and ``seed``.

    Raises
    ------
    TraitError
        When a name is unknown, an estimator does not fit the population or ``n`` is not offered.

    Examples
    --------
    >>> SamplingLaboratory(population="Laplace", estimator="median", n=50)
    SamplingLaboratory(population='Laplace', estimator='median', n=50, seed=1)
    """

    description = (
        "A population's density with one sample on it; below, the histogram of the estimates from "
        "many such samples around the true value; beside them the variance of the estimates "
        "against the sample size, above the falling Cramér–Rao line."
    )

    offered = traitlets.Dict().tag(sync=True)
    population = Choice("normal", list(POPULATIONS), label="Population")
    estimator = Choice("mean", list(ESTIMATORS), label="Estimator")
    n = Choice(12, SIZES, look="slider", label="Sample size n")
    seed = traitlets.Int(1, min=0, max=2**32 - 1).tag(sync=True)

    def __init__(self, **state: Any) -> None:
        offered = {
            name: {"note": people.note, "estimators": people.estimators}
            for name, people in POPULATIONS.items()
        }
        chosen = POPULATIONS.get(state.get("population", "normal"))
        if chosen is not None:
            state.setdefault("estimator", chosen.estimators[0])
        super().__init__(offered=offered, **state)
        self.observe(self._follow_population, "population")

    def _follow_population(self, change: traitlets.Bunch) -> None:
        """Take the first estimator of a population when the present one does not fit it."""
        if self.estimator not in POPULATIONS[change.new].estimators:
            self.estimator = POPULATIONS[change.new].estimators[0]

    @traitlets.validate("estimator")
    def _fits(self, proposal: traitlets.Bunch) -> str:
        fitting = POPULATIONS[self.population].estimators
        if proposal.value not in fitting:
            raise traitlets.TraitError(
                f"for a {self.population} population estimator must be one of {fitting}, "
                f"got {proposal.value!r}"
            )
        return str(proposal.value)

    def bound(self, n: int | None = None) -> float:
        """Compute the Cramér–Rao bound on the estimator's variance, for samples of size ``n``."""
        size = self.n if n is None else n
        information = size * POPULATIONS[self.population].family.information(TRUTH)
        slope = ESTIMATORS[self.estimator].slope(size)
        return float(statistics.cramer_rao_bound(information, slope))

    def estimates(self, samples: int) -> Float[np.ndarray, "sizes samples"]:
        """Draw samples of 200 and estimate from the first n observations, for every size."""
        family = POPULATIONS[self.population].family
        table = family.draw(TRUTH, (samples, SIZES[-1]), np.random.default_rng(self.seed))
        estimate = ESTIMATORS[self.estimator].function
        return np.stack([estimate(table[:, :size]) for size in SIZES])

    def picture(self) -> Figure:
        """Draw the population, the sampling distribution and the fall of the variance.

        Returns
        -------
        Figure
            Three panels.
        """
        estimates = self.estimates(2000)
        figure = Figure(figsize=(7.2, 4.4), layout="constrained")
        grid = figure.add_gridspec(2, 2, width_ratios=(3, 2), height_ratios=(2, 3))
        people, histogram = figure.add_subplot(grid[0, 0]), figure.add_subplot(grid[1, 0])
        at = np.linspace(-3, 5, 801)
        density = POPULATIONS[self.population].family.density(at, TRUTH)
        people.plot(at, density, color=LIGHT["muted"])
        people.set(xlabel="observations x", ylabel="density")
        people.set_title(f"{self.population} population, estimator: {self.estimator}")
        self._draw_histogram(histogram, estimates[SIZES.index(self.n)])
        self._draw_decline(figure.add_subplot(grid[:, 1]), estimates.var(axis=1))
        for panel in (people, histogram):
            panel.axvline(TRUTH, color=LIGHT["green"], lw=1.5)
        return figure

    def _draw_histogram(self, panel: Axes, estimates: np.ndarray) -> None:
        """Draw where the estimates fell, and the normal law with the variance of the bound."""
        heights, edges = np.histogram(estimates, np.linspace(-0.5, 2.5, 121))
        panel.stairs(heights / len(estimates) / 0.025, edges, fill=True, alpha=0.55)
        center, variance = ESTIMATORS[self.estimator].slope(self.n), self.bound()
        t = np.linspace(-0.5, 2.5, 601)
        normal = np.exp(-((t - center) ** 2) / (2 * variance)) / np.sqrt(2 * np.pi * variance)
        panel.plot(t, normal, "--", color=LIGHT["orange"])
        panel.set(xlabel=f"estimates of θ from n = {self.n}", ylabel="density", xlim=(-0.5, 2.5))

    def _draw_decline(self, panel: Axes, variances: np.ndarray) -> None:
        """Draw the variance at every sample size, and the Cramér–Rao line."""
        panel.loglog(SIZES, [self.bound(n) for n in SIZES], "--", color=LIGHT["orange"])
        exists = [order(self.population, self.estimator, n) > 2 for n in SIZES]
        panel.loglog(SIZES, np.where(exists, variances, np.nan), "o", color=LIGHT["blue"])
        lowest = 1e-5 if self.population == "uniform" else 1e-3
        panel.set(xlabel="sample size n", ylabel="variance of the estimates", ylim=(lowest, 10))
