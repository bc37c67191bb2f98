r"""Posterior distributions three ways: on a grid, in closed form, and by a random walk."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Annotated, NamedTuple

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from primer.inputs import (
    Like,
    Natural,
    Positive,
    Probability,
    Reals,
    Steps,
    as_array,
    checked,
    checked_fields,
    evaluated,
    number,
    positive,
)
from primer.inputs.given import given, is_tensor
from primer.inputs.magnitude import scaled
from primer.statistics.binomial import log_beta_binomial, log_beta_density
from primer.statistics.inputs import Sample, sample


@checked_fields
@dataclass(frozen=True)
class GridPosterior:
    r"""A posterior density known on an even grid of a single parameter.

    Attributes
    ----------
    grid : float array, shape (m,)
        The values of the parameter.
    density : float array, shape (m,)
        The posterior density there; its integral is 1.
    log_evidence : float
        :math:`\log \int f(x \mid \theta)\, \pi(\theta)\, d\theta`, what the density was divided by.
    """

    grid: Float[np.ndarray, " m"]
    density: Float[np.ndarray, " m"]
    log_evidence: float

    @property
    def masses(self) -> Float[np.ndarray, " m"]:
        """The probability that each grid point stands for, by the trapezoidal rule."""
        mass = self.density * (self.grid[1] - self.grid[0])
        mass[[0, -1]] /= 2
        return mass

    @checked
    def expect(self, function: Callable[[np.ndarray], np.ndarray]) -> float:
        r"""Compute :math:`E(g(\theta) \mid x)` for a function of arrays."""
        return float(self.masses @ evaluated("function", function, self.grid))

    def mean(self) -> float:
        r"""Compute the posterior mean."""
        return self.expect(lambda theta: theta)

    @checked
    def quantile(self, p: Probability) -> float:
        """Compute the value below which the parameter lies with probability ``p``."""
        step = self.grid[1] - self.grid[0]
        rises = (self.density[1:] + self.density[:-1]) / 2 * step
        cumulative = np.concatenate([[0.0], rises.cumsum()])
        return float(np.interp(p, cumulative, self.grid))

    @checked
    def central_interval(self, level: Probability = 0.95) -> tuple[float, float]:
        """Return the credible interval that leaves the same probability on both sides."""
        outside = (1 - level) / 2
        return self.quantile(outside), self.quantile(1 - outside)

    @checked
    def highest_density_set(self, level: Probability = 0.95) -> Float[np.ndarray, " k"]:
        """Return the fewest grid points, the densest ones, that hold the probability ``level``."""
        order = np.argsort(-self.density)
        held = self.masses[order].cumsum()
        needed = int(np.searchsorted(held, level)) + 1
        return np.sort(self.grid[order[:needed]])


Grid = Annotated[Like, partial(sample, at_least=3)]
"""Three numbers or more."""


@checked
def grid_posterior(grid: Grid, log_likelihood: ArrayLike, log_prior: ArrayLike) -> GridPosterior:
    r"""Compute a posterior density on a grid: likelihood times prior, divided by its integral.

    .. math:: \pi(\theta \mid x) = \frac{f(x \mid \theta)\, \pi(\theta)}
              {\int f(x \mid \theta')\, \pi(\theta')\, d\theta'}

    Parameters
    ----------
    grid : array_like, shape (m,)
        Evenly spaced rising values of the parameter, at least three.
    log_likelihood, log_prior : array_like, shape (m,)
        Logarithms of both at the grid; :math:`-\infty` is allowed.

    Returns
    -------
    GridPosterior
        The density, normalized by the trapezoidal rule, and the logarithm of its divisor.

    Raises
    ------
    ValueError
        When the grid is not even and rising, shapes differ, a logarithm is NaN or the product is
        zero everywhere.

    References
    ----------
    Gelman et al. (2013), section 3.7.

    Examples
    --------
    >>> grid = np.linspace(0, 1, 1001)
    >>> with np.errstate(divide="ignore"):
    ...     seven_of_ten = 7 * np.log(grid) + 3 * np.log(1 - grid)
    >>> round(grid_posterior(grid, seven_of_ten, np.zeros(1001)).mean(), 6)  # (7 + 1)/(10 + 2)
    0.666667
    """
    points = grid
    steps = np.diff(points)
    rounding = 4 * np.finfo(float).eps * np.abs(points).max()
    if not (steps > 0).all() or not np.allclose(steps, steps[0], rtol=1e-5, atol=rounding):
        raise ValueError("grid must be evenly spaced and rising; np.linspace makes such grids")
    parts = [_logarithms("log_likelihood", log_likelihood), _logarithms("log_prior", log_prior)]
    if any(part.shape != points.shape for part in parts):
        shapes = " and ".join(str(part.shape) for part in parts)
        raise ValueError(f"the logarithms have shapes {shapes}, the grid {points.shape}")
    total = parts[0] + parts[1]
    highest = total.max()
    if not np.isfinite(highest):
        raise ValueError("likelihood times prior is zero everywhere on the grid")
    heights = np.exp(total - highest)  # the highest is 1: nothing overflows
    area = np.trapezoid(heights, points)
    return GridPosterior(points, heights / area, float(highest + np.log(area)))


def _logarithms(name: str, values: ArrayLike) -> Float[np.ndarray, "..."]:
    r"""Return logarithms of densities, where :math:`-\infty` is one and NaN is none."""
    logs = as_array(name, values)
    if logs.dtype.kind not in "iuf" or not (logs < np.inf).all():
        raise ValueError(f"{name} must hold real numbers or -inf, got NaN, inf or no numbers")
    return logs.astype(float)


class Beta(NamedTuple):
    r"""A Beta distribution of a probability; the conjugate prior of the binomial law.

    .. math:: \pi(\theta) \propto \theta^{a-1} (1-\theta)^{b-1}
    """

    a: float
    b: float

    @checked
    def update(self, successes: Natural, trials: Natural) -> Beta:
        r"""Return the posterior after some trials: :math:`\mathrm{Beta}(a + k,\ b + n - k)`.

        Examples
        --------
        >>> Beta(1, 1).update(successes=7, trials=10)
        Beta(a=8.0, b=4.0)
        """
        self._check()
        n, k = trials, successes
        if k > n:
            raise ValueError(f"{k} successes in {n} trials")
        return Beta(float(self.a + k), float(self.b + n - k))

    def mean(self) -> float:
        r"""Compute :math:`a/(a+b)`, which is also the probability that the next trial succeeds."""
        self._check()
        (a, b), _ = scaled(np.array([self.a, self.b]))  # no sum overflows
        return float(a / (a + b))

    @checked
    def log_density(self, theta: Reals) -> Float[np.ndarray, "..."]:
        """Compute the log-density at probabilities strictly between 0 and 1."""
        self._check()
        p = theta
        if ((p <= 0) | (p >= 1)).any():
            raise ValueError("theta must lie strictly between 0 and 1")
        return np.asarray(log_beta_density(p, float(self.a), float(self.b)))

    @checked
    def log_predictive(self, successes: int, trials: int) -> float:
        r"""Compute the log-probability of a number of successes with the unknown averaged out.

        .. math:: P(k \mid n) = \int \binom nk \theta^k (1-\theta)^{n-k}\, \pi(\theta)\, d\theta
                  = \binom nk \frac{B(a + k,\ b + n - k)}{B(a, b)}

        Of a prior it is the marginal likelihood of the data, of a posterior the prediction.

        References
        ----------
        Gelman et al. (2013), chapter 2.

        Examples
        --------
        >>> [round(float(np.exp(Beta(1, 1).log_predictive(k, 3))), 4) for k in range(4)]
        [0.25, 0.25, 0.25, 0.25]
        """
        self.update(successes, trials)  # refuses what is none
        return log_beta_binomial(successes, trials, self.a, self.b)

    def _check(self) -> None:
        positive("a", self.a)
        positive("b", self.b)


class Normal(NamedTuple):
    """A normal distribution of an unknown mean; its own conjugate prior when the noise is known."""

    mean: float
    sd: float

    @checked
    def update(self, x: Sample, noise: Positive) -> Normal:
        r"""Return the posterior after a sample with known standard deviation :math:`\sigma`.

        Precisions add, and the posterior mean weighs prior mean and sample mean by them:

        .. math:: \frac1{\tau_n^2} = \frac1{\tau^2} + \frac n{\sigma^2}, \qquad
                  m_n = \tau_n^2\left(\frac m{\tau^2} + \frac{n \bar x}{\sigma^2}\right)

        References
        ----------
        Gelman et al. (2013), section 2.5.

        Examples
        --------
        >>> Normal(mean=0.0, sd=1.0).update([3.0, 3.0, 3.0], noise=1.0)
        Normal(mean=2.25, sd=0.5)
        """
        center = number("mean", self.mean)
        sd, sigma = positive("sd", self.sd), noise
        _, unit = scaled(np.array([min(sd, sigma)]))  # no square overflows
        prior, data = (unit / sd) ** 2, len(x) * (unit / sigma) ** 2
        total = prior + data
        parts, scale = scaled(x)
        mean = prior / total * center + data / total * float(parts.mean()) * scale
        return Normal(mean, unit * total**-0.5)


class Chain(NamedTuple):
    """Where a random walk went."""

    draws: Float[np.ndarray, "steps ..."]
    """The state after each step; a refused step repeats the state before it."""
    acceptance: float
    """The share of proposals that were accepted."""


@checked
def metropolis(
    log_density: Callable[[np.ndarray], float],
    start: Reals,
    step: Positive,
    n_draws: Steps,
    rng: np.random.Generator,
) -> Chain:
    r"""Draw from a density known up to a factor by Metropolis's random walk.

    From :math:`\theta` propose :math:`\theta' = \theta + h z` with :math:`z` standard normal, and
    accept it with probability

    .. math:: \min\left(1, \frac{\pi(\theta')}{\pi(\theta)}\right).

    Otherwise stay, and count the old state once more.  The unknown constant cancels in the ratio.

    Parameters
    ----------
    log_density : callable
        The logarithm of the density up to a constant; :math:`-\infty` outside the support.
    start : array_like, shape () or (p,)
        The first state, where the density is not zero.
    step : float
        :math:`h`, the size of the proposals.
    n_draws : int
        The number of steps.
    rng : numpy.random.Generator
        The source of randomness.

    Returns
    -------
    Chain
        ``draws`` of shape ``(n_draws,)`` or ``(n_draws, p)``, and the share of accepted proposals.

    Raises
    ------
    ValueError
        When the density of the start is zero, the density is NaN or infinite somewhere, or the step
        is not above 0.

    References
    ----------
    Metropolis et al. (1953).

    Examples
    --------
    >>> chain = metropolis(lambda x: -x**2 / 2, 0.0, 2.4, 2000, np.random.default_rng(0))
    >>> chain.draws.shape, 0.3 < chain.acceptance < 0.6
    ((2000,), True)
    """
    state, h = start, step
    n = n_draws
    height = _height(log_density, state)
    if height == -np.inf:
        raise ValueError(f"the density at start = {start.tolist()} must be above 0 and finite")
    moves = h * rng.standard_normal((n, *state.shape))
    thresholds = np.log(rng.random(n))
    draws = np.empty((n, *state.shape))
    accepted = 0
    for i in range(n):
        proposal = state + moves[i]
        proposed = _height(log_density, proposal)
        if thresholds[i] < proposed - height:
            state, height = proposal, proposed
            accepted += 1
        draws[i] = state
    return Chain(draws, accepted / n)


def _height(log_density: Callable[..., float], state: np.ndarray | float) -> float:
    """Ask for the height at one place, which must be one number, or -inf."""
    value = log_density(state)
    kinds = bool | int | float | np.generic | np.ndarray
    one = np.ndim(value) == 0 and (isinstance(value, kinds) or is_tensor(value))
    if not one or np.iscomplexobj(value) or not value < np.inf:
        raise ValueError(
            f"log_density must return one number for a state, got {given(value)} at {state}; "
            "outside the support use -inf"
        )
    return float(value)


@checked
def effective_sample_size(draws: Annotated[Like, partial(sample, at_least=4)]) -> float:
    r"""Estimate how many independent draws a chain is worth for its mean.

    .. math:: n_{\mathrm{eff}} = \frac{n}{1 + 2\sum_{k \ge 1} \rho_k}

    with the autocorrelations :math:`\rho_k`, whose sums of products are all divided by :math:`n`.
    They are summed in neighboring pairs :math:`\rho_0+\rho_1, \rho_2+\rho_3, \dots` as long as the
    pairs are positive, and no pair counts for more than the one before it: for a reversible chain
    the true ones are positive and fall.  A chain that jumps from side to side may be worth more
    than as many independent draws; how much more nobody can tell from a short one, and no estimate
    is above :math:`n\log_{10} n`.

    Parameters
    ----------
    draws : array_like, shape (n,)
        The states of one parameter, at least four and not all equal.

    Returns
    -------
    float
        :math:`n_{\mathrm{eff}}`; the standard error of the chain's mean is
        :math:`s/\sqrt{n_{\mathrm{eff}}}`.

    Raises
    ------
    ValueError
        When the chain is too short, constant or not finite.

    References
    ----------
    Geyer (1992), section 3.3; for the bound, the reference manual of Stan.

    Examples
    --------
    >>> 3500 < effective_sample_size(np.random.default_rng(0).normal(size=4000)) < 4500
    True
    """
    values = draws
    n = len(values)
    if np.ptp(values) == 0:
        raise ValueError("the chain never moved; take smaller steps")
    parts, _ = scaled(values - values.mean())
    centered = parts - parts.mean()
    power = np.abs(np.fft.rfft(centered, 2 * n)) ** 2
    covariance = np.fft.irfft(power)[:n] / n
    correlation = covariance / covariance[0]
    pairs = correlation[: n // 2 * 2].reshape(-1, 2).sum(axis=1)  # ρ0 + ρ1, ρ2 + ρ3, …
    positive_run = pairs[: np.argmax(pairs <= 0)] if (pairs <= 0).any() else pairs
    falling = np.minimum.accumulate(positive_run)
    return float(n / max(2 * falling.sum() - 1, 1 / np.log10(n)))
