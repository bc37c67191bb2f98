"""Grade a folder of submitted homework: ``make grade FOLDER=submissions TERM=2027-spring``.

A notebook lies in the folder under its student's name, ``ada.ipynb``, or in a folder of that name,
``ada/08-positions.ipynb``.  Each is run in a process of its own behind walls
(:mod:`press.homework.walls`); whatever one of them does, the others get their grades.  The table
has a line for each student and exercise: what it is worth, the book's sentence on the mistake, when
it was handed in and whether that was late.  When a file was handed in says ``handed-in.csv``
(columns ``file``, ``when``) if the folder has one, and else the date of the file.
"""

from __future__ import annotations

import argparse
import csv
import importlib
import io
import os
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from press.homework.handout import KEY, Homework, find_chapter, make_homework
from press.homework.pupil import NOT, Verdict, run
from press.homework.walls import readable_folders
from press.notebook import NotANotebook, read_notebook
from press.pages.page_answers import imported_names
from primer.saving import write_whole

PATIENCE = 60.0
"""Seconds that a notebook may take."""
LARGEST = 20 * 1024**2
"""Bytes that a submitted notebook may have."""


class Line(NamedTuple):
    """A line of the table of grades."""

    student: str
    file: str
    exercise: str
    verdict: str
    said: str
    handed_in: str
    late: str


def student_of(path: Path, folder: Path) -> str:
    """Return whose file this is.

    Examples
    --------
    >>> student_of(Path("in/ada/08-positions.ipynb"), Path("in"))
    'ada'
    >>> student_of(Path("in/ada.ipynb"), Path("in"))
    'ada'
    """
    first, *rest = path.relative_to(folder).parts
    return first if rest else Path(first).stem


def grade(
    folder: Path, book: Path, term: str, due: datetime | None = None, patience: float = PATIENCE
) -> tuple[list[Line], list[str]]:
    """Grade all notebooks of a folder.

    Parameters
    ----------
    folder : Path
        Where they lie.
    book : Path
        The book that asked.
    term : str
        The term whose numbers were handed out.
    due : datetime, optional
        When they had to be handed in; a naive time is that of this machine.
    patience : float, optional
        Seconds for each of them.

    Returns
    -------
    list of Line, list of str
        The table, and what this system lacks to keep notebooks in, in words.

    Raises
    ------
    ValueError
        When there is no such folder, or no notebook in it, or this system cannot do it.
    """
    if not hasattr(os, "fork"):
        raise ValueError("grading needs Linux or macOS; on Windows use its Subsystem for Linux")
    if not folder.is_dir():
        raise ValueError(f"there is no folder {folder}: name one with FOLDER=…")
    files = sorted(
        path for path in folder.rglob("*.ipynb") if ".ipynb_checkpoints" not in path.parts
    )
    if not files:
        raise ValueError(f"{folder} holds no notebook, so there is nothing to grade")
    times = _handed_in(folder)
    known: dict[str, Homework] = {}
    walls: dict[str, None] = {}
    table: list[Line] = []
    for path in files:
        name = path.relative_to(folder).as_posix()
        when = times.get(name) or datetime.fromtimestamp(path.lstat().st_mtime)
        late = "" if due is None else "late" if _naive(when) > _naive(due) else "in time"
        try:
            verdicts, missing = _graded(path, folder, book, term, known, patience)
            walls.update(dict.fromkeys(missing))
        except ValueError as error:
            verdicts = {"": Verdict(NOT, str(error))}
        except Exception as error:  # whatever one notebook breaks, it breaks for one student
            verdicts = {
                "": Verdict(NOT, f"it stopped the grading: {type(error).__name__}: {error}")
            }
        for exercise, (verdict, said) in ((n, (v.verdict, v.said)) for n, v in verdicts.items()):
            stamp = when.isoformat(" ", "minutes")
            table.append(Line(student_of(path, folder), name, exercise, verdict, said, stamp, late))
    return table, list(walls)


def _naive(when: datetime) -> datetime:
    return when.astimezone().replace(tzinfo=None)


def _handed_in(folder: Path) -> dict[str, datetime]:
    """Read when files were handed in, from the list beside them if there is one."""
    found: dict[str, datetime] = {}
    listed = folder / "handed-in.csv"
    if not listed.is_file():
        return found
    for number, row in enumerate(csv.DictReader(listed.read_text("utf-8").splitlines()), 2):
        try:
            found[row["file"]] = datetime.fromisoformat(row["when"])
        except (KeyError, TypeError, ValueError):
            raise ValueError(
                f"{listed}, line {number}: a file and a time such as 2027-03-01 18:00 are expected "
                "in the columns file and when"
            ) from None
    return found


def _graded(
    path: Path, folder: Path, book: Path, term: str, known: dict[str, Homework], patience: float
) -> tuple[dict[str, Verdict], list[str]]:
    """Grade one notebook; every exercise of its homework gets a verdict."""
    if path.is_symlink() or not path.is_file():
        raise ValueError("it is no file but a link or a folder, and is not followed")
    if path.stat().st_size > LARGEST:
        raise ValueError(f"the file has more than {LARGEST // 1024**2} MB: clear its outputs")
    try:
        notebook = read_notebook(path)
    except NotANotebook as error:
        raise ValueError(str(error).removeprefix(f"{path} ").partition(";")[0]) from None
    chapter = _metadata(notebook.metadata).get("chapter")
    if not isinstance(chapter, str):
        raise ValueError("it is no homework of this book: `make student` writes one")
    if chapter not in known:
        known[chapter] = make_homework(find_chapter(book, chapter), term)
        _import(known[chapter])
    homework = known[chapter]
    asked = {one.number: one.asked for one in homework.exercises}
    verdicts: dict[str, Verdict] = {}
    cells, answered = [], set()
    for cell in notebook.cells:
        if cell.cell_type != "code":
            continue
        mark = _metadata(cell.metadata)
        number = mark.get("exercise")
        if number in asked and mark.get("asked") != asked[number]:
            said = (
                "it asks something else than the book does for this term: another version or term"
            )
            verdicts[number] = Verdict(NOT, said)
        elif number in asked and number not in answered:
            answered.add(number)
            cells.append({"source": cell.source, KEY: number})
        elif cell.source not in homework.setup:
            cells.append({"source": cell.source})
    for number in asked.keys() - verdicts.keys() - answered:
        verdicts[number] = Verdict(NOT, "the cell to answer in is missing")
    walls: list[str] = []
    if answered:
        # Beside nothing of ours: what a notebook writes goes with the folder.
        scratch = Path(tempfile.mkdtemp(prefix="homework-"))
        try:
            found, walls = run(
                cells, homework, scratch, readable_folders(folder), patience=patience
            )
            verdicts = {**found, **verdicts}
        finally:
            shutil.rmtree(scratch, ignore_errors=True)
    lost = Verdict(NOT, "the notebook did not reach it")
    return {number: verdicts.get(number, lost) for number in asked}, walls


def _metadata(of: Any) -> dict[str, Any]:
    found = of.get(KEY)
    return found if isinstance(found, dict) else {}


def _import(homework: Homework) -> None:
    """Import what the chapter's setup imports, once for all its notebooks."""
    modules = {path for name in imported_names(homework.setup).values() for path in _parents(name)}
    for module in sorted(modules | {one.module for one in homework.exercises}):
        try:
            importlib.import_module(module)
        except ImportError:
            continue  # the name of something in a module


def _parents(path: str) -> Iterable[str]:
    yield path
    yield path.rpartition(".")[0] or path


def as_csv(table: Sequence[Line]) -> str:
    """Write the table; no spreadsheet takes a cell of it for a formula."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(name.replace("_", " ") for name in Line._fields)
    for line in table:
        writer.writerow("'" + cell if cell[:1] in tuple("=+-@\t") else cell for cell in line)
    return text.getvalue()


def main(arguments: list[str] | None = None) -> int:
    """Grade a folder, write ``grades.csv`` into ``_build``, and tell how it went."""
    parser = argparse.ArgumentParser(description="Grade a folder of submitted homework.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--term", required=True, help="the one of `make student`")
    parser.add_argument("--due", type=datetime.fromisoformat, help="for example '2027-03-01 18:00'")
    parser.add_argument("--out", type=Path, default=Path("_build/grades.csv"))
    parser.add_argument("--seconds", type=float, default=PATIENCE, help="for each notebook")
    given = parser.parse_args(arguments)
    try:
        table, walls = grade(given.folder, Path(), given.term, given.due, given.seconds)
    except ValueError as error:
        print(error)
        return 1
    given.out.parent.mkdir(parents=True, exist_ok=True)
    write_whole(given.out, as_csv(table).encode())
    for missing in walls:
        print(f"This system gives less shelter: {missing}.", file=sys.stderr)
    counts = Counter(line.verdict for line in table)
    students = len({line.student for line in table})
    said = ", ".join(f"{count} {verdict}" for verdict, count in sorted(counts.items()))
    print(f"{given.out}: {students} student{'s' * (students != 1)}; {said}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
