"""Every widget draws what it drew when somebody last looked: opened, and control by control."""

from __future__ import annotations

import json
from typing import Any

import drawn
import pytest
from playwright.sync_api import Browser

from primer import widgets
from primer.widgets.base import Widget

MOVING = ("range", "select", "checkbox")
"""Controls that always lead elsewhere; a button or a choice may stand where it leads already."""


@pytest.mark.browser
@pytest.mark.parametrize("name", widgets.__all__)
def test_a_widget_draws_what_it_drew(chromium: Browser, name: str) -> None:
    kept = json.loads(drawn.file_of(name).read_text("utf-8"))

    def differs(now: dict[str, drawn.Drawn]) -> list[str]:
        return drawn.differences(now, {title: kept[title] for title in now if title in kept})

    page = chromium.new_page(viewport={"width": drawn.WIDTH, "height": 900})
    try:
        now = drawn.changes(name, page, enough=lambda so_far: bool(differs(so_far)))
        lost = page.evaluate("drawn.lost()")
    finally:
        page.close()
    assert not lost, f"nothing can be seen in {lost}"
    found = differs(now) or drawn.differences(now, kept)
    assert not found, "\n".join(
        [*found[:12], f"if it is meant: python tests/tools/drawn.py {name}"]
    )
    idle = [title for title, changed in now.items() if not changed and title.startswith(MOVING)]
    assert not idle, f"{name} draws and says nothing new when these are moved: {idle}"


def test_there_is_a_drawing_for_each_widget_and_no_other() -> None:
    assert {path.stem for path in drawn.FOLDER.glob("*.json")} == set(widgets.__all__)


@pytest.mark.parametrize(
    ("now", "kept", "equal"),
    [
        ([9, 0, 100, 50, 0.5], [9, 0.3, 100.4, 50.3, 0.505], True),
        ([9, 0, 1300, 50, 0.5], [9, 0, 1301, 50, 0.5], False),  # a pixel higher
        ([9, 0, 100, 50, 0.5], [8, 0, 100, 50, 0.5], False),  # a bar less
        ([9, 0, 100, 50, 0.5], [9, 0, 100, 53, 0.5], False),
        ([9, 0, 100, 50, 0.5], [9, 0, 100, 50, 0.53], False),  # the other way round
        (None, [1, 0, 0, 0, 0], False),
        ("power 0.465", "power 0.466", True),
        ("power 0.465", "power 0.485", False),
        ("power 0.465", "power 0.4650", False),
        ("power 0.465", "Power 0.465", False),
        ("row 2", "row 1", False),
        ("41 %", "42 %", True),
        ("−5 | 0 | 5", "−5 | 0", False),
    ],
)
def test_what_counts_as_the_same(now: Any, kept: Any, equal: bool) -> None:
    assert drawn.same(now, kept) == equal


def test_the_numbers_of_an_axis_are_exact() -> None:
    assert drawn.same("40 | 20", "41 | 20", "p text")
    assert not drawn.same("40 | 20", "41 | 20", "svg text.tick text")


def test_marks_are_described_by_size_and_order() -> None:
    assert drawn.describe([1.0, 3.0]) == [2, 1.0, 3.0, 2.0, 0.5]
    assert drawn.describe([3.0, 1.0]) == [2, 1.0, 3.0, 2.0, 0.0]
    assert drawn.describe([4.0]) == [1, 4.0, 4.0, 4.0, 0.0]


def test_every_widget_is_known() -> None:
    assert all(issubclass(getattr(widgets, name), Widget) for name in widgets.__all__)
