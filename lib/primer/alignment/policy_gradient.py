"""The gradient of an expected reward: exact, from samples, with baselines, clipped."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Bool, Float
from torch import Tensor

from primer.inputs import Count, Positive, checked, distribution, positive, real, tensor

Rewards = Float[Tensor, " batch"]
Tokens = Float[Tensor, "batch reply"]


@checked
def policy_gradient(
    probabilities: Float[Tensor, " n"], reward: Float[Tensor, " n"]
) -> Float[Tensor, " n"]:
    r"""Compute the gradient of the expected reward with respect to the logits.

    .. math:: \frac{\partial}{\partial\theta_i}\,\mathbb E_\pi R = \pi_i\,(R_i - \mathbb E_\pi R)

    Parameters
    ----------
    probabilities, reward : Tensor of shape (n,)
        :math:`\pi = \operatorname{softmax}(\theta)` and the reward of each outcome.

    Returns
    -------
    Tensor of shape (n,)
        It adds up to 0, and a constant added to all rewards does not change it.

    References
    ----------
    Williams (1992); Sutton and Barto (2018), section 2.8.

    Examples
    --------
    >>> policy_gradient(torch.tensor([0.2, 0.5, 0.3]), torch.tensor([1.0, 2.0, 3.0]))
    tensor([-0.2200, -0.0500,  0.2700])
    """
    distribution("probabilities", probabilities)
    apart = reward - reward[0]  # exact where a common offset would hide digits of the mean
    return probabilities * (apart - probabilities @ apart)


class GradientSamples(NamedTuple):
    """One estimate of the gradient of :math:`E f(x)` from each draw.

    Attributes
    ----------
    score : array of shape (draws, n)
        Uses values of f only.
    path : array of shape (draws, n)
        Uses the gradient of f.
    """

    score: np.ndarray
    path: np.ndarray


@checked
def gaussian_gradients(
    f: Callable[[np.ndarray], np.ndarray],
    slope: Callable[[np.ndarray], np.ndarray],
    mean: Float[np.ndarray, " n"],
    deviation: Positive,
    noise: Float[np.ndarray, "draws n"],
) -> GradientSamples:
    r"""Estimate :math:`\nabla_\mu\,\mathbb E f(x)`, :math:`x \sim N(\mu, \sigma^2 I)`, in two ways.

    .. math::
        \text{score: } \frac{x - \mu}{\sigma^2} f(x), \qquad
        \text{path: } \nabla_\mu g(z, \mu)\,\nabla f(x) = \nabla f(x), \quad
        x = g(z, \mu) = \mu + \sigma z

    Parameters
    ----------
    f, slope : callable
        Take points of shape (draws, n); return values of shape (draws,) and gradients of shape
        (draws, n).
    mean : array of shape (n,)
        :math:`\mu`.
    deviation : float
        :math:`\sigma > 0`.
    noise : array of shape (draws, n)
        Standard normal draws :math:`z`.

    Returns
    -------
    GradientSamples
        Both have the same mean.

    References
    ----------
    Williams (1992) for the score; Kingma and Welling (2014) for the path.

    Examples
    --------
    >>> z = np.array([[1.0], [-1.0]])
    >>> both = gaussian_gradients(lambda x: x[:, 0] ** 2, lambda x: 2 * x, np.ones(1), 1.0, z)
    >>> float(both.score.mean()), float(both.path.mean())
    (2.0, 2.0)
    """
    x = mean + deviation * noise
    values, slopes = real("the result of f", f(x)), real("the result of slope", slope(x))
    if values.shape != x.shape[:1] or slopes.shape != x.shape:
        raise ValueError(
            f"f must return a number for each of {len(x)} draws and slope one for each entry of "
            f"{x.shape}, got shapes {values.shape} and {slopes.shape}"
        )
    return GradientSamples(noise / deviation * values[:, None], slopes)


@checked
def centered(reward: Rewards) -> Rewards:
    """Subtract the mean of the batch, a baseline of which each reply is itself a small part.

    Examples
    --------
    >>> centered(torch.tensor([1.0, 2.0, 6.0]))
    tensor([-2., -1.,  3.])
    """
    apart, unit = _apart(_some(reward))
    return (apart * unit).to(reward.dtype)


@checked
def whitened(reward: Rewards) -> Rewards:
    r"""Subtract the mean of the batch and divide by its spread: :math:`(R - \bar R)/s`.

    The spread is the population's, as in :func:`grouped`: the squares of what comes out have the
    mean 1.  Rewards that are all equal have no spread; their advantages are 0.

    Examples
    --------
    >>> whitened(torch.tensor([1.0, 3.0]))
    tensor([-1.,  1.])
    """
    return grouped(_some(reward), len(reward))


def _some(reward: Rewards) -> Rewards:
    """Return rewards, if there is one."""
    if len(reward) == 0:
        raise ValueError("there is no reward to compare: give at least one")
    return reward


def _apart(table: Float[Tensor, "... n"]) -> tuple[Float[Tensor, "... n"], Tensor]:
    """Take the mean of each row off, in a unit in which no sum overflows or loses an offset.

    Returns double precision, and the unit, a power of two.
    """
    largest = table.detach().abs().amax(-1, keepdim=True).double()
    unit = torch.where(largest > 0, (largest.frexp().exponent.double() - 1).exp2(), 1.0)
    rows = table.double() / unit
    rows = rows - rows[..., :1].detach()
    return rows - rows.mean(-1, keepdim=True), unit


@checked
def leave_one_out(reward: Rewards) -> Rewards:
    r"""Subtract from each reward the mean of the *others*, which owes it nothing.

    .. math:: A_i = R_i - \frac1{m-1}\sum_{j\ne i} R_j = \frac{m}{m-1}\,(R_i - \bar R)

    Parameters
    ----------
    reward : Tensor of shape (batch,)
        At least two rewards.

    Returns
    -------
    Tensor of shape (batch,)
        Advantages whose policy gradient is unbiased.

    Raises
    ------
    ValueError
        When there is one reward: it has no others.

    References
    ----------
    Ahmadian et al. (2024), equation 6.

    Examples
    --------
    >>> leave_one_out(torch.tensor([1.0, 2.0, 6.0]))
    tensor([-3.0000, -1.5000,  4.5000])
    """
    if len(reward) < 2:
        raise ValueError("leave_one_out needs at least two rewards: one reply has no others")
    apart, unit = _apart(reward)
    return (apart * (len(reward) / (len(reward) - 1)) * unit).to(reward.dtype)


@checked
def grouped(reward: Rewards, group_size: Count, *, divide: bool = True) -> Rewards:
    r"""Compare each reply with the others to the same prompt.

    .. math:: A_i = \frac{R_i - \bar R_\text{group}}{s_\text{group}}, \qquad
              s_\text{group}^2 = \frac1g \sum_{i \in \text{group}} (R_i - \bar R_\text{group})^2

    The spread is the population's: the sum of squares is divided by the size :math:`g` of the
    group.  Libraries that divide by :math:`g - 1`, as TRL's GRPO does, get advantages smaller by
    the factor :math:`\sqrt{(g - 1)/g}`.

    Parameters
    ----------
    reward : Tensor of shape (batch,)
        Rewards; the replies to one prompt stand side by side.
    group_size : int
        How many replies each prompt has.
    divide : bool
        Whether the spread of the group is divided out, as GRPO does and Dr. GRPO does not.

    Returns
    -------
    Tensor of shape (batch,)
        Advantages.  A group of equal rewards, up to rounding, has nothing to tell: its advantages
        are 0.

    Raises
    ------
    ValueError
        When the batch does not consist of whole groups.

    References
    ----------
    Shao et al. (2024), section 4.1.2; Liu et al. (2025) for the variant without division.

    Examples
    --------
    >>> grouped(torch.tensor([1.0, 3.0, 5.0, 5.0]), 2)
    tensor([-1.,  1.,  0.,  0.])
    """
    if len(reward) % group_size:
        raise ValueError(f"{len(reward)} rewards are no whole number of groups of {group_size}")
    table = reward.reshape(-1, group_size)
    apart, unit = _apart(table)
    if divide:
        rounding = 4 * torch.finfo(table.dtype).eps * table.double().abs().amax(-1, keepdim=True)
        differ = apart.amax(-1, keepdim=True) - apart.amin(-1, keepdim=True) > rounding / unit
        # Squared in units of the largest: rewards of any size have a spread.
        apart = apart / torch.where(differ, apart.abs().amax(-1, keepdim=True), 1)
        spread = apart.square().mean(-1, keepdim=True).sqrt()
        apart = torch.where(differ, apart / torch.where(differ, spread, 1), 0.0)
    return (apart if divide else apart * unit).to(table.dtype).reshape(-1)


@checked
def reinforce_loss(log_probs: Tokens, advantages: Rewards) -> Float[Tensor, ""]:
    r"""Compute what to minimize so that its gradient is REINFORCE's, downhill.

    .. math:: J = -\frac1m\sum_i A_i \sum_t \log\pi(y_{it} \mid x_i, y_{i,<t})

    Parameters
    ----------
    log_probs : Tensor of shape (batch, reply)
        Of the tokens written, 0 where the mask is; with the gradient.
    advantages : Tensor of shape (batch,)
        What each reply was better than expected; no gradient flows into it.

    Returns
    -------
    Tensor
        Its value means nothing; its gradient does.

    References
    ----------
    Williams (1992).

    Examples
    --------
    >>> reinforce_loss(torch.tensor([[-1.0, -2.0], [-4.0, 0.0]]), torch.tensor([1.0, -1.0]))
    tensor(-0.5000)
    """
    return -(advantages.detach() * log_probs.sum(-1)).mean()


def clipped_policy_loss(
    log_probs: Tokens,
    old_log_probs: Tokens,
    advantages: Rewards,
    mask: Bool[Tensor, "batch reply"],
    clip: float = 0.2,
) -> Float[Tensor, ""]:
    r"""Compute PPO's objective, negated: no reward for leaving the old policy's neighborhood.

    .. math::
        \rho_{it} = \frac{\pi(y_{it})}{\pi_\text{old}(y_{it})}, \qquad
        J = -\frac1m\sum_{i,t} \min\bigl(\rho_{it} A_i,\
            \operatorname{clip}(\rho_{it}, 1-\epsilon, 1+\epsilon)\,A_i\bigr)

    Parameters
    ----------
    log_probs, old_log_probs : Tensor of shape (batch, reply)
        Of the tokens written, by the policy to be moved and by the one that wrote; what stands
        where the mask is False, NaN included, counts neither here nor in the gradient.
    advantages : Tensor of shape (batch,)
        One for each reply.
    mask : Tensor of bool of shape (batch, reply)
        Which tokens count.
    clip : float
        :math:`\epsilon > 0`.

    Returns
    -------
    Tensor
        Where both policies agree its gradient is that of :func:`reinforce_loss`.

    Raises
    ------
    ValueError
        When shapes differ, a number that counts is not finite, or a reply has become so much more
        probable than its negative advantage allows that the loss is infinite.

    References
    ----------
    Schulman et al. (2017), equation 7.

    Examples
    --------
    >>> one = torch.ones(1, 1, dtype=torch.bool)
    >>> twice = torch.log(torch.tensor([[2.0]]))  # twice as probable as before: 1.2 counts
    >>> clipped_policy_loss(twice, torch.zeros(1, 1), torch.tensor([1.0]), one)
    tensor(-1.2000)
    """
    log_probs = _counted("log_probs", log_probs, mask)
    old_log_probs = _counted("old_log_probs", old_log_probs, mask)
    return _clipped(log_probs - old_log_probs.detach(), advantages, mask, positive("clip", clip))


@checked(infinite="return")
def _clipped(
    log_ratio: Tokens, advantages: Rewards, mask: Bool[Tensor, "batch reply"], clip: float
) -> Float[Tensor, ""]:
    r"""Compute the objective from :math:`\log\rho`, cut before the exponential can overflow.

    The smaller of the two products is :math:`\min(\rho, 1 + \epsilon)\,A` where A is positive and
    :math:`\max(\rho, 1 - \epsilon)\,A` where it is not; what is cut has the gradient 0.
    """
    gain = _some(advantages).detach()[:, None]
    lowest = math.log1p(-clip) if clip < 1 else -math.inf
    cut = torch.where(gain > 0, log_ratio.clamp(max=math.log1p(clip)), log_ratio.clamp(min=lowest))
    cut = cut.masked_fill(gain == 0, 0)  # which counts nothing, however probable it has become
    loss = -(cut.exp() * gain * mask).sum(-1).mean()
    if not bool(loss.isfinite()):
        raise ValueError(
            f"the loss is infinite: tokens of a reply with a negative advantage are up to "
            f"e^{float(log_ratio.max()):.0f} times as probable as before; lower the learning rate"
        )
    return loss


def _counted(name: str, values: Tokens, mask: Bool[Tensor, "batch reply"]) -> Tokens:
    """Return what counts, and 0 where the mask is False, whatever stands there."""
    if not isinstance(mask, Tensor) or mask.dtype != torch.bool:
        given = mask.dtype if isinstance(mask, Tensor) else repr(mask)
        raise ValueError(f"mask must be a tensor of truth values, got {given}")
    if tensor(name, values).shape != mask.shape:
        raise ValueError(
            f"{name} must have the shape of mask, {tuple(mask.shape)}, got {tuple(values.shape)}"
        )
    kept = values.masked_fill(~mask, 0)
    if not bool(kept.isfinite().all()):
        place = (~kept.isfinite()).nonzero()[0].tolist()
        raise ValueError(
            f"{name} must be finite where it counts, got {kept[tuple(place)]:g} at {place}"
        )
    return kept
