"""No line of a figure runs through the words of its legend."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.path import Path as Way
from matplotlib.transforms import Bbox

from press.site import SITE
from primer.notebook.figures import svg

SVG = "{http://www.w3.org/2000/svg}"
NUMBER = re.compile(r"-?\d+\.?\d*(?:e-?\d+)?")
PLACED = re.compile(r"translate\((?P<x>[-\d.]+) (?P<y>[-\d.]+)\)\s*scale\((?P<size>[\d.]+)")
FROM_LEFT = re.compile(r"translate\((?P<x>[-\d.]+)")
HIGH, WIDE = 7, 40
"""A letter's height in points, and in the units of the font how wide the last one is at least."""


def groups(parent: ET.Element, name: str) -> Iterator[ET.Element]:
    """Give the groups below an element that matplotlib calls so."""
    for group in parent.iter(f"{SVG}g"):
        if group.get("id", "").startswith(f"{name}_"):
            yield group


def words(legend: ET.Element) -> list[Bbox]:
    """Return where the lines of words of a legend stand."""
    boxes = []
    for text in groups(legend, "text"):
        for group in text.iter(f"{SVG}g"):
            if not (placed := PLACED.match(group.get("transform", ""))):
                continue
            letters = [FROM_LEFT.match(use.get("transform", "")) for use in group.iter(f"{SVG}use")]
            last = max((float(letter["x"]) for letter in letters if letter), default=0.0)
            x, y, size = (float(placed[name]) for name in ("x", "y", "size"))
            boxes.append(Bbox.from_extents(x + 1, y - HIGH, x + (last + WIDE) * size - 1, y + 1))
    return boxes


def crossed(figure: str) -> tuple[int, list[str]]:
    """Count the lines of words in a figure's legends; name the lines of data that cross one."""
    counted, found = 0, []
    for axes in groups(ET.fromstring(figure), "axes"):
        boxes = [box for legend in groups(axes, "legend") for box in words(legend)]
        counted += len(boxes)
        for line in axes:  # those of a grid and of a legend stand a group deeper
            if not line.get("id", "").startswith("line2d_"):
                continue
            shapes = [one for one in line if one.tag == f"{SVG}path" and one.get("clip-path")]
            if not shapes or "fill: none" not in shapes[0].get("style", ""):
                continue
            numbers = np.array(NUMBER.findall(shapes[0].get("d", "")), float)
            way = Way(numbers.reshape(-1, 2))
            if len(way) > 1 and any(way.intersects_bbox(box, filled=False) for box in boxes):
                found.append(line.get("id", ""))
    return counted, found


@pytest.mark.parametrize(("place", "expected"), [("center", 2), ("upper center", 0)])
def test_a_line_through_a_legend_is_seen(place: Any, expected: int) -> None:
    figure, axes = plt.subplots()
    axes.plot([0, 1], [0, 1], label="up")
    axes.plot([0, 1], [1, 0], label="down, in more words")
    axes.legend(loc=place)
    counted, found = crossed(svg(figure))
    plt.close(figure)
    assert counted == 2
    assert len(found) == expected


def test_no_line_of_the_book_runs_through_a_legend() -> None:
    if not (SITE / "index.html").exists():
        pytest.skip("the book is not built: run `make book`")
    counted = 0
    for path in sorted(Path(SITE, "_images").glob("*.svg")):
        words_of, found = crossed(path.read_text("utf-8"))
        counted += words_of
        assert found == [], f"{path.name}: move the legend, or the labels to their lines"
    assert counted > 200
