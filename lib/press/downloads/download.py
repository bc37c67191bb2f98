"""Sphinx extension: a notebook that is downloaded alone says what it needs before it asks for it.

A chapter imports ``primer``, which a reader who has only the notebook does not have, or has under
that name from somebody else.  The copies that the pages offer have one cell more, before their
first code: where the library is missing it stops the notebook with three lines that say how to get
the book, and no traceback.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import nbformat
from sphinx.application import Sphinx

from press.downloads.archive import FOLDER
from press.notebook import read_notebook

CELL = "needs-the-book"
"""The id of the cell."""

SOURCE = '''\
# Only the copy that was downloaded alone has this cell: it looks whether the book is there, too.
try:
    import primer.notebook  # of this book; `primer` on PyPI is another library
except ModuleNotFoundError:

    class TheBookIsNeeded(ModuleNotFoundError):
        def _render_traceback_(self):
            return [str(self)]

    raise TheBookIsNeeded("""{sentence}""") from None
'''


def sentence(notebook: str, site: str = "", repository: str = "") -> str:
    """Say what a notebook needs, and how to get it.

    Parameters
    ----------
    notebook : str
        Where it stands in the book.
    site, repository : str
        Their addresses, as far as they are known.

    Examples
    --------
    >>> print(sentence("chapters/08-positions.ipynb"))
    This notebook needs the library of A Runnable Primer, which this Python does not have.
    1. Download the whole book, runnable-primer.zip (below the chapter), and unpack it
    2. In its folder, type: make lab
    3. Open chapters/08-positions.ipynb there.
    """
    archive = f"{FOLDER}.zip (below the chapter)"
    if site:
        archive = f"{site.rstrip('/')}/_static/{FOLDER}.zip"
    clone = f", or type: git clone {repository} {FOLDER}" if repository else ""
    lines = [
        "This notebook needs the library of A Runnable Primer, which this Python does not have.",
        f"1. Download the whole book, {archive}, and unpack it{clone}",
        "2. In its folder, type: make lab",
        f"3. Open {notebook} there.",
    ]
    return "\n".join(lines)


def prepare(notebook: nbformat.NotebookNode, text: str) -> None:
    """Put the cell before the first code of a notebook that uses the library, once.

    Parameters
    ----------
    notebook : NotebookNode
        The copy, which is changed.
    text : str
        What the cell says.
    """
    cells = [cell for cell in notebook.cells if cell.get("id") != CELL]
    code = [index for index, cell in enumerate(cells) if cell.cell_type == "code"]
    if any("primer" in cells[index].source for index in code):
        cell = nbformat.v4.new_code_cell(SOURCE.format(sentence=text), id=CELL)
        cell.metadata = {"tags": ["setup"], "jupyter": {"source_hidden": True}}
        cells.insert(code[0], cell)
    notebook.cells = cells


def prepare_copies(app: Sphinx, error: Exception | None) -> None:
    """Prepare every notebook that the site offers."""
    if error is not None or app.builder.format != "html":
        return
    copies = Path(app.outdir) / "_sources"
    repository = app.config.html_theme_options.get("repository_url", "")
    for path in sorted(copies.rglob("*.ipynb")):
        notebook = read_notebook(path)
        place = path.relative_to(copies).as_posix()
        prepare(notebook, sentence(place, app.config.html_baseurl, repository))
        nbformat.write(notebook, path)


def setup(app: Sphinx) -> dict[str, Any]:
    """Prepare the copies once the pages are written."""
    app.connect("build-finished", prepare_copies)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
