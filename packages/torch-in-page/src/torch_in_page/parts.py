"""Parts of a tensor along its axes: slices, pieces, diagonals, triangles and windows."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from .engine import in_place, record, view
from .naming import both, called, only_method
from .sizes import axis
from .tensor import Tensor


@both
def narrow(input: Tensor, dim: int, start: Any, length: int) -> Tensor:
    """Return so many slices along an axis, from one on."""
    dim = axis(dim, input._a.ndim)
    start, n = int(start), input._a.shape[dim]
    start = start + n if start < 0 else start
    if start + length > n or start < 0 or length < 0:
        raise RuntimeError(f"start ({start}) + length ({length}) exceeds dimension size ({n}).")
    return input[(slice(None),) * dim + (slice(start, start + length),)]


@both
def select(input: Tensor, dim: int, index: int) -> Tensor:
    """Return one slice along an axis."""
    if input._a.ndim == 0:
        raise IndexError("select() cannot be applied to a 0-dim tensor.")
    dim = axis(dim, input._a.ndim)
    n = input._a.shape[dim]
    if not -n <= index < n:
        raise IndexError(
            f"select(): index {index} out of range for tensor of size {list(input._a.shape)} at "
            f"dimension {dim}"
        )
    return input[(slice(None),) * dim + (int(index),)]


@both
def unbind(input: Tensor, dim: int = 0) -> tuple[Tensor, ...]:
    """Return the slices along an axis."""
    dim = axis(dim, input._a.ndim)
    before = (slice(None),) * dim
    return tuple(input[(*before, i)] for i in range(input._a.shape[dim]))


@both
def split(tensor: Tensor, split_size_or_sections: Any, dim: int = 0) -> tuple[Tensor, ...]:
    """Return pieces of a size, or of several sizes, along an axis."""
    dim = axis(dim, tensor._a.ndim)
    n, size = tensor._a.shape[dim], split_size_or_sections
    if isinstance(size, (tuple, list)):
        sizes = [int(s) for s in size]
        if sum(sizes) != n:
            raise RuntimeError(
                f"split_with_sizes expects split_sizes to sum exactly to {n} (input tensor's "
                f"size at "
                f"dimension {dim}), but got split_sizes={sizes}"
            )
    else:
        sizes = [min(size, n - at) for at in range(0, n, size)] or [0]
    out, at = [], 0
    for length in sizes:
        out.append(narrow(tensor, dim, at, length))
        at += length
    return tuple(out)


@both
def chunk(input: Tensor, chunks: int, dim: int = 0) -> tuple[Tensor, ...]:
    """Return so many pieces along an axis, or fewer."""
    dim = axis(dim, input._a.ndim)
    return split(input, max(-(-input._a.shape[dim] // chunks), 1), dim)


@both
def tensor_split(input: Tensor, indices_or_sections: Any, dim: int = 0) -> tuple[Tensor, ...]:
    """Return so many pieces along an axis, or those between places."""
    dim = axis(dim, input._a.ndim)
    n, at = input._a.shape[dim], indices_or_sections
    if isinstance(at, int):
        small, more = divmod(n, at)
        return split(input, [small + (i < more) for i in range(at)], dim)
    at = [0, *[min(max(int(i) + n if i < 0 else int(i), 0), n) for i in at], n]
    return split(input, [max(b - a, 0) for a, b in itertools.pairwise(at)], dim)


@both
def diagonal(input: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """Return the diagonal of two axes as the last axis, in the same memory."""
    n = input._a.ndim
    a, b = axis(dim1, n), axis(dim2, n)
    if a == b:
        raise RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    shape = input._a.shape
    out = np.diagonal(input._a, offset, a, b)
    if input._a.flags.writeable:
        out.flags.writeable = True

    def rule(g: Tensor, _: Tensor) -> Tensor:
        return _onto_diagonal(g, shape, offset, a, b)

    return view(input, out, lambda t: diagonal(t, offset, a, b), rule, "Diagonal")


def _onto_diagonal(g: Tensor, shape: tuple[int, ...], offset: int, a: int, b: int) -> Tensor:
    out = np.zeros(shape, g._a.dtype)
    place = np.diagonal(out, offset, a, b)
    place.flags.writeable = True
    place[...] = g._a
    return record(
        out, g._dtype, (g,), (lambda h, _: diagonal(h, offset, a, b),), "DiagonalBackward"
    )


@both
def diag(input: Tensor, diagonal: int = 0) -> Tensor:
    """Return a matrix with a vector on its diagonal, or the diagonal of a matrix."""
    if input._a.ndim == 1:
        n = input._a.shape[0] + abs(diagonal)
        return _onto_diagonal(input, (n, n), diagonal, 0, 1)
    if input._a.ndim != 2:
        raise RuntimeError(f"diag(): Supports 1D or 2D tensors. Got {input._a.ndim}D")
    return _diagonal(input, diagonal).clone()


_diagonal = diagonal


@both
def diag_embed(input: Tensor, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """Return matrices with vectors on their diagonals."""
    n = input._a.ndim + 1
    a, b = axis(dim1, n), axis(dim2, n)
    length = input._a.shape[-1] + abs(offset)
    shape = list(input._a.shape[:-1])
    for d in sorted((a, b)):
        shape.insert(d, length)
    return _onto_diagonal(input, tuple(shape), offset, a, b)


@both
def trace(input: Tensor) -> Tensor:
    """Return the sum of a matrix's diagonal."""
    if input._a.ndim != 2:
        raise RuntimeError(f"trace: expected a matrix, but got tensor with dim {input._a.ndim}")
    return diagonal(input).sum()


def _triangle(name: str, compute: Any) -> Any:
    def function(input: Tensor, diagonal: int = 0) -> Tensor:
        if input._a.ndim < 2:
            raise RuntimeError(f"{name}: input tensor must have at least 2 dimensions")
        out = compute(input._a, diagonal)
        rule = lambda g, _: function(g, diagonal)  # noqa: E731
        return record(out, input._dtype, (input,), (rule,), name.capitalize())

    function.__name__ = function.__qualname__ = name
    side = "above" if name == "tril" else "below"
    function.__doc__ = f"Return matrices with 0 {side} a diagonal."
    only_method(called(f"{name}_", lambda self, *a, **k: in_place(self, function, *a, **k)))
    return both(function)


tril = _triangle("tril", np.tril)
triu = _triangle("triu", np.triu)


@only_method
def unfold(self: Tensor, dimension: int, size: int, step: int) -> Tensor:
    """Return windows along an axis; their numbers are a last axis."""
    dim = axis(dimension, self._a.ndim)
    if size > self._a.shape[dim]:
        raise RuntimeError(
            f"maximum size for tensor at dimension {dim} is {self._a.shape[dim]} but size is {size}"
        )
    windows = np.lib.stride_tricks.sliding_window_view(self._a, size, axis=dim)
    out = windows[(slice(None),) * dim + (slice(None, None, step),)]
    place = np.arange(self._a.shape[dim], dtype=np.int64)
    place = np.lib.stride_tricks.sliding_window_view(place, size)[::step]

    def rule(g: Tensor, _: Tensor) -> Tensor:
        from .tensor import of

        g = g.movedim(dim, 0).movedim(-1, 1).flatten(0, 1)
        rest = tuple(n for d, n in enumerate(self._a.shape) if d != dim)
        back = g.new_zeros(self._a.shape[dim], *rest).index_add(0, of(place.ravel()), g)
        return back.movedim(0, dim)

    return view(self, out, lambda t: t.unfold(dim, size, step), rule, "Unfold")
