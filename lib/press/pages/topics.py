"""Sphinx extension: the table of topics, written from ``topics.csv`` and the notebooks.

``{topics}`` lists every topic of :mod:`press.audit.topics` by its area, with links to the sections
that teach or mention it.  What stands in a chapter to come is "to come".  :file:`filter.js` puts a
field above the list, as above the source map.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from press.audit.coverage import written_chapters
from press.audit.topics import STATES, TAUGHT, Topic, read_places, read_topics
from press.pages.appendix import note_sources, phrase, reference, words
from press.pages.folds import closed
from press.registry import read_book

TO_COME = "to come"


class Topics(SphinxDirective):
    """The directive ``{topics}``."""

    def run(self) -> list[nodes.Node]:
        """Write how many topics there are of each kind, then a section for each area."""
        book = Path(self.env.srcdir)
        registry = read_book(book)
        pages = [*written_chapters(book), *registry.beside]
        note_sources(self.env, pages)
        self.env.note_dependency(str(book / "chapters/appendix/topics.csv"))
        self.places = read_places(book)
        self.headings = {chapter.name: chapter.heading for chapter in registry.chapters}
        self.written = set(pages)
        topics = read_topics(book)
        areas = dict.fromkeys(topic.area for topic in topics)
        total = f"Of {len(topics)} topics {self.counted(topics)}."
        return [
            nodes.paragraph("", total),
            *(self.section(area, [one for one in topics if one.area == area]) for area in areas),
        ]

    def found(self, topic: Topic) -> str:
        """Say what a reader finds: what is taught in chapters to come alone is to come."""
        return TO_COME if topic.labels and not any(map(self.shown, topic.labels)) else topic.status

    def shown(self, label: str) -> bool:
        """Say whether a label is that of a section on a page of the site."""
        return label in self.places and self.places[label].chapter in self.written

    def counted(self, topics: list[Topic]) -> str:
        """Count topics by what a reader finds."""
        states = [self.found(topic) for topic in topics]
        parts = [
            f"{states.count(state)} {'is' if states.count(state) == 1 else 'are'} {state}"
            for state in (*STATES, TO_COME)
            if state in states
        ]
        return ", ".join(parts)

    def section(self, area: str, topics: list[Topic]) -> nodes.section:
        """Make the section of one area, its rows folded."""
        rows = nodes.bullet_list("", *map(self.row, topics), classes=["source-map", "topics"])
        taught = sum(self.found(topic) == TAUGHT for topic in topics)
        fold = closed("rows", f"{len(topics)} topics, {taught} of them taught", rows)
        section = nodes.section("", nodes.title(area, area), fold)
        section["ids"].append(nodes.make_id(f"topics {area}"))
        section["names"].append(nodes.fully_normalize_name(f"topics {area}"))
        return section

    def row(self, topic: Topic) -> nodes.list_item:
        """Write a topic as a line that the style sheet lays out as columns."""
        state = self.found(topic)
        kind = {TAUGHT: "map-proved"}.get(state, "map-to-come")
        line = nodes.paragraph(
            "",
            "",
            phrase("topic-name", words(topic.topic)),
            words(" "),
            phrase("topic-how", words(topic.how)),
            words(" "),
            phrase(kind, words(state)),
            words(" "),
            phrase("topic-where", *self.where(topic)),
        )
        return nodes.list_item("", line)

    def where(self, topic: Topic) -> list[nodes.Node]:
        """Link the sections of a topic; of a chapter to come its name stands there."""
        parts: list[nodes.Node] = []
        for label in topic.labels:
            chapter = self.places[label].chapter if label in self.places else ""
            if self.shown(label):
                part: nodes.Node = reference(self.env.docname, "ref", label, label, explicit=False)
                self.set_source_info(part)
            elif chapter:
                part = words(self.headings[chapter])
            else:  # an excerpt of the book has not all notebooks
                continue
            parts += [words(" · "), part] if parts else [part]
        return parts


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directive; :mod:`press.pages.appendix` does so, with style and filter."""
    app.add_directive("topics", Topics)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
