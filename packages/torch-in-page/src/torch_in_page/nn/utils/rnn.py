"""``torch.nn.utils.rnn``: sequences of different lengths."""

from __future__ import annotations

from typing import Any

from ...creating import full
from ...joining import stack
from ...tensor import Tensor, unknown


class PackedSequence:
    """Sequences without padding: not here."""

    def __init__(self, *_: Any, **__: Any) -> None:
        raise NotImplementedError(
            "torch in this page has no packed sequences; give a padded tensor and mask what you "
            "do not want"
        )


def pad_sequence(
    sequences: Any,
    batch_first: bool = False,
    padding_value: float = 0.0,
    padding_side: str = "right",
) -> Tensor:
    """Return sequences in one tensor, the shorter ones filled up."""
    longest = max(len(x) for x in sequences)
    rows = []
    for x in sequences:
        row = full((longest, *x.shape[1:]), padding_value, dtype=x.dtype)
        row[(longest - len(x) if padding_side == "left" else 0) :][: len(x)] = x
        rows.append(row)
    return stack(rows, 0 if batch_first else 1)


def pack_padded_sequence(*_: Any, **__: Any) -> Any:
    """Refuse: packed sequences are not here."""
    return PackedSequence()


def pad_packed_sequence(*_: Any, **__: Any) -> Any:
    """Refuse: packed sequences are not here."""
    return PackedSequence()


__getattr__ = unknown("torch.nn.utils.rnn")
