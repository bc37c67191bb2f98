r"""What a head computes, read off its weights.

The QK circuit says where a head looks, the OV circuit what it then writes.

All matrices multiply row vectors from the right, as everywhere in the book.
"""

from __future__ import annotations

from jaxtyping import Float
from torch import Tensor, nn

from primer.attention.multi_head import MultiHeadAttention, split_heads
from primer.inputs import checked


def _columns(layer: nn.Linear, head: int, d_head: int) -> Float[Tensor, "d_model d_head"]:
    """Return the columns of a projection :math:`W` (in ``X @ W``) that belong to one head."""
    return layer.weight.T[:, head * d_head : (head + 1) * d_head]


def _check_head(attention: MultiHeadAttention, head: int) -> None:
    if not 0 <= head < attention.n_heads:
        raise ValueError(f"head must be 0 … {attention.n_heads - 1}, got {head}")


@checked
def qk_circuit(attention: MultiHeadAttention, head: int) -> Float[Tensor, "d_model d_model"]:
    r"""Compute the matrix of one head's scores.

    .. math::
        W_{QK} = W_Q^h (W_K^h)^\top, \qquad \text{score}_{ij} = x_i\,W_{QK}\,x_j^\top

    The scores are those before the division by :math:`\sqrt{d_k}`, without positions and biases.

    Parameters
    ----------
    attention : MultiHeadAttention
        The layer.
    head : int
        Which query head, counted from 0.

    Returns
    -------
    Tensor of shape (d_model, d_model)
        A matrix of rank at most ``d_head``.

    Raises
    ------
    ValueError
        When there is no such head.

    References
    ----------
    Elhage et al. (2021), "Splitting attention head terms into circuits".

    Examples
    --------
    >>> import torch
    >>> attention = MultiHeadAttention(d_model=8, n_heads=4)
    >>> torch.linalg.matrix_rank(qk_circuit(attention, head=0)).item()
    2
    """
    _check_head(attention, head)
    kv_head = head * attention.n_kv_heads // attention.n_heads
    query = _columns(attention.query, head, attention.d_head)
    return query @ _columns(attention.key, kv_head, attention.d_head).T


@checked
def ov_circuit(attention: MultiHeadAttention, head: int) -> Float[Tensor, "d_model d_model"]:
    r"""Compute the matrix through which one head moves a token's content to another token.

    .. math::
        W_{OV} = W_V^h W_O^h, \qquad \text{head}_h(X) = A^h X\,W_{OV}

    Parameters
    ----------
    attention : MultiHeadAttention
        The layer.
    head : int
        Which query head, counted from 0.

    Returns
    -------
    Tensor of shape (d_model, d_model)
        A matrix of rank at most ``d_head``; its rows lie in the row space of :math:`W_O^h`.

    Raises
    ------
    ValueError
        When there is no such head.

    References
    ----------
    Elhage et al. (2021), "Splitting attention head terms into circuits".

    Examples
    --------
    >>> import torch
    >>> attention = MultiHeadAttention(d_model=8, n_heads=4)
    >>> torch.linalg.matrix_rank(ov_circuit(attention, head=0)).item()
    2
    """
    _check_head(attention, head)
    kv_head = head * attention.n_kv_heads // attention.n_heads
    value = _columns(attention.value, kv_head, attention.d_head)
    rows = slice(head * attention.d_head, (head + 1) * attention.d_head)
    return value @ attention.output.weight.T[rows]


@checked
def head_outputs(
    attention: MultiHeadAttention,
    weights: Float[Tensor, "*batch heads queries keys"],
    source: Float[Tensor, "*batch keys d_model"],
) -> Float[Tensor, "*batch heads queries d_model"]:
    r"""Compute what each head adds to the layer's output.

    .. math::
        \operatorname{MHA}(X) = \sum_{h=1}^{H} A^h X\,W_V^h\,W_O^h + b_O

    Parameters
    ----------
    attention : MultiHeadAttention
        The layer.
    weights : Tensor of shape (\*batch, heads, queries, keys)
        The weights :math:`A^h`, from ``attention(…, return_weights=True)`` or changed on purpose.
    source : Tensor of shape (\*batch, keys, d_model)
        The tokens that hand over values: ``x`` in self-attention, else the memory.

    Returns
    -------
    Tensor of shape (\*batch, heads, queries, d_model)
        One term for each head; their sum, plus the output's bias if there is one, is the output.

    Raises
    ------
    ValueError
        When there is not one set of weights for each head, or not one token for each key.

    References
    ----------
    Elhage et al. (2021), "Attention heads are independent and additive".

    Examples
    --------
    >>> import torch
    >>> attention = MultiHeadAttention(d_model=8, n_heads=2)
    >>> x = torch.ones(1, 3, 8)
    >>> output, weights = attention(x, return_weights=True)
    >>> torch.allclose(head_outputs(attention, weights, x).sum(dim=1), output, atol=1e-6)
    True
    """
    heads, keys = weights.shape[-3], weights.shape[-1]
    width = attention.output.in_features
    if source.shape[-1] != width:
        raise ValueError(f"source must have width {width}, got shape {tuple(source.shape)}")
    if heads != attention.n_heads or keys != source.shape[-2]:
        raise ValueError(
            f"need weights of {attention.n_heads} heads over {source.shape[-2]} keys, "
            f"got weights of shape {tuple(weights.shape)}"
        )
    value = split_heads(attention.value(source), attention.n_kv_heads)
    value = value.repeat_interleave(attention.n_heads // attention.n_kv_heads, dim=-3)
    rows = attention.output.weight.T.unflatten(0, (attention.n_heads, attention.d_head))
    return weights @ value @ rows  # (*batch, heads, queries, d_model)
