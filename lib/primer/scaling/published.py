"""Models of the literature, as their tables print them."""

from __future__ import annotations

from typing import NamedTuple


class Published(NamedTuple):
    """A row of a table.

    Attributes
    ----------
    name : str
        What the table calls the model.
    layers, width, heads, head_width : int
        Its shape.
    parameters, tokens : float
        What the table says.
    vocabulary, context : int
        For the tables of embeddings and of learned positions; a context of 0 where positions are
        relative.
    """

    name: str
    layers: int
    width: int
    heads: int
    head_width: int
    parameters: float
    tokens: float
    vocabulary: int = 50_257
    context: int = 2048

    @property
    def counted(self) -> int:
        r"""Parameters by the formula of GPT-2, :math:`L(12d^2+13d)+(V+n)d+2d`."""
        d = self.width
        table = (self.vocabulary + self.context) * d
        return self.layers * (12 * d * d + 13 * d) + table + 2 * d

    @property
    def adds_up(self) -> bool:
        """Whether the heads are together as wide as the model."""
        return self.heads * self.head_width == self.width


GPT3_FAMILY = (
    Published("Small", 12, 768, 12, 64, 125e6, 300e9),
    Published("Medium", 24, 1024, 16, 64, 350e6, 300e9),
    Published("Large", 24, 1536, 16, 96, 760e6, 300e9),
    Published("XL", 24, 2048, 24, 128, 1.3e9, 300e9),
    Published("2.7B", 32, 2560, 32, 80, 2.7e9, 300e9),
    Published("6.7B", 32, 4096, 32, 128, 6.7e9, 300e9),
    Published("13B", 40, 5140, 40, 128, 13.0e9, 300e9),
    Published("175B", 96, 12288, 96, 128, 175e9, 300e9),
)
"""Brown et al. (2020), table 2.1, as printed."""

GOPHER = Published("Gopher", 80, 16384, 128, 128, 280e9, 300e9, 32_000, 0)
CHINCHILLA = Published("Chinchilla", 80, 8192, 64, 128, 70e9, 1.4e12, 32_000, 0)
"""Rae et al. (2021), table 1; Hoffmann et al. (2022), table 4."""
