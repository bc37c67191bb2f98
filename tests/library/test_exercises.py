"""Every exercise's check accepts right answers, names plausible mistakes and waits for an answer.

The answers stand in ``answers``, in a module with the topic's name.
"""

import importlib
import json
import pkgutil

import asked
import pytest
from written import CHAPTERS

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


FIRST = asked.first_answers()
KEPT = json.loads(asked.FILE.read_text("utf-8"))


@pytest.mark.parametrize(("check", "answer"), RIGHT)
def test_right_answers_pass_and_are_asked_what_they_were_asked(check, answer, capsys):
    now = asked.asked(check, answer)
    assert "is solved" in capsys.readouterr().out
    for name in [n for n, case in FIRST.items() if case == (check, answer) and n in KEPT]:
        same = asked.near(now, KEPT[name])
        assert same, f"{now}, not {KEPT[name]}; if it is meant: python tests/tools/asked.py"


@pytest.mark.parametrize(("check", "answer", "sentence"), WRONG)
def test_wrong_answers_are_named(check, answer, sentence):
    with pytest.raises(Mistake, match=sentence):
        check(answer)


def test_of_each_check_of_a_written_chapter_it_is_kept_what_it_asks():
    topics = {name.partition("-")[2].replace("-", "_") for name in CHAPTERS}
    owed = {name for name in FIRST if name.partition(".")[0] in topics}
    assert owed <= KEPT.keys() <= FIRST.keys(), "python tests/tools/asked.py writes it"


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
def test_what_is_answered_on_the_page_is_declared_as_it_was(check, capsys):
    (name,) = [name for name, (other, _) in FIRST.items() if other is check]
    if name in KEPT:
        assert asked.near(asked.asked(check, check.right), KEPT[name]), "see tests/tools/asked.py"


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
