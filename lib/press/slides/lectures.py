"""Which lectures there are, and what each reads and shows: as the page for teachers says.

A lecture is a section of that page with a list under *In class*.  What it reads are the chapters
that its first paragraph names, each whole, or as far as the words *up to* and *from* say.
"""

from __future__ import annotations

import html
import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urldefrag

from bs4.element import NavigableString, Tag

from press.site import article_of

PAGE = "chapters/appendix/teachers"
"""The page for teachers, without its ending."""

_WEEK = re.compile(r"Week (\d+): ")
_CHAPTER = re.compile(r"chapters/\d\d-[a-z-]+")


@dataclass(frozen=True)
class Part:
    """What a lecture reads of a chapter: from one section to another, and some besides.

    Attributes
    ----------
    page : str
        The page of the chapter, without its ending.
    title : str
        What the chapter is called.
    first, last : str
        The anchors of the sections with which it begins and ends; empty for those of the chapter.
    besides : tuple of str
        Anchors of further sections.
    """

    page: str
    title: str
    first: str = ""
    last: str = ""
    besides: tuple[str, ...] = ()


class Step(NamedTuple):
    """A question or an answer.

    Attributes
    ----------
    asks : bool
        Whether it is a question.
    words : str
        HTML.
    """

    asks: bool
    words: str


@dataclass(frozen=True)
class Item:
    """What is shown in class: a widget with a question.

    Attributes
    ----------
    page, anchor : str
        The section in which the widget stands.
    title : str
        What the widget is called.
    steps : tuple of Step
        A question, its answer, the next question, and so on.
    """

    page: str
    anchor: str
    title: str
    steps: tuple[Step, ...]


@dataclass(frozen=True)
class Lecture:
    """A lecture.

    Attributes
    ----------
    name : str
        What its files are called.
    title : str
        What it is called.
    anchor : str
        Its section on the page for teachers.
    reading : str
        HTML: what is read before; empty where the page tells it to teachers only.
    parts : tuple of Part
        What it reads.
    items : tuple of Item
        What it shows.
    exercises : str
        HTML: its exercises.
    """

    name: str
    title: str
    anchor: str
    reading: str
    parts: tuple[Part, ...]
    items: tuple[Item, ...]
    exercises: str

    @property
    def chapters(self) -> list[str]:
        """The names of the chapters that it reads."""
        return [posixpath.basename(part.page) for part in self.parts]


def lectures_of(site: Path) -> list[Lecture]:
    """Read the lectures of the built site.

    Raises
    ------
    ValueError
        When the page is not there, or has no lecture.
    """
    article = article_of(site, PAGE)
    sections = [section for section in article.select("section") if section.find("h3")]
    found = [_lecture(one) for one in sections if one.find("h3", recursive=False)]
    lectures = [lecture for lecture in found if lecture]
    if not lectures:
        raise ValueError(f"{PAGE}.html has no lecture: a section with a list under `In class`.")
    return lectures


def chosen(lectures: list[Lecture], wanted: str) -> list[Lecture]:
    """Choose the lectures that read a chapter, by its number or its name; all if none is named.

    Raises
    ------
    ValueError
        When no lecture reads such a chapter.
    """
    names = sorted({name for lecture in lectures for name in lecture.chapters})
    asked = [name for name in names if wanted in (name, name[:2], name[:2].lstrip("0"))]
    if wanted and not asked:
        numbers = ", ".join(name[:2] for name in names)
        raise ValueError(f"No lecture reads a chapter {wanted!r}; there are {numbers}.")
    return [one for one in lectures if not wanted or asked[0] in one.chapters]


def _lecture(section: Tag) -> Lecture | None:
    """Read a lecture; None where nothing is shown in class."""
    heading, listed = section.h3, section.find("ul", recursive=False)
    if heading is None or not isinstance(listed, Tag):
        return None
    first, *_, last = section.find_all("p", recursive=False)
    parts = tuple(_parts(first))
    title = "".join(heading.find_all(string=True, recursive=False)).strip()
    week = _WEEK.match(title)
    names = [posixpath.basename(part.page)[3:] for part in parts]
    return Lecture(
        name=f"week-{int(week[1]):02}" if week else "-and-".join(names),
        title=title if week else " and ".join(part.title for part in parts),
        anchor=str(section["id"]),
        reading=first.decode_contents() if week else "",
        parts=parts,
        items=tuple(_items(listed)),
        exercises=last.decode_contents(),
    )


def _target(link: Tag) -> tuple[str, str]:
    """Return the page, without its ending, and the anchor to which a link of the page leads."""
    path, anchor = urldefrag(str(link.get("href", "")))
    page = posixpath.normpath(posixpath.join(posixpath.dirname(PAGE), path))
    return page.removesuffix(".html"), anchor


def _parts(reading: Tag) -> Iterator[Part]:
    """Read what a lecture reads."""
    page, title, first, last, besides = "", "", "", "", list[str]()
    limited = False
    for link in reading.find_all("a"):
        to, anchor = _target(link)
        if not _CHAPTER.fullmatch(to):
            continue
        before = link.previous_sibling
        words = str(before).split() if isinstance(before, NavigableString) else []
        if not anchor:
            if page:
                yield Part(page, title, first, last, tuple(besides))
            page, title = to, link.get_text().strip()
            first, last, besides, limited = "", "", [], False
        elif words[-2:] == ["up", "to"]:
            last, limited = anchor, True
        elif words[-1:] == ["from"]:
            first, limited = anchor, True
        elif limited and words == ["and"]:
            besides.append(anchor)
    if page:
        yield Part(page, title, first, last, tuple(besides))


def _items(listed: Tag) -> Iterator[Item]:
    """Read what is shown; an item that begins with *The same* shows the widget above once more."""
    page, anchor, title = "", "", ""
    for one in listed.find_all("li", recursive=False):
        words = one.p or one
        link = words.contents[0] if words.contents else None
        if isinstance(link, Tag) and link.name == "a":
            (page, anchor), title = _target(link), link.get_text().strip()
            link.extract()
        yield Item(page, anchor, title, tuple(_steps(words)))


def _steps(words: Tag) -> Iterator[Step]:
    """Divide an item into questions, which end in italics and with a mark, and their answers."""
    piece, asked = "", False
    for child in words.contents:
        asks = isinstance(child, Tag) and child.name == "em" and child.get_text().endswith("?")
        if asks and asked and piece.strip(" .;,"):
            yield Step(False, piece.strip())
            piece = ""
        piece += child.decode() if isinstance(child, Tag) else html.escape(str(child), quote=False)
        if asks:
            question = piece.lstrip(" .,").rstrip()
            yield Step(True, question[:1].upper() + question[1:])
            piece, asked = "", True
    if piece.strip():
        yield Step(False, piece.strip())
