"""``torch.utils``: data, counting of operations, checkpointing."""

from ..tensor import unknown
from . import checkpoint, data, flop_counter

__all__ = ["checkpoint", "data", "flop_counter"]
__getattr__ = unknown("torch.utils")
