"""Operators of Python on tensors, bits, and what is computed in a tensor's own memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from . import dtypes
from .elementwise import abs, in_place_of, logit, nan_to_num, neg
from .engine import in_place, record
from .naming import both
from .pairs import (
    add,
    addcdiv,
    addcmul,
    div,
    floor_divide,
    fmod,
    lerp,
    mul,
    pow,
    remainder,
    rsub,
    sub,
    xlogy,
)
from .promotion import NUMBERS, arrays, operand
from .tensor import Tensor


def _bits(name: str, compute: Callable[..., np.ndarray]) -> Callable[..., Tensor]:
    def function(input: Any, other: Any) -> Tensor:
        x, y, kind = arrays(input, operand(other, f"{name}()"))
        if kind.kind > 1:
            raise NotImplementedError(f"\"{name}_cpu\" not implemented for '{dtypes.cased(kind)}'")
        return record(np.asarray(compute(x, y)), kind, (), (), name)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = (
        f"Return {name.replace('_', ' ')} of whole numbers or truth values, bit by bit."
    )
    in_place_of(name, function)
    return both(function)


bitwise_and = _bits("bitwise_and", np.bitwise_and)
bitwise_or = _bits("bitwise_or", np.bitwise_or)
bitwise_xor = _bits("bitwise_xor", np.bitwise_xor)
bitwise_left_shift = _bits("bitwise_left_shift", np.left_shift)
bitwise_right_shift = _bits("bitwise_right_shift", np.right_shift)


@both
def bitwise_not(input: Tensor) -> Tensor:
    """Return the opposite of truth values, or of each bit."""
    if input._dtype.kind > 1:
        raise NotImplementedError(
            f"\"bitwise_not_cpu\" not implemented for '{dtypes.cased(input._dtype)}'"
        )
    return record(np.invert(input._a), input._dtype, (), (), "BitwiseNot")


# ---------------------------------------------------------------- operators


def _operator(function: Callable[..., Tensor], swapped: bool = False) -> Any:
    def method(self: Tensor, other: Any) -> Any:
        if not isinstance(other, (Tensor, np.ndarray, *NUMBERS)):
            return NotImplemented
        return function(other, self) if swapped else function(self, other)

    return method


def _rtruediv(self: Tensor, other: Any) -> Any:
    if not isinstance(other, (Tensor, np.ndarray, *NUMBERS)):
        return NotImplemented
    return self.reciprocal() * other


for _name, _function, _swapped in (
    ("add", add, False), ("radd", add, False), ("sub", sub, False), ("rsub", rsub, False),
    ("mul", mul, False), ("rmul", mul, False), ("truediv", div, False), ("pow", pow, False),
    ("rpow", pow, True), ("floordiv", floor_divide, False), ("rfloordiv", floor_divide, True),
    ("mod", remainder, False), ("rmod", remainder, True), ("and", bitwise_and, False),
    ("rand", bitwise_and, False), ("or", bitwise_or, False), ("ror", bitwise_or, False),
    ("xor", bitwise_xor, False), ("rxor", bitwise_xor, False),
    ("lshift", bitwise_left_shift, False), ("rshift", bitwise_right_shift, False),
):  # fmt: skip
    setattr(Tensor, f"__{_name}__", _operator(_function, _swapped))
setattr(Tensor, "__rtruediv__", _rtruediv)  # noqa: B010
setattr(Tensor, "__neg__", lambda self: neg(self))  # noqa: B010
setattr(Tensor, "__pos__", lambda self: self)  # noqa: B010
setattr(Tensor, "__abs__", lambda self: abs(self))  # noqa: B010


def _invert(self: Tensor) -> Tensor:
    if self._dtype.kind > 1:
        raise TypeError(
            "~ (operator.invert) is only implemented on integer and Boolean-type tensors"
        )
    return bitwise_not(self)


setattr(Tensor, "__invert__", _invert)  # noqa: B010

for _function in (add, sub, mul, div, pow, remainder, fmod, lerp, addcmul, addcdiv, floor_divide,
                  xlogy, nan_to_num, logit):  # fmt: skip
    in_place_of(_function.__name__, _function)
for _name, _also in (
    ("sub", "subtract"),
    ("mul", "multiply"),
    ("div", "divide"),
    ("div", "true_divide"),
):
    setattr(Tensor, f"{_also}_", getattr(Tensor, f"{_name}_"))


def _changing(function: Callable[..., Tensor]) -> Any:
    def method(self: Tensor, other: Any) -> Any:
        if not isinstance(other, (Tensor, np.ndarray, *NUMBERS)):
            return NotImplemented
        return in_place(self, function, other)

    return method


for _name, _function in (
    ("iadd", add), ("isub", sub), ("imul", mul), ("itruediv", div), ("ipow", pow),
    ("ifloordiv", floor_divide), ("imod", remainder), ("iand", bitwise_and), ("ior", bitwise_or),
    ("ixor", bitwise_xor),
):  # fmt: skip
    setattr(Tensor, f"__{_name}__", _changing(_function))
