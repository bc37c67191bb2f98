"""What programs read of the site: twins in Markdown, the list of pages, data on each page."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser
from written import BOOK, CHAPTERS

from press.machines.markdown import fenced, prose, without_directives
from press.machines.tutor import TUTOR
from press.machines.twins import LIST, has_twin
from press.notebook import read_notebook
from press.registry import read_book
from press.site import SITE, page_names

LEFT_OVER = re.compile(r"^[:`]{3,}\{|\{(?:ref|numref|eq|term|doc|count)\}`|^\([\w-]+\)=$", re.M)
"""Marks of MyST that only a site understands."""


def unnamed(role: str, label: str) -> str:
    return ""


def test_a_directive_in_another_is_closed_where_it_ends() -> None:
    text = (
        "::::{admonition} Guess first\n:class: guess\nHow many?\n\n"
        ":::{dropdown} Two\nRight. $x$\n:::\n::::\nAfter."
    )
    assert prose(text, unnamed) == ("**Guess first**\n\nHow many?\n\n**Two**\n\nRight. $x$\nAfter.")


def test_what_the_site_makes_of_data_is_named() -> None:
    assert prose("```{source-map}\n```", unnamed) == "*(Here the site has: source map.)*"


def test_a_fence_in_code_is_no_directive() -> None:
    code = "```python\nprint(':::{note}')\n```"
    assert without_directives(code) == code


@given(st.text(alphabet="`ab\n", max_size=40))
def test_a_fence_is_longer_than_any_that_it_holds(text: str) -> None:
    first, *inside, last = fenced(text, "text").split("\n")
    assert last == first.removesuffix("text")
    assert all(not line.startswith(last) for line in inside)


@pytest.mark.parametrize("name", CHAPTERS)
def test_a_twin_says_what_its_chapter_says(name: str) -> None:
    twin = (SITE / f"chapters/{name}.md").read_text("utf-8")
    assert not LEFT_OVER.findall(twin)
    notebook = read_notebook(BOOK / f"chapters/{name}.ipynb")
    for cell in notebook.cells:
        tags = cell.metadata.get("tags", [])
        if cell.cell_type == "markdown":
            for heading in re.findall(r"^#+ .+$", cell.source, re.M):
                assert heading in twin
            for formula in re.findall(r"^\$\$\n(.*?)\n\$\$", cell.source, re.M | re.S):
                assert formula in twin
        elif not tags:
            assert cell.source.rstrip() in twin
        elif "check" in tags:
            assert cell.source not in twin


def test_every_page_names_its_twin() -> None:
    for page in page_names(SITE):
        name = page.removesuffix(".html")
        link = LexborHTMLParser((SITE / page).read_text("utf-8")).css_first(
            "link[type='text/markdown']"
        )
        of_the_book = (BOOK / f"{name}.md").exists() or (BOOK / f"{name}.ipynb").exists()
        assert (link is not None) == (of_the_book and has_twin(name)), page
        if link is not None:
            twin = (SITE / page).with_name(link.attributes["href"] or "")
            assert twin.read_text("utf-8").strip(), page


def test_the_list_leads_to_every_chapter_and_nowhere_else() -> None:
    text = (SITE / LIST).read_text("utf-8")
    assert text.startswith("# A Runnable Primer\n\n> ")
    linked = re.findall(r"^- \[[^\]]+\]\(([^)]+)\)", text, re.M)
    assert len(linked) == len(set(linked))
    assert all((SITE / place).is_file() for place in linked)
    lost = {f"chapters/{name}.md" for name in CHAPTERS} - set(linked)
    assert not lost, f"{LIST} of the site has no {', '.join(sorted(lost))}: run `make book`"


def test_a_tutor_knows_mistakes_and_no_solution() -> None:
    text = (SITE / TUTOR).read_text("utf-8")
    for name in CHAPTERS:
        cells = read_notebook(BOOK / f"chapters/{name}.ipynb").cells
        assert f"## {read_book(BOOK)[name].heading}\n" in text or not any(
            ":class: mistake" in cell.source for cell in cells
        ), f"{TUTOR} of the site knows no mistake of {name}: run `make book`"
        for cell in cells:
            if "solution" in cell.metadata.get("tags", []):
                assert cell.source.strip() not in text


@pytest.mark.parametrize("name", ["index", *(f"chapters/{name}" for name in CHAPTERS)])
def test_a_page_says_what_it_is(name: str) -> None:
    page = LexborHTMLParser((SITE / f"{name}.html").read_text("utf-8"))
    script = page.css_first("script[type='application/ld+json']")
    assert script is not None
    data = json.loads(script.text())
    tags = {tag.attributes["name"]: tag.attributes["content"] for tag in page.css("meta[name]")}
    book = read_book(BOOK)
    if name == "index":
        assert data["@type"] == "Book"
        assert [part["position"] for part in data["hasPart"]] == [
            chapter.number for chapter in book.written
        ], "the site has other chapters than chapters/book.toml: run `make book`"
        assert tags["citation_title"] == data["name"]
    else:
        chapter = book[name.removeprefix("chapters/")]
        assert (data["@type"], data["position"]) == ("Chapter", chapter.number)
        assert tags["citation_title"] == data["name"] == chapter.title
        assert tags["citation_inbook_title"] == data["isPartOf"]["name"]
