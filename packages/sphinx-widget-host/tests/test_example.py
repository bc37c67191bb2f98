"""The example book builds where there is no torch, and its page is alive from disk."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

EXAMPLE = Path(__file__).parents[1] / "example"
BUILD = (
    "import sys; sys.modules['torch'] = None; "  # importing it is an error from now on
    "from jupyter_book.cli.main import main; main()"
)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the example; a warning is an error."""
    folder = tmp_path_factory.mktemp("example")
    options = ["build", "-W", "-q", "--path-output", str(folder), str(EXAMPLE)]
    done = subprocess.run([sys.executable, "-c", BUILD, *options], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "_build" / "html"


def opened(chromium: Browser, file: Path) -> Page:
    """Open a file from disk, with the network cut off."""
    page = chromium.new_context(offline=True).new_page()
    page.route("http*://**", lambda route: route.abort())
    page.goto(file.as_uri())
    page.wait_for_selector("html[data-widgets=ready]")
    return page


def test_the_page_is_alive_from_disk_and_its_views_stay_in_step(
    chromium: Browser, site: Path
) -> None:
    page = opened(chromium, site / "index.html")
    sliders, lines = page.locator("input[type=range]"), page.locator(".widget-view [aria-live]")
    assert lines.all_inner_texts() == ["At x = 1 it has the height 1.5."] * 2
    sliders.nth(1).press("ArrowRight")
    expect(lines).to_have_text(["At x = 1 it has the height 1.6."] * 2)
    page.context.close()


def test_the_place_of_a_widget_stands_in_the_page_and_has_a_name(
    chromium: Browser, site: Path
) -> None:
    text = (site / "index.html").read_text("utf-8")
    assert text.count('<div class="widget-view" role="group" aria-label="Widget: parabola">') == 2
    page = opened(chromium, site / "index.html")
    groups = page.get_by_role("group", name="Widget: parabola", exact=True)
    expect(groups).to_have_count(2)
    assert page.locator(".widget-view").count() == 2
    page.context.close()


def test_the_widget_is_alive_in_its_own_file(chromium: Browser, site: Path) -> None:
    page = opened(chromium, site / "embed" / "index" / "parabola.html")
    page.get_by_label("steepness").press("ArrowLeft")
    expect(page.locator("[aria-live]")).to_have_text("At x = 1 it has the height 1.4.")
    assert page.locator(".source").inner_text() == "From A living figure"
    page.context.close()
