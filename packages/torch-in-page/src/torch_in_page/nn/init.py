"""``torch.nn.init``: the numbers that parameters begin with."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..engine import no_grad
from ..tensor import Tensor, unknown


def _quiet(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """Let a function change a parameter without leaving a node."""

    @functools.wraps(function)
    def inner(tensor: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        with no_grad():
            return function(tensor, *args, **kwargs)

    return inner


@_quiet
def uniform_(tensor: Tensor, a: float = 0.0, b: float = 1.0, generator: Any = None) -> Tensor:
    """Fill with numbers between two."""
    return tensor.uniform_(a, b, generator=generator)


@_quiet
def normal_(tensor: Tensor, mean: float = 0.0, std: float = 1.0, generator: Any = None) -> Tensor:
    """Fill with normal numbers."""
    return tensor.normal_(mean, std, generator=generator)


@_quiet
def constant_(tensor: Tensor, val: float) -> Tensor:
    """Fill with one number."""
    return tensor.fill_(val)


@_quiet
def ones_(tensor: Tensor) -> Tensor:
    """Fill with 1."""
    return tensor.fill_(1.0)


@_quiet
def zeros_(tensor: Tensor) -> Tensor:
    """Fill with 0."""
    return tensor.zero_()


@_quiet
def eye_(tensor: Tensor) -> Tensor:
    """Fill with the identity."""
    tensor._a[...] = np.eye(*tensor.shape)
    return tensor


def calculate_gain(nonlinearity: str, param: Any = None) -> float:
    """Return by how much a nonlinearity shrinks normal numbers."""
    if nonlinearity == "tanh":
        return 5.0 / 3
    if nonlinearity == "relu":
        return math.sqrt(2.0)
    if nonlinearity == "leaky_relu":
        return math.sqrt(2.0 / (1 + (0.01 if param is None else param) ** 2))
    if nonlinearity == "selu":
        return 3.0 / 4
    if nonlinearity in ("linear", "sigmoid", "conv1d", "conv2d", "conv3d"):
        return 1.0
    raise ValueError(f"Unsupported nonlinearity {nonlinearity}")


def _fans(tensor: Tensor) -> tuple[int, int]:
    if tensor.ndim < 2:
        raise ValueError(
            "Fan in and fan out can not be computed for tensor with fewer than 2 dimensions"
        )
    field = math.prod(tensor.shape[2:])
    return tensor.shape[1] * field, tensor.shape[0] * field


_calculate_fan_in_and_fan_out = _fans


def _fan(tensor: Tensor, mode: str) -> int:
    if mode.lower() not in ("fan_in", "fan_out"):
        raise ValueError(f"Mode {mode} not supported, please use one of ['fan_in', 'fan_out']")
    return _fans(tensor)[mode.lower() == "fan_out"]


@_quiet
def kaiming_uniform_(
    tensor: Tensor,
    a: float = 0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
    generator: Any = None,
) -> Tensor:
    """Fill with numbers between two, so wide that a nonlinearity keeps the spread."""
    if 0 in tensor.shape:
        return tensor
    bound = math.sqrt(3.0) * (calculate_gain(nonlinearity, a) / math.sqrt(_fan(tensor, mode)))
    return tensor.uniform_(-bound, bound, generator=generator)


@_quiet
def kaiming_normal_(
    tensor: Tensor,
    a: float = 0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
    generator: Any = None,
) -> Tensor:
    """Fill with normal numbers, so wide that a nonlinearity keeps the spread."""
    if 0 in tensor.shape:
        return tensor
    std = calculate_gain(nonlinearity, a) / math.sqrt(_fan(tensor, mode))
    return tensor.normal_(0, std, generator=generator)


@_quiet
def xavier_uniform_(tensor: Tensor, gain: float = 1.0, generator: Any = None) -> Tensor:
    """Fill with numbers between two, as wide as both fans allow."""
    bound = math.sqrt(3.0) * (gain * math.sqrt(2.0 / float(sum(_fans(tensor)))))
    return tensor.uniform_(-bound, bound, generator=generator)


@_quiet
def xavier_normal_(tensor: Tensor, gain: float = 1.0, generator: Any = None) -> Tensor:
    """Fill with normal numbers, as wide as both fans allow."""
    return tensor.normal_(
        0.0, gain * math.sqrt(2.0 / float(sum(_fans(tensor)))), generator=generator
    )


@_quiet
def trunc_normal_(
    tensor: Tensor,
    mean: float = 0.0,
    std: float = 1.0,
    a: float = -2.0,
    b: float = 2.0,
    generator: Any = None,
) -> Tensor:
    """Fill with normal numbers between two; those outside are drawn again."""

    def below(x: float) -> float:
        return (1.0 + math.erf(x / math.sqrt(2.0))) / 2.0

    if below((b - mean) / std) - below((a - mean) / std) <= 0.3:
        raise NotImplementedError(
            "torch in this page has no trunc_normal_ for bounds that hold less than 0.3 of the "
            "numbers"
        )
    low, high = (np.asarray(x, tensor._a.dtype) for x in (a, b))
    drawn = tensor.normal_(mean, std, generator=generator)._a
    while ((drawn < low) | (drawn > high)).any():
        again = tensor.new_empty(tensor.shape).normal_(mean, std, generator=generator)._a
        drawn = np.where((drawn < low) | (drawn > high), again, drawn)
    tensor._a[...] = drawn
    return tensor


@_quiet
def orthogonal_(tensor: Tensor, gain: float = 1, generator: Any = None) -> Tensor:
    """Fill with a matrix whose rows or columns are orthonormal."""
    if tensor.ndim < 2:
        raise ValueError("Only tensors with 2 or more dimensions are supported")
    if tensor.numel() == 0:
        return tensor
    rows = tensor.shape[0]
    flat = tensor.new_empty(rows, tensor.numel() // rows).normal_(0, 1, generator=generator)._a
    q, r = np.linalg.qr(flat.T if rows < flat.shape[1] else flat)
    q = q * np.sign(np.diag(r))
    q = q.T if rows < flat.shape[1] else q
    tensor._a[...] = q.reshape(tensor.shape)
    return tensor.mul_(gain)


@_quiet
def sparse_(tensor: Tensor, sparsity: float, std: float = 0.01, generator: Any = None) -> Tensor:
    """Fill with normal numbers, of which a share of each column is 0."""
    from ..drawing import randperm

    rows, columns = tensor.shape
    zeros = math.ceil(sparsity * rows)
    tensor.normal_(0, std, generator=generator)
    for column in range(columns):
        tensor[randperm(rows)[:zeros], column] = 0
    return tensor


__getattr__ = unknown("torch.nn.init")
