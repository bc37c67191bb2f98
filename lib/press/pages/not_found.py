"""Sphinx extension: the page that a server shows where there is none, ``404.html``.

GitHub Pages and others send it at the address that was asked for, however deep that is, so the page
cannot name its styles and links from where it stands.  Its template names them from the root of the
site and finds that root; here it gets what it must be told.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from sphinx.application import Sphinx

PAGE, SEARCH = "404", "search"
LOOK_UP = ("chapters/appendix/glossary", "chapters/appendix/notation")
"""Pages that a reader who lost one may want, where the book has them."""


def root_of(site: str) -> str:
    """Return the path at which a site begins.

    Parameters
    ----------
    site : str
        Its address, or nothing where it is not known.

    Examples
    --------
    >>> root_of("https://reader.github.io/runnable-primer")
    '/runnable-primer/'
    >>> root_of("")
    '/'
    """
    return urlsplit(site).path.rstrip("/") + "/"


def add_page(app: Sphinx) -> None:
    """Let the build write the page."""
    if app.builder.format == "html":
        app.config.html_additional_pages[PAGE] = "404.html"


def tell(app: Sphinx, page: str, template: str, context: dict[str, Any], tree: Any) -> None:
    """Give the templates the root of the site and the pages to offer."""
    titles = app.env.titles
    if page in {PAGE, SEARCH}:
        context["look_up"] = [(one, titles[one].astext()) for one in LOOK_UP if one in titles]
    if page == PAGE:
        context["title"] = "This page is not here"
        context["site_root"] = root_of(app.config.html_baseurl)
        app.add_js_file("not-found.js", priority=495, defer="defer")  # to this page alone
        context["chapters"] = [
            (chapter, numbers[""][0], titles[chapter].astext())
            for chapter, numbers in app.env.toc_secnumbers.items()
            if len(numbers.get("") or ()) == 1
        ]


def setup(app: Sphinx) -> dict[str, Any]:
    """Add the page."""
    app.add_js_file("address.js", priority=490, defer="defer")
    app.connect("builder-inited", add_page)
    app.connect("html-page-context", tell)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
