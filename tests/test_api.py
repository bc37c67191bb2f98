"""What holds for every public function: one name for randomness, and a source for each formula."""

import importlib
import inspect
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, get_type_hints

import numpy as np
import pytest
import torch
from test_bad_calls import TOPICS

WITHOUT_SOURCE = Path(__file__).parent / "without_source.txt"
"""Formulas that are definitions or the book's own: nobody else's to cite."""


def public_functions() -> Iterator[tuple[str, Callable[..., Any]]]:
    """Give each public function and each method of a public class, with its name."""
    for topic in TOPICS:
        package = importlib.import_module(f"primer.{topic}")
        for name in package.__all__:
            item = getattr(package, name)
            if inspect.isfunction(item):
                yield f"{topic}.{name}", item
            elif inspect.isclass(item):
                for method, function in vars(item).items():
                    if inspect.isfunction(function) and not method.startswith("_"):
                        yield f"{topic}.{name}.{method}", function


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
    assert sorted(found) == exempt, "cite where the formula is from; take cured ones off the list"
