"""A notebook that is downloaded alone says what it needs, in words, and else does not disturb."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from thorough import a_few
from tiny_book import CHAPTER

from press.downloads.download import CELL, SOURCE, prepare, sentence
from press.execution.kernels import NAMED_IN

WITHOUT_PRIMER = """
import sys

class Nowhere:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {missing!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Nowhere())
"""


def run_alone(notebook: Path, folder: Path, *missing: str) -> subprocess.CompletedProcess[str]:
    """Execute a notebook in an empty folder, by a Python that lacks some packages."""
    (folder / "python").mkdir()
    (folder / "python/sitecustomize.py").write_text(WITHOUT_PRIMER.format(missing=missing))
    (folder / "empty").mkdir()
    shutil.copy(notebook, folder / "empty")
    command = [sys.executable, "-m", "nbconvert", "--to", "notebook", "--execute", "--stdout"]
    environment = {**os.environ, "PYTHONPATH": str(folder / "python")}
    environment.pop(NAMED_IN)  # the provisioner is the library's, which may be what lacks
    return subprocess.run(
        [*command, notebook.name],
        cwd=folder / "empty",
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("missing", a_few(["primer", "matplotlib"], {"primer"}))
def test_alone_it_says_what_it_needs(reading_site: Path, tmp_path: Path, missing: str) -> None:
    done = run_alone(reading_site / "_sources" / f"{CHAPTER}.ipynb", tmp_path, missing)
    assert done.returncode != 0
    told = done.stderr[done.stderr.index("This notebook needs") :]
    assert told.startswith(sentence(f"{CHAPTER}.ipynb"))
    assert "Traceback" not in told
    assert "No module named" not in done.stderr


@pytest.mark.thorough
def test_where_the_book_is_the_cell_says_nothing(tmp_path: Path) -> None:
    notebook = new_notebook(cells=[new_code_cell("import primer\nprint('it', 'runs')")])
    prepare(notebook, sentence("chapters/08-positions.ipynb"))
    nbformat.write(notebook, tmp_path / "chapter.ipynb")
    done = run_alone(tmp_path / "chapter.ipynb", tmp_path)
    assert done.returncode == 0, done.stderr
    first, second = nbformat.reads(done.stdout, as_version=4).cells
    assert first.outputs == []
    assert second.outputs[0].text == "it runs\n"


def test_it_stands_before_the_first_code_and_once() -> None:
    cells = [new_markdown_cell("# Title"), new_code_cell("import numpy"), new_code_cell("primer")]
    notebook = new_notebook(cells=cells)
    for _ in range(2):  # a second build finds what the first one wrote
        prepare(notebook, "one")
    assert [cell.get("id") == CELL for cell in notebook.cells] == [False, True, False, False]
    prepare(notebook, "two")
    assert notebook.cells[1].source == SOURCE.format(sentence="two")
    nbformat.validate(notebook)


def test_a_notebook_without_the_library_stays_as_it_is() -> None:
    notebook = new_notebook(cells=[new_code_cell("import numpy")])
    prepare(notebook, "one")
    assert [cell.source for cell in notebook.cells] == ["import numpy"]


def test_it_names_the_addresses_that_are_known() -> None:
    text = sentence("a.ipynb", "https://reader.example/book/", "https://github.com/reader/book")
    assert "https://reader.example/book/_static/runnable-primer.zip" in text
    assert "git clone https://github.com/reader/book runnable-primer" in text
