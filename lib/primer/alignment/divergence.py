"""How far a policy has gone: the Kullback–Leibler divergence, its estimators, the leash."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from primer.inputs import NotNegative, among, checked

Numbers = Float[Tensor, "*batch"]


class KLEstimates(NamedTuple):
    """Three estimates of a KL divergence from each sample.

    Attributes
    ----------
    k1 : Tensor
        The log ratio: unbiased, of either sign.
    k2 : Tensor
        Half its square: never negative, biased.
    k3 : Tensor
        The log ratio with a control variate: unbiased and never negative.
    """

    k1: Tensor
    k2: Tensor
    k3: Tensor


@checked
def kl_estimates(log_ratio: Numbers) -> KLEstimates:
    r"""Estimate :math:`\mathrm{KL}(\pi\|\pi_\text{ref})` from samples of :math:`\pi`.

    .. math::
        \ell = \log\frac{\pi(y)}{\pi_\text{ref}(y)}, \qquad
        k_1 = \ell, \qquad k_2 = \tfrac12\ell^2, \qquad k_3 = e^{-\ell} - 1 + \ell

    Parameters
    ----------
    log_ratio : Tensor
        :math:`\ell` of samples of the policy :math:`\pi`, which is the numerator.

    Returns
    -------
    KLEstimates
        Of the same shape each; their means estimate the divergence.

    References
    ----------
    Schulman, *Approximating KL divergence* (2020).

    Examples
    --------
    >>> [round(float(k), 4) for k in kl_estimates(torch.tensor(-0.1))]
    [-0.1, 0.005, 0.0052]
    """
    return KLEstimates(*(estimate(log_ratio) for estimate in ESTIMATES.values()))


def exponential_beyond_its_line(x: Tensor) -> Tensor:
    r"""Compute :math:`e^x - 1 - x`, which is never negative, also where the first terms cancel.

    Examples
    --------
    >>> exponential_beyond_its_line(torch.tensor([1e-5, 0.0, 1.0]))
    tensor([5.0000e-11, 0.0000e+00, 7.1828e-01])
    """
    near = x.abs() < 0.1
    y = x.where(near, 0.0)
    series = torch.ones_like(y)
    for n in range(9, 2, -1):
        series = 1 + series * y / n
    return torch.where(near, y * y * series / 2, torch.expm1(x) - x)


ESTIMATES: dict[str, Callable[[Tensor], Tensor]] = {
    "k1": lambda log_ratio: log_ratio,
    "k2": lambda log_ratio: log_ratio**2 / 2,
    "k3": lambda log_ratio: exponential_beyond_its_line(-log_ratio),
}


@checked
def kl_loss(log_ratio: Numbers, kind: Annotated[str, among(ESTIMATES)] = "k2") -> Float[Tensor, ""]:
    r"""Average an estimate to be differentiated through :math:`\log\pi`, samples held fixed.

    What its expected gradient is differs from what its value estimates:

    .. math::
        \mathbb E_\pi\nabla k_1 = 0, \qquad
        \mathbb E_\pi\nabla k_2 = \nabla\,\mathrm{KL}(\pi\|\pi_\text{ref}), \qquad
        \mathbb E_\pi\nabla k_3 = \nabla\,\mathrm{KL}(\pi_\text{ref}\|\pi)

    Parameters
    ----------
    log_ratio : Tensor
        With the gradient of the policy, without one of the reference.
    kind : {"k1", "k2", "k3"}
        Which estimate.

    Returns
    -------
    Tensor
        The mean.

    References
    ----------
    Shao et al. (2024), equation 4, uses k3; DeepSeek-AI, arXiv:2512.02556, equation 7, mends it.
    """
    return ESTIMATES[kind](log_ratio).mean()


@checked
def penalized_reward(reward: Numbers, log_ratio: Numbers, kl_weight: NotNegative) -> Numbers:
    r"""Take the price of distance off the reward.

    .. math:: R(y) - \beta \log\frac{\pi(y)}{\pi_\text{ref}(y)}

    A reply that the policy finds *less* probable than the reference does gets a bonus; on average
    the price is :math:`\beta\,\mathrm{KL} \ge 0`.

    Parameters
    ----------
    reward, log_ratio : Tensor of shape (batch,)
        Of whole replies.
    kl_weight : float
        :math:`\beta \ge 0`.

    Returns
    -------
    Tensor of shape (batch,)
        Without gradient: a reward is a number that came back from outside.

    Raises
    ------
    ValueError
        When a reward is NaN or infinite, or the weight negative.

    References
    ----------
    Ziegler et al. (2019), equation 2.

    Examples
    --------
    >>> penalized_reward(torch.tensor([1.0]), torch.tensor([-0.5]), 0.2)
    tensor([1.1000])
    """
    if not torch.isfinite(reward).all():
        first = int((~torch.isfinite(reward)).nonzero()[0, 0])
        raise ValueError(
            f"the reward of reply {first} is {float(reward[first])}: mend the reward before "
            "training on it"
        )
    return reward.detach() - kl_weight * log_ratio.detach()
