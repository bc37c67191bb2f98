"""``torch.utils.checkpoint``: computing parts again instead of keeping them; here they are kept."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..tensor import unknown


def checkpoint(
    function: Callable[..., Any], *args: Any, use_reentrant: Any = None, **kwargs: Any
) -> Any:
    """Return a function's value: the same numbers and gradients, without the saving of memory."""
    return function(*args, **kwargs)


__getattr__ = unknown("torch.utils.checkpoint")
