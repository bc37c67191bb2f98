"""Tensors that belong to a module: parameters, which are learned, and buffers, which are not."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import dtypes
from ..tensor import Tensor, made, unknown


class Parameter(Tensor):
    """A tensor that a module learns."""

    __module__ = "torch.nn.parameter"

    def __new__(cls, data: Any = None, requires_grad: bool = True) -> Any:
        """Return a tensor of this class around the same numbers."""
        if data is None:
            data = made(np.zeros(0, dtypes.get_default_dtype().array), dtypes.get_default_dtype())
        if not isinstance(data, Tensor):
            raise TypeError(f"Parameter needs a tensor, got {type(data).__name__}")
        out = made(data._a, data._dtype, cls)
        out._version = data._version
        return out.requires_grad_(requires_grad)

    def __init__(self, *_: Any, **__: Any) -> None:
        pass


class Buffer(Tensor):
    """A tensor that a module keeps with its parameters."""

    __module__ = "torch.nn.parameter"

    def __new__(cls, data: Any = None, *, persistent: bool = True) -> Any:
        """Return a tensor of this class around the same numbers."""
        out = made(data._a, data._dtype, cls)
        out.persistent = persistent
        return out

    def __init__(self, *_: Any, **__: Any) -> None:
        pass


def _unknown_yet(name: str) -> Any:
    def refuse(self: Any, *_: Any) -> Any:
        raise ValueError(
            f"Attempted to use an uninitialized parameter in {name}: its shape is known when the "
            "module has been called once"
        )

    return refuse


class UninitializedParameter(Parameter):
    """A weight whose shape nobody has seen yet; with its numbers it becomes a parameter."""

    cls_to_become = Parameter
    shape = property(_unknown_yet("shape"))
    size, numel, nelement = _unknown_yet("size"), _unknown_yet("numel"), _unknown_yet("nelement")

    def materialize(self, numbers: Tensor) -> None:
        """Take numbers, of whatever shape, and be a parameter from now on."""
        self.data = numbers
        self.__class__ = Parameter  # type: ignore[assignment]


__getattr__ = unknown("torch.nn.parameter")
