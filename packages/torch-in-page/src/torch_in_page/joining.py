"""Tensors beside, below and behind each other; repeated, turned and moved around."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from .dtypes import cast, dtype, promote_types
from .engine import record
from .naming import both, only_function
from .shapes import reshape, transpose
from .sizes import axes, axis, shape_of
from .tensor import Tensor


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
