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
    "01-statistics": {"three-estimators": SAMPLE},
    "02-regression": {"sandwich-run": TABLE},
    "03-optimization": {"fp8-run": TABLE},
    "05-language-models": {"symbols-convert": TABLE, "symbols-end": TABLE},
    "06-recurrent": {"wirings-sample": SAMPLE},
    "10-beyond-attention": {"board-exchange": SAMPLE},
    "11-inference": {"length-real": SAMPLE, "temperature-print": TABLE},
    "13-scaling": {"twenty-ratios": TABLE},
    "15-alignment": {"stages-print": SAMPLE},
    "17-evaluation": {"leaks-read": TABLE},
    "18-reasoning": {"imitate-ways": STORED, "hole-two": SAMPLE, "groups-weights": TABLE},
}
"""Cells of which no check uses a name, and why."""


class Typed(NamedTuple):
    """A cell: its tag, what it gives names to, which of these not in a loop, and what it uses."""

    id: str
    tag: str
    given: frozenset[str]
    lasting: frozenset[str]
    used: frozenset[str]


def stored_in(nodes: Sequence[ast.AST]) -> frozenset[str]:
    """Name what is given a name, but for what only counts the turns of a loop."""
    inside = [node for top in nodes for node in ast.walk(top)]
    loops = [node for node in inside if isinstance(node, ast.For | ast.comprehension)]
    turns = {id(one) for loop in loops for one in ast.walk(loop.target)}
    names = [node for node in inside if isinstance(node, ast.Name) and id(node) not in turns]
    defined = {one.name for one in nodes if isinstance(one, ast.FunctionDef | ast.ClassDef)}
    return frozenset({one.id for one in names if isinstance(one.ctx, ast.Store)} | defined)


def typed(cell: object) -> Typed:
    tree = ast.parse(cell.source)
    names = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
    tags = cell.metadata.get("tags", [])
    return Typed(
        cell.id,
        next((tag for tag in TAGS if tag in tags), ""),
        stored_in(tree.body),
        stored_in([node for node in tree.body if not isinstance(node, ast.For)]),
        frozenset(name.id for name in names if isinstance(name.ctx, ast.Load)),
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
    """Name the learner's cells that give names of which none reaches a check."""
    if not any(cell.tag == "check" for cell in section):
        return
    reached: set[str] = set()
    for cell in reversed(section):
        if cell.tag == "check" or cell.given & reached:
            reached |= cell.used
    for cell in section:
        if cell.tag == "" and cell.lasting and not cell.given & reached:
            yield cell.id


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
