r"""A mean of what comes in clusters: its error, and how much wider the clusters make it."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float, Int
from numpy.typing import ArrayLike

from primer.inputs import checked, not_negative, number, probability, vector
from primer.inputs.labels import labels
from primer.inputs.magnitude import TINY, scaled
from primer.scoreboard.errors import mean_by_scene
from primer.statistics import t_cdf, t_quantile

Clusters = Sequence[Any] | np.ndarray
"""What each value belongs to: whole numbers or names, equal for values that belong together."""


class ClusteredMean(NamedTuple):
    r"""A mean, and how sure it is when whole clusters were drawn.

    Attributes
    ----------
    mean : float
        The mean :math:`m`.
    error : float
        Its standard error.
    clusters : int
        Their number :math:`G`; t has :math:`G - 1` degrees of freedom.
    """

    mean: float
    error: float
    clusters: int

    @property
    def p_value(self) -> float:
        """The two-sided p-value of the hypothesis that the mean is 0; 1 where nothing varies at 0.

        Examples
        --------
        >>> round(ClusteredMean(0.0009, 0.0008, 71).p_value, 3)
        0.264
        """
        if not_negative("error", self.error) == 0:
            return float(self.mean == 0)
        away = min(abs(self.mean) / self.error, sys.float_info.max)
        return float(2 * t_cdf(-away, self._degrees))

    @property
    def _degrees(self) -> int:
        """Of t."""
        if self.clusters < 2:
            raise ValueError(f"an error needs at least two clusters, got {self.clusters}")
        return self.clusters - 1

    @checked
    def interval(self, level: float = 0.95) -> tuple[float, float]:
        r"""Return :math:`m \pm t_{G-1}\,\mathrm{se}`.

        Examples
        --------
        >>> low, high = ClusteredMean(2.0, 0.1, 4).interval()  # 3.18 errors, not 1.96
        >>> round(low, 3), round(high, 3)
        (1.682, 2.318)
        """
        tail = (1 - probability("level", level)) / 2  # which is exact, as 1 less it is not
        reach = -not_negative("error", self.error) * t_quantile(tail, self._degrees)
        return self.mean - reach, self.mean + reach


@checked
def clustered_mean(
    values: ArrayLike, clusters: Clusters, weights: ArrayLike | None = None
) -> ClusteredMean:
    r"""Compute a weighted mean and its standard error, with clusters as what is independent.

    .. math::
        m = \frac{\sum_g B_g}{N}, \qquad
        \mathrm{se}^2 = \frac{G}{G-1}\,\frac{\sum_g (B_g - mN_g)^2}{N^2}

    with :math:`B_g = \sum_{i\in g} w_ix_i`, :math:`N_g = \sum_{i\in g} w_i` and
    :math:`N = \sum_g N_g`.  Nothing is assumed of what happens inside a cluster.

    Parameters
    ----------
    values : array_like of shape (n,)
        :math:`x_i`; for two models on one test their differences.
    clusters : sequence of n whole numbers or names
        Equal for values that belong together.
    weights : array_like of shape (n,), optional
        :math:`w_i > 0`, for example lengths; left out, all are 1.

    Returns
    -------
    ClusteredMean
        Mean, error, and the number of clusters.

    Raises
    ------
    ValueError
        When lengths differ, a number is not finite, a weight is not above 0, or there is one
        cluster only: it has no neighbor to differ from.

    References
    ----------
    Liang and Zeger (1986); Cameron and Miller (2015); Miller (2024) for benchmarks.

    Examples
    --------
    >>> clustered_mean([1.0, 1.0, 0.0, 0.0], ["a", "a", "b", "b"])  # two clusters, 1 and 0
    ClusteredMean(mean=0.5, error=0.5, clusters=2)
    >>> round(clustered_mean([1.0, 1.0, 0.0, 0.0], range(4)).error, 4)  # s / √n
    0.2887
    """
    x, unit = scaled(vector("values", values))
    common = np.sort(x)[len(x) // 2]  # which would hide digits of the differences
    w = np.ones(len(x)) if weights is None else vector("weights", weights, len(x))
    if not (w > 0).all():
        place = int(np.argmin(w > 0))
        raise ValueError(f"weights must be above 0, got {w[place]:g} at [{place}]")
    if w.min() / w.max() < TINY:
        raise ValueError(f"weights must not differ so much, got {w.min():g} … {w.max():g}")
    places, (w, _) = _places(clusters, len(x)), scaled(w)
    totals = np.bincount(places, w)
    sums = _sums_of_differences(places, w, x, common)
    # mean and error do not change when both are divided by the same number
    mean, error = mean_by_scene(sums / totals.min(), totals / totals.min())
    return ClusteredMean(float(unit * (common + mean)), unit * error, len(sums))


@checked
def intraclass_correlation(values: ArrayLike, clusters: Clusters) -> float:
    r"""Estimate how alike two values of one cluster are, by analysis of variance.

    .. math::
        \hat\rho = \frac{M_b - M_w}{M_b + (\tilde n - 1)M_w}, \qquad
        \tilde n = \frac{1}{G-1}\Big(n - \frac{\sum_g n_g^2}{n}\Big)

    with the mean squares :math:`M_b` between clusters and :math:`M_w` within them.

    Parameters
    ----------
    values, clusters
        As in :func:`clustered_mean`; at least one cluster needs two values.

    Returns
    -------
    float
        :math:`\hat\rho`; it may come out below 0.

    Raises
    ------
    ValueError
        When there are fewer than two clusters, all hold one value each, or all values are equal.

    References
    ----------
    Donner (1986), the estimator by analysis of variance.

    Examples
    --------
    >>> intraclass_correlation([3.0, 3.0, 5.0, 5.0, 8.0, 8.0], [0, 0, 1, 1, 2, 2])
    1.0
    """
    x, _ = scaled(vector("values", values))
    x -= x[0]  # so that a common offset hides no digits
    places = _places(clusters, len(x))
    sizes = np.bincount(places).astype(np.int64)  # whose squares are added
    groups, n = len(sizes), len(x)
    if groups == n:
        raise ValueError("each cluster holds one value: nothing says how alike two of one are")
    means = np.bincount(places, x) / sizes
    between = sizes @ (means - x.mean()) ** 2 / (groups - 1)
    within = np.square(x - means[places]).sum() / (n - groups)
    if between == within == 0:
        raise ValueError("all values are equal, which says nothing of how alike clusters are")
    size = (n - sizes @ sizes / n) / (groups - 1)
    return float((between - within) / (between + (size - 1) * within))


@checked
def design_effect(sizes: Sequence[int] | Int[np.ndarray, " clusters"], correlation: float) -> float:
    r"""Compute by what clusters multiply the variance of a mean.

    .. math:: 1 + \rho\,\Big(\frac{\sum_g n_g^2}{n} - 1\Big)

    when any two values of one cluster have the correlation :math:`\rho` and all the same variance.
    For clusters of one size :math:`m` this is :math:`1 + (m - 1)\rho`.

    Parameters
    ----------
    sizes : sequence of int
        :math:`n_g`, how many values each cluster holds.
    correlation : float
        :math:`\rho`, at most 1.

    Returns
    -------
    float
        The factor; :math:`n` divided by it is the *effective* number of values.

    Raises
    ------
    ValueError
        When there is no cluster, a size is below 1, the correlation is above 1, or it is so far
        below 0 that a variance would be negative.

    References
    ----------
    Kish (1965).

    Examples
    --------
    >>> round(design_effect([20] * 30, 0.1), 6)  # 600 questions on 30 passages tell like 207
    2.9
    """
    n = vector("sizes", sizes)
    if not ((n >= 1) & (n % 1 == 0)).all():
        raise ValueError(f"sizes must be whole numbers from 1 on, got {n.min():g}")
    rho, largest = number("correlation", correlation), n.max()
    if rho > 1 or 1 + (largest - 1) * rho < 0:
        low = -1 / (largest - 1) if largest > 1 else -math.inf
        raise ValueError(
            f"correlation must lie between {low:.3g} and 1 for clusters of up to {largest:g}, "
            f"got {rho:g}"
        )
    return float(1 + rho * (n @ n / n.sum() - 1))


def _sums_of_differences(
    places: Int[np.ndarray, " n"],
    w: Float[np.ndarray, " n"],
    x: Float[np.ndarray, " n"],
    common: float,
) -> Float[np.ndarray, " clusters"]:
    """Add up w (x − common) in each cluster, also where large values cancel and small ones stay."""
    left = x - common
    back = x - left
    lost = (x - (left + back)) + (back - common)  # by the rounding of the difference
    order = np.argsort(places, kind="stable")
    ends = np.cumsum(np.bincount(places)).tolist()
    main, rest = (w * left)[order].tolist(), (w * lost)[order].tolist()
    pieces = pairwise([0, *ends])
    return np.array([math.fsum(main[a:b] + rest[a:b]) for a, b in pieces])


def _places(clusters: Clusters, n: int) -> Int[np.ndarray, " n"]:
    """Give each cluster a number from 0 on."""
    names = labels("clusters", clusters)
    if len(names) != n:
        raise ValueError(
            f"clusters must name one cluster for each of {n} values, got {len(names)} of them"
        )
    if any(isinstance(name, float) and not name.is_integer() for name in names):
        raise ValueError("clusters must be whole numbers or names, got fractions or infinity")
    found = {name: place for place, name in enumerate(sorted({*names}))}
    if len(found) < 2:
        raise ValueError(
            f"an error needs at least two clusters, got {len(found)}: one alone shows no spread"
        )
    return np.array([found[name] for name in names])
