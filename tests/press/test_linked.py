"""Every entry of the glossary is linked from somewhere, and every link has an entry."""

from __future__ import annotations

from collections import Counter

import linked
import pytest


@pytest.fixture(scope="module")
def book() -> tuple[dict[str, tuple[str, str]], list[linked.Link]]:
    """Read all entries and all links of the book."""
    return linked.read()


Book = tuple[dict[str, tuple[str, str]], list[linked.Link]]


def test_every_entry_is_linked_from_a_page(book: Book) -> None:
    known, links = book
    count = Counter(link.entry for link in links if link.page != "glossary")
    lonely = [term for entry, (term, _) in known.items() if not count[entry]]
    assert lonely == [], "link these entries where a chapter first uses the term, or remove them"


def test_every_link_has_an_entry(book: Book) -> None:
    known, links = book
    lost = [str(link) for link in links if link.entry not in known]
    assert lost == [], "these links lead to no entry of the glossary"


def test_the_words_of_a_link_are_its_own(book: Book) -> None:
    long = [str(link)[:80] for link in book[1] if len(link.words.split()) > 6]
    assert long == [], "an open bracket before the link was taken for its beginning"


def test_places_are_told_with_their_section() -> None:
    text = "# Page\n[Key](glossary.md#term-key)\n## Section\n{term}`the value <value>`"
    assert [str(link) for link in linked.links_in("page", text)] == [
        "page · Page: “Key”",
        "page · Section: “the value”",
    ]


def test_a_table_for_one_entry(capsys: pytest.CaptureFixture[str]) -> None:
    linked.main(["tilt"])
    said = capsys.readouterr().out
    assert said.startswith("\ntilt\n  A distribution multiplied by")
    assert "    15-alignment · What the leashed goal asks for: “tilted”" in said
    assert "\nkey\n" not in said


def test_an_unknown_term_is_told() -> None:
    with pytest.raises(SystemExit, match="no entry tlit"):
        linked.main(["tlit"])
