"""The example book builds, and its page needs neither a script nor a network."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import EXAMPLE
from playwright.sync_api import Browser


@pytest.fixture(scope="module")
def page(katex_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the example; a warning is an error."""
    book = tmp_path_factory.mktemp("example") / "book"
    shutil.copytree(EXAMPLE, book, ignore=shutil.ignore_patterns("node_modules", "_build"))
    (book / "node_modules").symlink_to(katex_folder.parent)
    program = "from jupyter_book.cli.main import main; main()"
    command = [sys.executable, "-c", program, "build", "-W", "-q", str(book)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return book / "_build/html/index.html"


@pytest.mark.parametrize("width", [1400, 390])
def test_the_page_is_whole_without_a_script_or_a_network(
    chromium: Browser, page: Path, width: int
) -> None:
    asked = []
    context = chromium.new_context(
        java_script_enabled=False, offline=True, viewport={"width": width, "height": 800}
    )
    tab = context.new_page()
    tab.on("request", lambda request: asked.append(request.url))
    tab.goto(page.as_uri())
    formulas = tab.locator("main .katex-html")
    assert formulas.count() == 4
    assert tab.locator("main .katex-mathml math").count() == 4
    assert tab.locator("main .eqno").first.inner_text().startswith("(1)")
    assert tab.locator("main a", has_text="(1)").get_attribute("href") == "#equation-squares"
    boxes = [one.bounding_box() for one in tab.locator("div.math").first.locator(".mrel").all()]
    rows = [box["y"] for box in boxes if box]
    assert max(rows) - min(rows) > 20, "both lines of the sum stand in one"
    number = tab.locator("main .eqno").first.bounding_box()
    formula = tab.locator("div.math .formula").first.bounding_box()
    assert number is not None
    assert formula is not None
    assert number["x"] >= formula["x"] + formula["width"]
    fonts = [url for url in asked if "KaTeX_" in url]
    assert fonts
    assert all(url.startswith(page.parent.as_uri()) for url in fonts)
    context.close()


def test_a_wide_formula_scrolls_and_the_page_does_not(chromium: Browser, page: Path) -> None:
    tab = chromium.new_page(viewport={"width": 390, "height": 800})
    tab.route("http*://**", lambda route: route.abort())
    tab.goto(page.as_uri())
    assert tab.evaluate("document.documentElement.scrollWidth") == 390
    wide = "[...document.querySelectorAll('.formula')].map((e) => e.scrollWidth > e.clientWidth)"
    assert tab.evaluate(wide)[-1] is True
    tab.close()
