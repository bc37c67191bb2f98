r"""Likelihood, score and information of any model whose log-density torch can differentiate.

A model is a function ``log_density(x, theta)`` that returns the log-density of each observation.
The parameter is a number or a vector of ``p`` numbers; the score has its shape and the information
has it twice.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from jaxtyping import Float
from numpy.typing import ArrayLike
from torch import Tensor

from primer.inputs import Positive, Steps, checked, real
from primer.statistics.inputs import sample

LogDensity = Callable[[Tensor, Tensor], Tensor]
"""``(x, theta) -> log f(x_i; theta)`` of each observation, written with torch operations."""


def _tensors(
    log_density: LogDensity, x: ArrayLike, theta: ArrayLike, *, excluded: str = "at theta"
) -> tuple[Tensor, Tensor]:
    """Check a sample, a parameter and a model of both; return the two in double precision."""
    observations, at = (
        torch.from_numpy(np.array(values)) for values in (sample("x", x), real("theta", theta))
    )
    try:
        values = log_density(observations, at)
        shape = tuple(values.shape)
    except (RuntimeError, TypeError, IndexError, AttributeError) as error:
        raise ValueError(
            f"log_density does not take {len(observations)} observations and a parameter of shape "
            f"{tuple(at.shape)} as tensors: {error}"
        ) from error
    if shape != tuple(observations.shape):
        raise ValueError(
            f"log_density must return a number for each of {len(observations)} observations, got "
            f"shape {shape} for a parameter of shape {tuple(at.shape)}"
        )
    if values.isnan().any() or (values == torch.inf).any():
        raise ValueError(f"log_density is NaN or infinite at theta = {at.tolist()}: no parameter")
    if excluded and (values == -torch.inf).any():
        raise ValueError(f"the model excludes the sample {excluded} = {at.tolist()}")
    return observations, at


def _total(log_density: LogDensity, x: Tensor) -> Callable[[Tensor], Tensor]:
    """Return the log-likelihood as a function of the parameter alone."""
    return lambda theta: log_density(x, theta).sum()


def _hessian(function: Callable[[Tensor], Tensor]) -> Callable[[Tensor], Tensor]:
    """Return the second derivatives of a function of one tensor: the slopes of its slope."""
    return torch.func.jacrev(torch.func.grad(function))


@checked(infinite="return")
def log_likelihood(log_density: LogDensity, x: ArrayLike, theta: ArrayLike) -> float:
    r"""Compute the log-likelihood of independent observations.

    .. math:: \ell(\theta) = \log L(\theta) = \sum_{i=1}^n \log f(x_i; \theta)

    Parameters
    ----------
    log_density : callable
        ``(x, theta) -> log f`` of each observation.
    x : array_like, shape (n,)
        The sample.
    theta : array_like, shape () or (p,)
        The parameter.

    Returns
    -------
    float
        The log-likelihood, in nats; :math:`-\infty` where the model excludes the sample.

    Raises
    ------
    ValueError
        When the sample is empty, or sample or parameter are not finite.

    References
    ----------
    Fisher (1922).

    Examples
    --------
    >>> from primer.statistics import Bernoulli
    >>> round(log_likelihood(Bernoulli().log_density, [1, 0, 1], 0.5), 6)  # −3 log 2
    -2.079442
    """
    observations, at = _tensors(log_density, x, theta, excluded="")
    return float(_total(log_density, observations)(at))


@checked
def score(log_density: LogDensity, x: ArrayLike, theta: ArrayLike) -> Float[np.ndarray, "..."]:
    r"""Compute the score by automatic differentiation.

    .. math:: s(\theta) = \frac{\partial \ell}{\partial \theta}

    Parameters
    ----------
    log_density : callable
        ``(x, theta) -> log f`` of each observation.
    x : array_like, shape (n,)
        The sample.
    theta : array_like, shape () or (p,)
        The parameter.

    Returns
    -------
    float array, shape of ``theta``
        The slope of the log-likelihood.

    Raises
    ------
    ValueError
        When the sample is empty, or sample or parameter are not finite.

    Examples
    --------
    >>> from primer.statistics import Poisson
    >>> float(score(Poisson().log_density, [3, 5], 2.0))  # Σx/λ − n
    2.0
    """
    observations, at = _tensors(log_density, x, theta)
    return torch.func.grad(_total(log_density, observations))(at).numpy()


@checked
def score_contributions(
    log_density: LogDensity, x: ArrayLike, theta: ArrayLike
) -> Float[np.ndarray, "n ..."]:
    r"""Compute what each observation adds to the score.

    .. math:: s_i(\theta) = \frac{\partial \log f(x_i; \theta)}{\partial \theta}, \qquad
              E\,s_i = 0, \qquad \mathrm{Var}\,s_i = I_1(\theta)

    Parameters
    ----------
    log_density : callable
        ``(x, theta) -> log f`` of each observation.
    x : array_like, shape (n,)
        The sample.
    theta : array_like, shape () or (p,)
        The parameter.

    Returns
    -------
    float array, shape (n,) or (n, p)
        One score per observation.

    Raises
    ------
    ValueError
        When the sample is empty, or sample or parameter are not finite.

    Examples
    --------
    >>> from primer.statistics import Poisson
    >>> score_contributions(Poisson().log_density, [3, 5], 2.0).tolist()  # x/λ − 1
    [0.5, 1.5]
    """
    observations, at = _tensors(log_density, x, theta)

    def of_one(parameter: Tensor, one: Tensor) -> Tensor:
        height = log_density(one, parameter)
        if height.ndim:
            raise ValueError(
                f"log_density must return one number for one observation, got shape "
                f"{tuple(height.shape)} for theta of shape {tuple(parameter.shape)}"
            )
        return height

    slope = torch.func.grad(of_one)
    return torch.func.vmap(slope, in_dims=(None, 0))(at, observations).numpy()


@checked
def observed_information(
    log_density: LogDensity, x: ArrayLike, theta: ArrayLike
) -> Float[np.ndarray, "..."]:
    r"""Compute the observed information by automatic differentiation, twice.

    .. math:: J(\theta)_{ij} = -\frac{\partial^2 \ell}{\partial \theta_i\, \partial \theta_j}

    Parameters
    ----------
    log_density : callable
        ``(x, theta) -> log f`` of each observation.
    x : array_like, shape (n,)
        The sample.
    theta : array_like, shape () or (p,)
        The parameter.

    Returns
    -------
    float array, shape () or (p, p)
        The curvature of the log-likelihood, turned positive at a maximum.

    Raises
    ------
    ValueError
        When the sample is empty, or sample or parameter are not finite.

    References
    ----------
    Efron and Hinkley (1978).

    Examples
    --------
    >>> from primer.statistics import Poisson
    >>> float(observed_information(Poisson().log_density, [3, 5], 2.0))  # Σx/λ²
    2.0
    """
    observations, at = _tensors(log_density, x, theta)
    return _hessian(_total(log_density, observations))(at).neg().numpy()


@checked
def numerical_information(
    log_density: LogDensity, x: ArrayLike, theta: ArrayLike, step: Positive = 1e-4
) -> Float[np.ndarray, "..."]:
    r"""Compute the observed information by second differences, as a check on the automatic one.

    .. math:: J_{ij} \approx -\frac{\ell(\theta + h e_i + h e_j) - \ell(\theta + h e_i - h e_j)
              - \ell(\theta - h e_i + h e_j) + \ell(\theta - h e_i - h e_j)}{4h^2}

    Parameters
    ----------
    log_density, x, theta
        As in :func:`observed_information`.
    step : float
        :math:`h`, in the unit of the parameter.  Rounding grows like :math:`1/h^2`, so it must not
        be too small.

    Returns
    -------
    float array, shape () or (p, p)
        The curvature of the log-likelihood, turned positive at a maximum.

    Raises
    ------
    ValueError
        When the sample is empty, the step is not above 0, or a number is not finite.

    Examples
    --------
    >>> from primer.statistics import Poisson
    >>> round(float(numerical_information(Poisson().log_density, [3, 5], 2.0)), 5)
    2.0
    """
    observations, at = _tensors(log_density, x, theta)
    h, total = step, _total(log_density, observations)
    moves = h * torch.eye(at.numel(), dtype=at.dtype).reshape(-1, *at.shape)
    bends = [
        total(at + a + b) - total(at + a - b) - total(at - a + b) + total(at - a - b)
        for a in moves
        for b in moves
    ]
    return (torch.stack(bends).reshape(at.shape + at.shape) / (-4 * h * h)).numpy()


@checked
def maximize_likelihood(
    log_density: LogDensity, x: ArrayLike, start: ArrayLike, *, max_steps: Steps = 100
) -> Float[np.ndarray, "..."]:
    r"""Find a maximum of the likelihood by Newton's method.

    .. math:: \theta \leftarrow \theta + J(\theta)^{-1} s(\theta)

    Where the log-likelihood is not concave the step follows the score instead, and every step is
    halved until the log-likelihood rises; so each step goes uphill and the end is a local maximum.

    Parameters
    ----------
    log_density : callable
        ``(x, theta) -> log f`` of each observation.
    x : array_like, shape (n,)
        The sample.
    start : array_like, shape () or (p,)
        Where to start, inside the parameter space.
    max_steps : int
        The number of steps after which to give up.

    Returns
    -------
    float array, shape of ``start``
        The maximum likelihood estimate.

    Raises
    ------
    ValueError
        When the sample is empty or not finite, the likelihood of the start is zero, or no maximum
        is reached in ``max_steps``.

    References
    ----------
    Fisher (1922).

    Examples
    --------
    >>> from primer.statistics import Poisson
    >>> round(float(maximize_likelihood(Poisson().log_density, [3, 5, 4], start=1.0)), 10)
    4.0
    """
    observations, at = _tensors(log_density, x, start, excluded="at start")
    total = _total(log_density, observations)
    slope, bend = torch.func.grad(total), _hessian(total)
    height = total(at)
    for _ in range(max_steps):
        move = _uphill(slope(at).reshape(-1), -bend(at).reshape(at.numel(), -1)).reshape(at.shape)
        if not torch.isfinite(move).all():
            raise ValueError(f"the likelihood has no slope at {at.tolist()}; begin elsewhere")
        while not total(at + move) >= height:  # also when it is NaN, outside the parameter space
            move = move / 2
        at, height = at + move, total(at + move)
        if move.abs().max() <= 1e-10 * (1 + at.abs().max()):
            return at.numpy()
    raise ValueError(f"no maximum within {max_steps} steps; begin closer, or there is none")


def _uphill(slope: Tensor, information: Tensor) -> Tensor:
    """Return Newton's step where the information is positive definite, else a shortened slope."""
    factor, failed = torch.linalg.cholesky_ex(information)
    if failed:
        return slope / information.abs().max().clamp(min=1.0)
    return torch.cholesky_solve(slope[:, None], factor)[:, 0]
