r"""Families of laws with one unknown: density, draws, information and maximum likelihood estimate.

Each family says the same five things, so that a chapter or a widget can take any of them.  The
log-density is written with torch, for :mod:`primer.statistics.likelihood` to differentiate.
"""

from __future__ import annotations

import functools
from abc import ABC, abstractmethod
from collections.abc import Callable

import numpy as np
import torch
from jaxtyping import Float
from numpy.typing import ArrayLike
from torch import Tensor

from primer.inputs import checked, number, positive, probability, real, tensor
from primer.inputs.tensors import check_finite
from primer.statistics.estimators import sample_mean, sample_median
from primer.statistics.inputs import Sample
from primer.statistics.likelihood import maximize_likelihood

Size = int | tuple[int, ...]
MANY = 1e4
"""Counts from which on a Poisson density is computed by Stirling's formula."""


class Family(ABC):
    """A law with one unknown parameter θ.

    Of each family that is written down, what is computed from numbers is checked, and the
    log-density, which is differentiated, asks for tensors.
    """

    regular = True
    """Whether the support is free of θ, so that the theorems on score and information hold."""

    def __init_subclass__(cls) -> None:
        """Check the calls of each family alike."""
        for name in {"draw", "information", "estimate"} & vars(cls).keys():
            setattr(cls, name, checked(vars(cls)[name]))
        if "log_density" in vars(cls):
            cls.log_density = _of_tensors(cls.log_density)  # type: ignore[method-assign]

    @abstractmethod
    def log_density(self, x: Tensor, theta: Tensor) -> Tensor:
        r"""Compute :math:`\log f(x; \theta)` of each observation, in nats."""

    @abstractmethod
    def draw(self, theta: float, size: Size, rng: np.random.Generator) -> Float[np.ndarray, "..."]:
        """Draw independent observations; ``ValueError`` for a θ outside its range."""

    @abstractmethod
    def information(self, theta: float) -> float:
        r"""Compute :math:`I_1(\theta)`, the Fisher information of one observation."""

    @abstractmethod
    def estimate(self, x: ArrayLike) -> float:
        """Compute the maximum likelihood estimate from a sample."""

    @checked
    def density(self, x: ArrayLike, theta: float) -> Float[np.ndarray, "..."]:
        r"""Compute the density, or the probability of each value of a discrete law.

        Raises
        ------
        ValueError
            For a θ outside its range, and for numbers that a discrete law does not have.

        Examples
        --------
        >>> Bernoulli().density([0, 1], 0.25).round(4).tolist()
        [0.75, 0.25]
        """
        at = torch.from_numpy(np.array(self.observations(x)))
        parameter = torch.tensor(self.parameter(theta), dtype=torch.float64)
        return self.log_density(at, parameter).exp().numpy()

    def parameter(self, theta: float) -> float:
        """Return θ, if the law has it."""
        return number("theta", theta)

    def observations(self, x: ArrayLike) -> Float[np.ndarray, "..."]:
        """Return numbers of which the density can be asked."""
        return real("x", x)


def _of_tensors(log_density: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """Let a log-density say what it needs."""

    @functools.wraps(log_density)
    def call(self: Family, x: Tensor, theta: Tensor) -> Tensor:
        tensor("theta", theta)
        check_finite("x", tensor("x", x, beside=theta))
        return log_density(self, x, tensor("theta", theta, beside=x))

    return call


def _size(size: Size) -> Size:
    """Return how many draws there are to be."""
    if min(size if isinstance(size, tuple) else (size,), default=0) < 0:
        raise ValueError(f"size must be whole numbers, 0 or larger, got {size}")
    return size


class Bernoulli(Family):
    r"""One toss of a coin: 1 with probability :math:`\theta`, else 0.

    .. math:: f(x; \theta) = \theta^x (1-\theta)^{1-x}, \qquad
              I_1 = \frac{1}{\theta(1-\theta)}, \qquad \hat\theta = \bar x

    Examples
    --------
    >>> Bernoulli().information(0.5), Bernoulli().estimate([1, 0, 1, 1])
    (4.0, 0.75)
    """

    def log_density(self, x: Tensor, theta: Tensor) -> Tensor:
        """Return x log θ + (1 − x) log(1 − θ) for 0 and 1."""
        toss = torch.xlogy(x, theta) + torch.xlogy(1 - x, 1 - theta)
        return torch.where((x == 0) | (x == 1), toss, -torch.inf)

    def parameter(self, theta: float) -> float:
        """Return a probability."""
        return probability("theta", theta)

    def observations(self, x: ArrayLike) -> Float[np.ndarray, "..."]:
        """Return zeros and ones."""
        tosses = real("x", x)
        if not np.isin(tosses, (0, 1)).all():
            raise ValueError("a Bernoulli sample holds only 0 and 1")
        return tosses

    def draw(self, theta: float, size: Size, rng: np.random.Generator) -> Float[np.ndarray, "..."]:
        """Toss the coin."""
        return (rng.random(_size(size)) < probability("theta", theta)).astype(float)

    def information(self, theta: float) -> float:
        """Return 1/θ(1 − θ)."""
        p = probability("theta", theta)
        return 1 / (p * (1 - p))

    def estimate(self, x: Sample) -> float:
        """Return the share of ones."""
        return float(self.observations(x).mean())


class Poisson(Family):
    r"""Counts with mean :math:`\theta`.

    .. math:: f(x; \theta) = \frac{\theta^x e^{-\theta}}{x!}, \qquad
              I_1 = \frac1\theta, \qquad \hat\theta = \bar x

    Examples
    --------
    >>> Poisson().information(4.0), Poisson().estimate([3, 5, 4])
    (0.25, 4.0)
    """

    def log_density(self, x: Tensor, theta: Tensor) -> Tensor:
        """Return x log θ − θ − log x! for counts."""
        few = torch.xlogy(x, theta) - theta - torch.lgamma(x + 1)
        n = x.clamp(
            min=MANY
        )  # where the three terms cancel: their difference by Stirling's formula
        away = (theta - n) / n
        ratio = torch.where(away.abs() < 0.5, torch.log1p(away), torch.log(theta) - torch.log(n))
        stirling = torch.log(2 * np.pi * n) / 2 + 1 / (12 * n) - 1 / (360 * n**3)
        count = torch.where(x < MANY, few, -n * (away - ratio) - stirling)
        return torch.where((x >= 0) & (x == x.round()), count, -torch.inf)

    def parameter(self, theta: float) -> float:
        """Return a number above 0."""
        return positive("theta", theta)

    def observations(self, x: ArrayLike) -> Float[np.ndarray, "..."]:
        """Return counts."""
        counts = real("x", x)
        if (counts < 0).any() or (counts != np.round(counts)).any():
            raise ValueError("a Poisson sample holds counts: 0, 1, 2, …")
        return counts

    def draw(self, theta: float, size: Size, rng: np.random.Generator) -> Float[np.ndarray, "..."]:
        """Draw counts."""
        if positive("theta", theta) > 9e18:
            raise ValueError(f"theta must be below 9e18, or counts leave 64 bits, got {theta:g}")
        return rng.poisson(theta, _size(size)).astype(float)

    def information(self, theta: float) -> float:
        """Return 1/θ."""
        return 1 / positive("theta", theta)

    def estimate(self, x: Sample) -> float:
        """Return the mean count."""
        return float(sample_mean(self.observations(x)))


class Exponential(Family):
    r"""Waiting times with rate :math:`\theta`, so with mean :math:`1/\theta`.

    .. math:: f(x; \theta) = \theta e^{-\theta x} \quad (x \ge 0), \qquad
              I_1 = \frac{1}{\theta^2}, \qquad \hat\theta = \frac1{\bar x}

    Examples
    --------
    >>> Exponential().information(2.0), Exponential().estimate([0.5, 1.0, 1.5])
    (0.25, 1.0)
    """

    def log_density(self, x: Tensor, theta: Tensor) -> Tensor:
        """Return log θ − θx."""
        return torch.where(x >= 0, torch.log(theta) - theta * x, -torch.inf)

    def parameter(self, theta: float) -> float:
        """Return a number above 0."""
        return positive("theta", theta)

    def draw(self, theta: float, size: Size, rng: np.random.Generator) -> Float[np.ndarray, "..."]:
        """Draw waiting times."""
        return rng.exponential(1 / positive("theta", theta), _size(size))

    def information(self, theta: float) -> float:
        """Return 1/θ²."""
        return 1 / positive("theta", theta) ** 2

    def estimate(self, x: Sample) -> float:
        """Return the number of events per time waited."""
        if (x < 0).any() or not x.any():
            raise ValueError("an exponential sample holds waiting times ≥ 0, not all of them 0")
        return 1 / float(sample_mean(x))


class NormalMean(Family):
    r"""The normal law with unknown mean :math:`\theta` and known standard deviation 1.

    .. math:: f(x; \theta) = \frac{1}{\sqrt{2\pi}}\, e^{-(x-\theta)^2/2}, \qquad
              I_1 = 1, \qquad \hat\theta = \bar x

    Examples
    --------
    >>> NormalMean().information(3.0), NormalMean().estimate([1, 2, 6])
    (1.0, 3.0)
    """

    def log_density(self, x: Tensor, theta: Tensor) -> Tensor:
        """Return −(x − θ)²/2, less log √(2π)."""
        return -((x - theta) ** 2) / 2 - np.log(2 * np.pi) / 2

    def draw(self, theta: float, size: Size, rng: np.random.Generator) -> Float[np.ndarray, "..."]:
        """Draw normal numbers."""
        return number("theta", theta) + rng.standard_normal(_size(size))

    def information(self, theta: float) -> float:
        """Return 1, whatever θ is."""
        return 1.0 + 0 * number("theta", theta)

    def estimate(self, x: Sample) -> float:
        """Return the mean."""
        return float(sample_mean(x))


class Laplace(Family):
    r"""The two-sided exponential law around :math:`\theta`: for it the median is the estimate.

    .. math:: f(x; \theta) = \tfrac12 e^{-|x-\theta|}, \qquad
              I_1 = 1, \qquad \hat\theta = \mathrm{median}(x)

    The score is :math:`\mathrm{sign}(x-\theta)`, whose variance is 1; the second derivative of the
    log-density is zero wherever it exists, so here only the variance of the score gives
    :math:`I_1`.

    Examples
    --------
    >>> Laplace().information(3.0), Laplace().estimate([1, 2, 6])
    (1.0, 2.0)
    """

    def log_density(self, x: Tensor, theta: Tensor) -> Tensor:
        """Return −|x − θ|, less log 2."""
        return -(x - theta).abs() - np.log(2)

    def draw(self, theta: float, size: Size, rng: np.random.Generator) -> Float[np.ndarray, "..."]:
        """Draw two-sided exponential numbers."""
        return rng.laplace(number("theta", theta), 1.0, _size(size))

    def information(self, theta: float) -> float:
        """Return 1, whatever θ is."""
        return 1.0 + 0 * number("theta", theta)

    def estimate(self, x: Sample) -> float:
        """Return the median."""
        return float(sample_median(x))


class Cauchy(Family):
    r"""The Cauchy law around :math:`\theta`: it has a center and a width, but no mean.

    .. math:: f(x; \theta) = \frac{1}{\pi\left(1 + (x-\theta)^2\right)}, \qquad I_1 = \frac12

    The likelihood may have several maxima; the estimate is the one that Newton's method reaches
    from the observation at which the likelihood is highest.

    Examples
    --------
    >>> Cauchy().information(3.0), round(Cauchy().estimate([-1, 0, 1]), 6)
    (0.5, 0.0)
    """

    def log_density(self, x: Tensor, theta: Tensor) -> Tensor:
        """Return −log(1 + (x − θ)²), less log π."""
        gap = x - theta
        far = gap.abs() > 1e100  # where the square overflows the 1 does not count
        near = torch.where(far, 1.0, gap)
        height = torch.where(far, 2 * gap.abs().clamp(min=1).log(), torch.log1p(near**2))
        return -height - np.log(np.pi)

    def draw(self, theta: float, size: Size, rng: np.random.Generator) -> Float[np.ndarray, "..."]:
        """Draw ratios of two normal numbers."""
        return number("theta", theta) + rng.standard_cauchy(_size(size))

    def information(self, theta: float) -> float:
        """Return ½, whatever θ is."""
        return 0.5 + 0 * number("theta", theta)

    def estimate(self, x: Sample) -> float:
        """Return the maximum above the observation with the highest likelihood."""
        values = x
        gaps = np.hypot(1, values - values[:, None])  # at each observation; no square overflows
        heights = -np.log(gaps).sum(axis=-1)
        start = float(values[heights.argmax()])
        return float(maximize_likelihood(self.log_density, values, start))


class Uniform(Family):
    r"""The uniform law on :math:`[0, \theta]`, whose support moves with the parameter.

    .. math:: f(x; \theta) = \frac1\theta \quad (0 \le x \le \theta), \qquad
              \hat\theta = \max_i x_i

    It is not regular: the score is :math:`-1/\theta`, whose mean is not zero.  What
    :meth:`information` returns is :math:`E(s^2) = 1/\theta^2`, the number the formula gives; it
    bounds nothing.

    Examples
    --------
    >>> Uniform().information(2.0), Uniform().estimate([0.5, 1.5]), Uniform().regular
    (0.25, 1.5, False)
    """

    regular = False

    def log_density(self, x: Tensor, theta: Tensor) -> Tensor:
        """Return −log θ inside the support."""
        return torch.where((x >= 0) & (x <= theta), -torch.log(theta), -torch.inf)

    def parameter(self, theta: float) -> float:
        """Return a number above 0."""
        return positive("theta", theta)

    def draw(self, theta: float, size: Size, rng: np.random.Generator) -> Float[np.ndarray, "..."]:
        """Draw uniform numbers."""
        return rng.uniform(0, positive("theta", theta), _size(size))

    def information(self, theta: float) -> float:
        """Return 1/θ², which bounds nothing here."""
        return 1 / positive("theta", theta) ** 2

    def estimate(self, x: Sample) -> float:
        """Return the largest observation."""
        if (x < 0).any() or not x.any():
            raise ValueError("a sample from [0, θ] holds numbers ≥ 0, not all of them 0")
        return float(x.max())
