r"""SGD when the input is measured with fresh noise at each step.

One weight, one observation :math:`(x, y)`; step :math:`t` sees :math:`Z = x + N_t` with
:math:`N_t\sim\mathcal N(0,\sigma^2)` and moves along half the gradient of :math:`(Zw-y)^2`:

.. math:: W_{t+1} = (1-\eta Z^2)\,W_t + \eta yZ .

The mean and the mean square of :math:`W_t` follow exact linear recursions.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from primer.inputs import Number, Positive, StepsOrNone, checked, positive
from primer.inputs.magnitude import TINY, rescaled, scaled
from primer.optimization.rules import Divergence


class InputMoments(NamedTuple):
    r"""The first four moments of a normal input, :math:`E Z^k`."""

    first: float
    second: float
    third: float
    fourth: float


@checked
def input_moments(x: float, deviation: Positive) -> InputMoments:
    r"""Compute :math:`EZ, \dots, EZ^4` of :math:`Z\sim\mathcal N(x,\sigma^2)`.

    .. math:: EZ^2 = x^2+\sigma^2, \quad EZ^3 = x^3+3x\sigma^2, \quad
              EZ^4 = x^4+6x^2\sigma^2+3\sigma^4

    Parameters
    ----------
    x : float
        The true input.
    deviation : float
        :math:`\sigma > 0`, in the unit of ``x``.

    Returns
    -------
    InputMoments
        The four moments.

    Raises
    ------
    ValueError
        When the deviation is not above 0.

    Examples
    --------
    >>> input_moments(1.0, 1.0)
    InputMoments(first=1.0, second=2.0, third=4.0, fourth=10.0)
    """
    (second, third, fourth), unit = _moments(x, deviation)
    second = float(rescaled("the mean square", second, unit, unit))
    if abs(x) >= TINY:  # a smaller one has no digits to lose
        third = float(rescaled("the third moment", third, unit, unit, unit))
    else:
        third = 3 * x * second
    fourth = float(rescaled("the fourth moment", fourth, unit, unit, unit, unit))
    return InputMoments(x, second, third, fourth)


def _moments(x: float, deviation: float) -> tuple[tuple[float, float, float], float]:
    """Compute the second to the fourth moment in a unit in which none is too small or too large."""
    (x, deviation), unit = scaled(np.array([x, deviation]))
    v = deviation**2
    return (x**2 + v, x**3 + 3 * x * v, x**4 + 6 * x**2 * v + 3 * v**2), unit


class StepLimits(NamedTuple):
    """Below which step sizes the mean, and the mean square, of the weight converge."""

    mean: float
    mean_square: float


@checked
def noisy_step_limits(x: float, deviation: float) -> StepLimits:
    r"""Compute the two limits of the step size.

    .. math:: \eta < \frac2{x^2+\sigma^2}\ \text{(mean)}, \qquad
              \eta < \frac{2(x^2+\sigma^2)}{E(x+N)^4}\ \text{(mean square)}

    Parameters
    ----------
    x, deviation : float
        As :func:`input_moments`.

    Returns
    -------
    StepLimits
        ``mean`` and ``mean_square``; the second is the smaller, since :math:`EZ^4\ge(EZ^2)^2`.

    Raises
    ------
    ValueError
        When the deviation is not above 0.

    Examples
    --------
    >>> noisy_step_limits(1.0, 1.0)
    StepLimits(mean=1.0, mean_square=0.4)
    """
    (second, _, fourth), unit = _moments(x, positive("deviation", deviation))
    limits = (2 / second, 2 * second / fourth)
    return StepLimits(*(float(rescaled("a limit", one, 1 / unit, 1 / unit)) for one in limits))


@checked
def noisy_moments(
    x: float, y: float, deviation: float, step: Positive, steps: StepsOrNone, start: Number = 0.0
) -> Float[np.ndarray, "times 2"]:
    r"""Compute :math:`E W_t` and :math:`E W_t^2` exactly.

    .. math::
        E W_{t+1} &= (1-\eta EZ^2)\,E W_t + \eta xy \\
        E W_{t+1}^2 &= (1-2\eta EZ^2+\eta^2EZ^4)\,E W_t^2
            + 2\eta y(x-\eta EZ^3)\,E W_t + \eta^2y^2EZ^2

    Parameters
    ----------
    x, y, deviation : float
        The observation and the noise.
    step : float
        :math:`\eta > 0`.
    steps : int
        How many steps.
    start : float
        :math:`W_0`.

    Returns
    -------
    float array, shape (steps + 1, 2)
        Mean and mean square at each time.

    Raises
    ------
    ValueError
        When the step or the deviation is not above 0.
    Divergence
        When the mean square has grown beyond 1e200; it names the limit that the step exceeds.

    Examples
    --------
    >>> noisy_moments(1.0, 1.0, 1.0, step=0.25, steps=2)
    array([[0.      , 0.      ],
           [0.25    , 0.125   ],
           [0.375   , 0.203125]])
    """
    m = input_moments(x, deviation)
    eta = step
    moments = np.empty((steps + 1, 2))
    moments[0] = start, start**2
    for t in range(steps):
        mean, square = moments[t]
        moments[t + 1] = (
            (1 - eta * m.second) * mean + eta * x * y,
            (1 - 2 * eta * m.second + eta**2 * m.fourth) * square
            + 2 * eta * y * (x - eta * m.third) * mean
            + eta**2 * y**2 * m.second,
        )
        if not moments[t + 1, 1] < 1e200:
            limit = noisy_step_limits(x, deviation).mean_square
            raise Divergence(
                t + 1,
                math.sqrt(moments[t + 1, 1]),
                f"the step size {step:g} is above the limit of the mean square, {limit:.4g}",
            )
    return moments
