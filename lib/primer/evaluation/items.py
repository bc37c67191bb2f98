r"""How hard a question is, and how well it tells apart who can from who cannot: item response."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike
from scipy import optimize, special

from primer.inputs import as_array

SPREAD = (0.5, 2.0)
"""How far, by the prior, the log of a discrimination and a difficulty lie from 0."""


class ItemFit(NamedTuple):
    """What is known of questions and of those who answered them.

    Attributes
    ----------
    difficulty : array of shape (items,)
        The ability with which a question is answered rightly half of the time; the abilities of
        all readers have mean 0 and variance 1.
    discrimination : array of shape (items,)
        How steeply the probability rises there, as a multiple of 1 per unit of ability.
    ability : array of shape (readers,)
        Of each reader the mean of what the answers leave open.
    """

    difficulty: Float[np.ndarray, " items"]
    discrimination: Float[np.ndarray, " items"]
    ability: Float[np.ndarray, " readers"]


def fit_items(right: ArrayLike) -> ItemFit:
    r"""Fit the two-parameter model of item response, by its marginal likelihood and a prior.

    .. math:: P(\text{reader } r \text{ answers } i) = \sigma\bigl(a_i(\theta_r - b_i)\bigr),
        \qquad \theta_r \sim \mathcal N(0, 1)

    The abilities :math:`\theta` are integrated over; the prior has :math:`\log a_i \sim
    \mathcal N(0, 0.5^2)` and :math:`b_i \sim \mathcal N(0, 2^2)`, so that a question that
    everybody solved is easy, not infinitely easy.

    Parameters
    ----------
    right : array_like of shape (readers, items)
        1 for a right answer, 0 for a wrong one, NaN for none.

    Returns
    -------
    ItemFit
        Difficulty and discrimination of each item, ability of each reader.

    Raises
    ------
    ValueError
        When an answer is none of these, when there are fewer than two readers, or when nobody
        answered an item.

    References
    ----------
    Birnbaum, 1968, in Lord and Novick, *Statistical Theories of Mental Test Scores*;
    Bock and Aitkin, 1981, `doi:10.1007/BF02293801 <https://doi.org/10.1007/BF02293801>`_.

    Examples
    --------
    >>> fit = fit_items([[1, 0], [1, 0], [1, 1], [0, 0]])
    >>> fit.difficulty.round(1).tolist()  # the second item was answered by the best reader only
    [-0.9, 0.9]
    >>> int(fit.ability.argmax())
    2
    """
    table = as_array("right", right)
    if table.dtype.kind not in "biuf":
        raise ValueError(f"right must be numbers, got {table.dtype}; NaN stands for no answer")
    table = table.astype(float)
    if table.ndim != 2 or table.shape[0] < 2 or table.shape[1] < 1:
        raise ValueError(
            "right must be a table with two readers or more and an item or more, got shape "
            f"{table.shape}"
        )
    given = ~np.isnan(table)
    if not np.isin(table[given], (0, 1)).all():
        raise ValueError("an answer must be 1, 0 or NaN where there is none")
    if not given.any(axis=0).all():
        raise ValueError(f"nobody answered item {int(np.argmin(given.any(axis=0)))}: leave it out")
    answers = np.where(given, table, 0.0)
    nodes, weights = np.polynomial.hermite_e.hermegauss(41)
    log_weights = np.log(weights / weights.sum())

    def posterior(
        slope: np.ndarray, difficulty: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, float]:
        """Return of each item the probabilities, of each reader the weights, at the nodes."""
        logits = slope * (nodes[:, None] - difficulty)  # nodes × items
        likelihood = answers @ logits.T + given @ special.log_expit(-logits).T + log_weights
        total = special.logsumexp(likelihood, axis=1)
        return special.expit(logits), np.exp(likelihood - total[:, None]), float(total.sum())

    def cost(parameters: np.ndarray) -> tuple[float, np.ndarray]:
        """Return what is to be made small, and its gradient, by Fisher's identity."""
        steepness, difficulty = np.split(parameters, 2)
        slope = np.exp(steepness)
        probability, weight, likelihood = posterior(slope, difficulty)
        # expected right answers less those that the model predicts: nodes × items
        surplus = weight.T @ answers - (weight.T @ given) * probability
        prior = steepness / SPREAD[0] ** 2, difficulty / SPREAD[1] ** 2
        by_steepness = slope * np.sum((nodes[:, None] - difficulty) * surplus, axis=0)
        gradient = [prior[0] - by_steepness, prior[1] + slope * surplus.sum(axis=0)]
        value = (prior[0] @ steepness + prior[1] @ difficulty) / 2 - likelihood
        return float(value), np.concatenate(gradient)

    start = np.zeros(2 * table.shape[1])
    found = optimize.minimize(cost, start, jac=True, method="L-BFGS-B", options={"maxiter": 1000})
    steepness, difficulty = np.split(found.x, 2)
    slope = np.exp(steepness)
    return ItemFit(difficulty, slope, posterior(slope, difficulty)[1] @ nodes)
