"""Exercises whose answer is a number or a choice, declared once as data.

Such an exercise can be answered in Jupyter, where its check is called with the answer, and on the
page, where no kernel runs: the site reads the same object (:mod:`press.pages.page_answers`) and a
small script compares.  Both give the same reply, word for word.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from primer.notebook.answers import as_number
from primer.notebook.exercises import Mistake, exercise
from primer.notebook.wording import plain

ROUNDED = "that is near, but not near enough: keep the digits on the way and round once, at the end"


class Indistinct(ValueError):
    """Two answers of an exercise are so near that its check cannot tell them apart."""


@dataclass(frozen=True)
class NumberExercise:
    r"""An exercise whose answer is one number.

    An answer :math:`x` is right when :math:`|x - right| \le within`.

    Parameters
    ----------
    number : str
        The number of the exercise, for example ``"8.3"``.
    right, within : float
        The right answer and how far from it an answer may be.
    low, high : float
        The range in which an answer makes sense, ends included.
    expects : str
        What the reader should type, for example ``"a whole number of positions"``.
    wrong : mapping of float to str
        Answers that a plausible mistake leads to, and what to say to each.
    otherwise : str
        What to say to any other answer: a hint with a number or a formula of the chapter.
    because : str
        What to add when the answer is right.
    question : str
        The question in plain words, with its numbers; an exercise without variants needs none, for
        the chapter asks it.
    others : tuple of NumberExercise
        The same exercise with other numbers; :func:`~primer.notebook.varied` makes them.
    unseen : callable, optional
        Makes, from the name of a term, a variant that is none of these, for homework; ``None``
        where the template has no other.

    Raises
    ------
    ValueError
        When an answer lies outside the range, when a wrong one would count as right, when two
        wrong ones cannot be told apart, or when a sentence is missing.

    Examples
    --------
    >>> check = NumberExercise(
    ...     "0.1", right=12, within=0.5, low=0, high=100, expects="a whole number",
    ...     wrong={7: "you added the two numbers"}, otherwise="four times three",
    ...     because="Three fours are twelve.",
    ... )
    >>> check(12)
    ✓ Exercise 0.1 is solved. Three fours are twelve.
    >>> check(...)
    ○ Exercise 0.1 waits for your answer: replace the `...` and run the cell again.
    >>> check(7)
    Traceback (most recent call last):
        ...
    primer.notebook.exercises.Mistake: Exercise 0.1: you added the two numbers
    """

    number: str
    right: float
    within: float
    low: float
    high: float
    expects: str
    wrong: Mapping[float, str]
    otherwise: str
    because: str
    question: str = ""
    others: tuple[NumberExercise, ...] = ()
    unseen: Callable[[str], NumberExercise | None] = field(
        default=lambda term: None, compare=False, repr=False
    )

    def __post_init__(self) -> None:
        """Check the declaration, so that a faulty exercise is noticed where it is written."""
        place = f"exercise {self.number}"
        if not (math.isfinite(self.within) and self.within >= 0):
            raise ValueError(f"{place}: within must be 0 or more, got {self.within}")
        if not self.low < self.high:
            raise ValueError(f"{place}: low {self.low} must be less than high {self.high}")
        for value in (self.right, *self.wrong):
            if not self.low <= value <= self.high:
                raise ValueError(
                    f"{place}: the answer {value} lies outside {self.low} … {self.high}"
                )
        values = sorted([self.right, *self.wrong])
        for one, other in itertools.pairwise(values):
            if other - one <= 2 * self.within:
                raise Indistinct(
                    f"{place}: within {self.within} the answers {one} and {other} are the same"
                )
        if not self.wrong:
            raise ValueError(f"{place}: name at least one plausible wrong answer")
        if not all([self.expects, self.otherwise, self.because, *self.wrong.values()]):
            raise ValueError(f"{place}: every answer needs a sentence")

    @property
    def variants(self) -> tuple[NumberExercise, ...]:
        """The exercise with the numbers of the chapter's text, then those with other numbers."""
        return (self, *self.others)

    @property
    def expected(self) -> str:
        """What to say to an answer that makes no sense."""
        return f"{self.expects}, between {plain(self.low)} and {plain(self.high)}, is expected"

    @property
    def reach(self) -> float:
        """How far off an answer may be to be told of rounding; 0 where the right one is whole.

        Examples
        --------
        >>> check = NumberExercise(
        ...     "0.3", right=1.7045, within=0.005, low=0, high=100, expects="two decimals",
        ...     wrong={10: "of all"}, otherwise="divide by 88", because="It is 1.5 / 88.",
        ... )
        >>> check.reach
        0.01
        """
        whole = abs(self.right - round(self.right)) <= 1e-9 * max(1, abs(self.right))
        return 0.0 if whole else max(2 * self.within, abs(self.right) / 200)

    def _near(self, value: float, other: float) -> bool:
        """Say whether two answers count as the same: 0.38 is 0.005 from 0.375, in float32 too."""
        return abs(value - other) <= self.within * (1 + 1e-6)

    def __call__(self, answer: Any, *more: Any) -> None:
        """Check the reader's answer, in the notebook; ``check(4,608)`` gives two numbers."""
        if more:
            answer = (answer, *more)

        @exercise(self.number, self.because)
        def check(given: Any) -> None:
            value = as_number(given(), "your answer")
            if not self.low <= value <= self.high:
                raise Mistake(self.expected)
            if self._near(value, self.right):
                return
            for wrong, sentence in self.wrong.items():
                if self._near(value, wrong):
                    raise Mistake(sentence)
            if abs(value - self.right) <= self.reach * (1 + 1e-6):
                raise Mistake(ROUNDED)
            power = _power_that_was_no_power(value, self.right)
            raise Mistake(power or self.otherwise)

        check(lambda: answer)


def _power_that_was_no_power(value: float, right: float) -> str:
    """Name the power whose ``^`` Python read as another operation, or say nothing.

    Examples
    --------
    >>> _power_that_was_no_power(float(2 ^ 9), 512)
    'in Python ^ is no power, 2^9 is 11: write 2**9'
    >>> _power_that_was_no_power(510.0, 512)
    ''
    """
    if not (value.is_integer() and float(right).is_integer() and right > 1):
        return ""
    for power in range(int(math.log2(right)), 1, -1):
        base = round(right ** (1 / power))
        if base**power == right and base ^ power == value:
            return f"in Python ^ is no power, {base}^{power} is {value:g}: write {base}**{power}"
    return ""


@dataclass(frozen=True)
class ChoiceExercise:
    """An exercise whose answer is one of several statements.

    Parameters
    ----------
    number : str
        The number of the exercise, for example ``"8.3"``.
    choices : mapping of str to str
        A letter for each choice, and its text; the page shows them in this order.
    right : str
        The letter of the right one.
    replies : mapping of str to str
        What to say to each choice: why it tempts and what is so.

    Raises
    ------
    ValueError
        When the right letter is no choice, or when a choice has no reply.

    Examples
    --------
    >>> check = ChoiceExercise(
    ...     "0.2", choices={"a": "It halves.", "b": "It stays."}, right="b",
    ...     replies={"a": "halving needs n/2 tokens", "b": "Nothing in it depends on n."},
    ... )
    >>> check("b")
    ✓ Exercise 0.2 is solved. Nothing in it depends on n.
    >>> check("c")
    Traceback (most recent call last):
        ...
    primer.notebook.exercises.Mistake: Exercise 0.2: answer with one of the letters a, b
    """

    number: str
    choices: Mapping[str, str]
    right: str
    replies: Mapping[str, str]

    def __post_init__(self) -> None:
        """Check the declaration, so that a faulty exercise is noticed where it is written."""
        place = f"exercise {self.number}"
        if len(self.choices) < 2:
            raise ValueError(f"{place}: a choice needs two or more choices")
        if self.right not in self.choices:
            raise ValueError(f"{place}: the right answer {self.right!r} is none of the choices")
        silent = [letter for letter in self.choices if not self.replies.get(letter)]
        if silent or set(self.replies) - set(self.choices):
            raise ValueError(f"{place}: every choice needs its reply, and no other letter has one")

    @property
    def expected(self) -> str:
        """What to say to an answer that is none of the choices."""
        return f"answer with one of the letters {', '.join(self.choices)}"

    def __call__(self, answer: Any) -> None:
        """Check the reader's answer, in the notebook."""

        @exercise(self.number, self.replies[self.right])
        def check(given: Any) -> None:
            letter = given()
            if isinstance(letter, str):
                letter = letter.strip(" ().").lower()  # "(b)", as the page prints it
            if not isinstance(letter, str) or letter not in self.choices:
                raise Mistake(self.expected)
            if letter != self.right:
                raise Mistake(self.replies[letter])

        check(lambda: answer)
