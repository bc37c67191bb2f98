"""``torch.autograd.graph``: the classes of what a graph is made of."""

from ..engine import Node
from ..tensor import unknown

__all__ = ["Node"]
__getattr__ = unknown("torch.autograd.graph")
