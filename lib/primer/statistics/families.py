r"""Families of laws with one unknown: density, draws, information and maximum likelihood estimate.

Each family says the same five things, so that a chapter or a widget can take any of them.  The
log-density is written with torch, for :mod:`primer.statistics.likelihood` to differentiate.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
import torch
from jaxtyping import Float
from numpy.typing import ArrayLike
from torch import Tensor

from primer.inputs import number, positive, probability
from primer.statistics.inputs import sample
from primer.statistics.likelihood import maximize_likelihood

Size = int | tuple[int, ...]


class Family(ABC):
    """A law with one unknown parameter θ."""

    regular = True
    """Whether the support is free of θ, so that the theorems on score and information hold."""

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

    def density(self, x: ArrayLike, theta: float) -> Float[np.ndarray, "..."]:
        r"""Compute the density, or the probability of each value of a discrete law.

        Examples
        --------
        >>> Bernoulli().density([0, 1], 0.25).round(4).tolist()
        [0.75, 0.25]
        """
        at = torch.as_tensor(np.asarray(x, dtype=float))
        parameter = torch.tensor(number("theta", theta), dtype=torch.float64)
        return self.log_density(at, parameter).exp().numpy()


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
        """Return x log θ + (1 − x) log(1 − θ)."""
        return torch.xlogy(x, theta) + torch.xlogy(1 - x, 1 - theta)

    def draw(self, theta: float, size: Size, rng: np.random.Generator) -> Float[np.ndarray, "..."]:
        """Toss the coin."""
        return (rng.random(size) < probability("theta", theta)).astype(float)

    def information(self, theta: float) -> float:
        """Return 1/θ(1 − θ)."""
        p = probability("theta", theta)
        return 1 / (p * (1 - p))

    def estimate(self, x: ArrayLike) -> float:
        """Return the share of ones."""
        tosses = sample("x", x)
        if not np.isin(tosses, (0, 1)).all():
            raise ValueError("a Bernoulli sample holds only 0 and 1")
        return float(tosses.mean())


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
        """Return x log θ − θ − log x!."""
        return torch.xlogy(x, theta) - theta - torch.lgamma(x + 1)

    def draw(self, theta: float, size: Size, rng: np.random.Generator) -> Float[np.ndarray, "..."]:
        """Draw counts."""
        return rng.poisson(positive("theta", theta), size).astype(float)

    def information(self, theta: float) -> float:
        """Return 1/θ."""
        return 1 / positive("theta", theta)

    def estimate(self, x: ArrayLike) -> float:
        """Return the mean count."""
        counts = sample("x", x)
        if (counts < 0).any() or (counts != np.round(counts)).any():
            raise ValueError("a Poisson sample holds counts: 0, 1, 2, …")
        return float(counts.mean())


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

    def draw(self, theta: float, size: Size, rng: np.random.Generator) -> Float[np.ndarray, "..."]:
        """Draw waiting times."""
        return rng.exponential(1 / positive("theta", theta), size)

    def information(self, theta: float) -> float:
        """Return 1/θ²."""
        return 1 / positive("theta", theta) ** 2

    def estimate(self, x: ArrayLike) -> float:
        """Return the number of events per time waited."""
        times = sample("x", x)
        if (times < 0).any() or not times.any():
            raise ValueError("an exponential sample holds waiting times ≥ 0, not all of them 0")
        return float(1 / times.mean())


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
        return number("theta", theta) + rng.standard_normal(size)

    def information(self, theta: float) -> float:
        """Return 1, whatever θ is."""
        return 1.0 + 0 * number("theta", theta)

    def estimate(self, x: ArrayLike) -> float:
        """Return the mean."""
        return float(sample("x", x).mean())


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
        return rng.laplace(number("theta", theta), 1.0, size)

    def information(self, theta: float) -> float:
        """Return 1, whatever θ is."""
        return 1.0 + 0 * number("theta", theta)

    def estimate(self, x: ArrayLike) -> float:
        """Return the median."""
        return float(np.median(sample("x", x)))


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
        return -torch.log1p((x - theta) ** 2) - np.log(np.pi)

    def draw(self, theta: float, size: Size, rng: np.random.Generator) -> Float[np.ndarray, "..."]:
        """Draw ratios of two normal numbers."""
        return number("theta", theta) + rng.standard_cauchy(size)

    def information(self, theta: float) -> float:
        """Return ½, whatever θ is."""
        return 0.5 + 0 * number("theta", theta)

    def estimate(self, x: ArrayLike) -> float:
        """Return the maximum above the observation with the highest likelihood."""
        values = sample("x", x)
        heights = -np.log1p((values - values[:, None]) ** 2).sum(axis=-1)  # at each observation
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

    def draw(self, theta: float, size: Size, rng: np.random.Generator) -> Float[np.ndarray, "..."]:
        """Draw uniform numbers."""
        return rng.uniform(0, positive("theta", theta), size)

    def information(self, theta: float) -> float:
        """Return 1/θ², which bounds nothing here."""
        return 1 / positive("theta", theta) ** 2

    def estimate(self, x: ArrayLike) -> float:
        """Return the largest observation."""
        values = sample("x", x)
        if (values < 0).any() or not values.any():
            raise ValueError("a sample from [0, θ] holds numbers ≥ 0, not all of them 0")
        return float(values.max())
