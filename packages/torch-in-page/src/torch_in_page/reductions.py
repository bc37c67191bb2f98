"""Many numbers to one: sums, means, products and spreads; all, any, and counts."""

from __future__ import annotations

import builtins
import math
from typing import Any

import numpy as np

from . import dtypes
from .comparing import truth
from .dtypes import cast, dtype, int64
from .engine import record
from .naming import both, only_function
from .promotion import finished
from .sizes import axes
from .tensor import Tensor, made


def grown(g: Tensor, along: tuple[int, ...], keepdim: bool) -> Tensor:
    """Return a reduced tensor with the axes that it lost, each of length 1."""
    if not keepdim:
        for dim in sorted(along):
            g = g.unsqueeze(dim)
    return g


def wide(x: np.ndarray) -> np.ndarray:
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
    out = wide(x).sum(axis=along, keepdims=keepdim, dtype=np.int64 if kind is int64 else None)
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
        total = wide(input._a).sum(axis=along, keepdims=keepdim)
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
    out = wide(x).prod(axis=along, keepdims=keepdim, dtype=np.int64 if kind is int64 else None)

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
    from .joining import cat

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
    x = wide(input._a)
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


def whole(array: Any) -> Tensor:
    """Return places or counts as a tensor of 64-bit whole numbers."""
    return made(np.asarray(array, dtype=np.int64), int64)


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
