"""What is computed from one number: exponentials, logarithms, trigonometry, rounding."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from . import dtypes
from .dtypes import dtype
from .engine import in_place, record
from .naming import both, only_function, only_method
from .pairs import conj
from .promotion import finished, shrunk
from .special_functions import digamma_of, erf_of, erfinv_of, lgamma_of, trigamma_of
from .tensor import Tensor

Rule = Callable[..., Tensor]


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
        in_place_of(one, function)
    return both(function, also=also)


def in_place_of(name: str, function: Callable[..., Tensor]) -> None:
    """Make a method that does the same in the tensor's own memory."""

    def change(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        return in_place(self, function, *args, **kwargs)

    change.__name__ = change.__qualname__ = f"{name}_"
    change.__doc__ = f"Do ``{name}`` in the tensor's own memory."
    only_method(change)


def _logistic(x: np.ndarray) -> np.ndarray:
    small = np.exp(-np.abs(x))
    return np.where(x >= 0, np.ones((), x.dtype), small) / (1 + small)


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
        in_place_of(one, function)
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


in_place_of("abs", abs)
in_place_of("square", square)


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


in_place_of("round", round)


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
