"""Sampling a token: the logits reshaped or cut, then a draw."""

from __future__ import annotations

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from primer.inputs import checked, number, tensor
from primer.inputs.given import given

Logits = Float[Tensor, "*batch vocab"]
Tokens = Int[Tensor, "*batch"]


def check_logits(logits: Logits) -> None:
    """Refuse logits from which no distribution can be made."""
    if tensor("logits", logits, axes=1).numel() == 0:
        raise ValueError(f"logits must hold a number for each token, got shape {logits.shape}")
    if not bool(logits.amax(-1).isfinite().all()):  # the maximum is NaN if any logit is
        raise ValueError(
            "logits must be finite or −∞ and leave at least one token possible; "
            "got NaN, +∞ or a row of −∞ only"
        )


def _check_kept(k: int, vocabulary: int) -> None:
    """Refuse to keep no token, or more than there are."""
    if isinstance(k, bool) or not isinstance(k, int | np.integer) or not 1 <= k <= vocabulary:
        raise ValueError(
            f"k must be a whole number between 1 and the {vocabulary} tokens of the vocabulary, "
            f"got {given(k)}; leave it out to keep all"
        )


def warp_temperature(logits: Logits, temperature: float) -> Logits:
    r"""Divide logits by a temperature.

    .. math:: p_i = \operatorname{softmax}(u/\tau)_i = \frac{e^{u_i/\tau}}{\sum_j e^{u_j/\tau}}

    Below 1 the distribution becomes sharper, above 1 flatter.

    Parameters
    ----------
    logits : Tensor of shape (\*batch, vocab)
        The logits :math:`u`; :math:`-\infty` is a token that is impossible.
    temperature : float
        :math:`\tau > 0`.

    Returns
    -------
    Tensor of shape (\*batch, vocab)
        :math:`u/\tau`.

    Raises
    ------
    ValueError
        When the temperature is not a finite positive number, or the logits hold no distribution.

    References
    ----------
    Ackley, Hinton and Sejnowski (1985), equation 5.

    Examples
    --------
    >>> warp_temperature(torch.tensor([2.0, 1.0, 0.0]), 0.5).softmax(-1)
    tensor([0.8668, 0.1173, 0.0159])
    """
    tau = number("temperature", temperature)
    if not tau > 0:
        raise ValueError(
            f"temperature must be a finite number above 0, got {temperature}; "
            "its limit 0 is `greedy`"
        )
    check_logits(logits)
    # Differences from the largest logit: no temperature, however small, makes them overflow to +∞.
    below = logits - logits.amax(-1, keepdim=True)
    # In single precision a temperature below 1e-45 is 0, one above 3e38 ∞: no number is 0/0 or ∞/∞.
    most = torch.finfo(torch.promote_types(logits.dtype, torch.float32)).max
    divisor = temperature if isinstance(temperature, Tensor) and tau <= most else min(tau, most)
    return torch.where(below == 0, below, below / divisor)


def top_k_filter(logits: Logits, k: int) -> Logits:
    r"""Make all but the :math:`k` most probable tokens impossible.

    Of equal logits the one with the smaller token id counts as more probable, so that exactly
    :math:`k` tokens stay.

    Parameters
    ----------
    logits : Tensor of shape (\*batch, vocab)
        The logits.
    k : int
        How many tokens to keep, between 1 and the size of the vocabulary.

    Returns
    -------
    Tensor of shape (\*batch, vocab)
        The logits that are kept, and :math:`-\infty`.

    Raises
    ------
    ValueError
        When ``k`` is not a whole number in that range, or the logits hold no distribution.

    References
    ----------
    Fan, Lewis and Dauphin (2018), section 5.3.

    Examples
    --------
    >>> top_k_filter(torch.tensor([1.0, 3.0, 2.0, 2.0]), k=2)
    tensor([-inf, 3., 2., -inf])
    """
    check_logits(logits)
    _check_kept(k, logits.shape[-1])
    kept = logits.argsort(dim=-1, descending=True, stable=True)[..., :k]
    return torch.full_like(logits, -torch.inf).scatter(-1, kept, logits.gather(-1, kept))


def top_p_filter(logits: Logits, p: float) -> Logits:
    r"""Keep the smallest set of tokens that has at least mass :math:`p`: nucleus sampling.

    With the tokens in order of falling probability, token :math:`r` stays when those before it do
    not yet reach :math:`p`:

    .. math:: \sum_{j<r} p_{(j)} < p.

    Parameters
    ----------
    logits : Tensor of shape (\*batch, vocab)
        The logits; of equal ones the smaller token id counts as more probable.
    p : float
        The mass to reach, :math:`0 < p \le 1`.

    Returns
    -------
    Tensor of shape (\*batch, vocab)
        The logits that are kept, and :math:`-\infty`.

    Raises
    ------
    ValueError
        When ``p`` lies outside (0, 1], or the logits hold no distribution.

    References
    ----------
    Holtzman, Buys, Du, Forbes and Choi (2020), section 3.1.

    Examples
    --------
    >>> logits = torch.tensor([0.1, 0.5, 0.3, 0.1]).log()
    >>> top_p_filter(logits, p=0.7).softmax(-1)
    tensor([0.0000, 0.6250, 0.3750, 0.0000])
    """
    p = number("p", p)
    if not 0 < p <= 1:
        raise ValueError(f"p must lie in (0, 1], got {p:g}; 1 keeps every token")
    check_logits(logits)
    if p == 1:  # rounding must not cut a tail that the definition keeps
        return logits
    ordered, order = logits.sort(dim=-1, descending=True, stable=True)
    mass = ordered.double().softmax(-1)
    before = mass.cumsum(-1) - mass
    kept = torch.zeros_like(logits, dtype=torch.bool).scatter(-1, order, before < p)
    return logits.masked_fill(~kept, -torch.inf)


def probabilities(
    logits: Logits,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
) -> Logits:
    r"""Compute the distribution that is drawn from: temperature, then top-k, then top-p.

    Parameters
    ----------
    logits : Tensor of shape (\*batch, vocab)
        The logits of the model.
    temperature : float
        See :func:`warp_temperature`.
    top_k : int, optional
        See :func:`top_k_filter`; left out, nothing is cut.
    top_p : float, optional
        See :func:`top_p_filter`, applied to what top-k left; left out, nothing is cut.

    Returns
    -------
    Tensor of shape (\*batch, vocab)
        Probabilities with sum 1.

    Raises
    ------
    ValueError
        When a setting is out of its range, or the logits hold no distribution.

    Examples
    --------
    >>> probabilities(torch.tensor([3.0, 2.0, 1.0, 0.0]), top_k=2)
    tensor([0.7311, 0.2689, 0.0000, 0.0000])
    """
    warped = warp_temperature(logits, temperature)
    if top_k is not None:
        warped = top_k_filter(warped, top_k)
    if top_p is not None:
        warped = top_p_filter(warped, top_p)
    return warped.softmax(-1)


def greedy(logits: Logits) -> Tokens:
    r"""Choose the most probable token.

    .. math:: \hat w_t = \arg\max_w P(w \mid w_{<t})

    Parameters
    ----------
    logits : Tensor of shape (\*batch, vocab)
        The logits.

    Returns
    -------
    Tensor of shape (\*batch,)
        Token ids; of equal logits the smallest id.

    Raises
    ------
    ValueError
        When the logits hold no distribution.

    Examples
    --------
    >>> greedy(torch.tensor([[0.1, 0.7, 0.2], [2.0, 1.0, 2.0]]))
    tensor([1, 0])
    """
    check_logits(logits)
    highest = logits == logits.amax(-1, keepdim=True)
    return highest.int().argmax(-1)  # argmax of equal numbers is the first one


def sample(
    logits: Logits,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    generator: torch.Generator | None = None,
) -> Tokens:
    r"""Draw a token from :func:`probabilities`.

    Parameters
    ----------
    logits : Tensor of shape (\*batch, vocab)
        The logits.
    temperature, top_k, top_p
        See :func:`probabilities`.
    generator : torch.Generator, optional
        Where the randomness comes from; left out, torch's global generator.

    Returns
    -------
    Tensor of shape (\*batch,)
        Token ids, one independent draw for each row.

    Raises
    ------
    ValueError
        When a setting is out of its range, or the logits hold no distribution.

    Examples
    --------
    >>> sample(torch.tensor([0.0, 5.0, 0.0]), top_k=1)
    tensor(1)
    """
    if not isinstance(generator, torch.Generator | None):
        raise ValueError(
            "generator must be torch's random generator, torch.Generator().manual_seed(seed), "
            f"got {given(generator)}"
        )
    weights = probabilities(logits, temperature, top_k, top_p)
    rows = weights.reshape(-1, weights.shape[-1])
    draws = torch.multinomial(rows, num_samples=1, generator=generator)
    return draws.reshape(weights.shape[:-1])


@checked(infinite="logits")
def entropy(logits: Logits) -> Float[Tensor, "*batch"]:
    r"""Compute the entropy of the distribution that the logits describe.

    .. math:: H = -\sum_i p_i \ln p_i, \qquad p = \operatorname{softmax}(u)

    Parameters
    ----------
    logits : Tensor of shape (\*batch, vocab)
        The logits :math:`u`, warped or not; impossible tokens count 0.

    Returns
    -------
    Tensor of shape (\*batch,)
        The entropy in nats.

    Raises
    ------
    ValueError
        When the logits hold no distribution.

    References
    ----------
    Shannon (1948).

    Examples
    --------
    >>> entropy(torch.zeros(4))  # ln 4
    tensor(1.3863)
    """
    check_logits(logits)
    log_p = logits.log_softmax(-1)
    log_p = log_p.clamp(min=torch.finfo(log_p.dtype).min)  # not −∞: p log p is 0 there
    return -(log_p.exp() * log_p).sum(-1)


@checked(infinite="logits")
def effective_choices(logits: Logits) -> Float[Tensor, "*batch"]:
    r"""Compute among how many equally probable tokens the choice would be as uncertain.

    .. math:: N_\mathrm{eff} = e^{H}

    Parameters
    ----------
    logits : Tensor of shape (\*batch, vocab)
        The logits.

    Returns
    -------
    Tensor of shape (\*batch,)
        A number between 1 and the size of the vocabulary, also called perplexity.

    Raises
    ------
    ValueError
        When the logits hold no distribution.

    References
    ----------
    Jelinek, Mercer, Bahl and Baker (1977).

    Examples
    --------
    >>> effective_choices(top_k_filter(torch.zeros(10), k=3))
    tensor(3.)
    """
    return entropy(logits).exp()
