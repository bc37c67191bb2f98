"""Checks of the exercises: they tell a reader what is wrong, not only that something is."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

Check = Callable[[Callable[..., Any]], None]


class Mistake(AssertionError):
    """What an exercise's check found wrong with an answer, as a sentence to the reader."""

    def _render_traceback_(self) -> list[str]:
        """Show the sentence alone: the check's own code is no help to the reader."""
        return [f"✗ {self}"]


def exercise(number: str, because: str = "") -> Callable[[Check], Check]:
    """Make an exercise's check out of a function that raises :class:`Mistake`.

    The check takes the reader's function.  While that function still returns ``...`` it only says
    so; when the function raises an error of its own, the error is reported as the mistake.

    Parameters
    ----------
    number : str
        The number of the exercise, for example ``"16.1"``.
    because : str
        A sentence to add when the answer is right.

    Examples
    --------
    >>> @exercise("0.1")
    ... def check_double(answer):
    ...     if answer(3) == 9:
    ...         raise Mistake("you squared the number; doubling 3 gives 6")
    ...     if answer(3) != 6:
    ...         raise Mistake(f"doubling 3 gives 6, not {answer(3)}")
    >>> check_double(lambda x: ...)
    ○ Exercise 0.1 waits for your answer: replace the `...` and run the cell again.
    >>> check_double(lambda x: 2 * x)
    ✓ Exercise 0.1 is solved.
    >>> check_double(lambda x: x * x)
    Traceback (most recent call last):
        ...
    primer.notebook.exercises.Mistake: Exercise 0.1: you squared the number; doubling 3 gives 6
    """

    def decorate(check: Check) -> Check:
        @functools.wraps(check)
        def run(answer: Any) -> None:
            if not callable(answer) and answer is not ...:
                raise Mistake(
                    f"Exercise {number}: give the check the function itself, by its name without "
                    f"parentheses, not {answer!r}"
                )
            unanswered = False

            @functools.wraps(answer)
            def watched(*args: Any, **kwargs: Any) -> Any:
                nonlocal unanswered
                value = ... if answer is ... else answer(*args, **kwargs)
                parts = value if isinstance(value, tuple) else (value,)
                if any(part is ... for part in parts):
                    unanswered = True
                    raise Mistake("no answer yet")
                return value

            try:
                check(watched)
            except Exception as error:
                if unanswered:
                    print(
                        f"○ Exercise {number} waits for your answer: "
                        "replace the `...` and run the cell again."
                    )
                    return
                if isinstance(error, Mistake):
                    raise Mistake(f"Exercise {number}: {error}") from None
                raise Mistake(
                    f"Exercise {number}: your code stopped with {type(error).__name__}: {error}"
                ) from error
            print(f"✓ Exercise {number} is solved." + (f" {because}" if because else ""))

        return run

    return decorate
