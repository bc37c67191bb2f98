"""What CONTRIBUTING.md tells newcomers to do is done on a copy, to the letter; its tests pass.

The text is the program: the files of the new widget and all commands are read from it.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

import mutants
import pytest
from written import BOOK

from press.registry import REGISTRY, read_book

RECIPES = (BOOK / "CONTRIBUTING.md").read_text("utf-8")
CHAPTER = RECIPES.partition("\n## A chapter in a day\n")[2].partition("\n## ")[0]
WIDGET = RECIPES.partition("\n## A new widget\n")[2].partition("\n## ")[0]
NAME = f"{len(read_book(BOOK).chapters) + 1:02d}-new-things"


def commands(text: str) -> list[str]:
    """Return the commands that a text asks for, in their order, but for what shows something."""
    found = re.findall(r"`(make [^`…]+)`|^ +(\.venv/bin/python .+)$", text, re.MULTILINE)
    return ["".join(one) for one in found if not re.match(r"make (widget|lab|lint)\b", one[0])]


def file(language: str) -> str:
    """Return the one file of a language that the recipe of a widget shows."""
    (text,) = re.findall(rf"^```{language}\n(.*?)^```$", WIDGET, re.DOTALL | re.MULTILINE)
    return text


def place_of(name: str) -> str:
    """Return where the tests of that name are."""
    (path,) = BOOK.glob(f"tests/*/test_{name}.py")
    return path.relative_to(BOOK).as_posix()


def changed(path: Path, old: str, new: str) -> None:
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), "utf-8")


class Copy:
    """A newcomer's copy of the book, in which nothing of ours is imported but what it holds."""

    def __init__(self, folder: Path) -> None:
        mutants.copy(BOOK, folder)
        (folder / "_build").mkdir(exist_ok=True)
        self.folder = folder
        packages = sorted((folder / "packages").glob("*/src"))
        tests = [folder / "tests/tools", folder / "tests/library"]
        paths = [folder / "lib", *packages, *tests]
        self.environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, paths))}

    def run(self, command: str | Sequence[str]) -> str:
        """Run a command in the copy, which must succeed; what is installed counts as installed."""
        if isinstance(command, str):
            command = command.replace("make ", "make -o .venv/.ready -o node_modules/.ready ", 1)
        done = subprocess.run(
            ["sh", "-c", command] if isinstance(command, str) else command,
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=3000,
        )
        assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
        return done.stdout

    def tests(self, *files: str, only: str = "") -> None:
        """Run tests, none of which asks for more than `make test` does."""
        options = ["-q", "-n0", "-p", "no:cacheprovider", "-m", "not seeds and not thorough"]
        chosen = ["-k", only] if only else []
        python = ".venv/bin/python"
        said = self.run([python, "-m", "pytest", *options, *chosen, "--doctest-modules", *files])
        assert " passed" in said


def test_the_recipes_are_found_in_the_text() -> None:
    first, *others = commands(CHAPTER)
    assert first == "make chapter NAME=05-language-models"
    assert others[0] == "make contents"
    assert commands(WIDGET)[:3] == [
        "make widgets",
        ".venv/bin/python tests/tools/drawn.py Hill",
        ".venv/bin/python tests/tools/still.py Hill",
    ]
    assert "class Hill(Widget)" in file("python")
    assert 'widget("hill"' in file("js")


@pytest.mark.thorough
def test_a_chapter_that_is_begun_leaves_the_tests_green(tmp_path: Path) -> None:
    copy = Copy(tmp_path)
    begin, contents, *_ = commands(CHAPTER)
    copy.run(begin.replace("05-language-models", NAME))
    registry = tmp_path / REGISTRY
    changed(registry, 'title = "New things"', 'title = "What is new"')
    changed(registry, 'about = "what it is about, in a line"', 'about = "a trial"')
    before, _, entry = registry.read_text("utf-8").rpartition("builds_on = []")
    registry.write_text(f'{before}builds_on = ["09-transformers"]{entry}', "utf-8")
    copy.run(contents)
    for command in commands(CHAPTER):
        if command.startswith(".venv"):
            copy.run(command.replace("05-language-models", NAME))
    own = ["tests/library/test_new_things.py", "lib/primer/new_things"]
    every = ("skeleton", "registry", "chapter_map", "appendix", "coverage", "api", "exercises")
    copy.tests(*own, *map(place_of, every))
    some = ("book_config", "proofs")
    copy.tests(*map(place_of, some), only="new_things or map")
    for command in ("ruff format --check .", "ruff check .", "mypy"):
        copy.run(f".venv/bin/{command}")


@pytest.mark.thorough
@pytest.mark.browser
def test_a_new_widget_leaves_the_tests_green(tmp_path: Path) -> None:
    copy = Copy(tmp_path)
    widgets = tmp_path / "lib/primer/widgets"
    (widgets / "hill").mkdir()
    (widgets / "hill/__init__.py").write_text(file("python"), "utf-8")
    (widgets / "hill/hill.js").write_text(file("js"), "utf-8")
    place = "from primer.widgets.jacobians import"
    changed(widgets / "__init__.py", place, f"from primer.widgets.hill import Hill\n{place}")
    changed(
        widgets / "__init__.py", '    "JacobianProduct",', '    "Hill",\n    "JacobianProduct",'
    )
    changed(tmp_path / REGISTRY, "widgets_to_come = [", 'widgets_to_come = ["Hill", ')
    for command in commands(WIDGET)[:3]:
        copy.run(command)
    some = ("live_widget", "widgets", "registry", "names", "api", "imports", "unused_styles")
    copy.tests(*map(place_of, some))
    every = ("still", "drawn", "every_state", "kit", "soak")
    copy.tests(*map(place_of, every), only="Hill or hill or each_widget")
    for command in ("ruff format --check lib", "ruff check lib", "mypy"):
        copy.run(f".venv/bin/{command}")
    for command in (
        "@biomejs/biome/bin/biome check --error-on-warnings",
        "typescript/bin/tsc --project lib/primer/widgets",
    ):
        copy.run(f".venv/bin/python -m press.workshop.node run node_modules/{command}")
