"""Every cell that has a Run prints in the page what the book prints: from disk, without network."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser
from pressed import EQUAL, PATIENCE, SECONDS, SITE, delivered, ids_of, opened, waiting
from thorough import a_few
from written import BESIDE, CHAPTERS

from sphinx_run_in_page.in_page.reading import name_of
from sphinx_run_in_page.in_page.slices import Unit

PAGES = [*BESIDE, *CHAPTERS, "appendix/one-token", "appendix/scratch"]
FEW = {"before-you-start", "appendix/one-token"}

NOT_TRIED: dict[str, dict[str, str]] = {
    "06-recurrent": {"seq2seq-two": "trains two networks for a minute or more"},
    "07-attention": {
        "real-ablation-figure": "reads twelve pages with a model of 0.9 million numbers, for "
        "each of sixteen heads",
    },
    "08-positions": {
        "experiment-train": "trains seven models with five seeds each: five minutes, by ten steps"
    },
    "09-transformers": {
        "whole-run": "trains a model of 0.1 million numbers for three hundred steps",
        "latent-run": "reads sixteen windows with six models of 0.9 million numbers",
    },
    "13-scaling": {
        "picture-grid": "trains nine networks: a quarter of an hour, by a part of it",
        "own-run": "trains two networks for each of fifteen settings",
    },
    "14-fine-tuning": {
        "picture-train": "240 steps of a model of 0.9 million numbers: a minute, by twelve steps",
        "rank-svd": "240 steps of it, likewise; on a machine that does much else several minutes",
    },
    "15-alignment": {"instruct-tune": "fine-tunes a model of 0.9 million numbers"},
    "18-reasoning": {"length-live": "trains a model of 0.1 million numbers for 25 steps"},
    "19-inside": {
        "dictionary-table": "trains four dictionaries and picks rows for three thousand states: "
        "minutes, by a part of it"
    },
}
"""Cells that compute for minutes in a page; what needs one of them is not tried either."""

OTHERWISE: dict[str, dict[str, str]] = {
    "04-networks": {
        "first-tape": "is drawn by a widget's class, which no pack has",
        "first-figure": "its network learned in a widget's class, which no pack has",
        "graphs-figure": "draws with networkx, which no pack has",
    },
    "09-transformers": {
        "sparse-figure": "a name that it uses comes from the cell of a widget, which no pack has",
    },
}
"""Cells that are refused, or print something else."""

ALL = {*BESIDE, "01-statistics", "02-regression", "03-optimization", "16-fourier"}
"""Pages of which every cell runs."""
SHARE, SHARE_OF_ALL = 0.75, 0.85
"""How many of the learner's cells must print what is stored: of a page, and of all."""

pytestmark = pytest.mark.browser


@pytest.fixture(autouse=True)
def with_run() -> None:
    """Skip where the book was built without Run."""
    if not (SITE / "run" / "manifest.js").is_file():
        pytest.skip("NO CELL RAN IN A PAGE: the book was built without Run, and said why")


@pytest.mark.parametrize("name", a_few(PAGES, FEW))
def test_every_cell_prints_what_is_stored(chromium: Browser, name: str) -> None:
    otherwise, not_tried = OTHERWISE.get(name, {}), NOT_TRIED.get(name, {})
    with opened(chromium, f"chapters/{name}") as page:
        ran = list(page.outcomes(not_tried, PATIENCE))
    assert [one for one in ran if one.how != EQUAL and one.cell not in otherwise] == []
    mended = {one.cell for one in ran if one.how == EQUAL} & set(otherwise)
    assert not mended, f"these print what is stored: take them out of the list, {mended}"


def learners(name: str) -> Iterator[tuple[str, bool]]:
    """Give the learner's cells of a page, and whether each prints what is stored."""
    known = json.loads(delivered(SITE / f"run/cells/chapters-{name.replace('/', '-')}.js"))
    units, ids = [Unit.from_data(one) for one in known["units"]], ids_of(f"chapters/{name}")
    lost = {ids.index(cell) for cell in NOT_TRIED.get(name, {})}
    others = {ids.index(cell) for cell in OTHERWISE.get(name, {})}
    for number, cell in enumerate(known["cells"]):
        if cell["kind"] == "":
            good = number not in others and not waiting(units, number) & lost
            yield ids[number], good


def test_what_does_not_run_is_little() -> None:
    runs = {name: [good for _, good in learners(name)] for name in PAGES}
    shares = {name: sum(good) / len(good) for name, good in runs.items()}
    few = {name: share for name, share in shares.items() if share < SHARE}
    assert not few, f"of these pages fewer cells run than {SHARE:.0%}: {few}"
    assert sum(map(sum, runs.values())) / sum(map(len, runs.values())) >= SHARE_OF_ALL
    assert {name: shares[name] for name in ALL} == dict.fromkeys(ALL, 1.0)


def test_what_is_known_of_slow_cells_is_known_of_cells_of_the_book() -> None:
    cells = list((SITE / "run/cells").glob("*.js"))
    if not cells:
        pytest.skip("NO CELL RAN IN A PAGE: the book was built without Run, and said why")
    units = [unit["source"] for file in cells for unit in json.loads(delivered(file))["units"]]
    named = {name_of(source) for source in units}
    kept = json.loads(SECONDS.read_text("utf-8"))
    assert set(kept) <= named, "cells that were changed: `pressed.py --keep` measures them anew"
