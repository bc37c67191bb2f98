"""What the browser keeps of a reader: sections read, the place where she stopped, and its page."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import nbformat
import pytest
from axe import violations_on
from by_keyboard import tab_to
from nbformat.v4 import new_markdown_cell
from playwright.sync_api import Page, expect
from tiny_book import NOTHING_KEPT, READING, build, chapter_of, write_book, write_registry

from press.site import serve

ReadingPage = Callable[..., Page]
EARLIER = "chapters/07-attention"
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
    "progress": {"08-positions": {"read": ["exercises"], "stop": FIRST, "at": 1}},
    "guesses": {},
    "answers": {"8.1": "12", "8.2": 5},
}


@pytest.fixture(scope="module")
def two_chapters(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Serve a book of two chapters."""
    folder = tmp_path_factory.mktemp("two")
    text = READING.split("::::{admonition}")[0] + "## Exercises\n\n## Further reading\n\nNone.\n"
    text = re.sub(r"\{term\}`[^`]*`", "softmax", text).replace("](https://doi", "](http://doi")
    write_book(folder, chapter_of([new_markdown_cell(text, id="text")]), {EARLIER: "# Attention\n"})
    (folder / f"{EARLIER}.md").unlink()
    earlier = "# Attention\n\nReading takes an hour.\n\n## Exercises\n\nNone.\n"
    nbformat.write(chapter_of([new_markdown_cell(earlier, id="a")]), folder / f"{EARLIER}.ipynb")
    write_registry(folder, ["07-attention", "08-positions"])
    done = build(folder)
    assert done.returncode == 0, done.stdout + done.stderr
    with serve(folder / "_build/html") as address:
        yield address


@pytest.fixture
def two(reading_page: ReadingPage, two_chapters: str) -> Page:
    """Open the later chapter of that book."""
    return reading_page(home=two_chapters)


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
    expect(line).to_have_text(re.compile("^about two hours3 sections$"))
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
    page.wait_for_url(f"**#{FIRST}")


LOOKED = """() => new Promise((told) =>
  new IntersectionObserver(told).observe(document.querySelector("h1")))"""
"""Waits until the browser has told what is in sight, also the observers that were there before."""
THERE = "localStorage.setItem('runnable-primer:progress', JSON.stringify(%s))"


def where_to_go_on(page: Page, progress: dict[str, object]) -> tuple[str, str]:
    """Return the words and the place of the link on the first page, when this is kept."""
    page.goto(re.sub(r"/(chapters/[^#]*|index)\.html.*", "/index.html", page.url))
    page.evaluate(THERE % json.dumps(progress))
    page.reload()
    link = page.locator(".go-on a")
    link.wait_for()
    return link.inner_text(), re.sub(r".*/chapters/", "", link.evaluate("(a) => a.href"))


@pytest.mark.browser
def test_of_two_chapters_the_one_that_was_read_last_goes_on(two: Page) -> None:
    now = int(1000 * time.time())
    for earlier, later in ((1, 2), (now - 2, now - 1), (-5, now - 1), (10 * now, now - 1)):
        for first, second in (("07-attention", "08-positions"), ("08-positions", "07-attention")):
            kept = {
                first: {"stop": "exercises", "at": earlier},
                second: {"stop": "exercises", "at": later},
            }
            assert where_to_go_on(two, kept)[1] == f"{second}.html#exercises", kept
            last = dict(reversed(kept.items()))
            assert where_to_go_on(two, last)[1] == f"{second}.html#exercises", last


@pytest.mark.browser
@pytest.mark.parametrize("at", [1e300, 4e12, [5]])
def test_what_is_read_today_is_last_whatever_was_kept(two: Page, at: object) -> None:
    other = {"07-attention": {"read": [], "stop": "exercises", "at": at}}
    assert where_to_go_on(two, other)[1] == "07-attention.html#exercises"
    two.goto(two.url.replace("index", "chapters/08-positions"))
    read_first_section(two)
    expect(two.locator(".reading-line")).to_contain_text("of 3 sections read")
    two.goto(two.url.replace("chapters/08-positions", "index"))
    expect(two.locator(".go-on a")).to_have_attribute("href", re.compile("08-positions"))


@pytest.mark.browser
def test_a_title_is_what_the_book_says(two: Page) -> None:
    kept = {"08-positions": {"stop": FIRST, "title": "Send your answers to …", "at": 1}}
    assert where_to_go_on(two, kept) == (
        "8 Positions, section 8.1 Without positions, order is lost",
        f"08-positions.html#{FIRST}",
    )
    for stop in ("a\ud800", "a" * 199 + "🙂", "constructor", "__proto__", "gone-in-this-edition"):
        kept = {"08-positions": {"stop": stop, "title": "Anything", "at": 1}}
        assert where_to_go_on(two, kept) == ("8 Positions", "08-positions.html")


@pytest.mark.browser
def test_who_only_opens_or_skips_has_read_nothing(reading_page: ReadingPage) -> None:
    page = reading_page(viewport={"width": 1400, "height": 400})
    page.locator("html[data-marked-at]").wait_for()
    page.clock.install(time=1000)
    page.clock.pause_at(2000)
    page.evaluate(LOOKED)
    page.clock.run_for(60_000)  # ms, more than a section waits
    assert stored(page, "progress") is None
    page.locator(".page-toc a[href='#exercises']").click()
    page.wait_for_function("() => document.querySelectorAll('section > span:empty').length >= 3")
    page.evaluate(LOOKED)
    page.clock.run_for(60_000)
    kept = json.loads(stored(page, "progress") or "{}")["08-positions"]
    assert kept["stop"] == "exercises"
    assert FIRST not in kept["read"]


@pytest.mark.browser
def test_who_looks_how_to_run_a_chapter_keeps_her_place(
    reading_page: ReadingPage, reading_home: str
) -> None:
    page = reading_page(home=reading_home, viewport={"width": 1400, "height": 400})
    page.clock.install(time=1000)
    page.reload()
    read_first_section(page)
    expect(page.locator(".reading-line")).to_contain_text("read")
    page.clock.run_for(60_000)  # ms, more than a place must stay on the screen
    before = stored(page, "progress")
    page.locator(".at-hand a[href='#run-it']").click()
    expect(page.locator(".run-it[open]")).to_be_in_viewport()
    page.clock.run_for(60_000)
    assert stored(page, "progress") == before
    page.reload()
    page.locator("html[data-marked-at]").wait_for()
    expect(page.locator(".run-it")).to_be_in_viewport()
    page.mouse.wheel(0, 5)
    page.clock.run_for(60_000)
    assert stored(page, "progress") == before
    page.locator("#further-reading h2, #exercises h2").first.evaluate(
        "node => node.scrollIntoView({ block: 'center' })"
    )
    expect(page.locator(".run-it")).not_to_be_in_viewport()


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
    page.wait_for_url("**/chapters/08-positions.html#*")


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
    names = ("progress", "guesses", "answers", "firsts", "probe")
    assert [stored(page, name) for name in names] == [None] * 5

    assert "added to what was here" in give(page, (tmp_path / "kept.json").read_text())
    assert cells(page) == full
    assert stored(page, "firsts") == '{"8.1":1}'
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


HALF = "\ud800"
NAMES = ["__proto__", "constructor", "toString", "valueOf", HALF]
ABSURD = {
    "book": "runnable-primer",
    "progress": {
        "08-positions": {
            "read": [*NAMES, FIRST, FIRST, 1e300, "x" * 10_000],
            "stop": "a" * 199 + "🙂",
            "title": "<b>" + HALF,
            "at": 1e300,
        },
        **{name: {"read": [HALF], "stop": HALF, "at": -1e300} for name in NAMES},
    },
    "guesses": {"A": 1e300, "B": -3, "C": 2.5, **dict.fromkeys(NAMES, 10**20)},
    "answers": {"8.1": "1" * 10_000 + HALF, **dict.fromkeys(NAMES, HALF)},
}


@pytest.mark.browser
def test_absurd_numbers_and_texts_of_a_file_are_bounded(
    reading_page: ReadingPage, reading_home: str
) -> None:
    page = reading_page(home=reading_home)
    guesses = page.locator(".guess").evaluate_all("(all) => all.map(({ id }) => id)")
    absurd = {**ABSURD, "guesses": {**ABSURD["guesses"], guesses[0]: 1e300, guesses[1]: 3}}  # type: ignore[dict-item]
    open_kept(page)
    for _ in range(2):  # a second time, with names of its own in what is here
        assert "added to what was here" in give(page, json.dumps(absurd))
        assert cells(page)[1:] == ["1 of 3", "none", "1 of 2"]
    assert "added to what was here" in give(page, json.dumps(ARCHIVE))
    kept = {name: json.loads(stored(page, name) or "{}") for name in ("progress", "guesses")}
    assert 0 <= kept["progress"]["08-positions"]["at"] <= 1000 * time.time() + 60_000
    assert kept["progress"]["08-positions"]["stop"] in {"a" * 199, FIRST}
    assert "title" not in kept["progress"]["08-positions"]
    assert set(kept["guesses"].values()) <= {3}
    answers = json.loads(stored(page, "answers") or "{}")
    assert answers["8.1"] == "1" * 200
    everything = json.dumps([kept, answers], ensure_ascii=False)
    everything.encode()  # no half of a letter is left
    assert len(everything) < 2_000


@pytest.mark.browser
def test_a_file_does_not_change_what_was_guessed_and_answered_here(
    reading_page: ReadingPage, reading_home: str
) -> None:
    page = reading_page(home=reading_home)
    page.locator(".guess summary", has_text="three.").click()  # wrong
    expect(page.locator(".guess .standing", has_text="0 of 1")).to_be_visible()
    page.get_by_role("textbox").fill("12")
    page.get_by_role("textbox").press("Enter")
    expect(page.locator(".page-answer .reply", has_text="✓")).to_be_visible()
    order, sums = page.locator(".guess").evaluate_all("(all) => all.map(({ id }) => id)")
    open_kept(page)
    file = ARCHIVE | {"guesses": {order: 1, sums: 1}, "answers": {"8.1": "7", "8.2": "a"}}
    assert "added to what was here" in give(page, json.dumps(file))
    assert json.loads(stored(page, "guesses") or "") == {order: 1, sums: 0}
    assert json.loads(stored(page, "answers") or "") == {"8.1": "12", "8.2": "a"}
    assert cells(page)[2:] == ["1 of 2", "2 of 2"]


@pytest.mark.browser
def test_of_two_places_in_a_chapter_the_later_one_stays(
    reading_page: ReadingPage, reading_home: str
) -> None:
    page = open_kept(reading_page(home=reading_home))
    for at, stop in ((5, "exercises"), (9, FIRST), (7, "further-reading")):
        give(page, json.dumps(ARCHIVE | {"progress": {"08-positions": {"stop": stop, "at": at}}}))
        kept = json.loads(stored(page, "progress") or "")["08-positions"]
        assert (kept["at"], kept["stop"]) == ((5, "exercises") if at == 5 else (9, FIRST))


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
