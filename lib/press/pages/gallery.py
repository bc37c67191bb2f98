"""Sphinx extension: ``{gallery}``, every widget of the book with its picture and a sentence.

The widgets are those that the registry names for the first page and the written chapters, each
once, where the book first shows it.  The sentence is the first line of the widget's module; the
picture is the one that stands there where no script runs, so that the page weighs no more than its
pictures in sight.
"""

from __future__ import annotations

import ast
import hashlib
import importlib.util
import os
import re
from base64 import b64decode
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from docutils import nodes
from nbformat import NotebookNode
from sphinx.application import Sphinx

from press.execution.cache import CACHE, code_of, read, result_file
from press.notebook import read_notebook
from press.pages.appendix import Generated, words
from press.pages.headings import Headings
from press.registry import REGISTRY, read_book
from primer import widgets

PICTURE = "image/png"
FIRST = "index"
"""The document of the first page."""


@dataclass(frozen=True)
class Shown:
    """A widget, where a chapter shows it.

    Attributes
    ----------
    widget : str
        Its class.
    label : str
        The label of the section, ``""`` above the first.
    cell : str
        The id of the cell.
    """

    widget: str
    label: str
    cell: str


def sentence_of(widget: str) -> tuple[str, str]:
    """Return what a widget is called and what it is, from the first line of its module.

    Raises
    ------
    ValueError
        When that line has no colon between the two.

    Examples
    --------
    >>> sentence_of("RopeRotation")[0]
    'RoPE, taken hold of'
    """
    module = getattr(widgets, widget).__module__
    spec = importlib.util.find_spec(module)
    assert spec is not None
    assert spec.origin is not None
    text = ast.get_docstring(ast.parse(Path(spec.origin).read_text("utf-8"))) or ""
    line = " ".join(text.partition("\n\n")[0].split())
    name, colon, rest = line.partition(": ")
    if not colon:
        raise ValueError(
            f"{module}: begin its docstring with a name, a colon and what it is; not {line!r}"
        )
    return name, f"{rest[0].upper()}{rest[1:]}"


def first_shown(notebook: NotebookNode, names: set[str]) -> list[Shown]:
    """Find where a notebook first shows each of some widgets, in their order.

    Parameters
    ----------
    notebook : NotebookNode
        A chapter, or the first page, where a widget stands without its code.
    names : set of str
        The classes that are looked for.
    """
    found: dict[str, Shown] = {}
    headings = Headings()
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            headings.read(cell.source)
            continue
        headings.pass_code()
        if {"figure", "remove-input"} & {*cell.metadata.get("tags", [])}:
            for name in re.findall(r"\b[A-Z]\w+(?=\()", cell.source):
                if name in names and name not in found:
                    found[name] = Shown(name, headings.linked.label, cell.id)
    return list(found.values())


class Gallery(Generated):
    """The directive ``{gallery}``."""

    def run(self) -> list[nodes.Node]:
        """Write a section for each page that shows a widget for the first time."""
        book = Path(self.env.srcdir)
        registry = read_book(book)
        self.headings = {FIRST: "The first page"}
        self.headings |= {chapter.name: chapter.heading for chapter in registry.written}
        self.env.note_dependency(str(book / REGISTRY))
        pages = {FIRST: (FIRST, registry.first_page)}
        pages |= {chapter.name: (chapter.page, chapter.widgets) for chapter in registry.written}
        seen: set[str] = set()
        sections: list[nodes.Node] = []
        for name, (page, widgets_of_page) in pages.items():
            if page not in self.env.found_docs:
                continue
            path = Path(self.env.doc2path(page))
            self.env.note_dependency(str(path))
            notebook = read(path)
            shown = first_shown(notebook, set(widgets_of_page) - seen)
            seen.update(one.widget for one in shown)
            if shown:
                pictures = self.pictures(book, notebook)
                cards = [self.card(one, page, pictures.get(one.cell)) for one in shown]
                grid = nodes.container("", *cards, classes=["gallery"])
                sections.append(self.section("gallery", name, grid))
        return sections

    def pictures(self, book: Path, notebook: NotebookNode) -> dict[str, tuple[bytes, str]]:
        """Return the pictures that the cells of a page have stored, with their descriptions."""
        result = result_file(book / CACHE, code_of(notebook))
        if not result.exists():
            return {}
        self.env.note_dependency(str(result))
        # in the order of the page: a page in Markdown has other ids each time it is read
        both = (
            [cell for cell in one.cells if cell.cell_type == "code"]
            for one in (notebook, read_notebook(result))
        )
        return {
            cell.id: (
                b64decode(output.data[PICTURE]),
                output.metadata.get(PICTURE, {}).get("alt", ""),
            )
            for cell, executed in zip(*both, strict=True)
            for output in executed.outputs
            if PICTURE in output.get("data", {})
        }

    def card(self, shown: Shown, page: str, picture: tuple[bytes, str] | None) -> nodes.container:
        """Write one widget: its picture, its name as a link to where it stands, its sentence."""
        name, sentence = sentence_of(shown.widget)
        place = ("ref", shown.label) if shown.label else ("doc", f"/{page}")
        title = nodes.paragraph("", "", self._reference(*place, name), classes=["gallery-name"])
        card = nodes.container("", title, nodes.paragraph("", "", words(sentence)))
        card["classes"].append("gallery-card")
        if picture is not None:
            card.insert(0, self.image(*picture))
        return card

    def image(self, content: bytes, alt: str) -> nodes.image:
        """Show a picture; the file is the one that the chapter has for it."""
        folder = Path(self.env.app.outdir).parent / "jupyter_execute"
        file = folder / f"{hashlib.sha256(content).hexdigest()}.png"
        if not file.exists():
            folder.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)
        here = Path(self.env.doc2path(self.env.docname)).parent
        uri = Path(os.path.relpath(file, here)).as_posix()
        return nodes.image(uri=uri, alt=alt, loading="lazy", classes=["figure", "on-paper"])


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directive and its style."""
    app.add_directive("gallery", Gallery)
    app.add_css_file("gallery.css", priority=910)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
