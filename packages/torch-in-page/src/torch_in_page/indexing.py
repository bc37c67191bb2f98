"""Parts of a tensor by their places: brackets, gather, scatter, and their gradients."""

from __future__ import annotations

from typing import Any

import numpy as np

from .comparing import truth
from .dtypes import bool_, cast, int64
from .engine import in_place, is_grad_enabled, record, view, write
from .naming import both, only_function, only_method
from .promotion import NUMBERS, shrunk
from .sizes import axis
from .tensor import Tensor, made, of


def plain(index: Any) -> Any:
    """Return what stands in brackets as NumPy understands it."""
    if isinstance(index, tuple):
        return tuple(_one(i) for i in index)
    return _one(index)


def _one(i: Any) -> Any:
    if isinstance(i, Tensor):
        if i._dtype.kind > 1:
            raise IndexError("tensors used as indices must be long, int, byte or bool tensors")
        if i._a.ndim == 0 and i._dtype is not bool_:
            return int(i._a)
        return i._a.astype(np.bool_) if i._dtype.name == "uint8" else i._a
    if isinstance(i, slice):
        if i.step is not None and int(i.step) <= 0:
            raise ValueError("step must be greater than zero")
        return slice(*[None if x is None else int(x) for x in (i.start, i.stop, i.step)])
    if isinstance(i, (list, range)):
        array = np.asarray([x.item() if isinstance(x, Tensor) else x for x in i])
        return array.astype(np.int64) if array.size == 0 else array
    if isinstance(i, float):
        raise TypeError(
            "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are "
            "valid "
            f"indices (got {type(i).__name__})"
        )
    return i


def _is_view(index: Any) -> bool:
    parts = index if isinstance(index, tuple) else (index,)
    return all(
        part is None
        or part is Ellipsis
        or isinstance(part, slice)
        or (isinstance(part, (int, np.integer)) and not isinstance(part, (bool, np.bool_)))
        for part in parts
    )


def _taken(x: np.ndarray, index: Any) -> np.ndarray:
    try:
        return np.asarray(x[index])
    except IndexError as error:
        parts = index if isinstance(index, tuple) else (index,)
        given = sum(1 for p in parts if p is not None and p is not Ellipsis)
        if given > x.ndim and not any(
            isinstance(p, np.ndarray) and p.dtype == np.bool_ for p in parts
        ):
            raise IndexError(f"too many indices for tensor of dimension {x.ndim}") from None
        message = (
            str(error).replace("axis", "dimension").replace("is out of bounds", "is out of range")
        )
        raise IndexError(message) from None


def _getitem(self: Tensor, index: Any) -> Tensor:
    index = plain(index)
    out = _taken(self._a, index)
    shape = self._a.shape
    if _is_view(index):
        return view(
            self,
            out,
            lambda t: _getitem(t, index),
            lambda g, _: _spread(g, shape, index),
            _titled(index),
        )
    return record(out, self._dtype, (self,), (lambda g, _: _gathered(g, shape, index),), "Index")


def _titled(index: Any) -> str:
    """Return torch's name for the last step of what brackets do."""
    last = index[-1] if isinstance(index, tuple) and index else index
    if last is None:
        return "Unsqueeze"
    if isinstance(last, slice):
        return (
            "Slice" if last != slice(None) or not isinstance(index, tuple) else _titled(index[:-1])
        )
    if last is Ellipsis:
        return _titled(index[:-1]) if isinstance(index, tuple) and len(index) > 1 else "Alias"
    return "Alias" if isinstance(index, tuple) and not index else "Select"


def _spread(g: Tensor, shape: tuple[int, ...], index: Any) -> Tensor:
    """Return a gradient at the places where its numbers were taken, 0 elsewhere."""
    out = np.zeros(shape, g._a.dtype)
    out[index] = g._a
    return record(out, g._dtype, (g,), (lambda h, _: _getitem(h, index),), "SliceBackward")


def _gathered(g: Tensor, shape: tuple[int, ...], index: Any) -> Tensor:
    """Return a gradient at places that may have been taken several times."""
    out = added_at(np.zeros(shape, g._a.dtype), index, g._a)
    return record(out, g._dtype, (g,), (lambda h, _: _getitem(h, index),), "IndexPut")


def added_at(out: np.ndarray, index: Any, values: np.ndarray) -> np.ndarray:
    """Add values at places, some of them equal; rows of a matrix by sorting, which is faster."""
    rows = index if isinstance(index, np.ndarray) else None
    if rows is not None and rows.dtype != np.bool_ and rows.size > 64 and out.ndim == 2:
        places = rows.ravel()
        places = np.where(places < 0, places + len(out), places)
        order = np.argsort(places, kind="stable")
        ordered = places[order]
        starts = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
        flat = np.broadcast_to(values, (*rows.shape, out.shape[1])).reshape(-1, out.shape[1])
        out[ordered[starts]] += np.add.reduceat(flat[order], starts, axis=0)
        return out
    np.add.at(out, index, values)
    return out


def _setitem(self: Tensor, index: Any, value: Any) -> None:
    index = plain(index)
    if not isinstance(value, (Tensor, *NUMBERS)):
        if not isinstance(value, np.ndarray):
            raise TypeError(
                f"can't assign a {type(value).__name__} to a torch.{self._dtype.name} tensor"
            )
        value = of(value)
    if not isinstance(value, Tensor):
        value = made(cast(np.asarray(value), self._dtype), self._dtype)
    shape = _taken(self._a, index).shape if not _is_view(index) else self._a[index].shape
    array = cast(value._a, self._dtype) if value._dtype is not self._dtype else value._a
    while array.ndim > len(shape) and array.shape[0] == 1:
        array = array[0]
    try:
        if np.broadcast_shapes(array.shape, shape) != shape:
            raise ValueError
    except ValueError:
        raise RuntimeError(
            f"shape mismatch: value tensor of shape {list(value._a.shape)} cannot be broadcast "
            f"to indexing "
            f"result of shape {list(shape)}"
        ) from None

    def compute(old: Tensor, new: Tensor) -> Tensor:
        out = old._a.copy()
        out[index] = array
        hidden = np.zeros(old._a.shape, np.bool_)
        hidden[index] = True
        mask = truth(hidden)
        return record(
            out,
            old._dtype,
            (old, new),
            (lambda g, _: g.masked_fill(mask, 0.0), lambda g, _: shrunk(_getitem(g, index), new)),
            "IndexPut",
        )

    if self._rg or value._rg:
        if _is_view(index) and self._rg and self.grad_fn is None and is_grad_enabled():
            raise RuntimeError(
                "a view of a leaf Variable that requires grad is being used in an in-place "
                "operation."
            )
        in_place(self, compute, value)
        return
    if not self._a.flags.writeable:
        write(self, self._a)
    self._a[index] = array
    self._version[0] += 1


Tensor.__getitem__ = _getitem  # type: ignore[attr-defined]
Tensor.__setitem__ = _setitem  # type: ignore[attr-defined]


# ---------------------------------------------------------------- by lists of places


def _places(index: Any, name: str) -> np.ndarray:
    if not isinstance(index, Tensor) or index._dtype.name not in ("int64", "int32"):
        raise RuntimeError(f"{name}(): Expected dtype int32/int64 for index")
    return index._a


@both
def index_select(input: Tensor, dim: int, index: Tensor) -> Tensor:
    """Return the slices along an axis at some places."""
    dim = axis(dim, input._a.ndim)
    places = _places(index, "index_select").reshape(-1)
    shape = input._a.shape
    if places.size and not (places.min() >= 0 and places.max() < shape[dim]):
        raise IndexError("index out of range in self")
    at = (slice(None),) * dim + (places,)
    return record(
        input._a[at], input._dtype, (input,), (lambda g, _: _gathered(g, shape, at),), "IndexSelect"
    )


@both
def gather(input: Tensor, dim: int, index: Tensor, *, sparse_grad: bool = False) -> Tensor:
    """Return numbers along an axis, each from the place that stands where it goes."""
    if index._a.ndim == 0 and input._a.ndim == 1:
        return gather(input, dim, index.reshape(1)).reshape(())
    dim = axis(dim, input._a.ndim)
    places = _places(index, "gather")
    _within(places, input._a, dim, "gather")
    at = _grid(places, dim)
    shape = input._a.shape
    return record(
        input._a[at], input._dtype, (input,),
        (lambda g, _: g.new_zeros(shape).scatter_add(dim, index, g),), "Gather",
    )  # fmt: skip


@both
def take_along_dim(input: Tensor, indices: Tensor, dim: int | None = None) -> Tensor:
    """Return numbers along an axis by their places; what is shorter is repeated."""
    if dim is None:
        return gather(input.flatten(), 0, indices.flatten())
    dim = axis(dim, input._a.ndim)
    shapes = [list(x._a.shape) for x in (input, indices)]
    own = [shape[dim] for shape in shapes]
    for shape in shapes:
        shape[dim] = 1
    full = list(np.broadcast_shapes(*shapes))
    both_ = []
    for x, n in zip((input, indices), own, strict=True):
        both_.append(x.expand([n if d == dim else m for d, m in enumerate(full)]))
    return gather(both_[0], dim, both_[1])


@both
def take(input: Tensor, index: Tensor) -> Tensor:
    """Return numbers by their places in the flattened tensor."""
    return input.flatten()[index]


def _grid(places: np.ndarray, dim: int) -> tuple[np.ndarray, ...]:
    at = list(np.ogrid[tuple(slice(n) for n in places.shape)])
    at[dim] = places
    return tuple(at)


def _within(places: np.ndarray, x: np.ndarray, dim: int, name: str) -> None:
    if places.ndim != x.ndim:
        raise RuntimeError(
            "Index tensor must have the same number of dimensions as "
            f"{'input' if name == 'gather' else 'self'} tensor"
        )
    for d, (m, n) in enumerate(zip(places.shape, x.shape, strict=True)):
        if d != dim and m > n:
            raise RuntimeError(
                f"Size does not match at dimension {d} expected index {list(places.shape)} to be "
                f"no larger "
                f"than self {list(x.shape)} apart from dimension {dim}"
            )
    if places.size and not (places.min() >= 0 and places.max() < x.shape[dim]):
        wrong = places[(places < 0) | (places >= x.shape[dim])].ravel()[0]
        raise RuntimeError(
            f"index {wrong} is out of bounds for dimension {dim} with size {x.shape[dim]}"
        )


@both
def scatter(
    input: Tensor,
    dim: int,
    index: Tensor,
    src: Any = None,
    *,
    value: Any = None,
    reduce: Any = None,
) -> Tensor:
    """Return the tensor with numbers put along an axis at places."""
    if reduce is not None:
        raise NotImplementedError("torch in this page has no reduce= for scatter; use scatter_add")
    src = value if src is None else src
    if index._a.ndim == 0 and input._a.ndim == 1:
        src = src.reshape(1) if isinstance(src, Tensor) else src
        index = index.reshape(1)
    dim = axis(dim, input._a.ndim)
    places = _places(index, "scatter")
    _within(places, input._a, dim, "scatter")
    at = _grid(places, dim)
    out = input._a.copy()
    hidden = np.zeros(out.shape, np.bool_)
    hidden[at] = True
    mask = truth(hidden)
    if not isinstance(src, Tensor):
        out[at] = src
        return record(
            out, input._dtype, (input,), (lambda g, _: g.masked_fill(mask, 0.0),), "Scatter1"
        )
    part = tuple(slice(n) for n in places.shape)
    if src._dtype is not input._dtype:
        raise RuntimeError("scatter(): Expected self.dtype to be equal to src.dtype")
    out[at] = src._a[part]
    return record(
        out, input._dtype, (input, src),
        (lambda g, _: g.masked_fill(mask, 0.0), lambda g, _: _padded(gather(g, dim, index), src)),
        "Scatter",
    )  # fmt: skip


def _padded(g: Tensor, like: Tensor) -> Tensor:
    if g._a.shape == like._a.shape:
        return g
    return _spread(g, like._a.shape, tuple(slice(n) for n in g._a.shape))


@both
def scatter_add(input: Tensor, dim: int, index: Tensor, src: Tensor) -> Tensor:
    """Return the tensor with numbers added along an axis at places."""
    dim = axis(dim, input._a.ndim)
    places = _places(index, "scatter_add")
    _within(places, input._a, dim, "scatter_add")
    if src._dtype is not input._dtype:
        raise RuntimeError("scatter(): Expected self.dtype to be equal to src.dtype")
    part = tuple(slice(n) for n in places.shape)
    out = input._a.copy()
    np.add.at(out, _grid(places, dim), src._a[part])
    return record(
        out, input._dtype, (input, src),
        (lambda g, _: g, lambda g, _: _padded(gather(g, dim, index), src)), "ScatterAdd",
    )  # fmt: skip


@both
def scatter_reduce(
    input: Tensor, dim: int, index: Tensor, src: Tensor, reduce: str, *, include_self: bool = True
) -> Tensor:
    """Return the tensor with numbers put together along an axis: sum, mean, product or extreme."""
    if input._rg or src._rg:
        raise NotImplementedError("torch in this page has no gradient of scatter_reduce")
    add = {
        "sum": np.add,
        "prod": np.multiply,
        "amax": np.maximum,
        "amin": np.minimum,
        "mean": np.add,
    }
    if reduce not in add:
        raise RuntimeError(
            f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}"
        )
    dim = axis(dim, input._a.ndim)
    at = _grid(_places(index, "scatter_reduce"), dim)
    part = tuple(slice(n) for n in index._a.shape)
    out = input._a.copy()
    if not include_self:
        first = {"sum": 0, "mean": 0, "prod": 1, "amax": -np.inf, "amin": np.inf}[reduce]
        out[at] = first
    add[reduce].at(out, at, src._a[part])
    if reduce == "mean":
        count = np.full(out.shape, 1 if include_self else 0)
        if not include_self:
            hit = np.zeros(out.shape, bool)
            hit[at] = True
            count = np.where(hit, 0, 1)
        np.add.at(count, at, 1)
        out = (out / count).astype(out.dtype)
    return made(out, input._dtype)


@both
def index_add(input: Tensor, dim: int, index: Tensor, source: Tensor, *, alpha: Any = 1) -> Tensor:
    """Return the tensor with slices added along an axis at places."""
    dim = axis(dim, input._a.ndim)
    at = (slice(None),) * dim + (_places(index, "index_add"),)
    out = input._a.copy()
    np.add.at(out, at, (source * alpha)._a if alpha != 1 else source._a)
    return record(
        out, input._dtype, (input, source),
        (lambda g, _: g, lambda g, _: index_select(g, dim, index) * alpha), "IndexAdd",
    )  # fmt: skip


@both
def index_copy(input: Tensor, dim: int, index: Tensor, source: Tensor) -> Tensor:
    """Return the tensor with slices along an axis replaced."""
    at = (slice(None),) * axis(dim, input._a.ndim) + (index,)
    out = input.clone()
    out[at] = source
    return out


@both
def index_fill(input: Tensor, dim: int, index: Tensor, value: Any) -> Tensor:
    """Return the tensor with slices along an axis set to one number."""
    at = (slice(None),) * axis(dim, input._a.ndim) + (index,)
    out = input.clone()
    out[at] = value
    return out


@both
def index_put(input: Tensor, indices: Any, values: Tensor, accumulate: bool = False) -> Tensor:
    """Return the tensor with numbers put, or added, at places."""
    index = plain(tuple(indices))
    if not accumulate:
        out = input.clone()
        out[tuple(indices)] = values
        return out
    summed = np.zeros(input._a.shape, input._a.dtype)
    np.add.at(summed, index, values._a)
    return record(
        input._a + summed, input._dtype, (input, values),
        (lambda g, _: g, lambda g, _: shrunk(_getitem(g, index), values)), "IndexPut",
    )  # fmt: skip


for _function in (
    scatter,
    scatter_add,
    scatter_reduce,
    index_add,
    index_copy,
    index_fill,
    index_put,
):

    def _change(self: Tensor, *args: Any, _f: Any = _function, **kwargs: Any) -> Tensor:
        return in_place(self, _f, *args, **kwargs)

    _change.__name__ = f"{_function.__name__}_"
    only_method(_change)


# ---------------------------------------------------------------- by masks


@both
def masked_select(input: Tensor, mask: Tensor) -> Tensor:
    """Return the numbers under a mask along one axis."""
    if mask._dtype is not bool_:
        raise RuntimeError("masked_select: expected BoolTensor for mask")
    shape = np.broadcast_shapes(input._a.shape, mask._a.shape)
    return input.expand(shape)[mask.expand(shape)]


@both
def masked_scatter(input: Tensor, mask: Tensor, source: Tensor) -> Tensor:
    """Return the tensor with the numbers under a mask replaced by others in order."""
    out = input.clone()
    full = mask.expand(input._a.shape)
    out[full] = source.flatten()[: int(full.sum())]
    return out


@both
def nonzero(input: Tensor, *, as_tuple: bool = False) -> Any:
    """Return the places of what is not 0: one row each, or one vector for each axis."""
    if input._a.ndim == 0:
        input = input.reshape(1)
        if not as_tuple:
            return made(np.zeros((int(bool(input._a[0])), 0), np.int64), int64)
    found = np.nonzero(input._a)
    if as_tuple:
        return tuple(made(places.astype(np.int64), int64) for places in found)
    return made(np.stack(found, -1).astype(np.int64), int64)


@both
def argwhere(input: Tensor) -> Tensor:
    """Return the places of what is not 0, one row each."""
    return nonzero(input)


@only_function
def searchsorted(
    sorted_sequence: Tensor,
    input: Any,
    *,
    out_int32: bool = False,
    right: bool = False,
    side: Any = None,
) -> Tensor:
    """Return where numbers would have to be put to keep an order."""
    side = side or ("right" if right else "left")
    numbers = input._a if isinstance(input, Tensor) else np.asarray(input)
    order = sorted_sequence._a
    if order.ndim == 1:
        found = np.searchsorted(order, numbers, side)
    else:
        rows, asked = order.reshape(-1, order.shape[-1]), numbers.reshape(-1, numbers.shape[-1])
        found = np.stack([np.searchsorted(a, v, side) for a, v in zip(rows, asked, strict=True)])
        found = found.reshape(numbers.shape)
    return made(np.asarray(found, dtype=np.int64), int64)


@only_function
def bucketize(
    input: Any, boundaries: Tensor, *, out_int32: bool = False, right: bool = False
) -> Tensor:
    """Return between which boundaries numbers lie."""
    return searchsorted(boundaries, input, right=right)


@only_function
def tril_indices(
    row: int, col: int, offset: int = 0, *, dtype: Any = int64, device: Any = None
) -> Tensor:
    """Return the places on and below a diagonal."""
    return made(np.stack(np.tril_indices(row, offset, col)).astype(np.int64), int64)


@only_function
def triu_indices(
    row: int, col: int, offset: int = 0, *, dtype: Any = int64, device: Any = None
) -> Tensor:
    """Return the places on and above a diagonal."""
    return made(np.stack(np.triu_indices(row, offset, col)).astype(np.int64), int64)
