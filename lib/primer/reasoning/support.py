r"""Sharper or wider: the tilt for a reward of 0 or 1, its price, and what entropy pays."""

from __future__ import annotations

import math
from typing import Annotated

import torch
from jaxtyping import Float
from scipy.special import expit
from torch import Tensor

from primer.inputs import Count, Positive, Probability, checked, distribution, number
from primer.language_models import kl_divergence


def _chance(name: str, value: float) -> float:
    """Return one number from 0 to 1, both allowed."""
    if not 0 <= number(name, value) <= 1:
        raise ValueError(f"{name} must be a chance from 0 to 1, got {value}")
    return float(value)


Chance = Annotated[float, _chance]


@checked
def right_when_tilted(p: Chance, kl_weight: Positive) -> float:
    r"""Compute how often the tilted policy is right: the odds grow by :math:`e^{1/\beta}`.

    .. math:: a = \frac{p\,e^{1/\beta}}{1 - p + p\,e^{1/\beta}}

    Within the right replies, and within the wrong ones, the tilt changes no proportion.

    Parameters
    ----------
    p : float
        How often the reference is right.
    kl_weight : float
        :math:`\beta > 0`.

    Returns
    -------
    float
        :math:`a`, 0 where p is 0: what never happens cannot be made more likely.

    References
    ----------
    Rafailov et al. (2023), with a reward of 0 or 1.

    Examples
    --------
    >>> round(right_when_tilted(0.2, 0.570834), 4)  # as the best of four
    0.5904
    """
    if p in (0, 1):
        return p
    return float(expit(math.log(p) - math.log1p(-p) + 1 / kl_weight))


@checked(infinite="return")
def weight_of_best(p: Probability, tries: Count) -> float:
    r"""Compute the :math:`\beta` at which the tilt is the best of n, picked by an exact checker.

    .. math::
        \frac1\beta = \log\frac{a}{1-a} - \log\frac{p}{1-p}, \qquad a = 1 - (1-p)^n

    Parameters
    ----------
    p : float
        How often the reference is right, strictly between 0 and 1.
    tries : int
        n; with one try nothing is tilted, and the weight is infinite.

    Returns
    -------
    float
        :math:`\beta`.

    References
    ----------
    Beirami et al. (2024), for rewards without ties; here all replies are tied.

    Examples
    --------
    >>> round(weight_of_best(0.2, 4), 4)
    0.5708
    """
    failed = tries * math.log1p(-p)  # log(1 − a)
    strength = math.log(-math.expm1(failed)) - failed - math.log(p) + math.log1p(-p)
    return math.inf if tries == 1 else 1 / strength


@checked(infinite="return")
def least_divergence(a: Chance, p: Chance) -> float:
    r"""Compute the least KL divergence from the base of a policy that is right with chance a.

    .. math:: \mathrm{kl}(a\|p) = a\log\frac ap + (1-a)\log\frac{1-a}{1-p}

    The tilt pays exactly this, and so does the best of n; what a policy pays beyond it changed
    *how* it is right or wrong.

    Parameters
    ----------
    a, p : float
        Chances to be right, of the policy and of the base.

    Returns
    -------
    float
        In nats; infinite when the base is never right and the policy is, or never wrong.

    References
    ----------
    The chain rule of the divergence: Cover and Thomas (2006).

    Examples
    --------
    >>> round(least_divergence(0.5904, 0.2), 4)
    0.3649
    """
    if p == 0:
        return math.inf if a else 0.0
    return kl_divergence([a, 1 - a], [p, 1 - p])


@checked
def entropy_change(
    probabilities: Float[Tensor, " n"], logit_step: Float[Tensor, " n"]
) -> Float[Tensor, ""]:
    r"""Compute how the entropy of a softmax changes with a small step of its logits.

    .. math:: dH = -\operatorname{Cov}_\pi\bigl(\log\pi(a),\ dz_a\bigr)

    Parameters
    ----------
    probabilities : Tensor of shape (n,)
        :math:`\pi`.
    logit_step : Tensor of shape (n,)
        :math:`dz`.

    Returns
    -------
    Tensor
        In nats, up to terms of second order: it falls when what is likely is made likelier, and
        rises when something rare is.

    References
    ----------
    Cui et al. (2025).

    Examples
    --------
    >>> p = torch.tensor([0.9, 0.1], dtype=torch.float64)
    >>> entropy_change(p, torch.tensor([0.0, 0.01], dtype=torch.float64)) > 0
    tensor(True)
    """
    distribution("probabilities", probabilities)
    p = probabilities
    log_p = torch.where(p > 0, p, 1).log()
    return -(p * (log_p - p @ log_p) * (logit_step - p @ logit_step)).sum()


@checked
def leaky_precision(p: Chance, true_accepted: Chance, false_accepted: Chance) -> float:
    r"""Compute how often the first reply that an imperfect checker accepts is right.

    .. math:: \frac{p\,\tau}{p\,\tau + (1-p)\,\varphi}

    However many replies are tried: the tries are independent, and the checker has no memory.

    Parameters
    ----------
    p : float
        How often a reply is right.
    true_accepted, false_accepted : float
        τ and φ: how often a right and a wrong reply are accepted.

    Returns
    -------
    float
        A probability.

    Raises
    ------
    ValueError
        When a number is no chance, or nothing is ever accepted.

    References
    ----------
    Stroebl, Kapoor and Narayanan (2024).

    Examples
    --------
    >>> [round(leaky_precision(p, 1.0, 0.05), 3) for p in (0.2, 0.02, 0.002)]
    [0.833, 0.29, 0.039]
    """
    wrong = (1 - p) * false_accepted
    if p == 0 or true_accepted == 0:
        if wrong == 0:
            raise ValueError("nothing is ever accepted: there is no first accepted reply")
        return 0.0
    return 1 / (1 + wrong / p / true_accepted)
