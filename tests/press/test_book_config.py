"""The settings of the book, tried on a tiny one: addresses, figures, checks, numbers, widgets."""

from __future__ import annotations

import base64
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import nbformat
import pytest
from bs4 import BeautifulSoup, Tag
from nbformat.v4 import new_code_cell, new_markdown_cell, new_output
from playwright.sync_api import Browser
from tiny_book import BOOK, CHAPTER, build_book, chapter_of

from press.pages.numbering import front_matter
from press.registry import read_book
from press.site import serve
from primer.palette import DARK, LIGHT

REPOSITORY = "https://github.com/reader/runnable-primer"
SITE = "https://reader.github.io/runnable-primer/"

SVG = f'<svg xmlns="http://www.w3.org/2000/svg"><path fill="{LIGHT["blue"]}"/></svg>'
PIXEL = (  # one transparent pixel
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk"
    "YPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
)
NARROW = (  # two pixels, one below the other
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAACCAYAAACZgbYnAAAAEElEQVR4nGM4wcDwnwFEAA"
    "ARKwOP3SPokAAAAABJRU5ErkJggg=="
)
VIEW = "application/vnd.jupyter.widget-view+json"

TEXT = (
    front_matter(8)
    + r"""# A tiny chapter

## A section

:::{prf:theorem} Small
:label: thm-small
$$ a = b $$ (eq-small)
:::

See {eq}`eq-small`, {prf:ref}`thm-small`, RoFormer ([Su et al., 2024][paper]) and
[Shaw and colleagues](http://dx.doi.org/10.18653/V1/N18-2074), who knew nothing of
[this page](https://example.org/paper).

[paper]: https://doi.org/10.1016/j.neucom.2023.127063

```{bibliography}
:filter: docname in docnames
```
"""
)


def tiny_chapter() -> nbformat.NotebookNode:
    """Write a chapter whose outputs are stored: a figure, a check and a widget."""
    figure = new_output(
        "display_data",
        data={"image/svg+xml": SVG, "text/plain": "<Figure>"},
        metadata={"image/svg+xml": {"alt": "a blue square"}},
    )
    plain = new_output("stream", name="stdout", text="plain\n")
    check = new_output("stream", name="stdout", text="✓ one: 1 = 1\n~ 0.3 s\nplain\n")
    table = new_output("stream", name="stdout", text="✓ one: 1 = 1\n~ rate   time\n~ 0.1     2 s\n")
    widget = new_output(
        "display_data",
        data={VIEW: {"model_id": "m"}, "image/png": PIXEL, "text/plain": "Widget()"},
        metadata={"image/png": {"alt": "two arrows", "narrow": NARROW}},
    )
    cells = [
        new_code_cell(
            source,
            outputs=[output],
            execution_count=number,
            id=f"cell-{number}",
            metadata={"tags": tags},
        )
        for number, (source, output, tags) in enumerate(
            [
                ("show()", figure, ["figure"]),
                ("import primer; print('plain')", plain, []),
                ("Widget()", widget, ["figure"]),
                ("verify()", check, ["check"]),
                ("verify_that()", table, ["check"]),
                ("print('plain')", plain, ["figure"]),
            ],
            1,
        )
    ]
    solution = new_code_cell("answer = 1", execution_count=7, id="solution")
    solution.metadata["tags"] = ["solution"]
    chapter = chapter_of([new_markdown_cell(TEXT, id="text"), *cells, solution])
    chapter.metadata["widgets"] = {
        "application/vnd.jupyter.widget-state+json": {
            "version_major": 2,
            "version_minor": 0,
            "state": {"m": {"model_name": "AnyModel", "model_module": "anywidget", "state": {}}},
        }
    }
    return chapter


def build(folder: Path, *, repository: str, site: str) -> BeautifulSoup:
    """Build a book of one chapter with our settings, but for the addresses and the execution."""
    pages = build_book(folder, tiny_chapter(), repository=repository, site=site)
    return BeautifulSoup((pages / f"{CHAPTER}.html").read_text("utf-8"), "html.parser")


@pytest.fixture(scope="module")
def with_addresses(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, BeautifulSoup]:
    folder = tmp_path_factory.mktemp("with-addresses")
    return folder / "_build/html", build(folder, repository=REPOSITORY, site=SITE)


@pytest.fixture(scope="module")
def without_addresses(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, BeautifulSoup]:
    folder = tmp_path_factory.mktemp("without-addresses")
    return folder / "_build/html", build(folder, repository="", site="")


def links(page: BeautifulSoup) -> list[str]:
    return [str(a["href"]) for a in page.select(".bd-header-article a[href]")]


def test_links_to_works_are_citations(without_addresses: tuple[Path, BeautifulSoup]) -> None:
    page = without_addresses[1]
    cited = {str(link["href"]): link.text for link in page.select("article p a.internal")}
    listed = {f"#{entry['id']}": entry.text.strip() for entry in page.select("div.citation")}
    assert len(listed) == 2
    texts = {cited[target]: entry for target, entry in listed.items()}
    assert texts["Su et al., 2024"].startswith("Jianlin Su, ")
    assert texts["Shaw and colleagues"].startswith("Peter Shaw, ")
    outside = [str(link["href"]) for link in page.select("article a.external")]
    assert "https://example.org/paper" in outside  # no work: a link as any other
    assert "https://doi.org/10.1016/j.neucom.2023.127063" in outside  # from the entry


def test_buttons_come_with_the_repository(with_addresses: tuple[Path, BeautifulSoup]) -> None:
    found = links(with_addresses[1])
    path = "chapters/08-positions.ipynb"
    repository = REPOSITORY.removeprefix("https://github.com/")
    colab = f"https://colab.research.google.com/github/{repository}/blob/main/{path}"
    binder = f"https://mybinder.org/v2/gh/{repository}/main?urlpath=lab/tree/{path}"
    assert colab in found
    assert binder in found
    assert f"{REPOSITORY}/edit/main/{path}" in found
    assert any(link.startswith(f"{REPOSITORY}/issues/new") for link in found)
    assert REPOSITORY in found


def test_a_chapter_says_where_else_it_runs(with_addresses: tuple[Path, BeautifulSoup]) -> None:
    run_it = with_addresses[1].select_one("details.run-it")
    assert run_it is not None
    assert f"git clone {REPOSITORY}" in run_it.text
    assert f"%pip install git+{REPOSITORY}" in run_it.text
    buttons = links(with_addresses[1])
    launches = [str(a["href"]) for a in run_it.select("p a")]
    assert len(launches) == 2
    assert all(launch in buttons for launch in launches)  # the theme's own buttons say the same


def test_an_error_can_be_reported_where_it_is(with_addresses: tuple[Path, BeautifulSoup]) -> None:
    page = with_addresses[1]
    reports = page.select("article h2 > a.report")
    assert len(reports) == len(page.select("article h2"))
    address = urlsplit(str(reports[0]["href"]))
    asked = parse_qs(address.query)
    assert address.geturl().startswith(f"{REPOSITORY}/issues/new?")
    assert asked["title"] == ["Error in “8.1 A section”"]
    place = asked["body"][0].splitlines()[0]
    assert place == f"{SITE}chapters/08-positions.html#a-section"
    assert page.select_one("#a-section h2") is not None


def test_the_published_chapter_downloads_and_gets_lost_with_its_address(
    with_addresses: tuple[Path, BeautifulSoup],
) -> None:
    site = with_addresses[0]
    copy = (site / f"_sources/{CHAPTER}.ipynb").read_text("utf-8")
    assert f"{SITE}_static/runnable-primer.zip" in copy
    lost = (site / "404.html").read_text("utf-8")
    assert '<noscript><base href="/runnable-primer/"></noscript>' in lost
    known = (site / "sitemap.xml").read_text()
    assert "404.html" not in known
    assert "search.html" not in known


@pytest.mark.browser
def test_every_button_above_a_chapter_shows_its_focus(
    chromium: Browser, without_addresses: tuple[Path, BeautifulSoup]
) -> None:
    page = chromium.new_context(viewport={"width": 1400, "height": 900}).new_page()
    page.goto((without_addresses[0] / f"{CHAPTER}.html").as_uri())
    page.keyboard.press("Tab")  # from now on the browser shows where the focus is
    seen = []
    for button in page.locator(".bd-header-article :is(button, a)").filter(visible=True).all():
        button.focus()
        style = button.evaluate("(button) => getComputedStyle(button).outlineStyle")
        seen.append((button.get_attribute("aria-label") or button.inner_text(), style))
    assert {"Download this page", "Run this chapter"} <= {name for name, _ in seen}
    assert [name for name, style in seen if style == "none"] == []
    page.locator(".at-hand a", has_text="Run this chapter").press("Enter")
    page.locator("#run-it li").first.wait_for(state="visible")
    page.context.close()


@pytest.mark.browser
def test_a_figure_is_met_once_and_drawn_for_the_theme(
    chromium: Browser, without_addresses: tuple[Path, BeautifulSoup]
) -> None:
    site, text = without_addresses
    assert str(text.select_one("article")).count("a blue square") == 1
    picture = text.select_one("article picture")
    assert picture is not None
    light, dark = picture.select("img")[0]["src"], picture.select("source")[0]["srcset"]
    page = chromium.new_context(color_scheme="light").new_page()
    page.goto((site / f"{CHAPTER}.html").as_uri())
    page.get_by_role("img", name="a blue square").scroll_into_view_if_needed()  # there is but one

    def assert_drawn(file: object) -> None:
        name = str(file).rpartition("/")[2]
        page.wait_for_function(
            "(name) => document.querySelector('picture img').currentSrc.endsWith(name)", arg=name
        )

    assert_drawn(light)
    page.evaluate("document.documentElement.dataset.theme = 'dark'")
    assert_drawn(dark)
    page.emulate_media(media="print")
    assert_drawn(light)
    page.context.close()


@pytest.mark.browser
def test_the_published_site_asks_no_other_origin(
    chromium: Browser, with_addresses: tuple[Path, BeautifulSoup], tmp_path: Path
) -> None:
    (tmp_path / "runnable-primer").symlink_to(with_addresses[0])
    asked: list[str] = []
    with serve(tmp_path) as home:
        site = f"{home}/runnable-primer"
        page = chromium.new_context().new_page()
        page.on("request", lambda request: asked.append(request.url))
        for name in ("index.html", f"{CHAPTER}.html", "search.html?q=section", "404.html"):
            page.goto(f"{site}/{name}", wait_until="load")
            page.wait_for_function("() => document.documentElement.dataset.markedAt")
        page.goto(f"{site}/deep/er/page.html", wait_until="load")
        page.wait_for_function("() => document.documentElement.dataset.markedAt")
        page.get_by_role("link", name="To the first page").click()
        page.wait_for_url(f"{site}/index.html")
        page.context.close()
        plain = chromium.new_context(java_script_enabled=False).new_page()
        plain.goto(f"{site}/deep/er/page.html")
        plain.get_by_role("link", name="To the first page").click()
        plain.wait_for_url(f"{site}/index.html")
        plain.context.close()
    assert asked
    assert [url for url in asked if not url.startswith((f"{site}/", "data:", "blob:"))] == []


def test_open_graph_and_sitemap_come_with_the_site(
    with_addresses: tuple[Path, BeautifulSoup],
) -> None:
    site, page = with_addresses
    tags = {str(tag["property"]): tag["content"] for tag in page.select("meta[property]")}
    assert tags["og:title"] == "8 A tiny chapter"
    assert tags["og:url"] == f"{SITE}chapters/08-positions.html"
    assert (site / str(tags["og:image"]).removeprefix(SITE)).is_file()
    assert f"<loc>{SITE}chapters/08-positions.html</loc>" in (site / "sitemap.xml").read_text()


def test_nothing_points_outside_without_addresses(
    without_addresses: tuple[Path, BeautifulSoup],
) -> None:
    site, page = without_addresses
    assert not [link for link in links(page) if link.startswith("http")]
    assert not page.select("a.report, .run-it a[href^=http]")
    assert not page.select("meta[property^='og:']")
    assert not (site / "sitemap.xml").exists()


COPIED = """() => {
  const [theorem, sentence] = document.querySelectorAll("article :is(.proof, .proof ~ p)");
  const range = document.createRange();
  // from the middle of the formula to the end of the sentence behind it
  range.setStart(theorem.querySelector(".katex-html .mrel").firstChild, 0);
  range.setEndAfter(sentence);
  getSelection().addRange(range);
  const clipboardData = new DataTransfer();
  document.dispatchEvent(new ClipboardEvent("copy", { clipboardData }));
  return clipboardData.getData("text/plain");
}"""


@pytest.mark.browser
def test_a_formula_is_copied_as_it_was_written(
    chromium: Browser, without_addresses: tuple[Path, BeautifulSoup]
) -> None:
    page = chromium.new_context().new_page()
    page.goto((without_addresses[0] / f"{CHAPTER}.html").as_uri())
    page.wait_for_function("() => document.documentElement.dataset.markedAt")
    seen = "document.querySelector('article').innerHTML"
    before = page.evaluate(seen)
    words = page.evaluate(COPIED)
    assert words.replace(" ", "").replace("\n", "").count("a=b") == 1, words
    assert words.startswith("$$a = b$$")
    assert "See (8.1), Theorem 8.1, RoFormer" in " ".join(words.split())
    assert page.evaluate(seen) == before
    page.context.close()


def test_figures_are_a_pair_with_a_description(
    without_addresses: tuple[Path, BeautifulSoup],
) -> None:
    site, page = without_addresses
    of_figures = "picture:not(noscript > picture)"  # the widget's stands where no script runs
    dark, light = page.select(f"{of_figures} > source, {of_figures} > img.figure")
    assert light["alt"] == "a blue square"
    assert light["loading"] == "lazy"
    for file, color in ((light["src"], LIGHT["blue"]), (dark["srcset"], DARK["blue"])):
        drawing = (site / "chapters" / str(file)).resolve().read_text()
        assert drawing == SVG.replace(LIGHT["blue"], color)


def test_a_widget_has_its_picture_where_no_script_runs(
    without_addresses: tuple[Path, BeautifulSoup],
) -> None:
    page = without_addresses[1]
    view = page.find("script", type=VIEW)
    assert isinstance(view, Tag)
    hidden = view.find_next_sibling("noscript")
    assert isinstance(hidden, Tag)
    image = hidden.find("img")
    assert isinstance(image, Tag)
    assert image["alt"] == "two arrows"
    assert page.select("script[src*='widget-host.js']")


def test_a_widget_has_another_picture_in_a_narrow_window(
    without_addresses: tuple[Path, BeautifulSoup],
) -> None:
    site, page = without_addresses
    narrow, wide = page.select("noscript > picture > source, noscript > picture > img.figure")
    assert narrow["media"] == "screen and (max-width: 600px)"
    for file, pixels in ((wide["src"], PIXEL), (narrow["srcset"], NARROW)):
        drawing = (site / "chapters" / str(file)).resolve().read_bytes()
        assert drawing == base64.b64decode(pixels)


def test_checks_stand_out_in_one_fold(without_addresses: tuple[Path, BeautifulSoup]) -> None:
    (fold,) = without_addresses[1].select("details.fold-check")
    assert [tag.text for tag in fold.select("summary")] == ["✓ 2 checks"]
    held, measured, *_ = fold.select("pre.checks .check")
    assert held["class"] == ["check", "held"]
    assert measured["class"] == ["check", "measured"]
    lines, columns = fold.select("pre.checks")
    assert "columns" not in lines["class"]
    assert "columns" in columns["class"], "rows of a table break on a telephone"
    assert [cell["id"] for cell in fold.select(".cell")] == [
        "check-08-positions-cell-4",
        "check-08-positions-cell-5",
    ]


def test_a_figure_shows_its_picture_and_a_solution_nothing(
    without_addresses: tuple[Path, BeautifulSoup],
) -> None:
    page = without_addresses[1]
    figure, widget, printed = page.select("details.fold-figure")
    assert figure.text.split() == ["Code", "of", "this", "figure", "show()"]
    assert figure.find_parent(class_="cell").select_one("img.figure").find_parent("details") is None
    assert "Widget()" in widget.text
    assert printed.select_one("summary").text == "Code of this output"
    (solution,) = page.select("details.fold-solution")
    assert "answer = 1" in solution.text
    assert not solution.has_attr("open")


def test_numbers_follow_the_file_name(without_addresses: tuple[Path, BeautifulSoup]) -> None:
    page = without_addresses[1]
    words = page.select_one("article")
    assert words is not None
    assert [tag.text.strip() for tag in words.select(".section-number")] == ["8", "8.1"]
    assert "Theorem 8.1" in words.text
    assert "enumerator" not in words.text  # the front matter is for JupyterLab
    assert next(tag.text for tag in words.select(".eqno")).startswith("(8.1)")
    assert "(Su et al., 2024)" in words.text


def test_the_map_links_the_one_chapter(without_addresses: tuple[Path, BeautifulSoup]) -> None:
    index = BeautifulSoup((without_addresses[0] / "index.html").read_text("utf-8"), "html.parser")
    for drawing in index.select("svg.chapter-map"):
        assert [a["href"] for a in drawing.select("a")] == ["chapters/08-positions.html"]
        assert len(drawing.select(".to-come")) == len(read_book(BOOK).chapters) - 1
