"""A place is as high as its widget will be, and goes to nobody who runs no script."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser

from sphinx_widget_host.places import WIDTHS, place, style_sheet

HEIGHTS = {str(width): 1000 - width for width in WIDTHS}


def page_with(heights: dict[str, int]) -> str:
    view = place("till", heights)
    return f'<style>{style_sheet()}</style><div class="cell_output">{view}</div><p>After.</p>'


@pytest.mark.parametrize(
    ("column", "height"), [(300, 712), (358, 642), (359, 642), (784, 216), (900, 216)]
)
def test_the_height_is_that_of_the_widest_column_that_fits(
    chromium: Browser, column: int, height: int
) -> None:
    page = chromium.new_page(viewport={"width": column, "height": 400})
    page.set_content(f"<style>body {{ margin: 0 }}</style>{page_with(HEIGHTS)}")
    box = page.locator(".widget-view").bounding_box()
    assert box is not None
    assert box["height"] == height
    page.close()


def test_without_scripts_no_place_is_kept(chromium: Browser) -> None:
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.set_content(page_with(HEIGHTS))
    box = page.locator("p").bounding_box()
    assert box is not None
    assert box["y"] < 50
    context.close()


def test_a_widget_of_unknown_height_has_a_name_and_no_height() -> None:
    assert place("till-2", {}) == (
        '<div class="widget-view" role="group" aria-label="Widget: till 2"></div>'
    )
    assert "style" not in place("till", {"1": 5})
