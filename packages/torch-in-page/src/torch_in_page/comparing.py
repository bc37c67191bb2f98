"""What is asked of numbers, and what is chosen by the answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from . import dtypes
from .dtypes import bool_, cast
from .engine import in_place, record
from .naming import both, called, only_function, only_method
from .promotion import NUMBERS, arrays, finished, operand, result_type, scalar, shapes_meet, shrunk
from .tensor import Tensor, made


def truth(array: Any) -> Tensor:
    """Return truth values as a tensor."""
    return made(np.asarray(array, dtype=np.bool_), bool_)


def _compared(name: str, operator: str, compute: Callable[..., Any]) -> Callable[..., Tensor]:
    def function(input: Tensor, other: Any) -> Tensor:
        other = operand(other, f"{name}()")
        if (
            isinstance(other, (int, float))
            and not isinstance(other, bool)
            and input._dtype.kind < 3
        ):
            x, y = input._a, other  # exact, also beyond what the tensor's kind holds
            if input._dtype.kind > 1 and isinstance(other, float):
                y = x.dtype.type(other)
        else:
            x, y, kind = arrays(input, other)
            if kind.kind == 3 and name not in ("eq", "ne"):
                raise NotImplementedError(
                    f"\"{name}_cpu\" not implemented for '{dtypes.cased(kind)}'"
                )
        try:
            return truth(compute(x, y))
        except ValueError:
            shapes_meet(x, np.asarray(y))
            raise

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"Say for each pair whether ``a {operator} b``."
    call = both(function)

    def method(self: Tensor, other: Any) -> Any:
        if not isinstance(other, (Tensor, np.ndarray, *NUMBERS)):
            return NotImplemented
        return function(self, other)

    setattr(Tensor, f"__{name}__", method)
    only_method(called(f"{name}_", lambda self, other: in_place(self, function, other)))
    return call


eq = _compared("eq", "==", np.equal)
ne = _compared("ne", "!=", np.not_equal)
lt = _compared("lt", "<", np.less)
le = _compared("le", "<=", np.less_equal)
gt = _compared("gt", ">", np.greater)
ge = _compared("ge", ">=", np.greater_equal)
for _name, _also in (
    ("gt", "greater"),
    ("ge", "greater_equal"),
    ("lt", "less"),
    ("le", "less_equal"),
):
    only_function(getattr(Tensor, _name), also=(_also,))
    setattr(Tensor, _also, getattr(Tensor, _name))
setattr(Tensor, "__hash__", lambda self: id(self))  # noqa: B010


def _asked(name: str, compute: Callable[[np.ndarray], Any], what: str) -> Callable[..., Tensor]:
    def function(input: Tensor) -> Tensor:
        return truth(compute(input._a))

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"Say of each number whether it is {what}."
    return both(function)


isnan = _asked("isnan", np.isnan, "NaN")
isinf = _asked("isinf", np.isinf, "infinite")
isfinite = _asked("isfinite", np.isfinite, "neither NaN nor infinite")
isposinf = _asked("isposinf", lambda x: np.isinf(x) & (x > 0), "positive infinity")
isneginf = _asked("isneginf", lambda x: np.isinf(x) & (x < 0), "negative infinity")
signbit = _asked("signbit", np.signbit, "negative")
logical_not = _asked("logical_not", np.logical_not, "0 or False")


def _logical(name: str, compute: Callable[..., Any]) -> Callable[..., Tensor]:
    def function(input: Tensor, other: Tensor) -> Tensor:
        return truth(compute(input._a, operand(other, f"{name}()")._a))

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"Return {name.replace('_', ' ')}; what is not 0 counts as True."
    only_method(called(f"{name}_", lambda self, other: in_place(self, function, other)))
    return both(function)


logical_and = _logical("logical_and", np.logical_and)
logical_or = _logical("logical_or", np.logical_or)
logical_xor = _logical("logical_xor", np.logical_xor)


@both
def equal(input: Tensor, other: Tensor) -> bool:
    """Say whether two tensors have the same shape and the same numbers."""
    return input._a.shape == other._a.shape and bool(np.all(input._a == other._a))


@both
def isclose(
    input: Tensor, other: Tensor, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
) -> Tensor:
    """Say of each pair whether it differs by no more than ``atol + rtol |other|``."""
    if input._dtype is not other._dtype:
        raise RuntimeError(
            f"{dtypes.cased(input._dtype)} did not match {dtypes.cased(other._dtype)}"
        )
    return truth(np.isclose(input._a, other._a, rtol, atol, equal_nan))


@both
def allclose(
    input: Tensor, other: Tensor, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
) -> bool:
    """Say whether no pair differs by more than ``atol + rtol |other|``."""
    return bool(isclose(input, other, rtol, atol, equal_nan)._a.all())


@only_function
def isin(
    elements: Any, test_elements: Any, *, assume_unique: bool = False, invert: bool = False
) -> Tensor:
    """Say of each number whether it is among some others."""
    among = test_elements._a if isinstance(test_elements, Tensor) else test_elements
    numbers = elements._a if isinstance(elements, Tensor) else np.asarray(elements)
    return truth(np.isin(numbers, among, invert=invert))


# ---------------------------------------------------------------- choosing


def _condition(condition: Any) -> np.ndarray:
    if not isinstance(condition, Tensor) or condition._dtype.name not in ("bool", "uint8"):
        kind = condition._dtype if isinstance(condition, Tensor) else type(condition).__name__
        raise RuntimeError(
            f"where expected condition to be a boolean tensor, but got a tensor with dtype {kind}"
        )
    return condition._a if condition._dtype is bool_ else condition._a.astype(np.bool_)


@only_function
def where(condition: Tensor, input: Any = None, other: Any = None) -> Any:
    """Return the first where a condition holds, else the second; or the places where it holds."""
    if input is None and other is None:
        return condition.nonzero(as_tuple=True)
    chosen = _condition(condition)
    a, b = operand(input, "where()"), operand(other, "where()")
    kind = result_type(a, b)
    x, y, kind = arrays(a, b) if isinstance(a, Tensor) or isinstance(b, Tensor) else (
        scalar(a, kind), scalar(b, kind), kind)  # fmt: skip
    try:
        out = np.where(chosen, x, y)
    except ValueError:
        shapes_meet(np.empty(np.broadcast_shapes(x.shape, y.shape), bool), chosen)
        raise
    inputs, rules = [], []
    inside, outside = truth(chosen), truth(~chosen)
    for side, hidden in ((a, outside), (b, inside)):
        if isinstance(side, Tensor):
            inputs.append(side)
            rules.append(_kept(side, hidden))
    return record(finished(out, kind), kind, tuple(inputs), tuple(rules), "Where")


def _kept(side: Tensor, hidden: Tensor) -> Any:
    return lambda g, _: shrunk(g.masked_fill(hidden, 0.0), side)


def _where_method(self: Tensor, condition: Tensor, other: Any) -> Tensor:
    return where(condition, self, other)


_where_method.__name__ = "where"
only_method(_where_method)


@both
def masked_fill(input: Tensor, mask: Tensor, value: Any) -> Tensor:
    """Return the numbers with those under a mask replaced by one."""
    if mask._dtype is not bool_:
        raise RuntimeError(
            f"masked_fill_ only supports boolean masks, but got mask with dtype {mask._dtype}"
        )
    number = value._a if isinstance(value, Tensor) else value
    if isinstance(value, Tensor) and value._a.ndim:
        raise RuntimeError(
            "masked_fill_ only supports a 0-dimensional value tensor, but got tensor with "
            f"{value._a.ndim} dimension(s)."
        )
    x = input._a
    if isinstance(number, (float, complex)) and dtypes.of_scalar(number).kind > input._dtype.kind:
        raise RuntimeError(
            f"value cannot be converted to type {input._dtype.name} without overflow"
        )
    if isinstance(number, int):
        number = scalar(number, dtypes.float64 if input._dtype.kind == 2 else input._dtype)
    fill = cast(np.asarray(number), input._dtype)
    try:
        out = np.where(mask._a, fill, x)
    except ValueError:
        shapes_meet(x, mask._a)
        raise
    inputs: tuple[Tensor, ...] = (input,)
    rules: tuple[Any, ...] = (lambda g, _: shrunk(masked_fill(g, mask, 0.0), input),)
    if isinstance(value, Tensor):
        inputs += (value,)
        rules += (lambda g, _: g.masked_fill(~mask, 0.0).sum(),)
    return record(out, input._dtype, inputs, rules, "MaskedFill")


@both(also=("clip",))
def clamp(input: Tensor, min: Any = None, max: Any = None) -> Tensor:
    """Return the numbers, those below ``min`` and above ``max`` replaced by these."""
    if min is None and max is None:
        raise RuntimeError("torch.clamp: At least one of 'min' or 'max' must not be None")
    kind = result_type(*[x for x in (input, min, max) if x is not None])
    x = input._a if input._dtype is kind else cast(input._a, kind)
    low, high = (_limit(limit, kind) for limit in (min, max))
    out = x
    if low is not None:
        out = np.maximum(out, low)
    if high is not None:
        out = np.minimum(out, high)
    inside = np.ones(out.shape, np.bool_)
    below = np.zeros(out.shape, np.bool_) if low is None else x < low
    above = np.zeros(out.shape, np.bool_) if high is None else x > high
    inside = truth(below | above)
    inputs, rules = [input], [lambda g, _: shrunk(g.masked_fill(inside, 0.0), input)]
    for limit, taken in ((min, below), (max, above)):
        if isinstance(limit, Tensor):
            inputs.append(limit)
            rules.append(_limited(limit, truth(~taken)))
    return record(finished(out, kind), kind, tuple(inputs), tuple(rules), "Clamp")


def _limit(limit: Any, kind: Any) -> Any:
    if limit is None:
        return None
    if isinstance(limit, Tensor):
        return limit._a if limit._dtype is kind else cast(limit._a, kind)
    return np.asarray(limit, dtype=kind.array)


def _limited(limit: Tensor, not_taken: Tensor) -> Any:
    return lambda g, _: shrunk(g.masked_fill(not_taken, 0.0), limit)


@both
def clamp_min(input: Tensor, min: Any) -> Tensor:
    """Return the numbers, those below ``min`` replaced by it."""
    return clamp(input, min=min)


@both
def clamp_max(input: Tensor, max: Any) -> Tensor:
    """Return the numbers, those above ``max`` replaced by it."""
    return clamp(input, max=max)


for _function in (clamp, clamp_min, clamp_max, masked_fill):
    only_method(
        called(
            f"{_function.__name__}_",
            lambda self, *a, _f=_function, **k: in_place(self, _f, *a, **k),
        )
    )
setattr(Tensor, "clip_", getattr(Tensor, "clamp_"))  # noqa: B009, B010
