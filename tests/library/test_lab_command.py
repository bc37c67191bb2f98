"""``runnable-primer lab``: what it copies, what it leaves alone, and what it says.

That a wheel in an empty environment opens the chapters is tried in ``tests/press/test_lab.py``.
"""

from __future__ import annotations

import importlib.metadata
import json
import subprocess
import tempfile
import tomllib
from pathlib import Path, PurePosixPath
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from primer import lab


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """Two chapters as a wheel installs them; give the folder that has them."""
    share = tmp_path / "prefix/share/runnable-primer"
    names = ["chapters/01-one.ipynb", "chapters/errata/01-one.ipynb", "lab/overrides.json"]
    for name in names:
        (share / name).parent.mkdir(parents=True, exist_ok=True)
        (share / name).write_text(f"as installed: {name}")
    paths = [PurePosixPath("../../../share/runnable-primer", name) for name in names]
    files = [SimpleNamespace(locate=lambda p=path: tmp_path / "prefix/a/b/c" / p) for path in paths]
    (tmp_path / "prefix/a/b/c").mkdir(parents=True)
    distribution = SimpleNamespace(files=files, read_text=lambda _: None)
    monkeypatch.setattr(importlib.metadata, "distribution", lambda _: distribution)
    monkeypatch.chdir(tmp_path)
    return SimpleNamespace(share=share, distribution=distribution)


@pytest.fixture
def started(monkeypatch):
    """What JupyterLab would have been started with; it ends with 7."""
    calls = []
    monkeypatch.setattr(subprocess, "call", lambda words: calls.append(words) or 7)
    return calls


def test_the_chapters_are_copied_and_opened(installed, started, tmp_path, capsys):
    assert lab.main(["lab", "mine", "--", "--no-browser", "--port", "9000"]) == 7
    assert (tmp_path / "mine/errata/01-one.ipynb").read_text().startswith("as installed")
    assert not (tmp_path / "mine/overrides.json").exists()
    [[_, *words]] = started
    assert words[:3] == ["-m", "jupyterlab", "mine"]
    assert words[3] == f"--LabApp.app_settings_dir={installed.share / 'lab'}"
    assert words[4:] == ["--no-browser", "--port", "9000"]
    assert "Left alone" not in capsys.readouterr().out


def test_what_a_reader_changed_is_left_alone(installed, started, tmp_path, capsys):
    lab.main(["lab"])
    mine = tmp_path / "runnable-primer/01-one.ipynb"
    mine.write_text("solved")
    (tmp_path / "runnable-primer/errata/01-one.ipynb").unlink()
    lab.main(["lab"])
    assert mine.read_text() == "solved"
    assert (tmp_path / "runnable-primer/errata/01-one.ipynb").exists()
    assert "not as installed: 01-one.ipynb. Another folder" in capsys.readouterr().out
    assert len(started) == 2


@given(st.dictionaries(st.text("ab", min_size=1), st.binary(), max_size=4), st.data())
def test_no_file_is_ever_written_over(files, data):
    own = data.draw(st.dictionaries(st.sampled_from(sorted(files) or ["c"]), st.binary()))
    with tempfile.TemporaryDirectory() as place:
        chapters, folder = Path(place, "chapters"), Path(place, "mine")
        for where, contents in ((chapters, files), (folder, own)):
            where.mkdir()
            for name, content in contents.items():
                (where / name).write_bytes(content)
        kept = lab.lay_out(chapters, folder)
        assert {path.name: path.read_bytes() for path in folder.iterdir()} == files | own
    assert {path.name for path in kept} == {n for n in own if n in files and own[n] != files[n]}


def not_installed(_):
    raise importlib.metadata.PackageNotFoundError("runnable-primer")


def test_it_says_why_it_cannot_begin(installed, started, monkeypatch, capsys, tmp_path):
    def said():
        assert lab.main(["lab"]) == 1
        return capsys.readouterr().err

    (tmp_path / "runnable-primer").write_text("a file where a folder should be")
    assert "runnable-primer" in said()

    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    assert "pip install 'runnable-primer[lab]'" in said()

    for path in installed.share.rglob("*.ipynb"):
        path.unlink()
    assert "without its chapters; install the whole wheel" in said()

    checkout = json.dumps({"url": "file:///book", "dir_info": {"editable": True}})
    installed.distribution.read_text = lambda _: checkout
    assert "`make lab` opens them there" in said()

    monkeypatch.setattr(importlib.metadata, "distribution", not_installed)
    assert "not installed here" in said()
    assert started == []


def test_a_word_too_many_is_answered(capsys):
    with pytest.raises(SystemExit):
        lab.main(["open"])
    assert "invalid choice: 'open'" in capsys.readouterr().err


def test_a_checkout_says_so():
    with pytest.raises(FileNotFoundError, match="checkout of the book"):
        lab.share()


def test_the_wheel_carries_every_notebook():
    book = Path(__file__).parents[2]
    settings = tomllib.loads((book / "pyproject.toml").read_text("utf-8"))["tool"]["setuptools"]
    patterns = [pattern for patterns in settings["data-files"].values() for pattern in patterns]
    carried = {path for pattern in patterns for path in book.glob(pattern)}
    assert set((book / "chapters").rglob("*.ipynb")) <= carried
