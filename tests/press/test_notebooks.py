"""The committed notebooks are executed and normalized, and a wrong stored number is noticed.

nbval itself compares every stored text with a fresh run (``make test``).  Here stand the rules that
nbval does not know, and the proof that the comparison can fail.
"""

import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from press.execution.normalize import normalize, number, unfinished_cells

ROOT = Path(__file__).parents[2]
CHAPTERS = sorted((ROOT / "chapters").rglob("*.ipynb"))


def notebook_with(*cells: nbformat.NotebookNode) -> nbformat.NotebookNode:
    return nbformat.v4.new_notebook(cells=list(cells))


def executed(source: str, output: str) -> nbformat.NotebookNode:
    return nbformat.v4.new_code_cell(
        source,
        execution_count=1,
        outputs=[nbformat.v4.new_output("stream", name="stdout", text=output)] if output else [],
    )


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: f"{path.parent.stem}/{path.stem}")
def test_every_program_can_follow_its_links_and_count_as_the_site(path: Path):
    notebook = nbformat.read(path, as_version=4)
    first = notebook.cells[0].source
    number(notebook, path)
    assert notebook.cells[0].source == first, "run `make notebooks`: it writes the front matter"
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            role = re.search(r"\{(?:cite(?::\w+)?|term|doc|source-map)\}", cell.source)
            assert role is None, f"cell {cell.id}: {role[0]} means nothing to JupyterLab: link it"
            bare = re.search(
                r"^\s*\$\$[ \t]*\n(?:(?!\s*\$\$).*\n)+\s*\$\$[ \t]*$", cell.source, re.M
            )
            assert bare is None, (
                f"cell {cell.id}: an equation without label has a number in JupyterLab"
            )


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: f"{path.parent.stem}/{path.stem}")
class TestCommitted:
    def test_every_code_cell_was_run_without_error_or_warning(self, path):
        assert unfinished_cells(nbformat.read(path, as_version=4)) == []

    def test_is_normalized(self, path):
        stored = nbformat.read(path, as_version=4)
        assert normalize(nbformat.read(path, as_version=4)) == stored, "run `make notebooks`"

    def test_cell_ids_are_unique(self, path):
        ids = [cell.id for cell in nbformat.read(path, as_version=4).cells]
        assert len(set(ids)) == len(ids)

    def test_names_no_machine(self, path):
        text = path.read_text()
        assert "/home/" not in text
        assert "/tmp/" not in text


class TestUnfinished:
    def test_unrun_cell(self):
        cell = nbformat.v4.new_code_cell("1 + 1", id="sum")
        assert unfinished_cells(notebook_with(cell)) == ["cell sum was not run"]

    def test_error_and_standard_error(self):
        cell = nbformat.v4.new_code_cell("1 / 0", id="zero", execution_count=1)
        cell.outputs = [
            nbformat.v4.new_output("error", ename="ZeroDivisionError", evalue="", traceback=[]),
            nbformat.v4.new_output("stream", name="stderr", text="careful"),
        ]
        problems = unfinished_cells(notebook_with(cell))
        assert problems == [
            "cell zero raised ZeroDivisionError",
            "cell zero wrote to standard error: 'careful'",
        ]

    def test_stored_image(self):
        cell = nbformat.v4.new_code_cell("figure", id="figure", execution_count=1)
        cell.outputs = [nbformat.v4.new_output("display_data", data={"image/png": "iVBOR"})]
        assert unfinished_cells(notebook_with(cell)) == [
            "cell figure stores an image or a widget view"
        ]


class TestNormalize:
    def test_keeps_text_and_strips_pictures(self):
        data = {"text/plain": "<Figure: a line>", "image/png": "iVBOR", "image/svg+xml": "<svg/>"}
        view = "application/vnd.jupyter.widget-view+json"
        cell = nbformat.v4.new_code_cell(
            "figure",
            id="figure",
            metadata={"tags": ["figure"], "execution": {"iopub.status.busy": "2026-01-01"}},
            outputs=[
                nbformat.v4.new_output("display_data", data={**data, view: {"model_id": "x"}})
            ],
        )
        clean = normalize(notebook_with(cell)).cells[0]
        assert clean.outputs[0].data == {"text/plain": "<Figure: a line>"}
        assert clean.metadata == {"tags": ["figure"], "jupyter": {"source_hidden": True}}
        assert clean.id == "figure"

    def test_joins_the_pieces_of_a_stream(self):
        cell = nbformat.v4.new_code_cell("print", execution_count=1)
        cell.outputs = [
            nbformat.v4.new_output("stream", name="stdout", text=text) for text in ("a\n", "b\n")
        ]
        (output,) = normalize(notebook_with(cell)).cells[0].outputs
        assert output.text == "a\nb\n"

    def test_twice_is_once(self):
        once = normalize(notebook_with(executed("print(1)", "1\n")))
        assert normalize(nbformat.from_dict(dict(once))) == once


def run_nbval(tmp_path: Path, notebook: nbformat.NotebookNode) -> subprocess.CompletedProcess[str]:
    path = tmp_path / "chapter.ipynb"
    notebook.metadata = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
    nbformat.write(notebook, path)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--nbval"]
    config = f"--nbval-sanitize-with={ROOT / 'tests/tools/nbval.cfg'}"
    return subprocess.run(
        [*command, config, str(path)], cwd=tmp_path, capture_output=True, text=True, timeout=120
    )


class TestComparison:
    """nbval passes a right notebook and fails when a stored number is wrong or gone."""

    def test_right_numbers_and_measured_lines_pass(self, tmp_path):
        source = (
            "import time\n"
            "from primer.notebook import measured, verify\n"
            "verify('a sum', 1 + 1, 2, atol=0)\n"
            "measured(f'{time.time()} seconds')"
        )
        stored = "✓ a sum: 2 = 2 (tolerance 0)\n~ 0.1 seconds\n"
        result = run_nbval(tmp_path, notebook_with(executed(source, stored)))
        assert result.returncode == 0, result.stdout

    @pytest.mark.parametrize("stored", ["3\n", ""], ids=["wrong number", "number removed"])
    def test_a_broken_output_fails(self, tmp_path, stored):
        result = run_nbval(tmp_path, notebook_with(executed("print(1 + 1)", stored)))
        assert result.returncode == 1, result.stdout
        assert "1 failed" in result.stdout
