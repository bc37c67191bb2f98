"""What a chapter quotes of the library is mathematics first: it has no more lines of checks."""

import ast
import inspect
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest
from written import BOOK

from primer import inputs

CHECKS = {name for name in inputs.__all__ if name[0].islower()} - {"checked", "checked_fields"}
NOTEBOOKS = [*sorted((BOOK / "chapters").glob("*.ipynb"))]


def quoted(path: Path) -> Iterator[tuple[str, Any]]:
    """Give what `show_source` quotes in a notebook: how the notebook calls it, and the thing."""
    names: dict[str, Any] = {}
    for cell in nbformat.read(path, 4).cells:
        if cell.cell_type != "code" or "%" in cell.source[:1]:
            continue
        for statement in ast.parse(cell.source).body:
            named = isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Name)
            if isinstance(statement, ast.Import | ast.ImportFrom) or (
                named and statement.value.id in names  # `LibraryBlock = Block`
            ):
                exec(ast.unparse(statement), names)
        for call in ast.walk(ast.parse(cell.source)):
            if isinstance(call, ast.Call) and ast.unparse(call.func) == "show_source":
                for item in call.args:
                    yield ast.unparse(item), eval(ast.unparse(item), names)


def functions(item: Any) -> list[Callable[..., Any]]:
    """Give a function, or those of a class."""
    if not inspect.isclass(item):
        return [item]
    return [
        one
        for one in map(inspect.unwrap, filter(inspect.isfunction, vars(item).values()))
        if one.__code__.co_filename == inspect.getsourcefile(item)  # not made by a dataclass
    ]


def is_check(statement: ast.stmt) -> bool:
    """Say whether a statement only asks what may be given."""
    if isinstance(statement, ast.Raise | ast.Assert):
        return True
    if isinstance(statement, ast.If):
        return all(map(is_check, statement.body)) and all(map(is_check, statement.orelse))
    if hasattr(statement, "body"):
        return False
    calls = [node for node in ast.walk(statement) if isinstance(node, ast.Call)]
    return any(ast.unparse(call.func).removeprefix("inputs.") in CHECKS for call in calls) or any(
        ast.unparse(call.func).split(".")[-1].lstrip("_").startswith(("check_", "refuse_"))
        or ast.unparse(call.func).split(".")[-1] in {"_check", "_checked"}
        for call in calls
    )


def lines(function: Callable[..., Any]) -> tuple[int, int]:
    """Count the lines of a function's body that check, and those that compute."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(inspect.unwrap(function))))
    definition = tree.body[0]
    assert isinstance(definition, ast.FunctionDef)
    checks = mathematics = 0
    waiting = [*definition.body]
    while waiting:
        statement = waiting.pop()
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
            continue  # the docstring, which is not quoted
        assert statement.end_lineno is not None
        inner = [one for name in ("body", "orelse") for one in getattr(statement, name, [])]
        if is_check(statement):
            checks += statement.end_lineno - statement.lineno + 1
        elif inner:
            mathematics += inner[0].lineno - statement.lineno
            waiting += inner
        else:
            mathematics += statement.end_lineno - statement.lineno + 1
    return checks, mathematics


def test_lines_are_told_apart() -> None:
    def mixed(x: float) -> float:
        """Say something."""
        if x < 0:
            raise ValueError("negative")
        elif x > 1:
            raise ValueError(
                "large",
            )
        inputs.positive("x", x)
        for _ in range(3):
            if not x:
                raise ValueError("0")
            x = x * x
        return x

    assert lines(mixed) == (9, 3)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_quoted_function_spends_no_more_lines_on_checks_than_on_mathematics(path: Path) -> None:
    too_many = [
        f"{name}: {checks} lines of checks beside {mathematics} of mathematics; say in the "
        "signature what may be given"
        for quote, item in quoted(path)
        for function in functions(item)
        for name in [f"{quote} ({function.__qualname__})"]
        for checks, mathematics in [lines(function)]
        if checks > mathematics
    ]
    assert too_many == []
