"""Whether a value is what a hint says, and whether its numbers are finite."""

from __future__ import annotations

import inspect
import math
import sys
import types
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import islice, repeat
from typing import (
    Any,
    Literal,
    TypeVar,
    Union,
    get_args,
    get_origin,
    no_type_check,
)

import numpy as np
from jaxtyping import AbstractArray, jaxtyped
from numpy.typing import ArrayLike

from primer.inputs.given import is_tensor

LOOKED_AT = 100_000  # entries of a list or tuple
LARGEST = sys.float_info.max
CONTAINERS = (Sequence, Mapping, Collection, Iterable, list, tuple, dict)


def is_open(hint: Any) -> bool:
    """Say whether a hint leaves to the function what is allowed."""
    parts = parts_of(hint)
    return (
        Any in parts
        or set(parts_of(ArrayLike)) <= set(parts)  # a union, or from Python 3.12 on one name
        or any(isinstance(part, TypeVar) for part in parts)
    )


def parts_of(hint: Any) -> tuple[Any, ...]:
    """Give the hints of which one must hold."""
    return get_args(hint) if get_origin(hint) in (Union, types.UnionType) else (hint,)


@no_type_check  # where calls are checked, this one would forget the axes that it has seen
def fits(value: Any, hint: Any) -> bool:
    """Say whether a value is what a hint says."""
    origin, parts = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        return any(fits(value, part) for part in parts)
    if hint is int:
        return isinstance(value, int | np.integer) and not isinstance(value, bool)
    if hint is float:
        if is_tensor(value) or isinstance(value, np.ndarray):
            kinds = {"int", "uint", "float", "bfloat"}
            return value.ndim == 0 and str(value.dtype).split(".")[-1].rstrip("0123456789") in kinds
        if isinstance(value, int):
            return not isinstance(value, bool) and is_float(value)
        return isinstance(value, float | np.integer | np.floating)
    if origin is Literal:
        return any(value is part or (type(value) is type(part) and value == part) for part in parts)
    if origin is Callable:
        return callable(value) and takes(value, parts[0]) and _makes(value, parts[1])
    if origin in CONTAINERS:
        text = str if isinstance(value, str) else int if isinstance(value, bytes) else None
        if not isinstance(value, origin) or (text is not None and parts[0] is not text):
            return False
        if isinstance(value, dict) and len(parts) == 2:
            pairs = islice(value.items(), LOOKED_AT)
            return all(fits(key, parts[0]) and _by_itself(entry, parts[1]) for key, entry in pairs)
        entries = value[:LOOKED_AT] if isinstance(value, list | tuple) else ()
        fixed = origin is tuple and Ellipsis not in parts
        if fixed and len(value) != len(parts):
            return False
        if parts[0] in (int, float) and set(map(type, entries)) <= {parts[0]}:  # most, and quickly
            return True
        return all(map(fits, entries, parts if fixed else repeat(parts[0])))
    if is_open(hint):
        return True
    try:  # a class has what a protocol asks of its objects, and is none of them
        return isinstance(value, hint) and not (isinstance(value, type) and is_protocol(hint))
    except TypeError:  # a protocol that cannot be asked: the function finds out
        return True


def is_float(whole: int) -> bool:
    """Say whether a whole number is small enough for a floating-point number.

    Examples
    --------
    >>> is_float(10**308), is_float(-(10**309))
    (True, False)
    """
    return -LARGEST <= whole <= LARGEST


def _by_itself(entry: Any, hint: Any) -> bool:
    """Say whether an entry of a mapping fits; the layers of a model have widths of their own."""
    with jaxtyped("context"):
        return fits(entry, hint)


def _makes(function: Callable[..., Any], result: Any) -> bool:
    """Say whether a class, which is called to make an object, makes what a function is to return.

    ``torch.nn.ReLU`` is a function that returns a module; ``numpy.ndarray`` called with numbers is
    a mistake, of which some classes end the interpreter.
    """
    if not isinstance(function, type):
        return True
    if issubclass(function, np.ndarray) or hasattr(function, "detach"):
        return False
    try:
        return isinstance(result, type) and not is_array(result) and issubclass(function, result)
    except TypeError:  # a protocol that cannot be asked
        return True


def is_function(value: Any, arguments: Any) -> bool:
    """Say whether a value can be called with such arguments to compute something; no class can."""
    return callable(value) and not isinstance(value, type) and takes(value, arguments)


def takes(function: Callable[..., Any], arguments: Any) -> bool:
    """Say whether a function can be called with as many arguments as its hint has."""
    if arguments is Ellipsis:
        return True
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # written in C, and it does not tell
        return True
    try:
        signature.bind(*arguments)
    except TypeError:
        return False
    return True


def not_finite(value: Any, *, infinite: bool) -> str:
    """Name the first NaN, or infinity unless it is allowed, and its place."""
    if isinstance(value, float | np.floating):
        return str(value) if math.isnan(value) or (math.isinf(value) and not infinite) else ""
    if type(value) is dict:
        places = ((key, not_finite(entry, infinite=infinite)) for key, entry in value.items())
        return next((f"{broken} for {key!r}" for key, broken in places if broken), "")
    if isinstance(value, list | tuple):
        if set(map(type, value)) <= {int, str, bytes, bool}:
            return ""
        entries = enumerate(islice(value, LOOKED_AT))
        places = ((i, not_finite(entry, infinite=infinite)) for i, entry in entries)
        return next((f"{broken} in entry {i}" for i, broken in places if broken), "")
    if is_tensor(value):
        if value.is_meta or not value.is_floating_point() or bool(value.isfinite().all()):
            return ""  # a tensor on "meta" has a shape and no numbers
        value = value.detach().double().numpy(force=True)
    if not isinstance(value, np.ndarray) or value.dtype.kind not in "fc":
        return ""
    broken = np.isnan(value) if infinite else ~np.isfinite(value)
    if not broken.any():
        return ""
    index = np.argwhere(broken)[0].tolist()
    return f"{value[broken][0]}" + (f" at {index}" if index else "")


def container(hint: Any) -> Any:
    """Give list or tuple where a hint allows one, to look at its entries; nothing else."""
    origin = get_origin(hint)
    if origin in (list, tuple):
        return origin
    return (list, tuple) if origin in (Sequence, Collection, Iterable) else ()


def is_protocol(hint: Any) -> bool:
    """Say whether a hint is a protocol, which says what an object must have."""
    return getattr(hint, "_is_protocol", False)


def is_array(hint: Any) -> bool:
    """Say whether a hint is one of jaxtyping's."""
    return isinstance(hint, type) and issubclass(hint, AbstractArray)
