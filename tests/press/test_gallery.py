"""The gallery shows every widget that a page shows, once, with a picture and a sentence."""

from __future__ import annotations

import types

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell
from selectolax.lexbor import LexborHTMLParser, LexborNode
from written import BOOK

from press.pages.gallery import Shown, first_shown, sentence_of
from press.registry import read_book
from press.site import SITE
from primer import widgets


def test_a_widget_is_shown_where_a_chapter_first_has_it() -> None:
    def figure(source: str, name: str) -> nbformat.NotebookNode:
        return new_code_cell(source, id=name, metadata={"tags": ["figure"]})

    cells = [
        new_code_cell("from x import Hill", id="setup"),
        figure("Early()", "above"),
        new_markdown_cell("(a)=\n## A"),
        figure("Hill(steepness=2)", "first"),
        new_markdown_cell("### B"),
        figure("Hill()\nOther(1)", "second"),
    ]
    notebook = nbformat.v4.new_notebook(cells=cells)
    assert first_shown(notebook, {"Hill", "Other", "Early"}) == [
        Shown("Early", "", "above"),
        Shown("Hill", "a", "first"),
        Shown("Other", "a", "second"),
    ]


@pytest.mark.parametrize("name", widgets.__all__)
def test_every_widget_has_a_name_and_a_sentence(name: str) -> None:
    title, sentence = sentence_of(name)
    assert 3 < len(title) < 45
    assert sentence.endswith(".")


def test_a_docstring_that_gives_no_name_is_told(
    monkeypatch: pytest.MonkeyPatch, tmp_path: object
) -> None:
    stranger = types.SimpleNamespace(__module__="primer.saving")  # its line has a colon
    monkeypatch.setattr(widgets, "Stranger", stranger, raising=False)
    assert sentence_of("Stranger")[0] == "Write a file whole or not at all"
    monkeypatch.setattr(stranger, "__module__", "primer.lazy")
    with pytest.raises(ValueError, match=r"primer\.lazy: begin its docstring with a name"):
        sentence_of("Stranger")


@pytest.fixture(scope="module")
def cards() -> list[LexborNode]:
    page = LexborHTMLParser((SITE / "chapters/appendix/gallery.html").read_text("utf-8"))
    return page.css(".gallery-card")


def test_every_widget_of_the_first_page_and_of_a_written_chapter_has_a_card(
    cards: list[LexborNode],
) -> None:
    wanted = {name for chapter in read_book(BOOK).written for name in chapter.widgets}
    wanted |= {*read_book(BOOK).first_page}
    names = [card.css_first(".gallery-name").text().strip() for card in cards]
    # the page sets an apostrophe as printers do
    assert sorted(names) == sorted(sentence_of(name)[0].replace("'", "’") for name in wanted)


def test_a_card_leads_to_its_widget_and_shows_it(cards: list[LexborNode]) -> None:
    for card in cards:
        page, _, place = (card.css_first(".gallery-name a").attributes["href"] or "").partition("#")
        chapter = (SITE / "chapters/appendix" / page).resolve()
        text = chapter.read_text("utf-8")
        assert not place or f'id="{place}"' in text  # above the first section: the page
        picture = card.css_first("img").attributes
        assert len(picture["alt"] or "") > 40
        file = (picture["src"] or "").rpartition("/")[2]
        assert file in text  # the picture of the chapter itself
