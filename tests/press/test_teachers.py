"""The page for teachers shows every widget in its section, and asks before it tells."""

import re

import nbformat
import pytest
from by_keyboard import page_exercises
from written import BOOK, CHAPTERS

from press.registry import read_book
from primer import widgets

PAGE = (BOOK / "chapters/appendix/teachers.md").read_text("utf-8")
TERM, _, SHORT = PAGE.partition("(teachers-four)=")
LINK = re.compile(r"\{ref\}`(?:[^`<]*<)?([\w-]+)>?`")
LABEL = re.compile(r"^\(([\w-]+)\)=$", re.MULTILINE)
ITEMS = re.findall(r"^- (.+)$", TERM, re.MULTILINE)
"""What is shown in class."""


def shown_in(chapter: str) -> dict[str, set[str]]:
    """Map the sections of a chapter, by label, to the widgets that stand in them."""
    found: dict[str, set[str]] = {}
    label = ""
    for cell in nbformat.read(BOOK / f"chapters/{chapter}.ipynb", as_version=4).cells:
        if cell.cell_type == "markdown":
            label = [label, *LABEL.findall(cell.source)][-1]
        elif "figure" in cell.metadata.get("tags", []):
            made = {name for name in widgets.__all__ if re.search(rf"\b{name}\(", cell.source)}
            found.setdefault(label, set()).update(made)
    return {section: names for section, names in found.items() if names}


def exercises_of(chapter: str) -> dict[str, str]:
    """Map the labels of a chapter's exercises to their titles."""
    cells = nbformat.read(BOOK / f"chapters/{chapter}.ipynb", as_version=4).cells
    text = "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    found = re.findall(r"^[`:]{3,}\{exercise\} (.+)\n:label: (\S+)", text, re.MULTILINE)
    return {label: title for title, label in found}


WIDGETS = {label: names for chapter in CHAPTERS for label, names in shown_in(chapter).items()}


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_every_widget_of_a_chapter_is_shown_in_class(chapter: str) -> None:
    sections = {label for item in ITEMS for label in LINK.findall(item)}
    taught = {
        name for label, names in shown_in(chapter).items() if label in sections for name in names
    }
    lost = set(read_book(BOOK)[chapter].widgets) - taught
    assert not lost, (
        f"no item under *In class* of chapters/appendix/teachers.md links the section of {chapter} "
        f"that shows {', '.join(sorted(lost))}: give it one, with a question to ask"
    )
    assert taught == set(read_book(BOOK)[chapter].widgets)


@pytest.mark.parametrize("item", ITEMS, ids=lambda item: item[:30])
def test_what_is_shown_in_class_begins_with_a_question(item: str) -> None:
    first = LINK.match(item)
    assert item.startswith("The same") or (first and first[1] in WIDGETS), "link its widget first"
    asked = re.search(r"\*[^*]+\?\*", item)
    assert asked, "ask for a prediction, in italics, before the answer"
    assert len(item[asked.end() :].split()) >= 3, "say what is then to be seen"


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_every_chapter_is_read_and_practised_in_the_term(chapter: str) -> None:
    assert f"](../{chapter})" in TERM, (
        f"chapters/appendix/teachers.md does not read {chapter}: give it a lecture before "
        "`(teachers-four)=`, as its neighbors have: a heading, a paragraph that links "
        f"`](../{chapter})`, a list *In class*, three *Exercises*; and its name to NAMES in "
        "tests/press/test_slides.py"
    )
    topic = {"01": "stat", "02": "reg"}.get(chapter[:2], chapter[3:])
    exercises = re.findall(rf"\{{numref\}}`\{{number\}} ([^`<]+) <(ex-{topic}-[\w-]+)>`", TERM)
    assert len(exercises) >= 3, (
        f"the lecture on {chapter} lists {len(exercises)} exercises of it, not three: "
        f"{{numref}}`{{number}} Title <ex-{topic}-…>`"
    )
    titles = exercises_of(chapter)
    for title, label in exercises:
        assert title.lower() in titles[label].lower(), f"{label} is called {titles[label]!r}"
    on_the_page = {exercise.number for exercise in page_exercises(chapter)}
    for label in re.findall(rf"<(ex-{topic}-[\w-]+)>` \(minutes\)", TERM):
        assert f"{int(chapter[:2])}.{[*titles].index(label) + 1}" in on_the_page


def sections_of(chapter: str) -> list[str]:
    """Return the labels of a chapter in their order, those within sections too."""
    cells = nbformat.read(BOOK / f"chapters/{chapter}.ipynb", as_version=4).cells
    return [
        label
        for cell in cells
        if cell.cell_type == "markdown"
        for label in LABEL.findall(cell.source)
    ]


def read_of(chapter: str, told: str) -> list[str]:
    """Return the labels of a chapter that a sentence gives to read, all where it names none.

    Within a section what stands under its label counts, and a label named by itself its section.
    """
    order = sections_of(chapter)
    spans = re.findall(r"(from )?\{ref\}`([\w-]+)`(?: to \{ref\}`([\w-]+)`)?", told)
    read, mentioned = [], False
    for begins, label, to in spans:
        if label not in order:
            continue
        at, mentioned = order.index(label), True
        before = told.partition("{ref}`" + label + "`")[0]
        if to:
            read += order[at : order.index(to) + 1]
        elif begins:
            read += order[at:]
        elif re.search(r"up to $", before):
            read += order[: at + 1]
        else:
            read.append(label)
    return read if mentioned else order


PARTS = [
    *re.findall(r"\*\*Read\.\*\* (.+)\n\n\*\*In class\.\*\*\n((?:- .+\n)+)", TERM),
    *re.findall(r"^\| \d · [^|]+\| ([^|]+)\| ([^|]+)\|", SHORT, re.MULTILINE),
]
"""What a week reads, and what it shows."""


@pytest.mark.parametrize(("told", "shown"), PARTS, ids=lambda text: text[:40])
def test_what_a_week_shows_stands_in_what_it_reads(told: str, shown: str) -> None:
    wanted = [label for label in LINK.findall(shown) if label in WIDGETS]
    for chapter in CHAPTERS:
        order = sections_of(chapter)
        if not set(wanted) & set(order):
            continue
        named = f"](../{chapter})" in told or set(LINK.findall(told)) & set(order)
        read = read_of(chapter, told) if named else []
        unread = [label for label in wanted if label in order and label not in read]
        assert not unread, f"shown and not read: give {', '.join(unread)} of {chapter} to read, too"


def test_there_are_fourteen_weeks_and_four() -> None:
    weeks = [int(number) for number in re.findall(r"^### Week (\d+):", TERM, re.MULTILINE)]
    assert weeks == [*range(1, 15)]
    assert [int(number) for number in re.findall(r"^\| (\d) ·", SHORT, re.MULTILINE)] == [
        1,
        2,
        3,
        4,
    ]
    for label in LINK.findall(SHORT):
        assert label in PAGE
