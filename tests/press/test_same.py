"""Two builds of the same sources give the same site, byte for byte, whenever and wherever."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

from nbformat.v4 import new_code_cell, new_markdown_cell
from same import differences
from tiny_book import (
    BOOK,
    CHAPTER,
    READING,
    READING_GLOSSARY,
    READING_KEPT,
    READING_NOTATION,
    chapter_of,
    write_book,
)

PAGES = {
    "chapters/appendix/glossary": READING_GLOSSARY,
    "chapters/appendix/kept": READING_KEPT,
    "chapters/appendix/notation": READING_NOTATION,
    "chapters/appendix/cards": "(cards)=\n# Flash cards\n\n```{cards}\n```\n",
}
CELLS = [
    (
        "from primer import widgets\n"
        "from primer.notebook import show, use_book_style\n"
        "use_book_style()",
        "setup",
    ),
    ("widgets.NormBall()", "figure"),
    ("widgets.RopeRotation()", "figure"),
    (
        "from matplotlib.figure import Figure\nfigure = Figure()\nfigure.subplots().plot([1, 2]);",
        "",
    ),
    ("show(figure, alt='a line')", "figure"),
    ("for k in range(9):\n    print(k, end=' ', flush=True)\nprint('and so on')", ""),
    ("{'a': 1}", ""),
]
TEXT = READING + textwrap.dedent(
    """
    ## Further reading

    ```{bibliography}
    :filter: docname in docnames
    ```
    """
)


def sources(folder: Path) -> Path:
    """Write a book whose one chapter runs: widgets, a figure, printed lines, guesses, terms."""
    cells = [new_markdown_cell(TEXT, id="text")]
    for number, (source, tag) in enumerate(CELLS):
        metadata = {"tags": [tag]} if tag else {}
        cells.append(new_code_cell(source, id=f"cell-{number}", metadata=metadata))
    folder.mkdir()
    (folder / ".gitignore").write_text("_build/\n")
    write_book(folder, chapter_of(cells), PAGES)
    config = folder / "_config.yml"
    config.write_text(
        config.read_text("utf-8").replace("execute_notebooks: 'off'", "execute_notebooks: cache"),
        encoding="utf-8",
    )
    return folder


def made(folder: Path, seed: str, **environment: str) -> Path:
    """Run and build a book in processes of their own; return its site."""
    path = os.pathsep.join([str(BOOK / "lib"), str(BOOK / "tests/tools")])
    own = {**os.environ, "PYTHONPATH": path, "PYTHONHASHSEED": seed, **environment}
    run = [sys.executable, "-m", "press.execution.execute"]
    ran = subprocess.run(run, cwd=folder, env=own, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    build = subprocess.run(
        [sys.executable, BOOK / "tests/tools/builder.py"],
        input=f"{folder}\n",
        env=own,
        capture_output=True,
        text=True,
    )
    status, *said = json.loads(build.stdout)
    assert status == 0, said
    return folder / "_build/html"


def test_two_builds_give_the_same_site(tmp_path: Path) -> None:
    sources(tmp_path / "one")
    other = tmp_path / "a folder elsewhere"
    shutil.copytree(tmp_path / "one", other, symlinks=True)
    first = made(tmp_path / "one", "1", TZ="Asia/Tokyo", LC_ALL="C.UTF-8")
    second = made(other, "2", TZ="America/Lima")
    page = (first / f"{CHAPTER}.html").read_text("utf-8")
    assert "widget-view+json" in page
    assert "0 1 2 3 4 5 6 7 8 and so on" in page
    assert list(differences(first, second)) == []


def test_a_file_that_differs_is_found(tmp_path: Path) -> None:
    for name, letter in (("one", "a"), ("two", "b")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "page.html").write_text(f"same {letter} same")
        (tmp_path / name / "same").write_text("same")
        (tmp_path / name / letter).write_text("")
    only, again, byte = differences(tmp_path / "one", tmp_path / "two")
    assert only.startswith("a is only in")
    assert again.startswith("b is only in")
    assert byte.startswith("page.html: at byte 5\n")
    assert list(differences(tmp_path / "one", tmp_path / "one")) == []
