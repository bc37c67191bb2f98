"""Whether the numbers of a tensor are finite, asked so cheaply that layers can ask it."""

from __future__ import annotations

import math
from typing import Any


def all_finite(x: Any) -> bool:
    """Say whether no number of a tensor is NaN or infinite, as far as anybody can look.

    NaN and infinity stay in a sum, so that one sum, a tenth of the work of asking each number,
    nearly always tells.  A tensor on "meta" has no numbers, and inside ``torch.func.vmap`` nobody
    can look at them.

    Examples
    --------
    >>> import torch
    >>> all_finite(torch.tensor([1.0, torch.nan])), all_finite(torch.tensor([3e38, 3e38]))
    (False, True)
    """
    if x.is_meta or x.numel() == 0:
        return True
    try:
        return math.isfinite(x.detach().sum()) or bool(x.isfinite().all())
    except RuntimeError:  # inside vmap
        return True


def check_finite(name: str, x: Any) -> None:
    """Raise a ``ValueError`` when a number of a tensor is NaN or infinite.

    Examples
    --------
    >>> import torch
    >>> check_finite("x", torch.tensor([[0.0, 1.0], [torch.nan, 2.0]]))
    Traceback (most recent call last):
        ...
    ValueError: x contains NaN at [1, 0]
    """
    if not all_finite(x):
        index = x.isfinite().logical_not().nonzero()[0].tolist()
        kind = "NaN" if x[tuple(index)].isnan() else "infinity"
        raise ValueError(f"{name} contains {kind}" + (f" at {index}" if index else ""))
