"""The pages of the appendix are made from data: what they say follows the notebooks."""

import doctest
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import nbformat
import pytest
from playwright.sync_api import Browser, Page, expect
from selectolax.lexbor import LexborHTMLParser
from sphinx.application import Sphinx
from sphinx.util.docutils import docutils_namespace
from tiny_book import write_registry
from written import BOOK

from press.audit.coverage import read_entries, read_rows
from press.execution.normalize import normalize
from press.registry import read_book

APPENDIX = BOOK / "chapters/appendix"
WITH_ROWS = {entry.chapter for entry in read_entries(BOOK)}
ROWS = len(read_rows(BOOK))
TEXT = "# Fourier\n\n(fourier-dft)=\n## The transform of samples"
PAGES = {
    "index.md": "# Book\n\n```{toctree}\nmap\nerrata\ntopics\nchapters/16-fourier\n```\n",
    "map.md": "# Map\n\n```{source-map}\n```\n",
    "errata.md": "# Errata\n\n```{errata}\n```\n",
    "topics.md": "# Topics\n\n```{topics}\n```\n",
}
TOPICS = """area,topic,status,where,how
Signals,Transforms,taught,fourier-dft,by hand
Signals,"Wavelets, and more",left out,,no chapter builds on them
Text,Counting,taught,language-models-counts,counted
Text,Guessing,left out,,nobody asked
"""


def write_notebook(book: Path, *rows: str) -> None:
    """Write a chapter that proves rows and prints that it does."""
    cells = [nbformat.v4.new_markdown_cell(TEXT)]
    for row in rows:
        printed = nbformat.v4.new_output("stream", text="✓ one: 1 = 1 (tolerance 0)\n")
        call = 'verify("one", 1, 1, atol=0)'
        metadata = {"tags": ["check"], "proves": {row: ["one"]}}
        cells.append(nbformat.v4.new_code_cell(call, id=row, outputs=[printed], metadata=metadata))
    notebook = nbformat.v4.new_notebook(cells=cells)
    nbformat.write(normalize(notebook), book / "chapters/16-fourier.ipynb")


def write_lists(book: Path) -> None:
    """Write the pages of both lists, and one chapter that proves a row and an erratum."""
    (book / "chapters/appendix").mkdir(parents=True)
    for name in ("coverage.csv", "errata.yml"):
        shutil.copy(APPENDIX / name, book / "chapters/appendix")
    (book / "chapters/appendix/topics.csv").write_text(TOPICS)
    write_registry(book, ["16-fourier"])
    for name, text in PAGES.items():
        (book / name).write_text(text)
    write_notebook(book, "FOU-03", "ERR-22")


def build(book: Path) -> None:
    """Build the book as `make book` does: a warning is an error."""
    options = {
        "extensions": [
            "myst_nb",
            "press.publish.static",
            "press.pages.folds",
            "press.pages.appendix",
        ],
        "myst_enable_extensions": ["dollarmath", "colon_fence"],
        "nb_execution_mode": "off",
        # a suffix of our own: else myst_nb would write its into the default of all later builds
        "source_suffix": {".md": "myst-nb", ".ipynb": "myst-nb"},
        "exclude_patterns": ["chapters/appendix", "_build", "jupyter_execute"],
    }
    with docutils_namespace():
        out = book / "_build"
        app = Sphinx(
            book, None, out, out / "doctrees", "html", options, status=None, warningiserror=True
        )
        app.build()
        assert app.statuscode == 0


def line_of(page: str, row: str) -> str:
    """Return the list item of a row."""
    return re.search(rf'<li id="{row}">.*?</li>', page, re.DOTALL)[0]


class Lists(NamedTuple):
    """A book with the source map and the errata, and the folders of its site.

    The notebook of ``before`` proves FOU-03 and ERR-22; then it changes, and nothing else does, and
    that of ``after`` proves FOU-04 and ERR-24.
    """

    book: Path
    before: Path
    after: Path


@pytest.fixture(scope="module")
def lists(tmp_path_factory: pytest.TempPathFactory) -> Lists:
    """Build the book twice in one place; what was built first is kept elsewhere."""
    book = tmp_path_factory.mktemp("lists")
    write_lists(book)
    build(book)
    before = shutil.copytree(book / "_build", tmp_path_factory.mktemp("before") / "site")
    write_notebook(book, "FOU-04", "ERR-24")
    build(book)
    return Lists(book, before, book / "_build")


def test_the_map_links_what_is_proved_and_follows_the_notebook(lists: Lists) -> None:
    page = (lists.before / "map.html").read_text()
    chapters = re.findall(r'<details class="fold fold-rows"><summary>(.*?)</summary>', page)
    assert len(chapters) == len(WITH_ROWS)
    assert f"1 of {ROWS} rows are proved." in page
    assert "1 of 17 rows are proved" in chapters
    assert "46 rows, to come" in chapters
    assert 'href="chapters/16-fourier.html#check-16-fourier-fou-03"' in line_of(page, "fou-03")
    assert "The transform of samples" in line_of(page, "fou-03")
    assert "to come" in line_of(page, "fou-04")
    assert 'href="errata.html#erratum-24"' in line_of(page, "fou-07")
    assert len(set(re.findall(r'<li id="([a-z]+-\d+)">', page))) == ROWS

    page = (lists.after / "map.html").read_text()
    assert "to come" in line_of(page, "fou-03")
    assert 'href="chapters/16-fourier.html#check-16-fourier-fou-04"' in line_of(page, "fou-04")


def test_the_errata_link_to_the_box_that_proves_them(lists: Lists) -> None:
    page = (lists.before / "errata.html").read_text()
    entries = dict(re.findall(r'<dt id="(erratum-\d+)">(.*?)</dd>', page, re.DOTALL))
    assert len(entries) == 107
    assert 'href="chapters/16-fourier.html#check-16-fourier-err-22"' in entries["erratum-22"]
    assert "to come with chapter 16 Fourier analysis" in entries["erratum-23"]
    assert "1 of 107 are proved" in page
    assert "3 errata, 1 of them in the text of the chapter" in page

    order = re.findall(r'<dt id="erratum-(\d+)">', (lists.after / "errata.html").read_text())
    # what the text of a chapter takes up stands first
    assert order[-3:] == ["24", "22", "23"]


def test_the_topics_link_the_sections_that_are_pages(lists: Lists) -> None:
    page = (lists.before / "topics.html").read_text()
    assert "Of 4 topics 1 is taught, 2 are left out, 1 is to come." in page
    assert "<summary>2 topics, 1 of them taught</summary>" in page
    rows = [LexborHTMLParser(row) for row in re.findall(r"<li>.*?topic-name.*?</li>", page, re.S)]
    links = [[a.attributes["href"] for a in row.css(".topic-where a")] for row in rows]
    assert links == [["chapters/16-fourier.html#fourier-dft"], [], [], []]
    states = [row.css_first(".map-proved, .map-to-come").text() for row in rows]
    assert states == ["taught", "left out", "to come", "left out"]


def test_the_page_of_errata_of_a_chapter_proves_what_its_text_does_not(tmp_path: Path) -> None:
    book = tmp_path
    write_lists(book)
    (book / "chapters/errata").mkdir()
    path = book / "chapters/16-fourier.ipynb"
    text = path.read_text().replace("fourier-dft", "errata-of-16")
    (book / "chapters/errata/16-fourier.ipynb").write_text(text)
    write_notebook(book, "FOU-03")
    with (book / "index.md").open("a") as index:
        index.write("\n```{toctree}\nchapters/errata/16-fourier\n```\n")
    build(book)
    page = (book / "_build/errata.html").read_text()
    entry = re.search(r'<dt id="erratum-22">(.*?)</dd>', page, re.DOTALL)[0]
    assert "in the text of the chapter" not in page
    assert 'href="chapters/errata/16-fourier.html#check-errata-16-fourier-err-22"' in entry
    assert "on the errata page of chapter" in entry


def test_the_computations_on_the_page_of_conventions_hold() -> None:
    text = (APPENDIX / "conventions.md").read_text().replace("```\n", "\n")
    test = doctest.DocTestParser().get_doctest(text, {}, "conventions", "conventions.md", 0)
    assert len(test.examples) > 20
    assert doctest.DocTestRunner().run(test).failed == 0


def test_each_package_of_a_written_chapter_is_described_in_the_library() -> None:
    registry = read_book(BOOK)
    for package in registry.library:
        text = (APPENDIX / "library" / f"{package}.md").read_text()
        assert f".. automodule:: primer.{package}" in text
    for chapter in registry.written:
        text = (APPENDIX / "library" / f"{chapter.library[0]}.md").read_text()
        assert f"{{doc}}`/chapters/{chapter.name}`" in text


def test_the_glossary_is_in_alphabetical_order() -> None:
    terms = re.findall(r"^(\S.*)\n  \S", (APPENDIX / "glossary.md").read_text(), re.MULTILINE)
    assert len(terms) > 60
    assert terms == sorted(terms, key=str.casefold)


@pytest.fixture
def look(chromium: Browser, lists: Lists) -> Iterator[Callable[[str], Page]]:
    """Open one of both pages from disk: ``look("map.html#fou-04")``."""
    context = chromium.new_context(viewport={"width": 1400, "height": 900})
    page = context.new_page()
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))

    def opened(address: str) -> Page:
        page.goto(f"{lists.before.as_uri()}/{address}")
        return page

    yield opened
    context.close()
    assert errors == []


def visible(page: Page, rows: str) -> int:
    """Count the rows that are to be seen."""
    return page.locator(rows).filter(visible=True).count()


def told(page: Page) -> str:
    return page.locator(".row-filter [role=status]").inner_text()


@pytest.mark.browser
def test_typing_narrows_the_rows_and_says_how_many_are_left(look: Callable[[str], Page]) -> None:
    page = look("map.html")
    assert visible(page, ".source-map > li") == 0
    page.get_by_label("Show only rows with").fill("windöws hann")  # no accents, no order
    expect(page.locator(".map-id").filter(visible=True)).to_have_text(["FOU-11"])
    assert told(page) == f"1 of {ROWS} rows left, in 1 chapter."
    page.keyboard.press("Control+a")
    page.keyboard.type("fourier s0")  # the chapter's name stands in for each of its rows
    assert visible(page, "#map-16-fourier .source-map > li") > 10
    assert re.fullmatch(rf"\d+ of {ROWS} rows left, in \d+ chapters?\.", told(page))
    page.get_by_label("Show only rows with").fill("xyzzy")
    assert visible(page, ".source-map > li") == 0
    assert visible(page, "section > h2") == 0
    assert told(page).startswith("No row has all of these words.")
    page.get_by_label("Show only rows with").fill("")
    assert told(page) == ""
    assert visible(page, "section > h2") == len(WITH_ROWS)
    assert visible(page, ".source-map > li") == 0  # closed again, as they were


@pytest.mark.browser
def test_topics_are_narrowed_to_words_and_to_a_kind(look: Callable[[str], Page]) -> None:
    page = look("topics.html")
    page.get_by_label("Show only topics with").fill("left out")
    assert told(page) == "2 of 4 topics left, in 2 areas."
    page.get_by_label("Show only topics with").fill("wavelets signals")
    expect(page.locator(".topic-name").filter(visible=True)).to_have_text(["Wavelets, and more"])
    assert told(page) == "1 of 4 topics left, in 1 area."


@pytest.mark.browser
def test_errata_are_filtered_with_what_belongs_to_them(look: Callable[[str], Page]) -> None:
    page = look("errata.html")
    page.get_by_label("Show only errata with").fill("err-24")
    expect(page.locator(".errata > dt").filter(visible=True).first).to_contain_text("ERR-24")
    assert visible(page, ".errata > dd") == visible(page, ".errata > dt")


@pytest.mark.browser
def test_a_link_opens_the_chapter_of_its_row(look: Callable[[str], Page]) -> None:
    page = look("map.html#fou-07")
    assert page.locator("#fou-07").is_visible()
    assert visible(page, "#map-08-positions li") == 0
    page.locator("#fou-07 a[href*='erratum-24']").click()
    page.wait_for_url("**/errata.html#erratum-24")
    assert page.locator("#erratum-24 + dd").is_visible()
    # the filter hides what a link leads to: the link is stronger
    page.get_by_label("Show only errata with").fill("err-01")
    expect(page.locator("#erratum-24")).to_be_hidden()
    page.evaluate("location.hash = '#erratum-23'")
    page.locator("#erratum-23 + dd").wait_for(state="visible")
    assert page.get_by_label("Show only errata with").input_value() == ""
    page.evaluate("location.hash = '#errata-02-regression'")
    page.locator("#erratum-02 + dd").wait_for(state="visible")


@pytest.mark.browser
@pytest.mark.parametrize("tail", ["#%", "#%E0%A4%A", "?q=%#%ED%A0%80"])
def test_an_address_that_was_cut_leaves_the_filter(look: Callable[[str], Page], tail: str) -> None:
    page = look(f"map.html{tail}")
    page.get_by_label("Show only rows with").fill("windows hann")
    expect(page.locator(".map-id").filter(visible=True)).to_have_text(["FOU-11"])
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator("details.fold-rows:not([open])").count() == 0
    page.evaluate("location.hash = '#fou-07'")  # links go on to lead to rows
    expect(page.locator("#fou-07")).to_be_visible()


@pytest.mark.browser
def test_all_chapters_open_by_keyboard_and_on_paper(look: Callable[[str], Page]) -> None:
    page = look("map.html")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert visible(page, ".source-map > li") == ROWS
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert visible(page, ".source-map > li") == 0
    page.get_by_label("Show only rows with").focus()
    page.keyboard.press("Enter")  # submits nothing
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert visible(page, ".source-map > li") == ROWS
    page.get_by_role("button", name="Close all").press("Space")
    assert visible(page, ".source-map > li") == 0
    expect(page).to_have_url(re.compile(r"/map\.html$"))  # nothing was submitted
