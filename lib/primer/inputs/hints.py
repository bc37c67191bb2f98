"""Hold what a function is given against its hints, and say in a sentence where it differs.

A hint such as ``query: Float[Tensor, "... queries d_k"]`` says all there is to check: a tensor, of
floating-point numbers, with these axes, and every axis of one name as long in each argument.
:func:`checked` reads it, so that nothing is said twice.  What hints cannot say, that a number is
positive or a row sums to 1, is for the other functions of this package, in the function itself.
"""

from __future__ import annotations

import functools
import inspect
import math
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
    get_type_hints,
    no_type_check,
    overload,
)

import numpy as np
from jaxtyping import AbstractArray, jaxtyped
from numpy.typing import ArrayLike

from primer.inputs.arrays import unmasked

Function = TypeVar("Function", bound=Callable[..., Any])

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
LOOKED_AT = 100_000  # entries of a list or tuple
TOO_LARGE = (
    *("allocate memory", "Storage size calculation overflowed", "multiplication overflow"),
    *("Maximum allowed dimension", "Maximum allowed size", "array is too big"),
)
"""What torch and NumPy say of what fits into no memory."""
CONTAINERS = (Sequence, Mapping, Collection, Iterable, list, tuple, dict)


@overload
def checked(function: Function) -> Function: ...
@overload
def checked(*, infinite: str) -> Callable[[Function], Function]: ...
def checked(function: Any = None, *, infinite: str = "") -> Any:
    r"""Let a function refuse, in words, arguments that differ from its hints.

    Tensors and arrays must be of the hint's kind and axes; NaN and infinity are refused in them and
    in numbers.  Lists in place of tensors are refused with what to write instead.  Where a hint
    leaves it open, as ``ArrayLike`` does, the function itself checks.

    Parameters
    ----------
    function : callable
        What is called; its hints are read at the first call.
    infinite : str
        The names of arguments in which infinity has a meaning, as :math:`-\infty` has for the
        logit of an impossible token; ``return`` where it, or NaN, has one in the result.

    Returns
    -------
    callable
        The function, which raises a ``ValueError`` where an argument differs from its hint, and
        where the result is not finite although all arguments were: numbers too large or too small
        for floating point.

    Examples
    --------
    >>> import torch
    >>> from jaxtyping import Float
    >>> from torch import Tensor
    >>> @checked
    ... def product(a: "Float[Tensor, 'rows inner']", b: "Float[Tensor, 'inner columns']"):
    ...     return a @ b
    >>> product(torch.ones(2, 3), [[1.0]])
    Traceback (most recent call last):
        ...
    ValueError: b must be a tensor of shape (inner, columns), got a list; write torch.tensor(b)
    >>> product(torch.ones(2, 3), torch.ones(2, 3))
    Traceback (most recent call last):
        ...
    ValueError: b must have shape (inner, columns), got (2, 3), beside a (rows, inner) = (2, 3)
    >>> product(torch.ones(2, 3), torch.tensor([[1], [2], [3]]))
    Traceback (most recent call last):
        ...
    ValueError: b must hold floating-point numbers, got torch.int64; write b.float()
    >>> product(torch.tensor([[1e30]]), torch.tensor([[1e30]]))
    Traceback (most recent call last):
        ...
    ValueError: product gives inf at [0, 0] for these arguments: they are too large ...
    """
    if function is None:
        return functools.partial(checked, infinite=infinite)
    parameters = inspect.signature(function).parameters.values()
    names = [p.name for p in parameters if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    places = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    unbounded = set(infinite.split())
    if unknown := unbounded - {*names, "return"}:
        raise ValueError(f"{function.__qualname__} has no argument {', '.join(sorted(unknown))}")

    @functools.cache
    def hints() -> dict[str, Any]:
        found = get_type_hints(function, include_extras=True)
        return {name: found[name] for name in names if name in found and not _open(found[name])}

    @functools.wraps(function)
    def call(*args: Any, **named: Any) -> Any:
        given = dict(zip(places, args, strict=False)) | named
        for name in names:
            unmasked(name, given.get(name))
        problem = _problem({n: (given[n], h) for n, h in hints().items() if n in given}, unbounded)
        if problem:
            raise ValueError(problem)
        try:
            result = function(*args, **named)
        except (ArithmeticError, MemoryError, RuntimeError, ValueError) as error:
            if not (reason := _reason(error, function.__qualname__, given)):
                raise
            raise ValueError(reason) from error
        if "return" not in unbounded and (broken := _not_finite(result, infinite=False)):
            raise ValueError(
                f"{function.__name__} gives {broken} for these arguments: they are too large or "
                f"too small for floating-point numbers, or the result has no finite value there"
            )
        return result

    return call


def _open(hint: Any) -> bool:
    """Say whether a hint leaves to the function what is allowed."""
    parts = _parts(hint)
    return (
        Any in parts
        or set(_parts(ArrayLike)) <= set(parts)  # a union, or from Python 3.12 on one name
        or any(isinstance(part, TypeVar) for part in parts)
    )


def _parts(hint: Any) -> tuple[Any, ...]:
    """Give the hints of which one must hold."""
    return get_args(hint) if get_origin(hint) in (Union, types.UnionType) else (hint,)


def _problem(arguments: Mapping[str, tuple[Any, Any]], unbounded: Collection[str]) -> str:
    """Say what is wrong with the first argument that differs from its hint."""
    with jaxtyped("context"):  # axes of one name are equally long
        for name, (value, hint) in arguments.items():
            if not _fits(value, hint):
                return _difference(name, value, _parts(hint), arguments)
            if broken := _not_finite(value, infinite=name in unbounded):
                single = "one finite number" if np.ndim(value) == 0 else "finite"
                rule = "a number, perhaps infinite" if name in unbounded else single
                return f"{name} must be {rule}, got {broken}"
    return ""


@no_type_check  # where calls are checked, this one would forget the axes that it has seen
def _fits(value: Any, hint: Any) -> bool:
    """Say whether a value is what a hint says."""
    origin, parts = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        return any(_fits(value, part) for part in parts)
    if hint is int:
        return isinstance(value, int | np.integer) and not isinstance(value, bool)
    if hint is float:
        if _is_tensor(value) or isinstance(value, np.ndarray):
            kinds = {"int", "uint", "float", "bfloat"}
            return value.ndim == 0 and str(value.dtype).split(".")[-1].rstrip("0123456789") in kinds
        numbers = int | float | np.integer | np.floating
        return isinstance(value, numbers) and not isinstance(value, bool)
    if origin is Literal:
        return any(value is part or (type(value) is type(part) and value == part) for part in parts)
    if origin is Callable:
        return callable(value) and _takes(value, parts[0])
    if origin in CONTAINERS:
        text = str if isinstance(value, str) else int if isinstance(value, bytes) else None
        if not isinstance(value, origin) or (text is not None and parts[0] is not text):
            return False
        entries = value[:LOOKED_AT] if isinstance(value, list | tuple) else ()
        fixed = origin is tuple and Ellipsis not in parts
        if fixed and len(value) != len(parts):
            return False
        if parts[0] in (int, float) and set(map(type, entries)) <= {parts[0]}:  # most, and quickly
            return True
        return all(map(_fits, entries, parts if fixed else repeat(parts[0])))
    if _open(hint):
        return True
    try:
        return isinstance(value, hint)
    except TypeError:  # a protocol that cannot be asked: the function finds out
        return True


def _takes(function: Callable[..., Any], arguments: Any) -> bool:
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


def _not_finite(value: Any, *, infinite: bool) -> str:
    """Name the first NaN, or infinity unless it is allowed, and its place."""
    if isinstance(value, float | np.floating):
        return str(value) if math.isnan(value) or (math.isinf(value) and not infinite) else ""
    if isinstance(value, list | tuple):
        if set(map(type, value)) <= {int, str, bytes, bool}:
            return ""
        entries = enumerate(islice(value, LOOKED_AT))
        places = ((i, _not_finite(entry, infinite=infinite)) for i, entry in entries)
        return next((f"{broken} in entry {i}" for i, broken in places if broken), "")
    if _is_tensor(value):
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


def _difference(
    name: str, value: Any, parts: Sequence[Any], arguments: Mapping[str, tuple[Any, Any]]
) -> str:
    """Say what was given, what is allowed and what to do."""
    inner = next((part for part in parts if isinstance(value, _container(part))), None)
    if inner is not None:
        kinds = get_args(inner)
        for place, entry in enumerate(value):
            kind = kinds[min(place, len(kinds) - 1)]
            kind = kinds[0] if kind is Ellipsis else kind
            if not _fits(entry, kind):
                return _difference(f"entry {place} of {name}", entry, _parts(kind), {})
        return f"{name} must be {_words(inner)}, got {len(value)} entries"
    array = next((part for part in parts if _is_array(part)), None)
    if array is not None and isinstance(value, array.array_type):
        return _array_difference(name, value, array, arguments)
    if array is not None:
        words = _words(array)
        make = "numpy.array" if array.array_type is np.ndarray else "torch.tensor"
        advice = f"; write {make}({name})" if isinstance(value, list | tuple | np.ndarray) else ""
    else:
        words, advice = " or ".join(map(_words, parts)), ""
    return f"{name} must be {words}, got {_given(value)}{advice}"


def _array_difference(
    name: str, value: Any, hint: Any, arguments: Mapping[str, tuple[Any, Any]]
) -> str:
    """Say how a tensor or array differs from what its hint says of kind and axes."""
    kind = _kind(hint)
    if kind and str(value.dtype).removeprefix("torch.") not in hint.dtypes:
        words, way = kind
        cast = f"; write {name}{way}" if way and _is_tensor(value) else ""
        return f"{name} must hold {words}, got {value.dtype}{cast}"
    beside = [
        f"{other} {_shape(part)} = {tuple(array.shape)}"
        for other, (array, parts) in arguments.items()
        for part in _parts(parts)
        if other != name and _is_array(part) and isinstance(array, part.array_type)
    ]
    return f"{name} must have shape {_shape(hint)}, got {tuple(value.shape)}" + (
        ", beside " + ", ".join(beside) if beside else ""
    )


def _reason(error: Exception, name: str, arguments: Mapping[str, Any]) -> str:
    """Say what an error of Python's or torch's means for whoever called, if it is one of a kind."""
    owner, _, name = name.rpartition(".")
    name = owner.rpartition(".")[2] if name == "__init__" else name  # a class is called by its name
    if isinstance(error, MemoryError) or any(words in str(error) for words in TOO_LARGE):
        return f"{name} needs more memory than there is; make its arguments smaller"
    domain = str(error) == "math domain error"
    if isinstance(error, ValueError) and not domain:  # a sentence of the function's own
        return ""
    if domain or isinstance(error, OverflowError | ZeroDivisionError | FloatingPointError):
        return (
            f"{name} cannot be computed for these arguments, {error}: a number is too large or too "
            f"small for floating-point numbers"
        )
    precisions = {}  # torch multiplies no matrices of two precisions
    for argument, value in arguments.items():
        one: Any = next(iter(value.parameters()), None) if hasattr(value, "parameters") else value
        if _is_tensor(one) and one.is_floating_point():
            kind = str(one.dtype).removeprefix("torch.")
            precisions["the model" if argument == "self" else argument] = kind
    if len(set(precisions.values())) < 2:
        return ""
    words = ", ".join(f"{argument} in {kind}" for argument, kind in precisions.items())
    return f"all tensors need one precision, got {words}"


def _container(hint: Any) -> Any:
    """Give list or tuple where a hint allows one, to look at its entries; nothing else."""
    origin = get_origin(hint)
    if origin in (list, tuple):
        return origin
    return (list, tuple) if origin in (Sequence, Collection, Iterable) else ()


def _is_tensor(value: Any) -> bool:
    """Say whether a value is torch's tensor; torch is imported only by topics that need it."""
    return hasattr(value, "detach")  # which a torch.dtype has not


def _is_array(hint: Any) -> bool:
    """Say whether a hint is one of jaxtyping's."""
    return isinstance(hint, type) and issubclass(hint, AbstractArray)


def _shape(hint: Any) -> str:
    """Write the axes of a hint as a shape."""
    axes = hint.dim_str.split()
    return f"({', '.join(axes)}{',' * (len(axes) == 1 and '.' not in axes[0])})"


def _kind(hint: Any) -> tuple[str, str] | None:
    """Give the words for the numbers a hint allows, and how a tensor gets them."""
    if not isinstance(hint.dtypes, tuple):  # any at all
        return None
    allowed = {"bool", "int64", "float32", "complex64"} & set(hint.dtypes)
    kinds = {
        frozenset({"bool"}): ("truth values", ".bool()"),
        frozenset({"int64"}): ("whole numbers", ".long()"),
        frozenset({"float32"}): ("floating-point numbers", ".float()"),
    }
    return kinds.get(frozenset(allowed), ("numbers", ""))


def _words(hint: Any) -> str:
    """Say in words what a hint allows."""
    origin, parts = get_origin(hint), get_args(hint)
    if _is_array(hint):
        kind = "a NumPy array" if hint.array_type is np.ndarray else "a tensor"
        return f"{kind} of shape {_shape(hint)}"
    if origin is Literal:
        return "one of " + ", ".join(map(repr, parts))
    if origin is Callable:
        n = len(parts[0]) if parts and parts[0] is not Ellipsis else None
        return "a function" if n is None else f"a function of {n} argument{'s' * (n != 1)}"
    if origin in CONTAINERS:
        kind = f"a {origin.__name__.lower()}".replace("a iter", "an iter")
        entries = [" or ".join(map(_words, _parts(part))) for part in parts if part is not Ellipsis]
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


def _given(value: Any) -> str:
    """Say briefly what was given."""
    if _is_tensor(value):
        return f"a tensor of shape {tuple(value.shape)}"
    if isinstance(value, np.ndarray):
        return f"an array of shape {value.shape}"
    if isinstance(value, list | tuple | dict | set):
        return f"a {type(value).__name__}"
    if inspect.isfunction(value):
        return f"{value.__name__}{inspect.signature(value)}"
    text = repr(value)
    return text if len(text) <= 60 else f"a {type(value).__name__}"
