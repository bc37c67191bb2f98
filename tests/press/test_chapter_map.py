"""The map of the chapters: no arrow goes behind a box, and every box says how long it is read."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from bs4 import BeautifulSoup

from press.pages.chapter_map import TALL, WIDE, Drawing, draw
from press.registry import read_book

BOOK = read_book(Path(__file__).parents[2])
ADDRESSES = {chapter.name: f"{chapter.page}.html" for chapter in BOOK.chapters}


@pytest.mark.parametrize("drawing", [WIDE, TALL], ids=lambda drawing: drawing.name)
def test_no_arrow_goes_behind_a_box(drawing: Drawing) -> None:
    svg = BeautifulSoup(draw(BOOK, drawing, ADDRESSES, {}), "html.parser")
    left, top, width, height = map(float, svg.svg["viewbox"].split())
    corners = np.array([[float(box["x"]), float(box["y"])] for box in svg.select("rect")])
    t = np.linspace(0, 1, 200)[1:-1, None]
    arrows = [(earlier, one.name) for one in BOOK.chapters for earlier in one.builds_on]
    for (source, target), edge in zip(arrows, svg.select("path.edge"), strict=True):
        a, b, c, d = np.reshape([float(x) for x in re.findall(r"-?[\d.]+", edge["d"])], (4, 2))
        curve = (1 - t) ** 3 * a + 3 * (1 - t) ** 2 * t * b + 3 * (1 - t) * t**2 * c + t**3 * d
        within = curve[:, None] - corners
        behind = ((within > 0) & (within < drawing.box)).all(-1).any()
        assert not behind, (
            f"the arrow from {source} to {target} goes behind a box: give one of them another "
            f"place in chapters/book.toml, `{drawing.name}` of its `map`"
        )
        assert (curve > (left, top)).all()
        assert (curve < (left + width, top + height)).all()


@pytest.mark.parametrize("drawing", [WIDE, TALL], ids=lambda drawing: drawing.name)
def test_no_two_boxes_stand_in_one_place(drawing: Drawing) -> None:
    corners = [drawing.corner(chapter) for chapter in BOOK.chapters]
    assert len(set(corners)) == len(corners)


def test_a_box_says_how_long_its_chapter_is_read() -> None:
    times = dict.fromkeys(ADDRESSES, "1 h")
    svg = BeautifulSoup(draw(BOOK, WIDE, ADDRESSES, times), "html.parser")
    assert [text.text for text in svg.select(".written .state")] == ["1 h"] * len(ADDRESSES)
    svg = BeautifulSoup(draw(BOOK, WIDE, {}, times), "html.parser")
    assert {text.text for text in svg.select(".to-come .state")} == {"to come"}
