"""The archive: what is in it, that the same files give the same, and a notebook run from it."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from written import BOOK

from primer.book.archive import FOLDER, book_files, write_archive


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Unpack the book in an empty folder."""
    folder = tmp_path_factory.mktemp("reader")
    write_archive(BOOK, folder / "book.zip")
    with zipfile.ZipFile(folder / "book.zip") as archive:
        archive.extractall(folder)
    return folder / FOLDER


def test_what_git_ignores_stays_out(unpacked: Path) -> None:
    names = {path.relative_to(unpacked).as_posix() for path in unpacked.rglob("*")}
    assert {"Makefile", "README.md", "chapters/08-positions.ipynb", ".gitignore"} <= names
    assert "lib/primer/checkpoints/plays-2.safetensors" in names
    kept_out = {".git", ".venv", "node_modules", "_build", "__pycache__", ".mypy_cache"}
    assert not [name for name in names if kept_out & set(name.split("/"))]


def test_all_that_is_tracked_is_in_it() -> None:
    command = ["git", "ls-files", "-z"]
    listed = subprocess.run(command, cwd=BOOK, capture_output=True, text=True, check=False)
    if listed.returncode:
        pytest.skip("not a git checkout")
    tracked = {BOOK / name for name in listed.stdout.split("\0")[:-1]}
    assert {path for path in tracked if path.exists()} <= set(book_files(BOOK))


def test_the_same_files_give_the_same_archive(tmp_path: Path) -> None:
    (tmp_path / "book" / "chapters").mkdir(parents=True)
    for name in (".gitignore", "b.md", "chapters/a.ipynb"):
        (tmp_path / "book" / name).write_text("_build/\n")
    for copy in ("one.zip", "two.zip"):
        write_archive(tmp_path / "book", tmp_path / copy)
        for path in book_files(tmp_path / "book"):
            os.utime(path, (0, 1e9))
    assert (tmp_path / "one.zip").read_bytes() == (tmp_path / "two.zip").read_bytes()


def test_a_notebook_runs_from_it(unpacked: Path) -> None:
    command = [sys.executable, "-m", "nbconvert", "--to", "notebook", "--execute", "--stdout"]
    ran = subprocess.run(
        [*command, "02-regression.ipynb"],  # the one that does least
        cwd=unpacked / "chapters/errata",
        env={**os.environ, "PYTHONPATH": str(unpacked / "lib")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr[-2000:]
    assert "✓" in ran.stdout
