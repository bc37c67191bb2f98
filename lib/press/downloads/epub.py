"""The book as an e-book: one EPUB 3 with formulas in MathML and a still picture of each widget.

It is made of the pages of the built site (:mod:`press.downloads.epub_page`), in the order of the
contents, and is the same for every build of one commit.

Run ``python -m press.downloads.epub`` in the root of the book, or ``make epub``.
"""

from __future__ import annotations

import sys
import uuid
import zipfile
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path

from bs4 import BeautifulSoup

from press.downloads.archive import FOLDER
from press.downloads.epub_page import Page, anchors, bare_article, escape, made, picture
from press.downloads.sheets import TITLE, Sheet, sheets_of
from press.publish.dating import written_at
from press.registry import read_book

SITE, TARGET = Path("_build/html"), Path("_build/epub")
KINDS = {".png": "image/png", ".jpg": "image/jpeg", ".svg": "image/svg+xml", ".webp": "image/webp"}
"""The kinds of pictures that every reading system shows."""
ABOUT = (
    "An interactive introduction to the mathematics of language models. On the site its widgets "
    "move and its code runs; here a widget is its picture."
)
ACCESS = "Formulas are MathML, with what was written in TeX as text; pictures have texts."
AUTHORS = "The authors of A Runnable Primer"

_CONTAINER = """<?xml version="1.0" encoding="utf-8"?>
<container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container">
<rootfiles>
<rootfile full-path="book/package.opf" media-type="application/oebps-package+xml"/>
</rootfiles>
</container>
"""
_PACKAGE = """<?xml version="1.0" encoding="utf-8"?>
<package xmlns="http://www.idpf.org/2007/opf" version="3.0" unique-identifier="id" xml:lang="en"
 prefix="schema: http://schema.org/">
<metadata xmlns:dc="http://purl.org/dc/elements/1.1/">
<dc:identifier id="id">urn:uuid:{identifier}</dc:identifier>
<dc:title>{title}</dc:title>
<dc:creator>{authors}</dc:creator>
<dc:language>en</dc:language>
<dc:description>{about}</dc:description>
<dc:rights>Text and figures CC BY 4.0, code MIT</dc:rights>
<meta property="dcterms:modified">{modified}</meta>
<meta property="schema:accessMode">textual</meta>
<meta property="schema:accessMode">visual</meta>
<meta property="schema:accessModeSufficient">textual</meta>
<meta property="schema:accessibilityFeature">alternativeText</meta>
<meta property="schema:accessibilityFeature">MathML</meta>
<meta property="schema:accessibilityFeature">structuralNavigation</meta>
<meta property="schema:accessibilityFeature">tableOfContents</meta>
<meta property="schema:accessibilityHazard">none</meta>
<meta property="schema:accessibilitySummary">{access}</meta>
</metadata>
<manifest>
{manifest}
</manifest>
<spine>
{spine}
</spine>
</package>
"""
_CONTENTS = """<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE html>
<html xmlns="http://www.w3.org/1999/xhtml" xmlns:epub="http://www.idpf.org/2007/ops" lang="en"
 xml:lang="en">
<head><meta charset="utf-8"/><title>Contents</title><link rel="stylesheet" href="epub.css"/></head>
<body><h1>{title}</h1><p>{about}</p>
<nav epub:type="toc" id="toc"><h2>Contents</h2><ol>
{entries}
</ol></nav></body>
</html>
"""


def pages_of(site: Path, sheets: Iterable[Sheet]) -> dict[Sheet, Page]:
    """Make the pages of the e-book.

    Parameters
    ----------
    site : Path
        The folder of the built site.
    sheets : iterable of Sheet
        Its pages that the e-book has.

    Returns
    -------
    dict of Sheet to Page
        Each page, in the order given.

    Raises
    ------
    ValueError
        When a page or a picture is not there, or a picture is of a kind that not every reading
        system shows.
    """
    articles = {sheet: bare_article(site, sheet.page) for sheet in sheets}
    places = {sheet.page: anchors(article) for sheet, article in articles.items()}
    address = address_of(site)
    pages = {}
    for sheet, article in articles.items():
        page = made(article, sheet.page, sheet.title, places, site, address)
        for file in page.images.values():
            if not file.is_file():
                raise ValueError(f"{sheet.page} shows {file}, which is not there: run `make book`.")
            if file.suffix not in KINDS:
                raise ValueError(f"{sheet.page} shows {file.name}; an e-book takes {list(KINDS)}")
        pages[sheet] = page
    return pages


def address_of(site: Path) -> str:
    """Return where the site is on the web, as its first page says; ``""`` where it does not."""
    head = BeautifulSoup((site / "index.html").read_text("utf-8"), "html.parser").head
    link = head.select_one("link[rel=canonical]") if head else None
    return str(link["href"]).removesuffix("index.html") if link else ""


def contents(pages: Mapping[Sheet, Page]) -> str:
    """Write the page of contents: chapters, and the sections of each."""
    entries = []
    for sheet, page in pages.items():
        file = f"{sheet.name}.xhtml"
        sections = "".join(
            f'<li><a href="{file}#{anchor}">{escape(words)}</a></li>'
            for anchor, words in page.sections
        )
        below = f"<ol>{sections}</ol>" if sections else ""
        entries.append(f'<li><a href="{file}">{escape(sheet.title)}</a>{below}</li>')
    return _CONTENTS.format(title=TITLE, about=ABOUT, entries="\n".join(entries))


def package(pages: Mapping[Sheet, Page], images: Iterable[str], modified: datetime) -> str:
    """Write the list of all that the e-book has, and the order in which it is read."""
    text = 'media-type="application/xhtml+xml"'
    items = [
        f'<item id="toc" href="contents.xhtml" {text} properties="nav"/>',
        '<item id="style" href="epub.css" media-type="text/css"/>',
    ]
    for sheet, page in pages.items():
        math = ' properties="mathml"' if page.has_math else ""
        items.append(f'<item id="page-{sheet.name}" href="{sheet.name}.xhtml" {text}{math}/>')
    for number, image in enumerate(images):
        kind = KINDS[Path(image).suffix]
        items.append(f'<item id="image-{number}" href="{image}" media-type="{kind}"/>')
    spine = ['<itemref idref="toc"/>', *(f'<itemref idref="page-{s.name}"/>' for s in pages)]
    return _PACKAGE.format(
        identifier=uuid.uuid5(uuid.NAMESPACE_URL, FOLDER),
        title=TITLE,
        authors=AUTHORS,
        about=ABOUT,
        access=ACCESS,
        modified=modified.strftime("%Y-%m-%dT%H:%M:%SZ"),
        manifest="\n".join(items),
        spine="\n".join(spine),
    )


def write(site: Path, target: Path, sheets: Iterable[Sheet], modified: datetime) -> Path:
    """Write the e-book.

    Parameters
    ----------
    site : Path
        The folder of the built site.
    target : Path
        The folder in which it is written.
    sheets : iterable of Sheet
        The pages that it has.
    modified : datetime
        When the book was written.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    ValueError
        As :func:`pages_of`.
    """
    pages = pages_of(site, sheets)
    images = {name: file for page in pages.values() for name, file in page.images.items()}
    target.mkdir(parents=True, exist_ok=True)
    book = target / f"{FOLDER}.epub"
    half = book.with_suffix(".part")
    parts: dict[str, str | bytes] = {
        "META-INF/container.xml": _CONTAINER,
        "book/package.opf": package(pages, images, modified),
        "book/contents.xhtml": contents(pages),
        "book/epub.css": (files("press.downloads") / "epub.css").read_bytes(),
        **{f"book/{sheet.name}.xhtml": page.text for sheet, page in pages.items()},
        **{f"book/{name}": picture(file) for name, file in images.items()},
    }
    moment = modified.timetuple()[:6]
    with zipfile.ZipFile(half, "w", zipfile.ZIP_DEFLATED) as archive:
        # the format wants this one first, and as it is
        archive.writestr(
            zipfile.ZipInfo("mimetype", moment), "application/epub+zip", zipfile.ZIP_STORED
        )
        for name, content in parts.items():
            archive.writestr(zipfile.ZipInfo(name, moment), content, zipfile.ZIP_DEFLATED, 9)
    return half.rename(book)


def main() -> int:
    """Write the book's EPUB, or say what is missing."""
    try:
        modified = datetime.fromtimestamp(written_at(Path()), UTC)
        book = write(SITE, TARGET, sheets_of(read_book(Path())), modified)
    except (ValueError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    print(f"{book}, {book.stat().st_size / 1e6:.1f} MB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
