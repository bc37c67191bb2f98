"""How wrong a prediction is: losses as functions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..comparing import truth
from ..dtypes import cased, int64
from ..engine import record
from ..naming import FUNCTIONS, public
from ..promotion import finished
from ..tensor import Tensor, made

_CHOICES = ("none", "mean", "sum")


def reduced(loss: Tensor, reduction: str) -> Tensor:
    """Return the mean, the sum, or each loss."""
    if reduction not in _CHOICES:
        raise ValueError(f"{reduction} is not a valid value for reduction")
    return loss.mean() if reduction == "mean" else loss.sum() if reduction == "sum" else loss


def old_names(size_average: Any, reduce: Any) -> None:
    """Refuse keywords that torch keeps for old programs."""
    if size_average is not None or reduce is not None:
        raise NotImplementedError(
            "torch in this page has no size_average= and reduce=; write reduction="
        )


def _alike(input: Tensor, target: Tensor) -> None:
    if input.shape != target.shape:
        from ..tensor import warn_once

        warn_once(
            f"Using a target size ({target.shape}) that is different to the input size "
            f"({input.shape}). "
            "This will likely lead to incorrect results due to broadcasting. Please ensure they "
            "have the "
            "same size."
        )


@public
def nll_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: Any = None,
    ignore_index: int = -100,
    reduce: Any = None,
    reduction: str = "mean",
) -> Tensor:
    """Return the negative logarithms of probabilities of what came true."""
    old_names(size_average, reduce)
    if reduction not in _CHOICES:
        raise ValueError(f"{reduction} is not a valid value for reduction")
    x, t = input._a, target._a
    if target._dtype.kind != 1:
        raise RuntimeError(f"expected scalar type Long but found {cased(target._dtype)}")
    dim = 0 if x.ndim == 1 else 1
    if x.ndim > 1 and x.shape[0] != (t.shape[0] if t.ndim else 0):
        raise ValueError(
            f"Expected input batch_size ({x.shape[0]}) to match target batch_size "
            f"({t.shape[0] if t.ndim else 0})."
        )
    if x.shape[:dim] + x.shape[dim + 1 :] != t.shape:
        raise RuntimeError(
            f"Expected target size {list(x.shape[:dim] + x.shape[dim + 1 :])}, got {list(t.shape)}"
        )
    counted = t != ignore_index
    classes = x.shape[dim]
    if (counted & ((t < 0) | (t >= classes))).any():
        wrong = t[counted & ((t < 0) | (t >= classes))].ravel()[0]
        raise IndexError(f"Target {wrong} is out of bounds.")
    place = np.expand_dims(np.where(counted, t, 0), dim)
    share = counted.astype(x.dtype)
    if weight is not None:
        share = share * weight._a[np.where(counted, t, 0)]
    factor = made(share, input._dtype)
    index = made(place.astype(np.int64), int64)
    picked = np.squeeze(np.take_along_axis(x, place, dim), dim)
    losses = -picked * share
    total = share.sum(dtype=np.float64)
    if reduction == "mean":
        with np.errstate(all="ignore"):
            out = losses.sum() / x.dtype.type(total)
    else:
        out = losses.sum() if reduction == "sum" else losses

    def rule(g: Tensor, _: Tensor) -> Tensor:
        part = -(g * factor)
        part = part / float(total) if reduction == "mean" and total else part
        return part.new_zeros(x.shape).scatter(dim, index, part.unsqueeze(dim))

    return record(finished(out, input._dtype), input._dtype, (input,), (rule,), "NllLoss")


@public
def cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: Any = None,
    ignore_index: int = -100,
    reduce: Any = None,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Tensor:
    """Return the cross-entropy of logits and the classes, or probabilities, that came true."""
    old_names(size_average, reduce)
    dim = 0 if input._a.ndim == 1 else 1
    if input._dtype.kind < 2:
        raise NotImplementedError(
            f"\"log_softmax_lastdim_kernel_impl\" not implemented for '{cased(input._dtype)}'"
        )
    logs = FUNCTIONS["log_softmax"](input, dim)
    shape = [1] * input._a.ndim
    shape[dim] = -1
    if target._dtype.kind == 2:
        if target.shape != input.shape:
            raise RuntimeError(
                "Expected floating point type for target with class probabilities to have the "
                "shape of "
                f"the input {list(input.shape)}, got {list(target.shape)}"
            )
        n = input.shape[dim]
        wanted = (
            target if not label_smoothing else target * (1 - label_smoothing) + label_smoothing / n
        )
        parts = wanted * logs if weight is None else wanted * logs * weight.reshape(shape)
        if reduction == "mean":
            return -parts.sum() / max(parts.numel() // n, 1)
        return reduced(-parts.sum(dim), reduction)
    plain = nll_loss(logs, target, weight, ignore_index=ignore_index, reduction=reduction)
    if not label_smoothing:
        return plain
    counted = truth(target._a != ignore_index)
    smooth = -(logs if weight is None else logs * weight.reshape(shape)).sum(dim)
    smooth = smooth.masked_fill(~counted, 0.0)
    n = input.shape[dim]
    if reduction == "mean":
        share = float(counted._a.sum())
        if weight is not None:
            share = float(weight._a[target._a[counted._a]].sum())
        smooth = smooth.sum() / share
    else:
        smooth = reduced(smooth, reduction)
    return (1 - label_smoothing) * plain + smooth * (label_smoothing / n)


@public
def mse_loss(
    input: Tensor,
    target: Tensor,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
    weight: Any = None,
) -> Tensor:
    """Return squared differences."""
    old_names(size_average, reduce)
    if weight is not None:
        raise NotImplementedError("torch in this page has no weight= for mse_loss")
    _alike(input, target)
    return _titled(reduced((input - target) ** 2, reduction), "MseLoss")


def _titled(loss: Tensor, name: str) -> Tensor:
    if loss._node is not None:
        loss._node.title = name + "Backward0"
    return loss


@public
def l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
    weight: Any = None,
) -> Tensor:
    """Return absolute differences."""
    old_names(size_average, reduce)
    if weight is not None:
        raise NotImplementedError("torch in this page has no weight= for l1_loss")
    _alike(input, target)
    return reduced((input - target).abs(), reduction)


@public
def smooth_l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
    beta: float = 1.0,
) -> Tensor:
    """Return squares of small differences, and large differences as they are."""
    old_names(size_average, reduce)
    if beta == 0:
        return l1_loss(input, target, reduction=reduction)
    return _titled(reduced(_huber(input, target, beta) / beta, reduction), "SmoothL1Loss")


@public
def huber_loss(
    input: Tensor, target: Tensor, reduction: str = "mean", delta: float = 1.0, weight: Any = None
) -> Tensor:
    """Return squares of small differences, and large differences times their limit."""
    if weight is not None:
        raise NotImplementedError("torch in this page has no weight= for huber_loss")
    return _titled(reduced(_huber(input, target, delta), reduction), "HuberLoss")


def _huber(input: Tensor, target: Tensor, delta: float) -> Tensor:
    d = (input - target).abs()
    return FUNCTIONS["where"](d < delta, 0.5 * d * d, delta * (d - 0.5 * delta))


@public
def binary_cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
) -> Tensor:
    """Return the cross-entropy of probabilities."""
    old_names(size_average, reduce)
    if input.shape != target.shape:
        raise ValueError(
            f"Using a target size ({target.shape}) that is different to the input size "
            f"({input.shape}) is "
            "deprecated. Please ensure they have the same size."
        )
    if input.numel() and not (input._a.min() >= 0 and input._a.max() <= 1):
        raise RuntimeError("all elements of input should be between 0 and 1")
    yes, no = input.log().clamp(min=-100), (1 - input).log().clamp(min=-100)
    loss = -(target * yes + (1 - target) * no)
    return _titled(
        reduced(loss if weight is None else loss * weight, reduction), "BinaryCrossEntropy"
    )


@public
def binary_cross_entropy_with_logits(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
    pos_weight: Tensor | None = None,
) -> Tensor:
    """Return the cross-entropy of logits and yes or no."""
    old_names(size_average, reduce)
    if input.shape != target.shape:
        raise ValueError(
            f"Target size ({target.shape}) must be the same as input size ({input.shape})"
        )
    from .functional import logsigmoid

    more = 1 if pos_weight is None else (pos_weight - 1) * target + 1
    loss = (1 - target) * input - more * logsigmoid(input)
    return reduced(loss if weight is None else loss * weight, reduction)


@public
def kl_div(
    input: Tensor,
    target: Tensor,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
    log_target: bool = False,
) -> Tensor:
    """Return the divergence of a distribution, given by logarithms, from a target."""
    old_names(size_average, reduce)
    if log_target:
        loss = target.exp() * (target - input)
    else:
        loss = FUNCTIONS["xlogy"](target, target) - target * input
    if reduction == "batchmean":
        return loss.sum() / input.shape[0]
    return reduced(loss, reduction)


@public
def poisson_nll_loss(
    input: Tensor,
    target: Tensor,
    log_input: bool = True,
    full: bool = False,
    size_average: Any = None,
    eps: float = 1e-8,
    reduce: Any = None,
    reduction: str = "mean",
) -> Tensor:
    """Return the negative log-likelihood of counts."""
    old_names(size_average, reduce)
    if full:
        raise NotImplementedError("torch in this page has no full= for poisson_nll_loss")
    loss = input.exp() - target * input if log_input else input - target * (input + eps).log()
    return reduced(loss, reduction)


@public
def gaussian_nll_loss(
    input: Tensor,
    target: Tensor,
    var: Any,
    full: bool = False,
    eps: float = 1e-6,
    reduction: str = "mean",
) -> Tensor:
    """Return the negative log-likelihood of normal numbers."""
    var = FUNCTIONS["full_like"](input, var) if not isinstance(var, Tensor) else var
    var = var.clamp(min=eps)
    loss = 0.5 * (var.log() + (input - target) ** 2 / var)
    return reduced(loss + 0.5 * math.log(2 * math.pi) if full else loss, reduction)


@public
def hinge_embedding_loss(
    input: Tensor,
    target: Tensor,
    margin: float = 1.0,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
) -> Tensor:
    """Return distances of what belongs together, and what others lack to a margin."""
    old_names(size_average, reduce)
    near = FUNCTIONS["where"](target == 1, input, FUNCTIONS["zeros_like"](input))
    far = FUNCTIONS["where"](
        target == -1, (margin - input).clamp(min=0), FUNCTIONS["zeros_like"](input)
    )
    return reduced(near + far, reduction)


@public
def soft_margin_loss(
    input: Tensor,
    target: Tensor,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
) -> Tensor:
    """Return ``log(1 + exp(-y x))``."""
    old_names(size_average, reduce)
    return reduced((-target * input).exp().log1p(), reduction)


@public
def margin_ranking_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: float = 0,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
) -> Tensor:
    """Return what pairs lack to their order by a margin."""
    old_names(size_average, reduce)
    return reduced((-target * (input1 - input2) + margin).clamp(min=0), reduction)


@public
def cosine_embedding_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: float = 0,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
) -> Tensor:
    """Return how far cosines are from 1, or above a margin."""
    old_names(size_average, reduce)
    from .functional import cosine_similarity

    cosine = cosine_similarity(input1, input2, dim=-1)
    zero = FUNCTIONS["zeros_like"](cosine)
    near = FUNCTIONS["where"](target == 1, 1 - cosine, zero)
    far = FUNCTIONS["where"](target == -1, (cosine - margin).clamp(min=0), zero)
    return reduced(near + far, reduction)


@public
def triplet_margin_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: float = 1.0,
    p: float = 2,
    eps: float = 1e-6,
    swap: bool = False,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
) -> Tensor:
    """Return what one distance lacks to be smaller than another by a margin."""
    old_names(size_average, reduce)
    from .functional import pairwise_distance

    near, far = (
        pairwise_distance(anchor, positive, p, eps),
        pairwise_distance(anchor, negative, p, eps),
    )
    if swap:
        far = far.minimum(pairwise_distance(positive, negative, p, eps))
    return reduced((near - far + margin).clamp(min=0), reduction)
