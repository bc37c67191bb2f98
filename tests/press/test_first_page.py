"""The first page: light before the first touch, at rest when its widget comes, and it writes."""

from __future__ import annotations

import gzip

import pytest
from playwright.sync_api import Browser, Page, Response, Route
from widget_page import PATIENCE

from press.site import SITE

pytestmark = pytest.mark.browser

BEFORE = 448_560
"""Bytes that the page asked for, compressed, when a widget without a model stood on it."""
BINARY = (".png", ".woff2", ".ttf")
SIZES = [(1280, 800), (390, 844)]
PLACES = """() => [".widget-view", "article h2"].flatMap((name) => {
  const { top, height } = document.querySelector(name).getBoundingClientRect();
  return [top + scrollY, height];
})"""
"""Where the widget stands and what follows it, and how high they are."""


@pytest.fixture
def home(address: str) -> str:
    return f"{address}/index.html"


def opened(chromium: Browser, address: str, size: tuple[int, int]) -> tuple[Page, list[Response]]:
    """Open the page, and touch nothing."""
    width, height = size
    context = chromium.new_context(
        viewport={"width": width, "height": height}, has_touch=True, is_mobile=width < 600
    )
    page = context.new_page()
    replies: list[Response] = []

    def keep(reply: Response) -> None:
        replies.append(reply)

    page.on("response", keep)
    page.goto(address, wait_until="load")
    page.wait_for_selector("[data-widget=waiting] img", timeout=PATIENCE)
    page.evaluate("document.fonts.ready")
    page.wait_for_load_state("networkidle")
    return page, replies


def weight(reply: Response) -> int:
    """Return what a file weighs on its way to the reader."""
    body = reply.body()
    return len(body if reply.url.endswith(BINARY) else gzip.compress(body, 6))


@pytest.mark.parametrize("size", SIZES)
def test_before_the_first_touch_it_weighs_no_more_than_without_a_model(
    chromium: Browser, home: str, size: tuple[int, int]
) -> None:
    page, replies = opened(chromium, home, size)
    asked = [reply for reply in replies if reply.url.startswith("http")]
    assert not [reply.url for reply in asked if "widget-data" in reply.url]
    assert sum(map(weight, asked)) <= BEFORE
    page.context.close()


def test_on_a_telephone_the_picture_fills_the_place_of_the_widget(
    chromium: Browser, home: str
) -> None:
    page, _ = opened(chromium, home, SIZES[1])
    parts = "document.querySelectorAll('.widget-view, .widget-view img')"
    place, picture = page.evaluate(f"[...{parts}].map((one) => one.offsetHeight)")
    assert 0.85 * place < picture < place
    page.context.close()


def test_no_button_is_there_for_contents_that_are_not(chromium: Browser, home: str) -> None:
    page, _ = opened(chromium, home, SIZES[1])
    assert page.locator(".bd-sidebar-secondary").count() == 0
    assert page.locator(".primary-toggle").is_visible()
    assert not page.locator(".secondary-toggle").is_visible()
    page.context.close()


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("way", ["http", "disk"])
def test_one_touch_leads_to_the_first_letters_and_moves_nothing(
    chromium: Browser, home: str, size: tuple[int, int], way: str
) -> None:
    address = home if way == "http" else (SITE / "index.html").as_uri()
    page, _ = opened(chromium, address, size)
    before = page.evaluate(PLACES)
    page.touchscreen.tap(size[0] / 2, before[0] + 60)
    page.wait_for_selector(".written", timeout=PATIENCE)
    assert page.evaluate(PLACES) == pytest.approx(before, abs=1)
    shown = page.locator(".page").bounding_box()
    assert shown is not None
    assert 0 <= shown["y"] < size[1] - shown["height"]  # what is written is in sight
    page.context.close()


def test_each_step_leads_to_a_section_of_the_site(chromium: Browser, home: str) -> None:
    page, _ = opened(chromium, home, SIZES[0])
    page.mouse.move(100, 100)
    page.mouse.move(300, 300)
    page.wait_for_selector("a.step", timeout=PATIENCE)
    for link in page.locator("a.step").all():
        path, _, label = (link.get_attribute("href") or "").partition("#")
        assert f'id="{label}"' in (SITE / path).read_text("utf-8")
    page.context.close()


def test_nothing_stands_for_the_picture_until_it_is_there(chromium: Browser, home: str) -> None:
    context = chromium.new_context(color_scheme="dark", viewport={"width": 390, "height": 844})
    page = context.new_page()
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    page.route("**/_images/*", hold)
    page.goto(home, wait_until="domcontentloaded")
    picture = page.locator("[data-widget=waiting] img")
    picture.wait_for(state="attached", timeout=PATIENCE)
    assert picture.evaluate("(image) => getComputedStyle(image).visibility") == "hidden"
    page.route("**/_images/*", lambda route: route.continue_())  # from now on
    for route in held:
        route.continue_()
    picture.wait_for(state="visible", timeout=PATIENCE)
    context.close()


def test_without_scripts_the_picture_stands_there(chromium: Browser, home: str) -> None:
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(home)
    picture = page.get_by_role("img", name="A line of text, cut into the pieces")
    assert picture.is_visible()
    context.close()
