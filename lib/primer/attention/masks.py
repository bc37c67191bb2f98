r"""Masks: which query may attend to which key.

A mask holds truth values, ``True`` where attention is allowed.  Masks are combined with ``&``; they
broadcast against the scores, whose shape is (..., heads, queries, keys).
"""

from __future__ import annotations

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from primer.inputs import checked, count
from primer.inputs.tensors import holds_whole

LARGEST = 1 << 30
"""How many pairs of query and key a mask may have: 8 GiB while it is computed."""


def query_offsets(n_queries: int, n_keys: int | None) -> Int[Tensor, "queries keys"]:
    """Compute how far each key stands before each query; both sequences end together."""
    count("n_queries", n_queries)
    keys = n_queries if n_keys is None else count("n_keys", n_keys)
    if not 1 <= n_queries <= keys:
        raise ValueError(f"need 1 ≤ n_queries ≤ n_keys, got {n_queries} and {keys}")
    if n_queries * keys > LARGEST:
        raise ValueError(
            f"{n_queries:,} queries and {keys:,} keys are more pairs than the {LARGEST:,} that a "
            "mask holds; take fewer"
        )
    query_positions = torch.arange(keys - n_queries, keys)
    return query_positions[:, None] - torch.arange(keys)


def causal_mask(n_queries: int, n_keys: int | None = None) -> Bool[Tensor, "queries keys"]:
    r"""Allow each query the keys up to its own position.

    .. math:: \text{allowed}_{ij} = [\,j \le i\,]

    Parameters
    ----------
    n_queries : int
        The number of queries; they stand at the last positions of the sequence, so that with a
        key-value cache ``n_queries=1`` gives the row of the newest token.
    n_keys : int, optional
        The number of keys; as many as queries when left out.

    Returns
    -------
    Tensor of bool of shape (queries, keys)
        ``True`` where attention is allowed.

    Raises
    ------
    ValueError
        When there is no query, or there are more queries than keys.

    References
    ----------
    Vaswani et al. (2017), section 3.2.3.

    Examples
    --------
    >>> causal_mask(2, 4).int()
    tensor([[1, 1, 1, 0],
            [1, 1, 1, 1]], dtype=torch.int32)
    """
    return query_offsets(n_queries, n_keys) >= 0


def sliding_window_mask(
    n_queries: int, n_keys: int | None, window: int
) -> Bool[Tensor, "queries keys"]:
    r"""Allow each query the last ``window`` keys up to its own position.

    .. math:: \text{allowed}_{ij} = [\,0 \le i - j < w\,]

    Parameters
    ----------
    n_queries, n_keys : int
        As in :func:`causal_mask`.
    window : int
        The number of keys :math:`w \ge 1` a query sees, its own included.

    Returns
    -------
    Tensor of bool of shape (queries, keys)
        ``True`` where attention is allowed.

    Raises
    ------
    ValueError
        As :func:`causal_mask`, and when the window is smaller than 1.

    References
    ----------
    Beltagy, Peters and Cohan (2020), section 3.1; Jiang et al. (2023), section 2.

    Examples
    --------
    >>> sliding_window_mask(3, 3, window=2).int()
    tensor([[1, 0, 0],
            [1, 1, 0],
            [0, 1, 1]], dtype=torch.int32)
    """
    count("window", window)  # a query sees at least itself
    behind = query_offsets(n_queries, n_keys)
    return (behind >= 0) & (behind < window)


@checked
def padding_mask(
    lengths: Int[Tensor, " batch"] | list[int], n_keys: int
) -> Bool[Tensor, "batch 1 1 keys"]:
    r"""Allow every query the real keys of its sequence and none of the padding behind them.

    .. math:: \text{allowed}_{bij} = [\,j < \text{length}_b\,]

    Parameters
    ----------
    lengths : Tensor or list of int, of shape (batch,)
        How many real tokens each sequence has, from 1 to ``n_keys``.
    n_keys : int
        The length to which the sequences are padded.

    Returns
    -------
    Tensor of bool of shape (batch, 1, 1, keys)
        The same for all heads and queries.  Combine it with ``causal_mask(n) & padding_mask(…)``.

    Raises
    ------
    ValueError
        When a length is not between 1 and ``n_keys``.

    Examples
    --------
    >>> padding_mask([1, 3], n_keys=3)[:, 0, 0].int()
    tensor([[1, 0, 0],
            [1, 1, 1]], dtype=torch.int32)
    """
    if isinstance(lengths, list) and any(abs(length) > n_keys for length in lengths):
        raise ValueError(
            f"every sequence needs 1 to n_keys = {n_keys} real tokens, got lengths {lengths}"
        )
    real = torch.as_tensor(lengths)
    if real.ndim != 1 or not holds_whole(real):
        raise ValueError(f"lengths must be a list of whole numbers, got {lengths!r}")
    if len(real) * n_keys > LARGEST:
        raise ValueError(f"n_keys must be at most {LARGEST // len(real):,} here, got {n_keys:,}")
    if real.numel() == 0 or real.min() < 1 or real.max() > n_keys:
        raise ValueError(
            f"every sequence needs 1 to n_keys = {n_keys} real tokens, got lengths {real.tolist()}"
        )
    return (torch.arange(n_keys, device=real.device) < real[:, None])[:, None, None]
