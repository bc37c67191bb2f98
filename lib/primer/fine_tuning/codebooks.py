r"""Codebooks: the few numbers that a quantized weight may be.

A codebook of :math:`k` bits lists at most :math:`2^k` numbers between −1 and 1.  A weight, divided
by the largest of its block, is stored as the place of the nearest one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import torch
from jaxtyping import Float, UInt8
from scipy.special import ndtri
from torch import Tensor

from primer.fine_tuning.layers import check_finite
from primer.inputs import Steps, checked, positive, vector

NF4_OFFSET = 0.9677083
"""The mean of 29/30 and 31/32, to seven digits: the probability up to which NF4 takes quantiles."""


@dataclass(frozen=True)
class Codebook:
    """Numbers between −1 and 1 in rising order, one for each code.

    Parameters
    ----------
    name : str
        What it is called.
    values : sequence of float
        The numbers, at most 256.

    Raises
    ------
    ValueError
        When they do not rise, leave [−1, 1], or are fewer than 2 or more than 256.

    Examples
    --------
    >>> two_bits = Codebook("the example", (-1, 0.3, 0.5, 1))
    >>> two_bits.bits, two_bits.nearest(torch.tensor([1.0, -0.3, 0.5, 0.2])).tolist()
    (2, [3, 1, 2, 1])
    """

    name: str
    values: Sequence[float]
    table: Tensor = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        values = vector("values", self.values)
        if not 2 <= len(values) <= 256:
            raise ValueError(f"a codebook has 2 to 256 numbers, got {len(values)}")
        if (values[1:] <= values[:-1]).any() or values[0] < -1 or values[-1] > 1:
            raise ValueError("the numbers of a codebook must rise and lie between -1 and 1")
        object.__setattr__(self, "values", tuple(values.tolist()))
        object.__setattr__(self, "table", torch.tensor(values))

    @property
    def bits(self) -> int:
        """How many bits a code needs."""
        return (len(self.values) - 1).bit_length()

    @checked
    def nearest(self, x: Float[Tensor, "*shape"]) -> UInt8[Tensor, "*shape"]:
        """Return the code of the nearest number; halfway between two, the upper one.

        Raises
        ------
        ValueError
            When a number is NaN or infinite.
        """
        halfway = (self.table[1:] + self.table[:-1]) / 2
        x = x.double().contiguous()  # no border is rounded
        return torch.bucketize(x, halfway, right=True).to(torch.uint8)

    @checked
    def look_up(
        self, codes: UInt8[Tensor, "*shape"], dtype: torch.dtype = torch.float32
    ) -> Float[Tensor, "*shape"]:
        """Return the numbers of codes."""
        if codes.numel() and int(codes.max()) >= len(self.values):
            raise ValueError(
                f"codes of {self.name} are 0 to {len(self.values) - 1}, got {int(codes.max())}"
            )
        return self.table.to(dtype).index_select(0, codes.flatten().int()).reshape(codes.shape)


def integer_codebook(bits: int) -> Codebook:
    r"""Evenly spaced numbers: what ``round`` of a scaled number leaves.

    .. math:: \{-n, \dots, n\}/n, \qquad n = 2^{k-1} - 1

    Parameters
    ----------
    bits : int
        :math:`k`, from 2 to 8.

    Raises
    ------
    ValueError
        When it is another number.

    Examples
    --------
    >>> integer_codebook(3).values[3:], len(integer_codebook(8).values)
    ((0.0, 0.3333333333333333, 0.6666666666666666, 1.0), 255)
    """
    largest = 2 ** (check_bits(bits) - 1) - 1
    return Codebook(f"int{bits}", [n / largest for n in range(-largest, largest + 1)])


def normal_float_codebook(bits: int = 4, offset: float = NF4_OFFSET) -> Codebook:
    r"""Quantiles of the normal distribution, scaled to end at −1 and 1: NF4 and its relatives.

    .. math::
        q_i = \Phi^{-1}(p_i), \qquad
        p = \tfrac12 \dots \text{offset in } 2^{k-1} \text{ steps above zero},
        \ 2^{k-1} - 1 \text{ below}

    Zero belongs to both halves and is kept once, so there are :math:`2^{k-1}-1` negative numbers,
    zero, and :math:`2^{k-1}` positive ones.  At an offset of 1 the last quantile would be infinite.

    Parameters
    ----------
    bits : int
        :math:`k`, from 2 to 8.
    offset : float
        Between ½ and 1.

    Raises
    ------
    ValueError
        When a number is out of its range.

    References
    ----------
    Dettmers et al. (2023), equation 4 and appendix E; ``create_normal_map`` of bitsandbytes for
    the offset.

    Examples
    --------
    >>> [round(value, 4) for value in normal_float_codebook(2).values]
    [-1.0, 0.0, 0.3379, 1.0]
    """
    half = 2 ** (check_bits(bits) - 1)
    if not 0.5 < positive("offset", offset) < 1:
        raise ValueError(f"offset must lie between 0.5 and 1, got {offset}")

    def quantiles(steps: int) -> list[float]:
        places = torch.linspace(offset, 0.5, steps + 1, dtype=torch.float64)[:-1]
        return [float(ndtri(p)) for p in places.tolist()]

    above, below = quantiles(half), quantiles(half - 1)
    largest = max(above)
    values = [-q / largest for q in below] + [0.0] + [q / largest for q in reversed(above)]
    return Codebook(f"NF{bits}", values)


@checked
def lloyd_codebook(samples: Float[Tensor, " n"], bits: int = 4, steps: Steps = 40) -> Codebook:
    r"""Fit a codebook to numbers between −1 and 1 by Lloyd's algorithm; −1, 0 and 1 stay.

    In turns each sample goes to its nearest number, and each number to the mean of its samples:
    the squared error never rises.

    Parameters
    ----------
    samples : Tensor of shape (n,)
        Weights divided by the largest of their block.
    bits : int
        From 2 to 8.
    steps : int
        How many turns.

    Raises
    ------
    ValueError
        When a sample lies outside [−1, 1] or is not finite.

    References
    ----------
    Lloyd (1982).

    Examples
    --------
    >>> samples = torch.tensor([-1.0, 0.0, 0.4, 0.6, 1.0], dtype=torch.float64)
    >>> lloyd_codebook(samples, bits=2).values
    (-1.0, 0.0, 0.5, 1.0)
    """
    check_finite("samples", samples)
    if samples.numel() == 0 or float(samples.abs().max()) > 1:
        raise ValueError("samples must be numbers between -1 and 1: divide by the largest first")
    codebook = normal_float_codebook(bits)
    x = samples.double().flatten()
    for _ in range(steps):
        codes = codebook.nearest(x).long()
        size = len(codebook.values)
        total = torch.zeros(size, dtype=torch.float64).index_add_(0, codes, x)
        number = torch.bincount(codes, minlength=size)
        fixed = (number == 0) | torch.isin(codebook.table, torch.tensor([-1.0, 0.0, 1.0]).double())
        means = torch.where(fixed, codebook.table, total / number.clamp(min=1))
        codebook = Codebook(f"Lloyd, {bits} bits", means.tolist())
    return codebook


def check_bits(bits: int) -> int:
    """Raise a ``ValueError`` unless ``bits`` is a whole number from 2 to 8."""
    if isinstance(bits, bool) or not isinstance(bits, int | np.integer) or not 2 <= bits <= 8:
        raise ValueError(f"bits must be a whole number from 2 to 8, got {bits!r}")
    return int(bits)


def _float8_values() -> list[float]:
    """List the finite numbers of the format E4M3, divided by the largest."""
    every = torch.arange(256, dtype=torch.uint8).view(torch.float8_e4m3fn).double()
    return (every[every.isfinite()].unique() / 448).tolist()


NF4 = normal_float_codebook(4)
"""Sixteen quantiles of the normal distribution (Dettmers et al., 2023)."""

FP4_E2M1 = Codebook(
    "FP4 (E2M1)",
    [
        sign * v / 6
        for sign in (-1, 1)
        for v in ((6, 4, 3, 2, 1.5, 1, 0.5) if sign < 0 else (0, 0.5, 1, 1.5, 2, 3, 4, 6))
    ],
)
"""Four-bit floating point: a sign, two bits of exponent, one of mantissa."""

FP4_BITSANDBYTES = Codebook(
    "FP4 (bitsandbytes)",
    [
        -1,
        -2 / 3,
        -1 / 2,
        -1 / 3,
        -1 / 4,
        -1 / 6,
        -1 / 192,
        0,
        1 / 192,
        1 / 6,
        1 / 4,
        1 / 3,
        1 / 2,
        2 / 3,
        1,
    ],
)
"""Another table that is called FP4, in the library bitsandbytes."""

FP8_E4M3 = Codebook("FP8 (E4M3)", _float8_values())
"""Eight-bit floating point, in which QLoRA keeps the constants of its blocks."""
