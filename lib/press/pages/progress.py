"""Sphinx extension: what the reader's browser keeps of her reading, on its pages.

Each chapter gets a line below its title with the time that reading takes, as the registry has it,
to which :file:`progress.js` adds how far the reader came.  ``{go-on}`` is the place of a link to
where she stopped; ``{kept}`` lists the chapters with their sections, guesses, questions and
exercises, of which :file:`kept.js` makes a table.  Nothing leaves the browser.
"""

from __future__ import annotations

import html
import json
import re
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util.docutils import SphinxDirective

from press.pages.folds import cells_of
from press.pages.guesses import boxes_of, choices_of
from press.registry import REGISTRY, in_words, read_book
from sphinx_run_in_page.cells import run_place

PAGE, TODAY = "chapters/appendix/kept", "chapters/appendix/today"
_DATA = re.compile(r'class="page-answer" data-exercise="([^"]*)"')
_WAITS = re.compile(r"Exercise ([\d.]+) waits")


class kept_table(nodes.General, nodes.Element):  # type: ignore[misc]
    """The place of the table, filled when all pages are read."""


class go_on_line(nodes.General, nodes.Element):  # type: ignore[misc]
    """The place of the link to where the reader stopped, filled when all pages are read."""


def chapters_of(app: Sphinx) -> dict[str, str]:
    """Return what is read for its own sake, by name: chapters, and what stands beside."""
    book = read_book(Path(app.srcdir))
    headings = dict.fromkeys(book.opening, "") | {one.name: one.heading for one in book.written}
    headings |= dict.fromkeys(book.closing, "")
    return {name: text for name, text in headings.items() if _page(name) in app.env.found_docs}


def _page(name: str) -> str:
    return f"chapters/{name}"


def sections_of(document: nodes.document) -> list[nodes.section]:
    """Return the sections below the title of a page."""
    top = next(document.findall(nodes.section), None)
    return [node for node in top or () if isinstance(node, nodes.section)]


def contents(document: nodes.document) -> dict[str, Any]:
    """Return what of a page can be read, guessed and answered, as the browser names it."""
    guesses: list[dict[str, Any]] = []
    for guess in boxes_of(document, "guess"):
        choices = choices_of(guess)
        for number, choice in enumerate(choices):
            if "right" in choice.get("container_classes", ()):
                made = {"id": guess["ids"][-1], "right": number, "choices": len(choices)}
                guesses.append(made)
    forms = [_DATA.search(node.astext()) for node in document.findall(nodes.raw)]
    exercises = [json.loads(html.unescape(data[1]))["number"] for data in forms if data]
    for cell in cells_of(document, "exercise"):  # those that are solved in their cell, on the page
        found = _WAITS.search(cell.astext())
        if found and found[1] not in exercises and any(True for _ in cell.findall(run_place)):
            exercises.append(found[1])
    asked = boxes_of(document, "question", "task", "order")
    return {
        "sections": {one["ids"][0]: one[0].astext() for one in sections_of(document)},
        "guesses": guesses,
        "exercises": exercises,
        "questions": [box["ids"][-1] for box in asked if box["ids"]],
    }


def note(app: Sphinx, document: nodes.document) -> None:
    """Put the line below a chapter's title, and remember what is in the chapter."""
    page, name = app.env.docname, Path(app.env.docname).name
    if page != _page(name) or name not in chapters_of(app):
        return
    app.env.metadata[page]["kept"] = contents(document)
    title = next(document.findall(nodes.title), None)
    if title is None:
        return
    takes = {chapter.name: chapter.minutes for chapter in read_book(Path(app.srcdir)).written}
    time = in_words(takes.get(name, 0))
    number = len(sections_of(document))
    counted = f"{number} section{'' if number == 1 else 's'}"
    if PAGE in app.env.found_docs:
        counted = f'<a class="counted" href="appendix/kept.html">{counted}</a>'
    else:
        counted = f'<span class="counted">{counted}</span>'
    line = f"<span>about {time}</span>{counted}" if time else counted
    line = f'<div class="reading-line" data-chapter="{name}">{line}</div>'
    title.parent.insert(title.parent.index(title) + 1, nodes.raw("", line, format="html"))


class GoOn(SphinxDirective):
    """The directive ``{go-on}``: a link to where the reader stopped, if she was here before."""

    def run(self) -> list[nodes.Node]:
        """Make the page depend on all chapters, where the link may lead."""
        depend_on_chapters(self.env)
        return [go_on_line()]


class Kept(SphinxDirective):
    """The directive ``{kept}``: the table of all chapters."""

    def run(self) -> list[nodes.Node]:
        """Make the page depend on all that the table counts."""
        depend_on_chapters(self.env)
        return [kept_table()]


def depend_on_chapters(env: BuildEnvironment) -> None:
    """Let a page be read again when a chapter has changed, or when there is another one."""
    env.note_dependency(str(Path(env.srcdir) / REGISTRY))
    for name in chapters_of(env.app):
        env.note_dependency(env.doc2path(_page(name)))


def titled(app: Sphinx, name: str) -> dict[str, str]:
    """Return the titles of a chapter's sections with their numbers, as its page has them, by id."""
    numbers = app.env.toc_secnumbers.get(_page(name), {})
    return {
        section: " ".join([".".join(map(str, numbers.get(f"#{section}", ()))), title]).strip()
        for section, title in app.env.metadata[_page(name)]["kept"]["sections"].items()
    }


def fill(app: Sphinx, document: nodes.document, docname: str) -> None:
    """Write what the table and the link are made of, now that all chapters are read."""
    named = [
        {"name": name, "heading": heading or app.env.titles[_page(name)].astext()}
        for name, heading in chapters_of(app).items()
    ]
    for line in list(document.findall(go_on_line)):
        chapters = [one | {"sections": titled(app, one["name"])} for one in named]
        data = html.escape(json.dumps(chapters, ensure_ascii=False))
        today = f' data-today="{TODAY}.html"' if TODAY in app.env.found_docs else ""
        text = f'<p class="go-on" data-chapters="{data}"{today} hidden></p>'
        line.replace_self(nodes.raw("", text, format="html"))
    for place in list(document.findall(kept_table)):
        chapters = [
            one
            | {"href": f"{'../' * docname.count('/')}{_page(one['name'])}.html"}
            | app.env.metadata[_page(one["name"])]["kept"]
            for one in named
        ]
        data = html.escape(json.dumps(chapters, ensure_ascii=False))
        text = (
            f'<div class="kept" data-chapters="{data}" style="--chapters: {len(chapters)}">'
            '<p class="no-scripts">Scripts are switched off in this browser, so the book keeps '
            "nothing, and here is nothing to show. "
            "Everything else can be read.</p></div>"
        )
        place.replace_self(nodes.raw("", text, format="html"))


def setup(app: Sphinx) -> dict[str, Any]:
    """Add the line of each chapter, both directives, and the scripts."""
    app.add_node(kept_table)
    app.add_node(go_on_line)
    app.add_directive("go-on", GoOn)
    app.add_directive("kept", Kept)
    app.connect("doctree-read", note, priority=850)  # behind the places of cells that run
    app.connect("doctree-resolved", fill)
    app.add_css_file("kept.css", priority=910)
    for number, script in enumerate(["memory.js", "schedule.js", "asking.js"]):
        app.add_js_file(script, priority=490 + number, defer="defer")
    app.add_js_file("progress.js", defer="defer")
    app.add_js_file("kept.js", defer="defer")
    app.add_js_file("solved.js", priority=900, defer="defer")
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
