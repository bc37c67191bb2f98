"""The same numbers with other axes: views of one memory, where it allows them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from . import dtypes
from .dtypes import dtype
from .engine import record, view
from .naming import both, only_function, only_method
from .promotion import shrunk
from .sizes import Size, axes, axis, shape_of
from .tensor import Tensor, made


def filled(shape: tuple[int, ...], count: int) -> tuple[int, ...]:
    """Return a shape with its -1 replaced by the length that is left, or refuse."""
    known = 1
    for length in shape:
        known *= length if length != -1 else 1
    if shape.count(-1) > 1:
        raise RuntimeError("only one dimension can be inferred")
    fits = known == count if -1 not in shape else known > 0 and count % known == 0
    if not fits:
        if known == 0 and -1 in shape:
            raise RuntimeError(
                f"cannot reshape tensor of {count} elements into shape {list(shape)} because the "
                "unspecified dimension size -1 can be any value and is ambiguous"
            )
        raise RuntimeError(f"shape '{list(shape)}' is invalid for input of size {count}")
    return tuple(count // known if length == -1 else length for length in shape)


def _reshaped(input: Tensor, shape: tuple[int, ...], name: str, must_share: bool = False) -> Tensor:
    shape = filled(shape, input._a.size)
    before = input._a.shape
    out = input._a.reshape(shape)
    shares = out.size == 0 or np.may_share_memory(out, input._a)
    if must_share and not shares:
        raise RuntimeError(
            "view size is not compatible with input tensor's size and stride (at least one "
            "dimension "
            "spans across two contiguous subspaces). Use .reshape(...) instead."
        )
    rule = lambda g, _: reshape(g, before)  # noqa: E731
    if not shares:
        return record(out, input._dtype, (input,), (rule,), "UnsafeView")
    return view(input, out, lambda t: reshape(t, shape), rule, name)


@only_function
def reshape(input: Tensor, shape: Any) -> Tensor:
    """Return the numbers in another shape, in the same memory where that is possible."""
    return _reshaped(input, shape_of(tuple(shape)), "View")


def _view_method(self: Tensor, *shape: Any) -> Tensor:
    """Return the same memory in another shape, or its bytes as another kind of numbers."""
    if len(shape) == 1 and isinstance(shape[0], dtype):
        return _as_kind(self, shape[0])
    return _reshaped(self, shape_of(shape), "View", must_share=True)


def _as_kind(x: Tensor, kind: dtype) -> Tensor:
    """Return the same bytes as another kind; of rounded kinds a copy that cannot be written."""
    if kind is x._dtype:
        return x
    if not kind.rounded and not x._dtype.rounded:
        try:
            out = x._a.view(kind.array)
        except ValueError as error:
            raise RuntimeError(f"these numbers cannot be read as {kind}: {error}") from None
        other = made(out, kind)
        other._version = x._version
        return other
    stored = dtypes.to_bytes(x._a, x._dtype)
    if kind.rounded:
        out = dtypes.from_bytes(stored.view(f"u{kind.itemsize}"), kind)
    else:
        out = stored.view(kind.array)
    out = out.copy()
    out.flags.writeable = False
    return made(out, kind)


Tensor.view = _view_method  # type: ignore[attr-defined]


def _reshape_method(self: Tensor, *shape: Any, **named: Any) -> Tensor:
    shape = (named["shape"],) if "shape" in named else shape
    return _reshaped(self, shape_of(shape), "View")


Tensor.reshape = _reshape_method  # type: ignore[attr-defined]


@only_method
def view_as(self: Tensor, other: Tensor) -> Tensor:
    """Return the same memory in another tensor's shape."""
    return self.view(other._a.shape)


@only_method
def reshape_as(self: Tensor, other: Tensor) -> Tensor:
    """Return the numbers in another tensor's shape."""
    return reshape(self, other._a.shape)


@both
def flatten(input: Tensor, start_dim: int = 0, end_dim: int = -1) -> Tensor:
    """Return the axes from one to another as one."""
    n = input._a.ndim
    if n == 0:
        return reshape(input, (1,))
    start, end = axis(start_dim, n), axis(end_dim, n)
    if start > end:
        raise RuntimeError("flatten() has invalid args: start_dim cannot come after end_dim")
    if start == end:
        return input
    shape = input._a.shape
    length = Size(shape[start : end + 1]).numel()
    return reshape(input, (*shape[:start], length, *shape[end + 1 :]))


@both
def ravel(input: Tensor) -> Tensor:
    """Return the numbers along one axis."""
    return reshape(input, (-1,))


@both
def unflatten(input: Tensor, dim: int, sizes: Sequence[int]) -> Tensor:
    """Return an axis as several."""
    dim = axis(dim, input._a.ndim)
    shape = input._a.shape
    parts = filled(shape_of(tuple(sizes)), shape[dim])
    return reshape(input, (*shape[:dim], *parts, *shape[dim + 1 :]))


@both
def squeeze(input: Tensor, dim: Any = None) -> Tensor:
    """Return the tensor without axes of length 1."""
    shape = input._a.shape
    gone = axes(dim, len(shape))
    if dim == () or (dim is not None and not shape):
        gone = ()
    left = tuple(n for d, n in enumerate(shape) if not (d in gone and n == 1))
    name = (
        "Squeeze" if dim is None else "Squeeze2" if isinstance(dim, (tuple, list)) else "Squeeze1"
    )
    return view(
        input,
        input._a.reshape(left),
        lambda t: squeeze(t, dim),
        lambda g, _: reshape(g, shape),
        name,
    )


@both
def unsqueeze(input: Tensor, dim: int) -> Tensor:
    """Return the tensor with an axis of length 1 more."""
    dim = axis(dim, input._a.ndim + 1)
    return view(
        input, np.expand_dims(input._a, dim), lambda t: unsqueeze(t, dim),
        lambda g, _: squeeze(g, dim), "Unsqueeze",
    )  # fmt: skip


@only_function
def permute(input: Tensor, dims: Sequence[int]) -> Tensor:
    """Return the axes in another order."""
    n = input._a.ndim
    if len(dims) != n:
        raise RuntimeError(
            "permute(sparse_coo): number of dimensions in the tensor input does not match the "
            "length of "
            f"the desired ordering of dimensions i.e. input.dim() = {n} is not equal to "
            f"len(dims) = "
            f"{len(dims)}"
        )
    order = tuple(axis(d, n) for d in dims)
    if len(set(order)) != n:
        raise RuntimeError("permute(): duplicate dims are not allowed.")
    back = tuple(order.index(d) for d in range(n))
    return view(
        input, input._a.transpose(order), lambda t: permute(t, order),
        lambda g, _: permute(g, back), "Permute",
    )  # fmt: skip


def _permute_method(self: Tensor, *dims: Any) -> Tensor:
    return permute(self, shape_of(dims))


Tensor.permute = _permute_method  # type: ignore[attr-defined]


@both(also=("swapaxes", "swapdims"))
def transpose(input: Tensor, dim0: int, dim1: int) -> Tensor:
    """Return the tensor with two axes exchanged."""
    a, b = axis(dim0, input._a.ndim), axis(dim1, input._a.ndim)
    out = input._a.swapaxes(a, b) if input._a.ndim else input._a[...]
    return view(
        input, out, lambda t: transpose(t, a, b), lambda g, _: transpose(g, a, b), "Transpose"
    )


@both
def t(input: Tensor) -> Tensor:
    """Return a matrix with its axes exchanged."""
    if input._a.ndim > 2:
        raise RuntimeError(
            f"t() expects a tensor with <= 2 dimensions, but self is {input._a.ndim}D"
        )
    return view(input, input._a.T, t, lambda g, _: t(g), "T")


def _transposed(self: Tensor) -> Tensor:
    if self._a.ndim == 2:
        return permute(self, (1, 0))
    return permute(self, tuple(range(self._a.ndim))[::-1])


def _matrix_transposed(self: Tensor) -> Tensor:
    if self._a.ndim < 2:
        raise RuntimeError(
            "tensor.mT is only supported on matrices or batches of matrices. Got "
            f"{self._a.ndim}-D tensor."
        )
    return transpose(self, -2, -1)


Tensor.T = property(_transposed)  # type: ignore[attr-defined]
Tensor.mT = property(_matrix_transposed)  # type: ignore[attr-defined]
Tensor.H = property(lambda self: _transposed(self).conj())  # type: ignore[attr-defined]
Tensor.mH = property(lambda self: _matrix_transposed(self).conj())  # type: ignore[attr-defined]


@both(also=("moveaxis",))
def movedim(input: Tensor, source: Any, destination: Any) -> Tensor:
    """Return the tensor with some axes at other places."""
    n = input._a.ndim
    a, b = (
        tuple(axis(d, n) for d in (x if isinstance(x, (tuple, list)) else (x,)))
        for x in (source, destination)
    )
    order = [d for d in range(n) if d not in a]
    for place, from_ in sorted(zip(b, a, strict=True)):
        order.insert(place, from_)
    return permute(input, order)


def _expand(self: Tensor, *sizes: Any) -> Tensor:
    shape = shape_of(sizes)
    own = self._a.shape
    extra = len(shape) - len(own)
    if extra < 0:
        raise RuntimeError(
            f"expand(torch.FloatTensor{{{list(own)}}}, size={list(shape)}): the number of sizes "
            f"provided "
            f"({len(shape)}) must be greater or equal to the number of dimensions in the tensor "
            f"({len(own)})"
        )
    full = tuple(own[i - extra] if n == -1 and i >= extra else n for i, n in enumerate(shape))
    for i, n in enumerate(full):
        if i >= extra and own[i - extra] not in (1, n):
            raise RuntimeError(
                f"The expanded size of the tensor ({n}) must match the existing size "
                f"({own[i - extra]}) at "
                f"non-singleton dimension {i}.  Target sizes: {list(shape)}.  Tensor sizes: "
                f"{list(own)}"
            )
    return view(
        self, np.broadcast_to(self._a, full), lambda t: _expand(t, full),
        lambda g, _: shrunk(g, self), "Expand",
    )  # fmt: skip


_expand.__name__ = "expand"
Tensor.expand = _expand  # type: ignore[attr-defined]


@only_method
def expand_as(self: Tensor, other: Tensor) -> Tensor:
    """Return the tensor repeated to another's shape, in the same memory."""
    return self.expand(other._a.shape)


@both
def broadcast_to(input: Tensor, size: Any) -> Tensor:
    """Return the tensor repeated to a shape, in the same memory."""
    return input.expand(size)


@only_function
def broadcast_tensors(*tensors: Any) -> tuple[Tensor, ...]:
    """Return tensors repeated to one shape."""
    if len(tensors) == 1 and isinstance(tensors[0], (tuple, list)):
        tensors = tuple(tensors[0])
    shape = broadcast_shapes(*[tensor._a.shape for tensor in tensors])
    return tuple(tensor.expand(shape) for tensor in tensors)


@only_function
def broadcast_shapes(*shapes: Any) -> Size:
    """Return the shape that several make together."""
    try:
        return Size(
            np.broadcast_shapes(*[(s,) if isinstance(s, int) else tuple(s) for s in shapes])
        )
    except ValueError:
        raise RuntimeError(
            f"Shape mismatch: objects cannot be broadcast to a single shape: {shapes}"
        ) from None
