"""Where a part begins, a note says why the book asks first; nowhere else."""

from pathlib import Path

from bs4 import BeautifulSoup
from written import BOOK, CHAPTERS

from press.pages.why_ask import first_chapters
from press.registry import read_book


def test_each_part_has_one_first_chapter() -> None:
    firsts = first_chapters(BOOK)
    parts = {chapter.name: chapter.part for chapter in read_book(BOOK).written}
    assert [parts[name] for name in firsts] == list(dict.fromkeys(parts.values()))
    assert firsts[0] == CHAPTERS[0]


def test_the_note_stands_before_the_first_section_of_such_a_chapter(asking_site: Path) -> None:
    found = {}
    for name in ("07-attention", "08-positions"):
        page = (asking_site / f"chapters/{name}.html").read_text("utf-8")
        found[name] = BeautifulSoup(page, "html.parser").select(".why-ask")
    (note,) = found["07-attention"]
    assert found["08-positions"] == []
    assert note.find_next_sibling("section")["id"] == "a-first-look"
    assert note.select_one('a[href="appendix/today.html"]') is not None
    assert note.text.count(". ") == 3  # behind the bold words, and between three sentences
