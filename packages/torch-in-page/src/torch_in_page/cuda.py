"""``torch.cuda``: there is none, and it says so."""

from __future__ import annotations

from typing import Any

from .tensor import unknown


def is_available() -> bool:
    """Say whether there is such a device: no."""
    return False


def is_initialized() -> bool:
    """Say whether such a device is in use: no."""
    return False


def device_count() -> int:
    """Return how many such devices there are: none."""
    return 0


def manual_seed(seed: int) -> None:
    """Do nothing: there is no generator on such a device."""


def manual_seed_all(seed: int) -> None:
    """Do nothing: there is no generator on such a device."""


def synchronize(device: Any = None) -> None:
    """Do nothing: there is nothing to wait for."""


def empty_cache() -> None:
    """Do nothing: there is nothing to free."""


__getattr__ = unknown("torch.cuda")
