r"""Replies compared within their group, and what each way of comparing really raises.

With a reward of 0 or 1 every way moves along :math:`w(p)\,\nabla p`, p being the chance to be right
on one question; what it raises is the function whose derivative w is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

import numpy as np
from jaxtyping import Float
from scipy.special import betainc
from scipy.stats import binom
from torch import Tensor

from primer.alignment import grouped
from primer.inputs import Reals, among, checked, count

MOST = 1_000_000
"""Replies of a group: the sums have a term for each."""


def _group_size(name: str, value: object) -> int:
    """Return a whole number from 2 to a million."""
    if (n := count(name, value, at_least=2)) > MOST:
        raise ValueError(f"{name} must be at most {MOST:,}, got {n}")
    return n


GroupSize = Annotated[int, _group_size]
Kind = Annotated[str, among(("leave one out", "mean", "spread"))]


@checked
def group_advantages(
    reward: Float[Tensor, " batch"], group_size: GroupSize, kind: Kind = "leave one out"
) -> Float[Tensor, " batch"]:
    r"""Compare each reply with the others to its question.

    .. math::
        \text{leave one out: } R_i - \frac1{n-1}\sum_{j\ne i} R_j, \qquad
        \text{mean: } R_i - \bar R, \qquad \text{spread: } \frac{R_i - \bar R}{s}

    Parameters
    ----------
    reward : Tensor of shape (batch,)
        The replies to one question stand side by side, which cannot be seen from here.
    group_size : int
        n ≥ 2: a reply alone has nothing to be compared with.
    kind : {"leave one out", "mean", "spread"}
        The first is :math:`\frac n{n-1}` times the second; the third is GRPO's.

    Returns
    -------
    Tensor of shape (batch,)
        Advantages, 0 in groups whose rewards are all equal.

    Raises
    ------
    ValueError
        When the batch is no whole number of groups, the group has one reply, or a reward is no
        finite number.

    References
    ----------
    Kool et al. (2019) for the others as a baseline; Shao et al. (2024) for the
    spread; Liu et al. (2025) for leaving it out.

    Examples
    --------
    >>> import torch
    >>> rewards = torch.tensor([1.0, 0.0, 0.0])
    >>> group_advantages(rewards, 3), group_advantages(rewards, 3, "spread")
    (tensor([ 1.0000, -0.5000, -0.5000]), tensor([ 1.4142, -0.7071, -0.7071]))
    """
    found = grouped(reward, group_size, divide=kind == "spread")
    return found * group_size / (group_size - 1) if kind == "leave one out" else found


def _spread_weight(p: np.ndarray, n: int) -> np.ndarray:
    c = np.arange(1, n)
    chance = binom.pmf(c - 1, n - 2, p[..., None])  # of c right ones, but for n(n−1)p(1−p)/(c(n−c))
    return np.asarray((chance * (n - 1) / np.sqrt(c * (n - c))).sum(-1))


def _spread_goal(p: np.ndarray, n: int) -> np.ndarray:
    c = np.arange(1, n)
    return np.asarray((betainc(c, n - c, p[..., None]) / np.sqrt(c * (n - c))).sum(-1))


def _questions_weight(p: np.ndarray, n: int) -> np.ndarray:
    return np.asarray(((1 - p[..., None]) ** np.arange(n)).sum(-1))


def _questions_goal(p: np.ndarray, n: int) -> np.ndarray:
    j = np.arange(1, n + 1)
    return np.asarray((_some_right(p[..., None], j) / j).sum(-1))


def _some_right(p: np.ndarray, n: int | np.ndarray) -> np.ndarray:
    """Compute 1 − (1 − p)ⁿ, of chances that are hardly 0, too."""
    with np.errstate(divide="ignore"):
        return np.asarray(0.0 - np.expm1(n * np.log1p(-p)))


WEIGHTS: dict[str, tuple[Callable[..., np.ndarray], Callable[..., np.ndarray]]] = {
    "leave one out": (lambda p, n: np.ones_like(p), lambda p, n: p),
    "mean": (lambda p, n: np.full_like(p, 1 - 1 / n), lambda p, n: (1 - 1 / n) * p),
    "spread": (_spread_weight, _spread_goal),
    "solved questions": (_questions_weight, _questions_goal),
    "pass at n": (lambda p, n: n * (1 - p) ** (n - 1), lambda p, n: _some_right(p, n)),
}
"""For each way the weight of ∇p, and its integral from 0."""


def _share(name: str, value: object) -> Float[np.ndarray, "*batch"]:
    """Return chances, from 0 to 1."""
    p = np.asarray(value, dtype=float)
    if not ((p >= 0) & (p <= 1)).all():
        raise ValueError(f"{name} must hold chances from 0 to 1, got {p.min():g} … {p.max():g}")
    return p


@checked
def group_weight(
    p: Reals, n: GroupSize, kind: Annotated[str, among(WEIGHTS)] = "spread"
) -> Float[np.ndarray, "*batch"]:
    r"""Compute the factor of :math:`\nabla p` in the expected step of a group of n replies.

    .. math::
        w_n(p) = \sum_{c=1}^{n-1}\binom nc p^c(1-p)^{n-c}\,\frac{\sqrt{c(n-c)}}{n\,p(1-p)}

    when the spread is divided out; 1 when one reply is left out of its baseline;
    :math:`1-\frac1n` when it is not; :math:`\frac{1-(1-p)^n}{p}` when the right replies are
    imitated and each solved question counts once; :math:`n(1-p)^{n-1}` for pass@n itself.

    Parameters
    ----------
    p : array_like
        Chances to be right, from 0 to 1.
    n : int
        Replies of a group, at least 2.
    kind : {"leave one out", "mean", "spread", "solved questions", "pass at n"}
        How replies are weighed.

    Returns
    -------
    float array with the shape of p
        At 0 and 1 the limit.

    Raises
    ------
    ValueError
        When p is no chance, or n less than 2.

    References
    ----------
    Davis and Recht (2025), for the arcsine and for weights that are polynomials of p.

    Examples
    --------
    >>> group_weight([0.01, 0.5], 2)  # in groups of two the division changes nothing
    array([1., 1.])
    >>> group_weight([0.0, 0.05, 0.5], 16).round(3)  # the first is √15
    array([3.873, 3.267, 1.934])
    """
    return WEIGHTS[kind][0](_share("p", p), n)


@checked
def group_goal(
    p: Reals, n: GroupSize, kind: Annotated[str, among(WEIGHTS)] = "spread"
) -> Float[np.ndarray, "*batch"]:
    r"""Compute what a step along :func:`group_weight` raises: the integral of w from 0 to p.

    .. math::
        G_n(p) = \sum_{c=1}^{n-1} \frac{P(\text{at least } c \text{ of } n-1 \text{ are right})}
                                        {\sqrt{c(n-c)}} \;\longrightarrow\; 2\arcsin\sqrt p

    when the spread is divided out; p, :math:`(1-\frac1n)p`,
    :math:`\sum_{j\le n}\frac{1-(1-p)^j}{j}` and :math:`1-(1-p)^n` for the others.

    Parameters
    ----------
    p, n, kind
        As in :func:`group_weight`.

    Returns
    -------
    float array with the shape of p
        The goal of one question; a training on many raises the mean.

    Raises
    ------
    ValueError
        As :func:`group_weight`.

    References
    ----------
    Davis and Recht (2025), for the arcsine and for weights that are polynomials of p.

    Examples
    --------
    >>> group_goal([0.0, 0.5, 1.0], 3).round(4)  # √2 p
    array([0.    , 0.7071, 1.4142])
    """
    return WEIGHTS[kind][1](_share("p", p), n)


@checked
def dead_share(p: Reals, n: GroupSize) -> Float[np.ndarray, "*batch"]:
    r"""Compute how often a group tells nothing, since its replies are all right or all wrong.

    .. math:: p^n + (1-p)^n

    Parameters
    ----------
    p, n
        As in :func:`group_weight`.

    Returns
    -------
    float array with the shape of p
        Probabilities.

    References
    ----------
    Yu et al. (2025), who draw on until a group tells something.

    Examples
    --------
    >>> dead_share([0.01, 0.2], 16).round(3)
    array([0.851, 0.028])
    """
    chance = _share("p", p)
    return np.asarray(chance**n + (1 - chance) ** n)
