"""Run one submitted notebook in a process of its own, and tell what its answers are.

The process is a copy of this one (``fork``), so that nobody imports torch thirty times.  It goes
behind its walls (:mod:`press.homework.walls`), runs the cells one after the other, and writes, for
each exercise, one line of JSON into a pipe.  A number or a letter is judged on this side of the
pipe; a function can only be judged where it is, by the same check that the book has.
"""

from __future__ import annotations

import ast
import contextlib
import importlib
import io
import json
import os
import select
import signal
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from IPython.core.interactiveshell import InteractiveShell

from press.homework.handout import KEY, Exercise, Homework
from press.homework.walls import Refused, alone, close_in
from primer.notebook import Mistake
from primer.notebook.answers import as_number

OUTPUT = 200_000
"""Characters that a notebook may print; the rest is thrown away, and the cell ends."""
SAID = 1_000_000
"""Bytes that may come through the pipe."""
SENTENCE = 500
"""Characters of what a notebook can make us say."""

RIGHT, MISTAKE, WAITING, NOT = "right", "mistake", "no answer", "not graded"


@dataclass(frozen=True)
class Verdict:
    """What became of an exercise, and the sentence that says why."""

    verdict: str
    said: str


class TooLong(BaseException):
    """A cell took too long; no ``except Exception`` of a notebook holds it back."""


class TooMuch(BaseException):
    """A notebook printed too much."""


class _Counted(io.TextIOBase):
    """Take what is printed, and keep nothing of it."""

    left = OUTPUT

    def write(self, text: str) -> int:
        self.left -= len(text)
        if self.left < 0:
            raise TooMuch
        return len(text)

    def writable(self) -> bool:
        return True


def run(
    cells: list[dict[str, Any]],
    homework: Homework,
    scratch: Path,
    readable: list[Path],
    *,
    patience: float,
) -> tuple[dict[str, Verdict], list[str]]:
    """Run a notebook's code and judge its answers.

    Parameters
    ----------
    cells : list of dict
        Its code cells: source, and under :data:`~press.homework.handout.KEY` the number of the
        exercise that a cell answers.
    homework : Homework
        What was asked; its modules are imported by now.
    scratch : Path
        A folder that is the notebook's own, and empty.
    readable : list of Path
        What it may read besides.
    patience : float
        Seconds for the whole; one cell may take a third of them.

    Returns
    -------
    dict of str to Verdict, list of str
        By the number of the exercise, for those whose cell was run; and which walls this system
        does not have.
    """
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        with contextlib.suppress(BaseException):
            os.close(reader)
            _keeper(cells, homework, scratch, readable, patience, writer)
        os._exit(0)
    os.close(writer)
    verdicts: dict[str, Verdict] = {}
    walls: list[str] = []
    begun, ended = "", False
    exercises = {one.number: one for one in homework.exercises}
    for told in _lines(reader, time.monotonic() + patience):
        match told:
            case {"walls": [*missing]}:
                walls = [str(each)[:SENTENCE] for each in missing]
            case {"begin": str(number)}:
                begun = number
            case {"end": True}:
                ended = True
            case {"exercise": str(number)} if number in exercises and number not in verdicts:
                verdicts[number] = _judged(exercises[number], told)
    with contextlib.suppress(ProcessLookupError):
        os.kill(child, signal.SIGKILL)  # what it started dies with it
    os.waitpid(child, 0)
    os.close(reader)
    if not ended:
        where = f"in exercise {begun}" if begun else "before its first exercise"
        why = f"the notebook ended or was stopped {where}: it may take {patience:.0f} seconds"
        for number in exercises:
            verdicts.setdefault(number, Verdict(NOT, why))
    return verdicts, walls


def _lines(reader: int, until: float) -> Iterator[dict[str, Any]]:
    """Give what comes through a pipe, line by line, until it closes, lasts or says too much."""
    kept, total = b"", 0
    while (left := until - time.monotonic()) > 0 and total < SAID:
        if not select.select([reader], [], [], left)[0]:
            return
        part = os.read(reader, 65536)
        if not part:
            return
        total += len(part)
        *whole, kept = (kept + part).split(b"\n")
        for line in whole:
            with contextlib.suppress(ValueError, RecursionError):
                told = json.loads(line)
                if isinstance(told, dict):
                    yield told
                if isinstance(told, dict) and told.get("end"):
                    return


def _judged(exercise: Exercise, told: Mapping[str, Any]) -> Verdict:
    """Judge what a notebook told of an exercise."""
    found = _verdict(exercise, told)
    if note := str(told.get("note", ""))[:SENTENCE]:
        return Verdict(found.verdict, f"{found.said} (the cell went on, and: {note})".strip())
    return found


def _verdict(exercise: Exercise, told: Mapping[str, Any]) -> Verdict:
    if exercise.declared is None or "said" in told:
        verdict, said = told.get("verdict"), str(told.get("said", ""))[:SENTENCE]
        known = verdict in {MISTAKE, WAITING, NOT} or (verdict == RIGHT and not exercise.declared)
        return Verdict(str(verdict), said) if known else Verdict(NOT, "its reply makes no sense")
    value = told.get("value")
    return _checked(exercise, exercise.declared, value)


def _checked(exercise: Exercise, check: Any, answer: Any) -> Verdict:
    """Let a check of the book say its sentence."""
    told = io.StringIO()
    try:
        with contextlib.redirect_stdout(told):
            check(answer)
    except Mistake as mistake:
        return Verdict(
            MISTAKE, _sentence(str(mistake).removeprefix(f"Exercise {exercise.number}: "))
        )
    if told.getvalue().startswith("○"):
        return Verdict(WAITING, "the ... still stands there")
    because = told.getvalue().strip().partition(" is solved.")[2].strip()
    return Verdict(RIGHT, _sentence(because))


def _sentence(text: str) -> str:
    """Write a sentence in one line of bounded length."""
    return " ".join(text.split())[:SENTENCE]


# ---------------------------------------------------------------- on the other side of the pipe


def _keeper(
    cells: list[dict[str, Any]],
    homework: Homework,
    scratch: Path,
    readable: list[Path],
    patience: float,
    writer: int,
) -> None:
    """Start the pupil as the first process of a space of its own, and wait for it."""
    os.setsid()
    missing = alone()
    pupil = os.fork()
    if pupil:
        os.waitpid(pupil, 0)
        return
    silence = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(silence, stream)
    os.chdir(scratch)
    os.environ.clear()
    os.environ.update(HOME=str(scratch), TMPDIR=str(scratch), IPYTHONDIR=str(scratch))
    os.environ.update(MPLCONFIGDIR=str(scratch), HF_HUB_OFFLINE="1", PATH="/usr/bin:/bin")
    missing += close_in(scratch, readable)
    os.closerange(3, writer)
    os.closerange(writer + 1, 4096)
    Pupil(homework, writer, patience / 3).work(cells, missing)


class _Shell(InteractiveShell):
    """IPython without its tracebacks: what a cell raised is told in a sentence."""

    def showtraceback(self, *_: Any, **__: Any) -> None:
        return None

    showsyntaxerror = showtraceback


class Pupil:
    """Runs the cells of a notebook in one name space, as Jupyter does."""

    def __init__(self, homework: Homework, writer: int, each: float) -> None:
        sys.stdout = sys.stderr = _Counted()
        sys.stdin = io.StringIO()
        self.homework, self.writer, self.each = homework, writer, each
        self.shell = _Shell()
        self.exercises = {one.number: one for one in homework.exercises}
        self.checks = {
            one.number: getattr(importlib.import_module(one.module), one.check)
            for one in homework.exercises
        }

    def tell(self, **what: Any) -> None:
        """Write a line into the pipe."""
        os.write(self.writer, json.dumps(what).encode() + b"\n")

    def work(self, cells: list[dict[str, Any]], missing: list[str]) -> None:
        """Run all cells; a cell that fails takes nothing from the next one."""
        self.tell(walls=missing)
        for source in self.homework.setup:
            self.attempt(source)
        for cell in cells:
            exercise = self.exercises.get(cell.get(KEY, ""))
            if exercise is None:
                self.attempt(cell["source"])
                continue
            self.tell(begin=exercise.number)
            self.shell.user_ns.pop(exercise.name, None)
            said = self.attempt(_without_checks(cell["source"], exercise))
            if exercise.name not in self.shell.user_ns:
                said = said or f"the cell no longer says what `{exercise.name}` is"
                self.tell(exercise=exercise.number, verdict=MISTAKE, said=_sentence(said))
                continue
            self.judge(exercise, said)
        self.tell(end=True)

    def attempt(self, source: str) -> str:
        """Run a cell; return what stopped it, in words."""
        result: list[Any] = []

        def whole() -> None:
            result.append(self.shell.run_cell(source, store_history=False, silent=True))

        stopped = self.limited(whole)
        if stopped or not result:
            return stopped
        error = result[0].error_before_exec or result[0].error_in_exec
        return _said(error) if error is not None else ""

    def limited(self, action: Any) -> str:
        """Do something for so long; return in words what stopped it."""

        def end(*_: Any) -> None:
            raise TooLong

        signal.signal(signal.SIGALRM, end)
        signal.setitimer(signal.ITIMER_REAL, self.each, 1.0)
        try:
            action()
        except BaseException as error:
            return _said(error)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
        return ""

    def judge(self, exercise: Exercise, stopped_by: str) -> None:
        """Tell the answer that a cell has left, or what the book's check says to it."""
        answer = self.shell.user_ns[exercise.name]
        told: dict[str, Any] = {}

        def look() -> None:
            if answer is ...:
                told.update(verdict=WAITING, said="the ... still stands there")
            elif exercise.declared is None:
                verdict = _checked(exercise, self.checks[exercise.number], answer)
                told.update(verdict=verdict.verdict, said=verdict.said)
            elif isinstance(answer, str):
                told.update(value=str(answer)[:SENTENCE])
            else:
                told.update(value=float(as_number(answer, "your answer")))

        if stopped := self.limited(look):
            told = {"verdict": MISTAKE, "said": _sentence(stopped)}
        self.tell(exercise=exercise.number, note=_sentence(stopped_by), **told)


def _said(error: BaseException) -> str:
    """Say in words what stopped a cell."""
    match error:
        case Mistake() | Refused():
            return str(error)
        case TooLong() | KeyboardInterrupt():
            return "its code ran too long, and was stopped"
        case TooMuch():
            return f"it printed more than {OUTPUT:,} characters, and was stopped"
        case MemoryError():
            return "it asked for more memory than there is for an answer"
        case SystemExit():
            return "its code ended the program"
    return f"its code stopped with {type(error).__name__}: {error}"


def _without_checks(source: str, exercise: Exercise) -> str:
    """Leave out the lines that call the exercise's check: it is called after the cell."""
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return source
    lines = source.splitlines()
    for node in tree.body:
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            called = ast.unparse(node.value.func).rpartition(".")[2]
            if called == exercise.check:
                for line in range(node.lineno - 1, node.end_lineno or node.lineno):
                    lines[line] = ""
    return "\n".join(lines)
