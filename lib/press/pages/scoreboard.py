"""Sphinx extension: ``{scoreboard}``, ``{plays}`` and ``{readings}`` write the tables of models."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from primer.datasets import VALIDATION_PLAYS
from primer.scoreboard import Mean, Reading, Row, read_readings, sorted_rows
from primer.scoreboard.table import FOLDER, READINGS, ROWS

HEADINGS = (
    "Model",
    "All four",
    "More than the row above",
    "Predicts",
    "Numbers kept",
    "Seeds",
)
PLAY_HEADINGS = ("Model", *VALIDATION_PLAYS)
READING_HEADINGS = ("Model", "Read in", "All four", "More than in its row")
SEEDS = ("–", "one", "first of two")


def difference(more: Mean) -> str:
    """Write a difference with its error, and say when it decides nothing.

    Examples
    --------
    >>> difference(Mean(0.0203, 0.0022)), difference(Mean(-0.0009, 0.0008))
    ('+0.0203 ± 0.0022', '−0.0009 ± 0.0008, undecided')
    """
    sign = "+" if more.mean >= 0 else "−"
    said = "" if more.decided else ", undecided"
    return f"{sign}{abs(more.mean):.4f} ± {more.error:.4f}{said}"


def cells(row: Row) -> list[str]:
    """Write a line of the table.

    Examples
    --------
    >>> plays = dict.fromkeys(VALIDATION_PLAYS, 2.25)
    >>> row = Row("guess", "characters", "whole", 0, 1200, plays, 2.25, 0.02, "", 0, 0, "", "")
    >>> cells(row)
    ['guess', '2.250 ± 0.020', '', 'characters', '1,200', '–']
    """
    return [
        row.model,
        f"{row.all:.3f} ± {row.error:.3f}",
        difference(row.behind) if row.above else "",
        row.predicts,
        f"{row.numbers:,}" if row.numbers else "none",
        SEEDS[row.seeds],
    ]


def play_cells(row: Row) -> list[str]:
    """Write a line of the table by play.

    Examples
    --------
    >>> plays = {title: 2 + i / 8 for i, title in enumerate(VALIDATION_PLAYS)}
    >>> play_cells(Row("guess", "tokens", "windows", 1, 9, plays, 2.2, 0.02, "", 0, 0, "", ""))
    ['guess', '2.000', '2.125', '2.250', '2.375']
    """
    return [row.model, *(f"{row.plays[title]:.3f}" for title in VALIDATION_PLAYS)]


def reading_cells(line: Reading) -> list[str]:
    """Write a line of the table of other readings.

    Examples
    --------
    >>> reading_cells(Reading("guess", "half windows", 2.2, 0.02, -0.05, 0.004))
    ['guess', 'half windows', '2.200 ± 0.020', '−0.0500 ± 0.0040']
    """
    more = Mean(line.difference, line.difference_error)
    return [line.model, line.reads, f"{line.all:.3f} ± {line.error:.3f}", difference(more)]


def table_row(texts: list[str] | tuple[str, ...]) -> nodes.row:
    """Make a row of a table from texts."""
    entries = [nodes.entry("", nodes.paragraph(text, text)) for text in texts]
    return nodes.row("", *entries)


def table(title: str, headings: Sequence[str], rows: Iterable[list[str]]) -> nodes.table:
    """Make a table with a title."""
    columns = [nodes.colspec(colwidth=1) for _ in headings]
    head = nodes.thead("", table_row(tuple(headings)))
    body = nodes.tbody("", *map(table_row, rows))
    group = nodes.tgroup("", *columns, head, body, cols=len(headings))
    return nodes.table("", nodes.title(title, title), group)


class Scoreboard(SphinxDirective):
    """The directive ``{scoreboard}``: the best model first."""

    def run(self) -> list[nodes.Node]:
        """Write the table, and make the page depend on its file."""
        self.env.note_dependency(str(FOLDER / ROWS))
        title = "Bits per character on the four held-out plays, ± standard error by scene"
        return [table(title, HEADINGS, map(cells, sorted_rows()))]


class Plays(SphinxDirective):
    """The directive ``{plays}``: the same rows, play by play."""

    def run(self) -> list[nodes.Node]:
        """Write the table, and make the page depend on its file."""
        self.env.note_dependency(str(FOLDER / ROWS))
        return [table("Bits per character, by play", PLAY_HEADINGS, map(play_cells, sorted_rows()))]


class Readings(SphinxDirective):
    """The directive ``{readings}``: the same models, reading the plays otherwise."""

    def run(self) -> list[nodes.Node]:
        """Write the table, and make the page depend on its file."""
        self.env.note_dependency(str(FOLDER / READINGS))
        title = "The same weights, and the plays read otherwise"
        return [table(title, READING_HEADINGS, map(reading_cells, read_readings()))]


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directives."""
    app.add_directive("scoreboard", Scoreboard)
    app.add_directive("plays", Plays)
    app.add_directive("readings", Readings)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
