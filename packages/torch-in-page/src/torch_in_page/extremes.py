"""The largest and the smallest numbers, and where they stand."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import numpy as np

from .comparing import truth
from .engine import record
from .naming import both
from .promotion import finished
from .reductions import grown, whole
from .sizes import axes, axis
from .tensor import Tensor, made


def pair(name: str) -> Any:
    """Return the class of results that are values and where they stand."""
    kind = namedtuple(name, ["values", "indices"])
    kind.__module__ = "torch.return_types"

    def written(self: Any) -> str:
        return f"torch.return_types.{name}(\nvalues={self.values!r},\nindices={self.indices!r})"

    kind.__repr__ = written  # type: ignore[method-assign]
    return kind


_Max, _Min = pair("max"), pair("min")


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
        from . import pairs

        if isinstance(dim, Tensor):
            return (pairs.maximum if name == "max" else pairs.minimum)(input, dim)
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
