"""The file of the scoreboard: read, compute a row, write."""

from __future__ import annotations

import csv
import functools
import hashlib
import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from primer.datasets import VALIDATION_PLAYS, corpus_hash, split_plays
from primer.saving import write_whole

FILE = Path(__file__).with_name("scoreboard.csv")
COLUMNS = ("model", "reads", "numbers", *VALIDATION_PLAYS, "all", "texts", "weights")


class Row(NamedTuple):
    """One model's line.

    Attributes
    ----------
    model : str
        Its name in :data:`primer.scoreboard.entries.ENTRIES`.
    reads : str
        ``"characters"``, ``"tokens"`` or ``"bytes"``.
    numbers : int
        How many numbers it keeps.
    plays : mapping of str to float
        Bits per character of each held-out play.
    all : float
        Bits per character of the four together.
    texts : str
        The beginning of the hash of all 38 plays, see :func:`corpus_name`.
    weights : str
        The beginning of the SHA-256 of the file of its weights; empty where there is none.
    """

    model: str
    reads: str
    numbers: int
    plays: Mapping[str, float]
    all: float
    texts: str
    weights: str


@functools.cache
def corpus_name() -> str:
    """Name the texts that are learned from and judged by, as a checkpoint of the book does."""
    training, held_out = split_plays()
    titles = {f"training/{title}": text for title, text in training.items()}
    titles |= {f"validation/{title}": text for title, text in held_out.items()}
    return corpus_hash(titles)[:12]


def file_name(path: Path | None) -> str:
    """Name a file by the beginning of its SHA-256; no file has no name."""
    return hashlib.sha256(path.read_bytes()).hexdigest()[:12] if path else ""


def read_scoreboard(path: Path = FILE) -> dict[str, Row]:
    """Read the committed scoreboard.

    Returns
    -------
    dict of str to Row
        Model → its line, in the order of the file.

    Raises
    ------
    ValueError
        When the file is no scoreboard.

    Examples
    --------
    >>> board = read_scoreboard()
    >>> board["transformer"].all < board["7-gram"].all < board["uniform"].all
    True
    """
    with path.open(encoding="utf-8", newline="") as file:
        lines = csv.DictReader(file)
        if tuple(lines.fieldnames or ()) != COLUMNS:
            raise ValueError(f"{path} is no scoreboard: its columns are {lines.fieldnames}")
        return {
            line["model"]: Row(
                line["model"],
                line["reads"],
                int(line["numbers"]),
                {title: float(line[title]) for title in VALIDATION_PLAYS},
                float(line["all"]),
                line["texts"],
                line["weights"],
            )
            for line in lines
        }


def sorted_rows() -> list[Row]:
    """Return the lines of the committed scoreboard, the best model first.

    Examples
    --------
    >>> [row.model for row in sorted_rows()][-1]
    'uniform'
    """
    return sorted(read_scoreboard().values(), key=lambda row: row.all)


def write_scoreboard(rows: Sequence[Row], path: Path = FILE) -> None:
    """Write the scoreboard, bits to four digits after the point."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(COLUMNS)
    for row in rows:
        bits = [f"{row.plays[title]:.4f}" for title in VALIDATION_PLAYS] + [f"{row.all:.4f}"]
        writer.writerow([row.model, row.reads, row.numbers, *bits, row.texts, row.weights])
    write_whole(path, buffer.getvalue().encode())


def measure(name: str) -> Row:
    """Compute one row from the plays and, where there are weights, from their file.

    Raises
    ------
    ValueError
        When there is no such entry.
    """
    from primer.scoreboard.entries import ENTRIES  # later: it loads torch and the models

    if name not in ENTRIES:
        raise ValueError(f"no entry is called {name!r}; there are: {', '.join(ENTRIES)}")
    entry = ENTRIES[name]
    training, held_out = split_plays()
    bits, numbers = entry.measure(training, held_out)
    return Row(
        name,
        entry.reads,
        numbers,
        {title: bits[title] / len(text) for title, text in held_out.items()},
        sum(bits.values()) / sum(map(len, held_out.values())),
        corpus_name(),
        file_name(entry.weights),
    )
