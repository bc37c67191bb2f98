r"""A critic that guesses how a reply will end, and the advantages that are made of its guesses."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Bool, Float
from scipy.special import expit
from torch import Tensor

from primer.inputs import Vector, checked, distribution, number

Tokens = Float[Tensor, "batch reply"]


@checked
def generalized_advantage(
    rewards: Tokens, values: Tokens, mask: Bool[Tensor, "batch reply"], decay: float
) -> Tokens:
    r"""Compute generalized advantages, without discount.

    .. math::
        \delta_t = r_t + V_{t+1} - V_t, \qquad A_t = \sum_{l\ge0} \lambda^l\,\delta_{t+l},
        \qquad V_\text{behind the end} = 0

    With :math:`\lambda = 1` the sum telescopes to the rewards to come less :math:`V_t`: the
    gradient is unbiased whatever the critic says.  With less it is unbiased if V is the true value,
    and in general not otherwise.

    Parameters
    ----------
    rewards, values : Tensor of shape (batch, reply)
        The reward that each token brings, and what the critic expected before it.
    mask : Tensor of bool of shape (batch, reply)
        True up to the end of each reply.
    decay : float
        :math:`\lambda`, from 0 to 1.

    Returns
    -------
    Tensor of shape (batch, reply)
        Advantages, 0 behind the end; added to the values they are what a critic is fitted to.

    Raises
    ------
    ValueError
        When the decay lies outside 0 … 1, a number is not finite, or the mask has a hole.

    References
    ----------
    Schulman et al. (2015).

    Examples
    --------
    >>> rewards, values = torch.tensor([[0.0, 1.0]]), torch.tensor([[0.5, 0.75]])
    >>> mask = torch.ones(1, 2, dtype=torch.bool)
    >>> generalized_advantage(rewards, values, mask, 1.0)
    tensor([[0.5000, 0.2500]])
    >>> generalized_advantage(rewards, values, mask, 0.0)
    tensor([[0.2500, 0.2500]])
    """
    if not 0 <= number("decay", decay) <= 1:
        raise ValueError(f"decay must lie between 0 and 1, got {decay}")
    if bool((mask[:, 1:] & ~mask[:, :-1]).any()):
        row = int((mask[:, 1:] & ~mask[:, :-1]).any(1).nonzero()[0, 0])
        raise ValueError(f"the mask of reply {row} has a hole: it is True up to the end")
    kind = torch.promote_types(rewards.dtype, values.dtype)
    rewards, values = rewards.to(kind), values.to(kind)
    found = torch.zeros_like(values)
    behind = ahead = values.new_zeros(len(values))
    for t in reversed(range(values.shape[1])):
        delta = rewards[:, t] + ahead - values[:, t]
        behind = torch.where(mask[:, t], delta + decay * behind, 0.0)
        ahead = torch.where(mask[:, t], values[:, t], 0.0)
        found[:, t] = behind
    return found


class Estimate(NamedTuple):
    """What an estimator of a gradient does on average.

    Attributes
    ----------
    mean : array of shape (3,)
        Its expectation.
    bias : float
        The length of what its expectation misses of the gradient.
    variance : float
        The sum of the variances of its entries, for one draw.
    """

    mean: Float[np.ndarray, " 3"]
    bias: float
    variance: float


class TwoPresses:
    r"""A world small enough to enumerate: two presses, each 0 or 1, right if both are equal.

    Parameters
    ----------
    logits : sequence of three floats
        Of pressing 1 at first, and second after a 0 and after a 1.

    Examples
    --------
    >>> world = TwoPresses([0.4, -0.3, 0.8])
    >>> world.gradient.round(4)
    array([ 0.0278, -0.0981,  0.1281])
    >>> wrong = world.estimate([0.9, 0.1, 0.7], decay=0.5)
    >>> round(wrong.bias, 4), round(wrong.variance, 3)
    (0.0582, 0.111)
    """

    @checked
    def __init__(self, logits: Vector) -> None:
        if len(logits) != 3:
            raise ValueError(f"logits must be three numbers, got {len(logits)}")
        one = expit(logits)
        self.one = one
        first, second = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])
        reached = np.stack([first == first, first == 0, first == 1], axis=1)  # which logits acted
        press = np.stack([first, second, second], axis=1)
        chosen = np.where(press == 1, one, 1 - one)
        self.probabilities = np.where(reached, chosen, 1).prod(axis=1)
        distribution("probabilities", self.probabilities)
        self.scores = np.where(reached, press - one, 0.0)  # ∇ log π, entry by entry
        self.reward = (first == second).astype(float)
        self.first = first

    @property
    def values(self) -> Float[np.ndarray, " 3"]:
        """The true chances to end right: at first, after a 0, after a 1."""
        after = np.array([1 - self.one[1], self.one[2]])
        return np.array([(1 - self.one[0]) * after[0] + self.one[0] * after[1], *after])

    @property
    def gradient(self) -> Float[np.ndarray, " 3"]:
        """The exact gradient of the chance to be right."""
        return np.asarray((self.probabilities * self.reward) @ self.scores)

    @checked
    def estimate(self, values: Vector, decay: float) -> Estimate:
        r"""Average the policy gradient with generalized advantages over all four replies.

        Parameters
        ----------
        values : sequence of three floats
            What a critic says: at first, after a 0, after a 1.
        decay : float
            :math:`\lambda`.

        Returns
        -------
        Estimate
            Exact.

        References
        ----------
        Schulman et al. (2015).
        """
        if len(values) != 3:
            raise ValueError(f"values must be three numbers, got {len(values)}")
        said = np.stack([np.full(4, values[0]), values[1 + self.first]], axis=1)
        rewards = np.stack([np.zeros(4), self.reward], axis=1)
        both = torch.ones(4, 2, dtype=torch.bool)
        found = generalized_advantage(
            torch.from_numpy(rewards), torch.from_numpy(said), both, decay
        ).numpy()
        draws = self.scores * found[:, [0, 1, 1]]
        mean = self.probabilities @ draws
        variance = self.probabilities @ ((draws - mean) ** 2).sum(axis=1)
        return Estimate(mean, float(np.linalg.norm(mean - self.gradient)), float(variance))
