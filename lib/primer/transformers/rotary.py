"""RoPE as a model runs it: sines and cosines computed once, then only multiplied."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor, nn

from primer.positions import rope_angles


class Rotary(nn.Module):
    r"""Turn queries and keys by their positions, as :func:`primer.positions.apply_rope` does.

    .. math::
        (a, b) \mapsto (a\cos t\omega_i - b\sin t\omega_i,\; b\cos t\omega_i + a\sin t\omega_i)

    The tables hold the cosine and sine for every position of the context and every pair.  They
    follow the model to its device but are not part of its state: they can be computed again.

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

    def __init__(self, context_length: int, d_head: int, base: float, layout: str) -> None:
        super().__init__()
        with torch.device("cpu"):  # real numbers even while a model is laid out on "meta"
            angles = rope_angles(range(context_length), d_head, base)
            dtype = torch.get_default_dtype()
            self.register_buffer("cos", angles.cos().to(dtype), persistent=False)
            self.register_buffer("sin", angles.sin().to(dtype), persistent=False)
        self.layout = layout

    def forward(
        self, x: Float[Tensor, "... seq d_head"], start: int
    ) -> Float[Tensor, "... seq d_head"]:
        """Turn vectors whose first token stands at position ``start``."""
        end = start + x.shape[-2]
        cos, sin = self.cos[start:end], self.sin[start:end]  # (seq, d_head / 2)
        if self.layout == "interleaved":
            a, b = x[..., 0::2], x[..., 1::2]
            return torch.stack([a * cos - b * sin, b * cos + a * sin], dim=-1).flatten(-2)
        a, b = x.chunk(2, dim=-1)
        return torch.cat([a * cos - b * sin, b * cos + a * sin], dim=-1)
