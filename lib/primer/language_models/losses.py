"""Surprise and its averages: softmax, cross-entropy, entropy and KL divergence.

Everything is computed in nats, as training does; ``base=2`` gives bits.  Entropies take arrays and
give a number, or take tensors, which keep their gradients, and give one for each distribution of
the last axis.  Who needs one of these formulas imports it from here.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, overload

import numpy as np
import scipy.special
from jaxtyping import Float
from numpy.typing import ArrayLike

from primer import inputs
from primer.inputs import (
    Reals,
    checked,
    number,
    vector,
)
from primer.inputs.given import is_tensor

if TYPE_CHECKING:
    from torch import Tensor

Numbers = Float[np.ndarray, "..."]


@checked
def softmax(logits: Reals) -> Numbers:
    r"""Turn numbers into probabilities, each row of the last axis for itself.

    .. math:: \operatorname{softmax}(z)_i = \frac{e^{z_i}}{\sum_j e^{z_j}}

    The largest number of a row is taken off first: that changes nothing, and no power overflows.

    Parameters
    ----------
    logits : array_like of shape (..., classes)
        Any finite numbers.

    Returns
    -------
    array of the same shape
        Positive numbers; each row sums to 1.

    Raises
    ------
    ValueError
        When a number is missing or not finite.

    References
    ----------
    Bridle (1990), who named it.

    Examples
    --------
    >>> softmax([0.0, math.log(3)])
    array([0.25, 0.75])
    >>> softmax([1000.0, 1000.0])
    array([0.5, 0.5])
    """
    z = np.atleast_1d(logits)
    with np.errstate(over="ignore"):  # what is infinitely far below the largest has 0
        powers = np.exp(z - z.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


@checked
def log_softmax(logits: Reals) -> Numbers:
    r"""Compute the logarithm of :func:`softmax`, also where the softmax itself rounds to 0.

    .. math:: \log\operatorname{softmax}(z)_i = z_i - m - \log\sum_j e^{z_j - m},
              \qquad m = \max_j z_j

    Parameters
    ----------
    logits : array_like of shape (..., classes)
        Any finite numbers.

    Returns
    -------
    array of the same shape
        Log-probabilities in nats.

    Raises
    ------
    ValueError
        When a number is missing or not finite.

    References
    ----------
    Blanchard, Higham and Higham (2021), "Accurately computing the log-sum-exp and softmax
    functions".

    Examples
    --------
    >>> log_softmax([0.0, -2000.0])
    array([    0., -2000.])
    """
    z = np.atleast_1d(logits)
    shifted = z - z.max(axis=-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))


def distribution(name: str, values: ArrayLike) -> Float[np.ndarray, " outcomes"]:
    """Return probabilities as a vector, or say what keeps them from being a distribution.

    Parameters
    ----------
    name : str
        What the caller calls them.
    values : array_like
        One number for each outcome.

    Returns
    -------
    array of shape (outcomes,)
        As given.

    Raises
    ------
    ValueError
        When one is negative or they do not sum to 1.

    Examples
    --------
    >>> distribution("p", [0.5, 0.25])
    Traceback (most recent call last):
        ...
    ValueError: p must sum to 1, but sums to 0.75; divide by the sum if these are weights
    """
    p = vector(name, values)
    if p.min() < 0:
        raise ValueError(f"{name} must not be negative, got {p.min():g} at {int(p.argmin())}")
    if abs(p.sum() - 1) > 1e-8:
        raise ValueError(
            f"{name} must sum to 1, but sums to {p.sum():.10g}; "
            "divide by the sum if these are weights"
        )
    return p


def _special(values: Any) -> Any:
    """Give the functions of logarithms that compute with such values: torch's, or SciPy's."""
    if not is_tensor(values):
        return scipy.special
    import torch

    return torch.special


def _distributions(name: str, values: Any) -> Any:
    """Return distributions, a tensor as it is and anything else as an array."""
    if is_tensor(values):
        return inputs.distribution(name, inputs.tensor(name, values, axes=1))
    return distribution(name, values)


def _pair(p: Any, q: Any) -> tuple[Any, Any]:
    """Return two distributions, or as many pairs of them, over the same outcomes."""
    if is_tensor(p) != is_tensor(q):
        other = "q" if is_tensor(p) else "p"
        raise ValueError(f"p and q must both be tensors, or neither; write torch.tensor({other})")
    true, model = _distributions("p", p), _distributions("q", q)
    if true.shape[-1] != model.shape[-1]:
        sizes = true.shape[-1], model.shape[-1]
        raise ValueError(f"p has {sizes[0]} outcomes and q has {sizes[1]}: they must agree")
    if true.shape != model.shape:
        raise ValueError(f"p has shape {tuple(true.shape)} and q {tuple(model.shape)}")
    return true, model


def _in_base(nats: Any, base: float) -> Any:
    """Turn nats into the unit of a base, 2 for bits."""
    if number("base", base) <= 1:
        raise ValueError(f"base must be above 1 (2 for bits, e for nats), got {base}")
    in_base = nats / math.log(base)
    return in_base if is_tensor(nats) else float(in_base)


@overload
def entropy(p: Tensor, base: float = math.e) -> Tensor: ...


@overload
def entropy(p: ArrayLike, base: float = math.e) -> float: ...


@checked
def entropy(p: Any, base: float = math.e) -> Any:
    r"""Compute the mean surprise of somebody who knows the true probabilities.

    .. math:: H(P) = -\sum_x P(x)\log P(x)

    Parameters
    ----------
    p : array_like of shape (outcomes,), or Tensor of shape (\*batch, outcomes)
        The distribution; an outcome of probability 0 adds nothing.
    base : float
        Of the logarithm: e for nats, 2 for bits.

    Returns
    -------
    float, or Tensor of shape (\*batch,)
        0 or more.

    Raises
    ------
    ValueError
        When ``p`` is no distribution, or the base is not above 1.

    References
    ----------
    Shannon (1948).

    Examples
    --------
    >>> entropy([0.5, 0.25, 0.25], base=2)
    1.5
    """
    p = _distributions("p", p)
    return _in_base(_not_below_0(_special(p).entr(p).sum(-1)), base)


@overload
def cross_entropy(p: Tensor, q: Tensor, base: float = math.e) -> Tensor: ...


@overload
def cross_entropy(p: ArrayLike, q: ArrayLike, base: float = math.e) -> float: ...


@checked(infinite="return")
def cross_entropy(p: Any, q: Any, base: float = math.e) -> Any:
    r"""Compute the mean surprise of a model ``q`` about what really comes from ``p``.

    .. math:: H(P, Q) = -\sum_x P(x)\log Q(x)

    Parameters
    ----------
    p, q : array_like of shape (outcomes,), or Tensor of shape (\*batch, outcomes)
        The true distribution and the model's.
    base : float
        Of the logarithm: e for nats, 2 for bits.

    Returns
    -------
    float, or Tensor of shape (\*batch,)
        At least the entropy of ``p``; infinite when something happens that ``q`` excludes.

    Raises
    ------
    ValueError
        When one is no distribution, they differ in length, or the base is not above 1.

    References
    ----------
    Kerridge (1961), "Inaccuracy and inference".

    Examples
    --------
    >>> cross_entropy([0.5, 0.5], [0.25, 0.75], base=2)  # (2 + log2 4/3) / 2
    1.207518749639422
    >>> cross_entropy([0.5, 0.5], [1.0, 0.0])
    inf
    """
    p, q = _pair(p, q)
    return _in_base(0.0 - _special(p).xlogy(p, q).sum(-1), base)


@overload
def kl_divergence(p: Tensor, q: Tensor, base: float = math.e) -> Tensor: ...


@overload
def kl_divergence(p: ArrayLike, q: ArrayLike, base: float = math.e) -> float: ...


@checked(infinite="return")
def kl_divergence(p: Any, q: Any, base: float = math.e) -> Any:
    r"""Compute what is paid for believing ``q`` while ``p`` is true.

    .. math:: D_{\mathrm{KL}}(P\,\Vert\,Q) = \sum_x P(x)\log\frac{P(x)}{Q(x)} = H(P, Q) - H(P)

    Parameters
    ----------
    p, q : array_like of shape (outcomes,), or Tensor of shape (\*batch, outcomes)
        What is true and what is believed.
    base : float
        Of the logarithm: e for nats, 2 for bits.

    Returns
    -------
    float, or Tensor of shape (\*batch,)
        0 or more, and 0 only when they are equal; infinite when ``q`` excludes what happens.

    Raises
    ------
    ValueError
        When one is no distribution, they differ in length, or the base is not above 1.

    References
    ----------
    Kullback and Leibler (1951).

    Examples
    --------
    >>> kl_divergence([0.5, 0.5], [0.25, 0.75], base=2)
    0.2075187496394219
    >>> import torch
    >>> kl_divergence(torch.tensor([[0.5, 0.5], [0.5, 0.5]]), torch.tensor([[0.25, 0.75], [1, 0]]))
    tensor([0.1438,    inf])
    """
    p, q = _pair(p, q)
    if not is_tensor(p):
        return _in_base(_divergence(p, q), base)
    xlogy = _special(p).xlogy
    nats = (xlogy(p, p) - xlogy(p, q)).sum(-1)
    own = np.asarray(_divergence(*(t.detach().double().numpy(force=True) for t in (p, q))))
    return _in_base(_with_value(nats, nats.new_tensor(own)), base)


def _divergence(p: Numbers, q: Numbers) -> Any:
    r"""Add up :math:`p\log\frac pq - p + q`, none of which is negative: nothing cancels.

    Both sum to 1, and what they sum to besides, up to rounding, is no part of the divergence.
    """
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        away = (q - p) / p  # q / p - 1
        near = np.abs(away) < 0.01
        x = np.where(near, away, 0.0)
        # x - log(1 + x), whose first two terms cancel, by its series
        series = x * x * (1 / 2 - x * (1 / 3 - x * (1 / 4 - x * (1 / 5 - x * (1 / 6 - x / 7)))))
        far = scipy.special.rel_entr(p, q) + (q - p)
        return np.where(near & (p > 0), p * series, np.maximum(far, 0)).sum(axis=-1)


def _with_value(nats: Tensor, value: Tensor) -> Tensor:
    """Give a tensor another value, rounded less, and leave its gradient as it is."""
    different = nats.isfinite() & value.isfinite()
    return nats + (value - nats).detach().where(different, 0.0)


def _not_below_0(nats: Any) -> Any:
    """Return an entropy of probabilities that sum to a little more than 1, too."""
    return _with_value(nats, nats.clamp(min=0)) if is_tensor(nats) else max(0.0, float(nats))
