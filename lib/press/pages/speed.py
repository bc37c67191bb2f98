"""Sphinx extension: ``{speed}``, what ``make bench`` measured for this version, topic by topic.

``benchmarks/goals.csv`` says what we want of some lines; where a line is not so, its reason stands
below the table of its topic.
"""

from __future__ import annotations

import csv
import itertools
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

from press.pages.scoreboard import table_row

FOLDER = Path("benchmarks/results")
GOALS = Path("benchmarks/goals.csv")
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


class Goal(NamedTuple):
    """What we want of a ratio, and what takes the time where it is not so."""

    begins: str
    """How the work of the lines begins that it is about."""
    sign: str
    ratio: float
    why: str

    def met(self, line: Line) -> bool:
        """Say whether a line is as we want it."""
        ratio = line.ours / line.peers
        return ratio >= self.ratio if self.sign == "≥" else ratio <= self.ratio


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


def read_goals(path: Path) -> list[Goal]:
    """Return the goals of a table.

    Raises
    ------
    ValueError
        When a sign is neither ≥ nor ≤.
    """
    goals = []
    for row in csv.DictReader(path.read_text("utf-8").splitlines()):
        if row["sign"] not in ("≥", "≤"):
            raise ValueError(f"the sign of a goal is ≥ or ≤, got {row['sign']!r} in {path}")
        goals.append(Goal(row["begins"], row["sign"], float(row["ratio"]), row["why"]))
    return goals


def goal_of(line: Line, goals: Iterable[Goal]) -> Goal | None:
    """Return the goal of a line, None where there is none.

    Examples
    --------
    >>> fft = Goal("FFT", "≤", 5.0, "calls of NumPy")
    >>> slow = Line("Fourier", "FFT of 2¹⁰", 0.0123, 0.001, "s", "scipy.fft.fft")
    >>> goal_of(slow, [fft]) is fft, fft.met(slow)
    (True, False)
    """
    return next((goal for goal in goals if line.work.startswith(goal.begins)), None)


def cells(line: Line, goal: Goal | None = None) -> list[str]:
    """Write a line: shorter units, how many times the peer's number ours is, and what we want.

    Examples
    --------
    >>> cells(Line("Fourier", "FFT", 0.0123, 0.001, "s", "scipy.fft.fft"))
    ['FFT', '12.3 ms', '1 ms', '12.3', 'scipy.fft.fft']
    """
    ratio = f"{line.ours / line.peers:.3g}"
    if goal is not None:
        ratio += f" (goal {goal.sign}\u00a0{goal.ratio:g})"
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
        goals_path = Path(self.env.srcdir) / GOALS
        self.env.note_dependency(str(goals_path))
        goals = read_goals(goals_path)
        about, lines = read(path)
        text = f"Version {path.stem}, measured on {about}."
        found: list[nodes.Node] = [nodes.paragraph(text, text)]
        for topic, some in itertools.groupby(lines, key=lambda line: line.topic):
            wanted = [(line, goal_of(line, goals)) for line in some]
            columns = [nodes.colspec(colwidth=width) for width in (5, 2, 2, 2, 3)]
            head = nodes.thead("", table_row(HEADINGS))
            body = nodes.tbody("", *(table_row(cells(line, goal)) for line, goal in wanted))
            group = nodes.tgroup("", *columns, head, body, cols=len(HEADINGS))
            found.append(nodes.table("", nodes.title(topic, topic), group, classes=["speed"]))
            found += self._reasons(wanted)
        return found

    def _reasons(self, wanted: list[tuple[Line, Goal | None]]) -> list[nodes.Node]:
        """Write, below a table, what takes the time in each line that is not as we want it."""
        missed: dict[str, list[str]] = {}
        for line, goal in wanted:
            if goal is not None and not goal.met(line):
                missed.setdefault(goal.why, []).append(line.work)
        return [
            node
            for why, works in missed.items()
            for node in self.parse_text_to_nodes(f"*{'; '.join(works)}*: {why}")
        ]


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directive."""
    app.add_directive("speed", Speed)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
