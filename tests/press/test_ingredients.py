"""A notebook runs again when something changed that its outputs are made of, and only then."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import nbformat
import pytest

from press.execution import ingredients

ROOT = Path(__file__).parents[2]
CHAPTERS = sorted((ROOT / "chapters").rglob("*.ipynb"))
SOURCES = {
    str(path.relative_to(ROOT / "chapters").with_suffix("")): [
        cell.source for cell in nbformat.read(path, 4).cells if cell.cell_type == "code"
    ]
    for path in CHAPTERS
}

Touched = Callable[[str], set[str]]


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a copy of the library, which tests change and restore."""
    copy = tmp_path_factory.mktemp("library") / "lib"
    shutil.copytree(ingredients.LIBRARY, copy, ignore=shutil.ignore_patterns("__pycache__"))
    return copy


@pytest.fixture(scope="module")
def before(library: Path) -> dict[str, str]:
    """Give the keys of all notebooks with the library as it is."""
    return keys(library)


def keys(library: Path) -> dict[str, str]:
    requirements = ROOT / "requirements.txt"
    return {name: ingredients.key(cells, library, requirements) for name, cells in SOURCES.items()}


@pytest.fixture
def touched(library: Path, before: dict[str, str]) -> Touched:
    """Say which notebooks run again when a line is added to a file, or a file to a folder."""

    def changed(path: str) -> set[str]:
        file = library / path
        content = file.read_bytes() if file.exists() else None
        file.write_bytes((content or b"") + b"\n")
        after = keys(library)
        if content is None:
            file.unlink()
        else:
            file.write_bytes(content)
        return {name for name in before if before[name] != after[name]}

    return changed


def test_a_module_of_a_topic_runs_its_chapter_again_and_who_imports_it(
    library: Path, touched: Touched
) -> None:
    changed = touched("primer/fourier/windows.py")
    assert "16-fourier" in changed
    users = {
        name
        for name, cells in SOURCES.items()
        if library / "primer/fourier/windows.py" in ingredients.ingredients(cells, library)
    }
    assert changed == users
    assert {"01-statistics", "02-regression", "03-optimization", "07-attention"}.isdisjoint(changed)


def test_a_widget_runs_the_chapters_that_show_it(touched: Touched) -> None:
    shows = {name for name, cells in SOURCES.items() if "RopeRotation" in "".join(cells)}
    changed = touched("primer/widgets/rope/__init__.py")
    assert shows <= changed
    assert "16-fourier" not in changed


@pytest.mark.parametrize("path", ["primer/widgets/rope/rope.css", "primer/widgets/kit/kit.js"])
def test_what_only_the_site_reads_runs_nothing(touched: Touched, path: str) -> None:
    assert touched(path) == set()


@pytest.mark.parametrize(
    ("path", "reader"),
    [
        ("studies/optimization/race.csv", "03-optimization"),
        ("studies/study.py", "03-optimization"),
        ("primer/checkpoints/plays-2.safetensors", "09-transformers"),
        ("primer/checkpoints/plays-2.safetensors", "11-inference"),
        ("studies/inference/continuations.csv", "11-inference"),
    ],
)
def test_a_committed_result_runs_who_reads_it(touched: Touched, path: str, reader: str) -> None:
    changed = touched(path)
    assert reader in changed
    assert "16-fourier" not in changed


def test_data_of_any_kind_counts(touched: Touched) -> None:
    assert touched("primer/fourier/bell.wav") >= {"16-fourier"}


def test_every_file_of_data_has_a_module_that_brings_it() -> None:
    library = ingredients.LIBRARY
    files = [path for name in ingredients.PACKAGES for path in (library / name).rglob("*")]
    sources = [f"import {_name(path)}" for path in files if path.suffix == ".py"]
    found = ingredients.ingredients(sources, library)
    data = {
        path
        for path in files
        if path.is_file()
        and path.suffix not in ingredients.NOT_DATA
        and "__pycache__" not in path.parts
    }
    assert data - found == set()


def _name(path: Path) -> str:
    parts = path.relative_to(ingredients.LIBRARY).with_suffix("").parts
    return ".".join(part for part in parts if part != "__init__")


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give a package in which one name is handed on and one module imports another."""
    monkeypatch.setattr(ingredients, "PACKAGES", ("small",))
    library = tmp_path / "small"
    for name, text in {
        "__init__.py": '"""Small."""\n',
        "shop/__init__.py": "from small.shop.bread import bake\nfrom small.shop.milk import cool\n",
        "shop/bread.py": "def bake():\n    from small.mill import grind\n    return grind()\n",
        "shop/milk.py": "def cool():\n    return 4\n",
        "shop/prices.csv": "bread,3\n",
        "mill.py": "from os import path\nFOLDER = 'corn'\ndef grind():\n    return path\n",
        "corn/rye.txt": "rye",
    }.items():
        (library / name).parent.mkdir(parents=True, exist_ok=True)
        (library / name).write_text(text)
    return tmp_path


@pytest.mark.parametrize(
    ("code", "names"),
    [
        ("import math", []),
        ("from small.shop import cool", ["shop/milk.py", "shop/prices.csv"]),
        (
            "from small.shop import bake as cook",
            ["corn/rye.txt", "mill.py", "shop/bread.py", "shop/prices.csv"],
        ),
        ("%time cool()\nimport small.mill", ["corn/rye.txt", "mill.py"]),
        ("if True:\n    from small import mill", ["corn/rye.txt", "mill.py"]),
    ],
)
def test_names_lead_to_the_modules_that_define_them(
    small: Path, code: str, names: list[str]
) -> None:
    found = ingredients.ingredients([code], small)
    assert found == {small / "small" / name for name in names}


def test_a_package_imported_whole_leads_everywhere(small: Path) -> None:
    found = ingredients.ingredients(["from small import shop"], small)
    assert found >= {small / "small/shop/bread.py", small / "small/mill.py"}


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("import small.store", "there is no such module"),
        ("from small.store import x", "there is no such module"),
        ("x = = 1", "code cell 1 is not Python"),
        ("from . import x", "must name the whole module"),
    ],
)
def test_what_cannot_be_followed_is_said(small: Path, code: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        ingredients.ingredients(["1 + 1", code], small)


def test_the_key_depends_on_code_and_requirements_but_not_on_dates(small: Path) -> None:
    requirements = small / "requirements.txt"

    def key(*code: str) -> str:
        return ingredients.key(code, small, requirements)

    seen = {key("import small.mill")}
    seen |= {key("import small.mill", ""), key("import small.shop")}
    requirements.write_text("numpy==2")
    seen.add(key("import small.mill"))
    assert len(seen) == 4
    (small / "small/mill.py").touch()
    assert key("import small.mill") in seen
