"""``torch.nn.modules``: the base class under its other name."""

from ...tensor import unknown
from ..module import Module
from . import module

__all__ = ["Module", "module"]
__getattr__ = unknown("torch.nn.modules")
