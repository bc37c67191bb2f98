"""Sphinx extension: the map of the chapters, drawn with what each of them builds on.

``{chapter-map}`` draws it twice, wide for a desk and tall for a telephone; the style sheet shows
one.  The colors are CSS properties, so the drawing follows the page from light to dark.  A chapter
that is written is a link; the others say that they are to come.
"""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective


@dataclass(frozen=True)
class Chapter:
    """A chapter on the map.

    Attributes
    ----------
    name : str
        The name of its notebook, for example ``"08-positions"``.
    title : str
        The few words that fit in its box.
    part : str
        The part of the book.
    builds_on : tuple of int
        The numbers of the chapters that a reader should know first.
    wide, tall : (float, float)
        Column and row on the two drawings.
    """

    name: str
    title: str
    part: str
    builds_on: tuple[int, ...]
    wide: tuple[float, float]
    tall: tuple[float, float]

    @property
    def number(self) -> int:
        """The number of the chapter."""
        return int(self.name.split("-")[0])


CHAPTERS = (
    Chapter("01-statistics", "Statistics", "Foundations", (), (0, 0), (0, 0)),
    Chapter("02-regression", "Regression", "Foundations", (1,), (0, 1), (1, 0)),
    Chapter("03-optimization", "Optimization", "Foundations", (2,), (0, 2), (1, 1)),
    Chapter("04-networks", "Networks", "Foundations", (3,), (0, 3), (0, 1)),
    Chapter("05-language-models", "Language models", "Sequences", (1, 4), (1, 1), (0, 2)),
    Chapter("06-recurrent", "Recurrent nets", "Sequences", (4, 5), (1, 3), (1, 2)),
    Chapter("07-attention", "Attention", "Transformers", (5, 6), (2, 1), (0, 3)),
    Chapter("08-positions", "Positions", "Transformers", (7,), (2, 2), (1, 3)),
    Chapter("09-transformers", "Transformers", "Transformers", (7, 8), (3, 1), (0, 4)),
    Chapter("10-beyond-attention", "Beyond attention", "Transformers", (6, 16), (3, 3), (1, 6)),
    Chapter("11-inference", "Inference", "Transformers", (9,), (3, 0), (1, 4)),
    Chapter("12-pretraining", "Pretraining", "Transformers", (9,), (3, 2), (0, 5)),
    Chapter("13-scaling", "Scaling", "Scale and adapt", (12,), (4, 0), (1, 5)),
    Chapter("14-fine-tuning", "Fine-tuning", "Scale and adapt", (12,), (4, 1), (0, 6)),
    Chapter("15-alignment", "Alignment", "Scale and adapt", (14,), (4, 2), (0, 7)),
    Chapter("16-fourier", "Fourier", "Signals", (), (2, 3.0), (1, 7)),
)
"""The sixteen chapters in the order of the book."""

COLORS = {
    "Foundations": "muted",
    "Sequences": "green",
    "Transformers": "blue",
    "Scale and adapt": "purple",
    "Signals": "orange",
}
"""The color of each part, a name of :mod:`primer.palette`."""


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


WIDE = Drawing("wide", step=(172, 74), box=(138, 50), sideways=True)
TALL = Drawing("tall", step=(178, 76), box=(156, 50), sideways=False)


def _edge(drawing: Drawing, source: Chapter, target: Chapter) -> str:
    """Draw an arrow from what comes first to what builds on it."""
    (x0, y0), (x1, y1) = drawing.corner(source), drawing.corner(target)
    width, height = drawing.box
    if x0 == x1:  # straight down, or straight up
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


def _box(drawing: Drawing, chapter: Chapter, address: str | None) -> str:
    """Draw a chapter: its number, its title and, if it is not written, that it is to come."""
    x, y = drawing.corner(chapter)
    width, height = drawing.box

    def text(kind: str, right: float, down: float, words: str) -> str:
        return f'<text class="{kind}" x="{x + right:g}" y="{y + down:g}">{escape(words)}</text>'

    drawn = (
        f'<g class="chapter {"written" if address else "to-come"}" '
        f'style="--part: var(--primer-{COLORS[chapter.part]})">'
        f'<rect x="{x:g}" y="{y:g}" width="{width}" height="{height}" rx="8"/>'
        + text("number", 11, 20, f"{chapter.number:02d}")
        + ("" if address else text("state", width - 10, 20, "to come"))
        + text("title", 11, 39, chapter.title)
        + "</g>"
    )
    return f'<a href="{escape(address)}">{drawn}</a>' if address else drawn


def draw(drawing: Drawing, addresses: dict[str, str]) -> str:
    """Draw the map.

    Parameters
    ----------
    drawing : Drawing
        ``WIDE`` or ``TALL``.
    addresses : dict
        The address of each written chapter's page by the chapter's name.

    Returns
    -------
    str
        An SVG element.
    """
    corners = [drawing.corner(chapter) for chapter in CHAPTERS]
    width = max(x for x, _ in corners) + drawing.box[0] + 2
    height = max(y for _, y in corners) + drawing.box[1] + 2
    by_number = {chapter.number: chapter for chapter in CHAPTERS}
    edges = [
        _edge(drawing, by_number[earlier], chapter)
        for chapter in CHAPTERS
        for earlier in chapter.builds_on
    ]
    boxes = [_box(drawing, chapter, addresses.get(chapter.name)) for chapter in CHAPTERS]
    return (
        f'<svg class="chapter-map {drawing.name}" viewBox="0 0 {width:g} {height:g}" role="group" '
        f'aria-label="{escape(describe(set(addresses)))}">'
        f'<defs><marker id="{drawing.name}-tip" viewBox="0 0 8 8" refX="6" refY="4" '
        'markerWidth="7" markerHeight="7" orient="auto"><path class="tip" d="M0,1 L7,4 L0,7 Z"/>'
        "</marker></defs>" + "".join(edges + boxes) + "</svg>"
    )


def describe(written: set[str]) -> str:
    """Say in words what the map shows.

    Examples
    --------
    >>> describe({"16-fourier"})[:73]
    'Map of the sixteen chapters with what each builds on. Written: Fourier. 1'
    """
    titles = {chapter.number: chapter.title for chapter in CHAPTERS}
    done = ", ".join(chapter.title for chapter in CHAPTERS if chapter.name in written) or "none"
    sentences = [
        f"{chapter.number} {chapter.title}"
        + (
            " builds on " + " and ".join(titles[earlier] for earlier in chapter.builds_on)
            if chapter.builds_on
            else " needs no other chapter"
        )
        for chapter in CHAPTERS
    ]
    return (
        "Map of the sixteen chapters with what each builds on. "
        f"Written: {done}. {'; '.join(sentences)}."
    )


class ChapterMapDirective(SphinxDirective):
    """``{chapter-map}``: the map of the chapters."""

    def run(self) -> list[nodes.Node]:
        """Put both drawings and the names of the parts into the page."""
        self.env.note_dependency(str(Path(self.env.srcdir) / "_toc.yml"))
        link = self.env.app.builder.get_relative_uri
        pages = {Path(page).name: link(self.env.docname, page) for page in self.env.found_docs}
        addresses = {one.name: pages[one.name] for one in CHAPTERS if one.name in pages}
        legend = "".join(
            f'<li style="--part: var(--primer-{color})">{part}</li>'
            for part, color in COLORS.items()
        )
        figure = (
            f'<figure class="chapter-map">{draw(WIDE, addresses)}{draw(TALL, addresses)}'
            f'<figcaption><ul class="parts">{legend}</ul></figcaption></figure>'
        )
        return [nodes.raw("", figure, format="html")]


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directive."""
    app.add_directive("chapter-map", ChapterMapDirective)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
