"""Sphinx extension: what of a program has the color of text needs no element of its own.

Pygments puts every name, bracket and space of a program into an element, also where the style gives
them the color of all the rest: half of the elements of a listing, and a fifth of those of a long
chapter, which a browser would make, style and keep for nothing.
"""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

PLAIN = ("n", "p", "w", "nn")
"""Pygments' classes of names, punctuation, spaces and modules: plain in both of our styles."""

_LISTING = re.compile(r'<div class="highlight"><pre>.*?</pre>', re.DOTALL)
_SPAN = re.compile(rf'<span class="(?:{"|".join(PLAIN)})">([^<]*)</span>')


def plain(body: str) -> str:
    """Take the elements of plain text out of the listings of a page.

    Examples
    --------
    >>> plain('<div class="highlight"><pre><span class="n">f</span><span class="o">=</span></pre>')
    '<div class="highlight"><pre>f<span class="o">=</span></pre>'
    >>> plain('<span class="n">no listing</span>')
    '<span class="n">no listing</span>'
    """
    return _LISTING.sub(lambda listing: _SPAN.sub(r"\1", listing[0]), body)


def plain_page(
    app: Sphinx, page: str, template: str, context: dict[str, Any], tree: nodes.document | None
) -> None:
    """Look at the listings of a page before the template takes it."""
    if tree is not None:
        context["body"] = plain(context["body"])


def setup(app: Sphinx) -> dict[str, Any]:
    """Come when the page is written."""
    app.connect("html-page-context", plain_page)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
