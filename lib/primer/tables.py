"""Write a table of results whole, and read it, or say which line is none."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from types import NoneType, UnionType
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Literal,
    NamedTuple,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from primer.saving import write_whole

Row = TypeVar("Row")
if TYPE_CHECKING:
    Record = TypeVar("Record", bound=NamedTuple)
else:  # to Python `NamedTuple` is a function, which no value can be held against
    Record = TypeVar("Record")


class Quoted(str):
    """A word that stands in quotation marks in its table, whether it needs them or not."""


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
    lines = [_line(columns)]
    for row in rows:
        if len(row) != len(columns):
            raise ValueError(
                f"a row of {path.name} must have {len(columns)} cells, one for each column, "
                f"got {len(row)}: {', '.join(map(str, row))}"
            )
        lines.append(_line(row))
    write_whole(path, "".join(lines).encode())


def _line(row: Sequence[object]) -> str:
    """Write a line; in quotation marks stands what needs them, as in csv's own writer."""
    cells = []
    for cell in row:
        text = "" if cell is None else str(cell)
        if isinstance(cell, Quoted) or set(text) & set(',"\r\n') or (not text and len(row) == 1):
            text = '"' + text.replace('"', '""') + '"'
        cells.append(text)
    return ",".join(cells) + "\n"


def content(path: Path, what: str) -> bytes:
    """Return what a file holds, or say that there is none.

    Examples
    --------
    >>> content(Path("no_such.csv"), "table")
    Traceback (most recent call last):
        ...
    ValueError: there is no table no_such.csv
    """
    if not isinstance(path, Path):
        raise ValueError(f"path must be a pathlib.Path, got {path!r}; write Path(…)")
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise ValueError(f"there is no {what} {path}") from None
    except OSError as error:  # a folder, or nobody may read it
        raise ValueError(f"{path} cannot be read: {error.strerror}") from None


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
        text = content(path, "table").decode()
        whole = text[: text.rfind("\n") + 1] if unfinished else text
        header, *rows = [*csv.reader(io.StringIO(whole, newline=""))] or [[]]
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


def read_records(path: Path, kind: type[Record], *, unfinished: bool = False) -> list[Record]:
    r"""Read a CSV file whose lines are results of one kind, a column for each of its fields.

    Parameters
    ----------
    path, unfinished
        As in :func:`read_table`.
    kind : type of NamedTuple
        Its hints say what the fields are: texts, whole numbers, numbers, several numbers, one of
        several words, each of them perhaps ``None``.

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
    See :func:`write_records`.
    """
    return read_table(path, kind._fields, lambda row: _record(kind, row), unfinished=unfinished)


def write_records(path: Path, kind: type[Record], records: Iterable[Record]) -> None:
    r"""Write results of one kind, a column for each of their fields, in one step.

    Parameters
    ----------
    path : Path
        The file.
    kind : type of NamedTuple
        The hint of a number may say how it is written, ``Annotated[float, ".4f"]``, or to how many
        digits after the point it is rounded, ``Annotated[float, 4]``.  In a field of several
        numbers they stand side by side; ``None`` is an empty cell.
    records : iterable of this kind
        The lines.

    Examples
    --------
    >>> import tempfile
    >>> class Loss(NamedTuple):
    ...     step: int
    ...     loss: Annotated[float, ".2f"]
    ...     each: tuple[float, ...]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "losses.csv"
    ...     write_records(path, Loss, [Loss(1, 2.5, (2.0, 3.0)), Loss(2, 1.756, ())])
    ...     print(path.read_text(), read_records(path, Loss)[1])
    step,loss,each
    1,2.50,2.0 3.0
    2,1.76,
     Loss(step=2, loss=1.76, each=())
    """
    write_table(path, kind._fields, (_cells(kind, record) for record in records))


def as_stored(kind: type[Record], record: Record) -> Record:
    """Return a result with the digits that a table keeps.

    Examples
    --------
    >>> class Loss(NamedTuple):
    ...     loss: Annotated[float, ".2f"]
    >>> as_stored(Loss, Loss(1.756))
    Loss(loss=1.76)
    """
    return _record(kind, dict(zip(kind._fields, map(str, _cells(kind, record)), strict=True)))


@cache
def _hints(kind: type) -> dict[str, tuple[Any, str | int]]:
    """Return what each field is, and how it is written."""
    found = {}
    for name, hint in get_type_hints(kind, include_extras=True).items():
        annotated = get_origin(hint) is Annotated
        found[name] = (hint.__origin__, hint.__metadata__[0]) if annotated else (hint, "")
    return found


def _record(kind: type[Record], row: Mapping[str, str]) -> Record:
    """Make a result of the texts of a line."""
    return kind._make(_read_cell(row[name], hint) for name, (hint, _) in _hints(kind).items())


def _cells(kind: type[Record], record: Record) -> list[str]:
    """Write the cells of a line."""
    hints = _hints(kind).values()
    return [_write_cell(value, *hint) for value, hint in zip(record, hints, strict=True)]


def _read_cell(text: str, hint: Any) -> Any:
    """Read a cell as its field's hint says."""
    if get_origin(hint) in (Union, UnionType):  # with None
        inner = next(part for part in get_args(hint) if part is not NoneType)
        return _read_cell(text, inner) if text else None
    if get_origin(hint) is Literal:
        words = get_args(hint)
        return words[words.index(text)]
    if get_origin(hint) is tuple:
        return tuple(map(get_args(hint)[0], text.split()))
    if hint is bool:  # of which every text but an empty one is true
        return ("False", "True").index(text) == 1
    return hint(text)


def _write_cell(value: Any, hint: Any, spec: str | int) -> str:
    """Write a cell as its field's hint says."""
    if value is None:
        return ""
    if get_origin(hint) is tuple:
        return " ".join(_write_cell(part, float, spec) for part in value)
    if isinstance(spec, int):
        return str(round(value, spec))
    return Quoted(value) if hint is Quoted else format(value, spec)
