"""The settings of the book, tried on a tiny one: addresses, figures, checks, numbers, widgets."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from bs4 import BeautifulSoup, Tag
from nbformat.v4 import new_code_cell, new_markdown_cell, new_output
from tiny_book import CHAPTER, build_book, chapter_of

from primer.palette import DARK, LIGHT

REPOSITORY = "https://github.com/reader/runnable-primer"
SITE = "https://reader.github.io/runnable-primer/"

SVG = f'<svg xmlns="http://www.w3.org/2000/svg"><path fill="{LIGHT["blue"]}"/></svg>'
PIXEL = (  # one transparent pixel
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk"
    "YPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
)
VIEW = "application/vnd.jupyter.widget-view+json"

TEXT = r"""# A tiny chapter

## A section

:::{prf:theorem} Small
:label: thm-small
$$ a = b $$ (eq-small)
:::

See {eq}`eq-small`, {prf:ref}`thm-small` and {cite}`su2024roformer`.

```{bibliography}
```
"""


def tiny_chapter() -> nbformat.NotebookNode:
    """Write a chapter whose outputs are stored: a figure, a check and a widget."""
    figure = new_output(
        "display_data",
        data={"image/svg+xml": SVG, "text/plain": "<Figure>"},
        metadata={"image/svg+xml": {"alt": "a blue square"}},
    )
    check = new_output(
        "stream", name="stdout", text="✓ one: 1 = 1  [FOU-01 ERR-22]\n~ 0.3 s\nplain\n"
    )
    widget = new_output(
        "display_data",
        data={VIEW: {"model_id": "m"}, "image/png": PIXEL, "text/plain": "Widget()"},
        metadata={"image/png": {"alt": "two arrows"}},
    )
    cells = [
        new_code_cell(source, outputs=[output], execution_count=number, id=f"cell-{number}")
        for number, (source, output) in enumerate(
            [("show()", figure), ("verify()", check), ("Widget()", widget)], 1
        )
    ]
    solution = new_code_cell("answer = 1", execution_count=4, id="solution")
    solution.metadata["tags"] = ["hide-cell", "solution"]
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
    assert not page.select("meta[property^='og:']")
    assert not (site / "sitemap.xml").exists()


def test_figures_are_a_pair_with_a_description(
    without_addresses: tuple[Path, BeautifulSoup],
) -> None:
    site, page = without_addresses
    light, dark = page.select("img.figure.only-light, img.figure.only-dark")
    for image, color in ((light, LIGHT["blue"]), (dark, DARK["blue"])):
        assert image["alt"] == "a blue square"
        assert image["loading"] == "lazy"
        drawing = (site / "chapters" / str(image["src"])).resolve().read_text()
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


def test_checks_stand_out(without_addresses: tuple[Path, BeautifulSoup]) -> None:
    held, measured = without_addresses[1].select("pre.checks .check")
    assert held["class"] == ["check", "held"]
    assert [tag.text for tag in held.select(".row-tag")] == ["FOU-01", "ERR-22"]
    assert measured["class"] == ["check", "measured"]


def test_a_solution_is_hidden_under_its_name(
    without_addresses: tuple[Path, BeautifulSoup],
) -> None:
    closed, opened = without_addresses[1].select(".tag_solution details > summary > p")
    assert (closed.text, opened.text) == ("Show the solution", "Hide the solution")


def test_numbers_follow_the_file_name(without_addresses: tuple[Path, BeautifulSoup]) -> None:
    page = without_addresses[1]
    words = page.select_one("article")
    assert words is not None
    assert [tag.text.strip() for tag in words.select(".section-number")] == ["8", "8.1"]
    assert "Theorem 8.1" in words.text
    assert next(tag.text for tag in words.select(".eqno")).startswith("(8.1)")
    assert "[SAL+24]" in words.text


def test_the_map_links_the_one_chapter(without_addresses: tuple[Path, BeautifulSoup]) -> None:
    index = BeautifulSoup((without_addresses[0] / "index.html").read_text("utf-8"), "html.parser")
    for drawing in index.select("svg.chapter-map"):
        assert [a["href"] for a in drawing.select("a")] == ["chapters/08-positions.html"]
        assert len(drawing.select(".to-come")) == 15
