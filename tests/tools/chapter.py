"""Name what belongs to one chapter, as arguments for pytest: ``python tests/tools/chapter.py 08``.

Its notebooks, the tests and doctests of the library's packages that it imports, of its widgets and
exercises, and its pages in the browser.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import nbformat

from press.execution import ingredients
from press.execution.ingredients import LIBRARY

ROOT = Path(__file__).parents[2]
SHARED = {"book", "notebook", "widgets", "exercises", "palette", "inputs", "datasets", "saving"}
"""What every chapter uses: its tests belong to none."""
EVERYWHERE = (
    "test_site",
    "test_exercises",
    "test_answers",
    "test_notebooks",
    "test_coverage",
    "test_widgets",
)
"""Tests of all chapters, of which those are chosen that bear the chapter's name."""


def arguments(chapter: str) -> list[str]:
    """Return pytest's arguments for a chapter.

    Raises
    ------
    ValueError
        When there is no chapter of this number or name.
    """
    found = sorted((ROOT / "chapters").glob(f"{chapter}*.ipynb"))
    if len(found) != 1:
        names = ", ".join(
            path.stem[:2] for path in sorted((ROOT / "chapters").glob("[0-9]*.ipynb"))
        )
        raise ValueError(f"CHAPTER={chapter} is no chapter that is written; there are {names}")
    notebook = found[0]
    code = "\n".join(
        cell.source for cell in nbformat.read(notebook, 4).cells if cell.cell_type == "code"
    )
    topic = notebook.stem.partition("-")[2]
    packages = {topic, *_packages(code)} - SHARED
    modules = _widgets(code)
    library = [ROOT / "lib" / part / name for part in ("primer", "studies") for name in packages]
    tests = [
        path
        for path in (ROOT / "tests").rglob("test_*.py")
        if path.stem.startswith((f"test_{topic}", *(f"test_{name}_widget" for name in modules)))
        or path.stem in EVERYWHERE
    ]
    errata = ROOT / "chapters/errata" / notebook.name
    chosen = [notebook, errata, *sorted(library), *sorted(tests)]
    paths = [path.relative_to(ROOT).as_posix() for path in chosen if path.exists()]
    doctests = {f"{part}.{name}" for part in ("primer", "studies") for name in packages}
    return [*paths, "-k", " or ".join(sorted({notebook.stem, topic, *doctests, *modules}))]


def _packages(code: str) -> set[str]:
    """Return the packages of the library that code imports."""
    inner = re.findall(r"\b(?:from|import) (?:primer|studies)\.(\w+)", code)
    named = re.findall(r"^from primer import \(?([\w, ]+)", code, re.MULTILINE)
    return {
        *inner,
        *(name.split()[0] for line in named for name in line.split(",") if name.strip()),
    }


def _widgets(code: str) -> set[str]:
    """Return the modules of the widgets that code imports."""
    files = ingredients.ingredients(re.findall(r"^from primer\.widgets.*", code, re.M), LIBRARY)
    modules = {path.parent.name for path in files if path.match("widgets/*/__init__.py")}
    return modules - {"base", "controls"}


def main() -> int:
    """Print the arguments, one a line."""
    try:
        print(*arguments(sys.argv[1]), sep="\n")
    except ValueError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
