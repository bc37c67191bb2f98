"""Numbers in order: sorted, the first of them, quantiles, different ones, and how many of each."""

from __future__ import annotations

import math
from collections import namedtuple
from typing import Any

import numpy as np

from . import dtypes
from .comparing import truth
from .dtypes import dtype, float32, float64
from .extremes import pair, taken
from .naming import both, only_function
from .reductions import whole
from .sizes import axes, axis
from .tensor import Tensor, made

_Sort, _Topk, _Kth = pair("sort"), pair("topk"), pair("kthvalue")
_Median, _Mode = pair("median"), pair("mode")


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
    from .joining import stack

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


@both
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
    return out.squeeze()


@both
def corrcoef(input: Tensor) -> Tensor:
    """Return the correlations of rows."""
    c = cov(input)
    if c._a.ndim == 0:
        return c / c
    d = c.diagonal().sqrt()
    return (c / d[:, None] / d[None]).clamp(-1, 1)
