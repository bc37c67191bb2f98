r"""Momentum on a quadratic, seen as a dynamical system.

On the loss :math:`\frac12hw^2`, whose curvature is :math:`h`, the heavy ball
:math:`w_{t+1} = w_t - \eta hw_t + \beta(w_t - w_{t-1})` is linear in the pair
:math:`(w_t, w_{t-1})`.  A 2×2 matrix knows everything about it.  For the loss
:math:`\lVert Xw-y\rVert^2` the curvatures are :math:`h_i = 2\sigma_i^2`.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from primer.inputs import Fraction, Positive, checked


@checked
def momentum_matrix(
    curvature: Positive, step: Positive, momentum: Fraction
) -> Float[np.ndarray, "2 2"]:
    r"""Write one step of the heavy ball as a matrix.

    .. math:: \begin{pmatrix}w_{t+1}\\w_t\end{pmatrix} =
              \begin{pmatrix}1+\beta-\eta h & -\beta\\ 1 & 0\end{pmatrix}
              \begin{pmatrix}w_t\\w_{t-1}\end{pmatrix}

    Parameters
    ----------
    curvature : float
        :math:`h > 0`.
    step : float
        :math:`\eta > 0`.
    momentum : float
        :math:`\beta` in [0, 1); 0 is gradient descent.

    Returns
    -------
    float array, shape (2, 2)
        The matrix.

    Raises
    ------
    ValueError
        When a number is out of its range.

    References
    ----------
    Polyak (1964); Goh (2017), "The dynamics of momentum".

    Examples
    --------
    >>> momentum_matrix(curvature=2.0, step=0.25, momentum=0.5)
    array([[ 1. , -0.5],
           [ 1. ,  0. ]])
    """
    pull = step * curvature
    beta = momentum
    return np.array([[1 + beta - pull, -beta], [1.0, 0.0]])


@checked
def momentum_factor(curvature: float, step: float, momentum: float) -> float:
    r"""Compute by how much momentum shrinks the error per step in the long run.

    .. math:: \rho = \max|\lambda|, \qquad \lambda^2 - (1+\beta-\eta h)\lambda + \beta = 0

    While the roots are complex, for :math:`(1-\sqrt\beta)^2 < \eta h < (1+\sqrt\beta)^2`, the
    product of the two is :math:`\beta` and :math:`\rho = \sqrt\beta`, whatever the curvature.

    Parameters
    ----------
    curvature, step, momentum : float
        As :func:`momentum_matrix`.

    Returns
    -------
    float
        The spectral radius; 1 or more means no convergence.

    Raises
    ------
    ValueError
        When a number is out of its range.

    References
    ----------
    Polyak (1964); Goh (2017), "The dynamics of momentum".

    Examples
    --------
    >>> round(momentum_factor(curvature=2.0, step=0.25, momentum=0.81), 12)
    0.9
    """
    return float(abs(np.linalg.eigvals(momentum_matrix(curvature, step, momentum))).max())


@checked
def momentum_limit(curvature: Positive, momentum: Fraction) -> float:
    r"""Compute the step size at which the heavy ball stops converging.

    .. math:: \eta < \frac{2(1+\beta)}h

    Parameters
    ----------
    curvature : float
        The largest curvature :math:`h > 0`.
    momentum : float
        :math:`\beta` in [0, 1).

    Returns
    -------
    float
        The limit, up to twice that of gradient descent, :math:`2/h`.

    Raises
    ------
    ValueError
        When a number is out of its range.

    References
    ----------
    Polyak (1964); Goh (2017), "The dynamics of momentum".

    Examples
    --------
    >>> momentum_limit(curvature=2.0, momentum=0.0), momentum_limit(curvature=2.0, momentum=0.5)
    (1.0, 1.5)
    """
    return 2 * (1 + momentum) / curvature


class BestMomentum(NamedTuple):
    """The step size and momentum with the best worst case, and the factor they reach."""

    step: float
    momentum: float
    factor: float


@checked
def best_momentum(lowest: Positive, highest: Positive) -> BestMomentum:
    r"""Compute the best constant step and momentum for curvatures between two ends.

    .. math:: \eta = \Bigl(\frac2{\sqrt{h_{\max}}+\sqrt{h_{\min}}}\Bigr)^2, \qquad
              \sqrt\beta = \rho = \frac{\sqrt\kappa-1}{\sqrt\kappa+1}, \qquad
              \kappa = \frac{h_{\max}}{h_{\min}}

    Parameters
    ----------
    lowest, highest : float
        The smallest and the largest curvature, :math:`0 < h_{\min} \le h_{\max}`.

    Returns
    -------
    BestMomentum
        ``step``, ``momentum`` and ``factor``.

    Raises
    ------
    ValueError
        When the curvatures are not above 0 or in the wrong order.

    References
    ----------
    Polyak (1964).

    Examples
    --------
    >>> best_momentum(1.0, 9.0)
    BestMomentum(step=0.25, momentum=0.25, factor=0.5)
    """
    low, high = math.sqrt(lowest), math.sqrt(highest)
    if low > high:
        raise ValueError(f"lowest {lowest:g} is above highest {highest:g}")
    factor = (high - low) / (high + low)
    return BestMomentum(step=(2 / (high + low)) ** 2, momentum=factor**2, factor=factor)


@checked
def momentum_settings(factor: Fraction, lowest: Positive, highest: Positive) -> np.ndarray:
    r"""Find all settings of the heavy ball that shrink every error by a factor, or by more.

    Both roots of a direction have at most the modulus :math:`r` if and only if
    :math:`\beta\le r^2` and :math:`|1+\beta-\eta h|\le r+\beta/r`.  For all curvatures between two
    ends this says

    .. math:: \frac{(1-r)(1-\beta/r)}{h_{\min}} \le \eta \le \frac{(1+r)(1+\beta/r)}{h_{\max}},
              \qquad 0\le\beta\le r^2,

    which is a polygon of at most four corners in the plane of :math:`\eta` and :math:`\beta`.

    Parameters
    ----------
    factor : float
        :math:`r` in [0, 1): the worst factor per step in the long run that is allowed.
    lowest, highest : float
        The smallest and the largest curvature, :math:`0 < h_{\min} \le h_{\max}`.

    Returns
    -------
    float array, shape (4, 2) or (0, 2)
        The corners as pairs of :math:`\eta` and :math:`\beta`: left and right at the least momentum
        that is enough, right and left at the most.  None where no setting is that fast.

    Raises
    ------
    ValueError
        When a number is out of its range or the curvatures are in the wrong order.

    References
    ----------
    Polyak (1964); the proof of the theorem on momentum in the chapter.

    Examples
    --------
    >>> momentum_settings(0.5, lowest=1.0, highest=1.0)  # the largest step: 1.5 · 1.5
    array([[0.5 , 0.  ],
           [1.5 , 0.  ],
           [2.25, 0.25],
           [0.25, 0.25]])
    >>> len(momentum_settings(0.49, lowest=1.0, highest=9.0))  # 0.5 is the best
    0
    """
    if factor < best_momentum(lowest, highest).factor:
        return np.empty((0, 2))
    left, right = (1 - factor) / lowest, (1 + factor) / highest  # without momentum
    least = min(max(0.0, (left - right) / (left + right)), factor)  # β/r where the bounds meet
    corners = [(1, least), (-1, least), (-1, factor), (1, factor)]  # the side, and β/r
    return np.array(
        [
            (left * (1 - part) if side > 0 else right * (1 + part), factor * part)
            for side, part in corners
        ]
    )


@checked
def adam_edge(step: Positive, beta1: Fraction) -> float:
    r"""Compute the curvature, in Adam's own units, at which Adam starts to oscillate.

    With a slowly changing scale :math:`s = \sqrt{v}+\epsilon`, Adam is the heavy ball with step
    :math:`\eta(1-\beta_1)/s`; so it is stable while

    .. math:: \frac hs < \frac{2(1+\beta_1)}{(1-\beta_1)\,\eta},

    which is :math:`38/\eta` for :math:`\beta_1 = 0.9`.

    Parameters
    ----------
    step : float
        :math:`\eta > 0`.
    beta1 : float
        In [0, 1).

    Returns
    -------
    float
        The largest stable :math:`h/s`.

    Raises
    ------
    ValueError
        When a number is out of its range.

    References
    ----------
    Cohen et al. (2022), equation 3.

    Examples
    --------
    >>> round(adam_edge(step=1.0, beta1=0.9), 9)
    38.0
    """
    return 2 * (1 + beta1) / ((1 - beta1) * step)
