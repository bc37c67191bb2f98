"""Tensors from Python's numbers and NumPy's arrays, filled with one number, or a range."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from . import dtypes
from .dtypes import cast, dtype, int64, promote_types
from .naming import both, only_function, only_method
from .sizes import here, shape_of
from .tensor import Tensor, made


def finish(array: np.ndarray, kind: dtype, requires_grad: bool = False) -> Tensor:
    """Return a new leaf."""
    out = made(array, kind)
    return out.requires_grad_() if requires_grad else out


def strided_only(layout: Any) -> None:
    """Refuse tensors that are not kept with strides."""
    if layout is not None and str(layout) != "torch.strided":
        raise NotImplementedError(f"torch in this page has no layout {layout}")


# ---------------------------------------------------------------- from numbers


def _kind_of(x: Any) -> dtype | None:
    """Return the kind that numbers in lists make together; none when there are none."""
    if isinstance(x, Tensor):
        return x._dtype
    if isinstance(x, (np.ndarray, np.generic)):
        return dtypes.of_array(np.asarray(x))
    if isinstance(x, (list, tuple, range)):
        found: dtype | None = None if len(x) else dtypes.get_default_dtype()
        for part in x:
            kind = _kind_of(part)
            if kind is not None:
                found = kind if found is None else promote_types(found, kind)
        return found
    if isinstance(x, str):
        if x:
            raise ValueError("too many dimensions 'str'")
        raise TypeError("new(): invalid data type 'str'")
    if x is None or not isinstance(x, (bool, int, float, complex)):
        if hasattr(x, "__array__"):
            return dtypes.of_array(np.asarray(x))
        raise RuntimeError(f"Could not infer dtype of {type(x).__name__}")
    return dtypes.of_scalar(x)


def _shape(x: Any) -> tuple[int, ...]:
    if isinstance(x, (Tensor, np.ndarray)):
        return tuple(x.shape)
    if isinstance(x, (list, tuple, range)):
        return (len(x), *(_shape(x[0]) if len(x) else ()))
    return ()


def _checked(x: Any, shape: tuple[int, ...], dim: int = 0) -> None:
    """Refuse lists of which the parts are not equally long."""
    if not shape:
        if isinstance(x, (list, tuple)):
            raise TypeError(f"'{type(x).__name__}' object cannot be interpreted as an integer")
        return
    if 0 in shape:
        return
    if not isinstance(x, (list, tuple, range, Tensor, np.ndarray)) or len(_shape(x)) == 0:
        raise TypeError("not a sequence")
    if len(x) != shape[0]:
        raise ValueError(f"expected sequence of length {shape[0]} at dim {dim} (got {len(x)})")
    if isinstance(x, (list, tuple)):
        for part in x:
            _checked(part, shape[1:], dim + 1)


def _numbers(x: Any) -> Any:
    if isinstance(x, Tensor):
        return x._a if x._a.ndim else x._a.item()
    return [_numbers(part) for part in x] if isinstance(x, (list, tuple)) else x


@only_function
def tensor(
    data: Any,
    *,
    dtype: dtype | None = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """Return numbers, lists of numbers or an array as a tensor with memory of its own."""
    here(device)
    if isinstance(data, (Tensor, np.ndarray, np.generic)):
        source = data._a if isinstance(data, Tensor) else np.asarray(data)
        kind = dtype or (data._dtype if isinstance(data, Tensor) else dtypes.of_array(source))
        array = cast(source, kind)
        return finish(np.array(array, kind.array), kind, requires_grad)
    shape = _shape(data)
    kind = dtype or _kind_of(data) or dtypes.get_default_dtype()
    if dtype is not None:
        _kind_of(data)
    _checked(data, shape)
    if 0 in shape:
        return finish(np.zeros(shape, kind.array), kind, requires_grad)
    try:
        array = np.array(_numbers(data), dtype=kind.array if not kind.rounded else np.float32)
    except OverflowError:
        raise RuntimeError(
            f"value cannot be converted to type {kind.name} without overflow"
        ) from None
    except TypeError:  # a complex number for a real kind, say
        array = cast(np.array(_numbers(data)), kind)
    if kind.rounded:
        array = cast(array, kind)
    return finish(array.reshape(shape), kind, requires_grad)


def legacy(cls: type, data: tuple[Any, ...]) -> Tensor:
    """Return ``torch.Tensor(…)``: numbers in the default kind, or a shape to be filled."""
    kind = dtypes.get_default_dtype()
    if len(data) == 1 and isinstance(data[0], Tensor):
        return made(data[0]._a, data[0]._dtype, cls)
    if (
        len(data) == 1
        and isinstance(data[0], (list, tuple, np.ndarray))
        and type(data[0]).__name__ != "Size"
    ):
        return made(tensor(data[0], dtype=kind)._a, kind, cls)
    return made(np.zeros(shape_of(data), kind.array), kind, cls)


@only_function
def as_tensor(data: Any, dtype: dtype | None = None, device: Any = None) -> Tensor:
    """Return a tensor, in the same memory where that is possible."""
    here(device)
    if isinstance(data, Tensor):
        return data if dtype is None else data.to(dtype)
    if isinstance(data, np.ndarray):
        out = from_numpy(data)
        return out if dtype is None else out.to(dtype)
    return tensor(data, dtype=dtype)


@only_function
def asarray(
    obj: Any,
    *,
    dtype: dtype | None = None,
    device: Any = None,
    copy: bool | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """Return a tensor, in the same memory where that is possible and no copy is asked for."""
    out = as_tensor(obj, dtype, device)
    out = out.clone() if copy and out is obj else tensor(out) if copy else out
    return out.requires_grad_() if requires_grad else out


@only_function
def from_numpy(ndarray: np.ndarray) -> Tensor:
    """Return a tensor that shares an array's memory."""
    if not isinstance(ndarray, np.ndarray):
        raise TypeError(f"expected np.ndarray (got {type(ndarray).__name__})")
    if any(step < 0 for step in ndarray.strides):
        raise ValueError(
            "At least one stride in the given numpy array is negative, and tensors with negative "
            "strides "
            "are not currently supported. (You can probably work around this by making a copy of "
            "your "
            "array  with array.copy().) "
        )
    kind = dtypes.of_array(ndarray)
    if not ndarray.dtype.isnative:
        raise TypeError("given numpy array has byte order different from the native byte order.")
    return made(ndarray, kind)


@only_function
def frombuffer(buffer: Any, *, dtype: dtype, count: int = -1, offset: int = 0) -> Tensor:
    """Return a tensor that shares the memory of some bytes."""
    if dtype.rounded:
        raw = np.frombuffer(buffer, f"u{dtype.itemsize}", count, offset)
        return made(dtypes.from_bytes(raw, dtype), dtype)
    return made(np.frombuffer(buffer, dtype.array, count, offset), dtype)


# ---------------------------------------------------------------- one number


@only_function
def zeros(
    *size: Any,
    dtype: dtype | None = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
    **named: Any,
) -> Tensor:
    """Return zeros in a shape."""
    return _filled(0, size, dtype, layout, device, requires_grad, named)


@only_function
def ones(
    *size: Any,
    dtype: dtype | None = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
    **named: Any,
) -> Tensor:
    """Return ones in a shape."""
    return _filled(1, size, dtype, layout, device, requires_grad, named)


@only_function
def empty(
    *size: Any,
    dtype: dtype | None = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
    memory_format: Any = None,
    **named: Any,
) -> Tensor:
    """Return a tensor whose numbers are yet to be written; they are 0 here."""
    return _filled(0, size, dtype, layout, device, requires_grad, named)


def _filled(
    number: Any, size: Any, kind: Any, layout: Any, device: Any, requires_grad: bool, named: Any
) -> Tensor:
    if "size" in named:
        size = (named.pop("size"),)
    if named:
        raise TypeError(f"torch in this page does not know the keyword {next(iter(named))!r} here")
    here(device)
    strided_only(layout)
    kind = kind or dtypes.get_default_dtype()
    return finish(np.full(_positive(shape_of(size)), number, kind.array), kind, requires_grad)


def _positive(shape: tuple[int, ...]) -> tuple[int, ...]:
    if any(n < 0 for n in shape):
        raise RuntimeError(
            f"Trying to create tensor with negative dimension {min(shape)}: {list(shape)}"
        )
    return shape


@only_function
def full(
    size: Any,
    fill_value: Any,
    *,
    dtype: dtype | None = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """Return one number in a shape."""
    here(device)
    strided_only(layout)
    number = fill_value.item() if isinstance(fill_value, Tensor) else fill_value
    kind = dtype or (
        fill_value._dtype if isinstance(fill_value, Tensor) else dtypes.of_scalar(number)
    )
    shape = _positive(shape_of((size,) if isinstance(size, int) else tuple(size)))
    array = np.full(shape, cast(np.asarray(number), kind))
    return finish(array.astype(kind.array), kind, requires_grad)


def _like(number: Any) -> Any:
    def function(
        input: Tensor,
        *,
        dtype: dtype | None = None,
        layout: Any = None,
        device: Any = None,
        requires_grad: bool = False,
        memory_format: Any = None,
    ) -> Tensor:
        here(device)
        kind = dtype or input._dtype
        return finish(np.full(input._a.shape, number, kind.array), kind, requires_grad)

    function.__name__ = {0: "zeros_like", 1: "ones_like", None: "empty_like"}[number]
    function.__doc__ = f"Return {function.__name__[:-5]} in the shape and kind of another tensor."
    return function


zeros_like = only_function(_like(0))
ones_like = only_function(_like(1))


@only_function
def empty_like(
    input: Tensor,
    *,
    dtype: dtype | None = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    memory_format: Any = None,
) -> Tensor:
    """Return a tensor in another's shape whose numbers are yet to be written; they are 0 here."""
    return zeros_like(input, dtype=dtype, device=device, requires_grad=requires_grad)


@only_function
def full_like(
    input: Tensor,
    fill_value: Any,
    *,
    dtype: dtype | None = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    memory_format: Any = None,
) -> Tensor:
    """Return one number in the shape and kind of another tensor."""
    return full(input._a.shape, fill_value, dtype=dtype or input._dtype, device=device,
                requires_grad=requires_grad)  # fmt: skip


@only_method
def new_zeros(self: Tensor, *size: Any, **named: Any) -> Tensor:
    """Return zeros of this tensor's kind."""
    return zeros(*size, **({"dtype": self._dtype} | named))


@only_method
def new_ones(self: Tensor, *size: Any, **named: Any) -> Tensor:
    """Return ones of this tensor's kind."""
    return ones(*size, **({"dtype": self._dtype} | named))


@only_method
def new_empty(self: Tensor, *size: Any, **named: Any) -> Tensor:
    """Return a tensor of this tensor's kind to be written."""
    return empty(*size, **({"dtype": self._dtype} | named))


@only_method
def new_full(self: Tensor, size: Any, fill_value: Any, **named: Any) -> Tensor:
    """Return one number, in this tensor's kind."""
    return full(size, fill_value, **({"dtype": self._dtype} | named))


@only_method
def new_tensor(self: Tensor, data: Any, **named: Any) -> Tensor:
    """Return numbers in this tensor's kind."""
    return tensor(data, **({"dtype": self._dtype} | named))


# ---------------------------------------------------------------- ranges and matrices


def _number(x: Any) -> Any:
    return x.item() if isinstance(x, (Tensor, np.generic)) else x


@only_function
def arange(
    start: Any,
    end: Any = None,
    step: Any = 1,
    *,
    dtype: dtype | None = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """Return numbers from one to below another, in steps."""
    here(device)
    start, end, step = (
        _number(x) for x in ((0, start, step) if end is None else (start, end, step))
    )
    whole = all(isinstance(x, int) for x in (start, end, step))
    kind = dtype or (int64 if whole else dtypes.get_default_dtype())
    if step == 0:
        raise RuntimeError("step must be nonzero")
    if (end - start) * step < 0:
        raise RuntimeError("upper bound and lower bound inconsistent with step sign")
    count = (
        max(math.ceil((end - start) / step), 0) if not whole else max(-((start - end) // step), 0)
    )
    places = np.arange(count, dtype=np.int64 if whole else np.float64)
    return finish(cast(start + step * places, kind), kind, requires_grad)


@only_function
def linspace(
    start: Any,
    end: Any,
    steps: int,
    *,
    dtype: dtype | None = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """Return so many numbers at equal distances, the ends included."""
    here(device)
    kind = dtype or dtypes.get_default_dtype()
    if steps < 0:
        raise RuntimeError("number of steps must be non-negative")
    start, end = _number(start), _number(end)
    number = kind.array.type if kind.kind > 1 else np.float64
    if steps == 1:
        return finish(np.full(1, start, kind.array), kind, requires_grad)
    # from both ends towards the middle, as torch does
    step = number((end - start) / (steps - 1)) if kind.kind < 3 else (end - start) / (steps - 1)
    place = np.arange(steps, dtype=np.int64)
    front = number(start) + step * place.astype(kind.array if kind.kind > 1 else np.float64)
    back = number(end) - step * (steps - 1 - place).astype(
        kind.array if kind.kind > 1 else np.float64
    )
    out = np.where(place < steps // 2, front, back)
    return finish(cast(out, kind), kind, requires_grad)


@only_function
def logspace(
    start: Any,
    end: Any,
    steps: int,
    base: float = 10.0,
    *,
    dtype: dtype | None = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """Return powers of a base, their exponents at equal distances."""
    kind = dtype or dtypes.get_default_dtype()
    exponents = linspace(start, end, steps, dtype=dtypes.float64, device=device)._a
    return finish(cast(np.power(base, exponents), kind), kind, requires_grad)


@only_function
def eye(
    n: int,
    m: int | None = None,
    *,
    dtype: dtype | None = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """Return the identity matrix."""
    here(device)
    kind = dtype or dtypes.get_default_dtype()
    return finish(np.eye(n, m, dtype=kind.array), kind, requires_grad)


@only_function
def vander(x: Tensor, N: int | None = None, increasing: bool = False) -> Tensor:
    """Return powers of the numbers of a vector, one row each."""
    n = len(x) if N is None else N
    powers = x[:, None] ** arange(n)
    return powers if increasing else powers.flip(1)


@only_function
def is_tensor(obj: Any) -> bool:
    """Say whether something is a tensor."""
    return isinstance(obj, Tensor)


@only_function
def is_floating_point(input: Tensor) -> bool:
    """Say whether a tensor's numbers have a floating point."""
    return input.is_floating_point()


@only_function
def is_complex(input: Tensor) -> bool:
    """Say whether a tensor's numbers are complex."""
    return input.is_complex()


@only_function
def numel(input: Tensor) -> int:
    """Return how many numbers a tensor has."""
    return input._a.size


@both
def is_nonzero(input: Tensor) -> bool:
    """Say whether the only number of a tensor is not 0."""
    return bool(input)


@only_function
def is_same_size(input: Tensor, other: Tensor) -> bool:
    """Say whether two tensors have one shape."""
    return input._a.shape == other._a.shape


only_method(is_same_size)


@only_function
def result_type(tensor1: Any, tensor2: Any) -> dtype:
    """Return the kind that two operands make together."""
    from . import promotion

    return promotion.result_type(tensor1, tensor2)


@only_function
def can_cast(from_: dtype, to: dtype) -> bool:
    """Say whether numbers of a kind may be written into another."""
    return from_.kind <= to.kind and (
        from_.is_signed <= to.is_signed or to.kind > 1 or from_.kind == 0
    )


@only_function
def trapezoid(y: Tensor, x: Tensor | None = None, *, dx: float = 1.0, dim: int = -1) -> Tensor:
    """Return integrals by the trapezoid rule."""
    n = y._a.shape[dim]
    middle = (y.narrow(dim, 1, n - 1) + y.narrow(dim, 0, n - 1)) / 2
    if x is None:
        return (middle * dx).sum(dim)
    return (
        (middle * (x[1:] - x[:-1])).sum(dim)
        if x._a.ndim == 1
        else (middle * x.diff(dim=dim)).sum(dim)
    )


@both
def diff(
    input: Tensor, n: int = 1, dim: int = -1, prepend: Any = None, append: Any = None
) -> Tensor:
    """Return differences of neighbors along an axis."""
    from .joining import cat

    ends = [part for part in (prepend, input, append) if part is not None]
    out = cat(ends, dim) if len(ends) > 1 else input
    for _ in range(n):
        length = out._a.shape[dim]
        after, before = out.narrow(dim, 1, length - 1), out.narrow(dim, 0, length - 1)
        out = after ^ before if out._dtype.kind == 0 else after - before
    return out


@only_function
def cdist(x1: Tensor, x2: Tensor, p: float = 2.0) -> Tensor:
    """Return the distances of all rows of one matrix to all rows of another."""
    return (x1[..., :, None, :] - x2[..., None, :, :]).norm(p, -1)


@only_function
def cross(input: Tensor, other: Tensor, dim: int = -1) -> Tensor:
    """Return the vector at right angles to two others."""
    a, b = input.unbind(dim), other.unbind(dim)
    from .joining import stack

    return stack(
        [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]], dim
    )
