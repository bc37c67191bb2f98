"""No page of a PDF but the last ends a third empty: pictures shrink, boxes go on."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page
from pypdf import PdfReader
from written import BOOK

from press.downloads import pdf
from press.downloads.fill_pages import HEIGHT, WIDTH, fill
from press.registry import read_book
from press.site import SITE

pytestmark = pytest.mark.browser

STYLE = """@page { margin: 20mm 19mm 21mm } body { margin: 0; font: 16px/24px serif }
p, pre, h2 { margin: 0; font-size: 16px } h2 { break-after: avoid }
img { break-inside: avoid; display: block; max-width: 100%; height: HEIGHTpx }
pre, .box { break-inside: avoid; white-space: pre-wrap }"""
LINES = "".join(f"<p>Line {number}</p>" for number in range(24))  # 576 of 968 pixels
PICTURE = (
    '<img alt="A picture" src="data:image/svg+xml,%3Csvg xmlns=%22http://www.w3.org/2000/svg%22 '
    'viewBox=%220 0 3 2%22%3E%3Crect width=%223%22 height=%222%22/%3E%3C/svg%3E">'
)
CODE = "<pre>" + "\n".join(f"x = {number}" for number in range(30)) + "</pre>"


@pytest.fixture
def page(chromium: Browser) -> Iterator[Page]:
    context = chromium.new_context(viewport={"width": WIDTH, "height": 900})
    yield context.new_page()
    context.close()


def filled(page: Page, folder: Path, middle: str, *, height: int = 420) -> tuple[int, list[str]]:
    """Fill the pages of two dozen lines, of what comes between, and of as many lines again."""
    style = STYLE.replace("HEIGHT", str(height))
    page.set_content(f"<style>{style}</style><main>{LINES}{middle}{LINES}</main>")
    page.emulate_media(media="print")
    file = folder / "printed.pdf"

    def write() -> Path:
        page.pdf(path=file, format="A4", outline=True, tagged=True)
        return file

    left = fill(page, "main", write)
    write()
    read = PdfReader(file)
    assert read.named_destinations == {}
    return left, [text.extract_text() for text in read.pages]


def test_a_picture_shrinks_to_the_room_that_there_is(page: Page, tmp_path: Path) -> None:
    left, pages = filled(page, tmp_path, f"<h2>Heading</h2>{PICTURE}<p>Below</p>")
    assert left == 0
    assert "Heading" in pages[0]  # it stays with its picture, and both stay on the first page
    size = page.locator("img").bounding_box()
    assert size is not None
    assert HEIGHT / 4 < size["height"] < HEIGHT - 576 - 24
    assert size["width"] <= WIDTH


def test_a_box_goes_on_where_it_would_leave_a_page_empty(page: Page, tmp_path: Path) -> None:
    left, pages = filled(page, tmp_path, f"<div class='box'><p>Title</p>{CODE}</div>")
    assert left == 0
    assert "x = 5" in pages[0]
    assert "x = 29" in pages[1]


def test_a_picture_that_would_be_too_small_is_left_as_it_is(page: Page, tmp_path: Path) -> None:
    left, pages = filled(page, tmp_path, f"{PICTURE}<p>Below</p>", height=900)
    assert left == 1
    size = page.locator("img").bounding_box()
    assert size is not None
    assert size["height"] == 900
    assert "Below" in pages[1]


def test_what_fits_is_not_touched(page: Page, tmp_path: Path) -> None:
    page_before = f"{PICTURE}<p>Below</p>"
    left, pages = filled(page, tmp_path, page_before, height=200)
    assert left == 0
    assert "Below" in pages[0]
    assert page.locator("img").get_attribute("style") is None


def test_the_paper_is_that_of_the_print_style() -> None:
    style = (BOOK / "lib/press/publish/print.css").read_text("utf-8")
    top, side, bottom = map(int, re.findall(r"(\d+)mm", style.split("@page", 1)[1])[:3])
    assert pytest.approx((297 - top - bottom) / 25.4 * 96) == HEIGHT
    assert round((210 - 2 * side) / 25.4 * 96) == WIDTH


SHEETS = pdf.sheets_of(read_book(BOOK))


@pytest.mark.thorough
@pytest.mark.parametrize("sheet", SHEETS, ids=lambda sheet: sheet.name)
def test_no_page_of_the_book_ends_a_third_empty(sheet, chromium: Browser, tmp_path: Path) -> None:
    if not (SITE / f"{sheet.page}.html").exists():
        pytest.fail("the site is not built: run `make book`, then these tests")
    _, left = pdf.print_sheet(chromium, SITE, sheet, set(), tmp_path / "chapter.pdf")
    assert left == 0
