"""Sphinx extension: what a learner need not see at first is folded, and says what it holds.

The tag of a code cell (:data:`press.audit.form.FOLDED`) decides: a setup and a solution are closed
as a whole, a figure shows its picture and closes its code, and the checks of a section become one
line, "✓ 4 checks", that opens to code and numbers ("→ 1 answer", where a section only computes
the answer to its question).  A fold is a ``<details>``: it works without a script, and a link to
what is inside opens it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

from press.audit.form import FOLDED
from press.notebook import read_notebook

SUMMARIES = {
    "setup": "The setup: imports and settings",
    "figure": "Code of this figure",
    "printed": "Code of this output",
    "solution": "Solution",
}


class fold(nodes.General, nodes.Element):  # type: ignore[misc]
    """A ``<details>`` with its ``summary``; ``kind`` is one of :data:`FOLDED`."""


def visit_fold(self: Any, node: fold) -> None:
    """Open the fold."""
    self.body.append(
        f'<details class="fold fold-{node["kind"]}"><summary>{self.encode(node["summary"])}'
        "</summary>\n"
    )


def depart_fold(self: Any, node: fold) -> None:
    """Close the fold."""
    self.body.append("</details>\n")


def check_label(document: str, cell: str) -> str:
    """Name the anchor of a check, by which every page can link to it.

    Parameters
    ----------
    document : str
        The notebook's path below ``chapters``, without its ending.
    cell : str
        The id of the cell.

    Examples
    --------
    >>> check_label("errata/08-positions", "err-36-check")
    'check-errata-08-positions-err-36-check'
    """
    return f"check-{document.replace('/', '-')}-{cell}".lower()


def cells_of(document: nodes.Node, tag: str) -> list[nodes.container]:
    """List the code cells of a page that carry a tag."""
    return [
        cell
        for cell in document.findall(nodes.container)
        if cell.get("nb_element") == "cell_code" and f"tag_{tag}" in cell["classes"]
    ]


def closed(kind: str, summary: str, *content: nodes.Node) -> fold:
    """Make a fold around nodes that have no parent any more."""
    node = fold(kind=kind, summary=summary)
    node += list(content)
    return node


def count_lines(cells: list[nodes.container], mark: str) -> int:
    """Count the lines with a mark, such as ``✓``, in the outputs of cells."""
    return sum(
        line.startswith(f"{mark} ")
        for cell in cells
        for block in cell.findall(nodes.literal_block)
        if "stream" in block["classes"]
        for line in block.astext().splitlines()
    )


def quotes_the_library(source: str) -> bool:
    """Say whether a cell does nothing but show sources: these bring their own fold.

    Examples
    --------
    >>> quotes_the_library("show_source(positions.apply_rope)")
    True
    >>> quotes_the_library("plot(1)")
    False
    """
    body = ast.parse(source).body if not source.lstrip().startswith(("%", "!")) else []
    return bool(body) and all(
        isinstance(line, ast.Expr)
        and isinstance(line.value, ast.Call)
        and ast.unparse(line.value.func).endswith("show_source")
        for line in body
    )


def _runs(cells: list[nodes.container]) -> Iterator[list[nodes.container]]:
    """Group cells that follow one another directly."""
    run: list[nodes.container] = []
    for cell in cells:
        follows = run and run[-1].parent is cell.parent
        if follows and cell.parent.index(cell) == cell.parent.index(run[-1]) + 1:
            run.append(cell)
        else:
            if run:
                yield run
            run = [cell]
    if run:
        yield run


def _place(cells: list[nodes.container], folded: fold) -> None:
    """Put a fold where cells stood, and the cells inside."""
    parent, at = cells[0].parent, cells[0].parent.index(cells[0])
    for cell in cells:
        parent.remove(cell)
    folded += cells
    parent.insert(at, folded)


def _fold_checks(app: Sphinx, document: nodes.document) -> None:
    """Fold runs of checks, each cell with an anchor whose title is that of its section."""
    name = app.env.docname.removeprefix("chapters/")
    path = Path(app.env.doc2path(app.env.docname))
    if path.suffix != ".ipynb":  # a page in Markdown proves nothing
        return
    ids = [cell.get("id", "") for cell in read_notebook(path).cells]
    for run in _runs(cells_of(document, "check")):
        for cell in run:
            label = check_label(name, ids[cell["cell_index"]])
            cell["ids"].append(label)
            section = cell.parent
            while section is not None and not isinstance(section, nodes.section):
                section = section.parent
            title = section[0].astext() if section is not None else "Check"
            app.env.domains["std"].note_hyperlink_target(label, app.env.docname, label, title)
        checks, answers = count_lines(run, "✓"), count_lines(run, "→")
        if answers and not checks:
            summary = f"→ {answers} answer{'s' if answers != 1 else ''}"
        else:
            summary = f"✓ {checks} check{'s' if checks != 1 else ''}"
        _place(run, closed("check", summary))


def fold_cells(app: Sphinx, document: nodes.document) -> None:
    """Fold the cells of a page once it is read."""
    if not app.env.docname:  # what is read from no file, such as the text of a card
        return
    for tag in ("setup", "solution"):
        for cell in cells_of(document, tag):
            _place([cell], closed(tag, SUMMARIES[tag]))
    for cell in cells_of(document, "figure"):
        source = cell[0]
        cell.remove(source)
        if not quotes_the_library(source.astext()):
            drawn = any(True for kind in (nodes.image, nodes.raw) for _ in cell.findall(kind))
            cell += closed("figure", SUMMARIES["figure" if drawn else "printed"], source)
    _fold_checks(app, document)


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the fold; it works on pages that are read, so that its anchors can be linked to."""
    assert set(SUMMARIES) - {"printed"} | {"check"} == set(FOLDED)
    app.add_node(fold, html=(visit_fold, depart_fold))
    app.connect("doctree-read", fold_cells)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
