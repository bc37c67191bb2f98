"""A file that is not there yet is found by who looks, and stops who opens it."""

from __future__ import annotations

from pathlib import Path

import pytest

from sphinx_run_in_page.in_page.absent import Awaited
from sphinx_run_in_page.in_page.files import LateFiles


def test_a_late_file_stops_who_opens_it_until_its_pack_is_there(tmp_path: Path) -> None:
    files = LateFiles({"data/table.csv": "tables", "book/model.bin": "models"}, {"book"}, tmp_path)
    table, model = tmp_path / "data/table.csv", tmp_path / "book/model.bin"
    assert table.is_file()
    assert not model.parent.exists()  # Python would take the folder for the package
    with pytest.raises(Awaited) as stopped:
        table.read_text()
    assert stopped.value.pack == "tables"
    files.arrived("tables")
    table.write_text("1,2")
    assert table.read_text() == "1,2"
    model.parent.mkdir()
    (model.parent / "__init__.py").write_text("")
    files.arrived("book")
    with pytest.raises(Awaited, match="models"):
        model.open("rb")
