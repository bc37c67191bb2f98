"""Time two ways of doing the same work, print them side by side, and keep them in a file."""

from __future__ import annotations

import csv
import datetime
import io
import os
import platform
import statistics
import time
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import torch

from primer.saving import write_whole

RESULTS = Path(__file__).with_name("results")
COLUMNS = ("topic", "work", "ours", "peers", "unit", "peer")


@dataclass(frozen=True)
class Row:
    """One line of the benchmark table.

    Attributes
    ----------
    work : str
        What is done, with its size.
    ours, peers : float
        Seconds (or the unit named in ``unit``), medians of several runs.
    peer : str
        Whose the second number is: a library's function, or a budget we set ourselves.
    unit : str
        The unit of both numbers.
    """

    work: str
    ours: float
    peers: float
    peer: str
    unit: str = "s"

    def __str__(self) -> str:
        """Write the line: work, our number, the peer's, their ratio."""
        ratio = self.ours / self.peers
        return (
            f"{self.work:<58} {self.ours:>11.3g} {self.unit:<3} "
            f"{self.peers:>11.3g} {self.unit:<3} {ratio:>8.2f}x  {self.peer}"
        )


HEADER = f"{'work':<58} {'ours':>15} {'peer':>15} {'ratio':>9}  peer"


def median_seconds(work: Callable[[], object], *, repeats: int = 7) -> float:
    """Return the median time of several calls, in seconds, after one call to warm up."""
    work()
    return statistics.median(_seconds(work) for _ in range(repeats))


def alternating_seconds(
    ours: Callable[[], object], theirs: Callable[[], object], *, repeats: int = 7
) -> tuple[float, float]:
    """Return the median times of two works done in turns, so that other load slows both alike."""
    ours(), theirs()
    times = [(_seconds(ours), _seconds(theirs)) for _ in range(repeats)]
    first, second = zip(*times, strict=True)
    return statistics.median(first), statistics.median(second)


def _seconds(work: Callable[[], object]) -> float:
    """Return the time of one call."""
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def version() -> str:
    """Return the version of the book that is measured."""
    metadata = tomllib.loads((RESULTS.parents[1] / "pyproject.toml").read_text("utf-8"))
    return str(metadata["project"]["version"])


def keep(found: Mapping[str, Iterable[Row]], folder: Path = RESULTS) -> Path:
    """Write the table of this version, topic by topic, with the day and the machine above it."""
    machine = f"{os.cpu_count()} cores ({platform.machine()}), {platform.system()}"
    software = f"Python {platform.python_version()}, torch {torch.__version__}"
    about = f"# {datetime.date.today()}, {machine}, {software}"
    return _write(about, [line for topic in found for line in _lines(topic, found)], folder)


def renew(name: str, found: Mapping[str, Iterable[Row]], folder: Path = RESULTS) -> Path:
    """Put lines in the place of those of the same topics, and say above the table when that was.

    Parameters
    ----------
    name : str
        What the topics are called there.
    found : mapping
        Their lines.  Those of other topics stay as they are.
    """
    about, _, *kept = (folder / f"{version()}.csv").read_text("utf-8").splitlines()
    others = [line for line in csv.reader(kept) if line[0] not in found]
    parts = [part for part in about.split("; ") if not part.startswith(f"{name}: ")]
    load = f"{os.getloadavg()[0]:.1f} programs waiting or running"
    about = "; ".join([*parts, f"{name}: {datetime.date.today()}, {load}"])
    new = [line for topic in found for line in _lines(topic, found)]
    return _write(about, [*others, *new], folder)


def _lines(topic: str, found: Mapping[str, Iterable[Row]]) -> list[list[str]]:
    """Write the lines of a topic as the file has them."""
    return [
        [topic, row.work, f"{row.ours:.3g}", f"{row.peers:.3g}", row.unit, row.peer]
        for row in found[topic]
    ]


def _write(about: str, lines: Iterable[Iterable[str]], folder: Path) -> Path:
    """Write the file of this version."""
    text = io.StringIO()
    text.write(f"{about}\n")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows(lines)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{version()}.csv"
    write_whole(path, text.getvalue().encode())
    return path
