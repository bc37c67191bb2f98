"""What a script adds to a page restyles that place, and not the whole page.

A rule as ``.a:has(.b) > :not(.c)`` may hold for any element, so a browser styles all of them anew
whenever one is added anywhere: in a chapter of 19,000 elements that took a third of a frame's
budget on a fast machine, and everybody paid it, whatever the rule was for.  What is counted here
are elements, as a trace of the browser names them, and no seconds.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from looks import PAGES
from playwright.sync_api import Browser, Page
from test_first_visit import READY
from thorough import a_few

pytestmark = pytest.mark.browser

FEW = 60
"""So many elements may be restyled."""

OF_EACH_STYLE = {
    "index.html",
    "search.html",
    "chapters/01-statistics.html",
    "chapters/appendix/today.html",
}
"""The first page, one without a text, the longest, and one that scripts fill."""

ADDED = {
    "an element at the end of the page": "document.body.append(document.createElement('p'))",
    "an element at the end of the text": """
        document.querySelector('article section')?.append(document.createElement('p'))""",
    "a mark in a drawing": """document.querySelector('.widget-view svg')?.append(
        document.createElementNS('http://www.w3.org/2000/svg', 'path'))""",
    "a word where a cell runs": """document.querySelector('.run-place')?.append(
        document.createElement('span'))""",
    "a reply": "document.querySelector('.reply')?.append(document.createElement('b'))",
}


def restyled(page: Page, script: str, trace: Path) -> int:
    """Return how many elements the browser styles anew after a script."""
    browser = page.context.browser
    assert browser is not None
    browser.start_tracing(page=page, path=trace, categories=["devtools.timeline"])
    page.evaluate(f"() => {{ document.body.offsetHeight; {script}; document.body.offsetHeight }}")
    browser.stop_tracing()
    events = json.loads(trace.read_text("utf-8"))["traceEvents"]
    return sum(
        int(one["args"].get("elementCount", 0))
        for one in events
        if one["name"] == "UpdateLayoutTree" and one["ph"] in "XE"
    )


@pytest.mark.parametrize("name", a_few(PAGES, OF_EACH_STYLE))
def test_what_is_added_restyles_its_place(
    chromium: Browser, address: str, name: str, tmp_path: Path
) -> None:
    page = chromium.new_page()
    page.goto(f"{address}/{name}", wait_until="load")
    page.wait_for_function(READY)
    page.evaluate("new Promise((done) => requestIdleCallback(done, { timeout: 5000 }))")
    found = {what: restyled(page, script, tmp_path / "t.json") for what, script in ADDED.items()}
    page.close()
    assert {what: number for what, number in found.items() if number > FEW} == {}


def test_a_rule_that_may_hold_for_any_element_is_found(chromium: Browser, tmp_path: Path) -> None:
    page = chromium.new_page()
    page.set_content("<div class=a>" + "<p><b>x</b></p>" * 500 + "</div>")
    script = "document.body.append(document.createElement('p'))"
    assert restyled(page, script, tmp_path / "t.json") < FEW
    page.add_style_tag(content=".a:has(+ .b > .c) > :not(.d) { color: red }")
    assert restyled(page, script, tmp_path / "t.json") > 500
    page.close()
