r"""One advantage, many tokens: what each token of a reply weighs, and the clipped objective."""

from __future__ import annotations

import math
from typing import Annotated

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from primer.inputs import among, checked, positive

Tokens = Float[Tensor, "batch reply"]
Mask = Bool[Tensor, "batch reply"]


@checked
def token_weights(
    mask: Mask,
    by: Annotated[str, among(("constant", "reply", "batch"))] = "constant",
    length: float = 1.0,
) -> Tokens:
    r"""Compute the weight of each token's :math:`A_i \log\pi(y_{it})` in the objective.

    .. math::
        \text{constant: } \frac1{mL}, \qquad \text{reply: } \frac1{m\,|y_i|}, \qquad
        \text{batch: } \frac1{\sum_j |y_j|}

    Only the first has the gradient of the expected reward, up to its scale.  The second punishes a
    long wrong reply less per token than a short one.

    Parameters
    ----------
    mask : Tensor of bool of shape (batch, reply)
        Which tokens count; a row has at least one.
    by : {"constant", "reply", "batch"}
        What a sum over tokens is divided by: a number that is the same for all, as Dr. GRPO has it;
        the length of the reply, as GRPO; the tokens of the batch, as DAPO.
    length : float
        L > 0, in tokens, for "constant".  With 1 the objective is REINFORCE's.

    Returns
    -------
    Tensor of shape (batch, reply)
        Weights, 0 where the mask is False.  They add up to the mean length over L, to 1, and to 1.

    Raises
    ------
    ValueError
        When a reply has no token that counts, or the length is not above 0.

    References
    ----------
    Shao et al. (2024); Yu et al. (2025); Liu et al. (2025).

    Examples
    --------
    >>> mask = torch.tensor([[True, False], [True, True]])
    >>> token_weights(mask, "reply")
    tensor([[0.5000, 0.0000],
            [0.2500, 0.2500]])
    """
    sizes = mask.sum(-1, keepdim=True)
    if len(mask) == 0 or bool((sizes == 0).any()):
        raise ValueError("every reply needs a token that counts: its end, at least")
    divisor = {
        "constant": torch.full_like(sizes, len(mask)) * positive("length", length),
        "reply": sizes * len(mask),
        "batch": sizes.sum().expand_as(sizes),
    }[by]
    return mask / divisor


@checked(infinite="return")
def policy_loss(
    log_probs: Tokens,
    old_log_probs: Tokens,
    advantages: Float[Tensor, "..."],
    weights: Tokens,
    clip: tuple[float, float] | None = (0.2, 0.2),
) -> Float[Tensor, ""]:
    r"""Compute PPO's objective, negated, with a ceiling and a floor of their own.

    .. math::
        J = -\sum_{i,t} w_{it}\min\bigl(\rho_{it} A_{it},\
            \operatorname{clip}(\rho_{it}, 1-\epsilon_\text{low}, 1+\epsilon_\text{high})\,A_{it}
            \bigr), \qquad \rho_{it} = \frac{\pi(y_{it})}{\pi_\text{old}(y_{it})}

    Parameters
    ----------
    log_probs, old_log_probs : Tensor of shape (batch, reply)
        Of the tokens written, by the policy to be moved and by the one that wrote.
    advantages : Tensor of shape (batch,) or (batch, reply)
        One for each reply, or for each token.
    weights : Tensor of shape (batch, reply)
        Of :func:`token_weights`.
    clip : pair of float, optional
        :math:`\epsilon_\text{low}` and :math:`\epsilon_\text{high}`; None leaves the ratio alone.
        DAPO's (0.2, 0.28) is called *clip higher*.

    Returns
    -------
    Tensor
        With equal clips and weights 1/m it is :func:`primer.alignment.clipped_policy_loss`.

    Raises
    ------
    ValueError
        When shapes differ, a clip is not above 0, or the loss is infinite.

    References
    ----------
    Schulman et al. (2017); Yu et al. (2025) for the higher upper end.

    Examples
    --------
    >>> twice = torch.log(torch.tensor([[2.0]]))  # twice as probable as before
    >>> one = torch.ones(1, 1)
    >>> policy_loss(twice, torch.zeros(1, 1), torch.ones(1), one, clip=(0.2, 0.28))
    tensor(-1.2800)
    """
    gain = advantages.detach()
    gain = gain[:, None] if gain.ndim == 1 else gain
    if gain.shape not in ((len(weights), 1), weights.shape):
        raise ValueError(
            f"advantages must have a number for each of {len(weights)} replies, or for each token, "
            f"got shape {tuple(advantages.shape)}"
        )
    if not bool(gain.isfinite().all()):
        raise ValueError("advantages must be finite: mend the reward before training on it")
    log_ratio = log_probs - old_log_probs.detach()
    if clip is not None:
        low, high = (positive(name, e) for name, e in zip(("low", "high"), clip, strict=True))
        lowest = math.log1p(-low) if low < 1 else -math.inf
        # what is cut has the gradient 0: above where more would pay, below where less would
        log_ratio = torch.where(
            gain > 0, log_ratio.clamp(max=math.log1p(high)), log_ratio.clamp(min=lowest)
        )
    counts_nothing = (weights == 0) | (gain == 0)
    loss = -(weights * log_ratio.masked_fill(counts_nothing, 0).exp() * gain).sum()
    if not bool(loss.isfinite()):
        raise ValueError("the loss is infinite: lower the learning rate")
    return loss
