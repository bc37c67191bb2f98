"""It is told when the import of a library begins and ends, and of no other."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest

from sphinx_run_in_page.in_page.importing import Importing


def test_the_library_that_the_code_imports_is_told_and_not_what_it_imports_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "aa_book.py").write_text("import aa_slow\n")
    (tmp_path / "aa_slow").mkdir()
    (tmp_path / "aa_slow/__init__.py").write_text("import aa_inner\n")
    (tmp_path / "aa_slow/part.py").write_text("1 / 0\n")
    (tmp_path / "aa_inner.py").write_text("")
    told: list[str] = []
    monkeypatch.syspath_prepend(tmp_path)
    finder = Importing({"aa_slow", "aa_inner"}, told.append)
    monkeypatch.setattr(sys, "meta_path", [finder, *sys.meta_path])
    try:
        importlib.import_module("aa_book")
        importlib.import_module("aa_slow")
        assert told == ["aa_slow", ""]
        for _ in range(2):  # a failure ends it, too
            with pytest.raises(ZeroDivisionError):
                importlib.import_module("aa_slow.part")
        assert told == ["aa_slow", ""] * 3
        assert sys.modules["aa_slow"].__spec__.origin == str(tmp_path / "aa_slow/__init__.py")
    finally:
        for name in [name for name in sys.modules if name.startswith("aa_")]:
            del sys.modules[name]
