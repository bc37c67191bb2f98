"""What a translation has to follow."""

from __future__ import annotations

import subprocess
from pathlib import Path

import nbformat
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nbformat.v4 import new_markdown_cell, new_notebook
from tiny_book import write_registry

from press.workshop.changed import changes, main

cells = st.dictionaries(st.sampled_from("abcdefgh"), st.sampled_from(["One.", "Two."]))


def notebook(texts: dict[str, str]) -> nbformat.NotebookNode:
    return new_notebook(cells=[new_markdown_cell(text, id=name) for name, text in texts.items()])


@given(cells, cells)
def test_what_changed_leads_from_one_version_to_the_other(
    old: dict[str, str], new: dict[str, str]
) -> None:
    built = dict(old)
    for change in changes(notebook(old), notebook(new)):
        assert built.get(change.cell, "") == change.before
        if change.what == "gone":
            del built[change.cell]
        else:
            built[change.cell] = change.after
    assert built == new


def test_a_cell_that_stands_elsewhere_has_moved() -> None:
    old, new = {"a": "1", "b": "2", "c": "3"}, {"c": "3", "a": "1", "b": "2"}
    assert [(one.cell, one.what) for one in changes(notebook(old), notebook(new))] == [
        ("c", "moved")
    ]


@pytest.fixture
def book(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a book of one chapter with a version."""
    (tmp_path / "chapters").mkdir()
    write_registry(tmp_path, ["01-statistics"])
    nbformat.write(notebook({"a": "One.", "b": "Two."}), tmp_path / "chapters/01-statistics.ipynb")
    monkeypatch.chdir(tmp_path)
    for name in ("GIT_DIR", "GIT_INDEX_FILE", "GIT_WORK_TREE"):
        monkeypatch.delenv(name, raising=False)
    me = ["-c", "user.name=Me", "-c", "user.email=me@example.org"]
    for words in (["init", "-q"], ["add", "."], [*me, "commit", "-qm", "First"], ["tag", "v1"]):
        subprocess.run(["git", *words], check=True)
    return tmp_path


def test_a_translator_is_told_what_changed(book: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["v1"]) == 0
    assert capsys.readouterr().out == "Nothing changed.\n"
    nbformat.write(notebook({"a": "One!", "c": "Three."}), book / "chapters/01-statistics.ipynb")
    assert main(["v1", "01-statistics", "--diff"]) == 0
    out = capsys.readouterr().out.split("\n")
    assert [" ".join(line.split()) for line in out if line] == [
        "01-statistics: 3 cells",
        "changed a One!",
        "@@ -1 +1 @@",
        "-One.",
        "+One!",
        "new c Three.",
        "@@ -0,0 +1 @@",
        "+Three.",
        "gone b Two.",
        "@@ -1 +0,0 @@",
        "-Two.",
        "3 cells changed since v1.",
    ]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["v9"], "git knows no version 'v9' here"),
        (["v1", "02-none"], "There is no chapter '02-none': one of "),
    ],
)
def test_what_is_not_there_is_named(
    book: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], sentence: str
) -> None:
    assert main(arguments) == 1
    assert sentence in capsys.readouterr().err
