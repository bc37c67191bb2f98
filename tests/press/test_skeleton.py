"""`make chapter`: a new chapter is whole, to come until the registry says so, and removable."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import nbformat
import pytest
import replay
import yaml
from bs4 import BeautifulSoup
from nbformat.v4 import new_markdown_cell
from tiny_book import build, chapter_of, write_book, write_registry
from written import BOOK, CHAPTERS

from press.audit.asking import guesses
from press.audit.coverage import gaps, read_entries
from press.audit.form import faults_of
from press.execution.normalize import normalize, notebooks, unfinished_cells
from press.registry import REGISTRY, complaints, read_book, table_of_contents, written_files
from press.workshop import skeleton

NEXT = len(read_book(BOOK).chapters) + 1
TOPIC = "rehearsal_of_the_recipe"  # nobody calls a chapter so
NAME, LATER = f"{NEXT:02d}-rehearsal-of-the-recipe", f"{NEXT + 1:02d}-state-of-the-rehearsal"
ENTRY = f"""
[[chapter]]
name = "{NAME}"
title = "Trial"
about = "a chapter that is not written yet"
minutes = 60
part = "Since 2024"
builds_on = ["09-transformers"]
library = ["{TOPIC}"]
widgets = []
map = {{ wide = [4, 5], tall = [1, 11] }}
"""
"""What the registry says of a chapter to come; one of ours would be written some day."""
ROW = f"TRI-01,{NAME},A first row,S1 L1,claim,print it\n"
PLACES = 8
"""How many files a new chapter may touch."""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, list[Path]]]:
    """Make a chapter in a copy of the book; give the copy and what was made."""
    copy = tmp_path_factory.mktemp("book")
    shutil.copytree(BOOK / "chapters", copy / "chapters")
    leave_out = shutil.ignore_patterns("widgets", "checkpoints", "__pycache__")
    shutil.copytree(BOOK / "lib/primer", copy / "lib/primer", ignore=leave_out)
    (copy / "tests/library/answers").mkdir(parents=True)
    for name in ("README.md", "_toc.yml", "pyproject.toml", "tests/library/answers/__init__.py"):
        shutil.copy(BOOK / name, copy / name)
    for name, more in ((REGISTRY, ENTRY), ("chapters/appendix/coverage.csv", ROW)):
        with (copy / name).open("a", encoding="utf-8") as file:
            file.write(more)
    for path, text in written_files(copy).items():
        path.write_text(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(copy / "lib"))  # the kernel inherits it
        yield copy, skeleton.make_chapter(copy, NAME)


def run(copy: Path, *arguments: str) -> str:
    """Run Python in the copy, with its library and its answers."""
    path = os.pathsep.join([str(copy / "lib"), str(copy / "tests/library")])
    command = [sys.executable, *arguments]
    done = subprocess.run(
        command, cwd=copy, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": path}
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def mark_written(copy: Path) -> None:
    text = (copy / REGISTRY).read_text()
    (copy / REGISTRY).write_text(
        text.replace(f'name = "{NAME}"\n', f'name = "{NAME}"\nwritten = true\n')
    )


def test_few_places_are_touched(made: tuple[Path, list[Path]]) -> None:
    assert len(made[1]) <= PLACES
    assert all(path.exists() for path in made[1])


def test_the_notebook_has_the_form_and_was_run(made: tuple[Path, list[Path]]) -> None:
    path = made[0] / f"chapters/{NAME}.ipynb"
    assert faults_of(path) == []
    notebook = nbformat.read(path, as_version=4)
    assert unfinished_cells(notebook) == []
    assert normalize(nbformat.read(path, as_version=4)) == notebook
    assert sum(len(list(guesses(cell.source))) for cell in notebook.cells) >= 2


@pytest.mark.thorough
def test_library_tests_and_answers_hold(made: tuple[Path, list[Path]]) -> None:
    copy = made[0]
    run(
        copy, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--doctest-modules",
        f"lib/primer/{TOPIC}", f"tests/library/test_{TOPIC}.py",
    )  # fmt: skip
    printed = run(
        copy,
        "-c",
        f"import re\nfrom answers.{TOPIC} import RIGHT, WRONG\n"
        "for check, answer in RIGHT:\n    check(answer)\n"
        "for check, answer, sentence in WRONG:\n"
        "    try:\n        check(answer)\n"
        "    except AssertionError as mistake:\n"
        "        assert re.search(sentence, str(mistake)), mistake\n"
        "    else:\n        raise SystemExit('a wrong answer passes')\n",
    )
    assert printed.count("is solved") == 2


def test_source_has_the_style_of_the_book(made: tuple[Path, list[Path]]) -> None:
    files = [str(path) for path in made[1] if path.suffix in {".py", ".ipynb"}]
    for command in (["format", "--check"], ["check"]):
        run(made[0], "-m", "ruff", *command, "--no-cache", *files)


def test_until_it_is_written_it_owes_nothing_and_is_nowhere(
    made: tuple[Path, list[Path]], monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = made[0]
    monkeypatch.chdir(copy)
    assert complaints(copy) == []
    assert gaps(copy) == gaps(BOOK)
    assert NAME not in {path.stem for path in notebooks()}
    config = SimpleNamespace(rootpath=copy)
    for folder in ("chapters", "chapters/errata"):
        assert replay.pytest_ignore_collect(copy / folder / f"{NAME}.ipynb", config)
    assert not replay.pytest_ignore_collect(copy / "chapters/08-positions.ipynb", config)
    for path, text in written_files(copy).items():
        assert path.read_text() == text


@pytest.mark.thorough
def test_once_it_is_written_the_book_asks_for_its_rows(
    made: tuple[Path, list[Path]], tmp_path: Path
) -> None:
    copy = tmp_path / "book"
    shutil.copytree(made[0], copy)
    mark_written(copy)
    assert complaints(copy) == []
    owed = [entry.id for entry in read_entries(copy) if entry.chapter == NAME]
    assert owed
    owing = set(gaps(copy)) - set(gaps(BOOK))
    assert {sentence.partition(";")[0] for sentence in owing} == {
        f"{name}: no check in {NAME} proves it" for name in owed
    }
    contents = table_of_contents(copy)
    assert f"file: chapters/{NAME}" in contents
    assert f"file: chapters/appendix/library/{TOPIC}" in contents


@pytest.mark.thorough
def test_it_builds_without_a_warning_and_one_to_come_is_drawn_so(
    made: tuple[Path, list[Path]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = chapter_of([new_markdown_cell("# Positions", id="title")])
    write_book(tmp_path, page)
    shutil.copytree(made[0] / "lib", tmp_path / "lib", dirs_exist_ok=True)
    for name in ("widgets", "checkpoints"):  # which were left out, and the press imports
        (tmp_path / "lib/primer" / name).symlink_to(BOOK / "lib/primer" / name)
    rows = "chapters/appendix/coverage.csv"  # which it reads
    (tmp_path / rows).parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(made[0] / rows, tmp_path / rows)
    shutil.copy(made[0] / f"chapters/{NAME}.ipynb", tmp_path / "chapters")
    for name in CHAPTERS:  # prerequisites to link to
        if (
            name
            in "".join(
                one.source
                for one in nbformat.read(tmp_path / f"chapters/{NAME}.ipynb", as_version=4).cells
            )
            and name != "08-positions"
        ):
            nbformat.write(page, tmp_path / f"chapters/{name}.ipynb")
    toc = yaml.safe_load((tmp_path / "_toc.yml").read_text())
    files = sorted((tmp_path / "chapters").glob("*.ipynb"))
    toc["parts"][0]["chapters"] = [{"file": f"chapters/{path.stem}"} for path in files]
    (tmp_path / "_toc.yml").write_text(yaml.safe_dump(toc))
    write_registry(tmp_path, [path.stem for path in files], ENTRY)
    monkeypatch.setattr(skeleton, "execute", lambda *_: None)  # half written: it was never run
    (tmp_path / "tests/library/answers").mkdir(parents=True)
    new = skeleton.make_chapter(tmp_path, LATER)
    assert tmp_path / REGISTRY in new
    assert len(new) <= PLACES
    assert read_book(tmp_path).chapters[-1].title == "State of the rehearsal"

    done = build(tmp_path, library=tmp_path / "lib")
    assert done.returncode == 0, done.stdout + done.stderr
    site = tmp_path / "_build/html"
    assert "Warm-up: three numbers" in (site / f"chapters/{NAME}.html").read_text()
    assert not (site / f"chapters/{LATER}.html").exists()
    index = BeautifulSoup((site / "index.html").read_text(), "html.parser")
    for drawing in index.select("svg.chapter-map"):
        linked = {a["href"] for a in drawing.select("a")}
        assert linked == {f"chapters/{path.stem}.html" for path in files}
        to_come = [box.select_one(".number").text for box in drawing.select(".to-come")]
        assert to_come[-1] == str(NEXT + 1)
        assert len(to_come) == NEXT + 1 - len(files)


def test_it_is_removed_without_a_trace(made: tuple[Path, list[Path]], tmp_path: Path) -> None:
    copy = tmp_path / "book"
    shutil.copytree(made[0], copy, ignore=shutil.ignore_patterns("__pycache__", "*cache"))
    for path in made[1]:
        (copy / path.relative_to(made[0])).unlink()
    (copy / f"lib/primer/{TOPIC}").rmdir()
    assert complaints(copy) == []
    assert (copy / REGISTRY).read_text() == (BOOK / REGISTRY).read_text() + ENTRY
    assert not list(copy.rglob(f"*{TOPIC}*"))


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("08-positions", "'08-positions' is taken: chapters/08-positions.ipynb exists; go on"),
        ("positions", "'positions' is no name of a chapter: give two digits"),
        ("12-Pretraining", "is no name of a chapter"),
        ("12_pretraining", "is no name of a chapter"),
        ("../17-places", "is no name of a chapter"),
        ("08-places", f"neither a chapter of chapters/book.toml nor the next one, {NEXT:02d}-…"),
        (
            f"{NEXT + 2:02d}-later",
            f"neither a chapter of chapters/book.toml nor the next one, {NEXT:02d}-…",
        ),
        ("", "is no name of a chapter"),
    ],
)
def test_a_name_that_cannot_be_is_refused_with_a_sentence(
    name: str, sentence: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(BOOK)
    monkeypatch.setattr(sys, "argv", ["skeleton", name])
    assert skeleton.main() == 1
    assert sentence in capsys.readouterr().err


def test_no_name_is_asked_for(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["skeleton"])
    assert skeleton.main() == 1
    assert "make chapter NAME=05-language-models" in capsys.readouterr().err
