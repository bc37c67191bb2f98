r"""Superposition: what two meanings in one number cost, exactly, and how much room there is."""

from __future__ import annotations

import math
from typing import Annotated

import numpy as np
from jaxtyping import Float

from primer.inputs import Count, Matrix, Number, Positive, Vector, checked, number
from primer.inputs.magnitude import scaled

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(4)  # exact up to degree 7


def chance(name: str, value: float) -> float:
    """Return one number from 0 to 1, both allowed."""
    if not 0 <= number(name, value) <= 1:
        raise ValueError(f"{name} must be a chance from 0 to 1, got {value}")
    return float(value)


Chance = Annotated[float, chance]


def _nodes(ends: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Give nodes and weights that integrate a polynomial exactly between each end and the next."""
    middle, half = (ends[..., 1:] + ends[..., :-1]) / 2, (ends[..., 1:] - ends[..., :-1]) / 2
    return middle[..., None] + half[..., None] * _NODES, half[..., None] * _WEIGHTS


def _error(own: float, slope: float, other: float, bias: float) -> float:
    r"""Integrate :math:`(o\,x - \max(sx + ty + b, 0))^2` over the unit square.

    The plane meets 0 in one line: split there, every piece is a polynomial.
    """
    breaks = np.array([-bias / slope, -(bias + other) / slope] if slope else [])
    x, outer = _nodes(np.array([0.0, *np.sort(breaks.clip(0, 1)), 1.0]))
    level = slope * x + bias
    cut = (-level / other).clip(0, 1) if other else np.zeros_like(level)
    y, inner = _nodes(np.stack([np.zeros_like(cut), cut, np.ones_like(cut)], axis=-1))
    off = own * x[..., None, None] - np.maximum(level[..., None, None] + other * y, 0)
    return float((outer * (inner * off**2).sum(axis=(-2, -1))).sum())


@checked
def shared_loss(
    weights: Annotated[Vector, "two"],
    biases: Annotated[Vector, "two"],
    p: Chance,
    ratio: Positive = 1.0,
) -> float:
    r"""Compute what two features cost that share one number, over all that can happen.

    .. math::
        h = w_1x_1 + w_2x_2, \qquad \hat x_i = \max(w_ih + b_i,\, 0), \qquad
        L = E\,(x_1 - \hat x_1)^2 + r\,E\,(x_2 - \hat x_2)^2

    Each feature is active with chance :math:`p`, independently, and then uniform on [0, 1];
    inactive it is 0.  The integrals are exact: between kinks the integrand is a polynomial.

    Parameters
    ----------
    weights, biases : array_like of shape (2,)
        :math:`w` and :math:`b`.
    p : float
        The chance to be active, from 0 to 1.
    ratio : float
        :math:`r > 0`, how much the second feature matters, the first counting 1.

    Returns
    -------
    float
        :math:`L`.

    Raises
    ------
    ValueError
        When there are not two weights and biases, or a number is out of range.

    References
    ----------
    Elhage et al. (2022), "Toy models of superposition", for the setting.

    Examples
    --------
    >>> round(shared_loss([1, -1], [0, 0], 0.3), 6)  # p²/3: opposite signs fail when both are there
    0.03
    >>> round(shared_loss([1, 0], [0, 0.15], 0.3), 6)  # p/3 − p²/4: one kept, the other's mean
    0.0775
    """
    if len(weights) != 2 or len(biases) != 2:
        raise ValueError(
            f"two features need two weights and two biases, got {len(weights)} and {len(biases)}"
        )
    w, both, one = weights.tolist(), p * p, p * (1 - p)
    total = 0.0
    for i, importance in enumerate((1.0, ratio)):
        own, other, bias = w[i] * w[i], w[0] * w[1], float(biases[i])
        total += importance * (
            both * _error(1, own, other, bias)
            + one * (_error(1, own, 0, bias) + _error(0, other, 0, bias))
            + (1 - p) ** 2 * max(bias, 0) ** 2
        )
    return float(total)


@checked
def sharing_border(ratio: Positive = 1.0) -> float:
    r"""Compute up to which p opposite signs are better than a number for one feature alone.

    .. math::
        (1+r)\,\frac{p^2}{6} < \min(1, r)\Bigl(\frac p3 - \frac{p^2}{4}\Bigr)
        \iff p < \frac{4\min(1, r)}{2(1 + r) + 3\min(1, r)}

    Both sides are particular solutions, :math:`w = (1, -1)` without biases, and one feature kept
    with the other's mean as its bias.  Below the border sharing is better; above it better weights
    for sharing may exist.

    Parameters
    ----------
    ratio : float
        :math:`r > 0`, as in :func:`shared_loss`.

    Returns
    -------
    float
        A chance.

    Examples
    --------
    >>> round(sharing_border(), 4)  # 4/7
    0.5714
    """
    least = min(1.0, ratio)
    return 4 * least / (2 * (1 + ratio) + 3 * least)


@checked
def cosines(vectors: Matrix) -> Float[np.ndarray, " pairs"]:
    r"""Compute the cosine of every pair of vectors.

    Parameters
    ----------
    vectors : array_like of shape (n, d)
        One in each row, none of them 0.

    Returns
    -------
    array of shape (n (n − 1) / 2,)
        For the pairs 01, 02, …, 12, ….

    Raises
    ------
    ValueError
        When there are fewer than two vectors, or one has length 0.

    Examples
    --------
    >>> cosines([[1.0, 0.0], [0.0, 2.0], [3.0, 3.0]]).round(4)
    array([0.    , 0.7071, 0.7071])
    """
    if len(vectors) < 2:
        raise ValueError(f"a pair needs two vectors, got {len(vectors)}")
    parts, _ = scaled(vectors, axis=1)
    if not parts.any(axis=1).all():
        place = int(np.argmin(parts.any(axis=1)))
        raise ValueError(f"vector {place} has length 0 and no direction")
    unit = parts / np.linalg.norm(parts, axis=1)[:, None]
    return (unit @ unit.T).clip(-1, 1)[np.triu_indices(len(unit), 1)]


@checked
def welch_bound(n: Count, d: Count) -> float:
    r"""Compute the least root mean square cosine of n directions in d dimensions.

    .. math:: \sqrt{\frac{n - d}{d\,(n - 1)}}

    The largest cosine is at least that, too.  Equality holds exactly for tight frames.

    Parameters
    ----------
    n, d : int
        How many directions, in how many dimensions.

    Returns
    -------
    float
        The bound; 0 where the directions fit at right angles, :math:`n \le d`.

    References
    ----------
    Welch (1974).

    Examples
    --------
    >>> welch_bound(3, 2)  # three in the plane, 120 degrees apart
    0.5
    >>> round(welch_bound(1024, 128), 4)
    0.0827
    """
    return math.sqrt((n - d) / (d * (n - 1))) if n > d else 0.0


@checked
def directions_within(epsilon: Annotated[float, number], d: Count) -> int:
    r"""Compute how many directions surely fit with all cosines at most :math:`\epsilon` in size.

    .. math:: P\bigl(|\cos| > \epsilon\bigr) \le 2\,e^{-d\epsilon^2/2}
              \quad\Rightarrow\quad n = \bigl\lfloor e^{d\epsilon^2/4} \bigr\rfloor

    The even moments of a cosine of two random directions are no larger than those of a normal
    variable of variance 1/d, so that Markov's inequality gives its bound; and n random directions
    have fewer than :math:`n^2/2` pairs, so that the chance of a pair beyond
    :math:`\epsilon` is below :math:`n^2e^{-d\epsilon^2/2} \le 1`, and some draw has none.

    Parameters
    ----------
    epsilon : float
        :math:`\epsilon`, between 0 and 1.
    d : int
        The dimensions.

    Returns
    -------
    int
        n; more may fit, fewer do not follow.

    Raises
    ------
    ValueError
        When :math:`\epsilon` is not between 0 and 1.

    Examples
    --------
    >>> directions_within(0.5, 128)
    2980
    """
    if not 0 < epsilon < 1:
        raise ValueError(f"epsilon must lie between 0 and 1, got {epsilon}")
    return math.floor(math.exp(d * epsilon**2 / 4))


@checked
def illusion(before: Number, after: Number) -> tuple[float, float, float]:
    r"""Patch along a direction that wakes what slept: an output moves that never used the input.

    .. math:: x = (s, 0), \qquad y = x_2, \qquad u = (1, 1)/\sqrt2

    Carried over from a run with s′ is the part along u alone, or the whole vector.

    Parameters
    ----------
    before, after : float
        s of the run that is patched, and s′ of the run that it is patched from.

    Returns
    -------
    tuple of float
        y without a patch, with the part along u, with the whole vector.

    References
    ----------
    Makelov, Lange and Nanda (2023).

    Examples
    --------
    >>> [round(y, 4) for y in illusion(0.0, 2.0)]
    [0.0, 1.0, 0.0]
    """
    here, there = np.array([before, 0.0]), np.array([after, 0.0])
    u = np.array([1.0, 1.0]) / math.sqrt(2)
    along = here + ((there - here) @ u) * u
    return float(here[1]), float(along[1]), float(there[1])
