"""Bring notebooks into the form in which they are committed.

Text outputs stay, so that a reader on any site sees the numbers and the tests can compare them with
a fresh run.  Images, widget state, timestamps and machine names go, so that a diff shows what
changed.  Cell ids are kept, and given to cells that have none.

Run ``python -m press.execution.normalize [--execute] chapters/*.ipynb``.
"""

from __future__ import annotations

import argparse
import re
import sys
import time
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbformat import NotebookNode

from press.audit.form import FOLDED, tags_of
from press.execution.streams import joined
from press.notebook import NotANotebook, read_notebook
from press.pages.numbering import FRONT_MATTER, chapter_number, front_matter
from press.registry import REGISTRY, read_book

CHAPTERS = Path("chapters")
STRIPPED = re.compile(r"image/.*|application/vnd\.jupyter\.widget-view\+json")
KERNEL = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
TIMEOUT = 300  # seconds for one cell; a whole chapter should take less than 45


def notebooks() -> list[Path]:
    """List the notebooks that the site shows: the written chapters, and their pages of errata."""
    found = sorted([*CHAPTERS.glob("*.ipynb"), *CHAPTERS.glob("errata/*.ipynb")])
    chapters = read_book(Path()).chapters if REGISTRY.exists() else ()
    to_come = {chapter.name for chapter in chapters if not chapter.written}
    return [path for path in found if path.stem not in to_come]


def normalize(notebook: NotebookNode) -> NotebookNode:
    """Strip a notebook, in place, of everything that a fresh run may write differently.

    Parameters
    ----------
    notebook : NotebookNode
        A notebook in format 4.5 or later.

    Returns
    -------
    NotebookNode
        The same notebook: text outputs, tags and ids kept; images, widget views and state,
        timestamps and versions removed.  Cells that are folded on the page are closed in
        JupyterLab too.  Normalizing twice changes nothing more.
    """
    notebook.metadata = NotebookNode(kernelspec=KERNEL, language_info={"name": "python"})
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    for cell in notebook.cells:
        cell.setdefault("id", nbformat.v4.new_code_cell().id)
        cell.metadata.pop("execution", None)
        if cell.cell_type != "code":
            continue
        for output in cell.outputs:
            output.pop("transient", None)
            if "data" in output:
                output.data = {k: v for k, v in output.data.items() if not STRIPPED.fullmatch(k)}
                output.metadata = {}
        cell.outputs = joined(cell.outputs)
        _fold(cell)
    return notebook


def number(notebook: NotebookNode, path: Path) -> None:
    """Let JupyterLab number a chapter, in place, as the site does; see :func:`front_matter`."""
    chapter = chapter_number(path.stem)
    if path.parent.name == CHAPTERS.name and chapter is not None and notebook.cells:
        first = notebook.cells[0]
        first.source = front_matter(chapter) + FRONT_MATTER.sub("", first.source, count=1)


def _fold(cell: NotebookNode) -> None:
    """Close in JupyterLab what the tags of a cell close on the page."""
    tags = tags_of(cell)
    cell.metadata.pop("jupyter", None)
    if set(tags) & set(FOLDED):
        cell.metadata["jupyter"] = NotebookNode(source_hidden=True)
        if "check" in tags:
            cell.metadata["jupyter"]["outputs_hidden"] = True


def execute(notebook: NotebookNode, directory: Path) -> None:
    """Run a notebook from a clean kernel, in place.

    Raises
    ------
    CellExecutionError
        When a cell raises, with the cell and the error.
    """
    NotebookClient(
        notebook,
        timeout=TIMEOUT,
        kernel_name=KERNEL["name"],
        resources={"metadata": {"path": str(directory)}},
        store_widget_state=False,
        record_timing=False,
    ).execute()


def unfinished_cells(notebook: NotebookNode) -> list[str]:
    """List what keeps a notebook from being committed: unrun cells, errors, standard error.

    Returns
    -------
    list of str
        One sentence for each cell with a problem; empty when there is none.
    """
    problems = []
    for cell in notebook.cells:
        if cell.cell_type != "code" or not cell.source.strip():
            continue
        if cell.execution_count is None:
            problems.append(f"cell {cell.id} was not run")
        for output in cell.outputs:
            if output.output_type == "error":
                problems.append(f"cell {cell.id} raised {output.ename}")
            elif output.output_type == "stream" and output.name == "stderr":
                problems.append(f"cell {cell.id} wrote to standard error: {output.text[:80]!r}")
            elif any(STRIPPED.fullmatch(kind) for kind in output.get("data", {})):
                problems.append(f"cell {cell.id} stores an image or a widget view")
    return problems


def main() -> int:
    """Normalize, and on request execute, the notebooks named on the command line."""
    parser = argparse.ArgumentParser(description="Execute and normalize notebooks.")
    parser.add_argument("--execute", action="store_true", help="run from a clean kernel first")
    parser.add_argument("notebooks", nargs="*", type=Path, help="default: all that the site shows")
    arguments = parser.parse_args()
    for path in arguments.notebooks or notebooks():
        if not path.is_file():
            print(f"{path}: there is no such notebook", file=sys.stderr)
            return 1
        started = time.perf_counter()
        try:
            notebook = read_notebook(path)
        except NotANotebook as error:
            print(error, file=sys.stderr)
            return 1
        if arguments.execute:
            print(f"{path}: running …", flush=True)
            try:
                execute(notebook, path.parent)
            except CellExecutionError as error:
                print(f"{path}: left as it was, because a cell raised\n{error}", file=sys.stderr)
                return 1
        number(normalize(notebook), path)
        nbformat.write(notebook, path)
        problems = unfinished_cells(notebook)
        print(f"{path}: {'; '.join(problems) or 'ok'} ({time.perf_counter() - started:.1f} s)")
        if arguments.execute and problems:
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
