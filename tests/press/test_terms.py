"""Builds by term: a kept site says what it is, stays as it was, and stands beside the newest."""

from pathlib import Path

import pytest
from bs4 import BeautifulSoup

from press.downloads import terms
from press.publish.policy import protect
from press.site import SITE, Place, page_names

PLACE = '<div class="terms docutils container">\n<p>None.</p>\n</div>'


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A site of two pages and one file."""
    root = tmp_path / "site"
    for name in ("index.html", str(terms.PAGE)):
        page = root / name
        page.parent.mkdir(parents=True, exist_ok=True)
        body = f'<article class="bd-article">{PLACE if name != "index.html" else "Sums"}</article>'
        page.write_text(f"<html><head></head><body>{body}</body></html>")
    (root / "_static").mkdir()
    (root / "_static" / "book.css").write_text("p {}")
    return root


def test_a_term_is_kept_as_it_was_and_each_page_links_its_newest_form(site, tmp_path) -> None:
    kept = tmp_path / "kept"
    terms.keep(site, kept, "2027-spring", "0.2.0")
    assert terms.show(site, kept) == ["2027-spring"]
    (site / "index.html").write_text("<p>another book</p>")
    terms.show(site, kept)
    shown = site / "terms" / "2027-spring"
    assert (shown / "_static" / "book.css").read_text() == "p {}"
    for name in ("index.html", str(terms.PAGE)):
        page = BeautifulSoup((shown / name).read_text(), "html.parser")
        [note] = page.select("aside")
        assert note.find_previous_sibling() is None
        assert note.parent.name == "article"
        assert "2027-spring" in note.get_text()
        assert "Version 0.2.0" in note.get_text()
        newest = (shown / name).parent / note.a["href"]
        assert newest.resolve() == (site / name).resolve()
        assert page.head.meta["content"] == "noindex"
    assert "Sums" in (shown / "index.html").read_text()


def test_two_terms_are_listed_with_the_newest_first_and_none_holds_another(site, tmp_path) -> None:
    kept = tmp_path / "kept"
    for name in ("2026-autumn", "2027-spring"):
        terms.keep(site, kept, name, "0.2.0")
        terms.show(site, kept)
    page = BeautifulSoup((site / terms.PAGE).read_text(), "html.parser")
    links = page.select(".terms li a")
    assert [link.get_text() for link in links] == ["2027-spring", "2026-autumn"]
    for link in links:
        assert ((site / terms.PAGE).parent / link["href"]).resolve().is_file()
    assert not (site / "terms/2027-spring/terms").exists()
    assert page_names(site) == [str(terms.PAGE), "index.html"]  # what is kept is no page of its own


def test_a_build_leaves_the_policy_of_a_kept_page_alone(site, tmp_path) -> None:
    terms.keep(site, tmp_path / "kept", "2027-spring", "0.2.0")
    terms.show(site, tmp_path / "kept")
    page = site / "terms/2027-spring/index.html"
    page.write_text('<head><meta charset="utf-8"></head>')
    protect(site)
    assert page.read_text() == '<head><meta charset="utf-8"></head>'


@pytest.mark.parametrize("name", ["", "a/b", "..", "-x", "spring 2027", "x" * 50, "é"])
def test_a_name_that_is_none_is_refused(site, tmp_path, name: str) -> None:
    with pytest.raises(ValueError, match="name of a folder"):
        terms.keep(site, tmp_path / "kept", name, "0.2.0")


def test_a_term_does_not_change_and_half_a_copy_is_none(site, tmp_path, monkeypatch) -> None:
    kept = tmp_path / "kept"
    with monkeypatch.context() as broken:
        broken.setattr(terms, "marked", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            terms.keep(site, kept, "2027-spring", "0.2.0")
    assert terms.show(site, kept) == []
    terms.keep(site, kept, "2027-spring", "0.2.0")
    with pytest.raises(ValueError, match="is kept already, and a term does not change"):
        terms.keep(site, kept, "2027-spring", "0.3.0")


def test_a_site_that_is_not_there_is_said(tmp_path) -> None:
    with pytest.raises(ValueError, match="run `make book` first"):
        terms.keep(tmp_path, tmp_path / "kept", "2027-spring", "0.2.0")
    with pytest.raises(ValueError, match="run `make book` first"):
        terms.show(tmp_path, tmp_path / "kept")
    page = tmp_path / terms.PAGE
    page.parent.mkdir(parents=True)
    page.write_text("<p>no place</p>")
    with pytest.raises(ValueError, match="no place for the terms"):
        terms.show(tmp_path, tmp_path / "kept")


def test_the_page_of_changes_has_a_place_for_them() -> None:
    Place(SITE / terms.PAGE, "terms")


def test_every_page_of_the_book_can_be_marked() -> None:
    for name in page_names(SITE):
        text = (SITE / name).read_text("utf-8")
        marked = terms.marked(text, name, "2027-spring", "0.2.0")
        assert marked.count("noindex") == 1, name
        assert ("data-kept-term" in marked) == ('class="bd-article"' in text), name
