"""Attention with linear biases: no position vectors, a penalty on distance in the scores."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

from primer.attention.masks import LARGEST, query_offsets
from primer.inputs import Dim, checked


@checked
def alibi_slopes(n_heads: Dim) -> Float[Tensor, " heads"]:
    r"""Compute the slope of each head.

    For :math:`H` heads, :math:`H` a power of two, head :math:`h = 1, \dots, H` has

    .. math:: m_h = 2^{-8h/H}.

    For other :math:`H` the authors' code takes the slopes of the largest power of two
    :math:`P < H`, then every second slope of :math:`2P` heads, starting with the first, until there
    are :math:`H`.

    Parameters
    ----------
    n_heads : int
        The number of heads :math:`H \ge 1`.

    Returns
    -------
    Tensor of shape (heads,)
        Penalty per position of distance, in double precision.

    Raises
    ------
    ValueError
        When ``n_heads`` is not a whole number of at least 1.

    References
    ----------
    Press, Smith and Lewis (2022), section 3 and the code they published.

    Examples
    --------
    >>> alibi_slopes(4)
    tensor([0.2500, 0.0625, 0.0156, 0.0039], dtype=torch.float64)
    >>> alibi_slopes(3)
    tensor([0.0625, 0.0039, 0.2500], dtype=torch.float64)
    """
    power = 2 ** (n_heads.bit_length() - 1)  # the largest power of two that is not above H
    slopes = _power_of_two_slopes(power)
    between = _power_of_two_slopes(2 * power)[0::2]
    return torch.cat([slopes, between[: n_heads - power]])


def _power_of_two_slopes(n_heads: int) -> Float[Tensor, " heads"]:
    r"""Compute :math:`2^{-8h/H}` for :math:`h = 1, \dots, H`."""
    return 2.0 ** (-8.0 * torch.arange(1, n_heads + 1, dtype=torch.float64) / n_heads)


@checked
def alibi_bias(
    n_heads: int, n_queries: int, n_keys: int | None = None
) -> Float[Tensor, "heads queries keys"]:
    r"""Compute what ALiBi adds to the scores: :math:`-m_h\,|i - j|`.

    Parameters
    ----------
    n_heads : int
        The number of heads.
    n_queries : int
        The number of queries; they stand at the last positions of the sequence, so that with a
        key-value cache ``n_queries=1`` gives the row of the newest token.
    n_keys : int, optional
        The number of keys; as many as queries when left out.

    Returns
    -------
    Tensor of shape (heads, queries, keys)
        Numbers :math:`\le 0`, in double precision, to be added to :math:`qk^\top/\sqrt{d_k}`.

    Raises
    ------
    ValueError
        When there is no head or no query, or there are more queries than keys.

    References
    ----------
    Press, Smith and Lewis (2022), section 3.

    Examples
    --------
    >>> alibi_bias(n_heads=8, n_queries=3)[0]
    tensor([[-0.0000, -0.5000, -1.0000],
            [-0.5000, -0.0000, -0.5000],
            [-1.0000, -0.5000, -0.0000]], dtype=torch.float64)
    """
    distance = query_offsets(n_queries, n_keys).abs()
    _check_size(n_heads, distance.numel())
    return -alibi_slopes(n_heads)[:, None, None] * distance


def _check_size(n_heads: int, pairs: int) -> None:
    """Raise a ``ValueError`` when a bias is larger than any memory."""
    if n_heads * pairs > LARGEST:
        raise ValueError(
            f"{n_heads:,} heads with {pairs:,} pairs of query and key are more numbers "
            f"than the {LARGEST:,} that a bias holds; take fewer"
        )
