"""A build writes the pages anew whose ingredients changed, and no others."""

from __future__ import annotations

import io
import os
from pathlib import Path

import pytest
from sphinx.application import Sphinx
from sphinx.util.docutils import docutils_namespace

from press.execution.cache import CACHE, key_file


@pytest.fixture
def book(tmp_path: Path) -> Path:
    """Give a book of two pages with a style sheet, built once."""
    (tmp_path / "conf.py").write_text(
        "extensions = ['press.publish.depend']\n"
        "html_static_path = ['assets']\n"
        "exclude_patterns = ['_build']\n"
    )
    (tmp_path / "index.rst").write_text("First\n=====\n\n.. toctree::\n\n   other\n")
    (tmp_path / "other.rst").write_text("Other\n=====\n")
    (tmp_path / "assets").mkdir()
    (tmp_path / "assets/own.css").write_text("p { color: red }")
    key = key_file(tmp_path / CACHE, Path("other"))
    key.parent.mkdir(parents=True)
    key.write_text("one library")
    build(tmp_path)
    return tmp_path


def build(folder: Path) -> str:
    """Build the book and return what Sphinx says."""
    said = io.StringIO()
    out = folder / "out"
    with docutils_namespace():
        app = Sphinx(
            folder, folder, out, out / ".doctrees", "html", status=said, warningiserror=True
        )
        app.build()
        assert app.statuscode == 0
    return said.getvalue()


def change(path: Path, text: str) -> None:
    """Write a file as if it were done a minute later; Sphinx looks at the time."""
    later = path.stat().st_mtime + 60
    path.write_text(text)
    os.utime(path, (later, later))


def test_nothing_is_read_again_when_nothing_changed(book: Path) -> None:
    assert "0 added, 0 changed, 0 removed" in build(book)


def test_a_page_that_ran_again_is_read_again_alone(book: Path) -> None:
    change(key_file(book / CACHE, Path("other")), "another library")
    assert "0 added, 1 changed, 0 removed" in build(book)


def test_a_changed_style_reaches_the_site(book: Path) -> None:
    change(book / "assets/own.css", "p { color: green }")
    assert "0 added, 1 changed, 0 removed" in build(book)
    assert "green" in (book / "out/_static/own.css").read_text("utf-8")
