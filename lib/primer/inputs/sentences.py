"""Say in a sentence where a value differs from its hint: given, allowed, and what to do."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, Literal, TypeVar, get_args, get_origin

import numpy as np
from jaxtyping import jaxtyped

from primer.inputs.arrays import laid_out
from primer.inputs.given import LONG, given, is_tensor
from primer.inputs.hints import (
    CONTAINERS,
    container,
    fits,
    is_array,
    is_protocol,
    not_finite,
    parts_of,
)

# By name, so that topics which need no torch do not wait for it.
ADVICE = {
    "numpy.random._generator.Generator": "NumPy's random generator, numpy.random.default_rng(seed)",
    "torch._C.Generator": "torch's random generator, torch.Generator().manual_seed(seed)",
    "torch.nn.modules.module.Module": "a model, a torch.nn.Module",
    "torch.Tensor": "a tensor",
    "numpy.ndarray": "a NumPy array",
    "builtins.int": "a whole number",
    "builtins.float": "one finite number",
    "builtins.str": "a text",
    "builtins.bytes": "bytes",
    "builtins.bool": "True or False",
    "builtins.NoneType": "None",
}
TOO_LARGE = (
    *("allocate memory", "Storage size calculation overflowed", "multiplication overflow"),
    *("Maximum allowed dimension", "Maximum allowed size", "array is too big"),
    "Overflow when unpacking long",
)
"""What torch and NumPy say of what fits into no memory."""
NO_SUCH_NUMBER = ("math domain error", "cannot be converted to type")
"""What Python and torch say of a number that floating-point numbers do not have."""
APART = (
    *(
        "must match the size of tensor",
        "shapes cannot be multiplied",
        "must match the existing size",
    ),
    *("could not be broadcast together", "has a mismatch in its core dimension"),
    *(
        "expected to be in range",
        "Expected size for first two dimensions",
        "must have same reduction",
    ),
    *("inconsistent tensor size", "shape mismatch:", "does not have enough dimensions"),
)
"""What torch and NumPy say of shapes that do not go together."""
WITHOUT_NUMBERS = ("meta tensor", "device meta", "Tensor on device", "register_meta")
"""What torch says of a tensor on "meta"."""
LARGE = 1000
"""A whole number from which on it may be the one that was mistyped."""
NOT_THERE = ("out of bounds", "index out of range in self", "selected index k out of range")
"""What torch and NumPy say of an index, or a number of entries, that is too large."""


def problem(arguments: Mapping[str, tuple[Any, Any]], unbounded: Collection[str]) -> str:
    """Say what is wrong with the first argument that differs from its hint."""
    tensors = [(name, value) for name, (value, _) in arguments.items() if is_tensor(value)]
    real = next((value for _, value in tensors if not value.is_meta), None)
    for name, value in tensors:
        laid_out(name, value, value if real is None else real)
    with jaxtyped("context"):  # axes of one name are equally long
        for name, (value, hint) in arguments.items():
            if not fits(value, hint):
                return difference(name, value, parts_of(hint), arguments)
            if broken := not_finite(value, infinite=name in unbounded):
                several = isinstance(value, Mapping) or np.ndim(value) > 0
                single = "finite" if several else "one finite number"
                rule = "a number, perhaps infinite" if name in unbounded else single
                return f"{name} must be {rule}, got {broken}"
    return ""


def difference(
    name: str, value: Any, parts: Sequence[Any], arguments: Mapping[str, tuple[Any, Any]]
) -> str:
    """Say what was given, what is allowed and what to do."""
    inner = next((part for part in parts if isinstance(value, container(part))), None)
    if inner is not None:
        kinds = get_args(inner)
        for place, entry in enumerate(value):
            kind = kinds[min(place, len(kinds) - 1)]
            kind = kinds[0] if kind is Ellipsis else kind
            if not fits(entry, kind):
                return difference(f"entry {place} of {name}", entry, parts_of(kind), {})
        return f"{name} must be {_words(inner)}, got {len(value)} entries"
    pairs = next((get_args(part) for part in parts if get_origin(part) in (Mapping, dict)), ())
    if pairs and isinstance(value, dict):
        for key, entry in value.items():
            if not fits(key, pairs[0]):
                return difference(f"each name in {name}", key, parts_of(pairs[0]), {})
            if not fits({key: entry}, dict[Any, pairs[1]]):  # with axes of its own
                return difference(f"{key!r} of {name}", entry, parts_of(pairs[1]), {})
    array = next((part for part in parts if is_array(part)), None)
    if array is not None and isinstance(value, array.array_type):
        return _array_difference(name, value, array, arguments)
    if array is not None:
        words = _words(array)
        make = "numpy.array" if array.array_type is np.ndarray else "torch.tensor"
        own = f"{name}.to_numpy()" if hasattr(value, "to_numpy") else name  # a column of a table
        rows = isinstance(value, list | tuple | np.ndarray) or own != name
        advice = f"; write {make}({own})" if rows else ""
    else:
        words, advice = " or ".join(map(_words, parts)), _call(value, parts)
    return f"{name} must be {words}, got {given(value)}{advice}"


def _call(value: Any, parts: Sequence[Any]) -> str:
    """Advise whoever gave a class to give one of its objects, where that would do."""
    if not isinstance(value, type) or not any(
        is_protocol(part) or (isinstance(part, type) and issubclass(value, part)) for part in parts
    ):
        return ""
    return f"; write {value.__name__}(…), an object of that class"


def _array_difference(
    name: str, value: Any, hint: Any, arguments: Mapping[str, tuple[Any, Any]]
) -> str:
    """Say how a tensor or array differs from what its hint says of kind and axes."""
    kind = _kind(hint)
    if kind and str(value.dtype).removeprefix("torch.") not in hint.dtypes:
        words, way = kind
        if words == "whole numbers" and str(value.dtype).removeprefix("torch.").startswith("uint"):
            words += " that may be negative"  # those without a sign are whole numbers, too
        cast = f"; write {name}{way}" if way and is_tensor(value) else ""
        return f"{name} must hold {words}, got {value.dtype}{cast}"
    beside = [
        f"{other} {shape_of(part.dim_str)} = {tuple(array.shape)}"
        for other, (array, parts) in arguments.items()
        for part in parts_of(parts)
        if other != name and is_array(part) and isinstance(array, part.array_type)
    ]
    return f"{name} must have shape {shape_of(hint.dim_str)}, got {tuple(value.shape)}" + (
        ", beside " + ", ".join(beside) if beside else ""
    )


def shape_of(axes: str) -> str:
    """Write the names of axes as a shape: ``(n, p)``, ``(n,)``, ``(..., n)``."""
    names = axes.split()
    return f"({', '.join(names)}{',' * (len(names) == 1 and '.' not in names[0])})"


def _kind(hint: Any) -> tuple[str, str] | None:
    """Give the words for the numbers a hint allows, and how a tensor gets them."""
    if not isinstance(hint.dtypes, tuple):  # any at all
        return None
    allowed = {"bool", "int64", "float32", "complex64"} & set(hint.dtypes)
    kinds = {
        frozenset(): ("whole numbers of 8 bits, 0 to 255", ".to(torch.uint8)"),
        frozenset({"bool"}): ("truth values", ".bool()"),
        frozenset({"int64"}): ("whole numbers", ".long()"),
        frozenset({"float32"}): ("floating-point numbers", ".float()"),
    }
    return kinds.get(frozenset(allowed), ("numbers", ""))


def _words(hint: Any) -> str:
    """Say in words what a hint allows."""
    origin, parts = get_origin(hint), get_args(hint)
    if is_array(hint):
        kind = "a NumPy array" if hint.array_type is np.ndarray else "a tensor"
        return f"{kind} of shape {shape_of(hint.dim_str)}"
    if origin is Literal:
        return "one of " + ", ".join(map(repr, parts))
    if origin is Callable:
        n = len(parts[0]) if parts and parts[0] is not Ellipsis else None
        return "a function" if n is None else f"a function of {n} argument{'s' * (n != 1)}"
    if origin in CONTAINERS:
        kind = f"a {origin.__name__.lower()}".replace("a iter", "an iter")
        entries = [
            " or ".join(map(_words, parts_of(part))) for part in parts if part is not Ellipsis
        ]
        if "anything" in entries[0]:
            return kind
        return (
            f"{kind} from {' to '.join(entries)}"
            if origin is Mapping
            else (f"{kind}, its entries {', '.join(entries)}")
        )
    if hint is Any or isinstance(hint, TypeVar):
        return "anything"
    name = getattr(hint, "__name__", str(hint))
    own = f"{'an' if name[0] in 'AEIO' else 'a'} {name}"
    return ADVICE.get(f"{getattr(hint, '__module__', '')}.{name}", own)


def reason_of(error: Exception, name: str, arguments: Mapping[str, Any]) -> str:
    """Say what an error of Python's or torch's means for whoever called, if it is one of a kind."""
    if isinstance(error, MemoryError) or any(words in str(error) for words in TOO_LARGE):
        large = _sizes(arguments)
        return f"{name} needs more memory than there is{f' for {large}' * bool(large)}; make " + (
            "that smaller" if large else "its arguments smaller"
        )
    if any(words in str(error) for words in APART):
        found = [(argument, tuple(one.shape)) for argument, one in _tensors(arguments)]
        shapes = ", ".join(f"{argument} {shape}" for argument, shape in found)
        return f"{name} got shapes that do not go together: {shapes or error}"
    if any(words in str(error) for words in NOT_THERE):
        return f"{name} looks for an entry that is not there: {error}"
    if type(error).__name__.endswith("LinAlgError"):
        return (
            f"{name} meets a matrix that has no inverse: columns that depend on each other, or "
            f"numbers that are too large or too small for floating-point numbers"
        )
    if str(error).startswith("Exceeds the limit"):  # of digits that Python writes
        return f"{name} got a whole number of more than 4,300 digits; make it smaller"
    if "Inference tensors cannot be saved" in str(error):
        return (
            f"{name} got a tensor made in torch.inference_mode(), of which no gradient is kept; "
            "give its .clone(), or call within torch.no_grad()"
        )
    if any(words in str(error) for words in WITHOUT_NUMBERS):
        return f'{name} needs numbers, which a tensor on "meta" does not have'
    if "not implemented for" in str(error):
        return f"{name} cannot be computed in this precision, {error}; write .float()"
    domain = any(words in str(error) for words in NO_SUCH_NUMBER)
    if isinstance(error, ValueError | TypeError) and not domain:  # a sentence of the function's own
        return ""
    if domain or isinstance(error, OverflowError | ZeroDivisionError | FloatingPointError):
        return (
            f"{name} cannot be computed for these arguments, {error}: a number is too large or too "
            f"small for floating-point numbers"
        )
    precisions = {  # torch multiplies no matrices of two precisions
        argument: str(one.dtype).removeprefix("torch.")
        for argument, one in _tensors(arguments)
        if is_tensor(one) and one.is_floating_point()
    }
    if len(set(precisions.values())) < 2:
        return ""
    words = ", ".join(f"{argument} in {kind}" for argument, kind in precisions.items())
    return f"all tensors need one precision, got {words}"


def _sizes(arguments: Mapping[str, Any]) -> str:
    """Name the arguments that memory may be needed for: large whole numbers, and arrays."""
    numbers = [
        f"{argument} = {one:,}" if one.bit_length() <= LONG else f"{argument} = {given(one)}"
        for argument, one in arguments.items()
        if isinstance(one, int) and one >= LARGE
    ]
    shapes = [f"{argument} of shape {tuple(one.shape)}" for argument, one in _tensors(arguments)]
    return ", ".join(numbers or shapes)


def _tensors(arguments: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Give tensors and arrays by name, a model's first, and those that a tuple holds."""
    for argument, value in arguments.items():
        if isinstance(value, type):
            continue
        if is_tensor(value) or isinstance(value, np.ndarray):
            yield argument, value
        elif hasattr(value, "parameters"):
            own = [("the model" if argument == "self" else argument, p) for p in value.parameters()]
            yield from own[:1]
        elif hasattr(value, "_asdict"):
            yield from _tensors(value._asdict())
        elif isinstance(value, tuple):  # such as a cell's state
            yield from ((argument, part) for part in value if is_tensor(part))
