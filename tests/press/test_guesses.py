"""Guess first: the build knows which choice is right, the browser remembers what was guessed."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import pytest
from axe import violations_on
from bs4 import BeautifulSoup
from by_keyboard import tab_to
from playwright.sync_api import Page, expect
from sphinx.application import Sphinx
from sphinx.util.docutils import docutils_namespace
from tiny_book import CHAPTER, NOTHING_KEPT

Open = Callable[..., Page]

RIGHT, WRONG = ("two.", "Right. Count."), ("three.", "One more than there are.")


def warnings_of(folder: Path, *choices: tuple[str, str]) -> str:
    """Build a page with one guess, and return what the build complains about."""
    body = "".join(f":::{{dropdown}} {choice}\n{reply}\n:::\n" for choice, reply in choices)
    guess = f"::::{{admonition}} Guess first\n:class: guess\n1 + 1 is …\n\n{body}::::\n"
    (folder / "index.md").write_text(f"# A page\n\nWords.\n\n{guess}", encoding="utf-8")
    warnings = io.StringIO()
    options = {
        "extensions": ["myst_parser", "sphinx_design", "press.pages.guesses"],
        "myst_enable_extensions": ["colon_fence"],
    }
    with docutils_namespace():
        out = folder / "out"
        app = Sphinx(folder, None, out, out, "dummy", options, status=None, warning=warnings)
        app.build()
    return warnings.getvalue()


@pytest.mark.parametrize(
    ("choices", "sentence"),
    [
        ([WRONG, WRONG, WRONG], "has 0 right choices"),
        ([RIGHT, WRONG, RIGHT], "has 2 right choices"),
        ([RIGHT, WRONG], "has 2 choices; three or four are asked for"),
        ([RIGHT, WRONG, ("four.", "")], "does not reply to 'four.'"),
    ],
)
def test_a_faulty_guess_is_a_warning_with_its_place(
    tmp_path: Path, choices: list[tuple[str, str]], sentence: str
) -> None:
    found = warnings_of(tmp_path, *choices)
    assert sentence in found
    assert "index.md:5: WARNING: the guess '1 + 1 is …'" in found


def test_a_sound_guess_is_none(tmp_path: Path) -> None:
    assert warnings_of(tmp_path, RIGHT, WRONG, WRONG) == ""


def test_one_choice_of_each_guess_is_right(reading_site: Path) -> None:
    page = BeautifulSoup((reading_site / f"{CHAPTER}.html").read_text("utf-8"), "html.parser")
    boxes = page.select(".admonition.guess")
    kinds = [[choice["class"][-1] for choice in box.select("details.choice")] for box in boxes]
    assert kinds == [["wrong", "right", "wrong"], ["wrong", "right", "wrong"]]
    names = [{choice["name"] for choice in box.select("details.choice")} for box in boxes]
    assert names == [{box["id"]} for box in boxes]


def marks(page: Page) -> list[str]:
    """Return the classes of all choices."""
    return [
        node.get_attribute("class").removeprefix("choice ")
        for node in page.locator(".choice").all()
    ]


@pytest.mark.browser
def test_a_guess_by_keyboard_alone(reading_page: Open) -> None:
    page = reading_page()
    box = page.locator(".guess").first
    choices = box.locator("details")
    tab_to(page, choices.nth(0).locator("summary"))
    page.keyboard.press("Enter")
    expect(choices.nth(0).locator(".reply")).to_be_visible()
    standing = box.get_by_role("status")
    expect(standing).to_have_text("First guesses on this page: 0 of 1 right; 1 more to make.")
    page.keyboard.press("Tab")  # to the next choice
    page.keyboard.press("Space")
    expect(choices.nth(0)).not_to_have_attribute("open", "")
    expect(choices.nth(1)).to_have_class("choice right tried")
    assert [node.get_attribute("open") is not None for node in choices.all()] == [
        False,
        True,
        False,
    ]
    assert marks(page)[:3] == ["wrong tried", "right tried", "wrong"]
    expect(standing).to_contain_text("First guesses on this page: 0 of 1 right")

    tab_to(page, page.locator(".guess summary").nth(4))
    page.keyboard.press("Enter")
    expect(standing).to_have_text("First guesses on this page: 1 of 2 right.")


@pytest.mark.browser
def test_the_first_guess_is_remembered_until_the_reader_starts_over(
    reading_page: Open, reading_home: str
) -> None:
    page = reading_page(home=reading_home)
    page.locator(".guess summary").nth(1).click()
    page.locator(".guess summary").nth(2).click()
    expect(page.locator(".choice.tried")).to_have_count(2)  # told of a moment later
    page.reload()
    assert marks(page)[:3] == ["wrong", "right tried", "wrong"]
    assert "1 of 1 right" in page.locator(".guess").first.get_by_role("status").inner_text()
    assert page.locator(".choice[open]").count() == 0

    tab_to(page, page.get_by_role("button", name="Start over"))
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.matches('.guess summary')")
    assert "tried" not in " ".join(marks(page))
    page.reload()
    assert "tried" not in " ".join(marks(page))


@pytest.mark.browser
def test_where_the_browser_keeps_nothing_guessing_works(reading_page: Open) -> None:
    page = reading_page(NOTHING_KEPT)
    page.locator(".guess summary").nth(1).click()
    expect(page.locator(".guess").first.get_by_role("status")).to_contain_text("1 of 1 right")
    page.reload()
    assert page.locator(".guess").first.get_by_role("status").inner_text() == ""


@pytest.mark.browser
def test_what_was_kept_by_something_else_does_no_harm(reading_page: Open) -> None:
    page = reading_page("localStorage.setItem('runnable-primer:guesses', 'no JSON')")
    page.locator(".guess summary").first.click()
    expect(page.locator(".choice[open]")).to_have_count(1)


@pytest.mark.browser
def test_without_a_script_one_choice_is_open_and_colored(reading_page: Open) -> None:
    page = reading_page(java_script_enabled=False)
    summaries = page.locator(".guess summary")
    summaries.nth(0).click()
    summaries.nth(1).click()
    expect(page.locator(".guess").first.locator(".choice:not([open])")).to_have_count(2)
    expect(page.locator(".choice").nth(1)).to_have_attribute("open", "")


@pytest.mark.browser
def test_on_paper_every_reply_stands_below_its_choice(reading_page: Open) -> None:
    page = reading_page()
    page.emulate_media(media="print")
    for reply in page.locator(".choice .reply").all():
        box = reply.bounding_box()
        assert box is not None
        assert box["height"] > 15


@pytest.mark.browser
def test_targets_are_large_and_axe_finds_nothing(reading_page: Open, reading_home: str) -> None:
    page = reading_page(home=reading_home)
    page.locator(".guess summary").nth(0).click()
    page.locator(".guess summary").nth(4).click()
    for target in page.locator(".guess summary, .guess button").all():
        box = target.bounding_box()
        assert box is not None
        assert min(box["width"], box["height"]) >= 24
    assert violations_on(page) == []
