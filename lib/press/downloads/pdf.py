"""The book on paper: a PDF of each chapter, and one of the whole, printed from the built site.

Chromium prints each page as :file:`press/publish/print.css` and :file:`print.js` lay it out, with
the headings as bookmarks and the structure that screen readers follow.  The pages of a chapter are
numbered within it, 8-1, 8-2, …, so that a page has one number in both files; none but the last of a
chapter ends a third empty (:mod:`press.downloads.fill_pages`).

Run ``python -m press.downloads.pdf [08-positions …]`` in the root of the book, or ``make pdf``.
"""

from __future__ import annotations

import html
import logging
import posixpath
import re
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from press.downloads.archive import FOLDER
from press.downloads.bind_pdf import Part, bind, finish
from press.downloads.fill_pages import HEIGHT, WIDTH, fill
from press.downloads.sheets import TITLE, Sheet, chosen, sheets_of
from press.publish.theme_marks import ARTICLE
from press.registry import Book, read_book
from press.workshop.browser import ARGUMENTS, find_chromium

SITE, TARGET = Path("_build/html"), Path("_build/pdf")

_LINK = re.compile(r'href="([^"#:]*)#([^"]+)"')
_FOOT = 'font: 8pt "Source Sans 3 Variable", sans-serif; color: #555;'
_STYLE = """@page {{
  @bottom-left {{ content: {left}; {foot} }}
  @bottom-right {{ content: {prefix} counter(page); {foot} }}
}}"""
_COVER = """<main class="{article}"><section style="break-after: page">
<h1 style="display: block; margin-top: 32vh; font-size: 3.2rem">{title}</h1><p>{about}</p>
</section><section><h1 style="display: block">Contents</h1>
<table style="width: 100%">{rows}</table></section></main>"""
_ROW = """<tr style="line-height: 1.3; vertical-align: top">
<td style="padding: 0.22rem 0"><a href="{page}.html" style="font-weight: 650">{title}</a><br>
<small>{about}</small></td>
<td style="padding: 0.22rem 0; text-align: right; white-space: nowrap">{number}</td></tr>"""
_ABOUT = (
    "An interactive introduction to the mathematics of language models. On the site its widgets "
    "move and its code runs; on paper a widget is its picture, and solutions stand at the end of "
    "each chapter. Text: CC BY 4.0."
)

# What every other page of the book points to on this one becomes a place in the file: Chromium
# writes down only the places that something on the page itself leads to.
_NAME_PLACES = """([names, article]) => {
  const line = document.createElement("p");
  line.style.cssText = "position: absolute; top: 0; height: 1px; margin: 0; overflow: hidden";
  for (const name of names) {
    if (!document.getElementById(name)) continue;
    const link = document.createElement("a");
    link.href = `#${name}`;
    link.style.cssText = "display: inline-block; width: 1px; height: 1px";
    line.append(link);
  }
  document.querySelector(article).append(line);
}"""
# A page may be printed several times before it is as it was.
_STAY_PRINTED = "addEventListener('afterprint', (event) => event.stopImmediatePropagation())"
_COMPLETE = """async () => {
  for (const image of document.images) image.loading = "eager";
  const seen = [...document.images].filter((image) => image.checkVisibility());
  await Promise.all([document.fonts.ready, ...seen.map((image) => image.decode().catch(() => 0))]);
}"""


def wanted_places(site: Path, sheets: Iterable[Sheet]) -> dict[str, set[str]]:
    """Return the anchors of each page that others of them lead to.

    Parameters
    ----------
    site : Path
        The folder of the built site.
    sheets : iterable of Sheet
        Pages that are there.
    """
    pages = [sheet.page for sheet in sheets]
    wanted: dict[str, set[str]] = {page: set() for page in pages}
    for page in pages:
        for link, anchor in _LINK.findall((site / f"{page}.html").read_text("utf-8")):
            to = posixpath.normpath(posixpath.join(posixpath.dirname(page), link))
            if link and to.removesuffix(".html") in wanted:
                wanted[to.removesuffix(".html")].add(html.unescape(anchor))
    return wanted


def style_of(left: str, prefix: str) -> str:
    """Write the foot of the pages: what is read at the left, the number at the right."""
    return _STYLE.format(left=f'"{left}"', prefix=f'"{prefix}"', foot=_FOOT)


def print_sheet(
    browser: Browser, site: Path, sheet: Sheet, places: set[str], target: Path, *, cover: str = ""
) -> tuple[str, int]:
    """Print one page of the site.

    Parameters
    ----------
    browser : Browser
        A Chromium.
    site : Path
        The folder of the built site.
    sheet : Sheet
        What is printed.
    places : set of str
        The anchors that must be found in the file.
    target : Path
        The PDF.
    cover : str
        HTML that stands on the page in place of what is there.

    Returns
    -------
    str
        Its address on the web, ``""`` if it has none.
    int
        How many of its pages of paper end a third empty though they should not.
    """
    context = browser.new_context(color_scheme="light", reduced_motion="reduce")
    page = context.new_page()
    page.add_init_script(_STAY_PRINTED)
    page.goto((site / f"{sheet.page}.html").resolve().as_uri(), wait_until="load")
    if cover:
        page.evaluate("(text) => { document.body.innerHTML = text }", cover)
        page.add_style_tag(content="@page { @bottom-left { content: none } }")
    else:
        page.add_style_tag(content=style_of(f"{TITLE} · {sheet.title}", sheet.prefix))
        page.evaluate(_NAME_PLACES, [sorted(places), f".{ARTICLE}"])
    page.emulate_media(media="print", color_scheme="light")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")  # pictures are asked for now
    page.evaluate(_COMPLETE)
    page.evaluate("(title) => { document.title = title }", f"{sheet.title} · {TITLE}")

    def write() -> Path:
        page.pdf(path=target, format="A4", outline=True, tagged=True, print_background=True)
        return target

    page.set_viewport_size({"width": WIDTH, "height": round(HEIGHT)})
    left = 0 if cover else fill(page, f".{ARTICLE}", write)
    write()
    address = page.evaluate("document.querySelector('link[rel=canonical]')?.href ?? ''")
    context.close()
    return address, left


def contents(sheets: Iterable[Sheet], book: Book) -> str:
    """Write the pages in front of the whole book: its title, and where its chapters begin."""
    about = {chapter.page: chapter.about for chapter in book.written}
    rows = "".join(
        _ROW.format(
            page=sheet.page,
            title=html.escape(sheet.title),
            about=html.escape(about.get(sheet.page, "")),
            number=f"{sheet.prefix}1",
        )
        for sheet in sheets
    )
    return _COVER.format(article=ARTICLE, title=TITLE, about=_ABOUT, rows=rows)


def print_book(site: Path, target: Path, names: list[str], book: Book) -> Iterator[str]:
    """Print pages of the site, and bind all of them where none is named.

    Parameters
    ----------
    site : Path
        The folder of the built site.
    target : Path
        The folder of the PDFs.
    names : list of str
        Chapters, for example ``["08-positions"]``; all where it is empty.
    book : Book
        The registry.

    Yields
    ------
    str
        A line for each file.

    Raises
    ------
    ValueError
        When the site, a page of it or a browser is missing; the sentence says what to do.
    """
    everything = sheets_of(book)
    sheets = chosen(everything, names)
    for sheet in everything:
        if not (site / f"{sheet.page}.html").is_file():
            raise ValueError(f"{site / sheet.page}.html is not there yet: run `make book` first.")
    path = find_chromium()
    if path is None:
        raise ValueError(
            "Chromium or Chrome prints the book, and none was found: `.venv/bin/python "
            "tests/tools/chromium.py` installs one, or set CHROMIUM to its path."
        )
    started = time.perf_counter()
    places = wanted_places(site, everything)
    target.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(ARGUMENTS))
        parts = []
        for number, sheet in enumerate(sheets, 1):
            printed = target / f"{sheet.name}.pdf"
            file = Path(folder) / f"{sheet.name}.pdf"
            address, left = print_sheet(browser, site, sheet, places[sheet.page], file)
            parts.append(Part(file, sheet.page, sheet.title, sheet.prefix, address))
            count = finish(parts[-1], site, printed)
            passed = f"{time.perf_counter() - started:4.0f} s"
            empty = f", {left} of which end a third empty" if left else ""
            yield f"{number} of {len(sheets)}, {passed}: {printed}, {count} pages{empty}"
        if not names:
            front = Part(Path(folder) / "front.pdf", "index", TITLE, "", "")
            cover = Sheet("index", TITLE, "")
            text = contents(sheets, book)
            print_sheet(browser, site, cover, set(), front.file, cover=text)
            whole = target / f"{FOLDER}.pdf"
            count = bind(front, parts, site, whole)
            yield f"{time.perf_counter() - started:.0f} s: {whole}, {count} pages"
        browser.close()


def main() -> int:
    """Print what the command line names, or say what is missing."""
    # Chromium counts one object fewer than it writes, which pypdf reports for every file.
    logging.getLogger("pypdf").setLevel(logging.ERROR)
    try:
        for line in print_book(SITE, TARGET, sys.argv[1:], read_book(Path())):
            print(line, flush=True)
    except ValueError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
