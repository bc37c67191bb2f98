"""The same exercise with other numbers: a template, of which twenty variants are made.

A template is a function of the numbers that an exercise draws.  Its defaults are the numbers of the
chapter's text; beside it stands what else may be drawn.  So the question, the right answer, the
usual mistakes and all sentences follow the numbers, and nothing is typed twice.
"""

from __future__ import annotations

import inspect
import itertools
import random
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from primer.notebook.page_answers import Indistinct, NumberExercise

VARIANTS = 20
"""How many an exercise has, the one of the chapter's text among them."""

Template = Callable[..., NumberExercise]


def varied(**choices: Sequence[Any]) -> Callable[[Template], NumberExercise]:
    r"""Make an exercise with twenty variants out of a template.

    The first variant has the defaults of the template.  The others are drawn from all combinations
    of the choices, in an order that depends on the number of the exercise alone, so the same on
    every machine.  A combination whose answers the check could not tell apart is passed over.

    Parameters
    ----------
    **choices : sequence
        For each argument of the template what it may be, its default among it.

    Returns
    -------
    callable
        A decorator; what it makes of the template is the first variant, with the others.

    Raises
    ------
    ValueError
        When an argument has no choices or a default that is none of them, when a variant has no
        question or the question of another one, when an answer leaves the range, or when fewer
        than twenty combinations have answers that can be told apart.

    Examples
    --------
    >>> @varied(a=range(3, 9), b=range(4, 9))
    ... def check_product(a: int = 3, b: int = 4) -> NumberExercise:
    ...     return NumberExercise(
    ...         "0.1", question=f"What is {a} times {b}?", right=a * b, within=0.5, low=0, high=100,
    ...         expects="a whole number", wrong={a + b: "you added the two numbers"},
    ...         otherwise=f"{a} rows of {b}", because=f"It is {a} · {b} = {a * b}.",
    ...     )
    >>> check_product(12)
    ✓ Exercise 0.1 is solved. It is 3 · 4 = 12.
    >>> len(check_product.variants)
    20
    >>> second = check_product.variants[1]
    >>> second.question
    'What is 6 times 4?'
    >>> second(10)
    Traceback (most recent call last):
        ...
    primer.notebook.exercises.Mistake: Exercise 0.1: you added the two numbers

    Homework asks what none of the twenty does:

    >>> check_product.unseen("2027-spring").question
    'What is 5 times 8?'
    """

    def decorate(template: Template) -> NumberExercise:
        first = template()
        place = f"exercise {first.number}"
        if not first.question:
            raise ValueError(f"{place}: an exercise with variants needs its question in words")
        defaults = _defaults(template, choices, place)
        found, passed = {first.question: first}, ""
        for values in _shuffled(choices, first.number):
            if values == defaults or len(found) == VARIANTS:
                continue
            try:
                one = template(**values)
                if len(one.wrong) < len(first.wrong):
                    raise Indistinct(f"{place}: two of its wrong answers are one number")
            except Indistinct as error:
                passed = f"; of {_named(values)} it was said: {error}"
                continue
            except ValueError as error:
                raise ValueError(f"{error}, for {_named(values)}") from None
            if not one.question or one.question in found:
                said = "is that of another variant" if one.question else "is missing"
                raise ValueError(f"{place}: the question for {_named(values)} {said}")
            found[one.question] = one
        if len(found) < VARIANTS:
            raise ValueError(
                f"{place}: the choices make {len(found)} variants and {VARIANTS} are needed; "
                f"give more values to draw from{passed}"
            )
        _, *others = found.values()

        def unseen(term: str) -> NumberExercise | None:
            return _unseen(template, choices, first, found.keys(), term)

        return replace(first, others=tuple(others), unseen=unseen)

    return decorate


def _unseen(
    template: Template,
    choices: Mapping[str, Sequence[Any]],
    first: NumberExercise,
    questions: Collection[str],
    term: str,
) -> NumberExercise | None:
    """Make a variant that no page of the book asks, another one for most terms."""
    for values in _shuffled(choices, f"{first.number} in {term}"):
        try:
            one = template(**values)
        except ValueError:  # its answers are too near each other, or leave the range
            continue
        if one.question not in questions and len(one.wrong) == len(first.wrong):
            return one
    return None


def _defaults(
    template: Template, choices: Mapping[str, Sequence[Any]], place: str
) -> dict[str, Any]:
    """Return the numbers of the chapter's text, each of which must be one of its choices."""
    defaults = {
        name: argument.default for name, argument in inspect.signature(template).parameters.items()
    }
    if defaults.keys() != choices.keys():
        raise ValueError(
            f"{place}: the template takes {', '.join(defaults)}, and choices are given for "
            f"{', '.join(choices)}"
        )
    for name, value in defaults.items():
        if value not in choices[name]:
            raise ValueError(f"{place}: {name}={value}, the text's own, is none of the choices")
    return defaults


def _shuffled(choices: Mapping[str, Sequence[Any]], number: str) -> list[dict[str, Any]]:
    """Return all combinations in an order that depends on the number of the exercise."""
    rng = random.Random(number)  # of its methods random() alone is the same in every Python
    combinations = [
        dict(zip(choices, v, strict=True)) for v in itertools.product(*choices.values())
    ]
    return sorted(combinations, key=lambda _: rng.random())


def _named(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={value}" for name, value in values.items())
