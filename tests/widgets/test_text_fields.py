"""What a reader types for a model to read: Enter adds no line that nobody meant."""

from __future__ import annotations

import pytest
from thorough import a_few
from widget_page import rest

from primer import widgets
from primer.widgets.base import STATIC, name_of

READING = [
    name
    for name in widgets.__all__
    if "Shift and Enter" in (STATIC / f"{name_of(getattr(widgets, name))}.js").read_text("utf-8")
]
"""The widgets with such a field, by what it says."""


def test_many_widgets_have_such_a_field():
    assert len(READING) >= 10


@pytest.mark.browser
@pytest.mark.parametrize("name", a_few(READING, {"ScoreOptions", "SwapOne"}))
def test_enter_adds_a_line_only_with_shift_or_where_there_is_none(widget_page, name):
    for at_a_desk in (True, False):
        page = widget_page(getattr(widgets, name)(), width=390, has_touch=not at_a_desk)
        rest(page)
        area = page.locator("textarea:visible").first
        note = page.locator("textarea + .note").first
        before = area.input_value()
        area.press("End")
        area.press("Enter")
        rest(page)
        assert ("\n" in area.input_value()[len(before) :]) != at_a_desk
        assert ("Shift and Enter begin a new line." in note.inner_text()) == at_a_desk
        if at_a_desk:
            assert area.input_value() == before
            area.press("Shift+Enter")
            rest(page)
            assert area.input_value().count("\n") == before.count("\n") + 1
            assert "Shift and Enter" not in note.inner_text()
