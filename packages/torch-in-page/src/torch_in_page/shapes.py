"""The same numbers with other axes: views where memory allows them, joining, repeating."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from . import dtypes
from .dtypes import cast, dtype, promote_types
from .engine import in_place, record, view, write
from .naming import both, only_function, only_method
from .promotion import shrunk
from .sizes import Size, axes, axis, here, shape_of
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
Tensor.H = property(lambda self: conj(_transposed(self)))  # type: ignore[attr-defined]
Tensor.mH = property(lambda self: conj(_matrix_transposed(self)))  # type: ignore[attr-defined]


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


# ---------------------------------------------------------------- joining


def _joined(tensors: Any, name: str) -> tuple[list[Tensor], dtype]:
    if isinstance(tensors, Tensor):
        tensors = tensors.unbind(0)
    tensors = list(tensors)
    if not tensors:
        if name == "stack":
            raise RuntimeError("stack expects a non-empty TensorList")
        raise ValueError("torch.cat(): expected a non-empty list of Tensors")
    for tensor in tensors:
        if not isinstance(tensor, Tensor):
            raise TypeError(
                f"{name}(): argument 'tensors' (position 1) must be tuple of Tensors, not "
                f"{type(tensor).__name__}"
            )
    kind = tensors[0]._dtype
    for tensor in tensors[1:]:
        kind = promote_types(kind, tensor._dtype)
    return tensors, kind


@only_function(also=("concat", "concatenate"))
def cat(tensors: Any, dim: int = 0) -> Tensor:
    """Return tensors joined along an axis."""
    tensors, kind = _joined(tensors, "torch.cat()")
    whole = [x for x in tensors if x._a.shape != (0,)] or tensors[:1]
    dim = axis(dim, whole[0]._a.ndim)
    first = whole[0]._a.shape
    for i, x in enumerate(whole):
        if x._a.ndim == 0:
            raise RuntimeError(f"zero-dimensional tensor (at position {i}) cannot be concatenated")
        if x._a.ndim != len(first):
            raise RuntimeError(
                f"Tensors must have same number of dimensions: got {len(first)} and {x._a.ndim}"
            )
        for d, n in enumerate(x._a.shape):
            if d != dim and n != first[d]:
                raise RuntimeError(
                    f"Sizes of tensors must match except in dimension {dim}. Expected size "
                    f"{first[d]} but "
                    f"got size {n} for tensor number {i} in the list."
                )
    out = np.concatenate([x._a if x._dtype is kind else cast(x._a, kind) for x in whole], axis=dim)
    rules, at = [], 0
    for x in whole:
        rules.append(_piece(dim, at, x))
        at += x._a.shape[dim]
    return record(out, kind, tuple(whole), tuple(rules), "Cat")


def _piece(dim: int, at: int, x: Tensor) -> Any:
    def rule(g: Tensor, _: Tensor) -> Tensor:
        part = g.narrow(dim, at, x._a.shape[dim])
        return part if part._dtype is x._dtype else part.to(x._dtype)

    return rule


@only_function
def stack(tensors: Any, dim: int = 0) -> Tensor:
    """Return tensors of one shape along a new axis."""
    tensors, kind = _joined(tensors, "stack")
    dim = axis(dim, tensors[0]._a.ndim + 1)
    for i, x in enumerate(tensors):
        if x._a.shape != tensors[0]._a.shape:
            raise RuntimeError(
                f"stack expects each tensor to be equal size, but got "
                f"{list(tensors[0]._a.shape)} at "
                f"entry 0 and {list(x._a.shape)} at entry {i}"
            )
    out = np.stack([x._a if x._dtype is kind else cast(x._a, kind) for x in tensors], axis=dim)
    rules = tuple(_layer(dim, i, x) for i, x in enumerate(tensors))
    return record(out, kind, tuple(tensors), rules, "Stack")


def _layer(dim: int, i: int, x: Tensor) -> Any:
    return lambda g, _: g.select(dim, i) if g._dtype is x._dtype else g.select(dim, i).to(x._dtype)


@only_function
def hstack(tensors: Any) -> Tensor:
    """Return tensors beside each other."""
    tensors = [atleast_1d(x) for x in tensors]
    return cat(tensors, 0 if tensors[0]._a.ndim == 1 else 1)


@only_function(also=("row_stack",))
def vstack(tensors: Any) -> Tensor:
    """Return tensors below each other."""
    return cat([atleast_2d(x) for x in tensors], 0)


@only_function
def column_stack(tensors: Any) -> Tensor:
    """Return vectors as columns beside each other."""
    return hstack([x.reshape(-1, 1) if x._a.ndim < 2 else x for x in tensors])


@only_function
def dstack(tensors: Any) -> Tensor:
    """Return tensors behind each other."""
    return cat([x[..., None] if x._a.ndim == 2 else atleast_2d(x)[..., None] for x in tensors], 2)


@only_function
def atleast_1d(input: Tensor) -> Tensor:
    """Return the tensor with one axis at least."""
    return input if input._a.ndim else reshape(input, (1,))


@only_function
def atleast_2d(input: Tensor) -> Tensor:
    """Return the tensor with two axes at least."""
    return input if input._a.ndim > 1 else reshape(input, (1, -1))


@only_function
def block_diag(*tensors: Tensor) -> Tensor:
    """Return matrices along the diagonal of one, which is 0 elsewhere."""
    blocks = [atleast_2d(x) for x in tensors]
    width = sum(x._a.shape[1] for x in blocks)
    rows, at = [], 0
    for x in blocks:
        before = x.new_zeros(x._a.shape[0], at)
        after = x.new_zeros(x._a.shape[0], width - at - x._a.shape[1])
        rows.append(cat([before, x, after], 1))
        at += x._a.shape[1]
    return cat(rows, 0)


@only_function
def meshgrid(*tensors: Any, indexing: str = "ij") -> tuple[Tensor, ...]:
    """Return grids of coordinates."""
    if len(tensors) == 1 and isinstance(tensors[0], (tuple, list)):
        tensors = tuple(tensors[0])
    if indexing not in ("ij", "xy"):
        raise RuntimeError(
            f'torch.meshgrid: indexing must be one of "xy" or "ij", but received: {indexing}'
        )
    order = list(range(len(tensors)))
    if indexing == "xy" and len(order) > 1:
        order[:2] = [1, 0]
    shape = [tensors[i].numel() for i in order]
    out = []
    for i, x in enumerate(tensors):
        at = [1] * len(order)
        at[order.index(i)] = x.numel()
        out.append(x.reshape(at).expand(shape))
    return tuple(out)


@only_function
def cartesian_prod(*tensors: Tensor) -> Tensor:
    """Return all tuples of one number of each vector."""
    if len(tensors) == 1:
        return tensors[0]
    return stack([grid.flatten() for grid in meshgrid(*tensors)], -1)


@only_function
def combinations(input: Tensor, r: int = 2, with_replacement: bool = False) -> Tensor:
    """Return all choices of ``r`` numbers."""
    choose = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    places = np.array(list(choose(range(input.numel()), r)), dtype=np.int64).reshape(-1, r)
    from .tensor import of

    return input[of(places)]


# ---------------------------------------------------------------- repeating and turning


def _repeat(self: Tensor, *sizes: Any) -> Tensor:
    times = shape_of(sizes)
    own = self._a.shape
    if len(times) < len(own):
        raise RuntimeError(
            "Number of dimensions of repeat dims can not be smaller than number of dimensions of "
            "tensor"
        )
    padded = (1,) * (len(times) - len(own)) + own

    def rule(g: Tensor, _: Tensor) -> Tensor:
        split = [n for both_ in zip(times, padded, strict=True) for n in both_]
        return g.reshape(split).sum(tuple(range(0, 2 * len(times), 2))).reshape(own)

    return record(np.tile(self._a, times), self._dtype, (self,), (rule,), "Repeat")


_repeat.__name__ = "repeat"
Tensor.repeat = _repeat  # type: ignore[attr-defined]


@both
def tile(input: Tensor, *dims: Any) -> Tensor:
    """Return the tensor repeated along its axes."""
    times = shape_of(dims)
    return _repeat(input, (1,) * (input._a.ndim - len(times)) + times)


@both
def repeat_interleave(
    input: Tensor, repeats: Any, dim: int | None = None, *, output_size: Any = None
) -> Tensor:
    """Return each number, or each slice along an axis, so many times."""
    x = input.flatten() if dim is None else input
    dim = axis(dim or 0, x._a.ndim)
    times = repeats._a if isinstance(repeats, Tensor) else np.asarray(repeats)
    if times.size == 1:
        times = np.broadcast_to(times.reshape(()), (x._a.shape[dim],))
    if times.shape != (x._a.shape[dim],):
        raise RuntimeError("repeats must have the same size as input along dim")
    place = np.repeat(np.arange(len(times), dtype=np.int64), times.astype(np.intp))
    from .tensor import of

    return x.index_select(dim, of(place))


def _dims(dims: tuple[Any, ...]) -> tuple[int, ...]:
    return tuple(dims[0]) if len(dims) == 1 and isinstance(dims[0], (tuple, list)) else dims


@both
def flip(input: Tensor, *dims: Any) -> Tensor:
    """Return the tensor with the order along some axes reversed, in memory of its own."""
    along = axes(_dims(dims), input._a.ndim)
    out = np.flip(input._a, along).copy()
    return record(out, input._dtype, (input,), (lambda g, _: flip(g, *along),), "Flip")


@only_function
def fliplr(input: Tensor) -> Tensor:
    """Return the tensor with its columns reversed."""
    return flip(input, 1)


@only_function
def flipud(input: Tensor) -> Tensor:
    """Return the tensor with its rows reversed."""
    return flip(input, 0)


@both
def roll(input: Tensor, shifts: Any, dims: Any = None) -> Tensor:
    """Return the numbers moved along axes; what leaves at one end enters at the other."""
    if dims is None:
        flat = record(
            np.roll(input._a.ravel(), shifts), input._dtype, (input,),
            (lambda g, _: roll(g, -shifts).reshape(input._a.shape),), "Roll",
        )  # fmt: skip
        return flat.reshape(input._a.shape)
    back = tuple(-s for s in shifts) if isinstance(shifts, (tuple, list)) else -shifts
    along = tuple(dims) if isinstance(dims, (tuple, list)) else dims
    out = np.roll(input._a, shifts, along)
    return record(out, input._dtype, (input,), (lambda g, _: roll(g, back, along),), "Roll")


@both
def rot90(input: Tensor, k: int = 1, dims: Sequence[int] = (0, 1)) -> Tensor:
    """Return the tensor turned by a right angle, ``k`` times."""
    a, b = dims
    k %= 4
    if k == 2:
        return flip(input, a, b)
    if k == 1:
        return flip(transpose(input, a, b), a)
    return flip(transpose(input, a, b), b) if k else input.clone()


# ---------------------------------------------------------------- parts


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
    only_method(_called(f"{name}_", lambda self, *a, **k: in_place(self, function, *a, **k)))
    return both(function)


def _called(name: str, function: Any) -> Any:
    function.__name__ = name
    return function


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


# ---------------------------------------------------------------- copies and kinds


@both
def clone(input: Tensor, *, memory_format: Any = None) -> Tensor:
    """Return the numbers in memory of their own."""
    return record(input._a.copy(), input._dtype, (input,), (lambda g, _: g,), "Clone")


@only_method
def contiguous(self: Tensor, memory_format: Any = None) -> Tensor:
    """Return the tensor if its numbers lie in order, else a copy."""
    if self._a.flags.c_contiguous:
        return self
    return record(np.ascontiguousarray(self._a), self._dtype, (self,), (lambda g, _: g,), "Clone")


def _converted(self: Tensor, kind: dtype) -> Tensor:
    out = cast(self._a, kind)
    source = self._dtype
    return record(out, kind, (self,), (lambda g, _: g.to(source),), "ToCopy")


@only_method
def to(
    self: Tensor,
    *wanted: Any,
    dtype: Any = None,
    device: Any = None,
    copy: bool = False,
    non_blocking: bool = False,
    memory_format: Any = None,
) -> Tensor:
    """Return the numbers in another kind; they are and stay on the processor."""
    kind = dtype
    for one in wanted:
        if isinstance(one, dtypes.dtype):
            kind = one
        elif isinstance(one, Tensor):
            kind = one._dtype
        elif isinstance(one, bool) or one is None:
            continue
        else:
            here(one)
    here(device)
    if kind is None or kind is self._dtype:
        return clone(self) if copy else self
    if not isinstance(kind, dtypes.dtype):
        raise TypeError(f"to(): argument 'dtype' must be torch.dtype, not {type(kind).__name__}")
    return _converted(self, kind)


for _name, _kind in (
    ("float", dtypes.float32), ("double", dtypes.float64), ("half", dtypes.float16),
    ("bfloat16", dtypes.bfloat16), ("int", dtypes.int32), ("long", dtypes.int64),
    ("short", dtypes.int16), ("char", dtypes.int8), ("byte", dtypes.uint8), ("bool", dtypes.bool_),
    ("cfloat", dtypes.complex64), ("cdouble", dtypes.complex128),
):  # fmt: skip

    def _cast_method(self: Tensor, memory_format: Any = None, _kind: dtype = _kind) -> Tensor:
        return self if self._dtype is _kind else _converted(self, _kind)

    only_method(_called(_name, _cast_method))


def _type(self: Tensor, dtype: Any = None) -> Any:
    """Return the numbers in another kind, or the name of the tensor's type."""
    if dtype is None:
        return f"torch.{dtypes.cased(self._dtype)}Tensor"
    if isinstance(dtype, str):
        raise NotImplementedError(
            f"torch in this page knows kinds by their objects, such as torch.float32, not as "
            f"{dtype!r}"
        )
    return to(self, dtype)


Tensor.type = _type  # type: ignore[attr-defined]


@only_method
def type_as(self: Tensor, other: Tensor) -> Tensor:
    """Return the numbers in another tensor's kind."""
    return to(self, other._dtype)


@only_method
def copy_(self: Tensor, src: Any, non_blocking: bool = False) -> Tensor:
    """Take over another tensor's numbers."""
    from .tensor import of

    src = src if isinstance(src, Tensor) else of(src)
    shape = self._a.shape
    if src._rg or self._rg:

        def compute(old: Tensor, new: Tensor) -> Tensor:
            out = np.broadcast_to(cast(new._a, old._dtype), shape).copy()
            return record(
                out,
                old._dtype,
                (old, new),
                (lambda g, _: g * 0, lambda g, _: shrunk(g, new)),
                "Copy",
            )

        return in_place(self, compute, src)
    try:
        array = np.broadcast_to(cast(src._a, self._dtype), shape)
    except ValueError:
        raise RuntimeError(
            f"The size of tensor a ({shape}) must match the size of tensor b ({src._a.shape}): "
            f"what is "
            "copied must fit where it goes"
        ) from None
    return write(self, array)


@only_method
def fill_(self: Tensor, value: Any) -> Tensor:
    """Set all numbers to one."""
    if isinstance(value, Tensor):
        return copy_(self, value)

    def compute(old: Tensor) -> Tensor:
        out = np.full(old._a.shape, cast(np.asarray(value), old._dtype))
        return record(out, old._dtype, (old,), (lambda g, _: g * 0,), "Fill")

    return in_place(self, compute)


@only_method
def zero_(self: Tensor) -> Tensor:
    """Set all numbers to 0."""
    return fill_(self, 0)


@only_method
def fill_diagonal_(self: Tensor, fill_value: Any, wrap: bool = False) -> Tensor:
    """Set the diagonal of a matrix to one number."""
    self.diagonal().fill_(fill_value)
    return self


def _same_memory(name: str, function: Any) -> None:
    def change(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        if self._rg:
            raise NotImplementedError(
                f"torch in this page has no {name} for tensors with gradients; use {name[:-1]}"
            )
        self._a = function(self, *args, **kwargs)._a
        return self

    only_method(_called(name, change))


for _function in (squeeze, unsqueeze, transpose, t):
    _same_memory(f"{_function.__name__}_", _function)


# ---------------------------------------------------------------- complex numbers


@both
def conj(input: Tensor) -> Tensor:
    """Return the complex conjugate."""
    if input._dtype.kind < 3:
        return input
    return record(np.conj(input._a), input._dtype, (input,), (lambda g, _: conj(g),), "Conj")


@both
def conj_physical(input: Tensor) -> Tensor:
    """Return the complex conjugate."""
    return conj(input)


@both
def resolve_conj(input: Tensor) -> Tensor:
    """Return the tensor: conjugates are computed at once here."""
    return input


@only_function
def real(input: Tensor) -> Tensor:
    """Return the real part, in the same memory."""
    if input._dtype.kind < 3:
        return input
    kind = input._dtype
    out = record(input._a.real, kind.to_real(), (input,), (lambda g, _: g.to(kind),), "Select")
    out._version = input._version
    return out


@only_function
def imag(input: Tensor) -> Tensor:
    """Return the imaginary part, in the same memory."""
    if input._dtype.kind < 3:
        raise RuntimeError("imag is not implemented for tensors with non-complex dtypes.")
    kind = input._dtype
    out = record(input._a.imag, kind.to_real(), (input,), (lambda g, _: g.to(kind) * 1j,), "Select")
    out._version = input._version
    return out


Tensor.real = property(lambda self: real(self))  # type: ignore[attr-defined]
Tensor.imag = property(lambda self: imag(self))  # type: ignore[attr-defined]


@both
def angle(input: Tensor) -> Tensor:
    """Return the angle of complex numbers; that of negative ones is π."""
    kind = input._dtype.to_real() if input._dtype.kind > 1 else dtypes.get_default_dtype()
    if input._rg:
        raise NotImplementedError("torch in this page has no gradient of angle; use atan2")
    return made(np.angle(input._a).astype(kind.array), kind)


@only_function(also=("complex",))
def complex_(real: Tensor, imag: Tensor) -> Tensor:
    """Return complex numbers with given parts."""
    if real._dtype is not imag._dtype:
        raise RuntimeError(
            f"Expected object of scalar type {dtypes.cased(real._dtype)} but got scalar type "
            f"{dtypes.cased(imag._dtype)} for second argument"
        )
    kind = real._dtype.to_complex()
    x, y = np.broadcast_arrays(real._a, imag._a)
    out = np.empty(x.shape, kind.array)
    out.real, out.imag = x, y
    rules = (lambda g, _: shrunk(g.real, real), lambda g, _: shrunk(g.imag, imag))
    return record(out, kind, (real, imag), rules, "Complex")


@only_function
def polar(abs: Tensor, angle: Tensor) -> Tensor:
    """Return complex numbers with given sizes and angles."""
    return complex_(abs * angle.cos(), abs * angle.sin())


@only_function
def view_as_complex(input: Tensor) -> Tensor:
    """Return pairs of numbers as complex ones."""
    if input._a.shape[-1:] != (2,):
        raise RuntimeError("Tensor must have a last dimension of size 2")
    kind = input._dtype.to_complex()
    out = np.ascontiguousarray(input._a).view(kind.array)[..., 0]
    return record(out, kind, (input,), (lambda g, _: view_as_real(g),), "ViewAsComplex")


@only_function
def view_as_real(input: Tensor) -> Tensor:
    """Return complex numbers as pairs of numbers."""
    if input._dtype.kind < 3:
        raise RuntimeError("view_as_real is only supported for complex tensors")
    kind = input._dtype.to_real()
    out = np.ascontiguousarray(input._a)[..., None].view(kind.array)
    return record(out, kind, (input,), (lambda g, _: view_as_complex(g),), "ViewAsReal")
