"""On paper: what the print style shows, what a PDF holds, and where its links lead."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import nbformat
import pytest
from looks import PAGES
from nbformat.v4 import new_code_cell, new_markdown_cell
from playwright.sync_api import Browser, Page
from pypdf import PdfReader, PdfWriter
from pypdf.annotations import Link
from thorough import a_few
from tiny_book import CHAPTER, READING, READING_GLOSSARY, READING_NOTATION, build_book, chapter_of
from written import BOOK

from press.downloads import pdf
from press.downloads.bind_pdf import Part, finish, page_of
from press.registry import REGISTRY, read_book
from press.site import SITE

pytestmark = pytest.mark.browser

IN_ORDER = [
    "before-you-start",
    "08-positions",
    "one-token",
    "glossary",
    "notation",
    "conventions",
]
"""The files of the small book, as its contents list them."""
PIXEL = (
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNgYPj/"
    "HwADAgH/p9ZyXwAAAABJRU5ErkJggg=="
)
MORE = rf"""## More

:::{{dropdown}} A proof that is closed on the page
Because *closure* is a matter of screens.
:::

Before the formula stands alpha.

$$
\exp\Big(-\frac{{(x-\mu)^2}}{{2\sigma^2}}\Big)
$$

Behind the formula stands omega.

<div class="widget-view"><button>Move me</button></div>
<noscript><img alt="A picture of the widget" src="{PIXEL}" class="figure"></noscript>

```python
{" + ".join(f"summand_{number}" for number in range(40))}
```

::::{{grid}} 1 1 2 2
:gutter: 3
:class-container: promises

:::{{grid-item-card}} One
A card.
:::
:::{{grid-item-card}} Two
Another card, whose text has more than one line, as those of the first page do.
:::
::::

```{{exercise}} Whether
:label: ex-positions-whether
Is it so?
```
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build a book of one chapter that holds what looks different on paper."""
    solution = new_code_cell("secret = 42", id="solution", metadata={"tags": ["solution"]})
    behind = (
        "## Behind\n\nThe last section.\n\n```{bibliography}\n:filter: docname in docnames\n```"
    )
    cells = [
        new_markdown_cell(READING, id="text"),
        new_markdown_cell(MORE, id="more"),
        solution,
        new_markdown_cell(behind, id="behind"),
    ]
    pages = {
        "chapters/before-you-start": "# Before you start\n\nEnough?\n\n## Vectors\n\nTwo.\n",
        "chapters/appendix/one-token": "# One token, one chapter\n\n## The keyboard\n\nA line.\n",
        "chapters/appendix/glossary": READING_GLOSSARY,
        "chapters/appendix/notation": READING_NOTATION,
        "chapters/appendix/conventions": "# Conventions\n\nWords.\n",
    }
    folder = tmp_path_factory.mktemp("paper")
    built = build_book(folder, chapter_of(cells), pages)
    registry = (folder / REGISTRY).read_text("utf-8")
    assert "opening = []" in registry
    opening = registry.replace("opening = []", 'opening = ["before-you-start"]')
    (folder / REGISTRY).write_text(opening, encoding="utf-8")
    return built


def run(folder: Path, *names: str) -> subprocess.CompletedProcess[str]:
    """Print the book in a folder; Playwright runs but once in a process, and here it is ours."""
    program = "import sys; from press.downloads.pdf import main; sys.exit(main())"
    command = [sys.executable, "-c", program, *names]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True)


@pytest.fixture(scope="module")
def printed(chromium: Browser, site: Path) -> Path:
    """Print that book; the fixture `chromium` skips where there is none."""
    done = run(site.parents[1])
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    lines = done.stdout.splitlines()
    for number, (name, line) in enumerate(zip(IN_ORDER, lines, strict=False), 1):
        assert line.startswith(f"{number} of {len(IN_ORDER)}, ")
        assert f"_build/pdf/{name}.pdf, " in line
    (whole,) = lines[len(IN_ORDER) :]
    assert "_build/pdf/runnable-primer.pdf, " in whole
    return site.parents[1] / "_build/pdf"


def text_of(file: Path) -> str:
    """Return the words of a PDF, in the order in which they stand in it."""
    return joined(page.extract_text() for page in PdfReader(file).pages)


def joined(pages: Iterable[str]) -> str:
    """Join the words of pages."""
    return " ".join(" ".join(pages).split())


def bookmarks(file: Path) -> list[str]:
    """Return the titles of all bookmarks, in their order."""

    def titles(entries: list[object]) -> Iterator[str]:
        for entry in entries:
            if isinstance(entry, list):
                yield from titles(entry)
            else:
                yield entry.title  # type: ignore[attr-defined]

    return list(titles(PdfReader(file).outline))


def links(file: Path) -> list[object]:
    """Return all links of a PDF."""
    found = []
    for page in PdfReader(file).pages:
        found += [entry.get_object() for entry in page.get("/Annots", [])]
    return [entry for entry in found if entry["/Subtype"] == "/Link"]


def address(link: object) -> str:
    """Return where a link leads on the web, if it does."""
    return str(link.get("/A", {}).get("/URI", ""))  # type: ignore[attr-defined]


@pytest.mark.thorough
def test_a_chapter_has_its_sections_as_bookmarks(printed: Path) -> None:
    assert bookmarks(printed / "08-positions.pdf") == [
        "8 Positions",
        "8.1 Without positions, order is lost",
        "8.2 Exercises",
        "8.3 More",
        "8.4 Behind",
        "Solutions",
    ]
    root = PdfReader(printed / "08-positions.pdf").root_object
    assert root["/MarkInfo"]["/Marked"]
    assert root["/Lang"] == "en"


@pytest.mark.thorough
def test_the_words_stand_in_their_order_and_nothing_is_hidden(printed: Path) -> None:
    text = text_of(printed / "08-positions.pdf")
    assert "8 Positions The softmax does not know places" in text
    order = [
        "Without positions, order is lost",
        "Guess first",
        "Where does the number of a row enter?",  # a reply behind a choice
        "A proof that is closed on the page",
        "closure is a matter of screens",
        "Before the formula stands alpha.",
        "exp",
        "Behind the formula stands omega.",
        "A widget: on its page it moves.",
        "summand_0 + summand_1",
        "summand_39",
        "Whether",
        "The last section.",
        "Solutions",
        "secret = 42",
    ]
    places = [text.find(words) for words in order]
    assert -1 not in places, order[places.index(-1)]
    places = []
    for words in order:  # each after the one before
        places.append(text.index(words, places[-1] if places else 0))
    assert text.count("secret = 42") == 1
    for furniture in (
        "Move me",
        "Back to top",
        "Search",
        "Previous",
        "Show the code",
        "Start over",
    ):
        assert furniture not in text
    assert text.startswith("8-1A Runnable Primer · 8 Positions ")


@pytest.mark.thorough
def test_a_widget_is_its_picture(printed: Path) -> None:
    images = [
        image for page in PdfReader(printed / "08-positions.pdf").pages for image in page.images
    ]
    assert len(images) == 1


@pytest.mark.thorough
def test_the_links_of_a_chapter_lead_nowhere_on_this_machine(printed: Path) -> None:
    found = links(printed / "08-positions.pdf")
    assert any(address(link) == "https://doi.org/10.1016/j.neucom.2023.127063" for link in found)
    assert any("/Dest" in link for link in found)  # type: ignore[operator]
    assert [address(link) for link in found if address(link).startswith("file:")] == []


@pytest.mark.thorough
def test_in_the_whole_they_lead_from_chapter_to_chapter(printed: Path) -> None:
    whole = PdfReader(printed / "runnable-primer.pdf")
    counts = {name: len(PdfReader(printed / f"{name}.pdf").pages) for name in IN_ORDER}
    front = len(whole.pages) - sum(counts.values())
    assert front == 2
    numbers = [
        f"{letter}-{1 + page}"
        for letter, count in zip("B8OGNC", counts.values(), strict=True)
        for page in range(count)
    ]
    assert whole.page_labels == ["i", "ii", *numbers]
    marked = [mark for name in IN_ORDER for mark in bookmarks(printed / f"{name}.pdf")]
    assert bookmarks(printed / "runnable-primer.pdf") == marked
    # in this book's contents these pages stand in the part of the chapter, and are numbered
    words = [mark.lstrip("0123456789. ") for mark in marked]
    assert words[:3] == ["Before you start", "Vectors", "Positions"]
    assert {"One token, one chapter", "The keyboard"} < set(words)
    listed = " ".join(whole.pages[1].extract_text().split())
    titles = ["Before you start", "8 Positions", "One token", "Glossary", "Notation", "Conventions"]
    places = [listed.find(title) for title in ["Contents", *titles]]
    assert -1 not in places
    assert places == sorted(places)
    assert [
        address(link) for link in links(printed / "runnable-primer.pdf") if "file:" in address(link)
    ] == []
    starts, start = {}, front
    for name, count in counts.items():
        starts[name] = range(start, start := start + count)
    number_of = {page.indirect_reference.idnum: i for i, page in enumerate(whole.pages)}  # type: ignore[union-attr]
    led = set()
    chapter = starts["08-positions"]
    for page in whole.pages[chapter.start : chapter.stop]:
        for entry in page.get("/Annots", []):
            if "/Dest" in (link := entry.get_object()):
                led.add(number_of[link["/Dest"][0].idnum])
    assert led & set(starts["glossary"]), "no link of the chapter leads to the glossary"
    assert whole.metadata is not None
    assert whole.metadata.title == "A Runnable Primer"


@pytest.mark.thorough
def test_where_the_book_is_on_the_web_links_lead_there(printed: Path, tmp_path: Path) -> None:
    writer = PdfWriter(clone_from=printed / "notation.pdf")
    site = tmp_path / "_build/html"
    here = site.resolve().as_uri()
    writer.add_annotation(0, Link(rect=(50, 50, 90, 60), url=f"{here}/chapters/a.html#b"))
    writer.write(tmp_path / "raw.pdf")
    for home, expected in (
        ("", []),
        ("https://x.org/book/", ["https://x.org/book/chapters/a.html#b"]),
    ):
        part = Part(
            tmp_path / "raw.pdf", "notation", "", "", f"{home}notation.html" if home else ""
        )
        finish(part, site, tmp_path / "done.pdf")
        led = [address(link) for link in links(tmp_path / "done.pdf")]
        assert [to for to in led if to.endswith("a.html#b")] == expected
    assert page_of(f"{here}/chapters/a%20b.html", site) == ("chapters/a b", "")


# ---------------------------------------------------------------- the page, as it is printed


@pytest.fixture
def on_paper(chromium: Browser, site: Path) -> Iterator[Page]:
    """Open the chapter as wide as the text of a page of A4."""
    context = chromium.new_context(viewport={"width": 650, "height": 900}, reduced_motion="reduce")
    page = context.new_page()
    page.goto((site / f"{CHAPTER}.html").as_uri())
    page.wait_for_selector("html[data-marked-at]")  # what scrolls at a desk has its mark by then
    page.emulate_media(media="print")
    yield page
    context.close()


WIDER = """() => {
  const article = document.querySelector(".bd-article") ?? document.body;
  const right = article.getBoundingClientRect().right;
  const edged = (node) => node.matches(".sd-row, .sd-col"); // by what is empty, and is cut
  return [...document.querySelectorAll(".bd-article *")]
    .filter((node) => !node.closest(".katex-mathml, svg") && !edged(node))
    .filter((node) => node.getBoundingClientRect().right > right + 1 || (
      node.matches("pre, .formula") && node.scrollWidth > node.clientWidth + 1))
    .map((node) => `${node.tagName} ${node.className} ${node.textContent.slice(0, 40)}`);
}"""


def assert_fits_the_paper(page: Page) -> None:
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.evaluate(WIDER) == []
    assert page.evaluate("document.documentElement.scrollWidth") == 650


def test_nothing_is_wider_than_the_paper(on_paper: Page) -> None:
    assert on_paper.locator(".sd-card").count() > 2  # such as the first page of the book has
    assert_fits_the_paper(on_paper)


@pytest.mark.parametrize("name", a_few(PAGES, {"index.html"}))
def test_no_page_of_the_book_is_wider_than_the_paper(chromium: Browser, name: str) -> None:
    if not (SITE / name).exists():
        pytest.fail("the site is not built: run `make book`, then these tests")
    context = chromium.new_context(viewport={"width": 650, "height": 900}, reduced_motion="reduce")
    page = context.new_page()
    page.goto((SITE / name).as_uri())
    page.wait_for_selector("html[data-marked-at]")
    page.emulate_media(media="print")
    assert_fits_the_paper(page)
    context.close()


def test_after_printing_the_page_is_as_before(on_paper: Page) -> None:
    # without the marks of what scrolls, which is measured again whenever a font has come
    body = """document.querySelector('.bd-article').innerHTML.replaceAll(' tabindex="0"', "")"""
    before = on_paper.evaluate(body)
    on_paper.evaluate("dispatchEvent(new Event('beforeprint'))")
    on_paper.evaluate("dispatchEvent(new Event('beforeprint'))")  # some browsers say it twice
    assert on_paper.locator(".print-picture img").count() == 1
    assert on_paper.locator(".solutions-on-paper .fold-solution").count() == 1
    title = on_paper.locator(".solutions-on-paper summary").inner_text()
    assert title.startswith("Exercise 8.")
    assert title.endswith("(Whether)")
    on_paper.evaluate("dispatchEvent(new Event('afterprint'))")
    assert on_paper.evaluate(body) == before


def test_a_dark_page_is_printed_in_the_colors_of_paper(on_paper: Page) -> None:
    ink = """getComputedStyle(document.querySelector(".bd-article p")).color"""
    on_paper.evaluate("document.documentElement.dataset.theme = 'light'")
    black = on_paper.evaluate(ink)
    on_paper.evaluate("document.documentElement.dataset.theme = 'dark'")
    white = on_paper.evaluate(ink)
    assert white != black
    on_paper.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert on_paper.evaluate(ink) == black
    on_paper.evaluate("dispatchEvent(new Event('afterprint'))")
    assert on_paper.evaluate(ink) == white


# ---------------------------------------------------------------- what is missing is said


def test_without_a_site_it_says_so(tmp_path: Path) -> None:
    with pytest.raises(
        ValueError, match=r"before-you-start\.html is not there yet: run `make book`"
    ):
        list(pdf.print_book(tmp_path, tmp_path, [], read_book(BOOK)))


def test_without_a_browser_it_says_so(
    site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CHROMIUM", "/nowhere")
    done = run(site.parents[1])
    assert done.returncode == 1
    assert "none was found: `.venv/bin/python tests/tools/chromium.py` installs one" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_page_that_is_not_printed_is_named(tmp_path: Path) -> None:
    with pytest.raises(
        ValueError, match="'8' is not printed; one of before-you-start, 01-statistics, "
    ):
        list(pdf.print_book(tmp_path, tmp_path, ["8"], read_book(BOOK)))


# ---------------------------------------------------------------- the book itself


def test_the_book_is_printed_in_the_order_of_its_contents() -> None:
    contents = re.findall(r"- file: (\S+)", (BOOK / "_toc.yml").read_text("utf-8"))
    pages = [sheet.page for sheet in pdf.sheets_of(read_book(BOOK))]
    assert [page for page in contents if page in pages] == pages
    assert pages[0] == "chapters/before-you-start"
    assert "chapters/appendix/one-token" in pages
    prefixes = [sheet.prefix for sheet in pdf.sheets_of(read_book(BOOK))]
    assert len(set(prefixes)) == len(prefixes), "two pages of the whole would have one number"


@pytest.mark.thorough
def test_a_real_chapter(chromium: Browser) -> None:
    """Print chapter 8 from the built site: pages, sections, words around a formula, pictures."""
    if not (SITE / f"{CHAPTER}.html").exists():
        pytest.fail("the site is not built: run `make book`, then these tests")
    done = run(BOOK, "08-positions")
    assert done.returncode == 0, done.stderr
    file = BOOK / "_build/pdf/08-positions.pdf"
    foot = "A Runnable Primer · 8 Positions"  # which a PDF holds before the words above it
    extracted = [page.extract_text() for page in PdfReader(file).pages]
    pages = [page.partition(foot)[2].strip() for page in extracted]
    assert 25 <= len(pages) <= 55
    assert [page[:20] for page in pages if page.startswith("✓")] == [], "checks left their section"
    assert min(map(len, pages[:-1])) > 250, "a page is empty but for its foot or a picture"
    titles = [page[-60:] for page in pages if re.search(r"Exercise 8\.\d \([^)]*\)$", page)]
    assert titles == [], "the title of a solution or an exercise is left alone"
    headings = [
        line.removeprefix("#").strip("# ")
        for cell in nbformat.read(BOOK / f"{CHAPTER}.ipynb", as_version=4).cells
        if cell.cell_type == "markdown"
        for line in cell.source.splitlines()
        if line.startswith("## ")
    ]
    titles = [title.split(" ", 1)[1] for title in bookmarks(file) if title[:2] == "8."]
    assert [title for title in titles if title in headings] == headings
    text = joined(extracted)
    before, _, behind = text.partition("Recall what attention computes.")
    formula = behind[: behind.index("is the length of a key")]
    assert before
    assert "softmax" in formula
    widgets = read_book(BOOK)["08-positions"].widgets
    assert text.count("A widget: on its page it moves.") == len(widgets)
    assert "Solutions Exercise 8.1" in text
