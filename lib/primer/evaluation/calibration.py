r"""Calibration: the parts of a proper score, the noise of a measure, a temperature."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike
from scipy.special import logsumexp

from primer.inputs import Matrix, Vector, checked, count, real, vector


class BrierParts(NamedTuple):
    r"""The Brier score of forecasts of yes or no: reliability − resolution + uncertainty.

    Attributes
    ----------
    reliability : float
        How far forecasts lie from what came true of them; best 0.
    resolution : float
        How far what came true differs from forecast to forecast; the more the better.
    uncertainty : float
        The score of somebody who always forecasts the mean; it belongs to the questions.
    """

    reliability: float
    resolution: float
    uncertainty: float

    @property
    def score(self) -> float:
        """The mean of the squared errors."""
        return self.reliability - self.resolution + self.uncertainty


@checked
def brier_parts(forecasts: Vector, came_true: Vector) -> BrierParts:
    r"""Take the Brier score apart, as Murphy did.

    .. math::
        \frac1n\sum_i (q_i-y_i)^2 =
        \underbrace{\sum_b \frac{n_b}{n}(q_b-\bar y_b)^2}_{\text{reliability}}
        - \underbrace{\sum_b \frac{n_b}{n}(\bar y_b-\bar y)^2}_{\text{resolution}}
        + \underbrace{\bar y(1-\bar y)}_{\text{uncertainty}}

    The groups b are those of equal forecasts, for which this is an identity: round forecasts first
    that all differ.

    Parameters
    ----------
    forecasts : array_like of shape (n,)
        :math:`q_i`, probabilities.
    came_true : array_like of shape (n,)
        :math:`y_i`, 0 or 1.

    Returns
    -------
    BrierParts
        The three parts.

    Raises
    ------
    ValueError
        When lengths differ, a forecast is no probability, or an outcome is neither 0 nor 1.

    References
    ----------
    Brier (1950); Murphy (1973).

    Examples
    --------
    >>> parts = brier_parts([0.5, 0.5, 1.0, 1.0], [1, 0, 1, 1])
    >>> tuple(parts), parts.score
    ((0.0, 0.0625, 0.1875), 0.125)
    """
    q = _probabilities("forecasts", forecasts)
    y = vector("came_true", came_true, len(q))
    if not np.isin(y, (0, 1)).all():
        raise ValueError("came_true must hold 0 for no and 1 for yes, nothing else")
    said, groups = np.unique(q, return_inverse=True)
    sizes = np.bincount(groups)
    shares = np.bincount(groups, y) / sizes
    mean = float(y.mean())
    return BrierParts(
        float(sizes @ (said - shares) ** 2 / len(q)),
        float(sizes @ (shares - mean) ** 2 / len(q)),
        mean * (1 - mean),
    )


@checked
def calibration_noise(confidence: ArrayLike, bins: int = 15) -> float:
    r"""Compute what calibration error a perfectly calibrated model would be found to have.

    In a bin of :math:`n_b` answers the gap is nearly normal with variance :math:`v_b/n_b`, where
    :math:`v_b` is the mean of :math:`q(1-q)`; and :math:`E|N| = \sqrt{2/\pi}\,\sigma`. So

    .. math:: E\,\mathrm{ECE} \approx \sqrt{\frac2\pi}\;\frac1n\sum_b\sqrt{n_bv_b}.

    Parameters
    ----------
    confidence : array_like of shape (n,)
        The probabilities of the answers that were chosen.
    bins : int
        How many bins of equal width, as in :func:`primer.networks.reliability`.

    Returns
    -------
    float
        The expected error that is noise alone; a bin of few answers is less normal than this takes
        it to be.

    Raises
    ------
    ValueError
        When a confidence is no probability, or there is no bin.

    References
    ----------
    Roelofs et al. (2022), who show and correct the bias; the formula is that of a half-normal.

    Examples
    --------
    >>> round(calibration_noise([0.5] * 100, bins=10), 4)  # √(2/π) · 0.5 / √100
    0.0399
    """
    q = _probabilities("confidence", confidence)
    places = np.minimum(np.floor(q * float(count("bins", bins))), bins - 1)
    _, own = np.unique(places, return_inverse=True)  # bins without an answer add nothing
    variances = np.bincount(own, q * (1 - q))  # n_b v_b of each bin
    return float(math.sqrt(2 / math.pi) * np.sqrt(variances).sum() / len(q))


@checked
def best_temperature(logits: Matrix, targets: Vector) -> float:
    r"""Find the temperature under which what came true is likeliest.

    .. math:: \hat T = \arg\min_T\; -\sum_i \log\operatorname{softmax}(z_i/T)_{y_i}

    The sum is convex in :math:`1/T`, so Newton's method finds its only minimum.  The order of the
    logits, and with it every answer, stays what it was.

    Parameters
    ----------
    logits : array_like of shape (n, v)
        :math:`z_i`.
    targets : array_like of n whole numbers
        :math:`y_i`, which of the v came true.

    Returns
    -------
    float
        :math:`\hat T`; above 1 the model was too sure.

    Raises
    ------
    ValueError
        When shapes differ, a target is none of the v, or there is no such temperature: every
        target has the largest logit (the colder the better), or targets have no larger logits than
        others (the warmer the better), or all logits of each row are equal.

    References
    ----------
    Guo et al. (2017).

    Examples
    --------
    >>> logits = np.log([[0.9, 0.1]] * 4)  # says nine of ten; three of four came true
    >>> round(best_temperature(logits, [0, 0, 0, 1]), 6)  # log 9 / log 3
    2.0
    """
    z, y = logits, vector("targets", targets, len(logits))
    if not ((y >= 0) & (y < z.shape[1]) & (y % 1 == 0)).all():
        raise ValueError(f"targets must be whole numbers from 0 to {z.shape[1] - 1}")
    z, unit = _below_the_best(z)
    chosen = z[np.arange(len(z)), y.astype(int)]
    if not z.any():
        raise ValueError("all logits of each row are equal: every temperature says the same")
    if (chosen == 0).all():
        raise ValueError("every target has the largest logit: the colder the better, without end")
    if chosen.mean() <= z.mean():
        raise ValueError(
            "the targets have no larger logits than others on average: the warmer the better, "
            "without end"
        )
    low, high, inverse, factor = 0.0, math.inf, 1.0, 2.0
    for turn in range(400):
        with np.errstate(over="ignore"):  # what is infinitely far below has no chance
            slope, curvature = _slope(inverse * z, z, chosen)
        low, high = (inverse, high) if slope < 0 else (low, inverse)
        step = slope / curvature if 0 < curvature < math.inf else math.nan
        if abs(step) <= 1e-12 * inverse:
            break
        newer = inverse - step
        # Newton leaves the bracket, has no curvature to go by, or creeps where the slope is flat
        if not low < newer < high or turn % 8 == 7:
            bracketed = low > 0 and high < math.inf
            newer = math.sqrt(low) * math.sqrt(high) if bracketed else _further(low, high, factor)
            factor *= factor if factor < 1e100 else 1.0
        inverse = newer
    return unit / inverse


def _below_the_best(logits: Float[np.ndarray, "n v"]) -> tuple[Float[np.ndarray, "n v"], float]:
    """Take the largest of each row off, in a unit in which no difference overflows."""
    unit = 1.0 if np.ptp(logits) < 1e290 else 2.0**100
    small = logits / unit
    return small - small.max(axis=1, keepdims=True), unit


def _further(low: float, high: float, factor: float) -> float:
    """Go on to where nobody has been: farther each time, for logits may be of any size."""
    return low * factor if math.isinf(high) else high / factor


def _slope(
    warmed: Float[np.ndarray, "n v"], z: Float[np.ndarray, "n v"], chosen: Float[np.ndarray, " n"]
) -> tuple[float, float]:
    """Compute first and second derivative of the mean loss by the inverse temperature."""
    p = np.exp(warmed - logsumexp(warmed, axis=1, keepdims=True))
    mean = (p * z).sum(axis=1)
    spread = (p * np.where(p > 0, z - mean[:, None], 0) ** 2).sum(axis=1)
    return float((mean - chosen).mean()), float(spread.mean())


def _probabilities(name: str, values: ArrayLike) -> Float[np.ndarray, " n"]:
    """Return a row of probabilities."""
    q = vector(name, real(name, values))
    if q.min() < 0 or q.max() > 1:
        raise ValueError(f"{name} must lie between 0 and 1, got {q.min():g} … {q.max():g}")
    return q
