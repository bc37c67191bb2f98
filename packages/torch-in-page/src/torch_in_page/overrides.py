"""``torch.overrides``: seeing each call of torch's functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .naming import MODES
from .tensor import Tensor, unknown


class TorchFunctionMode:
    """Sees each call of a function or method of torch for the lines under ``with``."""

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        """Call the function: subclasses do something before or after."""
        return func(*args, **(kwargs or {}))

    def __enter__(self) -> TorchFunctionMode:
        MODES.append(self)
        return self

    def __exit__(self, *_: Any) -> None:
        MODES.remove(self)


def resolve_name(f: Any) -> str:
    """Return the name of a function of torch."""
    return f"torch.{getattr(f, '__name__', f)}"


def is_tensor_like(inp: Any) -> bool:
    """Say whether something is a tensor."""
    return isinstance(inp, Tensor)


__getattr__ = unknown("torch.overrides")
