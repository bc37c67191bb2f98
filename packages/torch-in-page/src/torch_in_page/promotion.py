"""What two operands make together: their kind, their arrays, and gradients back in their shapes."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import dtypes
from .dtypes import cast, dtype, of_scalar, promote_types
from .tensor import Tensor, made

NUMBERS = (int, float, complex, np.number, np.bool_)


def result_type(*operands: Any) -> dtype:
    """Return the kind of a result: tensors with axes decide, then those without, then numbers."""
    with_axes = without = numbers = None
    for operand in operands:
        if isinstance(operand, Tensor):
            kind = operand._dtype
            if operand._a.ndim:
                with_axes = kind if with_axes is None else promote_types(with_axes, kind)
            else:
                without = kind if without is None else promote_types(without, kind)
        else:
            kind = of_scalar(operand)
            numbers = kind if numbers is None else promote_types(numbers, kind)
    result = with_axes
    for weaker in (without, numbers):
        if weaker is None:
            continue
        if result is None:
            result = weaker
        elif weaker.kind > result.kind:
            if weaker.kind == 3 and result is dtypes.float16:
                raise NotImplementedError(
                    "torch in this page has no complex32, which float16 and a complex number make"
                )
            result = result.to_complex() if weaker.kind == 3 and result.kind == 2 else weaker
    assert result is not None
    return result


def operand(other: Any, what: str) -> Any:
    """Return a tensor or a Python number, or refuse."""
    if isinstance(other, Tensor):
        return other
    if isinstance(other, NUMBERS):
        return other.item() if isinstance(other, np.generic) else other
    if isinstance(other, np.ndarray):
        return made(other, dtypes.of_array(other))
    raise TypeError(
        f"{what}: argument 'other' must be Tensor or Number, not {type(other).__name__}"
    )


def scalar(number: Any, kind: dtype) -> np.ndarray:
    """Return a number as an array without axes, or refuse one that the kind does not hold."""
    try:
        return np.asarray(number, dtype=kind.array)
    except OverflowError:
        raise RuntimeError(
            f"value cannot be converted to type {kind.name} without overflow: {number}"
        ) from None


def arrays(a: Any, b: Any, floats: bool = False) -> tuple[np.ndarray, np.ndarray, dtype]:
    """Return the arrays of two operands in the kind that they make together."""
    if isinstance(a, Tensor) and isinstance(b, Tensor) and a._dtype is b._dtype:
        kind = a._dtype
        if not floats or kind.kind > 1:
            return a._a, b._a, kind
    else:
        kind = result_type(a, b)
    if floats and kind.kind < 2:
        kind = dtypes.get_default_dtype()
    return _in(a, kind), _in(b, kind), kind


def _in(a: Any, kind: dtype) -> np.ndarray:
    if isinstance(a, Tensor):
        if a._dtype is kind:
            return a._a
        # float16 and bfloat16 are computed in float32 and rounded at the end
        return cast(a._a, kind) if kind.kind < 2 or not kind.rounded else a._a.astype(kind.array)
    return scalar(a, kind)


def finished(array: Any, kind: dtype) -> np.ndarray:
    """Return a computed array in its kind."""
    array = np.asarray(array)
    if kind.rounded:
        return dtypes.rounded(array, kind)
    return array if array.dtype == kind.array else array.astype(kind.array)


def shrunk(gradient: Tensor, like: Any) -> Tensor:
    """Return the gradient of what was broadcast: summed over the axes that were repeated."""
    shape = like._a.shape
    if gradient._a.shape != shape:
        extra = gradient._a.ndim - len(shape)
        if extra > 0:
            gradient = gradient.sum(tuple(range(extra)))
        repeated = tuple(
            i for i, length in enumerate(shape) if length == 1 and gradient._a.shape[i] != 1
        )
        if repeated:
            gradient = gradient.sum(repeated, keepdim=True)
    if gradient._dtype is not like._dtype:
        if like._dtype.kind < 3 and gradient._dtype.kind == 3:
            gradient = gradient.real
        if gradient._dtype is not like._dtype:
            gradient = gradient.to(like._dtype)
    return gradient


def shapes_meet(a: np.ndarray, b: np.ndarray) -> None:
    """Refuse two shapes of which neither can be repeated to be the other."""
    for back in range(1, min(a.ndim, b.ndim) + 1):
        m, n = a.shape[-back], b.shape[-back]
        if m != n and m != 1 and n != 1:
            raise RuntimeError(
                f"The size of tensor a ({m}) must match the size of tensor b ({n}) at "
                f"non-singleton "
                f"dimension {max(a.ndim, b.ndim) - back}"
            )
