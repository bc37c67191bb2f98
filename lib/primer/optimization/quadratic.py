r"""Gradient descent on least squares, solved exactly.

The loss is :math:`L(w) = \lVert Xw - y\rVert^2`, a sum of squares.  In the basis of the right
singular vectors of :math:`X` it falls apart into one problem for each singular value, and in
each of them the error is multiplied by :math:`1-2\eta\sigma^2` at every step.
"""

from __future__ import annotations

import math
from typing import Annotated, NamedTuple

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from primer.inputs import (
    Like,
    Matrix,
    Natural,
    Positive,
    Reals,
    Vector,
    checked,
    vector,
)
from primer.optimization.rules import Divergence, GradientDescent, descend


@checked
def least_squares_gradient(
    X: Annotated[Matrix, "n d"], y: Annotated[Vector, "n"], w: Annotated[Vector, "d"]
) -> Float[np.ndarray, " d"]:
    r"""Compute :math:`\nabla L(w) = 2X^\top(Xw - y)`.

    Parameters
    ----------
    X : array_like, shape (n, d)
        The observations.
    y : array_like, shape (n,)
        The targets.
    w : array_like, shape (d,)
        The weights.

    Returns
    -------
    float array, shape (d,)
        The gradient.

    Raises
    ------
    ValueError
        When the shapes do not match or an entry is not finite.

    Examples
    --------
    >>> least_squares_gradient([[2.0], [1.0]], [4.0, 4.0], [1.0])
    array([-14.])
    """
    return 2 * X.T @ (X @ w - y)


@checked
def gradient_descent(
    X: Annotated[Matrix, "n d"],
    y: Annotated[Vector, "n"],
    step: Positive,
    steps: int,
    start: Annotated[Vector, "d"] | None = None,
) -> Float[np.ndarray, "times d"]:
    r"""Run gradient descent on :math:`\lVert Xw-y\rVert^2`.

    .. math:: w_{t+1} = w_t - \eta\,\nabla L(w_t) = (I - 2\eta X^\top X)\,w_t + 2\eta X^\top y

    Parameters
    ----------
    X, y : array_like, shapes (n, d) and (n,)
        The problem.
    step : float
        The step size :math:`\eta > 0`.
    steps : int
        How many steps to take.
    start : array_like, shape (d,), optional
        :math:`w_0`, by default 0.

    Returns
    -------
    float array, shape (steps + 1, d)
        The path, :math:`w_0` first.

    Raises
    ------
    ValueError
        When the step is not above 0, the shapes do not match or an entry is not finite.
    Divergence
        When the weights have grown beyond all bounds; it names the limit that the step exceeds.

    References
    ----------
    Cauchy (1847).

    Examples
    --------
    >>> gradient_descent([[1.0]], [2.0], step=0.25, steps=3).ravel()
    array([0.  , 1.  , 1.5 , 1.75])
    >>> gradient_descent([[1.0]], [2.0], step=1.5, steps=100)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    primer.optimization.rules.Divergence: diverged after 39 steps: the largest weight is ...
    """
    first = np.zeros(X.shape[1]) if start is None else start
    rule = GradientDescent(step)
    try:
        return descend(rule, lambda w: 2 * X.T @ (X @ w - y), first, steps)
    except Divergence as error:
        largest = np.linalg.norm(X, 2)
        raise Divergence(
            error.steps,
            error.size,
            f"the step size {step:g} is not below 1/σ²max = {1 / largest**2:.4g}, so the error is "
            f"multiplied by {1 - 2 * step * largest**2:.4g} at each step",
        ) from None


def spectrum(name: str, values: ArrayLike) -> Float[np.ndarray, " n"]:
    """Check singular values: where one is 0, the loss is flat and nothing moves."""
    sigma = vector(name, values)
    if sigma.min() <= 0:
        raise ValueError(f"{name} must be above 0, got {sigma.min():g}")
    return sigma


Spectrum = Annotated[Like, spectrum]
"""Singular values, all above 0."""


@checked
def contraction(singular_values: Spectrum, step: Reals) -> np.ndarray:
    r"""Compute the factor by which one step multiplies the error along each singular direction.

    .. math:: w_{t+1} - w^* = (1 - 2\eta\sigma^2)\,(w_t - w^*)

    Parameters
    ----------
    singular_values : array_like, shape (k,)
        :math:`\sigma_i > 0` of :math:`X`.
    step : array_like
        :math:`\eta`, one or many.

    Returns
    -------
    float array, shape (\*step.shape, k)
        The factors.  Below 0 the error changes its sign at each step; beyond ±1 it grows.

    Raises
    ------
    ValueError
        When a singular value is not above 0.

    References
    ----------
    Goh (2017), "First steps: gradient descent".

    Examples
    --------
    >>> contraction([1.0, 0.5], 0.75)
    array([-0.5  ,  0.625])
    """
    return 1 - 2 * step[..., None] * singular_values**2


@checked
def closed_form(
    singular_values: Spectrum, target: ArrayLike, start: ArrayLike, step: float, time: Natural
) -> Float[np.ndarray, " k"]:
    r"""Compute the weights after ``time`` steps on the diagonal problem :math:`\Sigma w = y`.

    .. math:: w_t = \frac y\sigma + (1-2\eta\sigma^2)^t\Bigl(w_0 - \frac y\sigma\Bigr)

    Parameters
    ----------
    singular_values, target, start : array_like, shape (k,)
        :math:`\sigma_i`, :math:`y_i` and :math:`w_{0,i}`.
    step : float
        The step size.
    time : int
        The number of steps :math:`t \ge 0`.

    Returns
    -------
    float array, shape (k,)
        :math:`w_t`.

    Raises
    ------
    ValueError
        When a singular value is not above 0 or ``time`` is negative.

    References
    ----------
    Goh (2017), "First steps: gradient descent".

    Examples
    --------
    >>> closed_form([1.0], [2.0], [0.0], step=0.25, time=3)
    array([1.75])
    """
    sigma = singular_values
    solution = vector("target", target, len(sigma)) / sigma
    error = vector("start", start, len(sigma)) - solution
    return solution + contraction(sigma, step) ** time * error


class BestStep(NamedTuple):
    """The constant step size with the best worst case, and the factor it reaches."""

    step: float
    factor: float


@checked
def best_step(singular_values: Spectrum) -> BestStep:
    r"""Compute the constant step size that makes the slowest direction as fast as possible.

    .. math:: \eta' = \arg\min_\eta \max_i |1-2\eta\sigma_i^2|
              = \frac1{\sigma_{\max}^2+\sigma_{\min}^2}, \qquad
              \text{factor } \frac{\kappa-1}{\kappa+1}, \quad
              \kappa = \frac{\sigma_{\max}^2}{\sigma_{\min}^2}

    Parameters
    ----------
    singular_values : array_like, shape (k,)
        :math:`\sigma_i > 0`; those between the ends do not matter.

    Returns
    -------
    BestStep
        ``step`` and ``factor``.

    Raises
    ------
    ValueError
        When a singular value is not above 0.

    References
    ----------
    Goh (2017), "Choosing a step-size".

    Examples
    --------
    >>> best_step([3.0, 2.0, 1.0])
    BestStep(step=0.1, factor=0.8)
    """
    curvature = singular_values**2
    high, low = float(curvature.max()), float(curvature.min())
    return BestStep(step=1 / (high + low), factor=(high - low) / (high + low))


@checked
def steps_needed(factor: float, tolerance: float) -> int:
    r"""Count the steps until the error is below a part of what it was at the start.

    .. math:: |\rho|^t < \varepsilon \iff t > \frac{\ln\varepsilon}{\ln|\rho|}

    Parameters
    ----------
    factor : float
        :math:`\rho = 1-2\eta\sigma^2`, strictly between −1 and 1.
    tolerance : float
        :math:`\varepsilon`, strictly between 0 and 1.

    Returns
    -------
    int
        The smallest such :math:`t`.

    Raises
    ------
    ValueError
        When the factor is 1 or more in modulus, so that no number of steps is enough.

    Examples
    --------
    >>> steps_needed(-0.8, 1e-3)
    31
    >>> steps_needed(0.5, 0.25)  # after 2 steps the error is 0.25, not below it
    3
    """
    if not abs(factor) < 1:
        raise ValueError(f"factor must lie strictly between -1 and 1, got {factor}: no convergence")
    if not 0 < tolerance < 1:
        raise ValueError(f"tolerance must lie strictly between 0 and 1, got {tolerance}")
    if factor == 0:
        return 1
    return math.floor(math.log(tolerance) / math.log(abs(factor))) + 1
