"""Sphinx extension: who wrote a page, what it teaches and of which book it is, for machines.

The head of the first page and of each chapter says it twice: as `JSON-LD <https://schema.org>`_,
which search engines read, and as ``citation_…`` tags, which Zotero and Google Scholar read.  Title,
authors, version, date and licenses come from :file:`CITATION.cff`, chapters from the registry;
addresses stand in it as soon as ``_config.yml`` has one.
"""

from __future__ import annotations

import functools
import json
from html import escape
from pathlib import Path
from typing import Any

import yaml
from docutils import nodes
from sphinx.application import Sphinx

from press.publish.citing import CITATION
from press.registry import Book, Chapter, read_book

LICENSE = "https://creativecommons.org/licenses/by/4.0/"
"""That of the text."""


def _address(site: str, page: str) -> dict[str, str]:
    """Return the address of a page as a field, or nothing while the site has none."""
    return {"url": f"{site.rstrip('/')}/{page}.html"} if site else {}


def book_data(citation: dict[str, Any], site: str) -> dict[str, Any]:
    """Describe the book as schema.org does.

    Parameters
    ----------
    citation : dict
        What ``CITATION.cff`` says.
    site : str
        The address of the site, or nothing.

    Examples
    --------
    >>> import datetime
    >>> citation = {"title": "Sums", "authors": [{"name": "Ada"}], "version": "1.0"}
    >>> citation["date-released"] = datetime.date(2026, 11, 3)
    >>> book_data(citation, "https://a.example/")["author"]
    [{'@type': 'Organization', 'name': 'Ada'}]
    """
    return {
        "@type": "Book",
        "name": citation["title"],
        "author": [
            {"@type": "Organization", "name": author["name"]} for author in citation["authors"]
        ],
        "version": citation["version"],
        "datePublished": str(citation["date-released"]),
        "inLanguage": "en",
        "learningResourceType": "textbook",
        "isAccessibleForFree": True,
        "license": LICENSE,
        **_address(site, "index"),
    }


def chapter_data(chapter: Chapter, site: str) -> dict[str, Any]:
    """Describe a chapter as schema.org does."""
    return {
        "@type": "Chapter",
        "name": chapter.title,
        "position": chapter.number,
        "description": f"{chapter.about[0].upper()}{chapter.about[1:]}.",
        **_address(site, chapter.page),
    }


def linked_data(citation: dict[str, Any], book: Book, page: str, site: str) -> dict[str, Any]:
    """Describe a page: the whole book on its first page, elsewhere a chapter of it."""
    whole = book_data(citation, site)
    if page == "index":
        parts = [chapter_data(chapter, site) for chapter in book.written]
        return {"@context": "https://schema.org", **whole, "hasPart": parts}
    chapter = next(chapter for chapter in book.written if chapter.page == page)
    shared = {name: whole[name] for name in ("author", "inLanguage", "license", "datePublished")}
    data = {"@context": "https://schema.org", **chapter_data(chapter, site), **shared}
    return {**data, "isPartOf": {"@type": "Book", "name": whole["name"]}}


def citation_tags(
    citation: dict[str, Any], book: Book, page: str, site: str
) -> list[tuple[str, str]]:
    """Return the tags by which a page is cited: the chapter, in the book.

    Parameters
    ----------
    citation : dict
        What ``CITATION.cff`` says.
    book : Book
        The registry.
    page : str
        The first page or a chapter.
    site : str
        The address of the site, or nothing.
    """
    tags = [("citation_author", author["name"]) for author in citation["authors"]]
    tags.append(("citation_publication_date", f"{citation['date-released']:%Y/%m/%d}"))
    tags.append(("citation_language", "en"))
    if page == "index":
        tags.insert(0, ("citation_title", citation["title"]))
    else:
        chapter = next(chapter for chapter in book.written if chapter.page == page)
        tags.insert(0, ("citation_title", chapter.title))
        tags.append(("citation_inbook_title", citation["title"]))
    if site:
        tags.append(("citation_public_url", _address(site, page)["url"]))
    return tags


@functools.cache
def _sources(root: Path) -> tuple[dict[str, Any], Book]:
    """Read what stands in the heads, once in a build."""
    return yaml.safe_load((root / CITATION).read_text("utf-8")), read_book(root)


def tell(
    app: Sphinx, page: str, template: str, context: dict[str, Any], tree: nodes.document | None
) -> None:
    """Write the head of the first page and of each chapter."""
    citation, book = _sources(Path(app.srcdir))
    if tree is None or page not in {"index", *(chapter.page for chapter in book.written)}:
        return
    site = app.config.html_baseurl
    data = json.dumps(linked_data(citation, book, page, site), ensure_ascii=False)
    data = data.replace("</", "<\\/")  # a closing tag inside would end it
    lines = [
        f'<meta name="{name}" content="{escape(value)}">'
        for name, value in citation_tags(citation, book, page, site)
    ]
    lines.append(f'<script type="application/ld+json">{data}</script>')
    context["metatags"] = "\n    ".join([context.get("metatags") or "", *lines])


def setup(app: Sphinx) -> dict[str, Any]:
    """Add the tags to those that the page has."""
    app.connect("html-page-context", tell)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
