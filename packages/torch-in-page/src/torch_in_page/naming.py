"""How a function becomes a name of ``torch`` and a method of its tensors.

Every name passes through a few lines that do what torch does for all of them: ``axis`` for ``dim``,
``out=`` for a place to write to, and the modes of ``torch.overrides`` that want to see each call.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from .tensor import Tensor

FUNCTIONS: dict[str, Callable[..., Any]] = {}
"""What ``torch`` has by name."""
MODES: list[Any] = []
"""The modes that are on, the innermost last."""
_NUMPYS = {
    "axis": "dim",
    "keepdims": "keepdim",
    "x": "input",
    "a": "input",
    "x1": "input",
    "x2": "other",
}


def public(function: Callable[..., Any]) -> Callable[..., Any]:
    """Let a function be seen by modes, and know NumPy's names of arguments."""
    known = function.__code__.co_varnames[
        : function.__code__.co_argcount + function.__code__.co_kwonlyargcount
    ]

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        if MODES:
            return _through(call, function, args, kwargs)
        if kwargs:
            return _named(function, known, args, kwargs)
        return function(*args)

    return call


def _through(call: Any, function: Any, args: Any, kwargs: Any) -> Any:
    mode = MODES.pop()
    try:
        return mode.__torch_function__(call, (), args, kwargs)
    finally:
        MODES.append(mode)


def _named(function: Any, known: tuple[str, ...], args: Any, kwargs: dict[str, Any]) -> Any:
    for theirs, ours in _NUMPYS.items():
        if theirs in kwargs and theirs not in known and ours in known and ours not in kwargs:
            kwargs[ours] = kwargs.pop(theirs)
    if "out" in kwargs and "out" not in known:
        place = kwargs.pop("out")
        result = function(*args, **kwargs)
        return result if place is None else _put(function, place, result)
    return function(*args, **kwargs)


def _put(function: Any, place: Any, result: Any) -> Any:
    if isinstance(result, tuple):
        raise NotImplementedError(
            f"torch in this page has no out= for {function.__name__}, which returns several tensors"
        )
    if place.shape != result.shape and place.numel():
        raise RuntimeError(
            f"out= has shape {list(place.shape)} and the result {list(result.shape)}; make it as "
            f"large"
        )
    if place.shape != result.shape:
        place._a, place._dtype = result._a.astype(place._a.dtype), place._dtype
        return place
    return place.copy_(result)


def both(function: Any = None, *, also: tuple[str, ...] = ()) -> Any:
    """Make a function a name of ``torch`` and a method."""
    if function is None:
        return functools.partial(both, also=also)
    call = public(function)
    for name in (function.__name__.rstrip("_") or function.__name__, *also):
        FUNCTIONS[name] = call
        setattr(Tensor, name, call)
    return call


def only_function(function: Any = None, *, also: tuple[str, ...] = ()) -> Any:
    """Make a function a name of ``torch``."""
    if function is None:
        return functools.partial(only_function, also=also)
    call = public(function)
    for name in (function.__name__.rstrip("_") or function.__name__, *also):
        FUNCTIONS[name] = call
    return call


def only_method(function: Any = None, *, also: tuple[str, ...] = ()) -> Any:
    """Make a function a method of tensors; a name that ends in ``_`` keeps it."""
    if function is None:
        return functools.partial(only_method, also=also)
    call = public(function)
    for name in (function.__name__, *also):
        setattr(Tensor, name, call)
    return call


def called(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """Give a function the name that it has as a method."""
    function.__name__ = function.__qualname__ = name
    return function
