"""nbval reads the outputs of the one execution, and reports a wrong stored number cell by cell."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from press.execution import cache, execute

ROOT = Path(__file__).parents[2]
PAGE = Path("chapters/01-sums.ipynb")
CELLS = {
    "import random\nrandom.seed(0)": "",
    "print(6 * 7)": "42\n",
    "print('~ 0.25 s')": "~ 0.31 s\n",  # a measured line differs from run to run
    "print(6 * 7)  # again": "42\n",
}
WRONG = {
    "changed": {**CELLS, "print(6 * 7)": "43\n", "print(6 * 7)  # again": ""},
    "other-code": {**CELLS, "print(6 * 8)": "48\n"},
    "never-ran": CELLS,
    "gone": {**CELLS, "print('gone')": "gone\n"},  # its code has a key but no outputs
}


def write(book: Path, cells: dict[str, str], page: Path = PAGE) -> None:
    """Write a notebook of cells with what each is said to have printed."""
    notebook = nbformat.v4.new_notebook()
    notebook.metadata = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
    for number, (source, printed) in enumerate(cells.items(), 1):
        outputs = [nbformat.v4.new_output("stream", name="stdout", text=printed)] if printed else []
        notebook.cells.append(
            nbformat.v4.new_code_cell(source, outputs=outputs, execution_count=number)
        )
    nbformat.write(notebook, book / page)


@pytest.fixture(scope="module")
def executed_book(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a book of one notebook that `make book` executed."""
    book = tmp_path_factory.mktemp("book")
    (book / "chapters").mkdir()
    (book / "tests").mkdir()
    (book / "tests/conftest.py").write_text(
        "import replay\n\n\n"
        "def pytest_configure(config):\n    config.pluginmanager.register(replay, 'replay')\n"
    )
    (book / "tests/test_nothing.py").write_text("def test_nothing():\n    pass\n")
    (book / "pytest.ini").write_text("[pytest]\n")
    shutil.copy(ROOT / "tests/tools/replay.py", book / "tests")
    write(book, CELLS)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(book)
        assert execute.main() == 0
    return book


@pytest.fixture(scope="module")
def refused(executed_book: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    """Let nbval read notebooks that are wrong in different ways; give what it says."""
    book = shutil.copytree(executed_book, tmp_path_factory.mktemp("wrong") / "book")
    key = cache.key_file(book / cache.CACHE, PAGE)
    for name, cells in WRONG.items():
        write(book, cells, PAGE.with_stem(name))
        if name != "never-ran":
            shutil.copy(key, key.with_stem(name))
    gone = book / PAGE.with_stem("gone")
    now = execute.key_of(nbformat.read(gone, as_version=4), book)
    key.with_stem("gone").write_text(f"{now} {'0' * 64}\n")
    code, out = nbval(book, *(str(PAGE.with_stem(name)) for name in WRONG))
    assert code == 1
    return out


def nbval(book: Path, *arguments: str) -> tuple[int, str]:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--nbval"]
    config = f"--nbval-sanitize-with={ROOT / 'tests/tools/nbval.cfg'}"
    done = subprocess.run(
        [*command, config, *arguments, "tests"],  # where the plugin is registered
        cwd=book,
        capture_output=True,
        text=True,
        timeout=300,
    )
    return done.returncode, done.stdout


def test_what_is_stored_is_what_was_computed(executed_book: Path) -> None:
    code, out = nbval(executed_book, str(PAGE))
    assert code == 0, out
    assert "5 passed" in out


def test_a_process_may_begin_in_the_middle(executed_book: Path) -> None:
    left_out = (f"--deselect={PAGE}::Cell {number}" for number in (0, 1))
    code, out = nbval(executed_book, *left_out, str(PAGE))
    assert code == 0, out
    assert "3 passed" in out


def test_a_changed_digit_and_a_removed_number_are_reported_with_their_cells(refused: str) -> None:
    page = PAGE.with_stem("changed")
    assert set(re.findall(rf"^FAILED {page}::(Cell \d)", refused, re.MULTILINE)) == {
        "Cell 1",
        "Cell 3",
    }
    assert "Cell outputs differ" in refused
    assert "Unexpected output fields" in refused


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("other-code", ", or what it imports or reads, changed since it ran: run `make book`"),
        ("never-ran", " was never executed: run `make book`"),
        ("gone", " are gone: run `make book`"),
    ],
    ids=["other code than was executed", "never executed", "outputs lost, though not the key"],
)
def test_what_was_not_executed_as_it_is_is_refused(refused: str, name: str, reason: str) -> None:
    page = PAGE.with_stem(name)
    assert f"{page}{reason}" in refused
    cells = re.findall(rf"^(\w+) {page}::Cell \d", refused, re.MULTILINE)
    assert cells == ["ERROR"] * len(WRONG[name])
