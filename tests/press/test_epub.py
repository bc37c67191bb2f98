"""The e-book: words, formulas, pictures and links of the site, in a file as the format wants it."""

from __future__ import annotations

import shutil
import subprocess
import zipfile
from datetime import UTC, datetime
from pathlib import Path
from xml.etree import ElementTree

import pytest
from bs4 import BeautifulSoup
from written import BOOK

from press.downloads import editions, epub
from press.downloads.epub_page import WITHOUT, picture
from press.downloads.sheets import Sheet, chosen, sheets_of
from press.registry import read_book
from press.site import SITE, Place

WHEN = datetime(2026, 2, 3, 4, 5, 6, tzinfo=UTC)
XHTML = "{http://www.w3.org/1999/xhtml}"
MATHML = "{http://www.w3.org/1998/Math/MathML}"
NAMES = ["08-positions", "03-optimization", "glossary"]


@pytest.fixture(scope="module")
def book(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write an e-book of a few pages."""
    if not (SITE / "index.html").exists():
        pytest.fail("the site is not built: run `make book`, then these tests")
    target = tmp_path_factory.mktemp("epub")
    return epub.write(SITE, target, chosen(sheets_of(read_book(BOOK)), NAMES), WHEN)


@pytest.fixture(scope="module")
def pages(book: Path) -> dict[str, ElementTree.Element]:
    with zipfile.ZipFile(book) as archive:
        return {
            name.removeprefix("book/"): ElementTree.fromstring(archive.read(name))
            for name in archive.namelist()
            if name.endswith(".xhtml")
        }


def test_its_type_stands_first_and_uncompressed(book: Path) -> None:
    with zipfile.ZipFile(book) as archive:
        first = archive.infolist()[0]
        assert (first.filename, first.compress_type) == ("mimetype", zipfile.ZIP_STORED)
        assert archive.read(first) == b"application/epub+zip"


def test_every_link_and_every_picture_is_there(book: Path, pages) -> None:
    with zipfile.ZipFile(book) as archive:
        files = {name.removeprefix("book/") for name in archive.namelist()}
    places = {name: {e.get("id") for e in page.iter()} for name, page in pages.items()}
    inside = 0
    for name, page in pages.items():
        for link in page.iter(f"{XHTML}a"):
            to = link.get("href", "")
            if to.startswith("https://") or (not to and link.get("id")):
                continue
            file, _, anchor = to.partition("#")
            assert file in pages, f"{name}: {to}"
            assert not anchor or anchor in places[file], f"{name}: {to}"
            inside += 1
        for image in page.iter(f"{XHTML}img"):
            assert image.get("src") in files
            assert image.get("alt"), f"{name}: {image.get('src')} says nothing"
    assert inside > 200


@pytest.mark.parametrize("name", NAMES)
def test_the_words_are_those_of_the_site(name: str, pages) -> None:
    [sheet] = chosen(sheets_of(read_book(BOOK)), [name])
    text = (SITE / f"{sheet.page}.html").read_text("utf-8")
    article = BeautifulSoup(text, "html.parser").select_one("article")
    for element in article.select(f"{WITHOUT}, .katex, noscript"):
        element.decompose()
    there = [" ".join(p.get_text().split()) for p in article.find_all(["p", "pre", "summary"])]
    tags = [f"{XHTML}{tag}" for tag in ("p", "pre", "summary")]
    here = [without_formulas(e) for e in pages[f"{name}.xhtml"].iter() if e.tag in tags]
    assert [" ".join(words.split()) for words in here] == there


def without_formulas(element: ElementTree.Element) -> str:
    """Read the words of an element."""
    inside = [
        ("" if child.tag == f"{MATHML}math" else without_formulas(child)) + (child.tail or "")
        for child in element
    ]
    return "".join([element.text or "", *inside])


def test_formulas_are_mathml_that_says_its_tex(pages) -> None:
    count = 0
    for page in pages.values():
        for formula in page.iter(f"{MATHML}math"):
            count += 1
            assert formula.get("alttext")
            for element in formula.iter():
                wanted = {"mfrac": 2, "msub": 2, "msup": 2, "munder": 2, "mover": 2, "msubsup": 3}
                name = element.tag.removeprefix(MATHML)
                assert len(element) == wanted.get(name, len(element)), formula.get("alttext")
    assert count > 500
    assert not any(
        "katex" in (e.get("class") or "") for page in pages.values() for e in page.iter()
    )


def test_one_state_of_the_book_gives_one_file(book: Path, tmp_path: Path) -> None:
    again = epub.write(SITE, tmp_path, chosen(sheets_of(read_book(BOOK)), NAMES), WHEN)
    assert again.read_bytes() == book.read_bytes()
    assert [path.name for path in tmp_path.iterdir()] == ["runnable-primer.epub"]


def small_site(folder: Path, article: str) -> list[Sheet]:
    """Write a site of one page."""
    (folder / "index.html").write_text("<html><head></head></html>")
    (folder / "a.html").write_text(f"<article class='bd-article'>{article}</article>")
    return [Sheet("a", "A & B", "1-")]


@pytest.mark.parametrize(
    ("article", "said"),
    [
        ("<img src='gone.png' alt='x'>", "gone.png, which is not there"),
        ("<img src='a.html' alt='x'>", "an e-book takes"),
        ("<img src='torn.svg' alt='x'>", "no drawing that XML reads"),
    ],
)
def test_what_is_missing_is_named_and_nothing_is_written(tmp_path, article, said) -> None:
    sheets = small_site(tmp_path, article)
    (tmp_path / "torn.svg").write_text("<svg><path")
    with pytest.raises(ValueError, match=said):
        epub.write(tmp_path, tmp_path / "epub", sheets, WHEN)
    assert not list((tmp_path / "epub").glob("*"))


def test_a_page_that_is_none_is_named(tmp_path) -> None:
    [sheet] = small_site(tmp_path, "")
    (tmp_path / "a.html").write_text("<p>words</p>")
    with pytest.raises(ValueError, match="has no article"):
        epub.write(tmp_path, tmp_path, [sheet], WHEN)
    with pytest.raises(ValueError, match="run `make book` first"):
        epub.write(tmp_path, tmp_path, [Sheet("b", "B", "1-")], WHEN)


def test_a_drawing_keeps_its_shapes(tmp_path) -> None:
    file = tmp_path / "drawing.svg"
    file.write_text(
        '<?xml version="1.0"?><!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "x.dtd">'
        '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" '
        'viewBox="0 0 1 1"><metadata>by whom</metadata><defs><path id="space"/></defs>'
        '<path d="M0 0h1"/><use xlink:href="#space"/></svg>'
    )
    drawing = picture(file).decode()
    assert "DOCTYPE" not in drawing
    assert "by whom" not in drawing
    assert 'viewBox="0 0 1 1"' in drawing
    assert '<path d="M0 0h1"' in drawing
    assert '<path id="space" d="M0 0"' in drawing
    assert 'xlink:href="#space"' in drawing


@pytest.mark.thorough
def test_epubcheck_finds_nothing(tmp_path) -> None:
    jar = Path("/usr/bin/epubcheck")  # Debian's is the archive itself
    if not (jar.exists() and shutil.which("java")):
        pytest.skip("epubcheck is not here: apt install epubcheck")
    whole = epub.write(SITE, tmp_path, sheets_of(read_book(BOOK)), WHEN)
    run = subprocess.run(["java", "-jar", jar, whole], capture_output=True, text=True, check=False)
    assert "No errors or warnings detected" in run.stdout, run.stderr[:4000]


def test_the_editions_are_offered_with_their_sizes(tmp_path) -> None:
    site, made = tmp_path / "site", tmp_path / "made"
    page = site / editions.PAGE
    page.parent.mkdir(parents=True)
    place = '<div class="editions docutils container">\n<p>None.</p>\n</div>'
    page.write_text(f"<p>before</p>{place}<p>after</p>")
    made.mkdir()
    with pytest.raises(ValueError, match="no edition yet"):
        editions.offer(site, (made,))
    (made / "runnable-primer.epub").write_bytes(bytes(2_340_000))
    (made / "08-positions.pdf").write_bytes(bytes(12_300))
    for _ in range(2):  # and once more, when they are made anew
        assert len(editions.offer(site, (made,))) == 2
        text = page.read_text()
        assert text.startswith("<p>before</p>")
        assert text.endswith("</div><p>after</p>")
        links = BeautifulSoup(text, "html.parser").select(".editions li")
        assert [link.get_text() for link in links] == [
            "The whole book as an EPUB (2.3 MB)",
            "08 positions (12 kB)",
        ]
        for link in links:
            assert (page.parent / link.a["href"]).resolve().is_file()
    page.write_text("<p>no place</p>")
    with pytest.raises(ValueError, match="no place for the editions"):
        editions.offer(site, (made,))
    page.unlink()
    with pytest.raises(ValueError, match="run `make book` first"):
        editions.offer(site, (made,))


def test_the_page_has_a_place_for_them() -> None:
    Place(SITE / editions.PAGE, "editions")
