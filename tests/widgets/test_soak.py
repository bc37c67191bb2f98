"""Whoever plays with a widget for long does not fill the browser's memory.

Every control is moved there and back, again and again; the page must not hold more and more marks,
listeners or bytes.  ``make test`` goes a few rounds with a few widgets; ``make soak`` goes on for
two minutes with each.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import drawn
import pytest
from chromium import ARGUMENTS, find_chromium
from playwright.sync_api import Browser, CDPSession, Page
from thorough import WIDGETS_OF_ALL_KINDS, a_few
from widget_page import show_widget

from primer import widgets

SECONDS = float(os.environ.get("SOAK_SECONDS", "0"))
FEWEST, MOST, STEPS = 2, 32, 24 if SECONDS else 4
"""Rounds with each widget, however quickly they pass; rounds after which what has grown in all of
them counts as growth; places of a slider on its way."""
SOAK = Path(__file__).with_name("soak.mjs")


class Held(NamedTuple):
    """What a page holds once everything has been collected that nobody needs any more."""

    nodes: float
    listeners: float
    heap: float


ROOM = Held(0, 0, 1e6)
"""What a page may grow by: code that runs often is compiled, and some texts are kept."""


def held(session: CDPSession) -> Held:
    """Collect what can be collected, and count what is left."""
    session.send("HeapProfiler.collectGarbage")
    metrics = session.send("Performance.getMetrics")["metrics"]
    value = {metric["name"]: metric["value"] for metric in metrics}
    return Held(value["Nodes"], value["JSEventListeners"], value["JSHeapUsedSize"])


def rounds(page: Page) -> Iterator[Held]:
    """Move all controls again and again; after each round say what the page holds."""
    for script in (drawn.LOOK, SOAK):
        page.evaluate(script.read_text("utf-8"))
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable")
    while True:
        page.evaluate("steps => soak.round(steps)", STEPS)
        yield held(session)


def growth(found: list[Held]) -> Held:
    """Compare the least of the second half with the most of the first."""
    half = len(found) // 2
    first, second = zip(*found[:half], strict=True), zip(*found[half:], strict=True)
    return Held(*(min(b) - max(a) for a, b in zip(first, second, strict=True)))


def what_grows(page: Page, most: int = MOST, seconds: float = SECONDS) -> dict[str, float]:
    """Go on until nothing has grown; what still does after so many rounds is named.

    A state that comes and goes (the attempts that one drawing of a token needed, the step at which
    a play was stopped) is no growth, and two rounds may happen to end in the larger one; what is
    kept in each round is more after any number of them, so two without growth are enough.
    """
    until, found = time.monotonic() + seconds, []
    for state in rounds(page):
        found.append(state)
        if len(found) < FEWEST or time.monotonic() < until:
            continue
        grown = growth(found)._asdict()
        grown = {name: by for name, by in grown.items() if by > getattr(ROOM, name)}
        if not grown or len(found) >= most:
            return grown
    raise AssertionError("the rounds do not end by themselves")


@pytest.fixture(scope="module")
def hurried(chromium: Browser) -> Iterator[Browser]:
    """Give a browser that draws the next frame at once: a round is over when it has drawn."""
    arguments = [*ARGUMENTS, "--disable-frame-rate-limit"]
    browser = chromium.browser_type.launch(executable_path=find_chromium(), args=arguments)
    yield browser
    browser.close()


@pytest.fixture
def page(hurried: Browser) -> Iterator[Page]:
    """Give a page whose scripts must not fail."""
    page, errors = hurried.new_page(viewport={"width": 1400, "height": 900}), []
    page.on("pageerror", lambda error: errors.append(str(error)))
    yield page
    page.close()
    assert not errors


@pytest.mark.browser
@pytest.mark.parametrize("name", a_few(widgets.__all__, WIDGETS_OF_ALL_KINDS))
def test_a_widget_keeps_nothing(page: Page, name: str) -> None:
    show_widget(page, getattr(widgets, name)())
    assert not what_grows(page)


@pytest.mark.browser
@pytest.mark.parametrize(
    ("leak", "what"),
    [
        ("window.kept.push(document.createElement('i'))", "nodes"),
        ("document.addEventListener('x', () => document)", "listeners"),
        ("window.kept.push(new Array(1e5).fill(0.5))", "heap"),
    ],
)
def test_what_grows_is_found(page: Page, leak: str, what: str) -> None:
    show_widget(page, widgets.NormBall())
    page.evaluate(f"window.kept = []; document.addEventListener('input', () => {{ {leak}; }})")
    assert [*what_grows(page, most=2 * FEWEST, seconds=0)] == [what]
