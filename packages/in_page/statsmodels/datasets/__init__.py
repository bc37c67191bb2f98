"""The tables, from the files of statsmodels, without pandas."""

import csv
from pathlib import Path
from types import SimpleNamespace

import numpy as np


class Column(np.ndarray):
    """A column of a table: an array that can be asked for itself, as a column of pandas can."""

    def to_numpy(self, dtype: type | None = None) -> np.ndarray:
        """Return the numbers."""
        return np.asarray(self, dtype=dtype)


def read(name: str) -> SimpleNamespace:
    """Read a table of statsmodels: ``data`` has its columns by name."""
    with (Path(__file__).parent / name / f"{name}.csv").open(newline="") as file:
        head, *rows = csv.reader(file)
    columns = zip(*rows, strict=True)
    data = {
        title: np.array(column, dtype=float).view(Column)
        for title, column in zip(head, columns, strict=True)
    }
    return SimpleNamespace(data=data)


from statsmodels.datasets import sunspots as sunspots  # noqa: E402
