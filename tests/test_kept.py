"""What the browser keeps of a reader: sections read, the place where she stopped, and its page."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import nbformat
import pytest
from axe import violations_on
from by_keyboard import tab_to
from playwright.sync_api import Page, expect
from tiny_book import NOTHING_KEPT
from written import BOOK

from primer.book.kept import reading_time
from primer.book.registry import read_book

ReadingPage = Callable[..., Page]
FIRST = "without-positions-order-is-lost"
FULL = """const set = Storage.prototype.setItem;
Storage.prototype.setItem = function (key, text) {
  if (key.startsWith("runnable-primer:")) throw new DOMException("full", "QuotaExceededError");
  set.call(this, key, text);  // the theme has no answer to it
};"""
NONSENSE = """localStorage.setItem("runnable-primer:progress", %s);
localStorage.setItem("runnable-primer:guesses", "[1, 2");
localStorage.setItem("runnable-primer:answers", "[1, 2]");"""
MIXED = {"08-positions": {"read": [1, None, FIRST], "stop": {}, "at": "now"}, "07": 5}
ARCHIVE = {
    "book": "runnable-primer",
    "progress": {"08-positions": {"read": ["exercises"], "stop": FIRST, "title": "8.1 A", "at": 1}},
    "guesses": {},
    "answers": {"8.1": "12", "8.2": 5},
}


def read_first_section(page: Page) -> None:
    """Scroll to the end of the first section, and stay."""
    page.locator("html[data-marked-at]").wait_for()
    page.locator("#exercises > h2").evaluate("node => node.scrollIntoView({ block: 'center' })")
    page.mouse.wheel(0, 20)


def open_kept(page: Page) -> Page:
    """Go from the chapter to the page of what is kept."""
    page.goto(page.url.split("#")[0].replace("08-positions", "appendix/kept"))
    return page


def cells(page: Page) -> list[str]:
    """Return the row of the chapter."""
    return page.locator(".kept tbody tr > *").all_inner_texts()


def stored(page: Page, name: str) -> str | None:
    """Return what the storage holds."""
    found: str | None = page.evaluate(f"localStorage.getItem('runnable-primer:{name}')")
    return found


def give(page: Page, text: str, name: str = "kept.json") -> str:
    """Let the page read a file; return what it says."""
    told = page.locator(".kept .told")
    told.evaluate("node => { node.textContent = ''; }")
    file = {"name": name, "mimeType": "application/json", "buffer": text.encode()}
    page.locator(".kept input[type=file]").set_input_files(file)
    expect(told).not_to_be_empty()
    return told.inner_text()


@pytest.mark.browser
@pytest.mark.parametrize("width", [1400, 390])
def test_progress_is_kept_over_a_reload_and_moves_nothing(
    reading_page: ReadingPage, reading_home: str, width: int
) -> None:
    page = reading_page(home=reading_home, viewport={"width": width, "height": 800})
    line, contents = page.locator(".reading-line"), page.locator(f".page-toc a[href='#{FIRST}']")
    page.locator("html[data-marked-at]").wait_for()
    expect(line).to_have_text(re.compile("^about two minutes3 sections$"))
    height = line.bounding_box()["height"]  # type: ignore[index]
    read_first_section(page)
    expect(line).to_contain_text("1 of 3 sections read")
    assert contents.text_content() == "8.1 Without positions, order is lost (read)"
    page.evaluate("scrollTo(0, 0)")
    page.reload()
    expect(line).to_contain_text("1 of 3 sections read")
    assert contents.get_attribute("class").split().count("read") == 1  # type: ignore[union-attr]
    assert line.bounding_box()["height"] == height  # type: ignore[index]
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    link = line.get_by_role("link", name="go on with 8.1 Without positions, order is lost")
    link.click()
    assert page.url.endswith(f"#{FIRST}")


@pytest.mark.browser
def test_who_only_opens_or_skips_has_read_nothing(reading_page: ReadingPage) -> None:
    page = reading_page(viewport={"width": 1400, "height": 400})
    page.locator("html[data-marked-at]").wait_for()
    page.wait_for_timeout(800)  # ms, more than a section waits
    assert stored(page, "progress") is None
    page.locator(".page-toc a[href='#exercises']").click()
    page.mouse.wheel(0, 1)
    page.wait_for_timeout(800)
    kept = json.loads(stored(page, "progress") or "{}")
    assert FIRST not in kept.get("08-positions", {"read": []})["read"]


@pytest.mark.browser
def test_the_first_page_leads_to_where_she_stopped(
    reading_page: ReadingPage, reading_home: str
) -> None:
    page = reading_page(home=reading_home)
    home = page.url.replace("chapters/08-positions", "index")
    chapter = page.url
    page.goto(home)
    expect(page.locator(".go-on")).to_be_hidden()
    page.goto(chapter)
    read_first_section(page)
    expect(page.locator(".reading-line")).to_contain_text("read")
    page.goto(home)
    page.get_by_role("link", name="8 Positions, section 8.").click()
    assert "/chapters/08-positions.html#" in page.url


@pytest.mark.browser
@pytest.mark.parametrize("script", [NOTHING_KEPT, FULL])
def test_without_storage_a_sentence_helps(reading_page: ReadingPage, script: str) -> None:
    page = reading_page(script)
    read_first_section(page)
    expect(page.locator(".reading-line")).to_contain_text("storage is full or blocked")
    open_kept(page)
    expect(page.locator(".kept .told")).to_contain_text("allow this site to store data")
    assert cells(page)[1:] == ["0 of 3", "none", "0 of 2"]
    said = give(page, json.dumps(ARCHIVE))
    assert "found no room. What this browser keeps has not changed." in said


@pytest.mark.browser
@pytest.mark.parametrize("text", ["nonsense", "[]", "7", json.dumps(MIXED)])
def test_nonsense_in_the_storage_is_as_nothing(reading_page: ReadingPage, text: str) -> None:
    page = reading_page(NONSENSE % json.dumps(text))
    mixed = text.startswith("{")
    expect(page.locator(".counted")).to_have_text("1 of 3 sections read" if mixed else "3 sections")
    open_kept(page)
    assert cells(page)[1:] == [f"{int(mixed)} of 3", "none", "0 of 2"]
    page.goto(page.url.replace("chapters/appendix/kept", "index"))
    expect(page.locator(".go-on")).to_be_hidden()


@pytest.mark.browser
def test_it_is_taken_out_deleted_and_put_back(
    reading_page: ReadingPage, reading_home: str, tmp_path: Path
) -> None:
    page = reading_page(home=reading_home)
    page.locator(".guess summary", has_text="three.").click()
    page.locator(".guess summary", has_text="the same").click()
    page.get_by_role("textbox").fill("12")
    page.get_by_role("textbox").press("Enter")
    read_first_section(page)
    expect(page.locator(".reading-line")).to_contain_text("1 of 3 sections read")
    open_kept(page)
    full = ["8 Positions", "1 of 3", "1 of 2", "1 of 2"]
    assert cells(page) == full
    with page.expect_download() as download:
        page.get_by_role("button", name="Save as a file").click()
    assert download.value.suggested_filename == "runnable-primer-kept.json"
    download.value.save_as(tmp_path / "kept.json")
    assert cells(page) == full

    remove = page.get_by_role("button", name="Delete all of it")
    remove.press("Enter")  # asks
    page.keyboard.press("Shift+Tab")  # and takes another answer for no
    expect(page.locator(".kept .told")).to_have_text("Nothing was deleted.")
    assert cells(page) == full
    remove.press("Enter")
    page.get_by_role("button", name="Press again to delete").press("Enter")
    assert cells(page)[1:] == ["0 of 3", "none", "0 of 2"]
    assert [stored(page, name) for name in ("progress", "guesses", "answers", "probe")] == [
        None
    ] * 4

    assert "added to what was here" in give(page, (tmp_path / "kept.json").read_text())
    assert cells(page) == full
    assert "added" in give(page, json.dumps(ARCHIVE))  # which knows another section
    assert cells(page)[1] == "2 of 3"
    assert '"8.2"' not in (stored(page, "answers") or "")  # a number is no answer that was typed


NO_ARCHIVES = {
    '{"book": "runnable-primer", "progr': "cannot be read: it is damaged",
    "": "cannot be read: it is damaged",
    "[1, 2, 3]": "is not a file that this page has saved",
    json.dumps(ARCHIVE | {"book": "another"}): "is not a file that this page has saved",
    json.dumps(ARCHIVE | {"guesses": 3}): "is not a file that this page has saved",
    '"' + "x" * 1_000_001 + '"': "is larger than anything that this page saves",
}


@pytest.mark.browser
def test_a_file_of_nonsense_is_refused(reading_page: ReadingPage) -> None:
    page = open_kept(reading_page())
    give(page, json.dumps(ARCHIVE))
    before = cells(page)
    for text, sentence in NO_ARCHIVES.items():
        said = give(page, text)
        assert f"“kept.json” {sentence}" in said
        assert "What this browser keeps has not changed." in said
        assert cells(page) == before


@pytest.mark.browser
def test_where_the_storage_fills_up_half_way_nothing_is_lost(reading_page: ReadingPage) -> None:
    page = open_kept(reading_page())
    give(page, json.dumps(ARCHIVE))
    before = [stored(page, name) for name in ("progress", "guesses", "answers")]
    page.evaluate("""() => {
      const set = Storage.prototype.setItem;
      Storage.prototype.setItem = function (key, text) {
        if (text.includes("no room")) throw new DOMException("full", "QuotaExceededError");
        set.call(this, key, text);
      };
    }""")
    more = ARCHIVE | {"guesses": {"guess-00000000": 1}, "answers": {"9.1": "no room"}}
    assert "found no room" in give(page, json.dumps(more))
    assert [stored(page, name) for name in ("progress", "guesses", "answers")] == before


@pytest.mark.browser
def test_every_button_is_reached_by_tab(reading_page: ReadingPage) -> None:
    page = open_kept(reading_page())
    for button in page.locator(".kept button").all():
        tab_to(page, button)
        assert (button.bounding_box() or {})["height"] >= 24


@pytest.mark.browser
def test_nobody_is_kept_out(reading_page: ReadingPage, reading_home: str) -> None:
    page = reading_page(home=reading_home, bypass_csp=True)
    read_first_section(page)
    expect(page.locator(".reading-line")).to_contain_text("read")
    page.reload()
    assert violations_on(page) == []
    open_kept(page)
    page.get_by_role("button", name="Delete").click()
    assert violations_on(page) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.browser
def test_without_scripts_a_sentence_says_so(reading_page: ReadingPage) -> None:
    page = open_kept(reading_page(java_script_enabled=False))
    expect(page.get_by_text("Scripts are switched off")).to_be_visible()


def test_every_chapter_says_how_long_reading_takes() -> None:
    for chapter in read_book(BOOK).written:
        notebook = nbformat.read(BOOK / f"{chapter.page}.ipynb", as_version=4)
        text = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
        assert re.fullmatch(r"about (\d+|two|an?) [a-z ]+", reading_time(text)), chapter.name
