"""The optimal policy of a reward less divergence, in closed form, and its neighbor: best of n."""

from __future__ import annotations

import math

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from primer.inputs import Count, Reals, checked, count, distribution, positive

Probabilities = Float[Tensor, "*batch n"]
Rewards = Float[Tensor, "*batch n"]


@checked
def tilted(reference: Probabilities, reward: Rewards, kl_weight: float) -> Probabilities:
    r"""Compute the policy that maximizes reward less divergence.

    .. math::
        \pi^* = \arg\max_\pi \mathbb E_\pi R - \beta\,\mathrm{KL}(\pi\|\pi_\text{ref})
              = \frac{\pi_\text{ref}\,e^{R/\beta}}{Z}

    Parameters
    ----------
    reference, reward : Tensor of shape (\*batch, n)
        Probabilities of the reference and the reward of each outcome.
    kl_weight : float
        :math:`\beta > 0`.

    Returns
    -------
    Tensor of shape (\*batch, n)
        Probabilities.

    Raises
    ------
    ValueError
        When the probabilities do not sum to 1, or the weight is not above 0: without a price of
        distance the optimum is the best outcome alone.

    References
    ----------
    Rafailov et al. (2023), equation 4.

    Examples
    --------
    >>> tilted(torch.tensor([0.5, 0.5]), torch.tensor([0.0, 1.0986]), 1.0)  # odds times 3
    tensor([0.2500, 0.7500])
    """
    weights, _ = _weights(reference, reward, kl_weight)
    p = weights / weights.sum(-1, keepdim=True)
    return p.to(torch.result_type(reference, reward))


def _weights(reference: Probabilities, reward: Rewards, kl_weight: float) -> tuple[Tensor, Tensor]:
    r"""Return :math:`\pi_\text{ref}\,e^{(R - b)/\beta}` and :math:`b/\beta`.

    :math:`b` is the best reward of those that can happen, so that no exponential overflows.
    """
    p, R = distribution("reference", reference).double(), reward.double()
    best = R.detach().masked_fill(p == 0, -torch.inf).amax(-1, keepdim=True)
    beta = positive("kl_weight", kl_weight)
    return p * ((R - best) / beta).clamp(max=700).exp(), best / beta


@checked
def log_partition(reference: Probabilities, reward: Rewards, kl_weight: float) -> Tensor:
    r"""Compute :math:`\log Z = \log\sum_i \pi_{\text{ref},i}\,e^{R_i/\beta}`.

    The best value that the leashed goal can have is :math:`\beta\log Z`.

    Parameters
    ----------
    reference, reward, kl_weight
        As in :func:`tilted`.

    Returns
    -------
    Tensor of shape (\*batch,)
        The logarithm.

    Examples
    --------
    >>> log_partition(torch.tensor([0.5, 0.5]), torch.tensor([2.0, 2.0]), 1.0)
    tensor(2.)
    """
    weights, best = _weights(reference, reward, kl_weight)
    log_z = best.squeeze(-1) + weights.sum(-1).log()
    return log_z.to(torch.result_type(reference, reward))


@checked
def best_of_n(
    reference: Float[Tensor, " n"], reward: Float[Tensor, " n"], draws: Count
) -> Float[Tensor, " n"]:
    r"""Compute the distribution of the best of some draws, exactly.

    .. math::
        P(\text{reward} = r) = F(r)^n - F(r^-)^n

    with the distribution function :math:`F` of the reward under the reference; outcomes of one
    reward share this in proportion to their probability, as when the first best draw is taken.

    Parameters
    ----------
    reference, reward : Tensor of shape (n,)
        Probabilities and rewards of all outcomes.
    draws : int
        How many are drawn.

    Returns
    -------
    Tensor of shape (n,)
        Probabilities.

    Raises
    ------
    ValueError
        When the probabilities do not sum to 1, or nothing is drawn.

    References
    ----------
    Beirami et al. (2024).

    Examples
    --------
    >>> best_of_n(torch.tensor([0.5, 0.5]), torch.tensor([0.0, 1.0]), 2)
    tensor([0.2500, 0.7500])
    """
    distribution("reference", reference)
    _, level = torch.unique(reward, return_inverse=True)
    p = reference.double() / reference.double().sum().detach()
    mass = p.new_zeros(int(level.max()) + 1).index_add(0, level, p)
    upto, above = mass.cumsum(0), mass.flip(0).cumsum(0).flip(0) - mass
    # F^n − (F − m)^n = −F^n ((1 − m/F)^n − 1), with log F of whichever of F and 1 − F is small
    above = torch.where(torch.arange(len(mass)) == len(mass) - 1, 0.0, above)
    log_upto = torch.where(above < 0.5, torch.log1p(-above.clamp(0, 0.5)), upto.clamp(1e-320).log())
    part = (mass / upto.clamp(1e-320)).clamp(max=1)
    first = part == 1
    rest = torch.where(first, -1.0, torch.expm1(draws * torch.log1p(-part.where(~first, 0))))
    share = -(draws * log_upto).exp() * rest / torch.where(mass > 0, mass, 1)
    return (p * share[level]).to(reference.dtype)


def best_of_n_kl_bound(draws: int) -> float:
    r"""Compute the KL that the best of n has when no two draws are ever equal.

    .. math:: \mathrm{KL} \le \log n - \frac{n-1}{n}

    Parameters
    ----------
    draws : int
        How many are drawn.

    Returns
    -------
    float
        In nats; with ties, or few outcomes, the divergence is smaller.

    References
    ----------
    Beirami et al. (2024), theorem 3.1.

    Examples
    --------
    >>> round(best_of_n_kl_bound(4), 4)
    0.6363
    """
    return math.log(count("draws", draws)) - (draws - 1) / draws


@checked
def gaussian_tilt(distance: Reals, slope: float, curvature: float) -> Float[np.ndarray, "*batch"]:
    r"""Compute the gold reward of a tilt by a normal proxy, when gold is a parabola of it.

    .. math::
        \text{gold} = a z - c\,(z^2 - 1) + \text{noise}, \quad z \sim N(0, 1)

    is on average, after the tilt,

    .. math::
        \mathbb E\,\text{gold} = d\,(\sqrt2\,a - 2c\,d), \quad d = \sqrt{\mathrm{KL}}.

    The tilt by :math:`e^{z/\beta}` moves the mean of the proxy z to :math:`1/\beta = \sqrt2\,d` and
    leaves its variance.

    Parameters
    ----------
    distance : array
        :math:`d \ge 0`, the root of the divergence.
    slope, curvature : float
        :math:`a` and :math:`c`; with :math:`c = 0` gold rises for ever, at the rate of the
        correlation.

    Returns
    -------
    array of the same shape
        The expected gold reward, which is 0 under the reference.

    References
    ----------
    Gao, Schulman and Hilton (2022), section 3.1, measure the form :math:`d(\alpha - \beta d)` for
    the best of n, and :math:`d(\alpha - \beta\log d)` for policies trained by reinforcement.

    Examples
    --------
    >>> gaussian_tilt(np.array([0.0, 1.0, 2.0]), slope=1.0, curvature=0.25).round(4)
    array([0.    , 0.9142, 0.8284])
    """
    d = distance
    if (d < 0).any():
        raise ValueError(f"distance is the root of a divergence, 0 or larger, got {d.min():g}")
    with np.errstate(over="ignore", invalid="ignore"):
        return np.asarray(d * (math.sqrt(2) * slope - 2 * curvature * d))
