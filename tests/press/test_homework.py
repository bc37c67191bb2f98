"""Homework goes out without solutions, and what comes back is graded, whatever it does."""

import ast
import csv
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import nbformat
import pytest
from written import BOOK, CHAPTERS

from press.homework.grade import Line, as_csv
from press.homework.handout import KEY, Homework, find_chapter, main, make_homework
from press.homework.walls import readable_folders

TERM = "2027-spring-barley"
RIGHT = {
    "8.2": "def base_for(length, dim):\n    return (length / np.pi) ** (dim / (dim - 2))",
    "8.5": 'answer = "c"',
    "8.7": "answer = 54",
    "8.8": "def clock(trained, tested):\n    return 1.0, 2 * np.pi / (trained + tested)",
}
MISTAKEN = {
    "8.2": "def base_for(length, dim):\n    return (length / np.pi) ** ((dim - 2) / dim)",
    "8.5": 'answer = "a"',
}
HOSTILE = {
    "hangs": ("while True:\n    pass", "too long"),
    "hangs on": (
        "import signal\nsignal.setitimer(signal.ITIMER_REAL, 0)\nwhile True: pass",
        "ended or was stopped in exercise 8.5",
    ),
    "prints a gigabyte": ("for _ in range(10**4):\n    print('x' * 10**5)", "it printed more"),
    "takes all memory": ("x = bytearray(10**11)", "more memory than there is"),
    "deletes": ("import shutil\nshutil.rmtree({treasure!r})", "change or delete"),
    "deletes by os": ("import os\nos.remove({file!r})", "change or delete"),
    "overwrites": ("open({file!r}, 'w').write('mine')", "wanted to write"),
    "reads the others": ("print(open({file!r}).read())", "wanted to read"),
    "starts a program": ("import subprocess\nsubprocess.run(['ls'])", "start another program"),
    "calls": ("import socket\nsocket.create_connection(('127.0.0.1', 9))", "use the network"),
    "loads C": ("import ctypes\nctypes.CDLL(None).unlink({file!r}.encode())", "library of C"),
    "forks": ("import os\nwhile True:\n    os.fork()", "start another program"),
    "stops us": ("import os\nos.kill(os.getppid(), 9)", "stop another process"),
    "ends": ("import os\nos._exit(0)", "ended or was stopped in exercise 8.5"),
    "quits": ("raise SystemExit", "ended the program"),
    "is no Python": ("answer = (", "SyntaxError"),
}
"""What a cell does instead of answering exercise 8.5, and what is said of it."""


@pytest.fixture(scope="module")
def homework() -> Homework:
    return make_homework(BOOK / "chapters/08-positions.ipynb", TERM)


def submitted(homework: Homework, answers: dict[str, str]) -> dict[str, Any]:
    notebook = json.loads(nbformat.writes(homework.notebook))
    for cell in notebook["cells"]:
        number = cell["metadata"].get(KEY, {}).get("exercise")
        if number in answers:
            cell["source"] = answers[number]
    return notebook


def graded(folder: Path, *more: str) -> list[Line]:
    """Grade a folder in a process of its own, as ``make grade`` does."""
    out, scratch = folder.parent / "grades.csv", folder.parent / "scratch"
    scratch.mkdir()
    env = {**os.environ, "TMPDIR": str(scratch)}
    command = [sys.executable, "-m", "press.homework.grade", str(folder), "--term", TERM]
    done = subprocess.run(
        [*command, "--out", str(out), *more], cwd=BOOK, capture_output=True, text=True, env=env
    )
    assert done.returncode == 0, done.stdout + done.stderr
    with out.open(encoding="utf-8", newline="") as file:
        _, *rows = csv.reader(file)
    return [Line(*row) for row in rows]


def files_of(folder: Path) -> dict[Path, bytes]:
    """Read all files of a folder, but for what Python compiled."""
    return {
        path: path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


def test_a_handout_has_stubs_and_hints_and_no_solutions(homework: Homework) -> None:
    book = nbformat.read(BOOK / "chapters/08-positions.ipynb", 4)
    text = "\n".join(cell.source for cell in homework.notebook.cells)
    nbformat.validate(homework.notebook)
    for cell in book.cells:
        if "solution" in cell.metadata.get("tags", []):
            assert cell.source not in text
    assert [one.number for one in homework.exercises] == [f"8.{n}" for n in range(1, 9)]
    assert text.count("<summary>Hint") == 8
    assert not any(cell.get("outputs") for cell in homework.notebook.cells)
    assert "{exercise}" not in text
    assert "{admonition}" not in text
    assert TERM not in text


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_a_handout_is_read_without_the_book(chapter: str) -> None:
    homework = make_homework(find_chapter(BOOK, chapter), TERM)
    text = "\n".join(c.source for c in homework.notebook.cells if c.cell_type == "markdown")
    prose = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
    assert not re.findall(r"\{[a-z:]+\}`|\{(?:exercise|admonition)\}|\]\((?!http)[^)]*\)", prose)
    assert len(homework.exercises) >= 5


def test_the_numbers_are_on_no_page_and_change_with_the_term(homework: Homework) -> None:
    from primer.exercises.positions import check_by_hand

    first = homework.exercises[0]
    assert first.fresh
    assert first.declared
    assert first.declared not in check_by_hand.variants
    others = {check_by_hand.unseen(str(term)).question for term in range(20)}  # type: ignore[union-attr]
    assert len(others) > 3
    assert not others & {one.question for one in check_by_hand.variants}


@pytest.mark.parametrize(
    "hostile",
    [
        ["hangs", "prints a gigabyte", "deletes", "calls", "ends"],
        pytest.param([*HOSTILE], marks=pytest.mark.thorough, id="a class of thirty"),
    ],
)
def test_what_a_class_hands_in(homework: Homework, tmp_path: Path, hostile: list[str]) -> None:
    """Right, mistaken, late, of another version, hostile: each gets what is its own."""
    folder, guests = tmp_path / "in", 7 if hostile == [*HOSTILE] else 0
    (tmp_path / "treasure").mkdir()
    file = tmp_path / "treasure/grades.txt"
    file.write_text("kept")
    folder.mkdir()
    told = {"treasure": str(file.parent), "file": str(file)}
    first = homework.exercises[0].declared
    assert first
    right = {**RIGHT, "8.1": f"answer = {first.right}"}
    usual = next(iter(first.wrong))  # type: ignore[union-attr]
    notebooks = {
        "ada": submitted(homework, right),
        "bert": submitted(homework, {**MISTAKEN, "8.1": f"answer = {usual}"}),
        "cleo": submitted(homework, {}),
        **{f"student {n}": submitted(homework, right) for n in range(guests)},
        **{
            name: submitted(
                homework,
                {
                    **right,
                    "8.5": code.replace("{treasure!r}", repr(told["treasure"])).replace(
                        "{file!r}", repr(told["file"])
                    ),
                },
            )
            for name, (code, _) in HOSTILE.items()
            if name in hostile
        },
    }
    for name, notebook in notebooks.items():
        (folder / f"{name}.ipynb").write_text(json.dumps(notebook), encoding="utf-8")
    old = submitted(make_homework(BOOK / "chapters/08-positions.ipynb", "before"), right)
    (folder / "dora").mkdir()
    (folder / "dora/08-positions.ipynb").write_text(json.dumps(old), encoding="utf-8")
    (folder / "empty.ipynb").write_text("")
    (folder / "other.ipynb").write_text(nbformat.writes(nbformat.v4.new_notebook()))
    (folder / "link.ipynb").symlink_to(file)
    (folder / "handed-in.csv").write_text(
        "file,when\nada.ipynb,2027-03-01 17:59\nbert.ipynb,2027-03-01 18:01\n"
    )
    before, book = files_of(tmp_path), files_of(BOOK / "chapters") | files_of(BOOK / "lib")
    table = graded(folder, "--due", "2027-03-01 18:00", "--seconds", "12")
    after = files_of(tmp_path)
    assert after.pop(tmp_path / "grades.csv")
    assert after == before
    assert files_of(BOOK / "chapters") | files_of(BOOK / "lib") == book

    of = {(line.student, line.exercise): line for line in table}
    assert len({line.student for line in table}) == 7 + guests + len(hostile)
    assert {of["ada", n].verdict for n in right} == {"right"}
    assert {of["ada", n].late for n in right} == {"in time"}
    assert of["ada", "8.3"].verdict == "no answer"
    assert of["bert", "8.1"].said == first.wrong[usual]  # type: ignore[union-attr]
    assert "upside down" in of["bert", "8.2"].said
    assert {of["bert", n].verdict for n in ("8.1", "8.2", "8.5")} == {"mistake"}
    assert of["bert", "8.1"].late == "late"
    assert {of["cleo", f"8.{n}"].verdict for n in range(1, 9)} == {"no answer"}
    assert "another version or term" in of["dora", "8.1"].said
    assert of["dora", "8.5"].verdict == "right"  # what it asks is what the book asks
    assert "it is empty" in of["empty", ""].said
    assert "no homework of this book" in of["other", ""].said
    assert "a link" in of["link", ""].said
    for name in hostile:
        said = HOSTILE[name][1]
        assert said in of[name, "8.5"].said, f"{name}: {of[name, '8.5']}"
        assert of[name, "8.5"].verdict in {"mistake", "not graded"}
        assert of[name, "8.1"].verdict == of[name, "8.2"].verdict == "right"
    for n in range(guests):
        assert {of[f"student {n}", number].verdict for number in right} == {"right"}
    assert file.read_text() == "kept"
    assert not list((tmp_path / "scratch").iterdir())


BARE = """
import socket, sys
from pathlib import Path
from press.homework import walls
walls.refuse = lambda *_: None  # as if somebody had found a way around Python's own refusals
scratch, other = map(Path, sys.argv[1:])
missing = walls.alone() + walls.close_in(scratch, walls.readable_folders(other))
(scratch / "own.txt").write_text("mine")
for act in (lambda: other.write_text("taken"), other.unlink, other.read_text,
            lambda: socket.create_connection(("127.0.0.1", 9), timeout=2)):
    try:
        act()
    except OSError as error:
        print(type(error).__name__)
    else:
        print("done")
print(missing)
"""


def test_the_kernel_holds_where_python_was_deceived(tmp_path: Path) -> None:
    """Without Landlock or name spaces the command says so, and only then may more be possible."""
    (tmp_path / "scratch").mkdir()
    other = tmp_path / "other.txt"
    other.write_text("kept")
    done = subprocess.run(
        [sys.executable, "-c", BARE, str(tmp_path / "scratch"), str(other)],
        capture_output=True,
        text=True,
        check=True,
    )
    *acts, missing = done.stdout.splitlines()
    assert missing != "[]" or acts[:3] == ["PermissionError"] * 3
    assert missing != "[]" or acts[3] != "done"
    assert missing != "[]" or other.read_text() == "kept"
    for sentence in ast.literal_eval(missing):
        assert "Python alone refuses" in sentence


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nowhere"], "there is no folder nowhere"),
        (["."], "holds no notebook"),
    ],
)
def test_a_folder_that_cannot_be_graded(
    arguments: list[str],
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    from press.homework import grade

    monkeypatch.chdir(tmp_path)
    assert grade.main([*arguments, "--term", TERM]) == 1
    assert said in capsys.readouterr().out
    assert not os.listdir(tmp_path)


def test_a_chapter_or_a_term_that_is_none(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ValueError, match="there is no chapter '77'; there are 01, 02"):
        find_chapter(BOOK, "77")
    assert main(["08", "--term", " "]) == 1
    assert "name the term" in capsys.readouterr().out


def test_nobody_reads_the_others_in_the_folder_of_the_book(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(BOOK))  # as `python -m` does
    folders = readable_folders(BOOK / "handed-in")
    assert BOOK not in folders
    assert BOOK / "lib" in folders


def test_no_cell_of_the_table_is_a_formula() -> None:
    line = Line("=cmd()", "a.ipynb", "8.1", "mistake", "-1 is not it, says, the check", "", "")
    assert as_csv([line]).splitlines()[1].startswith("'=cmd(),a.ipynb,8.1,mistake,\"'-1 is")
