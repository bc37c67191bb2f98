"""Terms, citations and equations open in a pop-up by pointer, by key and by touch."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urldefrag, urlsplit

import pytest
from axe import violations_on
from bs4 import BeautifulSoup
from by_keyboard import tab_to
from playwright.sync_api import Locator, Page, expect
from thorough import WIDTHS
from tiny_book import CHAPTER

Open = Callable[..., Page]

REST, LEAVE = 180, 250  # ms: to rest on a link, and to reach its pop-up
TERM = "main a[href$='#term-softmax']"
KEYS = "main a[href$='#term-key']"
CITATION = "main a[href$='#cite-su2024roformer']"
HERE = "main p a[href='#equation-eq-positions-attention']"
ELSEWHERE = "main a[href$='#equation-eq-notation-energy']"


def written(site: Path, page: str) -> dict[str, str]:
    """Read the pop-ups of a page as the browser does."""
    script = (site / "_static/popups" / f"{page}.js").read_text("utf-8")
    found = re.fullmatch(r"\(window\.popups \?\?= \{\}\)\[(.*?)\] = (\{.*\});\n", script)
    assert found is not None
    assert json.loads(found[1]) == page
    return json.loads(found[2])


def stop_the_clock(page: Page) -> None:
    """From here on time passes by `page.clock` only."""
    page.clock.install(time=0)
    page.clock.pause_at(1)


def popup(page: Page) -> Locator:
    """Find the open pop-up."""
    return page.locator(".popup:popover-open")


def test_definitions_entries_and_equations_are_written_beside_their_pages(
    reading_site: Path,
) -> None:
    glossary = written(reading_site, "chapters/appendix/glossary")
    assert list(glossary) == ["term-attention", "term-key", "term-softmax", "term-value"]
    assert 'class="katex-html' in glossary["term-softmax"]
    chapter = written(reading_site, CHAPTER)
    assert list(chapter) == ["equation-eq-positions-attention", "cite-su2024roformer"]
    assert "RoFormer" in chapter["cite-su2024roformer"]
    assert "(8.1)" in chapter["equation-eq-positions-attention"]
    for text in [*glossary.values(), *chapter.values()]:
        tree = BeautifulSoup(text, "html.parser")
        assert not tree.select("[id], .headerlink, [role]"), "it would stand on the page twice"


@pytest.mark.browser
def test_pointing_opens_and_leaving_closes(reading_page: Open) -> None:
    page = reading_page()
    stop_the_clock(page)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    for link, words, loaded in [
        (TERM, "makes positive numbers with sum 1", 1),
        (CITATION, "RoFormer: enhanced transformer", 2),
        (HERE, "(8.1)", 2),  # from the page of the citation
        (ELSEWHERE, "E", 3),
    ]:
        place = page.locator(link).first
        place.hover()
        page.clock.run_for(REST)
        expect(popup(page)).to_contain_text(words)
        assert place.get_attribute("aria-describedby") == popup(page).get_attribute("id")
        assert sum("/popups/" in url for url in asked) == loaded
        popup(page).hover()  # a reader may go there, and stay
        page.clock.run_for(60_000)
        assert popup(page).is_visible()
        page.mouse.move(3, 3)
        page.clock.run_for(LEAVE - 1)
        assert popup(page).is_visible()  # there is time to come back
        page.clock.run_for(1)
        page.locator(".popup").wait_for(state="detached")
        assert place.get_attribute("aria-describedby") is None


@pytest.mark.browser
def test_passing_over_a_link_opens_nothing(reading_page: Open) -> None:
    page = reading_page()
    stop_the_clock(page)
    box = page.locator(TERM).bounding_box()
    assert box is not None
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.mouse.move(box["x"] + 5, box["y"] + 5)
    page.clock.run_for(REST - 1)
    page.mouse.move(box["x"] + 5, box["y"] - 60)
    page.clock.run_for(60_000)
    assert popup(page).count() == 0
    page.mouse.move(box["x"] + 5, box["y"] + 5)  # who rests there sees it: time does pass
    page.clock.run_for(REST)
    popup(page).wait_for()
    assert sum("/popups/" in url for url in asked) == 1


@pytest.mark.browser
def test_by_key_it_opens_and_closes_and_the_text_goes_on(reading_page: Open) -> None:
    page = reading_page()
    term = page.locator(TERM)
    tab_to(page, term)
    popup(page).wait_for()
    page.keyboard.press("Escape")
    expect(page.locator(".popup")).to_have_count(0)
    assert term.evaluate("(link) => link === document.activeElement")
    tab_to(page, term)
    popup(page).wait_for()
    assert popup(page).get_by_role("link").count() == 2
    page.keyboard.press(
        "Tab"
    )  # past the links inside, to the next one of the text: it opens its own
    popup(page).filter(has_text="by which a token is found").wait_for()
    assert page.locator(KEYS).evaluate("(link) => link === document.activeElement")
    page.keyboard.press("Enter")
    page.wait_for_url("**/glossary.html#term-key")


@pytest.mark.browser
def test_a_tap_opens_a_second_one_follows(reading_page: Open) -> None:
    page = reading_page(has_touch=True, viewport={"width": 390, "height": 700})
    page.locator(TERM).tap()
    popup(page).wait_for()
    page.locator("section > h1").tap()  # elsewhere
    expect(page.locator(".popup")).to_have_count(0)
    page.locator(KEYS).tap()
    popup(page).wait_for()
    expect(page).to_have_url(re.compile(f"{CHAPTER}.html$"))
    page.locator(KEYS).tap()
    page.wait_for_url("**/glossary.html#term-key")


@pytest.mark.browser
def test_a_link_inside_leads_on_from_any_page(reading_page: Open, reading_site: Path) -> None:
    page = reading_page(has_touch=True)
    page.locator(TERM).tap()
    popup(page).wait_for()
    links = [link.evaluate("(a) => a.href") for link in popup(page).get_by_role("link").all()]
    assert len(links) == 2
    for address, anchor in map(urldefrag, links):
        target = Path(urlsplit(address).path)
        assert target.is_relative_to(reading_site)
        assert f'id="{anchor}"' in target.read_text("utf-8")
    popup(page).get_by_role("link", name="values").tap()
    page.wait_for_url("**/glossary.html#term-value")


@pytest.mark.browser
@pytest.mark.parametrize("width", WIDTHS)
def test_it_stays_on_the_screen(reading_page: Open, width: int) -> None:
    page = reading_page(viewport={"width": width, "height": 700})
    for link in (TERM, KEYS, CITATION, HERE, ELSEWHERE):
        page.locator(link).first.hover()
        popup(page).wait_for()
        box = popup(page).bounding_box()
        assert box is not None
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= width
        assert 0 <= box["y"] <= 700 - box["height"]
        page.mouse.move(1, 1)
        page.locator(".popup").wait_for(state="detached")


@pytest.mark.browser
def test_where_it_cannot_be_loaded_a_link_is_a_link(reading_page: Open, reading_home: str) -> None:
    page = reading_page(home=reading_home)
    page.route("**/popups/**", lambda route: route.fulfill(body="", content_type="text/javascript"))
    stop_the_clock(page)
    page.locator(TERM).hover()
    with page.expect_response("**/popups/**"):
        page.clock.run_for(REST)
    page.clock.run_for(60_000)
    assert popup(page).count() == 0
    page.locator(TERM).click()
    page.wait_for_url("**/glossary.html#term-softmax")


@pytest.mark.browser
def test_axe_finds_nothing_in_it(reading_page: Open, reading_home: str) -> None:
    page = reading_page(home=reading_home)
    tab_to(page, page.locator(TERM))
    popup(page).wait_for()
    page.evaluate("addEventListener('resize', (event) => event.stopImmediatePropagation(), true)")
    assert violations_on(page) == []
