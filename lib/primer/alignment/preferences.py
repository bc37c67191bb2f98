"""From comparisons to a reward: the Bradley–Terry model with intervals, a rater, a loss."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from scipy.optimize import linprog
from scipy.special import expit, log_expit
from torch import Tensor
from torch.nn.functional import logsigmoid

from primer.inputs import (
    Matrix,
    NotNegative,
    Positive,
    Reals,
    checked,
    checked_fields,
    number,
    positive,
)
from primer.inputs.given import given
from primer.inputs.hints import is_function


@checked_fields
@dataclass(frozen=True)
class PreferenceFit:
    """Rewards fitted to comparisons, and how sure they are.

    Attributes
    ----------
    weights : array of shape (n,)
        The reward of each item, or the weight of each feature.
    covariance : array of shape (n, n)
        The inverse of the information that the comparisons hold about them.
    loss : float
        The mean loss per comparison, in nats; a coin has log 2.
    """

    weights: Float[np.ndarray, " n"]
    covariance: Float[np.ndarray, "n n"]
    loss: float

    @checked
    def intervals(self, z: Positive = 1.96) -> Float[np.ndarray, "n 2"]:
        r"""Return :math:`\hat w \pm z\,\mathrm{se}(\hat w)` for each weight, 95 % by default."""
        reach = z * np.sqrt(np.diag(self.covariance))
        return np.stack([self.weights - reach, self.weights + reach], axis=1)

    @checked
    def __call__(self, features: Reals) -> Float[np.ndarray, "..."]:
        """Return the reward of rows of features."""
        if features.shape[-1:] != self.weights.shape:
            raise ValueError(
                f"features need {len(self.weights)} numbers for each reply, as the comparisons "
                f"had, got shape {features.shape}"
            )
        return np.asarray(features @ self.weights)


@checked
def fit_preferences(differences: Matrix, *, prior: NotNegative = 0.0) -> PreferenceFit:
    r"""Fit a linear reward to comparisons, as Bradley and Terry do.

    .. math::
        P(a \succ b) = \sigma\bigl(w(x_a - x_b)^\top\bigr), \qquad
        \hat w = \arg\min_w -\sum_i \log\sigma(w\,\Delta_i^\top) + \tfrac\lambda2 \lVert w\rVert^2

    by Newton's method; the information is
    :math:`\sum_i P_i(1-P_i)\,\Delta_i^\top\Delta_i + \lambda I`.

    Parameters
    ----------
    differences : array_like of shape (comparisons, features)
        :math:`\Delta`: features of the chosen one less those of the rejected one.
    prior : float
        :math:`\lambda \ge 0`; with 0 this is maximum likelihood, with more the weights have a
        normal prior of variance :math:`1/\lambda`.

    Returns
    -------
    PreferenceFit
        Weights, covariance and loss.

    Raises
    ------
    ValueError
        When there is no comparison, the chosen ones can be separated without error (the likelihood
        then rises for ever) or some weight is not determined; a prior mends both.

    References
    ----------
    Bradley and Terry (1952); Hunter (2004) for when a maximum exists.

    Examples
    --------
    >>> fit = fit_preferences([[1.0], [1.0], [1.0], [-1.0]])  # one feature; three wins of four
    >>> fit.weights.round(4), round(float(np.log(3)), 4)
    (array([1.0986]), 1.0986)
    """
    delta = differences
    sizes = np.abs(delta).max(axis=0)  # features may be measured in any unit
    if prior == 0 and np.linalg.matrix_rank(delta / np.where(sizes > 0, sizes, 1)) < len(sizes):
        raise ValueError(
            "the comparisons do not determine every weight: some combination of features never "
            "differs between chosen and rejected; leave a feature out or give a prior above 0"
        )
    weights, covariance = _newton(delta, prior)
    return PreferenceFit(weights, covariance, float(-log_expit(delta @ weights).mean()))


@checked
def fit_scores(wins: Matrix, *, prior: NotNegative = 0.0) -> PreferenceFit:
    r"""Fit one score to each item from a table of who beat whom.

    .. math:: P(i \succ j) = \sigma(s_i - s_j), \qquad \sum_i s_i = 0

    The likelihood sees differences only, so the sum is set to 0, and the intervals are those of
    scores with that sum.

    Parameters
    ----------
    wins : array_like of shape (items, items)
        Entry (i, j): how often i was preferred to j.
    prior : float
        As in :func:`fit_preferences`.

    Returns
    -------
    PreferenceFit
        Its weights are the scores.

    Raises
    ------
    ValueError
        When the table is not square, holds what is no number of wins, is empty, or has no finite
        maximum: when the items fall into two groups of which one never loses to the other.

    References
    ----------
    Bradley and Terry (1952).

    Examples
    --------
    >>> fit_scores([[0, 3], [1, 0]]).weights.round(3)  # ± log(3) / 2
    array([ 0.549, -0.549])
    """
    if wins.shape[0] != wins.shape[1]:
        raise ValueError(f"wins must be a square table, got shape {wins.shape}")
    if (wins < 0).any() or (wins % 1 != 0).any():
        raise ValueError("wins must hold whole numbers, 0 or larger: how often i beat j")
    if not (wins - np.diag(np.diag(wins))).any():
        raise ValueError("the preference set is empty: no item was ever preferred to another")
    items = len(wins)
    winners, losers = np.nonzero(wins - np.diag(np.diag(wins)))
    times = wins[winners, losers]
    delta = np.eye(items)[winners] - np.eye(items)[losers]
    if prior == 0 and np.linalg.matrix_rank(delta) < items - 1:
        raise ValueError(
            "some items were never compared, not even by way of others: compare them or give a "
            "prior above 0"
        )
    weights, covariance = _newton(delta, prior, times)
    weights = weights - weights.mean()
    loss = float(-(times * log_expit(delta @ weights)).sum() / times.sum())
    return PreferenceFit(weights, covariance, loss)


def _separable(delta: Float[np.ndarray, "comparisons n"]) -> bool:
    """Say whether some weights give every chosen one at least as much, and one of them more."""
    best = linprog(-delta.sum(0), A_ub=-delta, b_ub=np.zeros(len(delta)), bounds=(-1, 1))
    return best.status == 0 and -best.fun > 1e-9


def _newton(
    delta: Float[np.ndarray, "comparisons n"],
    prior: float,
    times: Float[np.ndarray, " comparisons"] | None = None,
) -> tuple[Float[np.ndarray, " n"], Float[np.ndarray, "n n"]]:
    """Minimize the loss, halving a step that would raise it; return weights and covariance."""
    times = np.ones(len(delta)) if times is None else times
    # In units in which every feature is of size 1 steps are small when they change little.
    largest = np.abs(delta).max(axis=0)
    if ((largest > 0) & ((largest < 1e-100) | (largest > 1e100))).any():
        raise ValueError(
            "the differences of a feature lie beyond 1e±100, where their squares leave "
            "floating-point numbers: measure it in other units"
        )
    units = np.exp2(np.frexp(np.where(largest > 0, largest, 1))[1])
    units = np.maximum(units, 1.0) if prior else units
    weights, covariance = _newton_in_units(delta / units, prior / units**2, times)
    return weights / units, covariance / np.outer(units, units)


def _newton_in_units(
    delta: Float[np.ndarray, "comparisons n"],
    prior: Float[np.ndarray, " n"],
    times: Float[np.ndarray, " comparisons"],
) -> tuple[Float[np.ndarray, " n"], Float[np.ndarray, "n n"]]:
    """Minimize the loss of differences whose largest are of size 1."""

    def loss(w: np.ndarray) -> float:
        return float(-(times * log_expit(delta @ w)).sum() + prior @ w**2 / 2)

    weights = np.zeros(delta.shape[1])
    for _ in range(100):
        p = expit(delta @ weights)
        gradient = delta.T @ (times * (p - 1)) + prior * weights
        information = (delta.T * (times * p * (1 - p))) @ delta + np.diag(prior)
        covariance = np.linalg.pinv(information, hermitian=True)
        step = covariance @ gradient
        while loss(weights - step) > loss(weights) + 1e-12 and np.abs(step).max() > 1e-12:
            step = step / 2
        weights = weights - step
        if np.abs(step).max() < 1e-11:
            break
    if not prior.any() and np.abs(delta @ weights).max() > 15 and _separable(delta):
        raise ValueError(
            "the comparisons are perfectly separable: some reward agrees with every one of them, "
            "larger rewards agree more, and there is no best; give a prior above 0 or compare more"
        )
    return weights, covariance


@checked
def preference_loss(
    chosen: Float[Tensor, " batch"], rejected: Float[Tensor, " batch"]
) -> Float[Tensor, ""]:
    r"""Compute the loss of a reward model on pairs.

    .. math:: J_{RM} = -\mathbb E\,\log\sigma\bigl(R(y_w) - R(y_l)\bigr)

    Parameters
    ----------
    chosen, rejected : Tensor of shape (batch,)
        Rewards of the preferred and of the other replies.

    Returns
    -------
    Tensor
        In nats per comparison.

    Raises
    ------
    ValueError
        When there is no pair, or the two are not of one shape.

    References
    ----------
    Bradley and Terry (1952); Ouyang et al. (2022), equation 1.

    Examples
    --------
    >>> import torch
    >>> preference_loss(torch.tensor([2.0]), torch.tensor([2.0]))  # log 2
    tensor(0.6931)
    """
    if chosen.shape != rejected.shape or chosen.numel() == 0:
        raise ValueError(
            "chosen and rejected must hold one reward for each of at least one pair, "
            f"got shapes {tuple(chosen.shape)} and {tuple(rejected.shape)}"
        )
    return -logsigmoid(chosen - rejected).mean()


@dataclass
class Rater:
    r"""Somebody whose wish is known, and who errs.

    .. math:: P(a \succ b) = \sigma\bigl(\kappa\,(u(a) - u(b))\bigr)

    Attributes
    ----------
    wish : callable
        :math:`u`, what one reply is worth.
    decisiveness : float
        :math:`\kappa > 0`: a difference of 1 is seen right with probability :math:`\sigma(\kappa)`.

    Examples
    --------
    >>> rater = Rater(len, decisiveness=50.0)  # likes long replies and hardly errs
    >>> rater.prefers(["a", "much longer"], ["bcd", "short"], np.random.default_rng(0))
    array([False,  True])
    """

    wish: Callable[[str], float]
    decisiveness: float = 1.0

    def __post_init__(self) -> None:
        """Refuse a rater who prefers at random or against the wish."""
        positive("decisiveness", self.decisiveness)
        if not is_function(self.wish, ("a reply",)):
            raise ValueError(f"wish must be a function of a reply, got {given(self.wish)}")

    @checked
    def prefers(self, first: list[str], second: list[str], rng: np.random.Generator) -> np.ndarray:
        """Return for each pair whether the first is preferred; ties are settled by a coin."""
        if len(first) != len(second) or not first:
            raise ValueError(
                f"each reply needs one to be compared with, got {len(first)} and {len(second)}"
            )
        wish = [number("the rater's wish", self.wish(text)) for text in (*first, *second)]
        worth = np.subtract(wish[: len(first)], wish[len(first) :])
        return rng.random(len(worth)) < expit(self.decisiveness * worth)
