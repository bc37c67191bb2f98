"""The index of the library: a line for each page, from the docstring of its package."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from sphinx.application import Sphinx
from sphinx.util.docutils import docutils_namespace
from tiny_book import write_registry
from written import BOOK, CHAPTERS

from press.pages.library_index import first_line, source_of
from press.registry import REGISTRY, read_book
from primer import attention


def build(book: Path) -> str:
    options = {"extensions": ["myst_parser", "press.pages.library_index"], "root_doc": "index"}
    with docutils_namespace():
        out = book / "_build"
        app = Sphinx(book, None, out, out / "trees", "html", options, status=None, warning=None)
        app.build()
    return (out / "index.html").read_text("utf-8")


def test_every_page_has_the_line_of_its_package(tmp_path: Path) -> None:
    write_registry(tmp_path, CHAPTERS)
    (tmp_path / "index.md").write_text("# Library\n\n```{library-index}\n```\n")
    pages = tmp_path / "chapters/appendix/library"
    pages.mkdir(parents=True)
    packages = read_book(BOOK).library
    for package in packages:
        (pages / f"{package}.md").write_text(f"# {package}\n")
    page = build(tmp_path)
    listed = re.findall(r'<dt><a class="reference internal" href="(\S+)\.html"', page)
    assert listed == [f"chapters/appendix/library/{package}" for package in packages]
    lines = [re.sub("<[^>]+>", "", line) for line in re.findall(r"<dd><p>(.*?)</p>", page)]
    assert len(lines) == len(packages)
    assert all(len(line) > 30 and line.endswith(".") for line in lines), lines
    assert attention.__doc__ is not None
    assert lines[packages.index("attention")] == attention.__doc__.splitlines()[0]


def test_a_package_that_is_not_there_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=f"{REGISTRY}: there is no primer.places; correct"):
        source_of("places")
    with pytest.raises(ValueError, match="first line of its docstring"):
        first_line("x = 1\n")
