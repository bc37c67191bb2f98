"""Every exercise's check accepts right answers, names plausible mistakes and waits for an answer.

The answers stand in ``answers``, in a module with the topic's name.
"""

import functools
import importlib
import pkgutil
import re

import numpy as np
import pytest
import torch
from written import CHAPTER_NOTEBOOKS

from press.notebook import read_notebook
from primer import exercises
from primer.notebook import ChoiceExercise, Mistake, NumberExercise

TOPICS = [module.name for module in pkgutil.iter_modules(exercises.__path__)]
ANSWERS = [importlib.import_module(f"answers.{topic}") for topic in TOPICS]
RIGHT = [case for answers in ANSWERS for case in answers.RIGHT]
WRONG = [case for answers in ANSWERS for case in answers.WRONG]
DECLARED = [
    check
    for topic in TOPICS
    for name, check in vars(importlib.import_module(f"primer.exercises.{topic}")).items()
    if name.startswith("check_")
]
ON_PAGE = [check for check in DECLARED if isinstance(check, NumberExercise | ChoiceExercise)]
CHECKS = [check for check in DECLARED if check not in ON_PAGE]


@pytest.mark.parametrize(("check", "answer"), RIGHT)
def test_right_answers_pass(check, answer, capsys):
    check(answer)
    assert "is solved" in capsys.readouterr().out


def spoiled(reply):
    """Return another reply of the same kind."""
    if isinstance(reply, tuple | list):
        return type(reply)(map(spoiled, reply))
    if isinstance(reply, dict):
        return {key: spoiled(value) for key, value in reply.items()}
    if isinstance(reply, bool | np.bool_):
        return not reply
    if isinstance(reply, str):
        return f"{reply}x"
    if isinstance(reply, torch.Tensor | np.ndarray) and str(reply.dtype).endswith("bool"):
        return ~reply
    if isinstance(reply, int | np.integer):
        return reply + 1
    return 0.0 if isinstance(reply, float) and np.isinf(reply) else 1.5 * reply + 1


FIRST = {id(check): (check, answer) for check, answer in reversed(RIGHT) if callable(answer)}
ASKED = 5
"""Of what a check asks a function, so many replies are spoiled, one at a time."""


JUDGED = {
    "check_board": "the errors of 240 scores are judged together",
    "check_choose_penalty": "any penalty will do under which new data are fitted well",
    "check_extensions": "what it asks first, to name mistakes, it asks again to judge",
    "check_forecast": "the intervals are judged together: how wide they are, how many hold",
    "check_leash": "any weight will do that brings half of the gain",
    "check_previous": "any scores will do that look one step back",
}
"""Whose replies are judged by what they are good for, so that another may be as good."""


@pytest.mark.parametrize(
    ("check", "answer"), [case for case in FIRST.values() if case[0].__name__ not in JUDGED]
)
def test_every_reply_of_a_function_is_looked_at(check, answer):
    asked = 0

    def answered(wrong: int):
        @functools.wraps(answer)
        def replying(*arguments, **named):
            nonlocal asked
            asked += 1
            reply = answer(*arguments, **named)
            return spoiled(reply) if asked == wrong else reply

        return replying

    check(answered(0))
    for wrong in range(1, min(asked, ASKED) + 1):
        asked = 0
        with pytest.raises(Mistake):
            check(answered(wrong))


@pytest.mark.parametrize(("check", "answer", "sentence"), WRONG)
def test_wrong_answers_are_named(check, answer, sentence):
    with pytest.raises(Mistake, match=sentence):
        check(answer)


@pytest.mark.parametrize("check", CHECKS)
def test_every_check_is_tried(check):
    assert sum(other is check for other, _ in RIGHT) >= 1
    assert sum(other is check for other, _, _ in WRONG) >= 2


@pytest.mark.parametrize("check", CHECKS)
def test_every_check_waits_for_an_answer(check, capsys):
    check(lambda *arguments: ...)
    assert "waits for your answer" in capsys.readouterr().out


@pytest.mark.parametrize("check", CHECKS)
def test_every_check_asks_for_the_function_itself(check, capsys):
    for unanswered in (..., lambda *arguments: (..., 0)):
        check(unanswered)
        assert "waits for your answer" in capsys.readouterr().out
    with pytest.raises(Mistake, match="the function itself, by its name without parentheses"):
        check([1.0, 2.0])


@pytest.mark.parametrize("check", [one for one in ON_PAGE if isinstance(one, ChoiceExercise)])
def test_a_letter_may_be_written_as_on_the_page(check, capsys):
    for letter in (f"({check.right})", f" {check.right.upper()} "):
        check(letter)
    for letter in ([check.right], None, "z"):
        with pytest.raises(Mistake, match="one of the letters"):
            check(letter)


@pytest.mark.parametrize("check", ON_PAGE, ids=lambda check: check.number)
def test_an_answer_on_the_page_is_told_the_same_in_jupyter(check, capsys):
    check(...)
    check(check.right)
    assert capsys.readouterr().out.splitlines()[0].endswith("run the cell again.")
    replies = check.wrong if isinstance(check, NumberExercise) else check.replies
    for answer, reply in replies.items():
        if answer != check.right:
            with pytest.raises(Mistake) as mistake:
                check(answer)
            assert reply in str(mistake.value)


ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth")


@pytest.mark.parametrize("path", CHAPTER_NOTEBOOKS, ids=lambda path: path.stem)
def test_a_chapter_says_which_exercises_are_answered_on_the_page(path):
    chapter = str(int(path.stem[:2]))
    sources = [cell.source for cell in read_notebook(path).cells if cell.cell_type == "markdown"]
    said = next(text for text in sources if "\n## Exercises\n" in text).split("## Exercises")[1]
    assert "here" in said or "on the page" in said, (
        f"{path.stem} says of none that the page takes it"
    )
    named = {int(number) for number in re.findall(rf"\b{chapter}\.(\d+)", said)}
    named |= {place for place, word in enumerate(ORDINALS, 1) if re.search(rf"\b{word}\b", said)}
    if "the first three" in said:
        named |= {2, 3}
    on_page = {
        int(one.number.split(".")[1]) for one in ON_PAGE if one.number.startswith(f"{chapter}.")
    }
    assert named in (set(), on_page), f"{path.stem} names {sorted(named)}, of {sorted(on_page)}"
