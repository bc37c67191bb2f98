"""Every exercise with code is solved on its page, and a wrong answer is told what Jupyter tells."""

from __future__ import annotations

import ast
import importlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import nbformat
import numpy as np
import pytest
from playwright.sync_api import Browser
from pressed import SITE, Pressed, ids_of, opened
from thorough import a_few
from written import BOOK, CHAPTERS

from press.audit.form import tags_of
from primer.notebook import ChoiceExercise, Mistake, NumberExercise
from sphinx_run_in_page.in_page.names import names_of

DRAWS = np.random.default_rng
LONG: dict[str, str] = {}
"""Exercises by the ids of their stubs whose solutions compute for minutes in a page."""

SEEDED = """import numpy as np
np.random.draws = getattr(np.random, "draws", np.random.default_rng)
np.random.default_rng = lambda seed=0: np.random.draws(seed)
"""
"""A check that draws other numbers each time draws the same in both places."""

pytestmark = pytest.mark.browser


@pytest.fixture(autouse=True)
def with_run() -> None:
    """Skip where the book was built without Run."""
    if not (SITE / "run" / "manifest.js").is_file():
        pytest.skip("NO CELL RAN IN A PAGE: the book was built without Run, and said why")


def solved_stubs(chapter: str) -> dict[str, str]:
    """Return by the id of each stub what a reader types who has the solution.

    What the solution defines anew gives way to it; imports and data of the stub stay.
    """
    notebook = nbformat.read(BOOK / f"chapters/{chapter}.ipynb", nbformat.NO_CONVERT)
    stub, typed = None, {}
    for cell in notebook.cells:
        tags = tags_of(cell)
        stub = cell if "exercise" in tags else stub
        if "solution" in tags and stub is not None:
            made = names_of(cell.source).sets
            parts = [one for one in ast.parse(stub.source).body if not isinstance(one, ast.Expr)]
            kept = [one for one in map(ast.unparse, parts) if not names_of(one).sets & made]
            typed[stub.id] = "\n".join([*kept, cell.source])
    return typed


@pytest.mark.parametrize("chapter", a_few(CHAPTERS, {"13-scaling"}))
def test_every_solution_solves_its_exercise(chromium: Browser, chapter: str) -> None:
    ids, typed = ids_of(f"chapters/{chapter}"), solved_stubs(chapter)
    with opened(chromium, f"chapters/{chapter}") as page:
        cells = {ids[int(cell)]: cell for cell in page.places()}
        said = {}
        for stub in (cells.keys() & typed.keys()) - LONG.keys():
            answer = page.try_out(cells[stub], typed[stub])
            good = not answer["error"] and "is solved." in answer["printed"]
            if not good:
                said[stub] = answer["error"] or answer["printed"]
    assert said == {}
    assert len(typed) >= 5


def told(check: Any, answer: Any, capsys: pytest.CaptureFixture[str]) -> str:
    """Return what a reader sees in Jupyter who answers so."""
    capsys.readouterr()
    try:
        with mock.patch("numpy.random.default_rng", lambda seed=0: DRAWS(seed)):
            check(answer)
    except Mistake as mistake:
        (line,) = mistake._render_traceback_()
        return line
    return capsys.readouterr().out.strip()


def typed_answers(chapter: str, page: Pressed) -> Iterator[tuple[str, str, Any, Any]]:
    """Give each answer in code that the tests foresee: cell, code, check and answer.

    A reader types all that the module of the answers defines, and calls the check with one.
    """
    answers = importlib.import_module(f"answers.{chapter.partition('-')[2].replace('-', '_')}")
    source = Path(str(answers.__file__)).read_text("utf-8")
    known, places = page.known()["cells"], page.places()
    for name in ("RIGHT", "WRONG"):
        for number, (check, answer, *_) in enumerate(getattr(answers, name)):
            if isinstance(check, NumberExercise | ChoiceExercise):
                continue  # they have a field of their own, which another test fills in
            call = f"{check.__name__}("
            where = [cell for cell in places if call in known[int(cell)].get("source", "")]
            case = f"{name}[{number}]"
            yield where[0], f"{SEEDED}{source}\n{case}[0]({case}[1])\n", check, answer


@pytest.mark.parametrize("chapter", a_few(CHAPTERS, {"01-statistics"}))
def test_every_answer_is_told_what_jupyter_tells(
    chromium: Browser, chapter: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with opened(chromium, f"chapters/{chapter}") as page:
        others = []
        for cell, code, check, answer in typed_answers(chapter, page):
            ran = page.try_out(cell, code)
            here, there = (ran["error"] or ran["printed"]).strip(), told(check, answer, capsys)
            if here != there:
                others.append((code.splitlines()[-1], here, there))
    assert others == []
