"""The files of the scoreboard: what each scene costs each model, and the rows that follow from it.

``scenes.csv`` is what was measured; ``scoreboard.csv`` and ``readings.csv`` are computed from its
digits.
"""

from __future__ import annotations

import csv
import functools
import hashlib
import io
import itertools
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from primer.datasets import VALIDATION_PLAYS, corpus_hash, split_plays
from primer.inputs import checked
from primer.scoreboard.errors import Mean, mean_by_scene
from primer.scoreboard.scenes import scene_lengths, scene_names
from primer.tables import content, read_table, write_table

FOLDER = Path(__file__).parent
ROWS, READINGS, SCENES = "scoreboard.csv", "readings.csv", "scenes.csv"
DIGITS = 2  # of a scene's bits, after the point: a fifth digit of bits per character

Bits = Float[np.ndarray, " scenes"]


class Row(NamedTuple):
    """One model's line.

    Attributes
    ----------
    model : str
        Its name in :data:`primer.scoreboard.entries.ENTRIES`.
    predicts : str
        ``"characters"``, ``"tokens"`` or ``"bytes"``.
    reads : str
        How it reads a play: a name in :data:`primer.scoreboard.rules.READINGS`.
    seeds : int
        How many seeds were trained, of which this is the first; 0 where there is none.
    numbers : int
        How many numbers it keeps.
    plays : mapping of str to float
        Bits per character of each held-out play.
    all : float
        Bits per character of the four together.
    error : float
        The standard error of ``all``, by scene: of this text, not of other seeds.
    above : str
        The model of the next better row; empty in the best one.
    difference, difference_error : float
        How many bits per character it has more than the row above, and the standard error of this
        difference, by scene; 0 in the best row.
    texts : str
        The beginning of the hash of all 38 plays, see :func:`corpus_name`.
    weights : str
        The beginning of the SHA-256 of the file of its weights; empty where there is none.
    """

    model: str
    predicts: str
    reads: str
    seeds: int
    numbers: int
    plays: Mapping[str, float]
    all: float
    error: float
    above: str
    difference: float
    difference_error: float
    texts: str
    weights: str

    @property
    def behind(self) -> Mean:
        """The difference to the row above, with its error."""
        return Mean(self.difference, self.difference_error)


class Reading(NamedTuple):
    """A model of the board that reads the plays otherwise than in its row.

    Attributes
    ----------
    model, reads : str
        Which model, and how it reads.
    all, error : float
        Bits per character of the four plays, and their standard error by scene.
    difference, difference_error : float
        How many bits per character that is more than in its row, and the error of this difference.
    """

    model: str
    reads: str
    all: float
    error: float
    difference: float
    difference_error: float


COLUMNS = tuple(
    column
    for field in Row._fields
    for column in (VALIDATION_PLAYS if field == "plays" else (field,))
)


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


def column(model: str, reads: str = "") -> str:
    """Name a column of the table of scenes; a reading that is not the row's is named, too.

    Examples
    --------
    >>> column("LSTM"), column("LSTM", "pieces")
    ('LSTM', 'LSTM (pieces)')
    """
    return f"{model} ({reads})" if reads else model


# ------------------------------------------------------------------------------------- reading


@checked
def read_scoreboard(folder: Path = FOLDER) -> dict[str, Row]:
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

    def row(line: dict[str, str]) -> Row:
        return Row(
            line["model"],
            line["predicts"],
            line["reads"],
            int(line["seeds"]),
            int(line["numbers"]),
            {title: float(line[title]) for title in VALIDATION_PLAYS},
            float(line["all"]),
            float(line["error"]),
            line["above"],
            float(line["difference"]),
            float(line["difference_error"]),
            line["texts"],
            line["weights"],
        )

    return {row.model: row for row in read_table(folder / ROWS, COLUMNS, row)}


@checked
def read_readings(folder: Path = FOLDER) -> list[Reading]:
    """Read how the same models fare when they read the plays otherwise.

    Examples
    --------
    >>> [r.reads for r in read_readings() if r.model == "LSTM"]
    ['pieces']
    """
    return read_table(
        folder / READINGS,
        Reading._fields,
        lambda line: Reading(
            line["model"], line["reads"], *(float(line[key]) for key in Reading._fields[2:])
        ),
    )


@checked
def read_scenes(folder: Path = FOLDER) -> tuple[Int[np.ndarray, " scenes"], dict[str, Bits]]:
    """Read what each scene costs each model.

    Returns
    -------
    characters : int array of shape (scenes,)
        The lengths of the scenes, play after play.
    bits : dict of str to array of shape (scenes,)
        What they cost: a column for each row of the board and for each other reading.

    Examples
    --------
    >>> characters, bits = read_scenes()
    >>> len(characters), int(characters.sum())
    (71, 428434)
    >>> bool(np.allclose(bits["uniform"].sum() / characters.sum(), 6.3399, atol=1e-4))
    True
    """
    written = content(folder / SCENES, "table of scenes")
    try:
        lines = csv.reader(io.StringIO(written.decode(), newline=""))
        (_, _, *names), *rows = lines  # play and scene
        characters, *bits = zip(*([*map(float, row[2:])] for row in rows), strict=True)
        costs = dict(zip(names[1:], map(np.array, bits), strict=True))
        return np.array(characters, dtype=int), costs
    except (csv.Error, ValueError) as error:
        raise ValueError(f"{folder / SCENES} is no table of scenes: {error}") from None


def sorted_rows() -> list[Row]:
    """Return the lines of the committed scoreboard, the best model first.

    Examples
    --------
    >>> [row.model for row in sorted_rows()][-1]
    'uniform'
    """
    return sorted(read_scoreboard().values(), key=lambda row: row.all)


# ------------------------------------------------------------------------------------- measuring


def measure(name: str) -> tuple[Row, dict[str, Bits]]:
    """Compute one row from the plays and, where there are weights, from their file.

    Returns
    -------
    row : Row
        The row, compared with none.
    bits : dict of str to array of shape (scenes,)
        What each scene costs, for each way of reading: see :func:`column`.

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
    scores = {column(name): entry.measure(training, held_out)}
    scores |= {column(name, k): measure(training, held_out) for k, measure in entry.again.items()}
    costs = {title: np.round(bits, DIGITS) for title, bits in scores[name].bits.items()}
    bits = {
        key: np.round(np.concatenate([score.bits[title] for title in VALIDATION_PLAYS]), DIGITS)
        for key, score in scores.items()
    }
    row = Row(
        name,
        entry.predicts,
        entry.reads,
        entry.seeds,
        scores[name].numbers,
        {title: float(costs[title].sum()) / len(text) for title, text in held_out.items()},
        *mean_by_scene(bits[name], characters_by_scene()),
        "",
        0.0,
        0.0,
        corpus_name(),
        file_name(entry.weights),
    )
    return row, bits


def characters_by_scene() -> Int[np.ndarray, " scenes"]:
    """Return the lengths of all scenes of the held-out plays."""
    held_out = split_plays()[1]
    return np.concatenate([scene_lengths(held_out[title]) for title in VALIDATION_PLAYS])


def compared(rows: Iterable[Row], bits: Mapping[str, Bits]) -> list[Row]:
    """Compare each row with the next better one, scene by scene; their order stays."""
    characters = characters_by_scene()
    rows = list(rows)
    ranked = sorted(rows, key=lambda row: row.all)
    found = {ranked[0].model: ranked[0]._replace(above="", difference=0.0, difference_error=0.0)}
    for better, row in itertools.pairwise(ranked):
        more = mean_by_scene(bits[row.model] - bits[better.model], characters)
        found[row.model] = row._replace(
            above=better.model, difference=more.mean, difference_error=more.error
        )
    return [found[row.model] for row in rows]


def readings(rows: Iterable[Row], bits: Mapping[str, Bits]) -> list[Reading]:
    """Compare each other way of reading with the model's row, scene by scene."""
    characters = characters_by_scene()
    return [
        Reading(
            row.model,
            key.removeprefix(f"{row.model} (").removesuffix(")"),
            *mean_by_scene(costs, characters),
            *mean_by_scene(costs - bits[row.model], characters),
        )
        for row in rows
        for key, costs in bits.items()
        if key.startswith(f"{row.model} (")
    ]


def write_board(rows: Iterable[Row], bits: Mapping[str, Bits], folder: Path = FOLDER) -> None:
    """Write all three files: bits of scenes to two digits after the point, others to four."""
    rows = compared(rows, bits)
    held_out = split_plays()[1]
    scenes = [(title, name) for title in VALIDATION_PLAYS for name in scene_names(held_out[title])]
    names = [key for row in rows for key in bits if key.partition(" (")[0] == row.model]
    write_table(
        folder / SCENES,
        ("play", "scene", "characters", *names),
        (
            [*scene, characters, *(f"{bits[name][i]:.{DIGITS}f}" for name in names)]
            for i, (scene, characters) in enumerate(zip(scenes, characters_by_scene(), strict=True))
        ),
    )
    write_table(folder / READINGS, Reading._fields, map(_cells, readings(rows, bits)))
    write_table(folder / ROWS, COLUMNS, map(_cells, rows))


def _cells(line: Row | Reading) -> list[str | int]:
    """Write a line: fractions to four digits, the plays in their order."""
    cells: list[str | int] = []
    for value in line:
        if isinstance(value, Mapping):
            cells += [f"{value[title]:.4f}" for title in VALIDATION_PLAYS]
        else:
            cells.append(f"{value:z.4f}" if isinstance(value, float) else value)
    return cells
