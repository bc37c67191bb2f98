"""Every exercise with a number takes it in each spelling of a person who is right.

The spellings are made from what the exercises declare, those with other numbers too: nobody keeps a
list.  The page reads text, a notebook reads Python.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import nbformat
import numpy as np
import pytest
import torch
from playwright.sync_api import Page
from spellings import in_python, spellings, with_decimal_comma
from written import NOTEBOOKS

from press.audit.form import ANSWERED
from press.pages.page_answers import sentences
from primer import exercises
from primer.notebook import Mistake, NumberExercise

ASKED = [
    one
    for module in pkgutil.iter_modules(exercises.__path__)
    for one in vars(importlib.import_module(f"primer.exercises.{module.name}")).values()
    if isinstance(one, NumberExercise)
]
VARIANTS = [one for exercise in ASKED for one in exercise.variants]
NAMES = {"np": np, "torch": torch, "Fraction": Fraction, "Decimal": Decimal}
REPLY = "([e, answers]) => answers.map((answer) => pageAnswers.replyToNumber(e, answer))"

Open = Callable[..., Page]


def told(page: Page, exercise: NumberExercise, texts: list[str]) -> dict[str, str]:
    """Return what the page says to each answer."""
    return dict(zip(texts, page.evaluate(REPLY, [sentences(exercise), texts]), strict=True))


def in_jupyter(exercise: NumberExercise, answer: Any, capsys: pytest.CaptureFixture[str]) -> str:
    """Return what the notebook says to an answer."""
    try:
        exercise(answer)
    except Mistake as mistake:
        return f"✗ {mistake}"
    return capsys.readouterr().out.rstrip("\n")


@pytest.mark.browser
def test_the_page_takes_every_spelling_of_the_right_answer(reading_page: Open) -> None:
    page = reading_page()
    refused = []
    for exercise in VARIANTS:
        said = told(page, exercise, spellings(exercise))
        refused += [(exercise.number, text, one) for text, one in said.items() if one[0] != "✓"]
    assert refused == []
    assert len(ASKED) >= 39


@pytest.mark.parametrize("exercise", ASKED, ids=lambda one: one.number)
def test_the_notebook_takes_every_spelling_of_the_right_answer(
    exercise: NumberExercise, capsys: pytest.CaptureFixture[str]
) -> None:
    for one in exercise.variants:
        for text in in_python(one):
            assert in_jupyter(one, eval(text, NAMES), capsys)[0] == "✓", text


def predicted() -> list[tuple[dict[str, str], NumberExercise]]:
    """Return what questions and tasks compare predictions with, and each as an exercise."""
    printed = [
        output.text
        for notebook in NOTEBOOKS
        for cell in nbformat.read(notebook, as_version=4).cells
        for output in cell.get("outputs", [])
        if output.output_type == "stream"
    ]
    found = []
    for line in "\n".join(printed).splitlines():
        if answered := ANSWERED.fullmatch(line):
            value, unit, within = answered[2].replace(",", ""), answered[3] or "", answered[4]
            expects = "a percentage" if unit == "%" else f"a number of {unit or 'them'}"
            exercise = NumberExercise(
                "0.1",
                right=float(value),
                within=float(within),
                low=-1e18,
                high=1e18,
                expects=expects,
                wrong={-1e18: "no"},
                otherwise="no",
                because="yes",
            )
            found.append(({"value": value, "unit": unit, "within": within}, exercise))
    return found


@pytest.mark.browser
def test_a_prediction_takes_every_spelling_of_its_number(reading_page: Open) -> None:
    page = reading_page()
    script = "([number, texts]) => texts.map((text) => predictions.replyTo(number, text))"
    refused, numbers = [], predicted()
    for number, exercise in numbers:
        texts = [text for text in spellings(exercise) if number["unit"] or "them" not in text]
        replies = page.evaluate(script, [number, texts])
        said = zip(texts, replies, strict=True)
        refused += [(text, one["reply"]) for text, one in said if not one.get("right")]
    assert refused == []
    assert len(numbers) > 60


@pytest.mark.browser
def test_a_decimal_comma_is_named_and_is_no_other_number(reading_page: Open) -> None:
    page = reading_page()
    blamed = []
    for exercise in VARIANTS:
        said = told(page, exercise, with_decimal_comma(exercise))
        blamed += [
            (exercise.number, *one)
            for one in said.items()
            if "decimals follow a point" not in one[1]
        ]
    assert blamed == []


@pytest.mark.browser
def test_each_wrong_answer_is_named_in_every_spelling(
    reading_page: Open, capsys: pytest.CaptureFixture[str]
) -> None:
    page = reading_page()
    for exercise in VARIANTS:
        named = {v: f"✗ Exercise {exercise.number}: {said}" for v, said in exercise.wrong.items()}
        replies = {f"{value!r}": reply for value, reply in named.items()}
        for value, reply in named.items():
            replies[f"{value:,}" if abs(value) >= 1000 else f"{value!r}*1"] = reply
            assert in_jupyter(exercise, value, capsys) == reply
        assert told(page, exercise, list(replies)) == replies


SAID = {
    "4,608": "in Python a comma makes 2 of 4,608, write 4_608 or 4.608",
    "(1, 115, 400)": "in Python a comma makes 3 of 1,115,400, write 1_115_400",
    "0,6": "in Python a comma makes 2 of 0,6, write 0.6",
    "1, 2, 3": "in Python a comma makes 3 of 1,2,3, write it without commas",
    "'4608'": "your answer should be a number; write '4608' without quotes",
    "'60 Hz'": "'60 Hz' is text: write 4608 or 4_608, 2**9, 3 / 5, without a unit",
    "'60 %'": "without a unit; of 60 % write 60 where percent are asked, 0.6 where a share is",
    "8^4": "in Python ^ is no power, 8^4 is 12: write 8**4",
    "17^3": "solve it",
}
"""What is said to a number that Python reads as something else."""


@pytest.mark.parametrize(("text", "reply"), SAID.items())
def test_what_python_reads_as_something_else_is_named(text: str, reply: str) -> None:
    exercise = NumberExercise(
        "0.1",
        right=4096,
        within=0.5,
        low=0,
        high=1e6,
        expects="a whole number",
        wrong={1: "none"},
        otherwise="solve it",
        because="yes",
    )
    with pytest.raises(Mistake, match=re.escape(reply)):
        eval(f"exercise({text})", {"exercise": exercise})
