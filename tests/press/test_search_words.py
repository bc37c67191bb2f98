"""What a reader may type into the search: names of JavaScript's own, no words, far too much."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

pytestmark = pytest.mark.browser

OWN = "[...Object.getOwnPropertyNames(Object.prototype), 'prototype', 'length', 'name']"
"""What every object of JavaScript has, whether somebody put it there or not."""
NO_WORDS = ["((((", "%", "\0", "\ud800", "🙂", "…", "- -", "'", "   ?"]
EVERYWHERE = ["the", "what is this", "A"]

Ask = Callable[[str], dict[str, Any]]


@pytest.fixture
def ask(reading_page: Callable[..., Page]) -> Ask:
    """Ask the search of the small site."""
    page = reading_page()
    return lambda query: page.evaluate("(query) => window.bookSearch.find(query)", query)


def test_names_of_javascripts_own_are_words_like_others(
    reading_page: Callable[..., Page], ask: Ask
) -> None:
    names: list[str] = reading_page().evaluate(OWN)
    assert {"constructor", "toString", "__proto__", "valueOf", "hasOwnProperty"} <= set(names)
    for name in names:
        for query in (name, name.lower()):
            told = ask(query)["told"]
            assert told.startswith(("Nothing found", "1 place")) or "is not in this book" in told
            both = ask(f"{query} of a softmax")  # the other word is found as ever
            assert any("softmax" in one["matched"] for one in both["found"]), query


def test_without_a_word_it_says_so(ask: Ask) -> None:
    for query in NO_WORDS:
        said = ask(query)
        assert said["found"] == []
        assert said["told"].startswith("There is no word in this. Type what you look for"), query
    for query in EVERYWHERE:
        assert ask(query)["told"].startswith("These words stand on every page."), query
    assert ask("") == ask("  \n") == {"found": [], "told": ""}


def test_a_chapter_and_a_section_are_found_by_their_number(
    reading_page: Callable[..., Page], ask: Ask
) -> None:
    assert ask("chapter 8")["found"][0]["heading"] == "8 Positions"
    headings = reading_page().evaluate(
        """bookSearch.find("softmax").then(() =>
          searchDocuments.map(({ heading }) => heading).filter((name) => /^\\d/.test(name)))"""
    )
    assert len(headings) > 3
    for heading in headings:
        number = heading.partition(" ")[0]
        for query in (number, f"Section {number}", f"§{number}", f"sec. {number}"):
            assert ask(query)["found"][0]["heading"] == heading, query
    assert ask("8 of a softmax")["told"] == ask("8 softmax")["told"]  # further words count


def test_the_page_of_the_search_can_be_typed_into_at_once(
    reading_page: Callable[..., Page], reading_home: str
) -> None:
    page = reading_page(home=reading_home)
    page.goto(f"{reading_home}/search.html")
    field = page.locator(".bd-search-container input")
    expect(field).to_be_focused()
    page.keyboard.type("softmax")
    expect(page.locator("#search-results a").first).to_contain_text("softmax")


def test_without_scripts_it_says_where_else_to_look(
    reading_page: Callable[..., Page], reading_home: str
) -> None:
    page = reading_page(home=reading_home, java_script_enabled=False)
    page.goto(f"{reading_home}/search.html")
    body = page.locator(".bd-search-container")
    expect(body.locator("p")).to_have_text(re.compile("The search is a script.*runs none"))
    expect(body.locator(".admonition, input:visible")).to_have_count(0)
    links = [link.get_attribute("href") for link in body.get_by_role("link").all()]
    appendix = ["chapters/appendix/glossary.html", "chapters/appendix/notation.html"]
    assert links == ["index.html", *appendix, "genindex.html"]
    for link in links:
        assert page.request.get(f"{reading_home}/{link}").ok


def test_what_is_not_read_is_said(ask: Ask) -> None:
    for query in ("softmax " * 100, "(" * 201 + "softmax", "the " * 60):
        assert ask(query)["told"].endswith(" Only the first 200 characters were read.")
    assert not ask("softmax" + " " * 300)["told"].endswith("were read.")


def searching(page: Page, query: str) -> Any:
    """Type into the dialog; return the line that answers."""
    page.keyboard.press("Control+k")
    page.locator("#pst-search-dialog input").fill(query)
    return page.locator("#pst-search-dialog .told")


def test_an_index_that_is_missing_is_told_from_an_error(
    reading_page: Callable[..., Page], reading_home: str
) -> None:
    page = reading_page(home=reading_home)
    nothing = {"body": "", "content_type": "text/javascript"}
    page.route("**/search-documents.js", lambda route: route.fulfill(**nothing))
    told = searching(page, "softmax")
    expect(told).to_contain_text("its files are missing beside this page")
    page.unroute("**/search-documents.js")
    page.locator("#pst-search-dialog input").fill("softma")  # it is tried again
    expect(told).to_contain_text("place")
    page.evaluate("""() => {
      window.said = [];
      console.error = (error) => window.said.push(String(error));
      MiniSearch.prototype.search = () => { throw new TypeError("broken"); };
    }""")
    page.locator("#pst-search-dialog input").fill("attention")
    expect(told).to_contain_text("The search could not answer this")
    assert page.evaluate("window.said") == ["TypeError: broken"]
    expect(page.locator("#pst-search-dialog .found a")).to_have_count(0)
