"""Words of a drawing stand apart: no two of a widget's opened drawings lie on each other."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page
from thorough import COLUMNS, WIDGETS_OF_ALL_KINDS, a_few
from widget_page import settle

from primer import widgets

OVERLAPS = """() => [...document.querySelectorAll("#widget svg")].flatMap((drawing) => {
  // the box of a slanted word is much larger than the word
  const level = [...drawing.querySelectorAll("text:not([transform])")];
  const shown = level.filter((text) => text.textContent.trim() &&
    text.checkVisibility({ visibilityProperty: true, opacityProperty: true }));
  const boxes = shown.map((text) => [text.textContent, text.getBoundingClientRect()]);
  // the box of a line is higher than its letters
  const over = (a, b) => Math.min(
    Math.min(a.right, b.right) - Math.max(a.left, b.left),
    Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) - 5);
  return boxes.flatMap(([one, a], i) => boxes.slice(i + 1)
    .filter(([, b]) => over(a, b) > 1)
    .map(([other]) => `“${one}” lies on “${other}”`));
})"""


@pytest.mark.browser
@pytest.mark.parametrize("width", COLUMNS)
@pytest.mark.parametrize("name", widgets.__all__)
def test_words_of_a_drawing_stand_apart(
    widget_page: Callable[..., Page], name: str, width: int
) -> None:
    page = widget_page(getattr(widgets, name)(), width=width)
    assert page.evaluate(OVERLAPS) == []


CUT = """() => [...document.querySelectorAll("#widget svg")].flatMap((drawing) => {
  const frame = drawing.getBoundingClientRect();
  const seen = getComputedStyle(drawing).overflow === "visible" ? 8 : 1; // px beside it
  return [...drawing.querySelectorAll("text")]
    .filter((text) => text.textContent.trim() &&
      text.checkVisibility({ visibilityProperty: true, opacityProperty: true }))
    .map((text) => [text.textContent, text.getBoundingClientRect()])
    .filter(([, box]) => box.left < frame.left - seen || box.right > frame.right + seen)
    .map(([word]) => `“${word}” is cut at the edge`);
})"""
FAR = ("End", "Home")
NAME = "(slider) => slider.ariaLabel ?? slider.labels[0]?.textContent"


@pytest.mark.browser
@pytest.mark.parametrize("name", a_few(widgets.__all__, {*WIDGETS_OF_ALL_KINDS, "RateSchedule"}))
def test_no_word_is_cut_where_sliders_end(widget_page: Callable[..., Page], name: str) -> None:
    page = widget_page(getattr(widgets, name)(), width=800)
    found = {}
    for key in FAR:
        for slider in page.locator("#widget [type=range]").all():
            if not slider.is_visible() or slider.is_disabled():
                continue
            slider.focus()
            page.keyboard.press(key)
            settle(page)
            if wrong := page.evaluate(CUT):
                found[f"{key} of {slider.evaluate(NAME)}"] = wrong
    assert found == {}
