"""What stands below a sentence stays where it is, whatever the sentence says."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page
from thorough import a_few
from widget_page import rest, settle

from primer import widgets

BELOW = [
    "Emergence",
    "Fold",
    "FourMemories",
    "LeastSquaresByHand",
    "PressTheKeys",
    "SmallNetwork",
    "StepSize",
    "TooManyParameters",
]
"""Widgets with something below the sentence on their state, and no control that comes or goes."""

FIXED = [
    "AliasByEar",
    "AttentionByHand",
    "DrawAgain",
    "DriveTheGates",
    "EraseATone",
    "GroupWeights",
    "LayerByLayer",
]
"""Others that are as high at each end of their sliders and lists."""


@pytest.mark.browser
@pytest.mark.parametrize("width", [390, 740])
@pytest.mark.parametrize("name", a_few([*BELOW, *FIXED], BELOW))
def test_nothing_jumps(widget_page: Callable[..., Page], name: str, width: int) -> None:
    page = widget_page(getattr(widgets, name)(), width=width)
    rest(page)
    high = page.locator("#widget").evaluate("(widget) => widget.clientHeight")
    found = {}
    for control in page.locator("#widget :is([type=range], [type=radio], select)").all():
        if not control.is_visible() or control.is_disabled():
            continue
        for key in ("Home", "End", "ArrowDown"):
            control.focus()
            page.keyboard.press(key)
            settle(page)
            now = page.locator("#widget").evaluate("(widget) => widget.clientHeight")
            if abs(now - high) > 1:
                found[page.locator("#widget .result").inner_text()] = now
    assert found == {}, f"{high} px as it opens"
