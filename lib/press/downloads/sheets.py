"""Which pages of the site are read on paper and in an e-book, and in which order."""

from __future__ import annotations

import posixpath
from dataclasses import dataclass

from press.registry import Book

TITLE = "A Runnable Primer"
BACK = {
    "one-token": "One token",
    "glossary": "Glossary",
    "notation": "Notation",
    "conventions": "Conventions",
}
"""The pages of the appendix that are read on paper, too; the others live by their links."""


@dataclass(frozen=True)
class Sheet:
    """A page of the site that an edition has.

    Attributes
    ----------
    page : str
        Its name in the site, without its ending.
    title : str
        What it is called.
    prefix : str
        What stands before the numbers of its pages.
    """

    page: str
    title: str
    prefix: str

    @property
    def name(self) -> str:
        """The last part of the page's name, by which the edition's own file is called."""
        return posixpath.basename(self.page)


def sheets_of(book: Book) -> list[Sheet]:
    """List the pages in the order of the contents."""
    titles = {name: name.replace("-", " ").capitalize() for name in book.beside}
    opening = [
        Sheet(f"chapters/{name}", titles[name], f"{titles[name][0]}-") for name in book.opening
    ]
    initials = {name: "".join(word[0] for word in name.split("-")).upper() for name in book.closing}
    closing = [
        Sheet(f"chapters/{name}", titles[name], f"{initials[name]}-") for name in book.closing
    ]
    chapters = [Sheet(one.page, one.heading, f"{one.number}-") for one in book.written]
    pages = [page for group in book.appendix.values() for page in group if page in BACK]
    back = [Sheet(f"chapters/appendix/{page}", BACK[page], f"{BACK[page][0]}-") for page in pages]
    return opening + chapters + closing + back


def chosen(sheets: list[Sheet], names: list[str]) -> list[Sheet]:
    """Choose the pages that are named, all of them where none is.

    Raises
    ------
    ValueError
        When there is no page of a name.
    """
    known = {sheet.name: sheet for sheet in sheets}
    for name in names:
        if name not in known:
            raise ValueError(f"{name!r} is not printed; one of {', '.join(known)}")
    return [known[name] for name in names] or sheets
