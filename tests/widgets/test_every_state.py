"""Every state of every widget can be read: axe-core looks again after each control was moved."""

from __future__ import annotations

from collections.abc import Callable

import drawn
import pytest
from playwright.sync_api import Page
from widget_page import complaints, settle

from primer import widgets


@pytest.mark.thorough
@pytest.mark.browser
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("name", widgets.__all__)
def test_every_state_can_be_read(widget_page: Callable[..., Page], name: str, theme: str) -> None:
    page = widget_page(getattr(widgets, name)(), width=390, theme=theme)
    page.evaluate(drawn.LOOK.read_text("utf-8"))
    for number, (kind, label) in enumerate(page.evaluate("drawn.controls()")):
        control = drawn.movable(page, number)
        if kind not in drawn.MOVES or control is None:
            continue
        control.press(drawn.MOVES[kind][0])
        settle(page)
        if kind == "button" and "Pause" in control.inner_text():  # it plays: a moment of it
            control.press("Enter")
        assert complaints(page) == [], f"after {kind} {label!r} was moved"
