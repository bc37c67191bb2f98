"""``torch.nn.parallel``: there are no other machines; the class is here to be asked for."""

from __future__ import annotations

from typing import Any

from ..tensor import unknown
from .module import Module


class DistributedDataParallel(Module):
    """A module on many machines: a page has one."""

    def __init__(self, *_: Any, **__: Any) -> None:
        raise NotImplementedError("torch in this page trains on one machine; use the module itself")


__getattr__ = unknown("torch.nn.parallel")
