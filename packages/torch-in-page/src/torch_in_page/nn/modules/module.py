"""``torch.nn.modules.module``: the base class under its other name."""

from ...tensor import unknown
from ..module import Module

__all__ = ["Module"]
__getattr__ = unknown("torch.nn.modules.module")
