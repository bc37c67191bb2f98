"""Look for bad calls that the library does not answer: mutate the calls of its doctests.

``python tests/tools/probe.py networks scaling`` runs the doctests of these topics (without
beartype, as a reader does), takes the arguments of each public function and class from there, makes
one of them bad (NaN, a negative number, 1e200, a list for a tensor, half precision, too few
entries, a masked array, a class, a seed for a generator, a function of the wrong shape, nothing …),
or the same numbers held in another way (read-only, backwards in memory, bytes in another order),
and calls again. What is neither refused in our words nor answered as before is printed:

foreign   an exception that no ``raise`` of ``primer`` raised
NaN       a result with NaN or infinity that the good call had not
too long  no answer within some seconds
memory    said only when the memory was full: a size needs a largest one
silent    a result, where a person should say whether it may be one

Of each good call it says, too, whether it changes what it is given, gives another result the second
time, or fails where new tensors are in double precision.
"""

from __future__ import annotations

import collections
import contextlib
import copy
import doctest
import importlib
import inspect
import io
import linecache
import math
import os
import pkgutil
import resource
import signal
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from types import FrameType, FunctionType
from typing import Any

import numpy as np
import torch
from good_calls import GOOD_CALLS, NAMES
from torch import nn

import primer
from primer.inputs.foreign import NOT_TAKEN

LIBRARY = str(Path(primer.__file__).parent)
PATIENCE = 2  # seconds for one call
REST = {inspect.Parameter.VAR_POSITIONAL: tuple, inspect.Parameter.VAR_KEYWORD: dict}
"""What Python makes of arguments without names of their own."""
FULL = "needs more memory than there is"
ROOM = 8 * 2**30  # bytes of addresses: a call that asks for more is told so by NumPy or torch


@dataclass(frozen=True)
class Example:
    """A good call: what is called, and with which arguments."""

    name: str
    call: Callable[..., Any]
    arguments: dict[str, Any]


class TooLong(BaseException):
    """A call took longer than anybody waits."""


def public(topic: str) -> dict[Any, tuple[str, Callable[..., Any]]]:
    """Map the code of each public function, class and method of a topic to its name and itself."""
    package = importlib.import_module(f"primer.{topic}")
    found: dict[Any, tuple[str, Callable[..., Any]]] = {}
    for name in getattr(package, "__all__", ()):
        item = getattr(package, name)
        if inspect.isfunction(item):
            found[inspect.unwrap(item).__code__] = (f"{topic}.{name}", item)
        elif inspect.isclass(item):
            for attribute, method in vars(item).items():
                own = not attribute.startswith("_") or attribute == "__init__"
                if isinstance(method, FunctionType) and own:
                    call = item if attribute == "__init__" else method
                    label = f"{topic}.{name}" + ("" if call is item else f".{attribute}")
                    found[inspect.unwrap(method).__code__] = (label, call)
    return found


def examples(topic: str, folder: Path | None = None) -> dict[str, Example]:
    """Run the doctests and good calls of a topic, and keep one call of everything public.

    What they write lies in a folder that is empty; left out, nobody finds it again.
    """
    package = importlib.import_module(f"primer.{topic}")
    wanted, kept, nested = public(topic), {}, {}

    def watch(frame: FrameType, event: str, _: Any) -> None:
        if event != "call" or frame.f_code not in wanted:
            return
        name, call = wanted[frame.f_code]
        direct = frame.f_back is not None and frame.f_back.f_code.co_filename.startswith("<doctest")
        store = kept if direct else nested
        if name not in store:
            arguments = dict(frame.f_locals)
            if inspect.isclass(call):
                del arguments[next(iter(arguments))]
            try:
                store[name] = Example(name, call, copy.deepcopy(arguments))
            except Exception:  # what cannot be copied cannot be tried again
                return

    modules = [
        importlib.import_module(m.name)
        for m in pkgutil.walk_packages(package.__path__, f"primer.{topic}.")
        if not m.name.endswith("__main__")
    ]
    finder, runner = doctest.DocTestFinder(exclude_empty=True), doctest.DocTestRunner(verbose=False)
    for module in modules:
        for test in finder.find(module):
            if test.examples:
                sys.setprofile(watch)
                try:
                    with redirect_stdout(io.StringIO()):
                        runner.run(test, clear_globs=False)  # its functions are called again
                finally:
                    sys.setprofile(None)
    names: dict[str, Any] = {}
    exec(f"from primer.{topic} import *\n{NAMES}", names)
    made = compile(GOOD_CALLS.get(topic, ""), "<doctest good calls>", "exec")
    sys.setprofile(watch)
    try:
        with (
            redirect_stdout(io.StringIO()),
            tempfile.TemporaryDirectory() as other,
            contextlib.chdir(folder or other),
        ):
            exec(made, names)
    finally:
        sys.setprofile(None)
    missing = {name for name, _ in wanted.values()} - kept.keys() - nested.keys()
    print(
        f"{topic}: {len(kept | nested)} good calls; none for {', '.join(sorted(missing)) or 'none'}"
    )
    return nested | kept


def bad_numbers(value: float) -> Iterator[tuple[str, Any]]:
    """Give what should not stand where a number stands."""
    yield from (("NaN", math.nan), ("inf", math.inf), ("text", "2"), ("None", None))
    yield from (("a list", [value, value]), ("−1", type(value)(-1)), ("zero", type(value)(0)))
    yield from (("large", 1e200), ("largest", 1e308), ("small", 1e-200), ("True", True))
    yield from (("half", value + 0.5), ("complex", value + 1j), ("a masked array", masked(value)))
    yield from (
        ("a huge integer", 10**400),
        ("longer than Python writes", 10**5000),
        ("no time", np.datetime64("NaT")),
        ("−0", -0.0),
    )
    yield from ((str(kind), kind(value)) for kind in (Fraction, Decimal, np.float16, np.float64))
    if isinstance(value, int):
        if 0 <= value < 128:
            yield from ((str(kind), kind(value)) for kind in (np.uint8, np.int8, np.int64))
        yield from (("float", float(value)), ("64 bits", 2**63), ("a billion", 10**9))


def masked(values: Any) -> np.ma.MaskedArray:
    """Give numbers of which the first is hidden."""
    array = np.ma.masked_array(np.array(values))
    array.mask = np.arange(array.size).reshape(array.shape) == 0
    return array


def bad_arrays(value: Any) -> Iterator[tuple[str, Any]]:
    """Give what should not stand where an array or tensor stands."""
    yield from (("None", None), ("text", "ab"), ("a number", 1.0), ("a list", value.tolist()))
    torch_like = isinstance(value, torch.Tensor)
    floating = value.is_floating_point() if torch_like else value.dtype.kind == "f"
    yield "one axis more", value[None]
    yield "a column", value[..., None]
    yield "an iterator", iter(value.tolist() if value.ndim else [value])
    yield "a masked array", masked(value.detach().cpu().double() if torch_like else value)
    if value.ndim and value.shape[0]:
        yield from (("one axis less", value[0]), ("empty", value[:0]))
        yield "one entry less", value[..., :-1]
        if value.shape[0] > 1:
            yield "one row less", value[:-1]
    if not value.shape or 0 in value.shape:
        return
    yield from same_numbers(value)
    if floating:
        for label, entry in (("a NaN", math.nan), ("an inf", math.inf), ("a negative", -3.0)):
            other = copy.deepcopy(value.detach() if torch_like else value)
            other.reshape(-1)[0] = entry
            yield label, other
        for label, factor in (("large", 1e200), ("small", 1e-200), ("nearly nothing", 1e-320)):
            wide = value.detach().double() if torch_like else value
            yield label, wide * factor
        for kind in (torch.bfloat16, torch.float16):
            yield str(kind), torch.as_tensor(value).detach().to(kind)
        yield "with a gradient", torch.as_tensor(value).detach().clone().requires_grad_()
        yield "complex", value + 1j
        if not torch_like:
            yield "long", value.astype(np.longdouble)
            yield "objects", value.astype(object)
            yield "times", np.full(value.shape, np.datetime64("NaT"))
            yield "a big integer", np.full(value.shape, 10**400, dtype=object)
            yield "truth values", value > 0
        yield "integers", value.to(torch.int64) if torch_like else np.nan_to_num(value).astype(int)
        yield "the other array", value.detach().numpy() if torch_like else torch.as_tensor(value)
        if torch_like:
            yield (
                "other precision",
                value.to(torch.float64 if value.dtype == torch.float32 else torch.float32),
            )
    else:
        yield "halves", value + 0.5
        if not torch_like and value.dtype.kind in "iu":
            yield from ((str(t), value.astype(t)) for t in (np.uint8, np.int8, object))
        if (value.dtype != torch.bool) if torch_like else value.dtype.kind in "iu":
            if torch_like:
                yield from ((str(t), value.to(t)) for t in (torch.uint8, torch.int8, torch.int32))
            for label, entry in (("a negative", -1), ("−100", -100), ("too large", 10**6)):
                other = copy.deepcopy(value)
                with contextlib.suppress(RuntimeError, OverflowError):  # 8 bits hold no million
                    other.reshape(-1)[0] = entry
                    yield label, other


def same_numbers(value: Any) -> Iterator[tuple[str, Any]]:
    """Give the same numbers as they may lie in memory, which no result may depend on."""
    if isinstance(value, torch.Tensor):
        with torch.inference_mode():
            yield "made in inference mode", value.detach().clone()
        yield "on meta", value.detach().to("meta")
        yield "sparse", value.detach().to_sparse()
        yield "a parameter", nn.Parameter(value.detach().clone(), requires_grad=False)
        yield "each second place", value.detach().repeat_interleave(2, dim=-1)[..., ::2]
        yield "backwards axes", value.detach().mT.contiguous().mT if value.ndim > 1 else value
        return
    yield "backwards in memory", value[..., ::-1].copy()[..., ::-1]
    yield "by columns", np.asfortranarray(value)
    if 0 < value.ndim < 3:
        yield "a matrix", np.asmatrix(value)
    yield "each second place", value.repeat(2, axis=-1)[..., ::2]
    if value.dtype.kind in "iuf":
        yield "the other order of bytes", value.astype(value.dtype.newbyteorder(">"))
    locked = value.copy()
    locked.setflags(write=False)
    yield "read-only", locked


def bad_collections(value: Any) -> Iterator[tuple[str, Any]]:
    """Give what should not stand where a list, tuple or dict stands."""
    yield from (("None", None), ("a number", 1.5), ("empty", type(value)()))
    yield "an iterator", iter(value)
    yield from ((str(kind), kind(value)) for kind in (list, tuple) if kind is not type(value))
    if not value:
        return
    if isinstance(value, dict):
        key, first = next(iter(value.items()))
        yield from ((f"first: {label}", value | {key: entry}) for label, entry in bad(first))
        return
    yield "one less", type(value)(list(value)[:-1])
    first, *others = value
    for label, entry in bad(first):
        with contextlib.suppress(TypeError):  # a set holds no lists
            yield f"first: {label}", type(value)([entry, *others])


def bad_functions() -> Iterator[tuple[str, Any]]:
    """Give what should not stand where a function of the caller's stands."""
    yield from (("None", None), ("a number", 3), ("text", "ab"))
    for label, result in (
        ("NaN", math.nan), ("None", None), ("text", "ab"), ("five numbers", np.ones(5)),
        ("a tensor", torch.ones(5)), ("infinity", math.inf), ("−1", -1), ("a list", [1.0, 2.0]),
        ("a huge integer", 10**400), ("a complex number", 1j), ("True", True), ("itself", len),
    ):  # fmt: skip
        yield f"a function of {label}", lambda *_, given=result, **__: given
    yield "a function of nothing", lambda: 1.0


def bad(value: Any) -> Iterator[tuple[str, Any]]:
    """Give bad replacements for a good argument, each with a word for it."""
    if value is not None:
        yield from (
            ("its class", type(value)),
            ("a class", torch.Tensor),
            ("an array's", np.ndarray),
        )
    if isinstance(value, bool):
        yield from (("text", "yes"), ("a number", int(value)), ("None", None), ("NaN", math.nan))
        yield from (("NumPy's", np.bool_(value)), ("torch's", torch.tensor(value)))
    elif isinstance(value, int | float):
        yield from bad_numbers(value)
    elif isinstance(value, str):
        yield from (("another word", "no such"), ("a number", 3), ("None", None), ("empty", ""))
        yield from (("half of a pair", value + "\ud800"), ("a zero", value + "\0"))
        yield from (("a mark", value + "\u0301"), ("bytes", value.encode()))
    elif isinstance(value, torch.Tensor | np.ndarray):
        yield from bad_arrays(value)
    elif isinstance(value, np.random.Generator):
        yield from (("a seed", 0), ("None", None), ("torch's", torch.Generator()))
    elif isinstance(value, torch.Generator):
        yield from (("a seed", 0), ("NumPy's", np.random.default_rng(0)))
    elif inspect.isroutine(value):
        yield from bad_functions()
    elif type(value) in (list, tuple, dict, set):
        yield from bad_collections(value)
    elif value is not None:
        yield from (("None", None), ("text", "ab"), ("a number", 3))


def bad_missing(hint: str) -> Iterator[tuple[str, Any]]:
    """Give what should not stand where nothing was given, by what could have been."""
    if "Generator" in hint:
        yield from (("a seed", 0), ("the other generator", np.random.default_rng(0)))
    if "int" in hint or "float" in hint:
        yield from bad_numbers(1 if "int" in hint else 1.0)
    if "Tensor" in hint or "Array" in hint:
        yield from (("a number", 1.5), ("text", "ab"), ("NaN", torch.tensor(math.nan)))
    if "Callable" in hint:
        yield from bad_functions()


def not_finite(result: Any) -> bool:
    """Say whether NaN or infinity stands in what printing shows, or in an array."""
    if isinstance(result, torch.Tensor):
        result = result.cpu() if not result.is_meta else torch.zeros(0)
        result = result if result.layout == torch.strided else result.to_dense()
        return result.is_floating_point() and not bool(result.isfinite().all())
    if isinstance(result, np.ndarray):
        return result.dtype.kind in "fc" and not bool(np.isfinite(result).all())
    if isinstance(result, float):
        return not math.isfinite(result)
    if isinstance(result, tuple | list):
        return any(map(not_finite, result))
    if isinstance(result, dict):
        return any(map(not_finite, result.values()))
    return (
        hasattr(result, "__dict__")
        and not isinstance(result, torch.nn.Module)
        and any(map(not_finite, vars(result).values()))
    )


def answered_in_words(error: BaseException) -> bool:
    """Say whether a ``raise`` in the library's own lines raised this, not Python or torch.

    What diverges may end in an ``ArithmeticError``; the guard's last resort answers nothing yet.
    """
    kinds = ValueError | TypeError | ArithmeticError
    if not isinstance(error, kinds) or error.__traceback__ is None or NOT_TAKEN in str(error):
        return False
    *_, last = [(f.f_code.co_filename, line) for f, line in _walk(error)]
    return last[0].startswith(LIBRARY) and linecache.getline(*last).strip().startswith("raise ")


def _walk(error: BaseException) -> Iterator[tuple[FrameType, int]]:
    place = error.__traceback__
    while place is not None:
        yield place.tb_frame, place.tb_lineno
        place = place.tb_next


def replay(example: Example, **changed: Any) -> Any:
    """Call again with fresh copies of the arguments, some of them changed; run generators."""
    arguments = copy.deepcopy(example.arguments) | changed
    positional, named = [], {}
    for name, parameter in inspect.signature(example.call).parameters.items():
        if name not in arguments:
            continue
        if parameter.kind is parameter.VAR_POSITIONAL:
            positional = [*named.values(), *positional, *arguments[name]]
            named = {}
        elif parameter.kind is parameter.VAR_KEYWORD:
            named |= arguments[name]
        elif parameter.kind is parameter.POSITIONAL_ONLY or name == "self":
            positional.append(arguments[name])
        else:
            named[name] = arguments[name]
    result = example.call(*positional, **named)
    return list(result) if inspect.isgenerator(result) else result


def held_otherwise(example: Example, good: Any) -> Iterator[str]:
    """Say what a good call changes, and whether it depends on the precision of new tensors."""
    given = copy.deepcopy(example.arguments)
    try:
        again = replay(Example(example.name, example.call, _Same(given)))
    except Exception:
        return
    if " at 0x" not in repr(good) and repr(again) != repr(good):
        yield "is not the same twice"
    for name, value in given.items():
        if (
            name != "self"
            and repr(value) != repr(example.arguments[name])
            and not isinstance(value, np.random.Generator | torch.Generator)
        ):
            yield f"changes {name}"
    torch.set_default_dtype(torch.float64)
    try:
        replay(example)
    except Exception as error:
        yield f"in double precision: {type(error).__name__}: {error}"
    finally:
        torch.set_default_dtype(torch.float32)


class _Same(dict):  # type: ignore[type-arg]
    """Arguments that are not copied."""

    def __deepcopy__(self, memo: Any) -> Any:
        return self


def outcome(example: Example, **changed: Any) -> tuple[str, Any]:
    """Call, and say what came of it."""
    signal.setitimer(signal.ITIMER_REAL, PATIENCE)
    try:
        with redirect_stdout(io.StringIO()):
            result = replay(example, **changed)
        return ("NaN" if not_finite(result) else "silent"), result
    except TooLong:
        return "too long", ""
    except Exception as error:
        if FULL in str(error):
            return "memory", error
        return ("words" if answered_in_words(error) else "foreign"), error
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def _too_long(*_: Any) -> None:
    raise TooLong


def shorten(text: str, width: int = 110) -> str:
    """Write a text on one line of at most so many letters."""
    line = " ".join(text.split())
    return line if len(line) <= width else line[: width - 1] + "…"


def told(result: Any) -> str:
    """Write a result, also where a whole number in it has more digits than Python writes."""
    try:
        return repr(result)
    except ValueError as error:
        return f"a {type(result).__name__}: {error}"


def probe(topic: str) -> collections.Counter[str]:
    """Print what the public names of a topic answer to bad calls, as far as it is not in words."""
    counts: collections.Counter[str] = collections.Counter()
    for name, example in sorted(examples(topic, Path.cwd()).items()):
        kind, good = outcome(example)
        for label in held_otherwise(example, good):
            print(f"  {name}: {label}")
        if kind in ("words", "foreign", "too long"):
            print(f"  {name}: its own example fails again: {kind} {good!r}"[:150])
            continue
        for argument, value in example.arguments.items():
            if argument in ("self", "__class__"):
                continue
            parameter = inspect.signature(example.call).parameters.get(argument)
            hint = str(parameter.annotation) if parameter else ""
            rest = REST.get(parameter.kind) if parameter else None
            for label, other in bad(value) if value is not None else bad_missing(hint):
                if rest and not isinstance(other, rest):
                    continue  # Python lets nobody give that
                answer, result = outcome(example, **{argument: other})
                if answer == "silent" and told(result) == told(good):
                    answer = "as before"
                if answer == kind == "NaN":
                    answer = "silent"
                counts[answer] += 1
                if answer not in ("words", "as before"):
                    text = (
                        f"{type(result).__name__}: {result}"
                        if answer in ("foreign", "memory")
                        else told(result)
                    )
                    print(f"  {answer:8} {name}({argument} = {label}): {shorten(text)}")
    return counts


def main(topics: list[str]) -> None:
    """Probe the topics, and print how many calls were answered how."""
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    signal.signal(signal.SIGALRM, _too_long)
    resource.setrlimit(resource.RLIMIT_AS, (ROOM, ROOM))
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    for topic in topics:
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            counts = probe(topic)
            os.chdir("/")
        print(f"{topic}: " + ", ".join(f"{n} {word}" for word, n in counts.most_common()))


if __name__ == "__main__":
    main(sys.argv[1:])
