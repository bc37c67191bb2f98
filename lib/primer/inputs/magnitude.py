"""Numbers so large or so small that their squares are none: scaled to about 1, and back."""

from __future__ import annotations

from typing import Any

import numpy as np
from jaxtyping import Float

TINY = float(np.finfo(float).tiny)
"""Below it floating-point numbers lose their digits, and then are 0."""


def scaled(
    values: Float[np.ndarray, "..."], axis: int | None = None
) -> tuple[Float[np.ndarray, "..."], Any]:
    r"""Divide numbers by the power of two below the largest of them.

    Their squares and sums then neither overflow nor vanish, and no digit is changed.

    Parameters
    ----------
    values : float array
        Finite numbers.
    axis : int, optional
        Along which the largest is sought; left out, among all.

    Returns
    -------
    parts : float array
        Of the same shape, below 2 in size.
    scale : float or float array
        ``values = scale * parts``, with the axis left out; 1 where all are 0.

    Examples
    --------
    >>> parts, scale = scaled(np.array([3e200, -4e200]))
    >>> print(f"{scale * np.sqrt((parts**2).sum()):.6g}")
    5e+200
    """
    largest = np.abs(values).max(axis=axis, keepdims=axis is not None)
    exponent = np.frexp(largest)[1] - 1
    scale = np.where(largest > 0, np.ldexp(1.0, exponent), 1.0)
    return values / scale, float(scale) if axis is None else scale.squeeze(axis)


def variance(values: Float[np.ndarray, "... n"], ddof: int = 1) -> Float[np.ndarray, "..."]:
    r"""Compute variances along the last axis, of numbers of about size 1 whose spread is far less.

    A mean is rounded to the digits of a common offset; the mean of what is left corrects it.

    Parameters
    ----------
    values : float array, shape (..., n)
        Numbers whose squares do not overflow.
    ddof : int
        What is taken off the divisor.

    Returns
    -------
    float array, shape (...)
        The variances.

    Examples
    --------
    >>> float(variance(2.0**52 + np.array([1.0, 2.0, 6.0])))
    7.0
    """
    left = values - values.mean(axis=-1, keepdims=True)
    return np.asarray(left.var(axis=-1, ddof=ddof))  # which takes the mean off once more


def rescaled(name: str, parts: Any, *scales: Any) -> Any:
    """Multiply a result by the scales that its numbers were divided by.

    Parameters
    ----------
    name : str
        What the result is, for the error.
    parts : float array or float
        The result for the scaled numbers.
    *scales : float array or float
        The scale, as often as it stands in the result: twice for a square.

    Returns
    -------
    float array
        The result.

    Raises
    ------
    ValueError
        When it is too large for a floating-point number, or so small that its digits are lost.

    Examples
    --------
    >>> float(rescaled("the variance", 0.5, 4.0, 4.0))
    8.0
    >>> rescaled("the variance", 0.5, 1e200, 1e200)
    Traceback (most recent call last):
        ...
    ValueError: the variance is too large for a floating-point number; measure in a larger unit
    """
    result = np.asarray(parts, dtype=float)
    with np.errstate(over="ignore", under="ignore"):
        for scale in scales:
            result = result * scale
    if not np.isfinite(result).all():
        raise ValueError(
            f"{name} is too large for a floating-point number; measure in a larger unit"
        )
    if (len(scales) > 1) and ((np.abs(result) < TINY) & (np.asarray(parts) != 0)).any():
        raise ValueError(
            f"{name} is too small for a floating-point number; measure in a smaller unit"
        )
    return np.asarray(result)  # a product of two numbers is none


def length(values: Float[np.ndarray, "..."]) -> float:
    r"""Compute :math:`\lVert v\rVert_2` of all entries together, also where no square is a number.

    Parameters
    ----------
    values : float array
        Finite numbers.

    Returns
    -------
    float
        Its length; infinite where that is no floating-point number.

    Examples
    --------
    >>> length(np.array([3e-200, 4e-200]))
    5e-200
    """
    parts, scale = scaled(values)
    return float(scale * float(np.linalg.norm(parts)))


def lengths(table: Float[np.ndarray, "n p"]) -> Float[np.ndarray, " p"]:
    r"""Compute :math:`\lVert x_{\cdot j}\rVert_2` of each column, also where no square is a number.

    Parameters
    ----------
    table : float array, shape (n, p)
        Finite numbers.

    Returns
    -------
    float array, shape (p,)
        The length of each column.

    Examples
    --------
    >>> lengths(np.array([[3.0, 0.0], [4.0, 2.0]])).tolist()
    [5.0, 2.0]
    """
    parts, scale = scaled(table, axis=0)
    return np.asarray(np.linalg.norm(parts, axis=0) * scale)


def sum_of_squares(name: str, *vectors: Float[np.ndarray, " n"]) -> float:
    r"""Add up the squares of all numbers in some vectors.

    Parameters
    ----------
    name : str
        What the sum is, for the error.
    *vectors : float array
        Finite numbers.

    Returns
    -------
    float
        The sum.

    Raises
    ------
    ValueError
        When it is no floating-point number.

    Examples
    --------
    >>> sum_of_squares("the loss", np.array([3.0, 4.0]), np.array([1.0]))
    26.0
    >>> sum_of_squares("the loss", np.array([1e-200]))
    Traceback (most recent call last):
        ...
    ValueError: the loss is too small for a floating-point number; measure in a smaller unit
    """
    parts, scale = scaled(np.concatenate(vectors))
    return float(rescaled(name, parts @ parts, scale, scale))
