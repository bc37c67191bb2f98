"""RoPE as a model runs it: sines and cosines computed once, then only multiplied."""

from __future__ import annotations

from dataclasses import asdict

import torch
from jaxtyping import Float
from torch import Tensor, nn

from primer.positions import angles_at, llama3_frequencies, rope_frequencies
from primer.transformers.config import RopeStretch

LARGEST = 1 << 31
"""How many numbers a table of positions may hold: 8 GiB in single precision."""


class Rotary(nn.Module):
    r"""Turn queries and keys by their positions, as :func:`primer.positions.apply_rope` does.

    .. math::
        (a, b) \mapsto (a\cos t\omega_i - b\sin t\omega_i,\; b\cos t\omega_i + a\sin t\omega_i)
               = (a, b)\cos t\omega_i + (b, a)\odot(-\sin t\omega_i, \sin t\omega_i)

    The tables hold the cosine and the signed sine for every position of the context and every
    coordinate, so that a vector is multiplied by one and its partners by the other.  They follow
    the model to its device but are not part of its state: they can be computed again.

    Parameters
    ----------
    context_length : int
        The number of positions.
    d_head : int
        The number of coordinates of a head, even.
    base : float
        The base of the frequencies.
    layout : {"half", "interleaved"}
        Whether pair :math:`i` is coordinates :math:`(i, i + d/2)` or :math:`(2i, 2i+1)`.
    stretch : RopeStretch, optional
        How the rotations are slowed for a longer context.

    Raises
    ------
    ValueError
        When the context is so long that no memory holds the tables.

    References
    ----------
    Su et al. (2021), equation 34.

    Examples
    --------
    >>> rotary = Rotary(context_length=8, d_head=2, base=10_000.0, layout="half")
    >>> rotary(torch.tensor([[1.0, 0.0], [1.0, 0.0]]), start=0)
    tensor([[1.0000, 0.0000],
            [0.5403, 0.8415]])
    """

    cos: Tensor
    sin: Tensor

    def __init__(
        self,
        context_length: int,
        d_head: int,
        base: float,
        layout: str,
        stretch: RopeStretch | None = None,
    ) -> None:
        super().__init__()
        check_table("context_length", context_length, d_head)
        self.layout = layout
        with torch.device("cpu"):  # real numbers even while a model is laid out on "meta"
            frequencies = rope_frequencies(d_head, base)
            if stretch is not None:
                frequencies = llama3_frequencies(d_head, base=base, **asdict(stretch))
            angles = angles_at(torch.arange(context_length), frequencies)
            cos, sin = angles.cos(), angles.sin()  # (seq, d_head / 2)
        self.register_buffer("cos", self._pairs(cos, cos), persistent=False)
        self.register_buffer("sin", self._pairs(-sin, sin), persistent=False)

    def forward(
        self, x: Float[Tensor, "... seq d_head"], start: int
    ) -> Float[Tensor, "... seq d_head"]:
        """Turn vectors whose first token stands at position ``start``."""
        places = slice(start, start + x.shape[-2])
        return x * self.cos[places] + self._partners(x) * self.sin[places]

    def _pairs(self, a: Tensor, b: Tensor) -> Tensor:
        """Lay out what belongs to the pairs' first and second coordinates, (seq, d_head)."""
        pairs = torch.cat([a, b], -1) if self.layout == "half" else torch.stack([a, b], -1)
        return pairs.flatten(1).to(torch.get_default_dtype())

    def _partners(self, x: Tensor) -> Tensor:
        """Put every coordinate where the other one of its pair stands."""
        if self.layout == "half":
            return x.roll(x.shape[-1] // 2, dims=-1)
        return x.unflatten(-1, (-1, 2)).flip(-1).flatten(-2)


def check_table(name: str, rows: int, columns: int) -> None:
    """Raise a ``ValueError`` when no memory holds a table of so many rows."""
    if rows * columns > LARGEST:
        raise ValueError(
            f"{name} = {rows:,} asks for tables of {4 * rows * columns / 2**30:,.0f} GiB; "
            f"take at most {LARGEST // columns:,}"
        )
