"""``torch.nn.attention``: by which method attention is computed; here there is one."""

from __future__ import annotations

import contextlib
import enum
from collections.abc import Iterator
from typing import Any

from ..tensor import unknown


class SDPBackend(enum.Enum):
    """The methods that torch has."""

    ERROR = -1
    MATH = 0
    FLASH_ATTENTION = 1
    EFFICIENT_ATTENTION = 2
    CUDNN_ATTENTION = 3


@contextlib.contextmanager
def sdpa_kernel(backends: Any, set_priority: bool = False) -> Iterator[None]:
    """Compute attention by products of matrices, which is what this page always does."""
    wanted = backends if isinstance(backends, (tuple, list)) else [backends]
    if SDPBackend.MATH not in wanted:
        raise NotImplementedError(
            "torch in this page computes attention by SDPBackend.MATH alone; ask for that"
        )
    yield


__getattr__ = unknown("torch.nn.attention")
