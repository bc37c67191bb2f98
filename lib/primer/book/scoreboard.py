"""Sphinx extension: ``{scoreboard}`` writes the table of all models from its committed file."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from primer.datasets import VALIDATION_PLAYS
from primer.scoreboard import Row, sorted_rows
from primer.scoreboard.table import FILE

HEADINGS = ("Model", "All four", *VALIDATION_PLAYS, "Predicts", "Numbers kept")


def cells(row: Row) -> list[str]:
    """Write a line of the table.

    Examples
    --------
    >>> plays = dict.fromkeys(VALIDATION_PLAYS, 2.25)
    >>> cells(Row("guess", "characters", 1200, plays, 2.25, "", ""))
    ['guess', '2.250', '2.250', '2.250', '2.250', '2.250', 'characters', '1,200']
    """
    bits = [f"{x:.3f}" for x in (row.all, *(row.plays[title] for title in VALIDATION_PLAYS))]
    return [row.model, *bits, row.reads, f"{row.numbers:,}" if row.numbers else "none"]


def table_row(texts: list[str] | tuple[str, ...]) -> nodes.row:
    """Make a row of a table from texts."""
    entries = [nodes.entry("", nodes.paragraph(text, text)) for text in texts]
    return nodes.row("", *entries)


class Scoreboard(SphinxDirective):
    """The directive ``{scoreboard}``: the best model first."""

    def run(self) -> list[nodes.Node]:
        """Write the table, and make the page depend on its file."""
        self.env.note_dependency(str(FILE))
        columns = [nodes.colspec(colwidth=1) for _ in HEADINGS]
        head = nodes.thead("", table_row(HEADINGS))
        body = nodes.tbody("", *(table_row(cells(row)) for row in sorted_rows()))
        group = nodes.tgroup("", *columns, head, body, cols=len(HEADINGS))
        title = "Bits per character on the four held-out plays"
        return [nodes.table("", nodes.title(title, title), group)]


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directive."""
    app.add_directive("scoreboard", Scoreboard)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
