"""The newest Sphinx builds the book with all that the pinned one has but what is Jupyter Book's."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
import yaml
from written import BOOK

from press.workshop import newest

CONF = """# a comment
extensions = ['myst_nb', 'jupyter_book', 'sphinx_comments', 'press.links.search']
title = "jupyter_book, in a sentence"
use_jupyterbook_latex = True
"""


def test_the_extensions_of_jupyter_book_go_and_all_others_stay() -> None:
    got = newest.without_jupyter_book(CONF)
    assert "extensions = ['myst_nb', 'press.links.search']" in got
    assert [line for line in got.splitlines() if "extensions" not in line] == [
        line for line in CONF.splitlines() if "extensions" not in line
    ]
    ast.parse(got)


def test_only_what_builds_pages_may_be_newer() -> None:
    pinned = (BOOK / "requirements.txt").read_text("utf-8")
    held = newest.constraints(pinned)
    names = set(re.findall(r"(?m)^([\w.-]+)==", pinned))
    free = names - set(re.findall(r"(?m)^([\w.-]+)==", held))
    assert {"sphinx", "myst-parser", "docutils", "sphinx-book-theme"} <= free
    assert {"numpy", "torch", "nbclient", "jupyter-cache"} <= names - free


def test_each_extension_of_the_book_is_there_without_jupyter_book() -> None:
    config = yaml.safe_load((BOOK / "_config.yml").read_text("utf-8"))
    names = config["sphinx"]["config"]["extensions"]
    others = {name.partition(".")[0].replace("_", "-") for name in names} - {"press", "sphinx"}
    others = {name for name in others if name.replace("-", "_") not in newest.LEFT}
    own = {path.name for path in (BOOK / "packages").iterdir()}
    brought = {re.split(r"[><=]", name)[0] for name in newest.NEWEST}
    assert others - own - {"sphinxcontrib", "myst-nb", "numpydoc"} <= brought
    assert "sphinxcontrib-bibtex" in brought


def test_a_conf_of_ones_own_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = tmp_path / "conf.py"
    own.write_text("mine = True\n")
    monkeypatch.setattr(newest, "CONF", own)
    with pytest.raises(SystemExit, match="in the way"):
        newest.build(tmp_path / "packages", tmp_path / "html", [])
    assert own.read_text() == "mine = True\n"
