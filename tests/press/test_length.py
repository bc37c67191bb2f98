"""No chapter grows unseen: its words are counted, and at most so many."""

from __future__ import annotations

from pathlib import Path

import pytest
from written import CHAPTER_NOTEBOOKS

from press.audit.length import Words, length
from press.notebook import read_notebook

MOST = {
    "01-statistics": Words(9_000, 11_225),
    "02-regression": Words(7_429, 9_320),
    "03-optimization": Words(7_811, 9_925),
    "04-networks": Words(7_651, 9_433),
    "05-language-models": Words(7_056, 8_538),
    "06-recurrent": Words(6_224, 7_795),
    "07-attention": Words(7_500, 9_450),
    "08-positions": Words(7_083, 8_550),
    "09-transformers": Words(9_000, 10_500),
    "10-beyond-attention": Words(5_937, 7_617),
    "11-inference": Words(9_000, 10_900),
    "12-pretraining": Words(6_540, 8_116),
    "13-scaling": Words(5_414, 6_649),
    "14-fine-tuning": Words(5_510, 7_248),
    "15-alignment": Words(5_815, 7_159),
    "16-fourier": Words(6_113, 8_221),
    "17-evaluation": Words(8_000, 10_000),
    "18-reasoning": Words(8_000, 10_000),
    "19-inside": Words(8_000, 10_000),
}
"""What a page shows: no more than before every section asked; and what lies in folds as well."""
ANY = Words(9_000, 11_000)
"""What a chapter may have that is not in this table."""


@pytest.mark.parametrize("path", CHAPTER_NOTEBOOKS, ids=lambda path: path.stem)
def test_a_chapter_has_no_more_words_than_it_may(path: Path) -> None:
    found, most = length(read_notebook(path)), MOST.get(path.stem, ANY)
    for kind, number, allowed in zip(("shown", "with its folds"), found, most, strict=True):
        assert number <= allowed, (
            f"{path.stem} has {number:,} words, {kind}, of {allowed:,}: what comes in needs its "
            "room, so take out what nobody would miss"
        )
