"""nbval reads the outputs of the one execution, and reports a wrong stored number cell by cell."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from primer.book import execute

ROOT = Path(__file__).parents[1]
PAGE = Path("chapters/01-sums.ipynb")
CELLS = {
    "import random\nrandom.seed(0)": "",
    "print(6 * 7)": "42\n",
    "print('~ 0.25 s')": "~ 0.31 s\n",  # a measured line differs from run to run
    "print(6 * 7)  # again": "42\n",
}


def write(book: Path, cells: dict[str, str]) -> None:
    """Write a notebook of cells with what each is said to have printed."""
    notebook = nbformat.v4.new_notebook()
    notebook.metadata = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
    for number, (source, printed) in enumerate(cells.items(), 1):
        outputs = [nbformat.v4.new_output("stream", name="stdout", text=printed)] if printed else []
        notebook.cells.append(
            nbformat.v4.new_code_cell(source, outputs=outputs, execution_count=number)
        )
    nbformat.write(notebook, book / PAGE)


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
    shutil.copy(ROOT / "tests/replay.py", book / "tests")
    write(book, CELLS)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(book)
        assert execute.main() == 0
    return book


@pytest.fixture
def book(executed_book: Path, tmp_path: Path) -> Path:
    """Give a copy of that book."""
    return shutil.copytree(executed_book, tmp_path / "book")


def nbval(book: Path, *options: str) -> tuple[int, str]:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--nbval"]
    config = f"--nbval-sanitize-with={ROOT / 'tests' / 'nbval.cfg'}"
    done = subprocess.run(
        [*command, config, *options, "tests", str(PAGE)],
        cwd=book,
        capture_output=True,
        text=True,
        timeout=300,
    )
    return done.returncode, done.stdout


def test_what_is_stored_is_what_was_computed(book: Path) -> None:
    code, out = nbval(book)
    assert code == 0, out
    assert "5 passed" in out


def test_a_process_may_begin_in_the_middle(book: Path) -> None:
    code, out = nbval(book, f"--deselect={PAGE}::Cell 0", f"--deselect={PAGE}::Cell 1")
    assert code == 0, out
    assert "3 passed" in out


def test_a_changed_digit_and_a_removed_number_are_reported_with_their_cells(book: Path) -> None:
    write(book, {**CELLS, "print(6 * 7)": "43\n", "print(6 * 7)  # again": ""})
    code, out = nbval(book)
    assert code == 1
    assert "2 failed, 3 passed" in out
    assert f"{PAGE}::Cell 1" in out
    assert "Cell outputs differ" in out
    assert f"{PAGE}::Cell 3" in out
    assert "Unexpected output fields" in out


def test_other_code_than_was_executed_is_refused(book: Path) -> None:
    write(book, {**CELLS, "print(6 * 8)": "48\n"})
    code, out = nbval(book)
    assert code == 1
    assert "changed since it ran: run `make book`" in out


def test_a_notebook_that_never_ran_is_refused(book: Path) -> None:
    shutil.rmtree(book / "_build")
    code, out = nbval(book)
    assert code == 1
    assert "was never executed: run `make book`" in out


def test_without_the_outputs_the_key_does_not_count(book: Path) -> None:
    shutil.rmtree(book / execute.CACHE / "executed")
    (book / execute.CACHE / "global.db").unlink()
    code, out = nbval(book)
    assert code == 1
    assert "are gone: run `make book`" in out
