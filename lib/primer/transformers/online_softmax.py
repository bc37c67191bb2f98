r"""Exact attention in blocks: the softmax is updated as keys arrive, no row of weights is stored.

The softmax needs the sum over *all* scores before it can divide.  Carrying that sum along, with the
largest score so far, makes one pass over the keys enough; the :math:`n\times n` matrix never
exists.  FlashAttention does this in the fast memory of a GPU.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from primer.attention.dot_product import check_attention, dot_products
from primer.inputs import Count, checked


class Running(NamedTuple):
    """What is known about attention after the keys seen so far, for each query."""

    largest: Float[Tensor, "... queries 1"]
    """The largest score :math:`m`."""
    total: Float[Tensor, "... queries 1"]
    r"""The sum :math:`\ell` of :math:`e^{s-m}`."""
    output: Float[Tensor, "... queries d_value"]
    r"""The sum of :math:`e^{s-m}v`, not yet divided by :math:`\ell`."""


def update(
    running: Running,
    scores: Float[Tensor, "... queries keys"],
    value: Float[Tensor, "... keys d_value"],
) -> Running:
    r"""Take in a block of keys: rescale what is known to the new largest score, then add.

    .. math::
        m' = \max(m, \max_j s_j), \qquad
        \ell' = e^{m-m'}\ell + \sum_j e^{s_j-m'}, \qquad
        o' = e^{m-m'}o + \sum_j e^{s_j-m'}v_j

    Parameters
    ----------
    running : Running
        What is known so far.
    scores : Tensor of shape (..., queries, keys)
        The scores of the new keys; :math:`-\infty` where a query may not look.
    value : Tensor of shape (..., keys, d_value)
        Their values.

    Returns
    -------
    Running
        What is known now.

    References
    ----------
    Milakov and Gimelshein (2018), algorithm 3; Dao et al. (2022), algorithm 1.
    """
    largest = torch.maximum(running.largest, scores.amax(-1, keepdim=True))
    seen = largest.masked_fill(
        largest == -torch.inf, 0.0
    )  # no key may be seen yet: −∞ − 0, not NaN
    shrink = torch.exp(running.largest - seen)
    terms = torch.exp(scores - seen)  # (..., queries, keys of this block)
    return Running(
        largest,
        shrink * running.total + terms.sum(-1, keepdim=True),
        shrink * running.output + terms @ value,
    )


@checked
def blockwise_attention(
    query: Float[Tensor, "... queries d_key"],
    key: Float[Tensor, "... keys d_key"],
    value: Float[Tensor, "... keys d_value"],
    block_size: Count = 128,
    causal: bool = False,
) -> Float[Tensor, "... queries d_value"]:
    r"""Compute attention exactly, with room for one block of scores at a time.

    .. math:: \mathrm{softmax}\Bigl(\tfrac{QK^\top}{\sqrt{d_k}}\Bigr)V

    Parameters
    ----------
    query, key, value : Tensor of shape (..., tokens, features)
        Queries, keys and values with the same leading axes.
    block_size : int
        How many queries and how many keys meet at a time; many small products take longer than
        few large ones.
    causal : bool
        Whether a query sees no keys after its own place; the last query stands at the last key.
        Blocks that no query may see are not computed.

    Returns
    -------
    Tensor of shape (..., queries, d_value)
        What attention returns, up to rounding.

    Raises
    ------
    ValueError
        When shapes do not fit, ``block_size`` is not positive, there is no key, or causal queries
        outnumber the keys.

    References
    ----------
    Dao et al. (2022), algorithm 1.

    Examples
    --------
    >>> x = torch.eye(3)
    >>> blockwise_attention(x, x, x, block_size=2, causal=True)[0]
    tensor([1., 0., 0.])
    """
    check_attention(query, key, value)
    if query.shape[:-2] != key.shape[:-2]:
        raise ValueError(
            "queries, keys and values need the same leading axes, got shapes "
            f"{tuple(query.shape)}, {tuple(key.shape)} and {tuple(value.shape)}"
        )
    n_queries, n_keys = query.shape[-2], key.shape[-2]
    if causal and n_queries > n_keys:
        raise ValueError(f"{n_queries} causal queries need as many keys, got {n_keys}")
    if n_queries == 0:
        return value[..., :0, :]
    first = n_keys - n_queries  # the place of query 0
    precision = value.dtype
    wide = torch.promote_types(precision, torch.float32)  # half precision ends at 65,504
    query, key, value = query.to(wide), key.to(wide), value.to(wide)
    outputs = []
    for start in range(0, n_queries, block_size):
        rows = query[..., start : start + block_size, :] / query.shape[-1] ** 0.5
        places = first + start + torch.arange(rows.shape[-2], device=query.device)
        seen = int(places[-1]) + 1 if causal else n_keys
        outputs.append(_one_block(rows, places, key, value, seen, block_size, causal))
    return torch.cat(outputs, dim=-2).to(precision)


def _one_block(
    rows: Tensor, places: Tensor, key: Tensor, value: Tensor, seen: int, size: int, causal: bool
) -> Tensor:
    """Attend from one block of scaled queries to the first ``seen`` keys, block by block."""
    running = Running(
        rows.new_full((*rows.shape[:-1], 1), -torch.inf),
        rows.new_zeros((*rows.shape[:-1], 1)),
        rows.new_zeros((*rows.shape[:-1], value.shape[-1])),
    )
    for start in range(0, seen, size):
        stop = min(start + size, seen)
        scores = dot_products(rows, key[..., start:stop, :], 1.0)  # (..., queries, these keys)
        if causal and stop - 1 > places[0]:  # else every query sees all of these keys
            later = torch.arange(start, stop, device=rows.device) > places[:, None]
            scores = scores.masked_fill(later, -torch.inf)
        running = update(running, scores, value[..., start:stop, :])
    return result(running)


def result(running: Running) -> Float[Tensor, "... queries d_value"]:
    """Divide by the sum: the mean of the values, 0 for a query that may look at no key.

    Examples
    --------
    >>> start = Running(torch.tensor([[-torch.inf]]), torch.zeros(1, 1), torch.zeros(1, 1))
    >>> result(update(start, torch.tensor([[-torch.inf, -torch.inf]]), torch.ones(2, 1)))
    tensor([[0.]])
    """
    return running.output / running.total.masked_fill(running.total == 0, 1.0)
