"""Kinds of numbers, what two of them make together, and how those that NumPy lacks are rounded.

NumPy has no bfloat16 and no float8.  Their numbers are kept in float32, each rounded to the nearest
number that the kind has, so that arithmetic gives what torch gives: computed in float32, then
rounded.
"""

from __future__ import annotations

import builtins
import math
from typing import Any

import numpy as np


class dtype:
    """A kind of number: its name, the array that holds it, and its bytes in torch."""

    def __init__(self, name: str, array: str, kind: int, itemsize: int, mantissa: int = 0) -> None:
        self.name = name
        self.array = np.dtype(array)
        self.kind = kind  # 0 truth values, 1 whole numbers, 2 floating point, 3 complex
        self.itemsize = itemsize
        self.mantissa = mantissa  # bits behind the point, where this module has to round
        self.is_floating_point = kind == 2
        self.is_complex = kind == 3
        self.is_signed = name not in ("bool", "uint8", "uint16", "uint32", "uint64")
        self.rounded = mantissa > 0

    def __repr__(self) -> str:
        return f"torch.{self.name}"

    def __reduce__(self) -> tuple[Any, ...]:
        return by_name, (self.name,)

    def __copy__(self) -> dtype:
        return self

    def __deepcopy__(self, memo: Any) -> dtype:
        return self

    def to_complex(self) -> dtype:
        """Return the complex kind with parts of this kind."""
        return self if self.is_complex else complex128 if self is float64 else complex64

    def to_real(self) -> dtype:
        """Return the kind of the parts of this complex kind."""
        return {complex64: float32, complex128: float64}.get(self, self)


dtype.__module__ = "torch"

float32 = dtype("float32", "f4", 2, 4)
float64 = dtype("float64", "f8", 2, 8)
float16 = dtype("float16", "f2", 2, 2)
bfloat16 = dtype("bfloat16", "f4", 2, 2, mantissa=7)
float8_e4m3fn = dtype("float8_e4m3fn", "f4", 2, 1, mantissa=3)
float8_e5m2 = dtype("float8_e5m2", "f4", 2, 1, mantissa=2)
int8 = dtype("int8", "i1", 1, 1)
int16 = dtype("int16", "i2", 1, 2)
int32 = dtype("int32", "i4", 1, 4)
int64 = dtype("int64", "i8", 1, 8)
uint8 = dtype("uint8", "u1", 1, 1)
uint16 = dtype("uint16", "u2", 1, 2)
uint32 = dtype("uint32", "u4", 1, 4)
uint64 = dtype("uint64", "u8", 1, 8)
bool_ = dtype("bool", "?", 0, 1)
complex64 = dtype("complex64", "c8", 3, 8)
complex128 = dtype("complex128", "c16", 3, 16)

EXACT = (float32, float64, float16, int8, int16, int32, int64, uint8, uint16, uint32, uint64)
EXACT = (*EXACT, bool_, complex64, complex128)
ROUNDED = (bfloat16, float8_e4m3fn, float8_e5m2)
OF_ARRAY = {kind.array: kind for kind in EXACT}
EIGHTS = (float8_e4m3fn, float8_e5m2)


def by_name(name: str) -> dtype:
    """Return the kind of a name, which is how a kind is copied and pickled."""
    return next(kind for kind in EXACT + ROUNDED if kind.name == name)


def of_array(array: np.ndarray) -> dtype:
    """Return the kind that a NumPy array has in torch, or refuse."""
    found = OF_ARRAY.get(array.dtype) or OF_ARRAY.get(array.dtype.newbyteorder("="))
    if found is None:
        raise TypeError(
            f"can't convert np.ndarray of type {array.dtype}. The only supported types are: "
            f"float64, "
            "float32, float16, complex64, complex128, int64, int32, int16, int8, uint64, uint32, "
            "uint16, uint8, and bool."
        )
    return found


# ---------------------------------------------------------------- what is taken when nothing is
# said

_default = [float32]


def set_default_dtype(kind: dtype) -> None:
    """Choose the kind of floating-point numbers that are made when nothing else is said."""
    if not isinstance(kind, dtype) or not kind.is_floating_point:
        raise TypeError(f"only floating-point types are supported as the default type, got {kind}")
    _default[0] = kind


def get_default_dtype() -> dtype:
    """Return the kind of floating-point numbers that are made when nothing else is said."""
    return _default[0]


def default_complex() -> dtype:
    """Return the complex kind that fits the default."""
    return _default[0].to_complex()


# ---------------------------------------------------------------- what two kinds make together

_WIDTH = {float16: 1, bfloat16: 1, float32: 2, float64: 3, complex64: 2, complex128: 3}


def promote_types(a: dtype, b: dtype) -> dtype:
    """Return the smallest kind that holds the numbers of both, in torch's order."""
    if a is b:
        return a
    if a in EIGHTS or b in EIGHTS:
        raise RuntimeError(
            f"Promotion for Float8 Types is not supported, attempted to promote {_cased(a)} and "
            f"{_cased(b)}"
        )
    if a.kind < b.kind:
        a, b = b, a
    if a.kind == 3:
        if b.kind < 2 or b is float16 or b is bfloat16:
            return a
        return complex128 if _WIDTH[a] == 3 or _WIDTH[b] == 3 else complex64
    if a.kind == 2:
        if b.kind < 2:
            return a
        if _WIDTH[a] == _WIDTH[b]:
            return float32  # float16 and bfloat16: neither holds the other
        return a if _WIDTH[a] > _WIDTH[b] else b
    if b.kind == 0:
        return a
    if a.is_signed == b.is_signed:
        return a if a.itemsize >= b.itemsize else b
    signed, other = (a, b) if a.is_signed else (b, a)
    if other is not uint8:
        raise RuntimeError(
            f"Promotion for uint16, uint32, uint64 types is not supported, attempted to promote "
            f"{_cased(a)} and {_cased(b)}"
        )
    return int16 if signed is int8 else signed


def _cased(kind: dtype) -> str:
    """Return torch's inner name of a kind, as its messages have it."""
    names = {"bool": "Bool", "float32": "Float", "float64": "Double", "float16": "Half"}
    names |= {"int8": "Char", "int16": "Short", "int32": "Int", "int64": "Long", "uint8": "Byte"}
    names |= {"bfloat16": "BFloat16", "complex64": "ComplexFloat", "complex128": "ComplexDouble"}
    return names.get(kind.name, kind.name[0].upper() + kind.name[1:])


cased = _cased


def of_scalar(number: Any) -> dtype:
    """Return the kind that a Python number has by itself."""
    if isinstance(number, (builtins.bool, np.bool_)):
        return bool_
    if isinstance(number, (int, np.integer)):
        return int64
    if isinstance(number, (float, np.floating)):
        return _default[0]
    if isinstance(number, (complex, np.complexfloating)):
        return default_complex()
    raise TypeError(f"a number is needed here, got {type(number).__name__}")


# ---------------------------------------------------------------- rounding


def rounded(array: np.ndarray, kind: dtype) -> np.ndarray:
    """Round float32 numbers to the nearest that a kind has, ties to even.

    What is too large for ``float8_e4m3fn``, which has no infinity, becomes its largest number, as
    in torch.

    Examples
    --------
    >>> rounded(np.float32([1.01, 3.14159]), bfloat16)
    array([1.0078125, 3.140625 ], dtype=float32)
    >>> rounded(np.float32([3.3, 500.0]), float8_e4m3fn)
    array([  3.25, 448.  ], dtype=float32)
    """
    array = np.asarray(array, dtype=np.float32)
    if kind is bfloat16:
        bits = np.ascontiguousarray(array).reshape(array.shape).view(np.uint32)
        up = ((bits >> np.uint32(16)) & np.uint32(1)) + np.uint32(0x7FFF)
        near = ((bits + up) & np.uint32(0xFFFF0000)).view(np.float32)
        return np.where(np.isnan(array), np.float32(np.nan), near)
    lowest, largest = (-6, 448.0) if kind is float8_e4m3fn else (-14, 57344.0)
    with np.errstate(all="ignore"):
        exponent = np.frexp(array)[1] - 1
        unit = np.ldexp(np.float32(1), np.maximum(exponent, lowest) - kind.mantissa)
        near = (np.rint(array / unit) * unit).astype(np.float32)
        beyond = np.copysign(np.float32(448 if kind is float8_e4m3fn else np.inf), array)
        near = np.where(np.abs(near) > largest, beyond, near)
    return np.where(np.isinf(array), beyond, near).astype(np.float32)


def cast(array: np.ndarray, kind: dtype) -> np.ndarray:
    """Return an array's numbers in another kind; whole numbers are cut off towards zero."""
    with np.errstate(all="ignore"):
        if kind.rounded:
            return rounded(array, kind)
        if array.dtype.kind == "c" and kind.kind < 3:
            array = array.real
        if array.dtype.kind == "f" and kind.kind == 1:
            # beyond 64 bits torch gives the lowest number on the processors that it is built for
            return array.astype(np.int64).astype(kind.array)
        return array.astype(kind.array)


def to_bytes(array: np.ndarray, kind: dtype) -> np.ndarray:
    """Return an array as torch keeps it: rounded kinds as whole numbers of 8 or 16 bits."""
    if not kind.rounded:
        return np.ascontiguousarray(array).reshape(array.shape)
    flat = np.ascontiguousarray(array, dtype=np.float32)
    if kind is bfloat16:
        return (flat.view(np.uint32) >> np.uint32(16)).astype(np.uint16).reshape(array.shape)
    table = _eights(kind)
    order = np.argsort(table[:128], kind="stable")
    magnitude = order[np.searchsorted(table[:128][order], np.abs(flat))] % 128
    magnitude = np.where(np.isnan(flat), 127, magnitude)
    return (magnitude + np.where(np.signbit(flat), 128, 0)).astype(np.uint8).reshape(array.shape)


def from_bytes(array: np.ndarray, kind: dtype) -> np.ndarray:
    """Return the numbers that torch means by whole numbers of 8 or 16 bits."""
    if kind is bfloat16:
        return (array.astype(np.uint32) << np.uint32(16)).view(np.float32)
    return _eights(kind)[array.astype(np.intp)]


def _eights(kind: dtype) -> np.ndarray:
    """Return the 256 numbers of a kind of 8 bits."""
    code = np.arange(256)
    m, bias = kind.mantissa, 7 if kind is float8_e4m3fn else 15
    exponent, fraction = (code & 127) >> m, (code & ((1 << m) - 1)) / (1 << m)
    size = np.where(
        exponent == 0, fraction * 2.0 ** (1 - bias), (1 + fraction) * 2.0 ** (exponent - bias)
    )
    if kind is float8_e4m3fn:
        size = np.where((code & 127) == 127, np.nan, size)
    else:
        size = np.where(exponent == 31, np.where(fraction == 0, np.inf, np.nan), size)
    return np.where(code > 127, -size, size).astype(np.float32)


# ---------------------------------------------------------------- limits


class finfo:
    """What floating-point numbers of a kind can hold: ``eps``, ``max``, ``min``, ``tiny``."""

    def __init__(self, type: dtype | None = None) -> None:
        kind = _default[0] if type is None else type
        if kind.kind < 2:
            raise TypeError(
                f"torch.finfo() requires a floating point input type. Use torch.iinfo to handle "
                f"'{kind}'"
            )
        kind = kind.to_real()
        self.dtype, self.bits = kind.name, 8 * kind.itemsize
        if kind.rounded:
            least, top = {bfloat16: (-126, 127), float8_e4m3fn: (-6, 8), float8_e5m2: (-14, 15)}[
                kind
            ]
            self.eps = 2.0**-kind.mantissa
            self.max = 448.0 if kind is float8_e4m3fn else (2 - self.eps) * 2.0**top
            self.tiny = 2.0**least
        else:
            limits = np.finfo(kind.array)
            self.eps, self.max, self.tiny = float(limits.eps), float(limits.max), float(limits.tiny)
        self.min, self.smallest_normal = -self.max, self.tiny
        self.resolution = 10.0 ** math.floor(math.log10(self.eps) + 1)

    def __repr__(self) -> str:
        numbers = ("resolution", "min", "max", "eps", "smallest_normal", "tiny")
        said = ", ".join(f"{name}={getattr(self, name):g}" for name in numbers)
        return f"finfo({said}, dtype={self.dtype})"


class iinfo:
    """What a kind of whole numbers can hold: ``min``, ``max`` and ``bits``."""

    def __init__(self, type: dtype) -> None:
        if type.kind != 1:
            raise TypeError(
                f"torch.iinfo() requires an integer input type. Use torch.finfo to handle '{type}'"
            )
        limits = np.iinfo(type.array)
        self.min, self.max, self.bits, self.dtype = limits.min, limits.max, limits.bits, type.name

    def __repr__(self) -> str:
        return f"iinfo(min={self.min:g}, max={self.max:g}, dtype={self.dtype})"
