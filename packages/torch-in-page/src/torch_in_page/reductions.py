"""Many numbers to one: sums, means, extremes, and what runs along an axis."""

from __future__ import annotations

import builtins
import math
from collections import namedtuple
from typing import Any

import numpy as np

from . import dtypes
from .comparing import truth
from .dtypes import cast, dtype, float32, float64, int64
from .engine import record
from .naming import both, only_function
from .promotion import finished
from .sizes import axes, axis
from .tensor import Tensor, made


def grown(g: Tensor, along: tuple[int, ...], keepdim: bool) -> Tensor:
    """Return a reduced tensor with the axes that it lost, each of length 1."""
    if not keepdim:
        for dim in sorted(along):
            g = g.unsqueeze(dim)
    return g


def _wide(x: np.ndarray) -> np.ndarray:
    """Return numbers of 16 bits in 32: torch adds them up so, too."""
    return x.astype(np.float32) if x.dtype == np.float16 else x


def _count(x: np.ndarray, along: tuple[int, ...]) -> int:
    return math.prod(x.shape[dim] for dim in along)


@both
def sum(
    input: Tensor, dim: Any = None, keepdim: bool = False, *, dtype: dtype | None = None
) -> Tensor:
    """Return the sum, of all numbers or along axes."""
    along = axes(dim, input._a.ndim)
    kind = dtype or (int64 if input._dtype.kind < 2 else input._dtype)
    x = input._a if input._dtype is kind else cast(input._a, kind)
    out = _wide(x).sum(axis=along, keepdims=keepdim, dtype=np.int64 if kind is int64 else None)
    out = out + 0 if kind.kind > 1 else out  # no -0: torch begins with 0
    shape = input._a.shape

    def rule(g: Tensor, _: Tensor) -> Tensor:
        g = grown(g, along, keepdim).expand(shape)
        return g if g._dtype is input._dtype else g.to(input._dtype)

    return record(finished(out, kind), kind, (input,), (rule,), "Sum" if dim is None else "Sum1")


@both
def nansum(input: Tensor, dim: Any = None, keepdim: bool = False) -> Tensor:
    """Return the sum of the numbers that are not NaN."""
    return sum(input.masked_fill(input.isnan(), 0.0), dim, keepdim)


@both
def mean(
    input: Tensor, dim: Any = None, keepdim: bool = False, *, dtype: dtype | None = None
) -> Tensor:
    """Return the mean, of all numbers or along axes."""
    kind = dtype or input._dtype
    if kind.kind < 2:
        raise RuntimeError(
            "mean(): could not infer output dtype. Input dtype must be either a floating point or "
            f"complex dtype. Got: {dtypes.cased(kind)}"
        )
    if kind is not input._dtype:
        input = input.to(kind)
    along = axes(dim, input._a.ndim)
    count = _count(input._a, along)
    with np.errstate(all="ignore"):
        total = _wide(input._a).sum(axis=along, keepdims=keepdim)
        out = total / total.dtype.type(count)
    shape = input._a.shape
    return record(
        finished(out, kind),
        kind,
        (input,),
        (lambda g, _: grown(g, along, keepdim).expand(shape) / count,),
        "Mean" if dim is None else "Mean1",
    )


@both
def nanmean(input: Tensor, dim: Any = None, keepdim: bool = False) -> Tensor:
    """Return the mean of the numbers that are not NaN."""
    there = (~input.isnan()).to(input._dtype)
    return nansum(input, dim, keepdim) / sum(there, dim, keepdim)


@both
def prod(
    input: Tensor, dim: int | None = None, keepdim: bool = False, *, dtype: dtype | None = None
) -> Tensor:
    """Return the product, of all numbers or along an axis."""
    along = axes(dim, input._a.ndim)
    kind = dtype or (int64 if input._dtype.kind < 2 else input._dtype)
    x = input._a if input._dtype is kind else cast(input._a, kind)
    out = _wide(x).prod(axis=along, keepdims=keepdim, dtype=np.int64 if kind is int64 else None)

    def rule(g: Tensor, r: Tensor) -> Tensor:
        g = grown(g, along, keepdim)
        if not bool((input._a == 0).any()):
            return g * grown(r, along, keepdim) / input
        return g * _others(input, along)

    return record(
        finished(out, kind),
        kind,
        (input,),
        (rule,),
        "Prod" if dim is None else "Prod1",
        (input,),
        True,
    )


def _others(x: Tensor, along: tuple[int, ...]) -> Tensor:
    """Return for each number the product of the others, which zeros do not disturb."""
    shape = x._a.shape
    order = tuple(d for d in range(x._a.ndim) if d not in along) + along
    flat = x.permute(order).reshape(*[shape[d] for d in order if d not in along], -1)
    n = flat._a.shape[-1]
    one = flat.new_ones(()).expand(*flat.shape[:-1], 1)
    before, after = [one], [one]
    for i in range(n - 1):
        before.append(before[-1] * flat[..., i : i + 1])
        after.append(after[-1] * flat[..., n - 1 - i : n - i])
    from .shapes import cat

    product = cat(before, -1) * cat(after[::-1], -1)
    back = tuple(order.index(d) for d in range(x._a.ndim))
    return product.reshape([shape[d] for d in order]).permute(back)


def _correction(unbiased: bool, correction: Any) -> float:
    return (1 if unbiased else 0) if correction is None else correction


@both
def var(
    input: Tensor,
    dim: Any = None,
    unbiased: bool = True,
    keepdim: bool = False,
    *,
    correction: Any = None,
) -> Tensor:
    """Return the variance, divided by the count less 1, or less ``correction``."""
    if isinstance(dim, bool):
        dim, unbiased = None, dim
    if input._dtype.kind < 2:
        raise RuntimeError("var only support floating point and complex dtypes")
    along = axes(dim, input._a.ndim)
    x = _wide(input._a)
    count = _count(x, along)
    free = builtins.max(count - _correction(unbiased, correction), 0)
    with np.errstate(all="ignore"):
        if free:
            from_mean = x - x.mean(axis=along, keepdims=True)
            out = np.square(np.abs(from_mean)).sum(axis=along, keepdims=keepdim) / free
        else:
            out = np.full_like(x.sum(axis=along, keepdims=keepdim), np.nan)
    kind = input._dtype.to_real() if input._dtype.kind == 3 else input._dtype

    def rule(g: Tensor, _: Tensor) -> Tensor:
        if not free:
            return (input - input) * math.nan
        scale = grown(g, along, keepdim) * (2.0 / free)
        return scale * (input - input.mean(along, keepdim=True))

    return record(finished(out, kind), kind, (input,), (rule,), "Var", (input,))


@both
def std(
    input: Tensor,
    dim: Any = None,
    unbiased: bool = True,
    keepdim: bool = False,
    *,
    correction: Any = None,
) -> Tensor:
    """Return the standard deviation: the root of the variance."""
    if isinstance(dim, bool):
        dim, unbiased = None, dim
    if input._dtype.kind < 2:
        raise RuntimeError("std only support floating point and complex dtypes")
    along = axes(dim, input._a.ndim)
    spread = var(input.detach(), along, unbiased, keepdim, correction=correction)
    free = _count(input._a, along) - _correction(unbiased, correction)

    def rule(g: Tensor, r: Tensor) -> Tensor:
        scale = (grown(g / (r * free), along, keepdim)).masked_fill(
            grown(r, along, keepdim) == 0, 0.0
        )
        return scale * (input - input.mean(along, keepdim=True))

    return record(
        finished(np.sqrt(spread._a), spread._dtype),
        spread._dtype,
        (input,),
        (rule,),
        "Std",
        (input,),
        True,
    )


@only_function
def var_mean(
    input: Tensor,
    dim: Any = None,
    unbiased: bool = True,
    keepdim: bool = False,
    *,
    correction: Any = None,
) -> tuple[Tensor, Tensor]:
    """Return variance and mean."""
    if isinstance(dim, bool):
        dim, unbiased = None, dim
    return var(input, dim, unbiased, keepdim, correction=correction), mean(input, dim, keepdim)


@only_function
def std_mean(
    input: Tensor,
    dim: Any = None,
    unbiased: bool = True,
    keepdim: bool = False,
    *,
    correction: Any = None,
) -> tuple[Tensor, Tensor]:
    """Return standard deviation and mean."""
    if isinstance(dim, bool):
        dim, unbiased = None, dim
    return std(input, dim, unbiased, keepdim, correction=correction), mean(input, dim, keepdim)


# ---------------------------------------------------------------- extremes


def pair(name: str) -> Any:
    """Return the class of results that are values and where they stand."""
    kind = namedtuple(name, ["values", "indices"])
    kind.__module__ = "torch.return_types"

    def written(self: Any) -> str:
        return f"torch.return_types.{name}(\nvalues={self.values!r},\nindices={self.indices!r})"

    kind.__repr__ = written  # type: ignore[method-assign]
    return kind


_Max, _Min, _Median, _Mode = pair("max"), pair("min"), pair("median"), pair("mode")
_Sort, _Topk, _Kth = pair("sort"), pair("topk"), pair("kthvalue")
_Cummax, _Cummin = pair("cummax"), pair("cummin")


def whole(array: Any) -> Tensor:
    """Return places as a tensor of 64-bit whole numbers."""
    return made(np.asarray(array, dtype=np.int64), int64)


def _nan_first(x: np.ndarray, dim: int, best: Any) -> np.ndarray:
    return best(x, axis=dim)


def _no_numbers(x: np.ndarray, along: tuple[int, ...], name: str) -> None:
    for dim in along:
        if x.shape[dim] == 0:
            raise IndexError(f"{name}(): Expected reduction dim {dim} to have non-zero size.")
    if not along and x.size == 0:
        kind = IndexError if name.startswith("arg") else RuntimeError
        raise kind(
            f"{name}(): Expected reduction dim to be specified for input.numel() == 0. Specify the "
            "reduction dim with the 'dim' argument."
        )


def _extreme(name: str, best: Any, where_: Any, cls: Any) -> Any:
    def function(input: Tensor, dim: Any = None, keepdim: bool = False) -> Any:
        from . import elementwise

        if isinstance(dim, Tensor):
            return (elementwise.maximum if name == "max" else elementwise.minimum)(input, dim)
        x = input._a
        if dim is None:
            _no_numbers(x, (), name)
            out = best(x)
            return record(
                np.asarray(out), input._dtype, (input,),
                (lambda g, r: _shared(g, input, r, tuple(range(x.ndim)), False),),
                name.capitalize() + "1", (input,), True,
            )  # fmt: skip
        dim = axis(dim, x.ndim)
        if x.ndim == 0:
            return cls(input.clone(), whole(0))
        _no_numbers(x, (dim,), name)
        place = np.expand_dims(where_(x, axis=dim), dim)
        values = np.take_along_axis(x, place, dim)
        return cls(*taken(input, values, place, dim, keepdim, name.capitalize()))

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"Return the {name}imum, of all numbers, along an axis, or of two tensors."
    return both(function)


def taken(
    input: Tensor, values: np.ndarray, place: np.ndarray, dim: int, keepdim: bool, name: str
) -> tuple[Tensor, Tensor]:
    """Return chosen values, whose gradient goes back to their places, and the places."""
    where_ = whole(place)
    if not keepdim:
        values, shown = values.squeeze(dim), whole(place.squeeze(dim))
    else:
        shown = where_
    shape = input._a.shape

    def rule(g: Tensor, _: Tensor) -> Tensor:
        if not keepdim:
            g = g.unsqueeze(dim)
        return g.new_zeros(shape).scatter_add(dim, where_, g)

    return record(values, input._dtype, (input,), (rule,), name), shown


def _shares(g: Tensor, x: Tensor, r: Tensor, along: tuple[int, ...], keepdim: bool) -> Tensor:
    """Return the same, by products with shares, whose zeros may be negative as torch's are."""
    hit = np.equal(x._a, r._a if keepdim else np.expand_dims(r._a, along))
    share = hit / hit.sum(axis=along, keepdims=True)
    return grown(g, along, keepdim) * made(finished(share, x._dtype), x._dtype)


def _shared(g: Tensor, x: Tensor, r: Tensor, along: tuple[int, ...], keepdim: bool) -> Tensor:
    """Return a gradient that goes to the extreme, in equal parts where several are equal to it."""
    hit = np.equal(x._a, r._a if keepdim or not along else np.expand_dims(r._a, along))
    hit = hit | (np.isnan(x._a) if x._a.dtype.kind == "f" else False)
    count = made(finished(hit.sum(axis=along, keepdims=True), x._dtype), x._dtype)
    part = grown(g, along, keepdim) / count
    return part.expand(x._a.shape).masked_fill(truth(~hit), 0.0)


max = _extreme("max", np.max, np.argmax, _Max)
min = _extreme("min", np.min, np.argmin, _Min)


def _along(name: str, best: Any) -> Any:
    def function(input: Tensor, dim: Any = (), keepdim: bool = False) -> Tensor:
        along = axes(None if dim == () else dim, input._a.ndim)
        _no_numbers(input._a, along, name)
        out = best(input._a, axis=along, keepdims=keepdim)
        return record(
            np.asarray(out), input._dtype, (input,),
            (lambda g, r: _shares(g, input, r, along, keepdim),), name.capitalize(), (input,), True,
        )  # fmt: skip

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"Return the {name[1:]}imum along axes."
    return both(function)


amax = _along("amax", np.max)
amin = _along("amin", np.min)


@both
def aminmax(input: Tensor, *, dim: Any = None, keepdim: bool = False) -> tuple[Tensor, Tensor]:
    """Return minimum and maximum."""
    along = () if dim is None else dim
    return amin(input, along, keepdim), amax(input, along, keepdim)


def _arg(name: str, where_: Any) -> Any:
    def function(input: Tensor, dim: int | None = None, keepdim: bool = False) -> Tensor:
        x = input._a
        if dim is None:
            _no_numbers(x, (), name)
            place = np.asarray(where_(x))
            return whole(place.reshape((1,) * x.ndim) if keepdim else place)
        dim = axis(dim, x.ndim)
        if x.ndim == 0:
            return whole(0)
        _no_numbers(x, (dim,), name)
        place = where_(x, axis=dim)
        return whole(np.expand_dims(place, dim) if keepdim else place)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"Return where the {name[3:]}imum stands, of several equal ones the first."
    return both(function)


argmax = _arg("argmax", np.argmax)
argmin = _arg("argmin", np.argmin)


# ---------------------------------------------------------------- all, any, counts


@both
def all(input: Tensor, dim: Any = None, keepdim: bool = False) -> Tensor:
    """Say whether all are True, or not 0."""
    return truth(np.all(input._a, axis=axes(dim, input._a.ndim), keepdims=keepdim))


@both
def any(input: Tensor, dim: Any = None, keepdim: bool = False) -> Tensor:
    """Say whether one is True, or not 0."""
    return truth(np.any(input._a, axis=axes(dim, input._a.ndim), keepdims=keepdim))


@both
def count_nonzero(input: Tensor, dim: Any = None) -> Tensor:
    """Return how many numbers are not 0."""
    return whole(np.count_nonzero(input._a, axis=axes(dim, input._a.ndim)))


# ---------------------------------------------------------------- along an axis


@both
def cumsum(input: Tensor, dim: int, *, dtype: dtype | None = None) -> Tensor:
    """Return the sums up to each number."""
    kind = dtype or (int64 if input._dtype.kind < 2 else input._dtype)
    dim = axis(dim, input._a.ndim)
    x = input._a if input._dtype is kind else cast(input._a, kind)
    if x.ndim == 0:
        return input.clone()
    # torch adds float32 up in 64 bits, and rounds each sum
    wide = np.float64 if x.dtype.kind == "f" else x.dtype
    out = np.cumsum(x, axis=dim, dtype=wide)
    return record(
        finished(out, kind),
        kind,
        (input,),
        (lambda g, _: g.flip(dim).cumsum(dim).flip(dim),),
        "Cumsum",
    )


@both
def cumprod(input: Tensor, dim: int, *, dtype: dtype | None = None) -> Tensor:
    """Return the products up to each number."""
    kind = dtype or (int64 if input._dtype.kind < 2 else input._dtype)
    dim = axis(dim, input._a.ndim)
    x = input._a if input._dtype is kind else cast(input._a, kind)
    wide = np.float64 if x.dtype.kind == "f" else x.dtype
    out = np.cumprod(x, axis=dim, dtype=wide)

    def rule(g: Tensor, r: Tensor) -> Tensor:
        if bool((input._a == 0).any()):
            raise NotImplementedError(
                "torch in this page has no gradient of cumprod where a number is 0; run this "
                "chapter in "
                "Jupyter"
            )
        return (g * r).flip(dim).cumsum(dim).flip(dim) / input

    return record(finished(out, kind), kind, (input,), (rule,), "Cumprod", (input,), True)


def _cumulative(name: str, better: Any, cls: Any) -> Any:
    def function(input: Tensor, dim: int) -> Any:
        dim = axis(dim, input._a.ndim)
        x = np.moveaxis(input._a, dim, 0)
        place = np.zeros(x.shape, np.int64)
        best = x.copy()
        for i in range(1, len(x)):
            new = better(x[i], best[i - 1]) | np.isnan(x[i])
            best[i] = np.where(new, x[i], best[i - 1])
            place[i] = np.where(new, i, place[i - 1])
        place = np.moveaxis(place, 0, dim)
        values = np.moveaxis(best, 0, dim)
        return cls(*taken(input, values, place, dim, True, name.capitalize()))

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"Return the {name[3:]}imum up to each number, and where it stands."
    return both(function)


cummax = _cumulative("cummax", np.greater_equal, _Cummax)
cummin = _cumulative("cummin", np.less_equal, _Cummin)


@both
def logcumsumexp(input: Tensor, dim: int) -> Tensor:
    """Return the logarithms of the sums of exponentials up to each number."""
    dim = axis(dim, input._a.ndim)
    out = np.logaddexp.accumulate(input._a.astype(np.float64), axis=dim)

    def rule(g: Tensor, r: Tensor) -> Tensor:
        return (input.exp()) * (g * (-r).exp()).flip(dim).cumsum(dim).flip(dim)

    return record(
        finished(out, input._dtype), input._dtype, (input,), (rule,), "Logcumsumexp", (input,), True
    )


@both
def logsumexp(input: Tensor, dim: Any, keepdim: bool = False) -> Tensor:
    """Return the logarithm of the sum of exponentials."""
    if input._dtype.kind < 2:
        input = input.to(dtypes.get_default_dtype())
    along = axes(dim, input._a.ndim)
    x = _wide(input._a)
    with np.errstate(all="ignore"):
        top = x.max(axis=along, keepdims=True) if x.size else np.zeros(())
        top = np.where(np.isinf(top), np.zeros((), x.dtype), top)
        out = np.log(np.exp(x - top).sum(axis=along, keepdims=True)) + top
    out = out if keepdim else out.squeeze(along)

    def rule(g: Tensor, r: Tensor) -> Tensor:
        return grown(g, along, keepdim) * (input - grown(r, along, keepdim)).exp()

    return record(
        finished(out, input._dtype), input._dtype, (input,), (rule,), "Logsumexp", (input,), True
    )


@both
def softmax(input: Tensor, dim: int, dtype: dtype | None = None) -> Tensor:
    """Return the exponentials, divided by their sum along an axis."""
    x, kind, dim = _soft(input, dim, dtype, "softmax")
    with np.errstate(all="ignore"):
        e = np.exp(x - x.max(axis=dim, keepdims=True)) if x.size else x
        out = e / e.sum(axis=dim, keepdims=True)

    def rule(g: Tensor, r: Tensor) -> Tensor:
        part = g * r
        part = part - r * part.sum(dim, keepdim=True)
        return part if part._dtype is input._dtype else part.to(input._dtype)

    return record(finished(out, kind), kind, (input,), (rule,), "Softmax", (), True)


@both
def log_softmax(input: Tensor, dim: int, dtype: dtype | None = None) -> Tensor:
    """Return the logarithm of the softmax."""
    x, kind, dim = _soft(input, dim, dtype, "log_softmax")
    with np.errstate(all="ignore"):
        x = x - x.max(axis=dim, keepdims=True) if x.size else x
        out = x - np.log(np.exp(x).sum(axis=dim, keepdims=True))

    def rule(g: Tensor, r: Tensor) -> Tensor:
        part = g - r.exp() * g.sum(dim, keepdim=True)
        return part if part._dtype is input._dtype else part.to(input._dtype)

    return record(finished(out, kind), kind, (input,), (rule,), "LogSoftmax", (), True)


def _soft(input: Tensor, dim: int, kind: Any, name: str) -> tuple[np.ndarray, dtype, int]:
    kind = kind or input._dtype
    if kind.kind < 2:
        raise NotImplementedError(
            f"\"{name}_lastdim_kernel_impl\" not implemented for '{dtypes.cased(kind)}'"
        )
    dim = axis(dim, input._a.ndim)
    x = _wide(input._a if input._dtype is kind else cast(input._a, kind))
    return (x if x.ndim else x[None]), kind, dim


# ---------------------------------------------------------------- order


def _order(x: np.ndarray, dim: int, descending: bool) -> np.ndarray:
    """Return the places in order; of equal numbers the first comes first, NaN is the largest."""
    if not descending:
        return np.argsort(x, axis=dim, kind="stable")
    turned = np.flip(x, dim)
    place = np.flip(np.argsort(turned, axis=dim, kind="stable"), dim)
    return x.shape[dim] - 1 - place


@both
def sort(input: Tensor, dim: int = -1, descending: bool = False, stable: bool = False) -> Any:
    """Return the numbers in order along an axis, and where they stood."""
    dim = axis(dim, input._a.ndim)
    if input._a.ndim == 0:
        return _Sort(input.clone(), whole(0))
    place = _order(input._a, dim, descending)
    values = np.take_along_axis(input._a, place, dim)
    return _Sort(*taken(input, values, place, dim, True, "Sort"))


@both
def argsort(input: Tensor, dim: int = -1, descending: bool = False, stable: bool = False) -> Tensor:
    """Return the places of the numbers in order."""
    return sort(input, dim, descending).indices


@both
def msort(input: Tensor) -> Tensor:
    """Return the numbers in order along the first axis."""
    return sort(input, 0).values


@both
def topk(input: Tensor, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> Any:
    """Return the ``k`` largest numbers along an axis, or smallest, and where they stand."""
    dim = axis(dim, input._a.ndim)
    k = int(k)
    if k > (input._a.shape[dim] if input._a.ndim else 1) or k < 0:
        raise RuntimeError("selected index k out of range")
    if input._a.ndim == 0:
        return _Topk(input.clone(), whole(0))
    place = np.take_along_axis(
        _order(input._a, dim, largest),
        np.arange(k, dtype=np.int64).reshape([k if d == dim else 1 for d in range(input._a.ndim)]),
        dim,
    )
    values = np.take_along_axis(input._a, place, dim)
    return _Topk(*taken(input, values, place, dim, True, "Topk"))


@both
def kthvalue(input: Tensor, k: int, dim: int = -1, keepdim: bool = False) -> Any:
    """Return the ``k``-th smallest number along an axis, and where it stands."""
    dim = axis(dim, input._a.ndim)
    if not 1 <= k <= input._a.shape[dim]:
        raise RuntimeError("kthvalue(): selected number k out of range for dimension")
    place = np.expand_dims(np.moveaxis(_order(input._a, dim, False), dim, 0)[k - 1], dim)
    values = np.take_along_axis(input._a, place, dim)
    return _Kth(*taken(input, values, place, dim, keepdim, "Kthvalue"))


@both
def median(input: Tensor, dim: int | None = None, keepdim: bool = False) -> Any:
    """Return the number in the middle, of two the lower."""
    flat = input if dim is not None else input.flatten()
    along = 0 if dim is None else axis(dim, flat._a.ndim)
    x = flat._a
    if x.size == 0:
        return made(np.asarray(np.nan, x.dtype), input._dtype)
    middle = (x.shape[along] - 1) // 2
    order = _order(x, along, False)
    if x.dtype.kind == "f":
        last = np.take_along_axis(x, np.take(order, [-1], along), along)
        at = np.where(
            np.isnan(last),
            np.isnan(np.take_along_axis(x, order, along)).argmax(along, keepdims=True),
            middle,
        )
        place = np.take_along_axis(order, at, along)
    else:
        place = np.take(order, [middle], along)
    values = np.take_along_axis(x, place, along)
    out = _Median(*taken(flat, values, place, along, keepdim and dim is not None, "Median"))
    return out.values if dim is None else out


@both
def mode(input: Tensor, dim: int = -1, keepdim: bool = False) -> Any:
    """Return the most frequent number along an axis, of several the smallest."""
    dim = axis(dim, input._a.ndim)
    x = np.moveaxis(input._a, dim, -1)
    flat = x.reshape(-1, x.shape[-1])
    place = np.empty(len(flat), np.int64)
    for row, numbers in enumerate(flat):
        found, counts = np.unique(numbers, return_counts=True)
        place[row] = np.flatnonzero(numbers == found[counts.argmax()])[-1]
    place = np.expand_dims(place.reshape(x.shape[:-1]), dim)
    values = np.take_along_axis(input._a, place, dim)
    return _Mode(*taken(input, values, place, dim, keepdim, "Mode"))


@both
def quantile(
    input: Tensor,
    q: Any,
    dim: int | None = None,
    keepdim: bool = False,
    *,
    interpolation: str = "linear",
) -> Tensor:
    """Return quantiles along an axis."""
    if input._dtype not in (float32, float64):
        raise RuntimeError("quantile() input tensor must be either float or double dtype")
    share = q._a.astype(np.float64) if isinstance(q, Tensor) else np.asarray(q, dtype=np.float64)
    if ((share < 0) | (share > 1)).any():
        raise RuntimeError("quantile() q values must be in the range [0, 1]")
    ordered = sort(input.flatten() if dim is None else input, -1 if dim is None else dim).values
    along = 0 if dim is None else axis(dim, input._a.ndim)
    n = ordered._a.shape[along]
    at = share * (n - 1)
    at = {"linear": lambda v: v, "lower": np.floor, "higher": np.ceil, "nearest": np.rint,
          "midpoint": lambda v: (np.floor(v) + np.ceil(v)) / 2}[interpolation](at)  # fmt: skip
    low = np.floor(at).astype(np.int64)
    parts = []
    for i, rest in zip(low.ravel().tolist(), (at - low).ravel().tolist(), strict=True):
        one = ordered.select(along, i)
        if rest:
            one = one + (ordered.select(along, i + 1) - one) * rest
        parts.append(one.unsqueeze(along) if keepdim and dim is not None else one)
    from .shapes import stack

    out = stack(parts) if share.ndim else parts[0]
    if keepdim and dim is None:
        out = out.reshape(tuple(share.shape) + (1,) * input._a.ndim)
    bad = np.isnan(input._a).any(axis=axes(dim, input._a.ndim), keepdims=keepdim)
    return out.masked_fill(truth(bad), math.nan) if bad.any() else out


@both
def unique(
    input: Tensor,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
) -> Any:
    """Return the different numbers in order, or the different slices along an axis."""
    found, inverse, counts = np.unique(
        input._a, return_inverse=True, return_counts=True, axis=None if dim is None else dim
    )
    inverse = inverse.reshape(input._a.shape if dim is None else -1)
    out = [made(found, input._dtype)]
    out += [whole(inverse)] if return_inverse else []
    out += [whole(counts)] if return_counts else []
    return out[0] if len(out) == 1 else tuple(out)


@both
def unique_consecutive(
    input: Tensor, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None
) -> Any:
    """Return the numbers without repetitions of neighbors."""
    if dim is not None:
        raise NotImplementedError("torch in this page has no dim= for unique_consecutive")
    x = input._a.ravel()
    starts = np.concatenate([[True], x[1:] != x[:-1]]) if x.size else np.zeros(0, bool)
    inverse = np.cumsum(starts) - 1
    out = [made(x[starts], input._dtype)]
    out += [whole(inverse.reshape(input._a.shape))] if return_inverse else []
    out += [whole(np.bincount(inverse.astype(np.intp)))] if return_counts else []
    return out[0] if len(out) == 1 else tuple(out)


@both
def bincount(input: Tensor, weights: Tensor | None = None, minlength: int = 0) -> Tensor:
    """Return how often each whole number occurs."""
    if input._a.ndim != 1 or input._dtype.kind != 1 or (input._a.size and input._a.min() < 0):
        if input._dtype.kind != 1:
            raise NotImplementedError(
                f"\"bincount_cpu\" not implemented for '{dtypes.cased(input._dtype)}'"
            )
        raise RuntimeError("bincount only supports 1-d non-negative integral inputs.")
    counted = np.bincount(
        input._a.astype(np.intp), None if weights is None else weights._a, minlength
    )
    if weights is None:
        return whole(counted)
    kind = weights._dtype if weights._dtype is float32 else float64
    return made(counted.astype(kind.array), kind)


@both
def histc(input: Tensor, bins: int = 100, min: float = 0, max: float = 0) -> Tensor:
    """Return how many numbers fall into bins of equal width."""
    low, high = (min, max) if min or max else (float(input._a.min()), float(input._a.max()))
    if low == high:
        low, high = low - 1, high + 1
    counted = np.histogram(input._a, bins, (low, high))[0]
    return made(counted.astype(input._a.dtype), input._dtype)


@only_function
def histogram(input: Tensor, bins: Any, *, range: Any = None) -> Any:
    """Return how many numbers fall into bins, and the bins' edges."""
    edges = bins._a if isinstance(bins, Tensor) else bins
    counted, edges = np.histogram(input._a, edges, range)
    kind = namedtuple("histogram", ["hist", "bin_edges"])
    return kind(
        made(counted.astype(input._a.dtype), input._dtype),
        made(edges.astype(input._a.dtype), input._dtype),
    )


@both
def norm(
    input: Tensor,
    p: Any = "fro",
    dim: Any = None,
    keepdim: bool = False,
    dtype: dtype | None = None,
) -> Tensor:
    """Return a norm of all numbers, or along axes: ``(Σ|x|ᵖ)^(1/p)``."""
    from .linalg import vector_norm

    if dtype is not None:
        input = input.to(dtype)
    if p == "nuc":
        from .linalg import matrix_norm

        return matrix_norm(input, "nuc", (-2, -1) if dim is None else dim, keepdim)
    return vector_norm(input, 2 if p in (None, "fro") else p, dim, keepdim)


@both
def dist(input: Tensor, other: Tensor, p: Any = 2) -> Tensor:
    """Return the norm of a difference."""
    return norm(input - other, p)


@only_function
def cov(
    input: Tensor, *, correction: int = 1, fweights: Any = None, aweights: Any = None
) -> Tensor:
    """Return the covariances of rows."""
    if fweights is not None or aweights is not None:
        raise NotImplementedError(
            "torch in this page has no weights for cov; weigh the rows yourself"
        )
    x = input if input._a.ndim > 1 else input[None]
    x = x - x.mean(1, keepdim=True)
    out = x @ x.conj().mT / (x._a.shape[1] - correction)
    return out if input._a.ndim > 1 else out.squeeze()


@only_function
def corrcoef(input: Tensor) -> Tensor:
    """Return the correlations of rows."""
    c = cov(input)
    if c._a.ndim == 0:
        return c / c
    d = c.diagonal().sqrt()
    return (c / d[:, None] / d[None]).clamp(-1, 1)
