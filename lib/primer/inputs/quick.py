"""Tests that a good value passes within a microsecond; what they doubt is looked at slowly.

Each is made once for a hint, takes a value and the axes seen so far, and says True only where
:func:`primer.inputs.hints.fits` would say so and no number is NaN or infinite.
"""

from __future__ import annotations

import math
import types
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any, Literal, get_args, get_origin

import numpy as np

from primer.inputs.given import is_tensor
from primer.inputs.hints import is_array, is_float, is_open, is_protocol, parts_of
from primer.inputs.tensors import holds_finite

Axes = dict[str, Any]
"""How long each axis is that has a name, and the shapes that stand for ``*name``."""
Test = Callable[[Any, Axes], bool]

ENTRIES: dict[Any, set[type]] = {
    int: {int},
    float: {int, float},
    str: {str},
    bytes: {bytes},
    bool: {bool},
}
ROWS = {Sequence: (list, tuple), Collection: (list, tuple), Iterable: (list, tuple), list: (list,)}


def quick_test(hint: Any, *, infinite: bool = False) -> Test:
    """Make the quick test of a hint.

    Parameters
    ----------
    hint : hint
        As ``typing.get_type_hints`` gives it.
    infinite : bool
        Whether infinity is allowed; then numbers are looked at slowly.

    Returns
    -------
    callable
        ``(value, axes) -> bool``; False only says that it is not sure.
    """
    tests = [_single(part, infinite=infinite) for part in parts_of(hint)]
    if len(tests) == 1:
        return tests[0]
    return lambda value, axes: any(test(value, axes) for test in tests)


def _single(hint: Any, *, infinite: bool) -> Test:
    """Make the quick test of a hint that is no union."""
    origin, parts = get_origin(hint), get_args(hint)
    if is_array(hint):
        return _never if infinite else _array(hint)
    if hint is float:
        return _never if infinite else _is_number
    if is_open(hint):
        return lambda value, axes: not isinstance(value, np.ma.MaskedArray) and finite(value)
    if hint in (int, str, bytes, bool, type(None)):
        return lambda value, axes: type(value) is hint
    if origin is Literal:
        words = {part for part in parts if isinstance(part, str)}
        return lambda value, axes: type(value) is str and value in words
    if origin is tuple and Ellipsis not in parts:
        tests = [quick_test(part, infinite=infinite) for part in parts]
        return lambda value, axes: (
            type(value) is tuple
            and len(value) == len(tests)
            and all(test(entry, axes) for test, entry in zip(tests, value, strict=True))
        )
    if origin in ROWS or origin is tuple:
        return _row(ROWS.get(origin, (tuple,)), parts[0], infinite=infinite)
    if origin is Callable:
        return _function(parts[0])
    if isinstance(hint, type) and issubclass(hint, tuple) and hasattr(hint, "_fields"):
        return lambda value, axes: type(value) is hint and finite(value) and not _masked(value)
    if isinstance(hint, type) and not _holds_numbers(hint):
        return lambda value, axes: isinstance(value, hint)
    return _never


def _never(value: Any, axes: Axes) -> bool:
    return False


def _masked(value: Any) -> bool:
    """Say whether something in a named tuple is a masked array."""
    if isinstance(value, list | tuple):
        return any(map(_masked, value))
    return isinstance(value, np.ma.MaskedArray)


def _holds_numbers(hint: type) -> bool:
    """Say whether entries are to be looked at, or the class is none that can be asked."""
    known = (list, tuple, np.ndarray, float, int, str, bytes)
    return issubclass(hint, known) or hasattr(hint, "detach") or is_protocol(hint)


def _is_number(value: Any, axes: Axes) -> bool:
    kind = type(value)
    return math.isfinite(value) if kind is float else kind is int and is_float(value)


def _finite_number(value: float) -> bool:
    """Say whether a number, also a whole one, is a finite floating-point number."""
    return is_float(value) if type(value) is int else math.isfinite(value)


def _row(kinds: tuple[type, ...], entry: Any, *, infinite: bool) -> Test:
    """Make the test of lists and tuples whose entries are alike."""
    if entry in ENTRIES and not infinite:
        allowed = ENTRIES[entry]
        return lambda value, axes: (
            type(value) in kinds
            and set(map(type, value)) <= allowed
            and (entry is not float or all(map(_finite_number, value)))
        )
    test = quick_test(entry, infinite=infinite)
    return lambda value, axes: type(value) in kinds and all(test(one, axes) for one in value)


def _function(arguments: Any) -> Test:
    """Make the test of functions: those written in Python say how many arguments they take.

    Of a class it is not known what it makes.
    """
    if arguments is Ellipsis:
        return lambda value, axes: callable(value) and not isinstance(value, type)
    taken = len(arguments)

    def test(value: Any, axes: Axes) -> bool:
        if type(value) is types.FunctionType:
            code = value.__code__
            return code.co_argcount == taken and code.co_kwonlyargcount == 0
        return False

    return test


def _array(hint: Any) -> Test:
    """Make the quick test of one of jaxtyping's hints."""
    kind, fits = hint.array_type, shape_test(hint.dim_str)
    if fits is None:
        return _never
    look = _finite_array if kind is np.ndarray else _finite_tensor
    allowed = hint.dtypes if isinstance(hint.dtypes, tuple) else None
    known: dict[Any, bool] = {}  # whether a dtype is allowed
    tensors = kind is not np.ndarray

    def test(value: Any, axes: Axes) -> bool:
        if not isinstance(value, kind) or isinstance(value, np.ma.MaskedArray):
            return False
        if (right := known.get(value.dtype)) is None:
            name = str(value.dtype).removeprefix("torch.")
            right = known[value.dtype] = allowed is None or name in allowed
        if tensors and (value.is_sparse or axes.setdefault("", value.is_meta) != value.is_meta):
            return False
        return right and fits(value.shape, axes) and look(value)

    return test


def shape_test(axes_of_hint: str) -> Callable[[tuple[int, ...], Axes], bool] | None:
    """Make the test of a shape, whose names stand as in jaxtyping; None for what it cannot read.

    Examples
    --------
    >>> fits, axes = shape_test("n p"), {}
    >>> fits((4, 2), axes), axes, fits((3, 2), axes)
    (True, {'n': 4, 'p': 2}, False)
    """
    dims = axes_of_hint.split()
    plain = [name for name in dims if name != "..." and not name.startswith("*")]
    if not all(name.isidentifier() or name.isdigit() for name in plain):
        return None
    many = next((place for place, name in enumerate(dims) if name not in plain), None)
    before, after = (dims, []) if many is None else (dims[:many], dims[many + 1 :])
    first, last = [*map(_length, before)], [*map(_length, reversed(after))]
    named = "" if many is None else dims[many].strip(".")
    least = len(plain)

    def fits(shape: tuple[int, ...], axes: Axes) -> bool:
        if len(shape) != least if many is None else len(shape) < least:
            return False
        for name, size in zip(first, shape, strict=False):
            if name is not None and size != (
                axes.setdefault(name, size) if type(name) is str else name
            ):
                return False
        for name, size in zip(last, shape[::-1] if last else (), strict=False):
            if name is not None and size != (
                axes.setdefault(name, size) if type(name) is str else name
            ):
                return False
        middle = shape[len(before) : len(shape) - len(after)] if named else ()
        return not named or axes.setdefault(named, middle) == middle

    return fits


def _length(name: str) -> str | int | None:
    """Give the name that an axis shares with others, the number that it has, or nothing."""
    return int(name) if name.isdigit() else None if name == "_" else name


def _finite_array(value: Any) -> bool:
    return value.dtype.kind not in "fc" or bool(np.isfinite(value).all())


def _finite_tensor(value: Any) -> bool:
    return not value.is_floating_point() or holds_finite(value)


def finite(value: Any) -> bool:
    """Say whether a result is surely finite: a number, an array, a tensor or several of them.

    Examples
    --------
    >>> finite(2.5), finite(np.array([1.0, np.nan])), finite((1, "a", {"b": [0.5]}))
    (True, False, True)
    """
    kind = type(value)
    if kind is float:
        return math.isfinite(value)
    if kind in (int, str, bytes, bool, type(None)):
        return True
    if isinstance(value, np.ndarray):
        return _finite_array(value)
    if is_tensor(value):
        return _finite_tensor(value)
    if isinstance(value, list | tuple):
        kinds = set(map(type, value))
        if kinds <= {int, str, bytes, bool}:
            return True
        return all(map(_finite_number if kinds <= {int, float} else finite, value))
    if kind is dict:
        return all(map(finite, value.values()))
    return not isinstance(value, float | np.floating)
