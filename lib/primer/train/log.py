"""The log of a training run: a table with one line for each evaluation."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from primer.inputs import checked
from primer.saving import write_whole


class LogLine(NamedTuple):
    """Where a run stood after a number of steps.

    Attributes
    ----------
    step : int
        Updates of the weights so far.
    tokens : int
        Tokens read so far, in all processes.
    seconds : float
        Time spent in training and evaluation, without what an interruption threw away.
    learning_rate : float
        Of the last step.
    train_loss : float
        Mean over the steps since the line before, in nats per token.
    validation_loss : float
        On the held-out windows, with the weights rounded to float16, in nats per token.
    bits_per_character : float
        The same in bits per character.
    """

    step: int
    tokens: int
    seconds: float
    learning_rate: float
    train_loss: float
    validation_loss: float
    bits_per_character: float


@checked
def write_log(path: str | Path, lines: Iterable[LogLine]) -> None:
    """Write the log as a CSV file, whole or not at all."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(LogLine._fields)
    for line in lines:
        rates = f"{line.learning_rate:.4e}"
        losses = (f"{loss:.5f}" for loss in line[4:])
        writer.writerow([line.step, line.tokens, f"{line.seconds:.1f}", rates, *losses])
    write_whole(path, text.getvalue().encode())


@checked
def read_log(path: str | Path) -> list[LogLine]:
    """Read a log.

    Parameters
    ----------
    path : path
        What :func:`write_log` has written.

    Returns
    -------
    list of LogLine
        In the order of the steps.

    Raises
    ------
    ValueError
        When the file is missing or is no log.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "log.csv"
    ...     write_log(path, [LogLine(1, 64, 0.5, 1e-3, 6.9, 6.8, 3.5)])
    ...     read_log(path)[0].validation_loss
    6.8
    """
    path = Path(path)
    try:
        with path.open(encoding="utf-8", newline="") as file:
            header, *rows = csv.reader(file)
        if tuple(header) != LogLine._fields:
            raise ValueError
        return [LogLine(int(row[0]), int(row[1]), *map(float, row[2:])) for row in rows]
    except FileNotFoundError as error:
        raise ValueError(f"there is no training log {path}") from error
    except OSError as error:
        raise ValueError(f"{path} cannot be read as a training log: {error}") from error
    except (ValueError, TypeError, IndexError, csv.Error) as error:
        raise ValueError(
            f"{path} is not a training log: its columns must be {', '.join(LogLine._fields)}"
        ) from error
