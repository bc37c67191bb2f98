"""Only what changed is executed, and a change of what a notebook uses makes it change."""

import errno
import os
import re
import subprocess
import sys
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import nbformat
import pytest
import yaml
from jupyter_cache.cache.db import DB_NAME
from sphinx.errors import ExtensionError
from tiny_book import BOOK

import torch_in_page
from press.execution import execute, running
from press.execution.cache import CACHE, code_of, key_file, opened, read, result_file, stale
from press.execution.home import writable_home
from press.execution.model_ids import STATE, VIEW, rename_models
from press.notebook import NotANotebook, read_notebook
from press.pages.beginnings import lines_of
from press.publish import turns
from press.publish.turns import LOCK, our_turn
from sphinx_run_in_page.cells import FIRST


@pytest.fixture
def book(tmp_path, monkeypatch):
    """Return a book of two notebooks and a first page; make it the current folder."""
    (tmp_path / "chapters").mkdir()
    write_notebook(tmp_path / "chapters" / "01-one.ipynb", "print(1 + 1)")
    monkeypatch.chdir(tmp_path)
    return tmp_path


PAGE = Path("chapters/01-one.ipynb")
TWO = Path("chapters/02-two.ipynb")


def write_notebook(path, *sources):
    cells = [nbformat.v4.new_code_cell(source, id=f"cell-{n}") for n, source in enumerate(sources)]
    notebook = nbformat.v4.new_notebook(cells=cells)
    notebook.metadata = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
    nbformat.write(notebook, path)


FIRST_PAGE = """---
jupytext:
  text_representation:
    extension: .md
    format_name: myst
kernelspec:
  display_name: Python 3
  language: python
  name: python3
---

# First

```{code-cell} ipython3
print("first")
```
"""


def test_runs_what_changed_and_nothing_else(book, capsys):
    (book / "index.md").write_text(FIRST_PAGE)
    assert execute.main() == 0
    out = capsys.readouterr().out
    assert "2 of 2" in out
    assert "executed 2, failed 0" in out
    kept = key_file(CACHE, PAGE)
    written = kept.stat().st_mtime_ns
    assert execute.main() == 0
    assert "to be executed: none" in capsys.readouterr().out
    assert kept.stat().st_mtime_ns == written  # or Sphinx would write the page anew
    (book / "index.md").write_text(FIRST_PAGE.replace('"first"', '"page"'))
    assert execute.main() == 0
    assert "to be executed: index\n" in capsys.readouterr().out


def test_a_cell_that_draws_keeps_where_torchs_generator_stood(book):
    draws = "print(torch.rand(1).item())"
    seeded = "_ = torch.manual_seed(3)"
    write_notebook(book / PAGE, "import torch", seeded, draws, "x = 1", draws)
    assert execute.main() == 0
    run = nbformat.read(result_file(CACHE, code_of(read(Path(PAGE)))), 4).cells
    assert [FIRST in cell.metadata for cell in run] == [False, False, True, False, True]
    assert lines_of(book, book / PAGE) == {place: run[place].metadata[FIRST] for place in (2, 4)}
    for cell in (run[4], run[2]):  # in whatever order
        exec(cell.metadata[FIRST].replace("import torch", "import torch_in_page as torch"), {})
        assert cell.outputs[0].text == f"{torch_in_page.rand(1).item()}\n"


def test_another_key_makes_a_notebook_run_again(book, capsys, monkeypatch):
    assert execute.main() == 0
    monkeypatch.setattr(execute, "key_of", lambda *_: "another library")
    assert execute.main() == 0
    assert capsys.readouterr().out.count("executed 1, failed 0") == 2
    assert execute.main() == 0
    assert "to be executed: none" in capsys.readouterr().out


@pytest.mark.thorough
def test_going_back_to_old_code_does_not_bring_back_an_old_library(book, capsys, monkeypatch):
    path = book / "chapters" / "01-one.ipynb"
    assert execute.main() == 0
    write_notebook(path, "print(2 + 2)")
    assert execute.main() == 0
    own = execute.key_of
    monkeypatch.setattr(execute, "key_of", lambda *given: own(*given) + " later")
    write_notebook(path, "print(1 + 1)")
    assert execute.main() == 0
    assert capsys.readouterr().out.count("executed 1, failed 0") == 3


def test_a_failing_cell_fails_the_build_until_it_is_mended(book, capsys):
    path = book / "chapters" / "01-one.ipynb"
    write_notebook(path, "1 / 0")
    for _ in range(2):
        assert execute.main() == 1
        assert "failed 1" in capsys.readouterr().out
    write_notebook(path, "1 / 1")
    assert execute.main() == 0


@pytest.mark.thorough
def test_a_notebook_that_was_renamed_is_forgotten(book, capsys):
    path = book / "chapters" / "01-one.ipynb"
    assert execute.main() == 0
    path.rename(path.with_name("02-one.ipynb"))
    assert execute.main() == 0
    assert "1 notebooks, to be executed: 02-one" in capsys.readouterr().out


def test_outside_a_book_says_where_to_run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert execute.main() == 1
    assert "root of the book" in capsys.readouterr().err


# ------------------------------------------------------------------ what is kept of a build


def result(page: Path) -> Path:
    """Return where the result of a page of the current folder is kept."""
    return result_file(CACHE, code_of(read(page)))


def printed(page: Path) -> list[str]:
    """Return what is kept of what the cells of a page printed."""
    cells = nbformat.read(result(page), as_version=4).cells
    return [output.text for cell in cells for output in cell.outputs]


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:100])


DISTURBED = {
    "a result that is cut": lambda: cut(result(PAGE)),
    "a result that is gone": lambda: result(PAGE).unlink(),
    "a result that is empty": lambda: result(PAGE).write_bytes(b""),
    "another result": lambda: result(PAGE).write_text(result(TWO).read_text()),
    "a number that is changed": lambda: result(PAGE).write_text(
        result(PAGE).read_text().replace("2", "3")
    ),
    "all results gone": lambda: [path.unlink() for path in CACHE.glob("executed/*/*")],
    "a database that is cut": lambda: cut(CACHE / DB_NAME),
    "a database that is empty": lambda: (CACHE / DB_NAME).write_bytes(b""),
    "a database of nonsense": lambda: (CACHE / DB_NAME).write_bytes(b"x" * 9000),
    "a database that is gone": lambda: (CACHE / DB_NAME).unlink(),
}


@pytest.fixture(scope="module")
def executed_once(tmp_path_factory):
    """Give a book of two notebooks that ran."""
    folder = tmp_path_factory.mktemp("book")
    (folder / "chapters").mkdir()
    write_notebook(folder / PAGE, "print(1 + 1)", "print('a', 'b')")
    write_notebook(folder / TWO, "print(2 + 2)")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        assert execute.main() == 0
    return folder


@pytest.fixture
def ran(executed_once, tmp_path, monkeypatch):
    """Be in a copy of that book."""
    subprocess.run(["cp", "-r", executed_once, tmp_path / "copy"], check=True)
    monkeypatch.chdir(tmp_path / "copy")
    return tmp_path / "copy"


def asked_to_run(monkeypatch) -> list[Path]:
    """Say which pages the next build would run, without running them."""
    asked: list[Path] = []
    monkeypatch.setattr(
        execute, "run", lambda _, todo: asked.extend(t.pages[0] for t in todo) or []
    )
    assert execute.main() == 0
    return asked


def test_in_a_book_that_ran_nothing_is_to_be_run(ran, monkeypatch):
    assert asked_to_run(monkeypatch) == []
    assert printed(PAGE) == ["2\n", "a b\n"]


@pytest.mark.parametrize("disturb", DISTURBED.values(), ids=DISTURBED)
def test_what_is_damaged_is_made_anew_with_a_word(ran, capsys, monkeypatch, disturb):
    disturb()
    assert PAGE in asked_to_run(monkeypatch)
    assert re.search(r"(01-one.ipynb|global.db) is damaged", capsys.readouterr().out)


def test_a_damaged_result_is_replaced_and_the_other_kept(ran, capsys):
    cut(result(PAGE))
    before = result(TWO).stat().st_mtime_ns
    assert execute.main() == 0
    assert "to be executed: 01-one\n" in capsys.readouterr().out
    assert printed(PAGE) == ["2\n", "a b\n"]
    assert result(TWO).stat().st_mtime_ns == before


def test_a_page_without_a_key_is_not_served_from_old_outputs(ran, monkeypatch):
    """As after a kill between the two, or under the library of yesterday."""
    key_file(CACHE, PAGE).unlink()
    assert asked_to_run(monkeypatch) == [PAGE]
    assert not result(PAGE).exists()  # the builder alone would have found it


@pytest.mark.parametrize("page", [PAGE, TWO], ids=str)
@pytest.mark.parametrize("key", ["", "0" * 64, "\xff", "{other}"])
def test_a_page_with_another_pages_key_is_not_served(ran, monkeypatch, page, key):
    other = key_file(CACHE, TWO if page == PAGE else PAGE).read_text()
    key_file(CACHE, page).write_text(key.format(other=other), encoding="latin-1")
    assert asked_to_run(monkeypatch) == [page]


def test_results_that_no_page_has_any_more_are_thrown_away(ran):
    (CACHE / "executed/left-over").mkdir()
    TWO.unlink()
    assert execute.main() == 0
    assert [path.parent for path in CACHE.glob("executed/*/*")] == [result(PAGE).parent]


def test_pages_of_the_same_code_share_a_result_and_keep_it(ran, capsys):
    three = Path("chapters/03-three.ipynb")
    three.write_bytes(TWO.read_bytes())
    for expected in ("02-two, 03-three", "none"):
        assert execute.main() == 0
        assert f"to be executed: {expected}\n" in capsys.readouterr().out


def test_the_database_is_closed(ran):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with opened(CACHE) as cache:
            assert stale(cache, PAGE, execute.key_of(read(PAGE)), code_of(read(PAGE))) == ""
            engine = cache.db
    assert engine.pool.checkedin() == 0


# ------------------------------------------------------------------ notebooks that are none

NO_NOTEBOOKS = {
    "": "it is empty",
    "  \n": "it is empty",
    '{"cells": [': "breaks off in line 1",
    "[]": "JSON of something else",
    '"text"': "JSON of something else",
    "{}": "JSON of something else",
    '{"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [{}]}': "",
    '{"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": 3}': "",
    '{"nbformat": 4, "nbformat_minor": 5}': "",
    '{"nbformat": 77, "nbformat_minor": 5, "metadata": {}, "cells": []}': "77",
    "[" * 100_000: "",
    "\xff\xfe": "no text in UTF-8",
}


@pytest.mark.parametrize(("text", "why"), NO_NOTEBOOKS.items())
def test_a_notebook_that_is_none_is_named(ran, capsys, text, why):
    TWO.write_text(text, encoding="latin-1")
    assert execute.main() == 1
    said = capsys.readouterr().err
    assert said.startswith(f"{TWO} is no notebook: ")
    assert why in said
    assert said.count("\n") == 1
    TWO.unlink()
    assert execute.main() == 0  # nothing else is lost
    assert "to be executed: none" in capsys.readouterr().out


def test_a_page_in_markdown_that_cannot_be_read_is_named(ran, capsys):
    Path("index.md").write_text("---\na: [\n---\n\n# First\n")
    assert execute.main() == 1
    assert capsys.readouterr().err.startswith("index.md cannot be read: ")


def test_code_that_is_no_python_is_named_with_its_page(ran, capsys):
    write_notebook(TWO, "1 +")
    assert execute.main() == 1
    assert capsys.readouterr().err.startswith(f"{TWO}: code cell 0 is not Python")


def test_older_formats_are_read():
    cell = {"cell_type": "code", "source": "1", "metadata": {}, "outputs": []}
    text = f'{{"nbformat": 4, "nbformat_minor": 2, "metadata": {{}}, "cells": [{cell}]}}'
    read_notebook(Path("old"), text.replace("'", '"').replace("[]}", '[], "execution_count": 1}'))
    with pytest.raises(NotANotebook):
        read_notebook(Path("old"), text.replace("code", "nothing").replace("'", '"'))


# ------------------------------------------------------------------ cells that end badly


@pytest.fixture
def limits(monkeypatch):
    """Let a cell run five seconds and print ten thousand letters; each is run in this process."""
    monkeypatch.setattr(running, "MOST", 10_000)


def wrong_in(*sources: str) -> str:
    """Run a notebook of cells, and return what was wrong."""
    write_notebook(PAGE, *sources)
    with ThreadPoolExecutor(1) as pool:  # a browser's test in this process may leave a loop running
        return pool.submit(running.run_page, CACHE, PAGE, read(PAGE)).result().wrong


def test_a_kernel_that_dies_is_reported_as_one_with_its_cell(ran):
    wrong = wrong_in("print(1 / 0)")
    assert "ZeroDivisionError" in wrong
    wrong = wrong_in("x = 1", "import os; os._exit(3)", "x")
    assert wrong.startswith(f"{PAGE}, cell cell-1: the kernel died (exit code 3)")
    assert "ZeroDivisionError" not in wrong
    wrong = wrong_in("import os, signal; os.kill(os.getpid(), signal.SIGKILL)")
    assert wrong.startswith(f"{PAGE}, cell cell-0: the kernel died (signal 9)")
    assert "memory" in wrong


@pytest.mark.parametrize(
    "loop",
    [
        "while True: print('again', flush=True)",
        "for k in range(3_000_000): print(k)",
        "while True:\n    try:\n        print('x' * 999)\n    except BaseException:\n        pass",
        "from IPython.display import HTML\nwhile True: display(HTML('again' * 99))",
        "import sys\nwhile True: print('again', file=sys.stderr)",
    ],
    ids=["lines", "an end that is far", "not to be interrupted", "HTML", "standard error"],
)
def test_a_cell_that_prints_without_end_is_cut(ran, limits, loop):
    started = time.monotonic()
    wrong = wrong_in("x = 1", loop)
    assert f"{PAGE}, cell cell-1: it gave more than 10,000 characters and was stopped" in wrong
    assert len(wrong) < 1000
    assert time.monotonic() - started < 200  # and not after five minutes


def test_many_cells_may_together_print_more(ran, limits):
    assert wrong_in(*["print('x' * 6000)"] * 3) == ""
    assert [len(text) for text in printed(PAGE)] == [6001] * 3


def test_a_failing_page_is_not_served_from_what_it_printed_before(ran, monkeypatch):
    page = read(PAGE)
    monkeypatch.setattr(execute, "key_of", lambda *_: "another library")
    monkeypatch.setattr(
        execute, "run", lambda _, todo: [running.Outcome(todo[0].pages[0], 0.0, "it failed")]
    )
    assert execute.main() == 1
    assert not result_file(CACHE, code_of(page)).exists()


# ------------------------------------------------------------------ places that cannot be written


def test_a_full_disk_is_told_in_a_sentence(ran, capsys, monkeypatch):
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        wrong = wrong_in("print(3)")
    assert wrong.startswith(f"{PAGE}, cell cell-0: cannot save ")
    assert "No space left on device" in wrong
    assert "Traceback" not in wrong
    assert not result(PAGE).exists()


def test_a_folder_that_cannot_be_written_is_told_in_a_sentence(book, capsys):
    (book / "_build").write_text("a file in the way")
    assert execute.main() == 1
    said = capsys.readouterr().err
    assert said.startswith("Cannot build: ")
    assert "_build" in said
    assert said.count("\n") == 1


def test_a_home_that_cannot_be_written_is_replaced_with_a_word(tmp_path, monkeypatch, capsys):
    (tmp_path / "file").write_text("")
    for home in (tmp_path / "file", tmp_path / "nowhere", Path("/proc")):
        monkeypatch.setenv("HOME", str(home))
        with writable_home():
            (Path.home() / "note").write_text("")
            used = Path.home()
        assert not used.exists()
        assert Path.home() == home
        assert f"HOME is {home}, which cannot be written" in capsys.readouterr().out
    monkeypatch.setenv("HOME", str(tmp_path))
    with writable_home():
        assert Path.home() == tmp_path
    assert capsys.readouterr().out == ""


@pytest.mark.thorough
def test_a_book_is_executed_where_the_home_cannot_be_written(book, monkeypatch, capsys):
    monkeypatch.setenv("HOME", "/proc")
    write_notebook(PAGE, "import matplotlib.pyplot as plt\nprint(1)")
    assert execute.main() == 0
    assert printed(PAGE) == ["1\n"]


# ------------------------------------------------------------------ two builds, and what is left

HOLD = """
import sys, time
from pathlib import Path
from press.publish.turns import our_turn
with our_turn(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.readline()
"""


def holding(folder: Path) -> subprocess.Popen[str]:
    """Start a process that holds the lock of a folder until it is written to."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout
    assert process.stdout.readline() == "held\n"
    return process


def test_a_second_build_waits_and_says_for_which(tmp_path, capsys, monkeypatch):
    with holding(tmp_path) as other:
        assert other.stdin

        def go_on(seconds: float) -> None:  # what it does instead of sleeping
            other.communicate("\n")

        monkeypatch.setattr(time, "sleep", go_on)
        with our_turn(tmp_path):
            assert other.returncode == 0
            assert f"Another build is running here (process {other.pid})" in capsys.readouterr().err


def test_the_lock_of_a_process_that_was_killed_is_free(tmp_path, capsys):
    with holding(tmp_path) as other:
        other.kill()
    assert (tmp_path / LOCK).exists()
    with our_turn(tmp_path), our_turn(tmp_path):  # a build within a build does not wait for itself
        pass
    assert capsys.readouterr().err == ""


def test_the_site_waits_for_its_turn_too(tmp_path, capsys, monkeypatch):
    ends = []
    app = SimpleNamespace(
        outdir=tmp_path / "html", connect=lambda name, function, priority: ends.append(function)
    )
    with holding(tmp_path) as other:
        monkeypatch.setattr(time, "sleep", lambda _: other.communicate("\n"))
        turns.begin(app)
        assert f"Another build is running here (process {other.pid})" in capsys.readouterr().err
    assert (tmp_path / LOCK).read_text() == f"{os.getpid()}\n"
    ends[0](app, None)
    assert (tmp_path / LOCK).read_text() == ""
    (tmp_path / "file").write_text("")
    app.outdir = tmp_path / "file/html"
    with pytest.raises(ExtensionError, match=r"cannot write to .*file"):
        turns.begin(app)
    extensions = yaml.safe_load((BOOK / "_config.yml").read_text("utf-8"))["sphinx"]["config"]
    assert "press.publish.turns" in extensions["extensions"]


PARENT = """
import multiprocessing, os, time
from press.execution import parents

def work(parent):
    parents.POLL = 0.05
    parents.end_with(parent)
    print(os.getpid(), flush=True)
    time.sleep(600)

if __name__ == "__main__":
    how = multiprocessing.get_context("fork")
    how.Process(target=work, args=(os.getpid(),)).start()
    time.sleep(600)
"""


def test_a_worker_ends_with_its_parent(tmp_path):
    (tmp_path / "parent.py").write_text(PARENT)
    parent = subprocess.Popen(
        [sys.executable, tmp_path / "parent.py"], stdout=subprocess.PIPE, text=True
    )
    assert parent.stdout
    worker = int(parent.stdout.readline())
    os.kill(worker, 0)
    parent.kill()
    parent.wait()
    assert parent.stdout.read() == ""  # which ends when the worker does, who has it too
    parent.stdout.close()


def test_models_are_named_by_their_order():
    def notebook(*ids: str) -> nbformat.NotebookNode:
        models = {
            name: {"state": {"layout": f"IPY_MODEL_{ids[0]}", "words": [ids[0]]}} for name in ids
        }
        cell = nbformat.v4.new_code_cell("")
        cell.outputs = [
            nbformat.v4.new_output("display_data", data={VIEW: {"model_id": name}})
            for name in reversed(ids)
        ]
        new = nbformat.v4.new_notebook(cells=[cell])
        new.cells[0].id = "a"
        new.metadata["widgets"] = {STATE: {"state": models}}
        return new

    one, two = notebook("a1", "b2", "c3"), notebook("x", "y", "z")
    for each in (one, two):
        rename_models(each, "page")
    names = [*one.metadata.widgets[STATE]["state"]]
    assert names == [*two.metadata.widgets[STATE]["state"]]
    assert len(set(names)) == 3
    shown = [output.data[VIEW]["model_id"] for output in one.cells[0].outputs]
    assert shown == names[::-1]
    for record in one.metadata.widgets[STATE]["state"].values():
        assert record["state"] == {"layout": f"IPY_MODEL_{names[0]}", "words": ["a1"]}
    other = notebook("a1", "b2", "c3")
    rename_models(other, "another page")
    assert not {*other.metadata.widgets[STATE]["state"]} & {*names}
