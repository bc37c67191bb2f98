"""The table of speed: what `make bench` keeps, the book shows."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from sphinx.application import Sphinx
from sphinx.util.docutils import docutils_namespace
from written import BOOK

from benchmarks import table
from primer.book import speed

ROWS = {
    "Transforms beside SciPy's": [
        table.Row("FFT of 2^10, complex", 2e-3, 1e-3, "scipy.fft.fft"),
        table.Row("a commas, and “quotes”", 5.0, 10.0, "budget", "kB"),
    ],
    "Writing text": [table.Row("one token", 1500.0, 750.0, "Hugging Face", "tokens/s")],
}


def test_what_is_kept_is_read(tmp_path: Path) -> None:
    path = table.keep(ROWS, tmp_path)
    assert path.name == f"{table.version()}.csv"
    about, lines = speed.read(path)
    assert "cores" in about
    assert [line.topic for line in lines] == [t for t, rows in ROWS.items() for _ in rows]
    rows = [row for rows in ROWS.values() for row in rows]
    for line, row in zip(lines, rows, strict=True):
        assert (line.work, line.ours, line.peers) == (row.work, row.ours, row.peers)
        assert (line.unit, line.peer) == (row.unit, row.peer)


def test_the_newest_version_is_shown(tmp_path: Path) -> None:
    for name in ("0.9.0", "0.10.0", "0.2.11"):
        (tmp_path / f"{name}.csv").touch()
    assert speed.newest(tmp_path) == tmp_path / "0.10.0.csv"


def test_a_line_cut_off_is_named(tmp_path: Path) -> None:
    path = table.keep(ROWS, tmp_path)
    path.write_text(path.read_text("utf-8").rpartition(",")[0].rpartition(",")[0])
    with pytest.raises(ValueError, match=r"0\.\S+csv has a line that is none of its table"):
        speed.read(path)


@pytest.mark.parametrize("kept", [True, False])
def test_the_page_shows_every_line_or_says_what_is_missing(tmp_path: Path, kept: bool) -> None:
    if kept:
        table.keep(ROWS, tmp_path / speed.FOLDER)
    (tmp_path / "index.md").write_text("# Speed\n\n```{speed}\n```\n", encoding="utf-8")
    warnings = io.StringIO()
    options = {"extensions": ["myst_parser", "primer.book.speed"]}
    with docutils_namespace():
        out = tmp_path / "out"
        app = Sphinx(tmp_path, None, out, out, "html", options, status=None, warning=warnings)
        app.build()
    assert ("run `make bench`" in warnings.getvalue()) == (not kept)
    page = (out / "index.html").read_text("utf-8")
    assert ("2 ms" in page and "1,500 tokens/s" in page) == kept
    assert page.count("<table") == 2 * kept


def test_the_book_has_the_table_of_its_version() -> None:
    path = speed.newest(BOOK / speed.FOLDER)
    assert path is not None
    assert path.stem == table.version()
    _, lines = speed.read(path)
    assert len({line.topic for line in lines}) == len(list((BOOK / "benchmarks").glob("bench_*")))
