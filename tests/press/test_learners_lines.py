"""The checks of a section hold what a learner types there, not a copy of it in their own cell."""

from __future__ import annotations

import ast
import builtins
import copy
import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import pytest
from written import BOOK, CHAPTERS

from press.notebook import read_notebook

TAGS = ("setup", "figure", "check", "exercise", "solution")
TABLE = "prints a table in a loop, whose lines a check computes another way"
STORED = "prints stored runs, which a check reads by their names"
SAMPLE = "shows a text or a sample: nothing that could be right or wrong"
UNHELD: dict[str, dict[str, str]] = {
    "01-statistics": {"three-estimators": SAMPLE, "student-broken-run": TABLE},
    "03-optimization": {"fp8-run": TABLE, "apart-run": STORED, "pairs-run": STORED},
    "05-language-models": {"symbols-convert": TABLE, "symbols-end": TABLE},
    "06-recurrent": {"wirings-sample": SAMPLE},
    "08-positions": {"theorem-lines": TABLE},
    "10-beyond-attention": {"board-exchange": SAMPLE},
    "11-inference": {"length-real": SAMPLE, "temperature-print": TABLE},
    "13-scaling": {"twenty-ratios": TABLE},
    "15-alignment": {"stages-print": SAMPLE},
    "16-fourier": {"fold": TABLE},
    "18-reasoning": {"imitate-ways": STORED, "hole-two": SAMPLE, "groups-weights": TABLE},
}
"""Cells of which no check uses a name, and why."""


class Typed(NamedTuple):
    """A cell: its tag, what it gives names to, which of these not in a loop, and what it uses.

    ``used`` are the names that its lines take from above, ``bound`` those that mean something else
    below it, the turns of its loops among them.
    """

    id: str
    tag: str
    given: frozenset[str]
    lasting: frozenset[str]
    used: frozenset[str]
    bound: frozenset[str]


SCOPES = (
    ast.Lambda,
    ast.FunctionDef,
    ast.ListComp,
    ast.SetComp,
    ast.DictComp,
    ast.GeneratorExp,
)
"""What has names of its own."""


def stored_in(nodes: Sequence[ast.AST]) -> frozenset[str]:
    """Name what is given a name, but for what only counts the turns of a loop."""
    inside = [node for top in nodes for node in ast.walk(top)]
    loops = [node for node in inside if isinstance(node, ast.For | ast.comprehension)]
    turns = {id(one) for loop in loops for one in ast.walk(loop.target)}
    names = [node for node in inside if isinstance(node, ast.Name) and id(node) not in turns]
    defined = {one.name for one in nodes if isinstance(one, ast.FunctionDef | ast.ClassDef)}
    return frozenset({one.id for one in names if isinstance(one.ctx, ast.Store)} | defined)


def bound_in(nodes: Sequence[ast.AST]) -> frozenset[str]:
    """Name what means something else below these lines."""
    found: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.alias):
            found.add((node.asname or node.name).split(".")[0])
        elif not isinstance(node, SCOPES):
            found |= bound_in([*ast.iter_child_nodes(node)])
    return frozenset(found)


def read_in(nodes: Sequence[ast.AST]) -> frozenset[str]:
    """Name what is read, but for what a function or a comprehension calls so itself."""
    found: set[str] = set()
    for node in nodes:
        inside = read_in([*ast.iter_child_nodes(node)])
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            found.add(node.id)
        elif isinstance(node, SCOPES):
            own = [one for one in ast.walk(node) if isinstance(one, ast.Name | ast.arg)]
            found |= inside - {
                one.arg if isinstance(one, ast.arg) else one.id
                for one in own
                if isinstance(one, ast.arg) or isinstance(one.ctx, ast.Store)
            }
        else:
            found |= inside
    return frozenset(found)


def taken_by(lines: Sequence[ast.stmt]) -> frozenset[str]:
    """Name what lines, run one after the other, take from above them."""
    found: set[str] = set()
    given: set[str] = set()
    for line in lines:
        blocks = isinstance(line, ast.For | ast.While | ast.If | ast.With)
        parts = [*ast.iter_child_nodes(line)] if blocks else [line]
        body = [one for one in parts if isinstance(one, ast.stmt)] if blocks else []
        head = [one for one in parts if one not in body]
        inside = taken_by(body) - bound_in(head)
        if isinstance(line, ast.AugAssign):
            inside |= bound_in([line.target])
        found |= (read_in(head) | inside) - given
        given |= bound_in([line])
    return frozenset(found)


def typed(cell: object) -> Typed:
    tree = ast.parse(cell.source)
    tags = cell.metadata.get("tags", [])
    return Typed(
        cell.id,
        next((tag for tag in TAGS if tag in tags), ""),
        stored_in(tree.body),
        stored_in([node for node in tree.body if not isinstance(node, ast.For)]),
        taken_by(tree.body),
        bound_in(tree.body),
    )


def sections(name: str) -> Iterator[list[Typed]]:
    section: list[Typed] = []
    for cell in read_notebook(BOOK / f"chapters/{name}.ipynb").cells:
        if cell.cell_type == "markdown" and re.search("^## ", cell.source, re.MULTILINE):
            yield section
            section = []
        elif cell.cell_type == "code":
            section.append(typed(cell))
    yield section


def unheld(section: list[Typed]) -> Iterator[str]:
    """Name the learner's cells that give names of which none reaches a check.

    From below: a check wants what it takes from above, a cell that gives some of it wants what it
    takes itself, and a name that is given anew is wanted no longer above.
    """
    if not any(cell.tag == "check" for cell in section):
        return
    wanted: frozenset[str] = frozenset()
    for cell in reversed(section):
        held = cell.given & wanted
        if cell.tag == "" and cell.lasting and not held:
            yield cell.id
        wanted -= cell.bound
        if cell.tag == "check" or held:
            wanted |= cell.used


@pytest.mark.parametrize("name", CHAPTERS)
def test_a_check_uses_what_the_learner_typed(name: str) -> None:
    found = {cell for section in sections(name) for cell in unheld(section)}
    assert found == set(UNHELD.get(name, {})), (
        f"{name}: no check of its section uses a name of these cells, so their formula could be "
        "wrong beside a check that is right; or they are listed and one does"
    )


SWAPPED = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult}
"""What an operator is easily taken for; whole division for a product."""


def broken(source: str) -> Iterator[tuple[str, str]]:
    """Put each operator's opposite in its place, one at a time: the operation, and all lines."""
    tree = ast.parse(source)
    for number, node in enumerate(ast.walk(tree)):
        if isinstance(node, ast.BinOp):
            other = copy.deepcopy(tree)
            changed = list(ast.walk(other))[number]
            assert isinstance(changed, ast.BinOp)
            changed.op = SWAPPED.get(type(node.op), ast.Mult)()
            yield ast.unparse(changed), ast.unparse(other)


def check_alone(names: dict[str, Any], lines: str, check: str) -> None:
    """Run those statements of a check that come from some lines, and need no others."""
    held = set(stored_in(ast.parse(lines).body))
    for statement in ast.parse(check).body:
        named = [node for node in ast.walk(statement) if isinstance(node, ast.Name)]
        used = {node.id for node in named if isinstance(node.ctx, ast.Load)}
        if used & held and used <= {*names, *vars(builtins)}:
            exec(ast.unparse(statement), names)
            held |= stored_in([statement])


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # some means are of nothing then
@pytest.mark.parametrize(
    ("chapter", "lines", "check"), [("03-optimization", "floor-run", "interpolation-check")]
)
def test_a_check_notices_each_operator_that_is_another(
    chapter: str, lines: str, check: str
) -> None:
    cells = read_notebook(BOOK / f"chapters/{chapter}.ipynb").cells
    text = {cell.id: cell.source for cell in cells}

    def passes(source: str) -> bool:
        names: dict[str, Any] = {}
        exec(text["setup"], names)
        names["rng"] = names["generator"](1)
        exec(source, names)
        try:
            check_alone(names, source, text[check])
        except (AssertionError, ValueError):  # a ValueError for draws that have no mean
            return False
        return True

    assert passes(text[lines])
    assert [words for words, source in broken(text[lines]) if passes(source)] == []
