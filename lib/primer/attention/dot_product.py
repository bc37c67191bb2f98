"""Scaled dot-product attention, written as its formula."""

from __future__ import annotations

import math

import numpy as np
import torch
from jaxtyping import Bool, Float
from torch import Tensor

from primer.attention.observing import Observe, shown
from primer.inputs import number, tensor
from primer.inputs.tensors import all_finite, check_finite


def scaled_dot_product_attention(
    query: Float[Tensor, "... queries d_k"],
    key: Float[Tensor, "... keys d_k"],
    value: Float[Tensor, "... keys d_v"],
    mask: Bool[Tensor, "..."] | None = None,
    bias: Float[Tensor, "..."] | None = None,
    scale: float | None = None,
    observe: Observe | None = None,
) -> tuple[Float[Tensor, "... queries d_v"], Float[Tensor, "... queries keys"]]:
    r"""Compute scaled dot-product attention and its weights.

    .. math::
        A = \operatorname{softmax}\!\left(\frac{QK^\top}{\sqrt{d_k}} + B\right), \qquad O = AV

    The softmax runs along each row.  Where the mask forbids, the score is :math:`-\infty` and the
    weight exactly 0.

    Parameters
    ----------
    query : Tensor of shape (..., queries, d_k)
        What each position asks for.  Leading axes are batch and heads.
    key : Tensor of shape (..., keys, d_k)
        What each position offers to be found by.
    value : Tensor of shape (..., keys, d_v)
        What each position hands over.  Keys and values may have fewer heads (axis -3) than the
        queries: then neighboring query heads share one, as in grouped-query attention.
    mask : Tensor of bool, optional
        ``True`` where attention is allowed; broadcasts against (..., queries, keys).
    bias : Tensor, optional
        Added to the scaled scores, for example ALiBi's penalties; broadcasts like the mask.
    scale : float, optional
        What the products are multiplied by; :math:`1/\sqrt{d_k}` when left out.
    observe : callable, optional
        Is shown the ``scores`` before the mask and the ``weights``, and may return others.

    Returns
    -------
    output : Tensor of shape (..., queries, d_v)
        For each query a weighted mean of the values.
    weights : Tensor of shape (..., queries, keys)
        Numbers :math:`\ge 0`.  Each row sums to 1, except that a query that may attend to nothing,
        by the mask, by a bias of :math:`-\infty` or by both, gets weights 0 and output 0.

    Raises
    ------
    ValueError
        When shapes do not fit, the mask holds no truth values, an input contains NaN or infinity,
        other than :math:`-\infty` in the bias, or the scores are too large for their precision.

    References
    ----------
    Vaswani et al. (2017), equation 1.

    Examples
    --------
    >>> keys = torch.tensor([[1.0, 0.0], [0.0, 1.0]])
    >>> values = torch.tensor([[10.0], [20.0]])
    >>> scaled_dot_product_attention(torch.tensor([[0.0, 0.0]]), keys, values)
    (tensor([[15.]]), tensor([[0.5000, 0.5000]]))
    >>> scaled_dot_product_attention(torch.tensor([[500.0, 0.0]]), keys, values)
    (tensor([[10.]]), tensor([[1., 0.]]))
    """
    check_attention(query, key, value)
    key, value = share_heads(query, key, value)
    scale = 1 / math.sqrt(query.shape[-1]) if scale is None else number("scale", scale)
    scores = dot_products(query, key, scale)  # (..., queries, keys)
    check_fits("bias", bias, scores.shape)
    check_fits("mask", mask, scores.shape)
    if bias is not None:
        scores = scores + bias
    scores = shown(observe, "scores", scores)
    if mask is not None:
        scores = scores.masked_fill(~mask, -torch.inf)
    weights = shown(observe, "weights", row_weights(scores).to(value.dtype))
    return weights @ value, weights


def dot_products(query: Tensor, key: Tensor, scale: float) -> Float[Tensor, "... queries keys"]:
    r"""Compute the scaled products of all queries and keys, in single precision at least.

    A half-precision number ends at 65,504, which a few coordinates of 150 pass.

    Raises
    ------
    ValueError
        When a product is larger than any number of its precision.

    Examples
    --------
    >>> large = torch.full((1, 4), 150.0, dtype=torch.float16)
    >>> dot_products(large, large, scale=0.5)
    tensor([[45000.]])
    """
    wide = torch.promote_types(query.dtype, torch.float32)
    scores = (query.to(wide) * scale) @ key.to(wide).transpose(-2, -1)
    if not all_finite(scores):
        raise ValueError(
            f"products of query and key are too large for {wide}: the largest entries are "
            f"{float(query.detach().abs().max()):.3g} and {float(key.detach().abs().max()):.3g}; "
            "make them smaller"
        )
    return scores


def row_weights(scores: Float[Tensor, "... queries keys"]) -> Float[Tensor, "... queries keys"]:
    r"""Turn each row of scores into weights by the softmax, a row that is all −∞ into zeros.

    The softmax of such a row would be 0/0, NaN, and so would its gradient be.

    Raises
    ------
    ValueError
        When a score is NaN or +∞.

    Examples
    --------
    >>> row_weights(torch.tensor([[0.0, -torch.inf], [-torch.inf, -torch.inf]]))
    tensor([[1., 0.],
            [0., 0.]])
    """
    largest = scores.detach().amax(dim=-1, keepdim=True)
    if not bool((largest < torch.inf).all()):  # nor is NaN
        raise ValueError(
            "scores must be finite, or −∞ where attention is forbidden, got NaN or +∞; "
            "make queries, keys and bias smaller"
        )
    nothing = largest == -torch.inf
    if not bool(nothing.any()):  # as nearly always: the scores are many, their rows few
        return scores.softmax(dim=-1)
    return scores.masked_fill(nothing, 0.0).softmax(dim=-1).masked_fill(nothing, 0.0)


def share_heads(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    """Repeat each head of the keys and values for the query heads that share it.

    Parameters
    ----------
    query, key, value : Tensor of shape (..., heads, tokens, dim)
        The number of query heads is a multiple of the number of key and value heads.

    Returns
    -------
    key, value : Tensor
        With as many heads as ``query``; query head ``h`` uses key head ``h // (heads / kv_heads)``.

    Raises
    ------
    ValueError
        When the numbers of heads do not divide.

    References
    ----------
    Ainslie et al. (2023), section 2.2.

    Examples
    --------
    >>> key = torch.arange(2.0)[:, None, None]  # two heads, one token each
    >>> share_heads(torch.zeros(4, 1, 1), key, key)[0].flatten()
    tensor([0., 0., 1., 1.])
    """
    tensor("query", query)
    tensor("key", key, axes=2, beside=query), tensor("value", value, axes=2, beside=key)
    if not query.ndim == key.ndim or key.shape[:-1] != value.shape[:-1]:
        raise ValueError(
            f"query, key and value need the same number of axes, and every key its value: query "
            f"{tuple(query.shape)}, key {tuple(key.shape)}, value {tuple(value.shape)}"
        )
    if query.ndim < 3 or query.shape[-3] == key.shape[-3]:
        return key, value
    heads, kv_heads = query.shape[-3], key.shape[-3]
    if kv_heads == 0 or heads % kv_heads:
        raise ValueError(
            f"{heads} query heads cannot share {kv_heads} key heads evenly: "
            f"the number of query heads must be a multiple of the number of key heads"
        )
    group = heads // kv_heads
    return key.repeat_interleave(group, dim=-3), value.repeat_interleave(group, dim=-3)


def check_fits(name: str, addend: Tensor | None, scores: torch.Size) -> None:
    """Raise a ``ValueError`` unless a mask or bias broadcasts to the shape of the scores."""
    if addend is None:
        return
    if not isinstance(addend, Tensor):
        raise ValueError(f"{name} must be a tensor, got {addend!r}; write torch.tensor({name})")
    if name == "mask" and addend.dtype != torch.bool:
        raise ValueError(f"mask must hold truth values, True = may attend; got {addend.dtype}")
    if name == "bias" and not addend.is_floating_point():
        raise ValueError(f"bias must hold numbers to add to the scores, got {addend.dtype}")
    if name == "bias" and addend.numel() and not addend.detach().amax() < torch.inf:
        raise ValueError(
            f"bias contains {'NaN' if addend.isnan().any() else '+∞'}; where attention is "
            "forbidden it may be −∞, or use mask"
        )
    try:  # NumPy's function, because torch's imports a second's worth of modules
        fits = np.broadcast_shapes(addend.shape, scores) == scores
    except ValueError:
        fits = False
    if not fits:
        raise ValueError(
            f"{name} of shape {tuple(addend.shape)} does not broadcast to the scores "
            f"(..., queries, keys) = {tuple(scores)}"
        )


def check_attention(query: Tensor, key: Tensor, value: Tensor) -> None:
    """Raise a ``ValueError`` unless queries, keys and values belong together and are finite."""
    for name, x in (("query", query), ("key", key), ("value", value)):
        if tensor(name, x, beside=key if x is query else query).dtype != query.dtype:
            raise ValueError(f"all need one precision: query {query.dtype}, {name} {x.dtype}")
        if x.is_nested or x.dtype.itemsize < 2:
            given = "a nested one" if x.is_nested else f"{x.dtype}; write {name}.bfloat16()"
            raise ValueError(f"{name} must be one tensor of 16 bits a number or more, got {given}")
    shapes = f"query {tuple(query.shape)}, key {tuple(key.shape)}, value {tuple(value.shape)}"
    if not query.ndim == key.ndim == value.ndim >= 2:
        raise ValueError(f"query, key and value need the same number of axes, ≥ 2: {shapes}")
    if query.shape[-1] != key.shape[-1] or query.shape[-1] == 0:
        raise ValueError(f"queries and keys need the same number of coordinates, ≥ 1: {shapes}")
    if key.shape[:-1] != value.shape[:-1] or key.shape[-2] == 0:
        raise ValueError(f"every key needs its value, and there must be one: {shapes}")
    if query.shape[:-3] != key.shape[:-3]:
        raise ValueError(f"query and key need the same batch axes: {shapes}")
    for name, x in (("query", query), ("key", key), ("value", value)):
        check_finite(name, x)
