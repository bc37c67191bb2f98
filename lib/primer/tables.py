"""Write a table of results whole, and read it, or say which line is none."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Literal, TypeVar, get_args, get_origin, get_type_hints

from primer.saving import write_whole

Row = TypeVar("Row")


def write_table(path: Path, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    r"""Write a CSV file in one step that no crash leaves half done.

    Parameters
    ----------
    path : Path
        The file.
    columns : sequence of str
        The names for its first line.
    rows : iterable of sequences
        The cells of each line, in the order of the columns.

    Raises
    ------
    ValueError
        When a row has another number of cells than there are columns; nothing is written.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "losses.csv"
    ...     write_table(path, ("step", "loss"), [(1, 2.5), (2, "1.75")])
    ...     path.read_text()
    'step,loss\n1,2.5\n2,1.75\n'
    """
    table = io.StringIO()
    writer = csv.writer(table, lineterminator="\n")
    writer.writerow(columns)
    for row in rows:
        if len(row) != len(columns):
            raise ValueError(
                f"a row of {path.name} must have {len(columns)} cells, one for each column, "
                f"got {len(row)}: {', '.join(map(str, row))}"
            )
        writer.writerow(row)
    write_whole(path, table.getvalue().encode())


def read_table(
    path: Path,
    columns: Sequence[str],
    make: Callable[[dict[str, str]], Row],
    *,
    unfinished: bool = False,
) -> list[Row]:
    r"""Read a CSV file whose columns are known.

    Parameters
    ----------
    path : Path
        The file.
    columns : sequence of str
        The names that its first line must have, in this order.
    make : callable
        What makes a result of a line, which it gets as texts by their columns.
    unfinished : bool
        Whether a last line without its end, as a killed run or a full disk leaves it, is dropped.

    Returns
    -------
    list
        The results in the order of the lines.

    Raises
    ------
    ValueError
        When the file is no such table, or a line is no result.

    Examples
    --------
    >>> import tempfile
    >>> def loss(row):
    ...     return float(row["loss"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "losses.csv"
    ...     _ = path.write_text("step,loss\n1,2.5\n2,1.")
    ...     read_table(path, ("step", "loss"), loss, unfinished=True)
    [2.5]
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
        whole = [line for line in lines if line.endswith("\n") or not unfinished]
        header, *rows = [*csv.reader(whole)] or [[]]
    except (UnicodeDecodeError, csv.Error) as error:
        raise ValueError(f"{path} is no table: {error}") from None
    if header != [*columns]:
        raise ValueError(
            f"{path} is no table of these results: its columns must be {', '.join(columns)}, "
            f"got {', '.join(header) or 'none'}"
        )
    results = []
    for cells in filter(None, rows):
        try:
            results.append(make(dict(zip(columns, cells, strict=True))))
        except (ValueError, OverflowError):
            raise ValueError(
                f"{path} holds the line {','.join(cells)!r}, which is not a result: remove it, "
                "and it is made again"
            ) from None
    return results


def read_records(path: Path, kind: Callable[..., Row], *, unfinished: bool = False) -> list[Row]:
    r"""Read a CSV file whose lines are results of one kind, a column for each of its fields.

    Parameters
    ----------
    path, unfinished
        As in :func:`read_table`.
    kind : type of NamedTuple
        Its fields are texts, whole numbers, numbers or one of several words, as their hints say.

    Returns
    -------
    list of this kind
        The results in the order of the lines.

    Raises
    ------
    ValueError
        When the file is no such table, or a line is no result.

    Examples
    --------
    >>> import tempfile
    >>> from typing import NamedTuple
    >>> class Loss(NamedTuple):
    ...     step: int
    ...     loss: float
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "losses.csv"
    ...     write_table(path, Loss._fields, [Loss(1, 2.5), Loss(2, 1.75)])
    ...     read_records(path, Loss)
    [Loss(step=1, loss=2.5), Loss(step=2, loss=1.75)]
    """
    hints = get_type_hints(kind)
    return read_table(
        path,
        [*hints],
        lambda row: kind(*(_read_cell(row[name], hint) for name, hint in hints.items())),
        unfinished=unfinished,
    )


def _read_cell(text: str, hint: Any) -> Any:
    """Read a cell as its field's hint says."""
    if get_origin(hint) is Literal:
        words = get_args(hint)
        return words[words.index(text)]
    return hint(text)
