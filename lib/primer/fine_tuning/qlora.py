r"""QLoRA: the frozen matrix is kept in four bits and read when it is needed, twice a step."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from primer.fine_tuning.blocks import double_quantize, quantize
from primer.fine_tuning.codebooks import NF4, Codebook
from primer.fine_tuning.layers import EVERY_MATRIX, as_wide, matrix_of, put, replace_layers
from primer.inputs import checked


class _ReadTwice(torch.autograd.Function):
    """Multiply by a stored matrix; the backward pass reads it again instead of keeping it."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, read: Callable[[torch.dtype], Tensor]) -> Tensor:
        """Compute x W."""
        ctx.read = read
        return x @ read(x.dtype)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        """Compute the gradient of x, G Wᵀ; the matrix itself gets none."""
        return gradient @ ctx.read(gradient.dtype).T, None


class QuantizedLinear(nn.Module):
    r"""A linear layer whose matrix is stored as codes.

    .. math:: y = x\,\mathrm{doubleDequant}(c_1, c_2, W^{\mathrm{NF4}}) + b

    Storage has four bits, the product the precision of ``x``.  Gradients pass through to ``x``; the
    matrix cannot be trained.

    Parameters
    ----------
    base : nn.Module
        A plain linear layer; it is not changed.
    codebook : Codebook
        NF4 by default.
    block_size : int, optional
        Numbers of a block, along the input of the layer for ``nn.Linear``.

    Raises
    ------
    ValueError
        When the layer has no plain matrix, or its numbers are not finite.

    References
    ----------
    Dettmers et al. (2023), equations 5 and 6.

    Examples
    --------
    >>> layer = QuantizedLinear(nn.Linear(128, 64))
    >>> layer(torch.ones(1, 128)).shape, round(layer.stored.bits_per_weight, 3)
    (torch.Size([1, 64]), 4.129)
    """

    @checked
    def __init__(
        self, base: nn.Module, codebook: Codebook = NF4, block_size: int | None = 64
    ) -> None:
        super().__init__()
        matrix = matrix_of(base)
        self.in_features, self.out_features = matrix.shape
        self.turned = not matrix.is_contiguous()  # blocks follow the numbers as they lie in memory
        once = quantize(matrix.T if self.turned else matrix, codebook, block_size)
        self.stored = double_quantize(once)
        bias = getattr(base, "bias", None)
        self.bias = None if bias is None else nn.Parameter(bias.detach().clone(), False)

    def matrix(self, dtype: torch.dtype = torch.float32) -> Float[Tensor, "d_in d_out"]:
        """Read the stored, rounded matrix."""
        numbers = self.stored.dequantize(dtype)
        return numbers.T if self.turned else numbers

    @checked
    def forward(self, x: Float[Tensor, "... d_in"]) -> Float[Tensor, "... d_out"]:
        """Read the matrix and multiply."""
        y = _ReadTwice.apply(as_wide(x, self.in_features), self.matrix)
        return y if self.bias is None else y + self.bias.to(y.dtype)

    def dequantized(self) -> nn.Linear:
        """Return a plain layer with the matrix that is stored: the rounded one, not the first."""
        layer = nn.Linear(self.in_features, self.out_features, bias=self.bias is not None)
        layer.weight.data.copy_(self.matrix().T)
        if self.bias is not None:
            layer.bias.data.copy_(self.bias)
        return layer.requires_grad_(False)


@checked
def quantize_layers(
    model: nn.Module,
    targets: Collection[str] = EVERY_MATRIX,
    codebook: Codebook = NF4,
    block_size: int | None = 64,
) -> nn.Module:
    """Store the matrices of a model's linear layers as codes, in place.

    Raises
    ------
    ValueError
        When no layer is called so, or its numbers are not finite.
    """
    replace_layers(model, targets, lambda layer: QuantizedLinear(layer, codebook, block_size))
    return model


@checked
def dequantize_layers(model: nn.Module) -> nn.Module:
    """Put plain layers with the stored, rounded matrices in the place of quantized ones."""
    for layer in list(model.modules()):
        if isinstance(layer, QuantizedLinear):
            put(model, layer, layer.dequantized())
    return model
