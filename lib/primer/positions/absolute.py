"""Absolute positions: one vector for each position, added to the embedding of the token."""

from __future__ import annotations

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from primer.inputs import Dim, checked, room
from primer.positions.frequencies import Positions, as_positions, check_pairs, rope_angles


@checked
def sinusoidal_positions(
    positions: Positions, dim: int, base: float = 10_000.0
) -> Float[Tensor, "*positions dim"]:
    r"""Compute the sinusoidal position vectors.

    .. math::
        \mathrm{PE}(t, 2i) = \sin(t\,b^{-2i/d}), \qquad \mathrm{PE}(t, 2i+1) = \cos(t\,b^{-2i/d})

    A sine and the cosine beside it share one frequency.  That is what makes each pair a point on a
    circle, a shift of the position a rotation of the pair, and
    :math:`\lVert\mathrm{PE}(t)\rVert^2 = d/2` for every :math:`t`.

    Parameters
    ----------
    positions : Tensor, sequence of int, range or int
        Whole numbers :math:`t \ge 0` in any shape; ``range(n)`` for a sequence of ``n`` tokens.
    dim : int
        The number of coordinates :math:`d`, even.
    base : float
        The base :math:`b` of the frequencies.

    Returns
    -------
    Tensor of shape (\*positions, dim)
        Numbers in :math:`[-1, 1]`, in double precision.

    Raises
    ------
    ValueError
        When a position is negative or not whole, ``dim`` is odd or ``base`` is not above 1.

    References
    ----------
    Vaswani et al. (2017), section 3.5.

    Examples
    --------
    >>> sinusoidal_positions([0, 1], dim=4)
    tensor([[0.0000, 1.0000, 0.0000, 1.0000],
            [0.8415, 0.5403, 0.0100, 1.0000]], dtype=torch.float64)
    """
    check_pairs(dim, "sinusoidal_positions")
    angles = rope_angles(positions, dim, base)  # (*positions, dim / 2)
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2)  # (*positions, dim)


class LearnedPositions(nn.Module):
    r"""A table with one trainable vector for each position up to a fixed length.

    Row :math:`t` of the table is the position vector :math:`p_t`; only the rows that occur in a
    batch receive a gradient.

    Parameters
    ----------
    max_length : int
        The number of rows: positions ``0 … max_length - 1`` have a vector, later ones have none.
    dim : int
        The number of coordinates of each vector.

    Raises
    ------
    ValueError
        When ``max_length`` or ``dim`` is smaller than 1.

    References
    ----------
    Gehring et al. (2017), section 3.1; Radford et al. (2019) for GPT-2.

    Examples
    --------
    >>> table = LearnedPositions(max_length=8, dim=4)
    >>> table([0, 1, 2]).shape
    torch.Size([3, 4])
    >>> table([8])
    Traceback (most recent call last):
        ...
    ValueError: position 8 has no vector: the table was built for positions 0 … 7
    """

    @checked
    def __init__(self, max_length: Dim, dim: Dim) -> None:
        super().__init__()
        room(max_length=max_length, dim=dim)
        self.weight = nn.Parameter(torch.empty(max_length, dim))
        nn.init.normal_(self.weight, std=0.02)  # as in Hugging Face; OpenAI took 0.01

    def forward(self, positions: Positions) -> Float[Tensor, "*positions dim"]:
        """Look up the vectors of the given positions; refuse positions outside the table."""
        return self.weight[_rows(positions, len(self.weight))]


def _rows(positions: Positions, length: int) -> Int[Tensor, "*positions"]:
    """Return positions as rows of a table that has so many, or refuse those outside it."""
    rows = as_positions(positions)
    if rows.numel() and rows.max() >= length:
        raise ValueError(
            f"position {int(rows.max())} has no vector: "
            f"the table was built for positions 0 … {length - 1}"
        )
    return rows
