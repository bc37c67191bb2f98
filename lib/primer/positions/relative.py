r"""Relative positions as trained vectors, after Shaw, Uszkoreit and Vaswani (2018).

Each offset :math:`j - i`, clipped to :math:`[-k, k]`, owns one vector that is added to the keys and
one that is added to the values.  Since every pair of tokens has its own sum, the literal formula
needs a tensor of size length × length × dim; here the products with the :math:`2k + 1` vectors are
computed once for each query and then looked up.
"""

from __future__ import annotations

import math

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from primer.attention.dot_product import check_attention, dot_products
from primer.attention.masks import query_offsets
from primer.attention.multi_head import check_heads, merge_heads, split_heads
from primer.inputs import Count, Dim, Side, checked, room, tensor, truth
from primer.inputs.functions import same_precision
from primer.inputs.tensors import check_finite


@checked
def clipped_offsets(
    n_queries: int, n_keys: int, max_distance: Count
) -> Int[Tensor, "queries keys"]:
    r"""Compute the offset from each query to each key, clipped to a window.

    .. math:: \operatorname{clip}(j - i, k) = \max(-k, \min(k, j - i))

    Parameters
    ----------
    n_queries, n_keys : int
        The numbers of queries and keys.  Both end at the same position, so that with a key-value
        cache ``n_queries=1`` gives the row of the newest token.
    max_distance : int
        The largest distance :math:`k \ge 1` that has a vector of its own.

    Returns
    -------
    Tensor of shape (queries, keys)
        Whole numbers in :math:`[-k, k]`, negative for keys before the query.

    Raises
    ------
    ValueError
        When there is no query, there are more queries than keys, or ``max_distance`` is below 1.

    References
    ----------
    Shaw et al. (2018), section 3.2.

    Examples
    --------
    >>> clipped_offsets(4, 4, max_distance=2)
    tensor([[ 0,  1,  2,  2],
            [-1,  0,  1,  2],
            [-2, -1,  0,  1],
            [-2, -2, -1,  0]])
    """
    max_distance = min(max_distance, n_keys)  # none is farther away
    offsets = -query_offsets(n_queries, n_keys)  # j - i
    return offsets.clamp(-max_distance, max_distance)


def shaw_attention(
    query: Float[Tensor, "... queries dim"],
    key: Float[Tensor, "... keys dim"],
    value: Float[Tensor, "... keys dim_value"],
    key_offsets: Float[Tensor, "offsets dim"],
    value_offsets: Float[Tensor, "offsets dim_value"],
    causal: bool = False,
) -> Float[Tensor, "... queries dim_value"]:
    r"""Compute attention with a vector for each clipped offset.

    .. math::
        e_{ij} = \frac{q_i k_j^\top + q_i (a^K_{ij})^\top}{\sqrt{d_k}}, \qquad
        o_i = \sum_j \operatorname{softmax}_j(e_{ij})\,(v_j + a^V_{ij}), \qquad
        a_{ij} = w_{\operatorname{clip}(j-i,\,k)}

    Parameters
    ----------
    query, key, value : Tensor of shape (..., tokens, dim)
        The queries stand at the last positions of the keys: fewer queries than keys is decoding
        with a key-value cache.
    key_offsets, value_offsets : Tensor of shape (2 k + 1, dim)
        The vectors :math:`w^K` and :math:`w^V`; row 0 belongs to the offset :math:`-k`, the last
        row to :math:`+k`.
    causal : bool
        Whether a query sees only keys at its own position and before.

    Returns
    -------
    Tensor of shape (..., queries, dim_value)
        The outputs.

    Raises
    ------
    ValueError
        When the tables do not have the same odd number of rows (at least 3), their width is not
        that of the keys and values, the numbers of tokens or the leading axes do not fit, or a
        number is NaN, infinite or too large.

    References
    ----------
    Shaw et al. (2018), equations 3 to 5.

    Examples
    --------
    Two tokens with equal contents; the table alone says "look to the right":

    >>> token = torch.zeros(2, 1)
    >>> to_the_right = torch.tensor([[0.0], [0.0], [9.0]])
    >>> shaw_attention(token + 1, token, token, to_the_right, to_the_right / 9).round(decimals=3)
    tensor([[1.],
            [0.]])
    """
    _check_tables(query, key, value, key_offsets, value_offsets)
    max_distance = key_offsets.shape[0] // 2
    offsets = clipped_offsets(query.shape[-2], key.shape[-2], max_distance).to(query.device)
    rows = (offsets + max_distance).expand(*query.shape[:-1], -1)  # row of the table, from 0

    scale = 1 / math.sqrt(query.shape[-1])
    products = dot_products(query, key_offsets, scale)  # (..., queries, 2k + 1): q_i w_c for all c
    scores = dot_products(query, key, scale) + products.gather(-1, rows)
    if truth("causal", causal):
        future = torch.ones_like(offsets, dtype=torch.bool).triu(
            key.shape[-2] - query.shape[-2] + 1
        )
        scores = scores.masked_fill(future, -torch.inf)
    weights = scores.softmax(-1).to(value.dtype)  # (..., queries, keys)

    # Σ_j A_ij a_ij: first add up the weights that share an offset, then multiply by its vector.
    weight_of_offset = torch.zeros_like(products, dtype=value.dtype).scatter_add(-1, rows, weights)
    return weights @ value + weight_of_offset @ value_offsets


def _check_tables(
    query: Tensor, key: Tensor, value: Tensor, key_offsets: Tensor, value_offsets: Tensor
) -> None:
    """Raise a ``ValueError`` when the shapes of the tables and of the tokens do not fit."""
    for name, x in (("query", query), ("key", key), ("value", value)):
        tensor(name, x, axes=2)
    for name, table in (("key_offsets", key_offsets), ("value_offsets", value_offsets)):
        if tensor(name, table, beside=query).ndim != 2 or not same_precision(query, table.dtype):
            raise ValueError(
                f"{name} must have shape (offsets, width) and the precision of the queries, "
                f"{query.dtype}, got {tuple(table.shape)} of {table.dtype}"
            )
    rows = key_offsets.shape[0]
    if rows < 3 or rows % 2 == 0 or value_offsets.shape[0] != rows:
        raise ValueError(
            "a window of k positions to each side needs 2k + 1 vectors (3, 5, 7, …) for the keys "
            f"and as many for the values, got {rows} and {value_offsets.shape[0]}"
        )
    if query.shape[-1] != key.shape[-1] or key_offsets.shape[-1] != key.shape[-1]:
        raise ValueError(
            "queries, keys and key_offsets must have one width, got "
            f"{query.shape[-1]}, {key.shape[-1]} and {key_offsets.shape[-1]}"
        )
    if value_offsets.shape[-1] != value.shape[-1]:
        raise ValueError(
            "values and value_offsets must have one width, got "
            f"{value.shape[-1]} and {value_offsets.shape[-1]}"
        )
    if key.shape[-2] != value.shape[-2]:
        raise ValueError(f"{key.shape[-2]} keys but {value.shape[-2]} values")
    if query.shape[:-2] != key.shape[:-2]:
        raise ValueError(
            "queries, keys and values need the same leading axes, got shapes "
            f"{tuple(query.shape)}, {tuple(key.shape)} and {tuple(value.shape)}"
        )
    check_attention(query, key, value)
    check_finite("key_offsets", key_offsets)
    check_finite("value_offsets", value_offsets)


class ShawRelativeAttention(nn.Module):
    r"""Multi-head self-attention with trained vectors for clipped offsets.

    The :math:`2k + 1` vectors for keys and the :math:`2k + 1` for values are shared by all heads.

    Parameters
    ----------
    d_model : int
        The width of the tokens.
    n_heads : int
        The number of heads, a divisor of ``d_model``.
    max_distance : int
        The largest distance :math:`k` that has a vector of its own.
    causal : bool
        Whether a token sees only itself and what came before.

    Raises
    ------
    ValueError
        When ``n_heads`` does not divide ``d_model`` or ``max_distance`` is below 1.

    References
    ----------
    Shaw et al. (2018), section 3.

    Examples
    --------
    >>> layer = ShawRelativeAttention(d_model=8, n_heads=2, max_distance=3)
    >>> layer(torch.zeros(5, 8)).shape
    torch.Size([5, 8])
    >>> layer.key_offsets.shape  # 2 · 3 + 1 vectors, whatever the length
    torch.Size([7, 4])
    """

    @checked
    def __init__(
        self, d_model: Side, n_heads: int, max_distance: Dim, causal: bool = False
    ) -> None:
        super().__init__()
        check_heads(d_model, n_heads)
        self.n_heads, self.causal = n_heads, causal
        d_head = d_model // n_heads
        room(2 * d_head, max_distance=max_distance)
        self.to_qkv = nn.Linear(d_model, 3 * d_model, bias=False)
        self.to_output = nn.Linear(d_model, d_model, bias=False)
        self.key_offsets = nn.Parameter(torch.randn(2 * max_distance + 1, d_head) / d_head**0.5)
        self.value_offsets = nn.Parameter(torch.randn(2 * max_distance + 1, d_head) / d_head**0.5)

    def forward(
        self, x: Float[Tensor, "*batch seq d_model"]
    ) -> Float[Tensor, "*batch seq d_model"]:
        """Let every token gather from the others."""
        width = self.to_qkv.in_features
        if tensor("x", x, axes=2).shape[-1] != width or not same_precision(
            x, self.to_qkv.weight.dtype
        ):
            raise ValueError(
                f"x must hold tokens of width {width} in {self.to_qkv.weight.dtype}, got "
                f"{x.dtype} of shape {tuple(x.shape)}"
            )
        check_finite("x", x)
        heads = split_heads(self.to_qkv(x), 3 * self.n_heads)
        query, key, value = heads.chunk(3, dim=-3)  # each (*batch, heads, seq, d_head)
        output = shaw_attention(
            query, key, value, self.key_offsets, self.value_offsets, causal=self.causal
        )
        return self.to_output(merge_heads(output))
