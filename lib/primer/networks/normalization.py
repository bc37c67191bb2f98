"""Batch normalization with its full gradient, and dropout."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from primer.inputs import Probability, Reals, checked, not_negative, real, vector

EPSILON = 1e-5


@checked
def batch_norm(
    x: ArrayLike, gain: ArrayLike, shift: ArrayLike, epsilon: float = EPSILON
) -> Float[np.ndarray, "batch features *places"]:
    r"""Give each feature mean 0 and variance 1 over the batch, then a trained size and place.

    .. math:: \hat x = \frac{x-\bar x}{\sqrt{s^2+\epsilon}}, \qquad y = \gamma\hat x+\beta

    Mean and variance (divisor :math:`n`) are those of the batch, for each feature alone; of images,
    over the batch and all pixels of a channel.

    Parameters
    ----------
    x : array_like, shape (batch, features, \*places)
        Two examples or more; images are (batch, channels, height, width).
    gain, shift : array_like, shape (features,)
        :math:`\gamma` and :math:`\beta`.
    epsilon : float
        Added to the variance, so that a constant feature becomes 0 instead of undefined.

    Returns
    -------
    float array
        Of the shape of ``x``.

    Raises
    ------
    ValueError
        When each feature has but one number, a shape does not fit or epsilon is not above 0.

    References
    ----------
    Ioffe and Szegedy (2015).

    Examples
    --------
    >>> batch_norm([[1.0], [3.0]], gain=[1.0], shift=[10.0], epsilon=1e-12).round(6).ravel()
    array([ 9., 11.])
    """
    parts = _normalize(x, gain, epsilon)
    beta = vector("shift", shift, parts.centered.shape[1])
    return _along(parts.gain, parts.centered) * parts.normalized + _along(beta, parts.centered)


class BatchNormGradients(NamedTuple):
    """The gradients of batch normalization, each of the shape of what it belongs to."""

    x: Float[np.ndarray, "batch features *places"]
    gain: Float[np.ndarray, " features"]
    shift: Float[np.ndarray, " features"]


@checked
def batch_norm_gradients(
    x: ArrayLike, gain: ArrayLike, output_gradient: Reals, epsilon: float = EPSILON
) -> BatchNormGradients:
    r"""Take a gradient backward through :func:`batch_norm`.

    .. math::
        dx = \frac{\gamma}{\sqrt{s^2+\epsilon}}
             \Bigl[dy - \overline{dy} - \hat x\;\overline{dy\,\hat x}\Bigr], \qquad
        d\gamma = \sum dy\,\hat x, \qquad d\beta = \sum dy

    Parameters
    ----------
    x, gain, epsilon
        As in :func:`batch_norm`.
    output_gradient : array_like
        :math:`dy`, of the shape of ``x``.

    Returns
    -------
    BatchNormGradients
        With respect to ``x``, gain and shift.

    Raises
    ------
    ValueError
        As in :func:`batch_norm`.

    References
    ----------
    Ioffe and Szegedy (2015), section 3.

    Examples
    --------
    >>> batch_norm_gradients([[1.0], [3.0]], [1.0], [[1.0], [0.0]], 1e-12).gain.round(6)
    array([-1.])
    """
    parts = _normalize(x, gain, epsilon)
    if output_gradient.shape != parts.centered.shape:
        raise ValueError(
            f"output_gradient must have the shape of x, {parts.centered.shape}, "
            f"got {output_gradient.shape}"
        )
    over = parts.over
    along_x = (output_gradient * parts.normalized).mean(axis=over, keepdims=True)
    bracket = (
        output_gradient
        - output_gradient.mean(axis=over, keepdims=True)
        - parts.normalized * along_x
    )
    return BatchNormGradients(
        _along(parts.gain, output_gradient) / parts.deviation * bracket,
        (output_gradient * parts.normalized).sum(axis=over),
        output_gradient.sum(axis=over),
    )


@checked
def dropout(x: Reals, keep: Probability, rng: np.random.Generator) -> Float[np.ndarray, "*shape"]:
    r"""Erase entries at random and enlarge the rest, so that each keeps its mean.

    .. math:: y = \frac{r\circ x}{p}, \qquad r_i \sim \operatorname{Bernoulli}(p)

    Only in training; at inference nothing is erased.

    Parameters
    ----------
    x : array_like
        Any shape.
    keep : float
        :math:`p`, the probability that an entry stays, between 0 and 1.
    rng : numpy.random.Generator
        Where the mask comes from.

    Returns
    -------
    float array
        Of the shape of ``x``.

    Raises
    ------
    ValueError
        When the probability does not lie strictly between 0 and 1.

    References
    ----------
    Srivastava et al. (2014).

    Examples
    --------
    >>> sorted(set(dropout([1.0] * 100, keep=0.25, rng=np.random.default_rng(0)).tolist()))
    [0.0, 4.0]
    """
    p = keep
    return x * (rng.random(x.shape) < p) / p


class _Parts(NamedTuple):
    """What both directions need."""

    over: tuple[int, ...]
    gain: np.ndarray
    centered: np.ndarray
    deviation: np.ndarray
    normalized: np.ndarray


def _normalize(x: ArrayLike, gain: ArrayLike, epsilon: float) -> _Parts:
    """Center and scale each feature."""
    array = real("x", x)
    if array.ndim < 2:
        raise ValueError(f"x must have axes (batch, features, …), got shape {array.shape}")
    over = (0, *range(2, array.ndim))
    if array.size == array.shape[1]:
        raise ValueError(
            "the batch has one number for each feature, whose variance is 0: normalize two "
            "examples or more, or use stored statistics"
        )
    gamma = vector("gain", gain, array.shape[1])
    centered = array - array.mean(axis=over, keepdims=True)
    centered = centered - centered.mean(axis=over, keepdims=True)  # what the mean was rounded by
    size = np.abs(centered).max(axis=over, keepdims=True)
    parts = centered / np.where(size > 0, size, 1.0)  # no square overflows
    spread = size * np.sqrt((parts**2).mean(axis=over, keepdims=True))
    deviation = np.hypot(spread, np.sqrt(not_negative("epsilon", epsilon)))
    if not deviation.all():
        raise ValueError("a feature is constant over the batch: give an epsilon above 0")
    return _Parts(over, gamma, centered, deviation, centered / deviation)


def _along(values: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Lay one number for each feature along the features' axis."""
    return values.reshape(1, -1, *[1] * (x.ndim - 2))
