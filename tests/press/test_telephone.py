"""On a telephone letters of figures are large enough, and what is cut off or pressed is seen."""

from __future__ import annotations

import io
from collections.abc import Iterator

import matplotlib.image
import numpy as np
import pytest
from looks import PAGES
from playwright.sync_api import Browser, Page
from thorough import a_few
from widget_page import settle

from press.pages.figures import LEAST, width_to_read
from press.site import SITE

pytestmark = pytest.mark.browser

WITH_FIGURES = [
    name
    for name in PAGES
    if (SITE / name).is_file() and "dark-light" in (SITE / name).read_text("utf-8")
]


@pytest.fixture
def telephone(chromium: Browser) -> Iterator[Page]:
    context = chromium.new_context(
        viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True
    )
    yield context.new_page()
    context.close()


@pytest.mark.parametrize("name", a_few(WITH_FIGURES, WITH_FIGURES[:2]))
def test_letters_of_figures_are_nine_pixels_high(telephone: Page, address: str, name: str) -> None:
    telephone.goto(f"{address}/{name}")
    seen = """[...document.querySelectorAll("picture > img.figure")]
      .filter((image) => image.checkVisibility())
      .map((image) => [image.src.split("/").at(-1), image.getBoundingClientRect().width])"""
    # sections out of sight are laid out a little later
    telephone.wait_for_function(f"() => {seen}.every(([, width]) => width > 0)")
    drawn = telephone.evaluate(f"() => {seen}")
    assert drawn
    small = []
    for file, width in drawn:
        needed = width_to_read((SITE / "_images" / file).read_text("utf-8"))
        if needed is not None and width < needed - 1:
            small.append(f"{file}: letters of {LEAST * width / needed:.1f} px")
    assert small == []
    assert telephone.evaluate("document.documentElement.scrollWidth") <= 390


def edge(page: Page, box: dict[str, float]) -> float:
    """Return how bright the right edge of a box is above its first line, from 0 to 1."""
    clip = {"x": box["x"] + box["width"] - 8, "y": box["y"] + 3, "width": 5, "height": 6}
    shot = page.screenshot(clip=clip)  # type: ignore[arg-type]
    return float(np.mean(matplotlib.image.imread(io.BytesIO(shot))[..., :3]))


def test_code_that_goes_on_has_a_shadow_at_its_edge(telephone: Page, address: str) -> None:
    telephone.goto(f"{address}/chapters/07-attention.html")
    cut = "(all) => all.findIndex((e) => e.checkVisibility() && e.scrollWidth > e.clientWidth + 60)"
    blocks = telephone.locator("div.cell_input div.highlight pre")
    block = blocks.nth(blocks.evaluate_all(cut))
    block.evaluate("(e) => e.scrollIntoView({ block: 'center', behavior: 'instant' })")
    settle(telephone)
    box = block.bounding_box()
    assert box is not None
    button = block.locator("xpath=following-sibling::button")
    assert float(button.evaluate("(e) => getComputedStyle(e).opacity")) == 1
    button.evaluate("(e) => { e.hidden = true; e.style.display = 'none'; }")
    before = edge(telephone, box)
    block.evaluate("(e) => { e.scrollLeft = e.scrollWidth; }")
    settle(telephone)
    assert before < edge(telephone, box) - 0.02  # the shadow is gone where the lines end
