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


def test_names_are_unique_over_the_book() -> None:
    assert names_used_twice(sorted((BOOK / "chapters").rglob("*.ipynb"))) == []
