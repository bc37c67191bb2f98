"""``torch.utils.flop_counter``: how many multiplications and additions products take."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from .. import products
from ..tensor import unknown


class FlopCounterMode:
    """Counts the operations of products of matrices for the lines under ``with``."""

    def __init__(
        self, mods: Any = None, depth: int = 2, display: bool = True, custom_mapping: Any = None
    ) -> None:
        if custom_mapping is not None:
            raise NotImplementedError(
                "torch in this page has no custom_mapping= for FlopCounterMode"
            )
        if display:
            raise NotImplementedError(
                "torch in this page has no table of operations by module; write "
                "FlopCounterMode(display=False) "
                "and print get_total_flops()"
            )
        self.counts: dict[str, int] = defaultdict(int)

    def _note(self, name: str, count: int) -> None:
        self.counts[name] += count

    def __enter__(self) -> FlopCounterMode:
        self.counts.clear()
        products.LISTENERS.append(self._note)
        return self

    def __exit__(self, *_: Any) -> None:
        products.LISTENERS.remove(self._note)

    def get_total_flops(self) -> int:
        """Return the number of operations, two for each multiplication and addition."""
        return sum(self.counts.values())

    def get_flop_counts(self) -> Any:
        """Refuse: operations are not counted by module."""
        raise NotImplementedError(
            "torch in this page does not count operations by module; ask get_total_flops()"
        )


__getattr__ = unknown("torch.utils.flop_counter")
