"""What is asked of token ids: whole numbers that a vocabulary has."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np

from primer.inputs.arrays import as_array
from primer.inputs.given import is_tensor


def tokens(name: str, ids: Any, vocab_size: int, *, also: Collection[int] = ()) -> Any:
    """Return token ids in 64 bits, which no product of two of them leaves.

    Parameters
    ----------
    name : str
        What the caller calls them.
    ids : int Tensor, array or sequence of int
        The token ids.
    vocab_size : int
        How many tokens there are: ids run from 0 to one less.
    also : collection of int
        Numbers that stand for something else, as -100 does for a place that does not count.

    Returns
    -------
    int64 Tensor or array
        The ids; a tensor stays a tensor.

    Raises
    ------
    ValueError
        When an entry is no whole number, negative (it would count from the end) or too large.

    Examples
    --------
    >>> tokens("text", [2, 0, 1], vocab_size=3)
    array([2, 0, 1])
    >>> tokens("text", [2, -1], vocab_size=3)
    Traceback (most recent call last):
        ...
    ValueError: text must hold token ids, 0 to 2, got -1 at [1]
    >>> tokens("text", [0.5], vocab_size=3)
    Traceback (most recent call last):
        ...
    ValueError: text must hold token ids, whole numbers from 0 to 2, got numbers of type float64
    """
    has_tensor = is_tensor(ids)
    array = as_array(name, ids)
    if array.dtype.kind not in "iu" and array.size:
        raise ValueError(
            f"{name} must hold token ids, whole numbers from 0 to {vocab_size - 1}, "
            f"got numbers of type {ids.dtype if has_tensor else array.dtype}"
        )
    wrong = (array < 0) | (array >= vocab_size)
    if also:
        wrong &= ~np.isin(array, list(also))
    if wrong.any():
        index = np.argwhere(wrong)[0].tolist()
        place = f" at {index}" if index else ""
        raise ValueError(
            f"{name} must hold token ids, 0 to {vocab_size - 1}, got {array[wrong][0]}{place}"
        )
    return ids.long() if has_tensor else array.astype(np.int64)
