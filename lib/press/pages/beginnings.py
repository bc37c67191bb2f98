"""Sphinx extension: a cell of a page knows where torch's generator stood before it ran.

That stands in the result of the notebook, in each cell's metadata
(:mod:`press.execution.generators`).  Of a result the builder takes the outputs only, the metadata
come from the notebook's own text; so they are brought together here, before
``sphinx_run_in_page`` reads the cells.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import nbformat
from docutils import nodes
from sphinx.application import Sphinx

from press.execution.cache import CACHE, code_of, read, result_file
from sphinx_run_in_page.cells import FIRST, cell_nodes


def lines_of(book: Path, page: Path) -> dict[int, str]:
    """Return the lines that a page runs before its cells, by the number of the cell among all.

    Parameters
    ----------
    book : Path
        The root of the book.
    page : Path
        The file of the page.  It may have no result.
    """
    notebook = read(page)
    result = result_file(book / CACHE, code_of(notebook))
    if not result.is_file():
        return {}
    ran = nbformat.reads(result.read_text("utf-8"), nbformat.NO_CONVERT).cells  # code alone
    numbers = [place for place, cell in enumerate(notebook.cells) if cell.cell_type == "code"]
    pairs = zip(numbers, ran, strict=True)
    return {number: cell.metadata[FIRST] for number, cell in pairs if FIRST in cell.metadata}


def begin_where_it_stood(app: Sphinx, document: nodes.document) -> None:
    """Write the lines into the cells of a page that is read."""
    cells = {int(cell["cell_index"]): cell for cell in cell_nodes(document)}
    if not cells:
        return
    lines = lines_of(Path(app.srcdir), Path(app.env.doc2path(app.env.docname)))
    for number in cells.keys() & lines.keys():
        cell = cells[number]
        cell["cell_metadata"] = {**cell["cell_metadata"], FIRST: lines[number]}


def setup(app: Sphinx) -> dict[str, Any]:
    """Come before the cells are read."""
    app.connect("doctree-read", begin_where_it_stood, priority=790)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
