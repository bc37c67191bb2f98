"""The guard: what a function accepts stands in its signature, and is held there at each call.

A hint such as ``query: Float[Tensor, "... queries d_k"]`` says all there is to check: a tensor, of
floating-point numbers, with these axes, and every axis of one name as long in each argument.  A
kind of :mod:`primer.inputs.kinds`, ``step: Positive``, says more and converts: the function gets a
number, a vector, a matrix, ready to compute with; its axes may have names too, ``y:
Annotated[Vector, "n"]``.  :func:`checked` reads all of this, so that nothing is said twice, and a
body holds the mathematics, and what else relates its arguments to each other.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator
from types import MethodType
from typing import Annotated, Any, NoReturn, TypeVar, get_args, get_origin, get_type_hints, overload

import numpy as np

from primer.inputs.arrays import unmasked
from primer.inputs.foreign import is_own, last_resort
from primer.inputs.hints import is_open, not_finite, parts_of
from primer.inputs.quick import Axes, finite, quick_test, shape_test
from primer.inputs.sentences import problem, reason_of, shape_of
from primer.inputs.values import truth

Function = TypeVar("Function", bound=Callable[..., Any])
Class = TypeVar("Class", bound=type)
Rule = Callable[[str, Any], Any]
"""Takes the name of an argument and what was given for it; returns it ready, or raises."""
EXPLAINED = (
    *(ArithmeticError, AttributeError, LookupError, MemoryError),
    *(RuntimeError, TypeError, ValueError),
)
"""Errors of Python's, NumPy's or torch's that are said in words."""


@overload
def checked(function: Function) -> Function: ...
@overload
def checked(*, infinite: str) -> Callable[[Function], Function]: ...
def checked(function: Any = None, *, infinite: str = "") -> Any:
    r"""Let a function refuse, in words, arguments that differ from its hints.

    Tensors and arrays must be of the hint's kind and axes; NaN and infinity are refused in them and
    in numbers.  Lists in place of tensors are refused with what to write instead.  What a kind of
    :mod:`primer.inputs.kinds` asks for is converted: the function gets arrays where lists were
    given.  Where a hint leaves it open, as ``ArrayLike`` does, the function itself checks.

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
    >>> from primer.inputs import Positive, Vector
    >>> @checked
    ... def moved(w: Vector, step: Positive):
    ...     return w - step
    >>> moved([1, 2], 0.5)
    array([0.5, 1.5])
    >>> moved([1, 2], -0.5)
    Traceback (most recent call last):
        ...
    ValueError: step must be a finite number above 0, got -0.5
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
    names = _names(function)
    if unknown := set(infinite.split()) - {*names, "return"}:
        raise ValueError(f"{function.__qualname__} has no argument {', '.join(sorted(unknown))}")
    plan: _Plan | None = None  # made at the first call, when all that hints name is there

    @functools.wraps(function)
    def call(*args: Any, **named: Any) -> Any:
        nonlocal plan
        if plan is None:
            plan = _Plan(function, set(infinite.split()))
        args, named = plan.ready(args, named)
        try:
            result = function(*args, **named)
        except EXPLAINED as error:
            plan.explain(error, args, named)
        if plan.finite_result and not finite(result):
            plan.refuse(result)
        return plan.one_by_one(result, args, named) if plan.lazy else result

    return call


def checked_fields(made: Class) -> Class:
    """Let a dataclass refuse, in words, fields that differ from their hints.

    Parameters
    ----------
    made : type
        A dataclass; what else its fields must be stands in its ``__post_init__``.

    Returns
    -------
    type
        The same class.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> @checked_fields
    ... @dataclass(frozen=True)
    ... class Point:
    ...     x: float
    >>> Point("3")
    Traceback (most recent call last):
        ...
    ValueError: x must be one finite number, got '3'
    """
    made.__init__ = checked(made.__init__)  # type: ignore[misc]
    return made


def unasked(method: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function or a method without its guard, for a loop that has asked at its door.

    Examples
    --------
    >>> class Counter:
    ...     @checked
    ...     def add(self, n: int) -> str:
    ...         return f"{n} more"
    >>> unasked(Counter().add)("two")
    'two more'
    """
    bare = inspect.unwrap(method)
    owner = getattr(method, "__self__", None)
    return method if bare is method else bare if owner is None else MethodType(bare, owner)


def rule_of(hint: Any) -> Rule | None:
    """Give what a kind does with a value; None for a hint that converts nothing.

    Examples
    --------
    >>> from primer.inputs import Positive
    >>> rule_of(Positive)("step", 2), rule_of(float)
    (2.0, None)
    >>> rule_of(bool)("causal", np.bool_(False))  # also what NumPy and torch compare
    False
    """
    if hint is bool:
        return truth
    for part in parts_of(hint):
        if get_origin(part) is Annotated:
            rules = [rule for rule in get_args(part)[1:] if callable(rule)]
            others = [other for other in parts_of(hint) if other is not part]
            if rules:
                return _unless(others, rules[0]) if others else rules[0]
    return None


def axes_of(hint: Any) -> str:
    """Give the names of a kind's axes, as ``Annotated[Matrix, "n p"]`` says them, or nothing."""
    for part in parts_of(hint):
        if get_origin(part) is Annotated:
            return next((axes for axes in get_args(part)[1:] if isinstance(axes, str)), "")
    return ""


def _unless(others: list[Any], rule: Rule) -> Rule:
    """Let what the other hints of a union allow be as it is."""
    tests = [quick_test(other) for other in others]

    def either(name: str, value: Any) -> Any:
        return value if any(test(value, {}) for test in tests) else rule(name, value)

    return either


def _names(function: Callable[..., Any]) -> list[str]:
    """Give the arguments that have a name each."""
    several = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    parameters = inspect.signature(function).parameters.values()
    return [p.name for p in parameters if p.kind not in several]


class _Plan:
    """What is asked of the arguments of a function, read once from its hints."""

    def __init__(self, function: Callable[..., Any], unbounded: set[str]) -> None:
        parameters = inspect.signature(function).parameters
        placed = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
        self.places = [name for name, p in parameters.items() if p.kind in placed]
        several = [n for n, p in parameters.items() if p.kind is inspect.Parameter.VAR_POSITIONAL]
        self.rest = "".join(several)  # as many as the caller likes, under one name
        owner, _, self.name = function.__qualname__.rpartition(".")
        self.called = owner.rpartition(".")[2] if self.name == "__init__" else self.name
        self.unbounded, self.lazy = unbounded, inspect.isgeneratorfunction(function)
        self.finite_result = "return" not in unbounded
        try:
            found = get_type_hints(function, include_extras=True)
        except NameError as error:
            raise NameError(
                f"{function.__qualname__} has a hint that nobody defined, {error.name}; the kinds "
                "of arguments stand in primer.inputs.kinds"
            ) from error
        hints = {name: found[name] for name in _names(function) if name in found}
        hints |= {name: tuple[found[name], ...] for name in several if name in found}
        self.rules = {name: rule for name, hint in hints.items() if (rule := rule_of(hint))}
        self.axes = {name: axes for name in self.rules if (axes := axes_of(hints[name]))}
        self.shapes = {name: shape_test(axes) for name, axes in self.axes.items()}
        if strange := [self.axes[name] for name, fits in self.shapes.items() if fits is None]:
            raise ValueError(f"{self.name} has axes that nobody can read: {', '.join(strange)}")
        self.plain = {n: h for n, h in hints.items() if n not in self.rules and not is_open(h)}
        self.tests = {
            name: quick_test(hint, infinite=name in unbounded) for name, hint in self.plain.items()
        }
        self.defaults = {  # what is no number, such as a pair of frequencies, is converted too
            name: rule(name, parameters[name].default)
            for name, rule in self.rules.items()
            if isinstance(parameters[name].default, list | tuple)
        }

    def given(self, args: tuple[Any, ...], named: dict[str, Any]) -> dict[str, Any]:
        """Give the arguments of a call by name."""
        rest = {self.rest: args[len(self.places) :]} if self.rest else {}
        return dict(zip(self.places, args, strict=False)) | rest | named

    def ready(
        self, args: tuple[Any, ...], named: dict[str, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Return the arguments of a call as the function shall get them, or raise."""
        axes: Axes = {}
        doubt = False
        values = self.given(args, named)
        if len(values) < min(len(args), len(self.places)) + len(named) + bool(self.rest):
            return args, named  # one is given twice, as Python will say
        for name, value in values.items():
            if (rule := self.rules.get(name)) is not None:
                values[name] = value = rule(name, value)
                fits = self.shapes.get(name)
                if fits is not None and value is not None and not fits(np.shape(value), axes):
                    self.refuse_shape(name, values, axes)
            elif (test := self.tests.get(name)) is None:
                if isinstance(value, np.ma.MaskedArray | list | tuple):
                    unmasked(name, value)
            elif not doubt and not test(value, axes):
                doubt = True
                self.look(values)
        if not self.rules:
            return args, named
        for name, default in self.defaults.items():
            values.setdefault(name, default)
        values.pop(self.rest, None)
        placed = tuple(values.pop(name) for name in self.places[: len(args)])
        return placed + args[len(self.places) :], values

    def explain(self, error: Exception, args: tuple[Any, ...], named: dict[str, Any]) -> NoReturn:
        """Raise an error again, in words where it is neither the library's nor the reader's."""
        if is_own(error):
            raise error
        values = self.given(args, named)
        reason = reason_of(error, self.called, values)
        if reason := reason or last_resort(error, self.called, values):
            raise ValueError(reason) from error
        raise error

    def one_by_one(
        self, results: Iterator[Any], args: tuple[Any, ...], named: dict[str, Any]
    ) -> Iterator[Any]:
        """Give what a function yields, which runs only now, and look at it as at a result."""
        try:
            for result in results:
                if self.finite_result and not finite(result):
                    self.refuse(result)
                yield result
        except EXPLAINED as error:
            self.explain(error, args, named)

    def look(self, values: dict[str, Any]) -> None:
        """Raise a sentence where an argument differs from its hint."""
        for name in self.plain.keys() & values.keys():
            unmasked(name, values[name])
        plain = {name: (values[name], hint) for name, hint in self.plain.items() if name in values}
        if said := problem(plain, self.unbounded):
            raise ValueError(said)

    def refuse(self, result: Any) -> None:
        """Raise a sentence where a number of a result is not finite."""
        if broken := not_finite(result, infinite=False):
            raise ValueError(
                f"{self.name} gives {broken} for these arguments: they are too large or too small "
                f"for floating-point numbers, or the result has no finite value there"
            )

    def refuse_shape(self, name: str, values: dict[str, Any], axes: Axes) -> None:
        """Raise a sentence where an array does not go together with those before it."""
        shape, names = np.shape(values[name]), self.axes[name]
        if len(shape) == 1 and isinstance(length := axes.get(names), int):
            raise ValueError(f"{name} must have length {length}, got length {shape[0]}")
        beside = ", ".join(
            f"{other} {shape_of(self.axes[other])} = {np.shape(values[other])}"
            for other in self.axes
            if other != name and values.get(other) is not None
        )
        asked = f"{name} must have shape {shape_of(names)}, got {shape}"
        raise ValueError(f"{asked}, beside {beside}" if beside else asked)
