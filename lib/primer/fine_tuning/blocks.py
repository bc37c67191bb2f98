r"""Block-wise quantization: codes packed into bytes, and one constant for each block."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Float, UInt8
from torch import Tensor
from torch.nn.functional import pad

from primer.fine_tuning.codebooks import FP8_E4M3, Codebook, check_bits
from primer.inputs import Natural, checked, checked_fields, count


@checked
def pack(codes: UInt8[Tensor, " n"], bits: int) -> UInt8[Tensor, " bytes"]:
    """Store codes of a few bits without gaps, the first code in the highest bits.

    Parameters
    ----------
    codes : Tensor of uint8
        Each below 2^bits.
    bits : int
        From 2 to 8.

    Returns
    -------
    Tensor of uint8
        As many bytes as the bits need; the last may end in zeros.

    Raises
    ------
    ValueError
        When a code needs more bits.

    Examples
    --------
    >>> pack(torch.tensor([1, 2, 15], dtype=torch.uint8), bits=4).tolist()
    [18, 240]
    """
    check_bits(bits)
    if codes.numel() and int(codes.max()) >= 2**bits:
        raise ValueError(f"code {int(codes.max())} does not fit into {bits} bits")
    if bits == 8:
        return codes.clone()
    if bits == 4:
        high, low = pad(codes, (0, len(codes) % 2)).reshape(-1, 2).unbind(dim=1)
        return high << 4 | low
    places = torch.arange(bits - 1, -1, -1, dtype=torch.uint8)
    stream = (codes[:, None] >> places & 1).flatten()  # (n · bits,)
    stream = pad(stream, (0, -len(stream) % 8)).reshape(-1, 8)
    weights = 2 ** torch.arange(7, -1, -1, dtype=torch.int32)
    return (stream.int() * weights).sum(dim=1).to(torch.uint8)


@checked
def unpack(packed: UInt8[Tensor, " bytes"], bits: int, n: Natural) -> UInt8[Tensor, " n"]:
    """Read ``n`` codes back: the inverse of :func:`pack`.

    Raises
    ------
    ValueError
        When the bytes do not hold so many, or n is negative.

    Examples
    --------
    >>> unpack(torch.tensor([18, 240], dtype=torch.uint8), bits=4, n=3).tolist()
    [1, 2, 15]
    """
    check_bits(bits)
    if len(packed) * 8 < n * bits:
        raise ValueError(f"{len(packed)} bytes do not hold {n} codes of {bits} bits")
    if bits == 8:
        return packed[:n].clone()
    if bits == 4:
        return torch.stack([packed >> 4, packed & 15], dim=1).flatten()[:n]
    places = torch.arange(7, -1, -1, dtype=torch.uint8)
    stream = (packed[:, None] >> places & 1).flatten()[: n * bits].reshape(n, bits)
    weights = 2 ** torch.arange(bits - 1, -1, -1, dtype=torch.int32)
    return (stream.int() * weights).sum(dim=1).to(torch.uint8)


@checked_fields
@dataclass(frozen=True)
class Quantized:
    """A quantized tensor: packed codes, the constants of its blocks, and how to read them.

    Attributes
    ----------
    packed : Tensor of uint8
        The codes, see :func:`pack`.
    constants : Tensor or Quantized
        The largest absolute value of each block, itself quantized after :func:`double_quantize`.
    mean : float
        What was subtracted from the constants before they were quantized.
    shape : tuple of int
        The tensor's shape.
    codebook : Codebook
        What the codes mean.
    block_size : int
        Numbers in a block.
    """

    packed: Tensor
    constants: Tensor | Quantized
    mean: float
    shape: tuple[int, ...]
    codebook: Codebook
    block_size: int

    def numel(self) -> int:
        """Count the numbers of the tensor."""
        return int(torch.Size(self.shape).numel())

    def codes(self) -> UInt8[Tensor, " n"]:
        """Unpack the codes."""
        return unpack(self.packed, max(self.codebook.bits, 2), self.numel())

    def scales(self) -> Float[Tensor, " blocks"]:
        """Return the constant of each block, dequantized where it is quantized."""
        if isinstance(self.constants, Quantized):
            return self.constants.dequantize() + self.mean
        return self.constants

    @checked
    def dequantize(self, dtype: torch.dtype = torch.float32) -> Float[Tensor, "..."]:
        """Return the tensor that is stored: constant times number of the codebook."""
        scales = self.scales().repeat_interleave(self.block_size)[: self.numel()]
        numbers = self.codebook.look_up(self.codes(), scales.dtype)
        return (numbers * scales).reshape(self.shape).to(dtype)

    @property
    def bits_per_weight(self) -> float:
        """Count all that is stored, constants included, per number of the tensor."""
        return 8 * self.stored_bytes() / self.numel()

    def stored_bytes(self) -> int:
        """Count the bytes of codes and constants; single numbers and the codebook are left out."""
        if isinstance(self.constants, Quantized):
            return self.packed.nbytes + self.constants.stored_bytes()
        return self.packed.nbytes + self.constants.nbytes


@checked
def quantize(x: Float[Tensor, "..."], codebook: Codebook, block_size: int | None = 64) -> Quantized:
    r"""Quantize a tensor block by block.

    .. math:: c_b = \max_{i\in b}|x_i|, \qquad
              k_i = \arg\min_k \Bigl|\frac{x_i}{c_b} - q_k\Bigr|

    Parameters
    ----------
    x : Tensor
        The numbers; a block is a stretch of them row after row, and the last one may be shorter.
    codebook : Codebook
        The values :math:`q_k`.
    block_size : int, optional
        Numbers in a block; ``None`` for a single one.

    Returns
    -------
    Quantized
        A block of zeros has the constant 0.  Numbers in half precision are divided and compared
        as they are, in double; their constants are kept in single precision.

    Raises
    ------
    ValueError
        When there is no number, or one is NaN or infinite.

    References
    ----------
    Dettmers et al. (2022), section 2, and (2023), section 2.

    Examples
    --------
    >>> example = Codebook("the example", (-1, 0.3, 0.5, 1))
    >>> q = quantize(torch.tensor([10.0, -3.0, 5.0, 4.0], dtype=torch.float64), example)
    >>> q.codes().tolist(), q.dequantize().tolist()
    ([3, 1, 2, 2], [10.0, 3.0, 5.0, 5.0])
    """
    n = x.numel()
    if n == 0:
        raise ValueError("there is nothing to quantize: x is empty")
    block_size = n if block_size is None else min(n, count("block_size", block_size))
    numbers = x.detach().flatten()
    blocks = pad(numbers, (0, -n % block_size)).reshape(-1, block_size)
    constants = blocks.abs().amax(dim=1)
    divisors = torch.where(constants > 0, constants, torch.ones_like(constants))
    codes = codebook.nearest(blocks.double() / divisors.double()[:, None]).flatten()[:n]
    packed = pack(codes, max(codebook.bits, 2))
    kept = constants.to(torch.promote_types(x.dtype, torch.float32))
    return Quantized(packed, kept, 0.0, tuple(x.shape), codebook, block_size)


@checked
def double_quantize(
    quantized: Quantized, block_size: int = 256, codebook: Codebook = FP8_E4M3
) -> Quantized:
    r"""Quantize the constants, too: their mean goes out first, since all of them are positive.

    With blocks of 64 and 256 a weight pays :math:`8/64 + 32/(64\cdot256) = 0.127` bits for
    constants instead of :math:`32/64 = 0.5`.

    Parameters
    ----------
    quantized : Quantized
        From :func:`quantize`.
    block_size : int
        Constants in a block.
    codebook : Codebook
        For the constants.

    Returns
    -------
    Quantized
        The same codes with quantized constants.

    Raises
    ------
    ValueError
        When its constants are quantized already.

    References
    ----------
    Dettmers et al. (2023), section 3.

    Examples
    --------
    >>> q = quantize(torch.randn(64 * 256), FP8_E4M3)
    >>> round(q.bits_per_weight, 3), round(double_quantize(q).bits_per_weight, 3)
    (8.5, 8.127)
    """
    if isinstance(quantized.constants, Quantized):
        raise ValueError("the constants are quantized already")
    mean = float(quantized.constants.mean())
    constants = quantize(quantized.constants - mean, codebook, block_size)
    return Quantized(
        quantized.packed,
        constants,
        mean,
        quantized.shape,
        quantized.codebook,
        quantized.block_size,
    )
