"""No simulation of a notebook passes by luck of its seed (`make fuzz`).

The cells tagged ``draws``, and what they need, run again with all seeds moved: a check that fails
raises.  A check cell without the tag holds numbers of the sample that the notebook's seed gives,
as the text quotes them: where it is needed for its names it runs without its checks.
"""

from __future__ import annotations

import ast
import os
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient
from nbformat import NotebookNode

from press.audit.form import tags_of

CHAPTERS = Path(__file__).parents[2] / "chapters"
NOTEBOOKS = {
    path.relative_to(CHAPTERS).with_suffix("").as_posix(): nbformat.read(path, as_version=4)
    for path in sorted(CHAPTERS.rglob("*.ipynb"))
}
DRAWING = [
    name
    for name, notebook in NOTEBOOKS.items()
    if any("draws" in tags_of(cell) for cell in notebook.cells)
]


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_every_simulation_is_tagged(name: str) -> None:
    untagged = [
        cell.id
        for cell in NOTEBOOKS[name].cells
        if "verify_simulated(" in cell.source and "draws" not in tags_of(cell)
    ]
    assert untagged == [], "the tag `draws` lets `make fuzz` repeat these with other seeds"


@pytest.mark.seeds
@pytest.mark.parametrize("name", DRAWING)
def test_every_check_holds_with_other_seeds(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    notebook = nbformat.from_dict(NOTEBOOKS[name])
    notebook.cells = needed(notebook)
    before = printed(notebook)
    monkeypatch.setenv("PRIMER_SEED", os.environ.get("PRIMER_SEED", "1"))  # the kernel inherits it
    directory = {"metadata": {"path": str((CHAPTERS / name).parent)}}
    NotebookClient(notebook, timeout=300, resources=directory).execute()
    assert printed(notebook) != before  # the seed did reach the kernel


def printed(notebook: NotebookNode) -> list[str]:
    """Return what the cells that draw printed."""
    return [
        output.text
        for cell in notebook.cells
        if "draws" in tags_of(cell)
        for output in cell.outputs
        if output.output_type == "stream"
    ]


def needed(notebook: NotebookNode) -> list[NotebookNode]:
    """Return the cells that draw, the setup, and those whose names they use, wherever it leads."""
    kept: list[NotebookNode] = []
    wanted: set[str] = set()
    for cell in reversed([cell for cell in notebook.cells if cell.cell_type == "code"]):
        given, changed, used = names(cell.source)
        if {"draws", "setup"} & set(tags_of(cell)) or (given | changed) & wanted:
            kept.append(cell if "draws" in tags_of(cell) else unchecked(cell))
            wanted = (wanted - given) | used
    return kept[::-1]


def unchecked(cell: NotebookNode) -> NotebookNode:
    """Return a cell without its calls of ``verify…``: what it says of its own seed is not asked."""

    class Without(ast.NodeTransformer):
        def visit_Expr(self, node: ast.Expr) -> ast.AST:
            call = node.value
            named = isinstance(call, ast.Call) and isinstance(call.func, ast.Name)
            return ast.Pass() if named and call.func.id.startswith("verify") else node

    tree = ast.parse(cell.source)
    source = ast.unparse(Without().visit(tree)) if "verify" in cell.source else cell.source
    return nbformat.from_dict({**cell, "source": source})


INNER = (ast.FunctionDef, ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def names(source: str) -> tuple[set[str], set[str], set[str]]:
    """Return the names that a cell gives, those it only changes, and those it must be given."""
    given, changed, used = set(), set(), set()
    for statement in ast.parse(source).body:
        nodes = list(ast.walk(statement))
        inner = {
            name
            for scope in nodes
            if isinstance(scope, INNER)
            for node in ast.walk(scope)
            if (name := getattr(node, "arg", None) or stored(node))
        }
        used |= {n.id for n in nodes if isinstance(n, ast.Name) and stored(n) is None}
        used -= inner | given
        given |= {name for node in nodes if (name := stored(node))} - inner
        given |= {n.name for n in nodes if isinstance(n, ast.FunctionDef | ast.ClassDef)}
        given |= {(n.asname or n.name).split(".")[0] for n in nodes if isinstance(n, ast.alias)}
        changed |= {
            part.id
            for node in nodes
            if isinstance(node, ast.Attribute | ast.Subscript) and isinstance(node.ctx, ast.Store)
            for part in ast.walk(node.value)
            if isinstance(part, ast.Name)
        }
    return given, changed - given, used


def stored(node: ast.AST) -> str | None:
    """Return the name that a node gives a value."""
    return node.id if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) else None


def test_the_cells_that_a_simulation_needs() -> None:
    def cell(source: str, *tags: str) -> NotebookNode:
        return nbformat.v4.new_code_cell(source, metadata={"tags": list(tags)})

    cells = [
        cell("import numpy as np", "setup"),
        cell("n = 3"),
        cell("unused = [n for n in (1, 2)]"),
        cell("def f(x):\n    return x + n"),
        cell("box = {}"),
        cell("box['n'] = f(2)"),
        cell("print(box)", "draws"),
        cell("n = 5"),
        cell("k = 2\nfor i in (1,):\n    verify('k', k, 2)", "check"),
        cell("verify('seen', k, n)", "draws"),
    ]
    notebook = nbformat.v4.new_notebook(cells=cells)
    kept = [cell.source for cell in needed(notebook)]
    assert kept[:6] == [cells[i].source for i in (0, 1, 3, 4, 5, 6)]
    assert kept[6:] == [cells[7].source, "k = 2\nfor i in (1,):\n    pass", cells[9].source]
