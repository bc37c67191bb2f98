"""Sphinx extension: where a part of the book begins, three sentences say why it asks first."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

from press.pages.progress import TODAY, sections_of
from press.registry import read_book

SOURCE = "https://doi.org/10.3758/s13423-022-02124-x"
NOTE = (
    "<strong>Why the book asks before it tells.</strong> In experiments with numbers about the "
    "world, readers who had committed themselves to a prediction remembered the surprising ones "
    "better than those who said only afterwards what they would have expected "
    f'(<a class="reference external" href="{SOURCE}">Brod et al., 2022</a>). '
    "So guess, and then read the reply, even where you are not sure: every answer can be had "
    "without one, and what you said is kept in this browser alone. "
    "{back} after a day, a week and a month."
)


def first_chapters(book: Path) -> list[str]:
    """Return the names of the chapters with which the parts of the book begin."""
    firsts: dict[str, str] = {}
    for chapter in read_book(book).written:
        firsts.setdefault(chapter.part, chapter.name)
    return list(firsts.values())


def add_note(app: Sphinx, document: nodes.document) -> None:
    """Put the note between the opening of such a chapter and its first section."""
    page, name = app.env.docname, Path(app.env.docname).name
    sections = sections_of(document)
    if page != f"chapters/{name}" or not sections or name not in first_chapters(Path(app.srcdir)):
        return
    today = f'<a href="{TODAY.removeprefix("chapters/")}.html">Today</a>'
    back = "What you have met comes back" + (f" on {today}," if TODAY in app.env.found_docs else "")
    note = nodes.raw("", f'<p class="why-ask">{NOTE.format(back=back)}</p>', format="html")
    sections[0].parent.insert(sections[0].parent.index(sections[0]), note)


def setup(app: Sphinx) -> dict[str, Any]:
    """Add the note when a page is read."""
    app.connect("doctree-read", add_note)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
