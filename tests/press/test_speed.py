"""The table of speed: what `make bench` keeps, the book shows."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from sphinx.application import Sphinx
from sphinx.util.docutils import docutils_namespace
from written import BOOK

from benchmarks import table
from press.pages import speed

ROWS = {
    "Transforms beside SciPy's": [
        table.Row("FFT of 2¹⁰, complex", 2e-3, 1e-3, "scipy.fft.fft"),
        table.Row("a commas, and “quotes”", 5.0, 10.0, "budget", "kB"),
    ],
    "Writing text": [table.Row("one token", 1500.0, 750.0, "Hugging Face", "tokens/s")],
}

GOALS = """\
begins,sign,ratio,why
FFT,≤,1.5,**calls** of NumPy
one token,≥,2,modules
"""


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


def test_a_topic_is_measured_anew_and_the_others_stay(tmp_path: Path) -> None:
    path = table.keep(ROWS, tmp_path)
    before = speed.read(path)
    new = {"Writing text": [table.Row("one token", 3000.0, 750.0, "Hugging Face", "tokens/s")]}
    for _ in range(2):  # the second time the first is forgotten
        assert table.renew("writing", new, tmp_path) == path
    about, lines = speed.read(path)
    assert about.startswith(f"{before[0]}; writing: ")
    assert about.count("writing") == 1
    assert lines[:-1] == before[1][:-1]
    assert lines[-1].ours == 3000.0


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
    goals = tmp_path / speed.GOALS
    goals.parent.mkdir(exist_ok=True)
    goals.write_text(GOALS, "utf-8")
    (tmp_path / "index.md").write_text("# Speed\n\n```{speed}\n```\n", encoding="utf-8")
    warnings = io.StringIO()
    options = {"extensions": ["myst_parser", "press.pages.speed"]}
    with docutils_namespace():
        out = tmp_path / "out"
        app = Sphinx(tmp_path, None, out, out, "html", options, status=None, warning=warnings)
        app.build()
    assert ("run `make bench`" in warnings.getvalue()) == (not kept)
    page = (out / "index.html").read_text("utf-8")
    assert ("2 ms" in page and "1,500 tokens/s" in page) == kept
    assert page.count("<table") == 2 * kept
    assert ("2 (goal ≤\u00a01.5)" in page and "2 (goal ≥\u00a02)" in page) == kept
    assert ("FFT of 2¹⁰, complex</em>: <strong>calls</strong> of NumPy" in page) == kept
    assert "modules" not in page  # a goal that is met needs no reason


def test_a_goal_is_met_on_its_side_only() -> None:
    line = speed.Line("Writing text", "one token", 1500.0, 750.0, "tokens/s", "Hugging Face")
    for sign, ratio, met in (("≥", 2, True), ("≥", 2.1, False), ("≤", 2, True), ("≤", 1.9, False)):
        assert speed.Goal("one", sign, ratio, "").met(line) == met
    assert speed.goal_of(line, [speed.Goal("two tokens", "≥", 2, "")]) is None


def test_a_goal_needs_a_side(tmp_path: Path) -> None:
    (tmp_path / "goals.csv").write_text(GOALS.replace("≤", "<"), "utf-8")
    with pytest.raises(ValueError, match="the sign of a goal is ≥ or ≤, got '<'"):
        speed.read_goals(tmp_path / "goals.csv")


def test_every_goal_of_the_book_has_its_reason_and_its_line() -> None:
    goals = speed.read_goals(BOOK / speed.GOALS)
    assert len({goal.begins for goal in goals}) == len(goals) > 5
    assert all(goal.why.endswith(".") for goal in goals)
    path = speed.newest(BOOK / speed.FOLDER)
    assert path is not None
    about = {speed.goal_of(line, goals) for line in speed.read(path)[1]}
    assert set(goals) <= about


def test_the_book_has_the_table_of_its_version() -> None:
    path = speed.newest(BOOK / speed.FOLDER)
    assert path is not None
    assert path.stem == table.version()
    _, lines = speed.read(path)
    assert len({line.topic for line in lines}) == len(list((BOOK / "benchmarks").glob("bench_*")))
