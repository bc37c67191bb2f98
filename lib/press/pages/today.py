"""Sphinx extension: the page Today, which asks again what its reader has met.

All that can be asked lies in the finished pages: guesses, questions, tasks, lines to put in order,
exercises that are answered on the page, and the flash cards.  When the site is built, each of them
is copied, as it is on its page, into a script for its chapter in ``_static/today``; another script
there lists their names and sections.  ``{today}`` is the place where :file:`today.js` asks.  It
loads the scripts of those chapters only that its reader has met, also from disk, where no page may
read another.  When something comes back is said by :file:`schedule.js`, what is asked together by
:file:`mixing.js`; nothing leaves the browser.
"""

from __future__ import annotations

import hashlib
import html
import json
import posixpath
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from press.pages import cards
from press.pages.progress import chapters_of, titled

PAGE = "chapters/appendix/today.html"
FOLDER = "_static/today"
INDEX = f"{FOLDER}/index.js"
SCRIPTS = ("_static/mixing.js", INDEX)
"""What :file:`today.js` needs besides what every page has."""

_TAG = re.compile(r"<(/?)(div|form|details)\b")
_BOX = re.compile(r'<div class="(?:guess|question|task|order) admonition" id="([\w-]+)">')
_EXERCISE = re.compile(r'<div class="exercise admonition"')
_FORM = re.compile(r'<form class="page-answer" data-exercise="([^"]*)"[^>]*>')
_ID = re.compile(r'\sid="[^"]*"(?![^<>]*\btype="text")')
_PLACE = re.compile(r'(?<=\s)(href|src)="([^":]*)"')

EMPTY = (
    "Nothing is here yet. When you have guessed, answered or read a section to its end, this page "
    "asks you about it again: after a day, after a week and after a month, ten questions at a time "
    "and mixed over chapters; what you miss comes back the next day. It remembers in this browser "
    "only."
)


class Item(NamedTuple):
    """What can be asked: the name under which it is kept, its section, and its HTML."""

    name: str
    section: str
    fragment: str


def element_at(page: str, start: int) -> str:
    """Return the element that begins at a place of a page.

    Examples
    --------
    >>> element_at("<p><div><div>1</div></div></p>", 3)
    '<div><div>1</div></div>'
    """
    depth = 0
    for found in _TAG.finditer(page, start):
        depth += -1 if found[1] else 1
        if depth == 0:
            return page[start : page.index(">", found.end()) + 1]
    raise ValueError(f"nothing ends what begins with {page[start : start + 40]!r}")


def moved(fragment: str, page: str, here: str) -> str:
    """Let what stands on one page stand on another: no marks of places, links from there.

    Examples
    --------
    >>> moved('<a id="a" href="#b">', "chapters/08-positions.html", "chapters/appendix/today.html")
    '<a href="../08-positions.html#b">'
    """

    def linked(found: re.Match[str]) -> str:
        path, mark, anchor = found[2].partition("#")
        target = posixpath.join(posixpath.dirname(page), path) if path else page
        return f'{found[1]}="{posixpath.relpath(target, posixpath.dirname(here))}{mark}{anchor}"'

    return _PLACE.sub(linked, _ID.sub("", fragment))


def items_of(page: str) -> Iterator[tuple[int, str, str]]:
    """Give what a chapter's page asks: where it begins, its name, and its HTML."""
    for box in _BOX.finditer(page):
        yield box.start(), box[1], element_at(page, box.start())
    exercises = [found.start() for found in _EXERCISE.finditer(page)]
    for form in _FORM.finditer(page):
        text = [start for start in exercises if start < form.start()]
        fragment = element_at(page, form.start())
        if text:
            fragment = element_at(page, text[-1]) + fragment
        yield form.start(), json.loads(html.unescape(form[1]))["number"], fragment


def section_at(page: str, place: int, sections: list[str]) -> str:
    """Return the section of a chapter in which a place of its page lies, ``""`` before the first.

    Examples
    --------
    >>> page = '<section id="a"><p>1</p></section><section id="b"><p>2</p></section>'
    >>> section_at(page, page.index("2"), ["a", "b"])
    'b'
    """
    starts = {name: page.find(f'<section id="{name}">') for name in sections}
    before = [name for name in sections if 0 <= starts[name] <= place]
    return before[-1] if before else ""


def cards_of(app: Sphinx, chapter: str, page: str, sections: list[str]) -> Iterator[Item]:
    """Give the flash cards of a chapter, each with the section that explains it."""
    name = f"{cards.PAGE}.html"
    file = Path(app.outdir) / name
    if not file.is_file() or not (Path(app.srcdir) / f"chapters/{chapter}.ipynb").is_file():
        return
    text = file.read_text("utf-8")
    for card in cards.read_cards(Path(app.srcdir), chapter):
        start = text.find(f'<details class="card-fold" id="card-{card.id.replace("/", "-")}">')
        place = page.find(f'id="{card.section}"')
        if start >= 0 <= place:
            section = section_at(page, place, sections)
            yield Item(card.id, section, moved(element_at(text, start), name, PAGE))


def asked_in(app: Sphinx, chapter: str) -> list[Item]:
    """Return all that a chapter asks."""
    name = f"chapters/{chapter}.html"
    page = (Path(app.outdir) / name).read_text("utf-8")
    sections = list(app.env.metadata[f"chapters/{chapter}"]["kept"]["sections"])
    boxes = sorted(items_of(page))
    return [
        *(
            Item(item, section_at(page, start, sections), moved(fragment, name, PAGE))
            for start, item, fragment in boxes
        ),
        *cards_of(app, chapter, page, sections),
    ]


def write_if_new(file: Path, text: str) -> None:
    """Write a file unless it reads so already."""
    if not file.is_file() or file.read_text("utf-8") != text:
        file.parent.mkdir(exist_ok=True)
        file.write_text(text, encoding="utf-8")


def script(function: str, *values: Any) -> str:
    """Return a call in JavaScript."""
    given = ", ".join(json.dumps(value, ensure_ascii=False) for value in values)
    return f"{function}({given});\n"


def write_scripts(app: Sphinx, error: Exception | None) -> None:
    """Write what Today asks, when the pages are finished."""
    site = Path(app.outdir)
    if error or app.builder.format != "html" or not (site / PAGE).is_file():
        return
    chapters = []
    for chapter, heading in chapters_of(app).items():
        items = asked_in(app, chapter)
        text = script("chapterAsks", chapter, {item.name: item.fragment for item in items})
        write_if_new(site / f"{FOLDER}/{chapter}.js", text)
        version = hashlib.sha256(text.encode()).hexdigest()[:8]
        chapters.append(
            {
                "name": chapter,
                "heading": heading or app.env.titles[f"chapters/{chapter}"].astext(),
                "file": f"{FOLDER}/{chapter}.js?v={version}",
                "href": f"chapters/{chapter}.html",
                "sections": titled(app, chapter),
                "items": [[item.name, item.section] for item in items],
            }
        )
    write_if_new(site / INDEX, script("bookAsks", chapters))
    known = {"index.js", *(f"{chapter['name']}.js" for chapter in chapters)}
    for file in (site / FOLDER).iterdir():
        if file.name not in known:
            file.unlink()  # of a chapter that is no more


class Today(SphinxDirective):
    """The directive ``{today}``: the place where a reader is asked again."""

    def run(self) -> list[nodes.Node]:
        """Write the place, with what is said before anything was met."""
        root = "../" * self.env.docname.count("/")
        needs = html.escape(json.dumps([f"{root}{name}" for name in SCRIPTS]))
        text = (
            f'<div class="today" data-root="{root}" data-scripts="{needs}">'
            f'<p class="empty">{EMPTY}</p>'
            '<p class="no-scripts">Scripts are switched off in this browser, so this page can ask '
            "nothing. The questions stand in their chapters, and all of them can be answered "
            "there.</p></div>"
            f'<script async src="{root}_static/today.js"></script>'
        )
        return [nodes.raw("", text, format="html")]


def setup(app: Sphinx) -> dict[str, Any]:
    """Add the directive, its style, and the scripts when all pages are as they will stay."""
    app.add_directive("today", Today)
    app.connect("build-finished", write_scripts, priority=995)
    app.add_css_file("today.css", priority=910)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
