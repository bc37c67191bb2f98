r"""Layer norm and RMSNorm: bring every token's vector to one scale, each token on its own.

Both work on the last axis, the features of one token.  Nothing is averaged over a batch or over
time, so a token is normalized in training exactly as in generation.
"""

from __future__ import annotations

import math

import torch
from jaxtyping import Float
from torch import Tensor, nn

from primer.inputs import Dim, checked, tensor
from primer.inputs.tensors import holds_finite


def _check(x: Tensor, weight: Tensor | None, eps: float) -> None:
    """Raise a ``ValueError`` unless ``x`` has features to normalize and ``weight`` fits them."""
    tensor("x", x)
    if x.ndim == 0 or x.shape[-1] == 0:
        raise ValueError(f"x must have features in its last axis, got shape {tuple(x.shape)}")
    if weight is not None and weight.shape != x.shape[-1:]:
        raise ValueError(
            f"weight must hold one number for each of the {x.shape[-1]} features of x, "
            f"got shape {tuple(weight.shape)}"
        )
    if not eps >= 0:
        raise ValueError(f"eps must be 0 or larger, got {eps}")


def _check_above_zero(size: Tensor, eps: float, why: str) -> None:
    """Raise a ``ValueError`` where a vector has no size to be divided by."""
    if eps == 0 and (size == 0).any():
        raise ValueError(f"all features of x are {why}")


def in_own_unit(x: Tensor, eps: float) -> tuple[Tensor, Tensor]:
    r"""Divide vectors by their largest entry, and :math:`\epsilon` by its square.

    The square of 1e30, and in half precision that of 300, is larger than any number; that of 1e-30
    is none.  A norm does not change by the unit, so that it can be computed where squares are near
    1.  Vectors of half and of single precision are taken in double.

    Returns
    -------
    Tensor of the shape of ``x``, and Tensor of shape (..., 1)
        Numbers between −1 and 1, and what is added to the mean of their squares.

    Examples
    --------
    >>> in_own_unit(torch.tensor([3e30, 4e30]), eps=0.0)
    (tensor([0.7500, 1.0000], dtype=torch.float64), tensor([0.], dtype=torch.float64))
    """
    x = x.double()
    unit = x.detach().abs().amax(-1, keepdim=True).clamp(min=math.sqrt(eps))
    unit = unit.masked_fill(unit == 0, 1.0)
    return x / unit, (math.sqrt(eps) / unit).square()


@checked
def layer_norm(
    x: Float[Tensor, "... dim"],
    weight: Float[Tensor, " features"] | None = None,
    bias: Float[Tensor, " features"] | None = None,
    eps: float = 1e-5,
) -> Float[Tensor, "... dim"]:
    r"""Center each vector, scale it to variance 1, then let the model rescale and shift it.

    .. math::
        \mathrm{LN}(x) = \gamma\odot\frac{x-\mu}{\sqrt{\sigma^2+\epsilon}}+\beta, \qquad
        \mu = \frac1d\sum_i x_i, \quad \sigma^2 = \frac1d\sum_i (x_i-\mu)^2

    Parameters
    ----------
    x : Tensor of shape (..., dim)
        The vectors.
    weight, bias : Tensor of shape (dim,), optional
        :math:`\gamma` and :math:`\beta`; without them 1 and 0.
    eps : float
        :math:`\epsilon`, added to the *variance*: it matters where a vector hardly varies.

    Returns
    -------
    Tensor of the shape of ``x``
        The normalized vectors.

    Raises
    ------
    ValueError
        When ``weight`` or ``bias`` does not fit the features of ``x``, or ``eps`` is negative.

    References
    ----------
    Ba, Kiros and Hinton (2016), equations 3 and 4.

    Examples
    --------
    >>> layer_norm(torch.tensor([1.0, 2.0, 3.0, 6.0]), eps=0.0)
    tensor([-1.0690, -0.5345,  0.0000,  1.6036])
    """
    _check(x, weight, eps)
    _check(x, bias, eps)
    centered = x.double() - x.double().mean(-1, keepdim=True)
    centered = centered - centered.mean(-1, keepdim=True)  # what the first mean was rounded by
    centered, own_eps = in_own_unit(centered, eps)
    variance = centered.square().mean(-1, keepdim=True) + own_eps
    _check_above_zero(variance, eps, "equal: without eps nothing brings them to variance 1")
    normalized = (centered * torch.rsqrt(variance)).to(x.dtype)
    if weight is not None:
        normalized = normalized * weight
    return normalized if bias is None else normalized + bias


@checked
def rms_norm(
    x: Float[Tensor, "... dim"], weight: Float[Tensor, " features"] | None = None, eps: float = 1e-5
) -> Float[Tensor, "... dim"]:
    r"""Scale each vector to root mean square 1, then let the model rescale it.

    .. math::
        \mathrm{RMSNorm}(x) = \gamma\odot\frac{x}{\sqrt{\frac1d\sum_i x_i^2+\epsilon}}

    This is layer norm without its centering: the two agree on vectors whose mean is 0.

    Parameters
    ----------
    x : Tensor of shape (..., dim)
        The vectors.
    weight : Tensor of shape (dim,), optional
        :math:`\gamma`; without it 1.
    eps : float
        :math:`\epsilon`, added to the mean square.

    Returns
    -------
    Tensor of the shape of ``x``
        The normalized vectors.

    Raises
    ------
    ValueError
        As :func:`layer_norm`.

    References
    ----------
    Zhang and Sennrich (2019), equation 4.

    Examples
    --------
    >>> rms_norm(torch.tensor([3.0, 4.0, 0.0, 0.0]), eps=0.0)
    tensor([1.2000, 1.6000, 0.0000, 0.0000])
    """
    _check(x, weight, eps)
    small, own_eps = in_own_unit(x, eps)
    mean_square = small.square().mean(-1, keepdim=True) + own_eps
    _check_above_zero(mean_square, eps, "0: without eps nothing brings them to mean square 1")
    normalized = (small * torch.rsqrt(mean_square)).to(x.dtype)
    return normalized if weight is None else normalized * weight


class RMSNorm(nn.Module):
    r"""RMSNorm with its trained scale :math:`\gamma`, which starts at 1.

    It runs torch's kernel for :func:`rms_norm`, which is fused on a GPU; the tests hold the two
    together.  Where that kernel's squares would overflow it runs the function itself.

    Parameters
    ----------
    dim : int
        The number of features of a token.
    eps : float
        :math:`\epsilon`, added to the mean square.

    Raises
    ------
    ValueError
        When ``dim`` is not positive or ``eps`` is negative.

    Examples
    --------
    >>> RMSNorm(2, eps=0.0)(torch.tensor([3.0, 4.0])).detach()
    tensor([0.8485, 1.1314])
    """

    @checked
    def __init__(self, dim: Dim, eps: float = 1e-5) -> None:
        super().__init__()
        if not eps >= 0:
            raise ValueError(f"eps must be 0 or larger, got {eps}")
        self.weight = nn.Parameter(torch.ones(dim))
        self.eps = eps

    def forward(self, x: Float[Tensor, "... dim"]) -> Float[Tensor, "... dim"]:
        """Normalize the vectors in the last axis of ``x``."""
        weight = self.weight
        if tensor("x", x, axes=1, beside=weight).shape[-1:] != weight.shape:
            raise ValueError(f"x has {x.shape[-1]} features, the norm {len(weight)}")
        if self.eps == 0 or not holds_finite(torch.linalg.vector_norm(x.detach())):
            return rms_norm(x, weight.to(x.dtype), self.eps)
        return nn.functional.rms_norm(x, weight.shape, weight, self.eps)

    def extra_repr(self) -> str:
        """Say in the printed model what is normalized."""
        return f"{len(self.weight)}, eps={self.eps}"
