"""What runs along an axis: sums and extremes so far, and the softmax."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import dtypes
from .dtypes import cast, dtype, int64
from .engine import record
from .extremes import pair, taken
from .naming import both
from .promotion import finished
from .reductions import grown, wide
from .sizes import axes, axis
from .tensor import Tensor

_Cummax, _Cummin = pair("cummax"), pair("cummin")


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
    x = wide(input._a)
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
    x = wide(input._a if input._dtype is kind else cast(input._a, kind))
    return (x if x.ndim else x[None]), kind, dim
