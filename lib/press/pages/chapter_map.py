"""Sphinx extension: the map of the chapters, drawn with what each of them builds on.

``{chapter-map}`` draws the registry twice, wide for a desk and tall for a telephone; the style
sheet shows one.  The colors are CSS properties, so the drawing follows the page from light to dark.
A chapter that is a page of the site is a link and says how long it is read, as its opening does;
the others say that they are to come.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from press.registry import REGISTRY, Book, Chapter, in_short, read_book


@dataclass(frozen=True)
class Drawing:
    """The measures of one drawing, in pixels."""

    name: str
    step: tuple[int, int]
    box: tuple[int, int]
    sideways: bool

    def corner(self, chapter: Chapter) -> tuple[float, float]:
        """Return the upper left corner of a chapter's box."""
        column, row = chapter.wide if self.sideways else chapter.tall
        return 2 + column * self.step[0], 2 + row * self.step[1]


SIDE = 14
"""How far an arrow goes beside a column of boxes: a curve reaches three quarters of its handles."""
WIDE = Drawing("wide", step=(188, 74), box=(156, 50), sideways=True)
TALL = Drawing("tall", step=(178, 76), box=(156, 50), sideways=False)


def _edge(drawing: Drawing, source: Chapter, target: Chapter) -> str:
    """Draw an arrow from what comes first to what builds on it."""
    (x0, y0), (x1, y1) = drawing.corner(source), drawing.corner(target)
    width, height = drawing.box
    if x0 == x1 and abs(y1 - y0) > drawing.step[1]:  # around the boxes between them
        right = x0 > drawing.box[0]
        side, out = (x0 + width, SIDE / 0.75) if right else (x0, -SIDE / 0.75)
        start, end = (side, y0 + height / 2), (side + (3 if right else -3), y1 + height / 2)
        first, second = (start[0] + out, start[1]), (end[0] + out, end[1])
    elif x0 == x1:  # straight down, or straight up
        start, end = (x0 + width / 2, y0 + height), (x1 + width / 2, y1 - 3)
        if y1 < y0:
            start, end = (start[0], y0), (end[0], y1 + height + 3)
        bend = (end[1] - start[1]) / 2
        first, second = (start[0], start[1] + bend), (end[0], end[1] - bend)
    else:
        start, end = (x0 + width, y0 + height / 2), (x1 - 3, y1 + height / 2)
        if x1 < x0:
            start, end = (x0, start[1]), (x1 + width + 3, end[1])
        bend = (end[0] - start[0]) / 2
        first, second = (start[0] + bend, start[1]), (end[0] - bend, end[1])
    from_here, *curve = (f"{x:g},{y:g}" for x, y in (start, first, second, end))
    path = f"M{from_here} C{' '.join(curve)}"
    return f'<path class="edge" marker-end="url(#{drawing.name}-tip)" d="{path}"/>'


def _box(drawing: Drawing, chapter: Chapter, color: str, address: str | None, time: str) -> str:
    """Draw a chapter: its number, its title, and how long it takes or that it is to come."""
    x, y = drawing.corner(chapter)
    width, height = drawing.box

    def text(kind: str, right: float, down: float, words: str) -> str:
        return f'<text class="{kind}" x="{x + right:g}" y="{y + down:g}">{escape(words)}</text>'

    drawn = (
        f'<g class="chapter {"written" if address else "to-come"}" '
        f'style="--part: var(--primer-{color})">'
        f'<rect x="{x:g}" y="{y:g}" width="{width}" height="{height}" rx="8"/>'
        + text("number", 11, 20, f"{chapter.number:02d}")
        + text("state", width - 10, 20, time if address else "to come")
        + text("title", 11, 39, chapter.title)
        + "</g>"
    )
    return f'<a href="{escape(address)}">{drawn}</a>' if address else drawn


def draw(book: Book, drawing: Drawing, addresses: dict[str, str], times: Mapping[str, str]) -> str:
    """Draw the map.

    Parameters
    ----------
    book : Book
        The registry of the chapters.
    drawing : Drawing
        ``WIDE`` or ``TALL``.
    addresses : dict
        The address of each written chapter's page by the chapter's name.
    times : mapping
        How long each of them is read, by the same name.

    Returns
    -------
    str
        An SVG element.
    """
    corners = [drawing.corner(chapter) for chapter in book.chapters]
    width = max(x for x, _ in corners) + drawing.box[0] + 2
    height = max(y for _, y in corners) + drawing.box[1] + 2
    left = 0 if drawing.sideways else SIDE + 2
    edges = [
        _edge(drawing, book[earlier], chapter)
        for chapter in book.chapters
        for earlier in chapter.builds_on
    ]
    boxes = [
        _box(
            drawing,
            chapter,
            book.parts[chapter.part],
            addresses.get(chapter.name),
            times.get(chapter.name, ""),
        )
        for chapter in book.chapters
    ]
    return (
        f'<svg class="chapter-map {drawing.name}" '
        f'viewBox="{-left:g} 0 {left + width + left:g} {height:g}" '
        f'role="group" aria-label="{escape(describe(book, addresses))}">'
        f'<defs><marker id="{drawing.name}-tip" viewBox="0 0 8 8" refX="6" refY="4" '
        'markerWidth="7" markerHeight="7" orient="auto"><path class="tip" d="M0,1 L7,4 L0,7 Z"/>'
        "</marker></defs>" + "".join(edges + boxes) + "</svg>"
    )


def describe(book: Book, written: Collection[str]) -> str:
    """Say in words what the map shows, for those who cannot see it."""
    done = ", ".join(chapter.title for chapter in book.chapters if chapter.name in written)
    sentences = [
        chapter.heading
        + (
            " builds on " + " and ".join(book[earlier].title for earlier in chapter.builds_on)
            if chapter.builds_on
            else " needs no other chapter"
        )
        for chapter in book.chapters
    ]
    return (
        f"Map of the {len(book.chapters)} chapters with what each builds on. "
        f"Written: {done or 'none'}. {'; '.join(sentences)}."
    )


class ChapterMapDirective(SphinxDirective):
    """``{chapter-map}``: the map of the chapters."""

    def run(self) -> list[nodes.Node]:
        """Put both drawings and the names of the parts into the page."""
        root = Path(self.env.srcdir)
        self.env.note_dependency(str(root / REGISTRY))
        book, link = read_book(root), self.env.app.builder.get_relative_uri
        addresses = {
            chapter.name: link(self.env.docname, chapter.page)
            for chapter in book.chapters
            if chapter.page in self.env.found_docs
        }
        times = {name: in_short(book[name].minutes) for name in addresses}
        legend = "".join(
            f'<li style="--part: var(--primer-{color})">{part}</li>'
            for part, color in book.parts.items()
        )
        figure = (
            f'<figure class="chapter-map">{draw(book, WIDE, addresses, times)}'
            f"{draw(book, TALL, addresses, times)}"
            f'<figcaption><ul class="parts">{legend}</ul></figcaption></figure>'
        )
        return [nodes.raw("", figure, format="html")]


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directive."""
    app.add_directive("chapter-map", ChapterMapDirective)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
