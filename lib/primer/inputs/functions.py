"""What is asked of functions that a caller hands over: a number for each number given."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from jaxtyping import Float

from primer.inputs.arrays import as_array, real
from primer.inputs.given import given, is_tensor
from primer.inputs.hints import takes
from primer.inputs.tensors import is_trusted


def evaluated(name: str, function: Callable[..., Any], x: Any) -> Float[np.ndarray, "..."]:
    """Return the values of a caller's function at given points.

    Parameters
    ----------
    name : str
        What the caller calls it.
    function : callable
        Takes an array of points and returns a real number for each of them; one number alone, as a
        constant function returns, counts for all.
    x : float array
        The points.

    Returns
    -------
    float array
        The values, in the shape of the points.

    Raises
    ------
    ValueError
        When this is no function, or it returns something else than one finite number a point.

    Examples
    --------
    >>> evaluated("density", lambda x: 2 * x, np.array([1.0, 2.0]))
    array([2., 4.])
    >>> evaluated("density", 3.0, np.array([1.0, 2.0]))
    Traceback (most recent call last):
        ...
    ValueError: density must be a function of x, got 3.0
    >>> evaluated("density", lambda x: [1.0, 2.0, 3.0], np.array([1.0, 2.0]))
    Traceback (most recent call last):
        ...
    ValueError: density must return a number for each point, shape (2,), got shape (3,)
    """
    if not callable(function) or isinstance(function, type):
        raise ValueError(f"{name} must be a function of x, got {given(function)}")
    shape = np.shape(x)
    values = as_array(f"the result of {name}", function(x))
    if values.shape not in ((), shape):
        raise ValueError(
            f"{name} must return a number for each point, shape {shape}, got shape {values.shape}"
        )
    return np.broadcast_to(real(f"the result of {name}", values), shape)


def alike(name: str, function: Callable[..., Any], x: Any, *others: Any) -> Any:
    """Return what a caller's function makes of a tensor: one of the same shape and precision.

    Parameters
    ----------
    name : str
        What the caller calls it.
    function : callable
        Takes the tensor, and what else is given.
    x : Tensor
        The tensor.
    *others : object
        What else the function gets.

    Returns
    -------
    Tensor
        Its result.

    Raises
    ------
    ValueError
        When it takes other arguments, or returns something else.

    Examples
    --------
    >>> import torch
    >>> alike("rotate", lambda x, start: x[..., :1], torch.ones(2, 4), 0)
    Traceback (most recent call last):
        ...
    ValueError: rotate must return a tensor like its own, torch.float32 of shape (2, 4), got ...
    """
    try:
        result = function(x, *others)
    except TypeError:
        if takes(function, (x, *others)):
            raise
        raise ValueError(
            f"{name} must be a function of {1 + len(others)} arguments, got {given(function)}"
        ) from None
    if is_trusted():
        return result
    same = is_tensor(result) and result.shape == x.shape
    if not same or not same_precision(x, result.dtype):
        kind = f"{result.dtype} of shape {tuple(result.shape)}" if is_tensor(result) else ""
        raise ValueError(
            f"{name} must return a tensor like its own, {x.dtype} of shape {tuple(x.shape)}, "
            f"got {kind or given(result)}"
        )
    return result


def mixed_precision(x: Any) -> bool:
    """Say whether torch chooses each operation's precision, where a tensor lies.

    Examples
    --------
    >>> import torch
    >>> with torch.autocast("cpu"):
    ...     mixed_precision(torch.ones(2)), mixed_precision(torch.ones(2, device="meta"))
    (True, False)
    """
    try:
        return bool(sys.modules["torch"].is_autocast_enabled(x.device.type))
    except RuntimeError:  # on "meta" torch computes nothing
        return False


def same_precision(x: Any, dtype: Any) -> bool:
    """Say whether a tensor has a precision, or torch will choose one for both.

    Examples
    --------
    >>> import torch
    >>> half = torch.ones(2, dtype=torch.bfloat16)
    >>> with torch.autocast("cpu"):
    ...     same_precision(half, torch.float32)
    True
    >>> same_precision(half, torch.float32)
    False
    """
    return bool(x.dtype == dtype) or mixed_precision(x)
