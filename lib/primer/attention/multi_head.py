"""Multi-head attention: small attentions side by side, their results mixed by one matrix."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any, Protocol, runtime_checkable

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn
from torch.nn import functional

from primer.attention.dot_product import (
    check_fits,
    dot_products,
    scaled_dot_product_attention,
    share_heads,
)
from primer.attention.observing import Observe, shown, within
from primer.inputs import Side, checked, count, tensor, truth
from primer.inputs.functions import alike, same_precision
from primer.inputs.given import given
from primer.inputs.tensors import all_finite, check_finite, is_trusted

Rotate = Callable[[Tensor, int], Tensor]
"""Turns queries or keys (..., heads, seq, d_head) whose first token has the given position."""


@runtime_checkable
class Cache(Protocol):
    """Keys and values of one layer's earlier tokens."""

    @property
    def length(self) -> int:
        """The number of tokens held."""

    def append(self, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        """Add the keys and values of new tokens; return those of all tokens."""


def split_heads(
    x: Float[Tensor, "*batch seq d_model"], n_heads: int
) -> Float[Tensor, "*batch heads seq d_head"]:
    r"""Cut each vector into ``n_heads`` equal pieces, one for each head.

    Head :math:`h` receives coordinates :math:`h\,d/H, \dots, (h+1)\,d/H - 1`.

    Parameters
    ----------
    x : Tensor of shape (\*batch, seq, d_model)
        Projected queries, keys or values.
    n_heads : int
        The number of heads :math:`H`.

    Returns
    -------
    Tensor of shape (\*batch, heads, seq, d_model / heads)
        A view of ``x``.

    Raises
    ------
    ValueError
        When the heads do not divide the width.

    Examples
    --------
    >>> split_heads(torch.tensor([[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]]), n_heads=2)
    tensor([[[1., 2.],
             [5., 6.]],
    <BLANKLINE>
            [[3., 4.],
             [7., 8.]]])
    """
    check_heads(tensor("x", x, axes=2).shape[-1], n_heads)
    return x.unflatten(-1, (n_heads, -1)).transpose(-3, -2)


def merge_heads(
    x: Float[Tensor, "*batch heads seq d_head"],
) -> Float[Tensor, "*batch seq d_model"]:
    r"""Concatenate the heads' results again: the inverse of :func:`split_heads`.

    Parameters
    ----------
    x : Tensor of shape (\*batch, heads, seq, d_head)
        One result for each head and token.

    Returns
    -------
    Tensor of shape (\*batch, seq, heads · d_head)
        For each token the results of all heads, one behind the other.

    Examples
    --------
    >>> merge_heads(split_heads(torch.arange(8.0).reshape(2, 4), n_heads=2))
    tensor([[0., 1., 2., 3.],
            [4., 5., 6., 7.]])
    """
    return tensor("x", x, axes=3).transpose(-3, -2).flatten(-2)


def check_heads(d_model: int, n_heads: int) -> None:
    """Raise a ``ValueError`` unless ``n_heads`` heads share ``d_model`` coordinates evenly."""
    count("n_heads", n_heads)
    if d_model < 1 or d_model % n_heads:
        raise ValueError(
            f"d_model = {d_model} coordinates cannot be split evenly among n_heads = {n_heads}: "
            f"choose a number of heads that divides the width"
        )


def check_helpers(rotate: Rotate | None, cache: Any, return_weights: bool = False) -> None:
    """Raise a ``ValueError`` unless what turns by positions and what keeps can do so."""
    if is_trusted():
        return
    truth("return_weights", return_weights)
    if rotate is not None and (isinstance(rotate, type) or not callable(rotate)):
        raise ValueError(
            f"rotate must be a function of a tensor and its start, got {given(rotate)}"
        )
    if cache is not None and (isinstance(cache, type) or not hasattr(cache, "length")):
        raise ValueError(
            f"cache must be one layer's, such as KeyValueCache(config)[0], got {given(cache)}"
        )


class MultiHeadAttention(nn.Module):
    r"""Multi-head attention, for self-attention and cross-attention.

    .. math::
        \text{head}_h = \operatorname{softmax}\!\left(
            \frac{XW_Q^h (YW_K^h)^\top}{\sqrt{d/H}}\right) YW_V^h, \qquad
        \operatorname{MHA}(X, Y) = [\text{head}_1, \dots, \text{head}_H]\,W_O

    In self-attention :math:`Y = X`; in cross-attention :math:`Y` is the memory.

    Parameters
    ----------
    d_model : int
        The width :math:`d` of the tokens.
    n_heads : int
        The number of query heads :math:`H`, a divisor of ``d_model``.
    n_kv_heads : int, optional
        The number of key and value heads, a divisor of ``n_heads``; fewer than ``n_heads`` is
        grouped-query attention, 1 multi-query attention.  As many as ``n_heads`` when left out.
    bias : bool
        Whether the four linear maps add a bias.

    Raises
    ------
    ValueError
        When the heads do not divide the width, or the key heads the query heads.

    References
    ----------
    Vaswani et al. (2017), section 3.2.2; Ainslie et al. (2023) for grouped queries.

    Examples
    --------
    >>> attention = MultiHeadAttention(d_model=8, n_heads=2)
    >>> x = torch.ones(1, 3, 8)  # three equal tokens attend to each other equally
    >>> output, weights = attention(x, return_weights=True)
    >>> output.shape, weights.shape, round(weights.max().item(), 4)
    (torch.Size([1, 3, 8]), torch.Size([1, 2, 3, 3]), 0.3333)
    """

    @checked
    def __init__(
        self, d_model: Side, n_heads: int, n_kv_heads: int | None = None, bias: bool = False
    ) -> None:
        super().__init__()
        check_heads(d_model, n_heads)
        self.n_heads = n_heads
        self.n_kv_heads = n_heads if n_kv_heads is None else n_kv_heads
        if self.n_kv_heads < 1 or n_heads % self.n_kv_heads:
            raise ValueError(
                f"n_heads = {n_heads} query heads cannot share n_kv_heads = {self.n_kv_heads} "
                f"key heads evenly: choose a divisor of n_heads"
            )
        self.d_head = d_model // n_heads
        self.query = nn.Linear(d_model, d_model, bias=bias)
        self.key = nn.Linear(d_model, self.n_kv_heads * self.d_head, bias=bias)
        self.value = nn.Linear(d_model, self.n_kv_heads * self.d_head, bias=bias)
        self.output = nn.Linear(d_model, d_model, bias=bias)

    def forward(
        self,
        x: Float[Tensor, "*batch seq d_model"],
        memory: Float[Tensor, "*batch source d_model"] | None = None,
        *,
        mask: Bool[Tensor, "..."] | None = None,
        bias: Float[Tensor, "..."] | None = None,
        rotate: Rotate | None = None,
        cache: Cache | None = None,
        return_weights: bool = False,
        observe: Observe | None = None,
    ) -> Tensor | tuple[Tensor, Tensor]:
        r"""Let each token of ``x`` gather from the tokens of ``memory``, or of ``x`` itself.

        Parameters
        ----------
        x : Tensor of shape (\*batch, seq, d_model)
            The tokens that ask.
        memory : Tensor of shape (\*batch, source, d_model), optional
            The tokens that answer, for cross-attention; ``x`` itself when left out.
        mask : Tensor of bool, optional
            ``True`` where attention is allowed; broadcasts to (\*batch, heads, seq, source).
        bias : Tensor, optional
            Added to the scaled scores; broadcasts like the mask.
        rotate : callable, optional
            ``rotate(t, start)`` turns queries and keys (…, heads, seq, d_head) by their positions,
            the first of which is ``start``.
        cache : Cache, optional
            Keys and values of earlier tokens; those of ``x`` are appended.
        return_weights : bool
            Whether to compute the weights explicitly and return them as well.  Otherwise torch's
            fused kernel computes the same output without ever storing them.
        observe : callable, optional
            ``observe(name, tensor)`` is shown ``input``, ``queries``, ``keys`` and ``values`` of
            the tokens of ``x``, ``scores``, ``weights``, the ``heads``' results and the ``output``,
            and computes with what it returns instead, unless that is ``None``.

        Returns
        -------
        output : Tensor of shape (\*batch, seq, d_model)
        weights : Tensor of shape (\*batch, heads, seq, source)
            Only with ``return_weights``.

        Raises
        ------
        ValueError
            When the width is not ``d_model``, there is no token, a token contains NaN or infinity,
            ``x`` and ``memory`` are not as many texts, a mask or bias does not fit, ``rotate`` or
            ``cache`` meets a memory, or the observer returns another shape.
        """
        if memory is not None and (rotate is not None or cache is not None):
            raise ValueError("rotate and cache belong to self-attention: leave out memory or them")
        self._check(x, memory)
        check_helpers(rotate, cache, return_weights)
        observe = within(observe)
        x = shown(observe, "input", x)
        query, key, value = self.project(x, x if memory is None else memory)
        if rotate is not None:
            start = 0 if cache is None else cache.length
            query, key = alike("rotate", rotate, query, start), alike("rotate", rotate, key, start)
        query, key = shown(observe, "queries", query), shown(observe, "keys", key)
        value = shown(observe, "values", value)
        if cache is not None:
            key, value = cache.append(key, value)
        if return_weights or observe is not None:
            heads, weights = scaled_dot_product_attention(
                query, key, value, mask, bias, observe=observe
            )
        else:
            heads = _fused_attention(query, key, value, mask, bias)
        heads = shown(observe, "heads", heads)
        output = shown(observe, "output", self.output(merge_heads(heads)))
        return (output, weights) if return_weights else output

    def project(self, x: Tensor, source: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        r"""Compute the queries of ``x`` and the keys and values of ``source``, split into heads."""
        self._check_tokens("x", x)
        if source is not x:
            self._check_tokens("memory", source)
        return (
            split_heads(self.query(x), self.n_heads),
            split_heads(self.key(source), self.n_kv_heads),
            split_heads(self.value(source), self.n_kv_heads),
        )

    def _check(self, x: Tensor, memory: Tensor | None) -> None:
        """Raise a ``ValueError`` unless there are as many texts on both sides."""
        if is_trusted():
            return
        tensor("x", x, axes=1)
        if memory is not None and x.shape[:-2] != tensor("memory", memory, axes=1).shape[:-2]:
            raise ValueError(
                f"x and memory need the same batch axes, got shapes {tuple(x.shape)} and "
                f"{tuple(memory.shape)}; write memory.expand(…) for one memory of several texts"
            )

    def _check_tokens(self, name: str, tokens: Tensor) -> None:
        """Raise a ``ValueError`` unless these are finite tokens of the layer's width."""
        if is_trusted():
            return
        width = self.query.in_features
        weight: Any = getattr(self.query, "weight", None)  # none where fine-tuning wraps it
        tensor(name, tokens, beside=weight)
        if weight is not None and not same_precision(tokens, weight.dtype):
            wanted = weight.dtype
            raise ValueError(f"{name} needs the layer's precision, {wanted}, got {tokens.dtype}")
        if tokens.ndim < 2 or tokens.shape[-1] != width or tokens.shape[-2] == 0:
            raise ValueError(
                f"expected at least one token of width {width}, (…, tokens, {width}); "
                f"got {name} of shape {tuple(tokens.shape)}"
            )
        check_finite(name, tokens)


def _fused_attention(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, bias: Tensor | None
) -> Tensor:
    """Compute the output of ``scaled_dot_product_attention`` with torch's fused kernel."""
    if not is_trusted():
        scores = torch.Size([*query.shape[:-1], key.shape[-2]])
        check_fits("mask", mask, scores)
        check_fits("bias", bias, scores)
    key, value = share_heads(query, key, value)
    half = torch.is_autocast_enabled("cpu")
    if half:  # on a CPU the kernel is faster in float32 than in bfloat16
        query, key, value = query.float(), key.float(), value.float()
    if not is_trusted():
        _check_scores(query, key)
    allowed = mask
    if bias is not None:  # the kernel takes one addend: the bias, −∞ where the mask forbids
        allowed = _narrowed(bias, query.dtype)
        if mask is not None:
            allowed = allowed.masked_fill(~mask, -torch.inf)
    with torch.autocast("cpu", enabled=False) if half else nullcontext():
        heads = functional.scaled_dot_product_attention(query, key, value, attn_mask=allowed)
    if not all_finite(heads):
        raise ValueError(
            f"the scores of queries and keys are too large for {query.dtype}, or the weights are "
            "NaN or infinite; make the tokens or the weights smaller"
        )
    return heads


def _check_scores(query: Tensor, key: Tensor) -> None:
    """Raise a ``ValueError`` where a score is no number: the kernel would take −∞ for a mask.

    No product of two vectors is larger than that of their lengths, which is asked more quickly.
    """
    wide = torch.promote_types(query.dtype, torch.float32)
    try:
        lengths = [float(torch.linalg.vector_norm(x.detach(), dtype=wide)) for x in (query, key)]
    except RuntimeError:  # on "meta", inside vmap
        return
    if not lengths[0] * lengths[1] < torch.finfo(wide).max / 2:  # nor is NaN
        check_finite("query", query)
        check_finite("key", key)
        dot_products(query.detach(), key.detach(), query.shape[-1] ** -0.5)


def _narrowed(bias: Tensor, dtype: torch.dtype) -> Tensor:
    """Give the bias in the precision of the scores, or say that it has no room for it."""
    narrow = bias.to(dtype)
    if dtype != bias.dtype and bool((narrow.isinf() & ~bias.isinf()).any()):
        raise ValueError(
            f"bias is too large for {dtype}, the precision of the scores: make it smaller, or −∞ "
            "where attention is forbidden"
        )
    return narrow
