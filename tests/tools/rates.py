"""What learning rates a training uses, step by step."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from torch.optim.optimizer import register_optimizer_step_pre_hook


@contextmanager
def watched_rates() -> Iterator[list[list[float]]]:
    """Note the rate of each group of parameters before each step, whichever optimizer makes it."""
    rates: list[list[float]] = []
    handle = register_optimizer_step_pre_hook(
        lambda optimizer, *_: rates.append([group["lr"] for group in optimizer.param_groups])
    )
    try:
        yield rates
    finally:
        handle.remove()
