"""In a column of any width a control is long enough, and what it moves is in sight with it."""

from __future__ import annotations

import html
import re
from typing import Any
from urllib.parse import urljoin

import pytest
from heights import NAMES, wake
from looks import PAGES
from playwright.sync_api import Browser
from thorough import a_few

from press.site import SITE

pytestmark = pytest.mark.browser

WITH_WIDGETS = [
    name
    for name in PAGES
    if (SITE / name).is_file() and 'class="widget-view"' in (SITE / name).read_text("utf-8")
]
COLUMNS = (*range(328, 600, 34), 592, 600, 624, 640, 656, 688, 720, 757, 784, 860)
"""Columns of text, in pixels, in windows from 360 to 1400 px and more."""
SHORTEST = 120
"""Pixels that a slider or a choice has at least."""
SCREEN = 650
"""What a laptop of 1280 or 1366 px shows at once, in pixels of height."""
BESIDE_LISTS = 624
"""The column of a window of 1200 px, the narrowest with a list on both sides."""

LOOK = """async ([widths, shortest, screen, beside]) => {
  const views = [...document.querySelectorAll(".widget-view")];
  const frame = () => new Promise((go) => requestAnimationFrame(() => setTimeout(go, 20)));
  const box = (element) => element.getBoundingClientRect();
  const seen = (element) => element.checkVisibility() && box(element).width > 0;
  const named = (control) => control.labels?.[0]?.textContent ?? control.getAttribute("aria-label");
  const both = (one, other) =>
    Math.max(box(one).bottom, box(other).bottom) - Math.min(box(one).top, box(other).top);
  const found = [];
  for (const width of widths) {
    for (const view of views) view.style.cssText = `min-height: 0; width: ${width}px`;
    for (let i = 0; i < 6; i++) await frame();
    views.forEach((view, place) => {
      const say = (what) => found.push([place, width, what]);
      const wide = view.scrollWidth - view.clientWidth;
      if (wide > 1) say(`is ${wide} px wider than its column`);
      const kinds = "input[type=range], select, textarea";
      const controls = [...view.querySelectorAll(kinds)].filter(seen);
      const moved = "svg, canvas, table, .bars, .reading, .line";
      const drawn = [...view.querySelectorAll(moved)].filter(
        (one) => seen(one) && box(one).height > 40 && !one.closest("svg svg"),
      );
      for (const control of controls) {
        const long = box(control).width;
        if (long < shortest - 0.5) say(`${named(control)} is ${Math.round(long)} px long`);
        const far = Math.min(...drawn.map((one) => both(one, control)));
        if (width >= beside && drawn.length && far > screen) {
          say(`${named(control)} and what it moves take ${Math.round(far)} px`);
        }
      }
    });
  }
  return found;
}"""


@pytest.mark.parametrize("name", a_few(WITH_WIDGETS, WITH_WIDGETS[1:2]))
def test_a_control_is_long_enough_and_near_what_it_moves(
    chromium: Browser, address: str, name: str
) -> None:
    page = chromium.new_page(viewport={"width": 1600, "height": 900})
    page.goto(f"{address}/{name}")
    wake(page)
    names = page.locator(".widget-view").evaluate_all(NAMES)
    given: list[Any] = [list(COLUMNS), SHORTEST, SCREEN, BESIDE_LISTS]
    found = [
        f"{names[place]} in a column of {width} px: {what}"
        for place, width, what in page.evaluate(LOOK, given)
    ]
    assert found == []
    page.close()


@pytest.mark.parametrize("name", a_few(WITH_WIDGETS, WITH_WIDGETS[:2]))
def test_a_frame_to_copy_is_as_high_as_what_is_in_it(
    chromium: Browser, address: str, name: str
) -> None:
    text = html.unescape((SITE / name).read_text("utf-8"))
    frames = re.findall(
        r'href="((?:[^"]*/)?embed/[^"]*\.html)" download.*?height="(\d+)"', text, re.S
    )
    assert frames
    for file, height in frames:
        page = chromium.new_page(viewport={"width": 960, "height": int(height)})
        page.goto(urljoin(f"{address}/{name}", file))
        wake(page)
        within = page.evaluate("document.documentElement.scrollHeight")
        assert within <= int(height) <= within + 150, f"{file}: {within} in a frame of {height} px"
        page.close()
