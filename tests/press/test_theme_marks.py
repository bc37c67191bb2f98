"""What the press knows of the theme stands in one module, and the installed theme has it."""

from __future__ import annotations

import ast
import importlib
import re
from pathlib import Path

import pytest
from written import BOOK

from press.publish import theme_marks

THEMES = [
    Path(str(importlib.import_module(name).__file__)).parent / "theme"
    for name in ("pydata_sphinx_theme", "sphinx_book_theme")
]
OWN = re.compile(r"\b(bd|sbt|pst)-[a-z]")
"""How the theme's names begin."""


def files(pattern: str) -> list[str]:
    """Read files of the themes."""
    return [path.read_text("utf-8") for theme in THEMES for path in theme.rglob(pattern)]


def test_the_theme_calls_its_article_so() -> None:
    assert any(f'class="{theme_marks.ARTICLE}"' in text for text in files("*.html"))


def test_the_script_of_the_theme_has_what_is_taken_out_of_it_once() -> None:
    found = [len(theme_marks.MARKING.findall(text)) for text in files("pydata-sphinx-theme.js")]
    assert found == [1]


@pytest.mark.parametrize("call", theme_marks.PRESSED)
def test_the_theme_writes_what_is_pressed(call: str) -> None:
    package = [path for theme in THEMES for path in theme.parent.rglob("*.py")]
    written = [*files("*.html"), *(path.read_text("utf-8") for path in package)]
    assert any(call in text for text in written)


@pytest.mark.parametrize("name", theme_marks.NOT_PUBLISHED)
def test_pieces_of_templates_lie_among_the_static_files(name: str) -> None:
    assert any(list(theme.rglob(f"static/**/{name}")) for theme in THEMES)


@pytest.mark.parametrize("selector", theme_marks.COSTLY)
def test_a_sheet_has_the_rules_that_are_taken_out_of_it(selector: str) -> None:
    notebooks = Path(str(importlib.import_module("myst_nb").__file__)).parent / "static"
    sheets = [*files("*.css"), *(path.read_text("utf-8") for path in notebooks.glob("*.css"))]
    begin = selector.removeprefix("^").replace("> ", "> ?")
    assert any(re.search(rf"(?:^|[}},\n])\s*{begin}", text) for text in sheets)


def strings(path: Path) -> list[str]:
    """Return the strings of a module that are no docstrings."""
    tree = ast.parse(path.read_text("utf-8"))
    docstrings = {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    return [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and id(node) not in docstrings
    ]


def test_no_other_module_of_the_press_names_a_class_of_the_theme() -> None:
    others = [
        f"{path.relative_to(BOOK)}: {text[:60]!r}"
        for path in sorted((BOOK / "lib/press").rglob("*.py"))
        if path.name != "theme_marks.py"
        for text in strings(path)
        if OWN.search(text)
    ]
    assert others == []
