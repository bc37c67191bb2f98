"""What is computed number by number: arithmetic, powers, exponentials, their gradients."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from . import dtypes
from .dtypes import dtype
from .engine import in_place, record
from .naming import both, only_function, only_method
from .promotion import NUMBERS, arrays, finished, operand, shapes_meet, shrunk
from .special_functions import digamma_of, erf_of, erfinv_of, lgamma_of, trigamma_of
from .tensor import Tensor

Rule = Callable[..., Tensor]


def conj(x: Any) -> Any:
    """Return what a gradient is multiplied by: the number, or its complex conjugate."""
    if isinstance(x, Tensor):
        return x.conj() if x._dtype.kind == 3 else x
    return x.conjugate() if isinstance(x, complex) else x


# ---------------------------------------------------------------- two operands


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


# ---------------------------------------------------------------- one operand


def floating(x: Tensor) -> tuple[np.ndarray, dtype]:
    """Return a tensor's array in a floating-point kind."""
    if x._dtype.kind > 1:
        return x._a, x._dtype
    kind = dtypes.get_default_dtype()
    return x._a.astype(kind.array), kind


def _one(
    name: str,
    compute: Callable[[np.ndarray], np.ndarray],
    of_input: Rule | None = None,
    of_result: Rule | None = None,
    doc: str = "",
    also: tuple[str, ...] = (),
    node: str = "",
) -> Callable[..., Tensor]:
    """Make a function of one tensor that is computed in floating point."""

    def function(input: Tensor) -> Tensor:
        if not isinstance(input, Tensor):
            raise TypeError(
                f"{name}(): argument 'input' (position 1) must be Tensor, not "
                f"{type(input).__name__}"
            )
        x, kind = floating(input)
        half = kind is dtypes.float16
        with np.errstate(all="ignore"):
            out = finished(compute(x.astype(np.float32) if half else x), kind)
        if of_input is not None:
            rule = lambda g, _: shrunk(of_input(g, input), input)  # noqa: E731
            return record(out, kind, (input,), (rule,), node or name.capitalize(), (input,))
        rule = lambda g, r: shrunk(of_result(g, r), input)  # type: ignore[misc]  # noqa: E731
        return record(out, kind, (input,), (rule,), node or name.capitalize(), (), True)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    for one in (name, *also):
        _in_place_of(one, function)
    return both(function, also=also)


def _in_place_of(name: str, function: Callable[..., Tensor]) -> None:
    def change(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        return in_place(self, function, *args, **kwargs)

    change.__name__ = change.__qualname__ = f"{name}_"
    change.__doc__ = f"Do ``{name}`` in the tensor's own memory."
    only_method(change)


def _logistic(x: np.ndarray) -> np.ndarray:
    small = np.exp(-np.abs(x))
    return np.where(x >= 0, 1 / (1 + small), small / (1 + small))


exp = _one("exp", np.exp, of_result=lambda g, r: g * conj(r), doc="Return the exponential.")
exp2 = _one("exp2", np.exp2, of_result=lambda g, r: g * r * math.log(2), doc="Return 2 to a power.")
expm1 = _one("expm1", np.expm1, of_result=lambda g, r: g * (r + 1), doc="Return exp(x) - 1.")
log = _one("log", np.log, of_input=lambda g, x: g / conj(x), doc="Return the natural logarithm.")
log2 = _one(
    "log2", np.log2, lambda g, x: g / (x * math.log(2)), doc="Return the logarithm to base 2."
)
log10 = _one(
    "log10", np.log10, lambda g, x: g / (x * math.log(10)), doc="Return the logarithm to base 10."
)
log1p = _one("log1p", np.log1p, lambda g, x: g / (x + 1), doc="Return log(1 + x).")
sqrt = _one(
    "sqrt", np.sqrt, of_result=lambda g, r: g / (2 * conj(r)), doc="Return the square root."
)
rsqrt = _one(
    "rsqrt", lambda x: 1 / np.sqrt(x), of_result=lambda g, r: -0.5 * g * r**3,
    doc="Return one over the square root.",
)  # fmt: skip
reciprocal = _one(
    "reciprocal", lambda x: 1 / x, of_result=lambda g, r: -g * conj(r * r), doc="Return one over x."
)
sin = _one("sin", np.sin, lambda g, x: g * conj(x.cos()), doc="Return the sine.")
cos = _one("cos", np.cos, lambda g, x: g * conj(-x.sin()), doc="Return the cosine.")
tan = _one("tan", np.tan, of_result=lambda g, r: g * (1 + r * r), doc="Return the tangent.")
asin = _one(
    "asin", np.arcsin, lambda g, x: g * (1 - x * x).rsqrt(), doc="Return the inverse sine.",
    also=("arcsin",),
)  # fmt: skip
acos = _one(
    "acos", np.arccos, lambda g, x: -g * (1 - x * x).rsqrt(), doc="Return the inverse cosine.",
    also=("arccos",),
)  # fmt: skip
atan = _one(
    "atan", np.arctan, lambda g, x: g / (x * x + 1), doc="Return the inverse tangent.",
    also=("arctan",),
)  # fmt: skip
sinh = _one("sinh", np.sinh, lambda g, x: g * x.cosh(), doc="Return the hyperbolic sine.")
cosh = _one("cosh", np.cosh, lambda g, x: g * x.sinh(), doc="Return the hyperbolic cosine.")
tanh = _one(
    "tanh", np.tanh, of_result=lambda g, r: g * (1 - r * r), doc="Return the hyperbolic tangent."
)
asinh = _one(
    "asinh", np.arcsinh, lambda g, x: g * (x * x + 1).rsqrt(), doc="Return the inverse of sinh.",
    also=("arcsinh",),
)  # fmt: skip
acosh = _one(
    "acosh", np.arccosh, lambda g, x: g * (x * x - 1).rsqrt(), doc="Return the inverse of cosh.",
    also=("arccosh",),
)  # fmt: skip
atanh = _one(
    "atanh", np.arctanh, lambda g, x: g / (1 - x * x), doc="Return the inverse of tanh.",
    also=("arctanh",),
)  # fmt: skip
sigmoid = _one(
    "sigmoid", _logistic, of_result=lambda g, r: g * (1 - r) * r, doc="Return 1 / (1 + exp(-x)).",
    also=("expit",),
)  # fmt: skip
erf = _one(
    "erf", erf_of, lambda g, x: g * (2 / math.sqrt(math.pi)) * (-(x * x)).exp(),
    doc="Return the error function.",
)  # fmt: skip
erfc = _one(
    "erfc", lambda x: erf_of(x, complement=True),
    lambda g, x: g * (-2 / math.sqrt(math.pi)) * (-(x * x)).exp(),
    doc="Return one less the error function.",
)  # fmt: skip
erfinv = _one(
    "erfinv", erfinv_of, of_result=lambda g, r: g * (math.sqrt(math.pi) / 2) * (r * r).exp(),
    doc="Return the inverse of the error function.",
)  # fmt: skip
trigamma = _one(
    "trigamma",
    trigamma_of,
    lambda g, x: _no_third(g),
    doc="Return the second derivative of lgamma.",
)
digamma = _one(
    "digamma", digamma_of, lambda g, x: g * trigamma(x), doc="Return the derivative of lgamma."
)
lgamma = _one(
    "lgamma", lgamma_of, lambda g, x: g * digamma(x),
    doc="Return the logarithm of the absolute value of the gamma function.",
)  # fmt: skip


def _no_third(gradient: Tensor) -> Tensor:
    raise NotImplementedError(
        "torch in this page has no derivative of trigamma; run this chapter in Jupyter"
    )


def _keeping(
    name: str,
    compute: Callable[[np.ndarray], np.ndarray],
    rule: Callable[[Tensor, Tensor], Tensor],
    doc: str,
    also: tuple[str, ...] = (),
    node: str = "",
) -> Callable[..., Tensor]:
    """Make a function of one tensor whose result has the same kind of numbers."""

    def function(input: Tensor) -> Tensor:
        if not isinstance(input, Tensor):
            raise TypeError(
                f"{name}(): argument 'input' (position 1) must be Tensor, not "
                f"{type(input).__name__}"
            )
        with np.errstate(all="ignore"):
            out = finished(compute(input._a), input._dtype)
        back = lambda g, _: rule(g, input)  # noqa: E731
        return record(out, input._dtype, (input,), (back,), node or name.capitalize(), (input,))

    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    for one in (name, *also):
        _in_place_of(one, function)
    return both(function, also=also)


def _negated(x: np.ndarray) -> np.ndarray:
    if x.dtype == np.bool_:
        raise RuntimeError(
            "Negation, the `-` operator, on a bool tensor is not supported. If you are trying to "
            "invert "
            "a mask, use the `~` or `logical_not()` operator instead."
        )
    return np.negative(x)


def _flat(g: Tensor, _: Tensor) -> Tensor:
    return g.new_zeros(g.shape)


neg = _keeping("neg", _negated, lambda g, x: -g, "Return the negative.", also=("negative",))
sign = _keeping("sign", np.sign, _flat, "Return -1, 0 or 1.")
floor = _keeping("floor", np.floor, _flat, "Return the whole number below.")
ceil = _keeping("ceil", np.ceil, _flat, "Return the whole number above.")
trunc = _keeping("trunc", np.trunc, _flat, "Return the whole part.", also=("fix",))
frac = _keeping(
    "frac", lambda x: x - np.trunc(x), lambda g, x: g, "Return the part behind the point."
)
relu = _keeping(
    "relu", lambda x: np.maximum(x, np.zeros((), x.dtype)), lambda g, x: g.masked_fill(x <= 0, 0.0),
    "Return the number where it is positive, else 0.",
)  # fmt: skip
positive = only_function(lambda input: input)


@both
def square(input: Tensor) -> Tensor:
    """Return the square."""
    return input**2


@both(also=("absolute",))
def abs(input: Tensor) -> Tensor:
    """Return the absolute value."""
    kind = input._dtype.to_real() if input._dtype.kind == 3 else input._dtype
    out = finished(np.abs(input._a), kind)
    if kind is input._dtype:
        return record(out, kind, (input,), (lambda g, _: g * input.sign(),), "Abs", (input,))

    def rule(g: Tensor, r: Tensor) -> Tensor:
        size = r.masked_fill(r == 0, 1.0)
        return g * (input / size)

    return record(out, kind, (input,), (rule,), "Abs", (input,), True)


_in_place_of("abs", abs)
_in_place_of("square", square)


@both
def round(input: Tensor, *, decimals: int = 0) -> Tensor:
    """Return the nearest whole number, of two the even one, or so many decimals."""
    x = input._a
    if decimals:
        scale = x.dtype.type(10.0 ** math.fabs(decimals))
        out = np.rint(x * scale) / scale if decimals > 0 else np.rint(x / scale) * scale
    else:
        out = np.rint(x) if x.dtype.kind == "f" else x.copy()
    out = finished(out, input._dtype)
    return record(out, input._dtype, (input,), (_flat,), "Round")


_in_place_of("round", round)


@both
def nan_to_num(
    input: Tensor, nan: float = 0.0, posinf: float | None = None, neginf: float | None = None
) -> Tensor:
    """Return the numbers with NaN and infinities replaced."""
    x = input._a
    if x.dtype.kind != "f":
        return input.clone()
    limits = dtypes.finfo(input._dtype)
    top = limits.max if posinf is None else posinf
    low = limits.min if neginf is None else neginf
    out = np.where(
        np.isnan(x), nan, np.where(np.isposinf(x), top, np.where(np.isneginf(x), low, x))
    )
    out = out.astype(x.dtype)
    usual = Tensor.isfinite(input)
    return record(
        out, input._dtype, (input,), (lambda g, _: g.masked_fill(~usual, 0.0),), "NanToNum"
    )


@only_function
def deg2rad(input: Tensor) -> Tensor:
    """Return degrees in radians."""
    return input * (math.pi / 180)


@only_function
def rad2deg(input: Tensor) -> Tensor:
    """Return radians in degrees."""
    return input * (180 / math.pi)


@both
def logit(input: Tensor, eps: float | None = None) -> Tensor:
    """Return ``log(x / (1 - x))``, with ``x`` kept ``eps`` away from 0 and 1."""
    if eps is not None:
        input = input.clamp(eps, 1 - eps)
    return (input / (1 - input)).log()


@only_function
def sinc(input: Tensor) -> Tensor:
    """Return ``sin(πx) / (πx)``, which is 1 at 0."""
    at = (input * math.pi).masked_fill(input == 0, 1.0)
    return (at.sin() / at).masked_fill(input == 0, 1.0)


@only_function
def hypot(input: Tensor, other: Tensor) -> Tensor:
    """Return the hypotenuse."""
    return (input * input + other * other).sqrt()


# ---------------------------------------------------------------- bits


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
    _in_place_of(name, function)
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
    _in_place_of(_function.__name__, _function)
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
