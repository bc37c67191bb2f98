"""Sphinx extension: ``{speed}``, what ``make bench`` measured for this version, topic by topic."""

from __future__ import annotations

import csv
import itertools
from pathlib import Path
from typing import Any, NamedTuple

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

from primer.book.scoreboard import table_row

FOLDER = Path("benchmarks/results")
HEADINGS = ("Work", "Ours", "Theirs", "Ratio", "Whose")
_LOGGER = logging.getLogger(__name__)


class Line(NamedTuple):
    """A line of the table, as ``benchmarks/table.py`` keeps it."""

    topic: str
    work: str
    ours: float
    peers: float
    unit: str
    peer: str


def newest(folder: Path) -> Path | None:
    """Return the table of the newest version, None if none was kept.

    Examples
    --------
    >>> newest(Path("no/such/folder"))
    """
    files = folder.glob("*.csv")
    return max(files, key=lambda path: [int(n) for n in path.stem.split(".")], default=None)


def read(path: Path) -> tuple[str, list[Line]]:
    """Return the line about day and machine, and the lines of the table.

    Raises
    ------
    ValueError
        When a line is not one of the table.
    """
    first, *rest = path.read_text("utf-8").splitlines()
    lines = []
    for row in csv.reader(rest[1:]):
        try:
            topic, work, ours, peers, unit, peer = row
            lines.append(Line(topic, work, float(ours), float(peers), unit, peer))
        except ValueError:
            raise ValueError(f"{path} has a line that is none of its table: {row}") from None
    return first.removeprefix("# "), lines


def cells(line: Line) -> list[str]:
    """Write a line: shorter units, and how many times the peer's number ours is.

    Examples
    --------
    >>> cells(Line("Fourier", "FFT", 0.0123, 0.001, "s", "scipy.fft.fft"))
    ['FFT', '12.3 ms', '1 ms', '12.3', 'scipy.fft.fft']
    """
    ratio = f"{line.ours / line.peers:.3g}"
    return [line.work, _said(line.ours, line.unit), _said(line.peers, line.unit), ratio, line.peer]


def _said(number: float, unit: str) -> str:
    """Write a number with a unit that leaves few zeros.

    Examples
    --------
    >>> _said(0.00005, "s"), _said(2.5, "s"), _said(1234.0, "tokens/s")
    ('50 µs', '2.5 s', '1,234 tokens/s')
    """
    if unit == "s":
        for factor, name in ((1, "s"), (1e3, "ms")):
            if number * factor >= 1:
                return f"{number * factor:.3g} {name}"
        return f"{number * 1e6:.3g} µs"
    return f"{number:,.0f} {unit}" if number >= 1000 else f"{number:.3g} {unit}"


class Speed(SphinxDirective):
    """The directive ``{speed}``: a table for each topic."""

    def run(self) -> list[nodes.Node]:
        """Write the tables, and make the page depend on their file."""
        path = newest(Path(self.env.srcdir) / FOLDER)
        if path is None:
            _LOGGER.warning(
                "{speed} has nothing to show: run `make bench`", location=self.get_location()
            )
            return []
        self.env.note_dependency(str(path))
        about, lines = read(path)
        text = f"Version {path.stem}, measured on {about}."
        found: list[nodes.Node] = [nodes.paragraph(text, text)]
        for topic, some in itertools.groupby(lines, key=lambda line: line.topic):
            columns = [nodes.colspec(colwidth=width) for width in (5, 2, 2, 1, 3)]
            head = nodes.thead("", table_row(HEADINGS))
            body = nodes.tbody("", *(table_row(cells(line)) for line in some))
            group = nodes.tgroup("", *columns, head, body, cols=len(HEADINGS))
            found.append(nodes.table("", nodes.title(topic, topic), group, classes=["speed"]))
        return found


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directive."""
    app.add_directive("speed", Speed)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
