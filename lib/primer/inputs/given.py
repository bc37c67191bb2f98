"""What was given, in a few words, for the end of a sentence."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np

LONG = 200
"""A whole number of more bits has more digits than anybody reads; Python writes 4,300 at most."""


def is_tensor(value: Any) -> bool:
    """Say whether a value is torch's tensor; torch is imported only by topics that need it.

    Examples
    --------
    >>> import torch
    >>> is_tensor(torch.ones(2)), is_tensor(torch.Tensor), is_tensor(torch.float32)
    (True, False, False)
    """
    return hasattr(value, "detach") and not isinstance(value, type)


def given(value: Any) -> str:
    """Say briefly what was given.

    Examples
    --------
    >>> given(2.5), given([1, 2]), given(np.ones(3))
    ('2.5', 'a list', 'an array of shape (3,)')
    >>> given(10**5000)
    'a whole number of 16,610 bits'
    """
    if is_tensor(value):
        return f"a tensor of shape {tuple(value.shape)}"
    if isinstance(value, np.ndarray):
        return f"an array of shape {value.shape}"
    if isinstance(value, list | tuple | dict | set):
        return f"a {type(value).__name__}"
    if inspect.isfunction(value):
        return f"{value.__name__}{inspect.signature(value)}"
    if isinstance(value, int) and value.bit_length() > LONG:
        return f"a whole number of {value.bit_length():,} bits"
    text = repr(value)
    return text if len(text) <= 60 and "\n" not in text else f"a {type(value).__name__}"
