"""The headings of a notebook and their labels: those under which a place stands."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

LABEL = re.compile(r"\(([\w.:-]+)\)=\s*")
HEADING = re.compile(r"(#{1,6})\s+(.+)")
FENCE = re.compile(r"`{3,}|~{3,}")


@dataclass(frozen=True)
class Section:
    """A heading of a notebook and the label written above it, ``""`` when there is none."""

    title: str
    label: str


def _marks(markdown: str) -> Iterator[tuple[str, str]]:
    """Yield the labels, headings and other lines of a markdown cell, less what is in fences."""
    fence = ""  # the marks that opened the fence we are in
    for line in map(str.strip, markdown.splitlines()):
        if fence:
            if line.startswith(fence) and not line.strip(fence[0]):
                fence = ""
        elif opening := FENCE.match(line):
            fence = opening[0]
        elif not line:
            continue
        elif label := LABEL.fullmatch(line):
            yield "label", label[1]
        elif heading := HEADING.fullmatch(line):
            yield heading[1], heading[2]
        else:
            yield "text", line


class Headings:
    """The headings over a place in a notebook, whose cells are read in their order."""

    def __init__(self) -> None:
        self._sections: dict[str, Section] = {}  # from "#" inwards
        self._label = ""

    def read(self, markdown: str) -> None:
        """Go on to the end of a piece of Markdown; it may not end inside a fence."""
        for kind, text in _marks(markdown):
            if kind.startswith("#"):
                outer = {mark: held for mark, held in self._sections.items() if mark < kind}
                self._sections = {**outer, kind: Section(text, self._label)}
            self._label = text if kind == "label" else ""

    def pass_code(self) -> None:
        """Go on behind a code cell: a label above it belongs to no heading."""
        self._label = ""

    @property
    def open(self) -> list[Section]:
        """The sections around the place, from the outermost inwards."""
        return [*self._sections.values()]

    @property
    def linked(self) -> Section:
        """The innermost section that can be linked to."""
        sections = self.open
        labeled = [section for section in sections if section.label]
        return (labeled or sections or [Section("", "")])[-1]
