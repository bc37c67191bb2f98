"""The topics of the subject, and where the book teaches them, mentions them or leaves them out.

``chapters/appendix/coverage.csv`` says what the book owes its sources; they are older than the
subject. ``chapters/appendix/topics.csv`` says what a course of today would have, a row for each
topic: taught, by an experiment or a proof, in the sections of these labels; mentioned, in one
sentence or one case; or left out, with the reason.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass, fields
from pathlib import Path

from press.audit.coverage import notebook_of
from press.audit.form import held_checks
from press.notebook import read_notebook
from press.pages.headings import Headings
from press.registry import read_book

TAUGHT, MENTIONED, LEFT_OUT = STATES = ("taught", "mentioned", "left out")


@dataclass(frozen=True)
class Topic:
    """A topic of the subject: where it is taught or mentioned, and how, or why it is left out."""

    area: str
    topic: str
    status: str
    where: str
    how: str

    @property
    def labels(self) -> list[str]:
        """The labels of its sections, the most important first."""
        return self.where.split()


@dataclass(frozen=True)
class Place:
    """A section that can be linked to: its chapter, and how many checks were seen to hold in it."""

    chapter: str
    checks: int


def read_topics(book: Path) -> list[Topic]:
    """Read the table of topics, in its order.

    Raises
    ------
    ValueError
        If a row has another number of fields, an unknown status, no place where one is due or no
        reason, or if a topic is named twice.
    """
    path = book / "chapters/appendix/topics.csv"
    names = [field.name for field in fields(Topic)]
    with path.open(encoding="utf-8", newline="") as file:
        reader = csv.reader(file)
        if next(reader, []) != names:
            raise ValueError(f"{path}: the first line must read {','.join(names)}")
        topics: list[Topic] = []
        for row in reader:
            where = f"{path}, line {reader.line_num}, {row[1] if len(row) > 1 else 'too short'}"
            if len(row) != len(names):
                raise ValueError(
                    f"{where}: it has {len(row)} fields, not {len(names)}; "
                    "a field with a comma stands in quotes"
                )
            topic = Topic(*row)
            for sentence in _faults_of_row(topic):
                raise ValueError(f"{where}: {sentence}")
            if topic.topic in {other.topic for other in topics}:
                raise ValueError(f"{where}: this topic has a row already")
            topics.append(topic)
    return topics


def _faults_of_row(topic: Topic) -> Iterator[str]:
    """Say what one row lacks or has too much, whatever the notebooks hold."""
    if not (topic.area and topic.topic):
        yield "a row names its area and its topic"
    if topic.status not in STATES:
        yield f"the status {topic.status!r} is unknown; it is one of {', '.join(STATES)}"
    elif topic.status == LEFT_OUT and topic.labels:
        yield "what is left out has no place; where it is named it is mentioned"
    elif topic.status != LEFT_OUT and not topic.labels:
        yield f"what is {topic.status} names the label of a section"
    if not topic.how:
        yield "the last field is empty: how it is taught, or why it is left out"


def read_places(book: Path) -> dict[str, Place]:
    """Map the label of each section of each notebook, also of chapters to come, to its place.

    The checks of a section are those of its subsections, too.
    """
    places: dict[str, Place] = {}
    registry = read_book(book)
    for chapter in (*registry.names, *registry.beside):
        path = notebook_of(book, chapter)
        headings = Headings()
        for cell in read_notebook(path).cells if path.exists() else []:
            if cell.cell_type == "markdown":
                headings.read(cell.source)
            elif cell.cell_type == "code":
                headings.pass_code()
            held = len(held_checks(cell)) if cell.cell_type == "code" else 0
            for label in [section.label for section in headings.open if section.label]:
                place = places.get(label, Place(chapter, 0))
                places[label] = Place(chapter, place.checks + held)
    return places


def faults_of_topics(book: Path) -> list[str]:
    """Say, a sentence each, which rows the notebooks do not bear out.

    Parameters
    ----------
    book : Path
        The directory of the repository, or of a copy of its data and notebooks.
    """
    places = read_places(book)
    sentences: list[str] = []
    for topic in read_topics(book):
        known = [label for label in topic.labels if label in places]
        sentences += [
            f"{topic.topic}: no section has the label {label}"
            for label in topic.labels
            if label not in places
        ]
        if topic.status == TAUGHT:
            sentences += [
                f"{topic.topic}: it is taught, but no check holds in {label}"
                for label in known
                if not places[label].checks
            ]
    return sentences
