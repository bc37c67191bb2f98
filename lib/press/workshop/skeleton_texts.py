"""The files of a new chapter, small but whole: what the author replaces, piece by piece.

Words in capitals are filled in: ``NAME`` (05-language-models), ``SLUG`` (language-models),
``TOPIC`` (language_models), ``TITLE``, ``NUMBER`` and ``BUILDS_ON``, a list of links.  The
placeholder of every idea is the mean of some numbers.
"""

from __future__ import annotations

CHAPTER = r"""
%%% markdown opening
# TITLE

*The question that this chapter answers, as somebody would ask it.* Two sentences more: why anybody
cares, and what makes the answer hard.

**You will be able to** derive the mean of a list and write it in one line; say what each number of
the list contributes; and recognize when a mean is the wrong summary.

**It builds on** BUILDS_ON. Reading takes about an hour, running some seconds.

%%% code setup setup
import matplotlib.pyplot as plt
import numpy as np

from primer.TOPIC.averages import mean
from primer.notebook import answer_to, show, show_source, use_book_style, verify, verify_raises
from primer.palette import LIGHT

use_book_style()

%%% markdown picture
(SLUG-picture)=
## The whole idea in one picture

Three numbers and the place where they balance.

::::{admonition} Question
:class: question
:name: ask-SLUG-balance

The largest of three numbers moves three places to the right. How far does their balance move?

:::{dropdown} Answer
One place: the other two stay, and each of the three has a third of the say.
:::
::::

%%% code picture-figure figure
figure, axes = plt.subplots(figsize=(7.2, 1.8))
axes.plot([1, 2, 6], [0, 0, 0], "o", color=LIGHT["blue"], label="the numbers")
axes.plot([3], [0], "^", color=LIGHT["orange"], markersize=12, label="their mean")
axes.set(xlabel="value", yticks=[], xlim=(0, 10))
axes.legend()
axes.set_title("The mean is where the numbers balance")
show(
    figure,
    alt="Three dots at 1, 2 and 6 on a line, and a triangle below the place 3, where the distances "
    "to the left, 2 and 1, add up to the distance to the right.",
)

%%% code picture-check check
move = mean([1, 2, 9]) - mean([1, 2, 6])
answer_to("ask-SLUG-balance", move, unit="places", within=0.1)

%%% markdown first
(SLUG-first)=
## The first surprise

A question, or something that should not happen.

::::{admonition} Guess first
:class: guess
Of three numbers the largest grows by 3. Their mean

:::{dropdown} grows by 3.
The largest number does; the mean has two others to carry, and moves by 3/3 = 1.
:::
:::{dropdown} grows by 1.
Right. Each number has a third of the say.
:::
:::{dropdown} stays as it is.
That is what the *median* does: it does not ask how large the largest number is.
:::
::::

The idea in words, then the definition:

$$
\bar x = \frac1n\sum_{i=1}^n x_i.
$$ (eq-SLUG-mean)

%%% code first-by-hand
numbers = [1, 2, 6]
total = 0
for number in numbers:
    total += number
print(total / len(numbers))

%%% markdown first-read
Equation {eq}`eq-SLUG-mean` gives 3 for these numbers, as the loop does. In the library the function
also says what it cannot work with.

%%% code first-source figure
show_source(mean)

%%% markdown first-mistake
:::{admonition} Common mistake
:class: mistake
"The mean is the *typical* number." None of the three numbers is 3.
:::

%%% code first-check check
verify("the loop and the library agree", total / len(numbers), mean(numbers), atol=1e-12)
verify("one of n numbers moves the mean by 1/n", mean([1, 2, 9]) - mean(numbers), 3 / 3, atol=1e-12)
verify_raises("an empty list has no mean", ValueError, lambda: mean([]))

%%% markdown real
(SLUG-real)=
## On real data

An experiment on something that nobody made up for us, with seeds, their spread and every variant
tuned alike.

::::{admonition} Guess first
:class: guess
The numbers from 1 to 100 have the mean

:::{dropdown} 50.
Half of 100; but the numbers begin at 1, not at 0: the pairs 1 + 100, 2 + 99, … have the mean 50.5.
:::
:::{dropdown} 50.5.
Right. Each of the pairs 1 + 100, 2 + 99, … has it.
:::
:::{dropdown} 55.
That is ten times the mean of 1 to 10, 5.5; but ten times these numbers are 10 to 100.
:::
::::

%%% code real-numbers
print(np.arange(1, 101).mean())

%%% markdown exercises
(SLUG-exercises)=
## Exercises

```{exercise} Warm-up: three numbers
:label: ex-SLUG-three

What is the mean of 4, 8 and 9?
```

%%% code three-stub exercise
from primer.exercises.TOPIC import check_three

answer = ...
check_three(answer)

%%% markdown three-hint
:::{admonition} Hint
:class: dropdown tip
Add them first.
:::

%%% code three-solution solution
check_three((4 + 8 + 9) / 3)

%%% markdown mean-exercise
```{exercise} Implement: a mean
:label: ex-SLUG-mean

Write a function that computes the mean of a list, without `primer` and NumPy.
```

%%% code mean-stub exercise
from primer.exercises.TOPIC import check_mean


def my_mean(numbers):
    return ...


check_mean(my_mean)

%%% markdown mean-hint
:::{admonition} Hint
:class: dropdown tip
`sum` and `len`.
:::

%%% code mean-solution solution
def my_mean(numbers):
    return sum(numbers) / len(numbers)


check_mean(my_mean)

%%% markdown summary
(SLUG-summary)=
## Summary

* The **mean** is the sum divided by the number; each of n numbers moves it by 1/n of its own move.

%%% markdown reading
## Further reading

What to read next, each with a sentence on why.

```{bibliography}
:filter: docname in docnames
```
"""

CARDS = """{"summary": [{
  "question": "What is the mean of n numbers, and by how much does it move with one of them?",
  "section": "SLUG-first"
}]}"""

PACKAGE = '''"""TITLE: what this package computes, in a line.

The chapter *TITLE* teaches this module; each function stands there beside its formula.
"""

from primer.TOPIC.averages import mean

__all__ = ["mean"]
'''

MODULE = r'''"""One idea of the chapter *TITLE*: averages, until there is a better one."""

from __future__ import annotations

from primer.inputs import Numbers, checked


@checked
def mean(x: Numbers) -> float:
    r"""Compute the mean of numbers.

    .. math:: \bar x = \frac1n\sum_{i=1}^n x_i

    Parameters
    ----------
    x : array_like
        The numbers, of any shape.

    Returns
    -------
    float
        Their mean.

    Raises
    ------
    ValueError
        When there is no number, or one is NaN or infinite.

    References
    ----------
    The paper or the book that the formula is from, and which equation there.

    Examples
    --------
    >>> mean([1, 2, 6])
    3.0
    """
    return float(x.sum() / x.size)
'''

EXERCISES = '''"""Checks for the exercises of *TITLE*: each names the mistake it recognizes."""

from __future__ import annotations

from primer.notebook import NumberExercise, exercise
from primer.notebook.answers import Answer, as_number, explain

check_three = NumberExercise(
    "NUMBER.1",
    right=7,
    within=0.01,
    low=0,
    high=100,
    expects="a number",
    wrong={
        21: "that is the sum; divide it by the number of numbers, which is 3",
        8: "that is the one in the middle, the median; the mean counts all three",
    },
    otherwise="add 4, 8 and 9 and divide by 3",
    because="4 + 8 + 9 = 21, and 21/3 = 7.",
)


@exercise("NUMBER.2")
def check_mean(my_mean: Answer) -> None:
    """Check ``my_mean(numbers)``."""
    numbers = [3.0, 5.0, 13.0, 1.0]
    explain(
        as_number(my_mean(numbers)),
        5.5,
        {
            "the sum is still to be divided by the number of numbers": 22.0,
            "divide by n; n - 1 belongs to the sample variance": 22 / 3,
        },
    )
'''

ANSWERS = '''"""Answers to the exercises of the chapter *TITLE*."""

from primer.exercises import TOPIC as checks

RIGHT = [
    (checks.check_three, 7),
    (checks.check_mean, lambda numbers: sum(numbers) / len(numbers)),
]
WRONG = [
    (checks.check_three, 21, "that is the sum"),
    (checks.check_three, 8, "the median"),
    (checks.check_mean, sum, "still to be divided"),
    (checks.check_mean, lambda numbers: sum(numbers) / (len(numbers) - 1), "n - 1 belongs"),
]
'''

TESTS = '''"""TITLE against NumPy and closed forms."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from primer.TOPIC.averages import mean


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=50))
def test_the_mean_is_numpys(numbers):
    assert mean(numbers) == pytest.approx(np.mean(numbers), rel=1e-12, abs=1e-6)


@pytest.mark.parametrize("numbers", [[], [1.0, float("nan")], ["one"]])
def test_what_has_no_mean_is_refused(numbers):
    with pytest.raises(ValueError, match="x "):
        mean(numbers)
'''

LIBRARY_PAGE = """(library-SLUG)=
# TITLE: `primer.TOPIC`

The module of chapter {doc}`/chapters/NAME`.

```{eval-rst}
.. automodule:: primer.TOPIC
   :members:
```
"""

ENTRY = """
[[chapter]]
name = "NAME"
title = "TITLE"
about = "what it is about, in a line"
part = "PART"
builds_on = []
library = ["TOPIC"]
widgets = []
minutes = 60
map = { wide = [COLUMN, ROW], tall = [0, LAST] }
"""
