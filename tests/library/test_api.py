"""What holds for every public function: one name for randomness, a source, and a caller."""

import ast
import importlib
import inspect
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, get_type_hints

import numpy as np
import pytest
import torch
from bad_calls import TOPICS
from written import BOOK

WITHOUT_SOURCE = Path(__file__).parent / "without_source.txt"
"""Formulas that are definitions or the book's own: nobody else's to cite."""
ASK_THEMSELVES = Path(__file__).parent / "ask_themselves.txt"
"""What asks in its own lines, or not at all: a step of a layer or a loop, whose door asks."""
TO_BE_READ = ["train.train_plainly"]
"""What is there to be read beside what is called: the trainer's loop in forty lines."""


def public(topic: str) -> Iterator[tuple[str, Callable[..., Any]]]:
    """Give each public function of a topic, each class, and each of its methods, with its name."""
    package = importlib.import_module(f"primer.{topic}")
    for name in package.__all__:
        item = getattr(package, name)
        if inspect.isfunction(item) or inspect.isclass(item):
            yield name, item
        if inspect.isclass(item):
            for method, function in vars(item).items():
                if inspect.isfunction(function) and not method.startswith("_"):
                    yield f"{name}.{method}", function


def public_functions() -> Iterator[tuple[str, Callable[..., Any]]]:
    """Give each public function and each method of a public class, with its name."""
    for topic in TOPICS:
        for name, item in public(topic):
            if inspect.isfunction(item):
                yield f"{topic}.{name}", item


def is_checked(function: Callable[..., Any]) -> bool:
    """Say whether `checked` stands above a function, under other decorators or not."""
    while not function.__code__.co_filename.endswith("inputs/guard.py"):
        if not hasattr(function, "__wrapped__"):
            return False
        function = function.__wrapped__
    return True


def test_a_function_is_checked_or_listed() -> None:
    """A new one without `checked` hands on NaN and ends in errors of torch's: so one by one."""
    unchecked = [
        name
        for name, function in public_functions()
        if {*inspect.signature(function).parameters} - {"self"} and not is_checked(function)
    ]
    kept = ASK_THEMSELVES.read_text("utf-8").split()
    new, cured = sorted({*unchecked} - {*kept}), sorted({*kept} - {*unchecked})
    assert not new, f"write @checked of primer.inputs above {', '.join(new)}; the list never grows"
    assert not cured, f"take {', '.join(cured)} off {ASK_THEMSELVES.name}"
    assert sorted(unchecked) == kept


@pytest.mark.parametrize("topic", TOPICS)
def test_what_may_be_left_out_is_called_optional(topic: str) -> None:
    """Where None stands for something the docstring says so; never of what must be given."""
    wrong = []
    for function, item in public(topic):
        text = inspect.getdoc(item) or ""
        for name, parameter in inspect.signature(item).parameters.items():
            said = re.search(rf"^(?:[\w, *]*\b)?{name}\b[\w, *]* : (.*)", text, re.MULTILINE)
            optional = bool(said and "optional" in said[1])
            given = parameter.default is parameter.empty
            if said and (optional if given else parameter.default is None and not optional):
                wrong.append(f"{function}({name})")
    assert wrong == []


@pytest.mark.parametrize(
    ("kind", "name"), [(np.random.Generator, "rng"), (torch.Generator, "generator")]
)
def test_randomness_has_one_name_for_each_kind(kind: type, name: str) -> None:
    others = [
        f"{function}({argument})"
        for function, item in public_functions()
        for argument, hint in get_type_hints(item).items()
        if hint in (kind, kind | None) and argument not in (name, "return")
    ]
    assert others == []


def test_a_formula_has_a_source_or_stands_in_the_list_of_those_without() -> None:
    exempt = WITHOUT_SOURCE.read_text("utf-8").split()
    found = [
        function
        for function, item in public_functions()
        if ".. math::" in (doc := inspect.getdoc(item) or "") and "References\n---" not in doc
    ]
    new, cured = sorted({*found} - {*exempt}), sorted({*exempt} - {*found})
    assert not new, f"cite where its formula is from, under References: {', '.join(new)}"
    assert not cured, f"take {', '.join(cured)} off {WITHOUT_SOURCE.name}"
    assert sorted(found) == exempt


def code_of_the_book() -> Iterator[str]:
    """Give all code that may call the library: its modules, the benchmarks, cells, pages."""
    for folder in ("lib/primer", "lib/studies", "lib/press", "benchmarks"):
        for path in (BOOK / folder).rglob("*.py"):
            if path.name != "__init__.py" or "widgets" in path.parts:  # elsewhere: handed on
                yield path.read_text("utf-8")
    for path in (BOOK / "chapters").rglob("*.ipynb"):
        for cell in json.loads(path.read_text("utf-8"))["cells"]:
            if cell["cell_type"] == "code":
                yield "".join(cell["source"])
    for path in (BOOK / "chapters").rglob("*.md"):
        yield from re.findall(
            r"```\{code-cell\}[^\n]*\n(?::[^\n]*\n)*(.*?)```", path.read_text("utf-8"), re.DOTALL
        )


def names_in(code: str) -> Iterator[str]:
    """Give the names that code uses; to define one is no use."""
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr
        elif isinstance(node, ast.ImportFrom):
            yield from (alias.name for alias in node.names)


def test_every_public_name_is_used_by_somebody() -> None:
    used = {name for code in code_of_the_book() for name in names_in(code)}
    unused = [
        f"{topic}.{name}"
        for topic in TOPICS
        for name in importlib.import_module(f"primer.{topic}").__all__
        if name not in used
    ]
    assert unused == TO_BE_READ, "show it in its chapter, or take it out with its tests"
