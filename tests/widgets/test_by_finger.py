"""A finger on a picture: what scrolls past changes nothing, and what draws does not scroll."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest
from playwright.sync_api import CDPSession, Page
from thorough import a_few
from widget_page import rest, settle

from primer import widgets

pytestmark = pytest.mark.browser

NAMES = [name for name in widgets.__all__ if name != "Widget"]
HELD = """() => [...document.querySelectorAll("#widget *")]
  .filter((one) => one.style.touchAction && one.checkVisibility())
  .map((one, number) => { one.dataset.held = number; return one.style.touchAction; })"""
STATE = """(names) => JSON.stringify(names.map((name) => model.get(name)))"""
WRITTEN = """document.querySelector("#widget").innerHTML"""


def touch(session: CDPSession, kind: str, *at: float) -> None:
    points = [dict(zip("xy", at, strict=True))] if at else []
    session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})


def stroke(page: Page, held: int, way: tuple[float, float]) -> tuple[float, list[Any]]:
    """Go from the middle of what is held; return how far the page scrolled, and what was seen."""
    mark = page.locator(f"[data-held='{held}']")
    mark.evaluate("(one) => one.scrollIntoView({ block: 'center', behavior: 'instant' })")
    settle(page)
    box = mark.bounding_box()
    assert box is not None
    x, y = box["x"] + 0.6 * box["width"], box["y"] + 0.55 * box["height"]
    session = page.context.new_cdp_session(page)
    before, seen = page.evaluate("scrollY"), [page.evaluate(WRITTEN)]
    touch(session, "touchStart", x, y)
    for share in (0.25, 0.5, 0.75, 1):
        touch(session, "touchMove", x + share * way[0], y + share * way[1])
        settle(page)
        seen.append(page.evaluate(WRITTEN))
    touch(session, "touchEnd")
    settle(page)
    session.detach()
    return page.evaluate("scrollY") - before, [*seen, page.evaluate(WRITTEN)]


@pytest.mark.parametrize("name", a_few(NAMES, {"DriveTheGates", "EraseATone", "SpendCompute"}))
def test_a_finger_scrolls_or_moves_and_never_both(
    widget_page: Callable[..., Page], name: str
) -> None:
    page = widget_page(getattr(widgets, name)(), width=390, has_touch=True)
    page.add_style_tag(content="body { padding: 900px 0 }")
    rest(page)
    for held, action in enumerate(page.evaluate(HELD)):
        scrolled, seen = stroke(page, held, (3, -120))
        if action == "none":
            assert scrolled == 0, f"{held} draws"
        else:
            assert scrolled > 50, f"{held} does not let the page scroll"
            moved = [one for one, other in pairwise(seen) if one != other]
            assert not moved, f"{held} changes as the page scrolls past"
            assert abs(stroke(page, held, (60, 2))[0]) < 20


def test_what_is_drawn_in_follows_a_finger_down(widget_page: Callable[..., Page]) -> None:
    page = widget_page(widgets.DriveTheGates(), width=390, has_touch=True)
    rest(page)
    page.evaluate(HELD)
    before = page.evaluate("model.get('forget')")
    stroke(page, 0, (0, 60))
    after = page.evaluate("model.get('forget')")
    assert before != after
    assert min(after) == 0  # below the picture is its lowest


def test_a_tap_chooses(widget_page: Callable[..., Page]) -> None:
    page = widget_page(widgets.SpendCompute(), width=390, has_touch=True)
    rest(page)
    before = page.evaluate("model.get('parameters')")
    page.locator("#widget svg[style*=touch-action]").tap(position={"x": 240, "y": 60})
    settle(page)
    assert page.evaluate("model.get('parameters')") != before
