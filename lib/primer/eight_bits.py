r"""Weights as whole numbers of 8 bits, and one unit for each row: a quarter of float32.

A matrix is stored as :math:`W_{ij} \approx u_i\,k_{ij}` with whole numbers :math:`k_{ij}` from −127
to 127 and one float :math:`u_i` for each row.
"""

from __future__ import annotations

import torch
from jaxtyping import Float, Int8
from torch import Tensor

from primer.inputs import checked

LARGEST = 127
"""The largest whole number, so that −127 to 127 lie evenly around 0."""


@checked
def quantize(
    weight: Float[Tensor, "rows columns"],
) -> tuple[Int8[Tensor, "rows columns"], Float[Tensor, " rows"]]:
    r"""Round a matrix to whole multiples of one unit for each row.

    .. math::
        u_i = \frac{1}{127}\max_j |W_{ij}|, \qquad
        k_{ij} = \operatorname{round}\!\left(\frac{W_{ij}}{u_i}\right)

    Parameters
    ----------
    weight : Tensor of shape (rows, columns)
        The weights, as torch's ``Linear`` holds them: a row makes one output.

    Returns
    -------
    whole : Tensor of int8 of shape (rows, columns)
        :math:`k`, from −127 to 127.
    unit : Tensor of float32 of shape (rows,)
        :math:`u`; 0 for a row of zeros.

    Raises
    ------
    ValueError
        When a weight is NaN or infinite.

    References
    ----------
    Dettmers et al. (2022), "LLM.int8()", section 2, where this is called absmax quantization.

    Examples
    --------
    >>> quantize(torch.tensor([[0.5, -1.27, 0.004], [0.0, 0.0, 0.0]]))
    (tensor([[  50, -127,    0],
            [   0,    0,    0]], dtype=torch.int8), tensor([0.0100, 0.0000]))
    """
    if weight.shape[1] == 0:
        raise ValueError(f"weight must have columns, got shape {tuple(weight.shape)}")
    if not weight.isfinite().all():
        raise ValueError("weights must be finite to be quantized, got NaN or infinity")
    weight = weight.detach().float()
    unit = weight.abs().amax(dim=1) / LARGEST  # (rows,)
    wide = unit.double().masked_fill(unit == 0, 1.0)  # also of a unit that is next to nothing
    whole = (weight.double() / wide[:, None]).round()
    return whole.clamp(-LARGEST, LARGEST).to(torch.int8), unit


@checked
def dequantize(
    whole: Int8[Tensor, "rows columns"], unit: Float[Tensor, " rows"]
) -> Float[Tensor, "rows columns"]:
    """Multiply whole numbers by their rows' units.

    Parameters
    ----------
    whole : Tensor of int8 of shape (rows, columns)
        The whole numbers.
    unit : Tensor of shape (rows,)
        The units.

    Returns
    -------
    Tensor of float32 of shape (rows, columns)
        Weights within half a unit of those that were quantized.

    Examples
    --------
    >>> dequantize(torch.tensor([[50, -127, 0]], dtype=torch.int8), torch.tensor([0.01]))
    tensor([[ 0.5000, -1.2700,  0.0000]])
    """
    return whole.float() * unit[:, None]
