r"""The noisy quadratic: what is expected of a schedule of rates, without drawing anything.

The loss is :math:`\frac12\sum_i h_iw_i^2`, and the gradient of each direction comes with noise of
variance :math:`s^2h_i`, as where the noise is that of the labels.  Then the mean and the variance
of every weight obey a recursion each, and the expected loss is known exactly at every step.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np
from jaxtyping import Float

from primer.inputs import Matrix, Positive, Vector, checked


class Expected(NamedTuple):
    r"""What the expected loss is made of, at each step and in each direction.

    Attributes
    ----------
    way : float array, shape (steps + 1, d)
        :math:`\frac12h_i\,(E\,w_i)^2`, of the way that is still to go.
    noise : float array, shape (steps + 1, d)
        :math:`\frac12h_i\,\mathrm{Var}(w_i)`.
    """

    way: Float[np.ndarray, "times d"]
    noise: Float[np.ndarray, "times d"]


@checked
def expected_losses(
    curvatures: Annotated[Matrix, "steps d"],
    rates: Annotated[Vector, "steps"],
    noise_variance: Positive,
) -> Expected:
    r"""Compute the expected loss of SGD in a bowl, direction by direction, from weights of 1.

    .. math:: E\,w_i\leftarrow(1-\eta_th_i)\,E\,w_i, \qquad
              \mathrm{Var}(w_i)\leftarrow(1-\eta_th_i)^2\,\mathrm{Var}(w_i)+\eta_t^2s^2h_i

    Parameters
    ----------
    curvatures : array_like, shape (steps, d)
        :math:`h_i` at each step; the loss after the last one is taken with the curvatures there.
    rates : array_like, shape (steps,)
        :math:`\eta_t`.
    noise_variance : float
        :math:`s^2 > 0`; for a batch the variance of one example divided by its size.

    Returns
    -------
    Expected
        ``way`` and ``noise``; their sum over the directions is the expected loss.

    Raises
    ------
    ValueError
        When shapes differ, a curvature or a rate is negative, or the variance is not above 0.

    References
    ----------
    Zhang et al. (2019), "Which algorithmic choices matter at which batch sizes?".

    Examples
    --------
    >>> way, noise = expected_losses([[1.0], [1.0]], [0.5, 0.5], noise_variance=1.0)
    >>> way.ravel(), noise.ravel()  # means 1, 1/2, 1/4; variances 0, 1/4, 1/16 + 1/4
    (array([0.5    , 0.125  , 0.03125]), array([0.     , 0.125  , 0.15625]))
    """
    _bowl(curvatures)
    if rates.min() < 0:
        raise ValueError(f"rates must not be negative, got {rates.min():g}")
    h = np.vstack([curvatures, curvatures[-1:]])
    mean, variance = np.ones_like(h), np.zeros_like(h)
    for t, eta in enumerate(rates):
        kept = 1 - eta * h[t]
        mean[t + 1] = kept * mean[t]
        variance[t + 1] = kept**2 * variance[t] + eta**2 * noise_variance * h[t]
    return Expected(h * mean**2 / 2, h * variance / 2)


def _bowl(curvatures: Float[np.ndarray, "..."]) -> Float[np.ndarray, "..."]:
    """Return curvatures that are those of a bowl."""
    if curvatures.min() < 0:
        raise ValueError(f"curvatures of a bowl are not negative, got {curvatures.min():g}")
    return curvatures


@checked
def loss_floor(curvatures: Vector, rate: Positive, noise_variance: Positive) -> float:
    r"""Compute the expected loss at which a constant rate comes to rest.

    .. math:: \frac12\sum_i h_i\,\frac{\eta\,s^2}{2-\eta h_i}

    Parameters
    ----------
    curvatures : array_like, shape (d,)
        :math:`h_i \ge 0`.
    rate : float
        :math:`\eta`, below :math:`2/\max h_i`.
    noise_variance : float
        :math:`s^2 > 0`.

    Returns
    -------
    float
        What is left of :func:`expected_losses` after many steps.

    Raises
    ------
    ValueError
        When the rate has no floor, since its steps grow, or a number is out of range.

    References
    ----------
    Zhang et al. (2019), "Which algorithmic choices matter at which batch sizes?".

    Examples
    --------
    >>> loss_floor([1.0], rate=0.5, noise_variance=1.0)  # ½ · 0.5/1.5
    0.16666666666666666
    """
    h = _bowl(curvatures)
    if rate * h.max() >= 2:
        raise ValueError(
            f"rate must be below 2 over the largest curvature, {2 / h.max():.6g}, got {rate:.6g}"
        )
    return float((h * rate * noise_variance / (2 - rate * h)).sum() / 2)
