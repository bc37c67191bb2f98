"""Whether the numbers of a tensor are finite, asked so cheaply that layers can ask it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

_TRUSTED = ContextVar("trusted", default=False)


@contextmanager
def trusted() -> Iterator[None]:
    """Let layers ask nothing of their tensors: whoever opens this has asked, or asks the result.

    A model that writes a text passes four layers for each token, and each would ask its tensors
    for their kind, shape and size, which takes as long as the small matrix products between.

    Examples
    --------
    >>> import torch
    >>> with trusted():
    ...     check_finite("x", torch.tensor([torch.nan]))
    >>> is_trusted()
    False
    """
    token = _TRUSTED.set(True)
    try:
        yield
    finally:
        _TRUSTED.reset(token)


def is_trusted() -> bool:
    """Say whether a tensor need not be asked: see :func:`trusted`."""
    return _TRUSTED.get()


def holds_whole(x: Any) -> bool:
    """Say whether a tensor is of a kind that counts: no fractions, complex numbers, truth values.

    Examples
    --------
    >>> import torch
    >>> holds_whole(torch.tensor([1, 2])), holds_whole(torch.tensor([1.0])), holds_whole(
    ...     torch.tensor([1j])
    ... )
    (True, False, False)
    """
    return not (x.is_floating_point() or x.is_complex() or str(x.dtype) == "torch.bool")


def all_finite(x: Any) -> bool:
    """Say whether no number of a tensor is NaN or infinite, or whether nobody shall ask.

    Examples
    --------
    >>> import torch
    >>> all_finite(torch.tensor([1.0, torch.nan])), all_finite(torch.tensor([3e38, 3e38]))
    (False, True)
    """
    return is_trusted() or holds_finite(x)


def holds_finite(x: Any) -> bool:
    """Say whether no number of a tensor is NaN or infinite, as far as anybody can look.

    NaN and infinity stay in a sum, so that one sum, a tenth of the work of asking each number,
    nearly always tells.  A tensor on "meta" has no numbers, and inside ``torch.func.vmap`` nobody
    can look at them.
    """
    try:
        return math.isfinite(x.detach().sum()) or bool(x.isfinite().all())
    except RuntimeError:  # on "meta", inside vmap
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
