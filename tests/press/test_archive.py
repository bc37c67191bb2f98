"""The archive: what is in it and what not, the same files give the same, and a notebook runs."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiny_book import CHAPTER, build, chapter_of, write_book
from written import BOOK

from press.downloads.archive import FOLDER, book_files, left_out, write_archive


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Unpack the book in an empty folder."""
    folder = tmp_path_factory.mktemp("reader")
    write_archive(BOOK, folder / "book.zip")
    with zipfile.ZipFile(folder / "book.zip") as archive:
        archive.extractall(folder)
    return folder / FOLDER


def git(folder: Path, *command: str) -> str:
    """Run git in a folder, with no settings of whoever runs the tests."""
    nobody = ["-c", "user.name=Nobody", "-c", "user.email=nobody@example.org"]
    own = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    own |= {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    return subprocess.run(
        ["git", *nobody, *command], cwd=folder, env=own, capture_output=True, text=True, check=True
    ).stdout


def write(folder: Path, files: dict[str, str]) -> None:
    """Write files by name, in folders that are made."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")


def names_in(archive: Path) -> dict[str, str]:
    """Return what an archive holds, by name."""
    with zipfile.ZipFile(archive) as opened:
        return {
            name.removeprefix(f"{FOLDER}/"): opened.read(name).decode()
            for name in opened.namelist()
        }


def packed(book: Path) -> dict[str, str]:
    """Write the archive of a book, and return what it holds."""
    target = book.parent / f"{book.name}.zip"
    write_archive(book, target)
    return names_in(target)


OWN = {".gitignore": "_build/\n*.log\n", "a.md": "A", "chapters/ö b.ipynb": "B", "run.sh": "C"}
FOREIGN = {".env": "TOKEN=1", "notes/todo.md": "call", "runs/step-1.pt": "weights"}
IGNORED = {"_build/index.html": "built", "train.log": "log", "sub/.gitignore": "x\n", "sub/x": "x"}


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Make a repository with own files, and files beside them that are not its."""
    book = tmp_path / "book"
    write(book, OWN)
    git(book, "init", "--quiet")
    git(book, "add", "--all")
    write(book, FOREIGN | IGNORED)
    return book


def test_what_git_ignores_stays_out(unpacked: Path) -> None:
    names = {path.relative_to(unpacked).as_posix() for path in unpacked.rglob("*")}
    assert {"Makefile", "README.md", "chapters/08-positions.ipynb", ".gitignore"} <= names
    assert "lib/primer/checkpoints/plays-2.safetensors" in names
    kept_out = {".git", ".venv", "node_modules", "_build", "__pycache__", ".mypy_cache"}
    assert not [name for name in names if kept_out & set(name.split("/"))]


def test_it_holds_what_is_tracked_and_nothing_else() -> None:
    try:
        tracked = git(BOOK, "ls-files", "-z").split("\0")[:-1]
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("not a git checkout")
    assert {*book_files(BOOK)} == {BOOK / name for name in tracked if (BOOK / name).exists()}


def test_what_is_not_tracked_stays_out_and_is_named(repository: Path) -> None:
    assert packed(repository) == OWN
    said = left_out(repository)
    assert all(name in said for name in (".env", "notes/todo.md", "runs/step-1.pt"))
    assert "git add" in said
    assert not any(name in said for name in ("_build", "train.log", "sub/x", "a.md"))


def test_where_everything_is_tracked_nothing_is_said(repository: Path) -> None:
    git(repository, "add", "--all")
    assert left_out(repository) == ""


def test_many_files_are_counted(repository: Path) -> None:
    write(repository, {f"many/{number:03}": "" for number in range(300)})
    assert "and 299 more" in left_out(repository)  # .env and four of them are named
    assert len(left_out(repository)) < 400


def test_what_the_users_own_rules_ignore_is_not_named(repository: Path) -> None:
    (repository / ".git/info/exclude").write_text("/.env\nnotes/\n/runs\nsub/.gitignore\n")
    assert left_out(repository) == ""
    assert packed(repository) == OWN


def test_a_file_that_is_tracked_and_gone_is_no_error(repository: Path) -> None:
    (repository / "a.md").unlink()
    assert packed(repository) == {name: text for name, text in OWN.items() if name != "a.md"}


def test_the_variables_of_a_hook_name_no_other_repository(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(tmp_path / "index"))
    assert packed(repository) == OWN


def test_without_git_the_rules_of_the_folder_count(tmp_path: Path) -> None:
    write(tmp_path / "book", OWN | {"_build/index.html": "built", "train.log": "log"})
    assert packed(tmp_path / "book") == OWN
    assert left_out(tmp_path / "book") == ""


def test_a_book_unpacked_in_somebody_elses_repository_is_whole(repository: Path) -> None:
    """There git would list nothing of it."""
    write(repository / "inner", OWN)
    assert packed(repository / "inner") == OWN


@pytest.mark.parametrize("kept", [True, False], ids=["in git", "without git"])
def test_no_link_is_followed(tmp_path: Path, kept: bool) -> None:
    book, secret = tmp_path / "book", tmp_path / "secret"
    write(secret, {"token": "SECRET"})
    write(book, {**OWN, "hidden.log": "SECRET"})
    links = {
        "out": "../secret/token",
        "absolute": secret / "token",
        "folder": "../secret",
        "ignored": "hidden.log",
        "nowhere": "not there",
        ".#a.md": "somebody@machine.1234",  # Emacs, beside a file that is being edited
        "round": "round",
        "up": "..",
    }
    for name, target in links.items():
        (book / name).symlink_to(target)
    (book / "again.md").symlink_to("a.md")
    (book / "far.md").symlink_to("out")
    if kept:
        git(book, "init", "--quiet")
        git(book, "add", "--all")
    assert packed(book) == OWN | {"again.md": OWN["a.md"]}


def test_a_book_that_is_reached_by_a_link_is_packed(repository: Path) -> None:
    (repository.parent / "link").symlink_to(repository)
    assert packed(repository.parent / "link") == OWN


@given(st.permutations([*OWN]), st.integers(0, 2**31))
def test_the_same_files_give_the_same_archive(
    tmp_path_factory: pytest.TempPathFactory, order: list[str], written: int
) -> None:
    folder = tmp_path_factory.mktemp("same")
    write(folder / "one", OWN)
    write(folder / "two", {name: OWN[name] for name in order})
    for path in (folder / "two").rglob("*"):
        os.utime(path, (written, written))
    for name in ("one", "two"):
        write_archive(folder / name, folder / f"{name}.zip")
    assert (folder / "one.zip").read_bytes() == (folder / "two.zip").read_bytes()


def test_an_archive_that_cannot_be_written_leaves_the_one_before(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = repository.parent / "book.zip"
    write_archive(repository, target)
    before = target.read_bytes()

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    (repository / "a.md").write_text("longer")
    with pytest.raises(OSError, match="No space left"):
        write_archive(repository, target)
    assert target.read_bytes() == before
    assert [path.name for path in target.parent.iterdir() if "zip" in path.name] == ["book.zip"]


def test_the_build_says_what_stays_out(tmp_path: Path) -> None:
    write_book(tmp_path, chapter_of([]))
    git(tmp_path, "init", "--quiet")
    git(tmp_path, "add", f"{CHAPTER}.ipynb")
    git(tmp_path, "add", "_config.yml")
    done = build(tmp_path)
    assert f"git neither tracks nor ignores this, so it is not in {FOLDER}.zip" in (
        done.stdout + done.stderr
    )
    archive = tmp_path / f"_build/html/_static/{FOLDER}.zip"
    assert {*names_in(archive)} == {"_config.yml", f"{CHAPTER}.ipynb"}


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
