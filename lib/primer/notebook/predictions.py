"""Numbers that a reader predicts: the library computes them, so no page can be out of date."""

from __future__ import annotations

import math
import re
from typing import Annotated

import numpy as np

from primer.inputs import Number, Positive, checked

NAME = re.compile(r"(?:ask|try)-[a-z0-9]+(?:-[a-z0-9]+)*")
"""``ask-…`` is a question of a section, ``try-…`` a task at a widget."""


def name_of_question(name: str, value: object) -> str:
    """Return the name of a question or of a task, if it is one.

    Examples
    --------
    >>> name_of_question("name", "ask-positions-turns")
    'ask-positions-turns'
    >>> name_of_question("name", "Turns")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    ValueError: name must be that of a question, ask-…, or a task, try-…, in small letters, ...
    """
    if not (isinstance(value, str) and NAME.fullmatch(value)):
        raise ValueError(
            f"{name} must be that of a question, ask-…, or a task, try-…, in small letters, digits "
            f"and single hyphens ('ask-positions-turns'), got {value!r}"
        )
    return value


@checked
def answer_to(
    name: Annotated[str, name_of_question], value: Number, unit: str = "", *, within: Positive
) -> None:
    """Print the number that answers a question or a task, which the page asks a reader for.

    The value is rounded to a digit that ``within`` asks for, at most half as coarse; the page reads
    this line and says how far a prediction is away.

    Parameters
    ----------
    name : str
        The ``:name:`` of the question, ``ask-…``, or of the task, ``try-…``.
    value : float
        The number, computed with the library.
    unit : str
        What it counts or measures, such as ``"turns"``; ``"%"`` for percentages.
    within : float
        How near counts as right, in the same unit.

    Raises
    ------
    ValueError
        When the name has another form, the value is no finite number or ``within`` is not above 0.

    Examples
    --------
    >>> answer_to("ask-positions-turns", 5 / (2 * math.pi), unit="turns", within=0.05)
    → ask-positions-turns: 0.80 turns (within 0.05)
    >>> answer_to("try-cache-entries", 124_400, within=500)
    → try-cache-entries: 124,400 (within 500)
    """
    digits = max(0, math.ceil(-math.log10(within)))
    if within >= 0.5 and value.is_integer():
        digits = 0  # "12", not "12.0"
    shown = f"{round(value, digits) + 0.0:,.{digits}f}"  # adding 0.0 takes the sign from -0.0
    near = np.format_float_positional(within, trim="-")
    print(f"→ {name}: {' '.join([shown, unit]).strip()} (within {near})")
