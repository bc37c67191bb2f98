"""Every widget has a task, every section asks: counted in the committed chapters."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

import pytest
from nbformat import NotebookNode
from written import BOOK, CHAPTER_NOTEBOOKS

from press.audit.form import asking, names_used_twice, sections, tags_of
from press.notebook import read_notebook
from primer import widgets

ASK_NOTHING = ("Summary", "Further reading")
"""Sections that look back."""
LEANS = re.compile(
    r"\b(?:such an?|th(?:is|ese) (?:model|attention|layer|head|fit|table|rule|memory|picture)s?)\b"
    r"|\bhere\?",
    re.IGNORECASE,
)
"""What points at the text around a question, which the page Today asks without it."""
WIDGET = re.compile(rf"\b(?:{'|'.join(widgets.__all__)})\(")


def shows_widget(cell: NotebookNode) -> bool:
    """Say whether a cell shows a widget."""
    return (
        cell.cell_type == "code" and "figure" in tags_of(cell) and bool(WIDGET.search(cell.source))
    )


def without_task(notebook: NotebookNode) -> list[str]:
    """Return the ids of widgets' cells behind which no task stands, before the next one."""
    found = []
    for section in sections(notebook):
        places = [place for place, (cell, _) in enumerate(section) if shows_widget(cell)]
        for place, end in itertools.pairwise([*places, len(section)]):
            if not any(box.kind == "task" for box in asking(section[place + 1 : end])):
                found.append(section[place][0].id)
    return found


def silent(notebook: NotebookNode) -> list[str]:
    """Return the titles of sections that ask nothing."""
    found = []
    for section in list(sections(notebook))[1:]:
        text = "\n".join(part for cell, part in section if cell.cell_type == "markdown")
        heading = re.search(r"^## +(.+)$", text, re.MULTILINE)
        title = heading[1] if heading else ""
        if title not in ASK_NOTHING and not asking(section) and "{exercise}" not in text:
            found.append(title)
    return found


@pytest.mark.parametrize("path", CHAPTER_NOTEBOOKS, ids=lambda path: path.stem)
def test_every_widget_has_a_task_and_every_section_asks(path: Path) -> None:
    notebook = read_notebook(path)
    tasks, questions = without_task(notebook), silent(notebook)
    assert not tasks, f"widgets without a task: {tasks}"
    assert not questions, f"sections that ask nothing: {questions}"


@pytest.mark.parametrize("path", CHAPTER_NOTEBOOKS, ids=lambda path: path.stem)
def test_a_question_can_be_read_by_itself(path: Path) -> None:
    asked = [box for section in sections(read_notebook(path)) for box in asking(section)]
    leaning = [box.name for box in asked if box.kind == "question" and LEANS.search(box.question)]
    assert not leaning, f"questions that lean on the text around them: {leaning}"


def test_names_are_unique_over_the_book() -> None:
    assert names_used_twice(sorted((BOOK / "chapters").rglob("*.ipynb"))) == []
