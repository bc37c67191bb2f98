"""What is computed from two numbers: arithmetic, powers, the larger and the smaller."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from . import dtypes
from .engine import record
from .naming import both, only_function
from .promotion import arrays, finished, operand, shapes_meet, shrunk
from .tensor import Tensor

Rule = Callable[..., Tensor]


def conj(x: Any) -> Any:
    """Return what a gradient is multiplied by: the number, or its complex conjugate."""
    if isinstance(x, Tensor):
        return x.conj() if x._dtype.kind == 3 else x
    return x.conjugate() if isinstance(x, complex) else x


def pairwise(
    name: str,
    a: Any,
    b: Any,
    compute: Callable[[np.ndarray, np.ndarray], np.ndarray],
    to_a: Rule,
    to_b: Rule,
    floats: bool = False,
    saves: str = "",
) -> Tensor:
    """Compute something from two operands, of which one may be a number.

    ``to_a(gradient, result)`` is the gradient of ``a`` before it is summed to its shape; ``saves``
    names those of ``a``, ``b`` and ``r`` (the result) whose numbers the rules use.
    """
    x, y, kind = arrays(a, b, floats)
    if kind in dtypes.EIGHTS:
        raise NotImplementedError(
            f"\"{name.lower()}_stub\" not implemented for '{dtypes.cased(kind)}'"
        )
    try:
        out = compute(x, y)
    except ValueError:
        shapes_meet(x, y)
        raise
    if type(out) is not np.ndarray or out.dtype != kind.array or kind.rounded:
        out = finished(out, kind)
    inputs, rules, kept = [], [], []
    for side, rule, letter in ((a, to_a, "a"), (b, to_b, "b")):
        if isinstance(side, Tensor):
            inputs.append(side)
            rules.append(_fitting(rule, side))
            if letter in saves:
                kept.append(side)
    return record(out, kind, tuple(inputs), tuple(rules), name, kept, "r" in saves)


def _fitting(rule: Rule, side: Tensor) -> Rule:
    return lambda gradient, result: shrunk(rule(gradient, result), side)


def _scaled(other: Any, alpha: Any) -> Any:
    return other if alpha == 1 else other * alpha


@both
def add(input: Any, other: Any, *, alpha: Any = 1) -> Tensor:
    """Return the sum, with ``alpha`` times the second."""
    other = _scaled(operand(other, "add()"), alpha)
    return pairwise("Add", input, other, np.add, lambda g, _: g, lambda g, _: g)


def _no_truth(*sides: Any) -> None:
    for side in sides:
        if (side._dtype is dtypes.bool_) if isinstance(side, Tensor) else isinstance(side, bool):
            raise RuntimeError(
                "Subtraction, the `-` operator, with a bool tensor is not supported. If you are "
                "trying to "
                "invert a mask, use the `~` or `logical_not()` operator instead."
            )


@both(also=("subtract",))
def sub(input: Any, other: Any, *, alpha: Any = 1) -> Tensor:
    """Return the difference, with ``alpha`` times the second."""
    _no_truth(input, other)
    other = _scaled(operand(other, "sub()"), alpha)
    return pairwise("Sub", input, other, np.subtract, lambda g, _: g, lambda g, _: -g)


@only_function
def rsub(input: Tensor, other: Any) -> Tensor:
    """Return the second less the first."""
    _no_truth(input, other)
    other = operand(other, "rsub()")
    name = "Rsub" if isinstance(other, Tensor) else "Rsub1"
    return pairwise(
        name, input, other, lambda x, y: np.subtract(y, x), lambda g, _: -g, lambda g, _: g
    )


@both(also=("multiply",))
def mul(input: Any, other: Any) -> Tensor:
    """Return the product, number by number."""
    a, b = input, operand(other, "mul()")
    saves = ("a" if isinstance(b, Tensor) and b._rg else "") + (
        "b" if isinstance(a, Tensor) and a._rg else ""
    )
    return pairwise(
        "Mul", a, b, np.multiply, lambda g, _: g * conj(b), lambda g, _: g * conj(a), saves=saves
    )


def _quotient(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    with np.errstate(all="ignore"):
        return np.true_divide(x, y)


@both(also=("divide", "true_divide"))
def div(input: Any, other: Any, *, rounding_mode: str | None = None) -> Tensor:
    """Return the quotient, whole when ``rounding_mode`` is ``"floor"`` or ``"trunc"``."""
    a, b = input, operand(other, "div()")
    if rounding_mode is not None:
        if rounding_mode not in ("floor", "trunc"):
            raise RuntimeError(
                "div expected rounding_mode to be one of None, 'trunc', or 'floor' but found "
                f"'{rounding_mode}'"
            )
        if rounding_mode == "floor":
            return floor_divide(a, b)
        x, y, kind = arrays(a, b)
        if kind.kind == 1:
            _no_zero(y)
            size = np.floor_divide(np.abs(x), np.abs(y))
            return record(np.where((x < 0) != (y < 0), -size, size), kind, (), (), "Div")
        return div(a, b).trunc()
    return pairwise(
        "Div",
        a,
        b,
        _quotient,
        lambda g, _: g / conj(b),
        lambda g, r: -g * conj((a / b) / b),
        floats=True,
        saves=("a" if isinstance(b, Tensor) and b._rg else "") + "b",
    )


def _no_zero(y: np.ndarray) -> None:
    if not np.all(y):
        raise RuntimeError("ZeroDivisionError")


@both
def floor_divide(input: Any, other: Any) -> Tensor:
    """Return the largest whole number that is not above the quotient."""

    def compute(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        if x.dtype.kind in "iu":
            _no_zero(y)
        with np.errstate(all="ignore"):
            return np.floor_divide(x, y)

    other = operand(other, "floor_divide()")
    out = pairwise("NotImplemented", input, other, compute, _no_slope, _no_slope)
    if out._node is not None:
        out._node.title = "NotImplemented"
    return out


def _no_slope(g: Tensor, _: Tensor) -> Tensor:
    raise RuntimeError("derivative for aten::floor_divide is not implemented")


@both
def remainder(input: Any, other: Any) -> Tensor:
    """Return what is left of a division, with the sign of the divisor."""
    a, b = input, operand(other, "remainder()")

    def compute(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        if x.dtype.kind in "iu":
            _no_zero(y)
        with np.errstate(all="ignore"):
            return np.mod(x, y)

    return pairwise(
        "Remainder", a, b, compute, lambda g, _: g, lambda g, _: -g * (a / b).floor(), saves="ab"
    )


@both
def fmod(input: Any, other: Any) -> Tensor:
    """Return what is left of a division, with the sign of what is divided."""
    a, b = input, operand(other, "fmod()")

    def compute(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        if x.dtype.kind in "iu":
            _no_zero(y)
        with np.errstate(all="ignore"):
            return np.fmod(x, y)

    return pairwise(
        "Fmod", a, b, compute, lambda g, _: g, lambda g, _: -g * (a / b).trunc(), saves="ab"
    )


def _power(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    if x.dtype == np.bool_:
        raise NotImplementedError("\"pow\" not implemented for 'Bool'")
    if x.dtype.kind in "iu" and np.any(y < 0):
        if y.ndim:
            # torch: 1 stays 1, -1 alternates, all others vanish
            odd = np.where(np.abs(y) % 2 == 1, -1, 1)
            small = np.where(x == 1, 1, np.where(x == -1, odd, 0))
            return np.where(y < 0, small, np.power(x, np.abs(y))).astype(x.dtype)
        raise RuntimeError("Integers to negative integer powers are not allowed.")
    with np.errstate(all="ignore"):
        return np.power(x, y)


@both
def pow(input: Any, exponent: Any) -> Tensor:
    """Return a power."""
    a, b = input, operand(exponent, "pow()")
    if isinstance(a, Tensor) and not isinstance(b, Tensor):
        return _to_a_number(a, b)

    def to_base(g: Tensor, _: Tensor) -> Tensor:
        slope = b * a ** (b - 1)
        return g * conj(slope.masked_fill(b == 0, 0.0) if isinstance(b, Tensor) else slope)

    def to_exponent(g: Tensor, r: Tensor) -> Tensor:
        logarithm = a.log() if isinstance(a, Tensor) else (math.log(a) if a > 0 else -math.inf)
        slope = r * logarithm
        zero = (a == 0) & (b >= 0) if isinstance(a, Tensor) else b >= 0
        if isinstance(a, Tensor) or a == 0:
            slope = slope.masked_fill(zero, 0.0)
        return g * conj(slope)

    name = "Pow1" if isinstance(a, Tensor) else "Pow2"
    return pairwise(name, a, b, _power, to_base, to_exponent, saves="abr")


def _to_a_number(a: Tensor, b: Any) -> Tensor:
    def compute(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        if b in (0, 1):
            return np.ones_like(x) if b == 0 else x.copy()
        if x.dtype.kind in "fc":
            with np.errstate(all="ignore"):
                if b == 2:
                    return x * x
                if b == 3:
                    return x * x * x
                if b == 0.5:
                    return np.sqrt(x)
                if b == -0.5:
                    return 1 / np.sqrt(x)
                if b == -1:
                    return 1 / x
                if b == -2:
                    return 1 / (x * x)
        return _power(x, y)

    def to_base(g: Tensor, _: Tensor) -> Tensor:
        if b == 0:
            return g * 0
        return g * conj(2 * a if b == 2 else b * a ** (b - 1))

    return pairwise("Pow", a, b, compute, to_base, to_base, saves="a")


@only_function
def float_power(input: Any, exponent: Any) -> Tensor:
    """Return a power, computed with 64 bits."""
    double = (x.double() if isinstance(x, Tensor) else x for x in (input, exponent))
    return pow(*double)


@both
def atan2(input: Tensor, other: Tensor) -> Tensor:
    """Return the angle of the point ``(other, input)``."""
    a, b = input, other
    return pairwise(
        "Atan2",
        a,
        b,
        np.arctan2,
        lambda g, _: g * (b / (a * a + b * b)),
        lambda g, _: g * (-a / (a * a + b * b)),
        floats=True,
        saves="ab",
    )


def _logaddexp(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    with np.errstate(all="ignore"):
        return np.logaddexp(x, y)


@both
def logaddexp(input: Tensor, other: Tensor) -> Tensor:
    """Return the logarithm of the sum of two exponentials."""
    a, b = input, other

    def share(x: Tensor, r: Tensor) -> Tensor:
        return (x - r).exp().nan_to_num(nan=0.0) if not x._rg else (x - r).exp()

    return pairwise(
        "Logaddexp", a, b, _logaddexp, lambda g, r: g * share(a, r), lambda g, r: g * share(b, r),
        saves="abr",
    )  # fmt: skip


def _xlogy(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    with np.errstate(all="ignore"):
        return np.where(np.isnan(y), y, np.where(x == 0, np.zeros((), y.dtype), x * np.log(y)))


@both
def xlogy(input: Any, other: Any) -> Tensor:
    """Return ``x log y``, which is 0 where ``x`` is 0."""
    a, b = input, operand(other, "xlogy()")

    def to_a(g: Tensor, _: Tensor) -> Tensor:
        logarithm = b.log() if isinstance(b, Tensor) else math.log(b)
        return (g * logarithm).masked_fill((a == 0) & (b <= 0), 0.0)

    return pairwise("Xlogy", a, b, _xlogy, to_a, lambda g, _: g * a / b, floats=True, saves="ab")


def _halves(g: Tensor, mine: Any, other: Any) -> Tensor:
    """Return a gradient that goes to the winner, and in halves where both are equal."""
    from .comparing import truth, where

    a, b = _array(mine), _array(other)
    return where(truth(np.equal(a, b)), g / 2, g)


def _array(x: Any) -> Any:
    return x._a if isinstance(x, Tensor) else x


@both
def maximum(input: Tensor, other: Tensor) -> Tensor:
    """Return the larger of two numbers."""
    a, b = input, other
    return pairwise(
        "Maximum",
        a,
        b,
        np.maximum,
        lambda g, _: _halves(g, a, b).masked_fill(a < b, 0.0),
        lambda g, _: _halves(g, a, b).masked_fill(b < a, 0.0),
        saves="ab",
    )


@both
def minimum(input: Tensor, other: Tensor) -> Tensor:
    """Return the smaller of two numbers."""
    a, b = input, other
    return pairwise(
        "Minimum",
        a,
        b,
        np.minimum,
        lambda g, _: _halves(g, a, b).masked_fill(a > b, 0.0),
        lambda g, _: _halves(g, a, b).masked_fill(b > a, 0.0),
        saves="ab",
    )


@both
def lerp(input: Tensor, end: Tensor, weight: Any) -> Tensor:
    """Return the point between two, ``weight`` of the way from the first."""
    if input._dtype is not end._dtype:
        raise RuntimeError(f"expected dtype {input._dtype} for `end` but got dtype {end._dtype}")
    return input + weight * (end - input)


@both
def addcmul(input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: Any = 1) -> Tensor:
    """Return the first plus ``value`` times the product of two others."""
    product = tensor1 * tensor2
    return input + (product if value == 1 else value * product)


@both
def addcdiv(input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: Any = 1) -> Tensor:
    """Return the first plus ``value`` times the quotient of two others."""
    quotient = tensor1 / tensor2
    return input + (quotient if value == 1 else value * quotient)
