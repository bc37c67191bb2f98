"""Pieces of a page of the site, written so that they can stand on a slide."""

from __future__ import annotations

import posixpath
import re
from urllib.parse import urldefrag

from bs4 import BeautifulSoup
from bs4.element import NavigableString, Tag

BELOW = "slides"
"""The folder of the site in which the decks lie."""
_SPARE = "script, style, button, form, input, .headerlink, .widget-embed, .run-place"
"""What a slide has no use for."""
_KEPT = {
    "*": ("class", "style", "title", "lang", "aria-hidden", "aria-label", "role"),
    "a": ("href",),
    "img": ("src", "alt", "width", "height"),
    "source": ("srcset", "media"),
    "td": ("colspan", "rowspan"),
    "th": ("colspan", "rowspan", "scope"),
    "ol": ("start",),
}
"""The attributes that stay, by tag."""
_DRAWN = ("math", "svg")
"""In which all attributes stay: formulas, and the signs of roots in them."""


def slide(heading: str, body: str, *, kind: str = "", source: str = "") -> str:
    """Write a slide; the heading is HTML."""
    name = f' class="{kind}"' if kind else ""
    return f"<section{name}>\n<h2>{heading}</h2>\n{body}\n{source}</section>"


def words_of(element: Tag | NavigableString | None) -> str:
    """Read the words of a heading, without its link and with the TeX of its formulas."""
    if not isinstance(element, Tag):
        return ""
    copied = BeautifulSoup(element.decode(), "html.parser")
    for spare in copied.select(".headerlink, .katex-html, .katex-mathml mrow"):
        spare.decompose()
    return re.sub(r"\s+", " ", copied.get_text()).strip()


def moved(text: str, page: str) -> str:
    """Write a piece of a page for a deck: its links lead to the site, and nothing is an anchor."""
    piece = BeautifulSoup(text, "html.parser")
    for spare in piece.select(_SPARE):
        spare.decompose()
    for element in piece.find_all(True):
        if element.name in _DRAWN or element.find_parent(_DRAWN):
            continue
        kept = (*_KEPT["*"], *_KEPT.get(element.name, ()))
        element.attrs = {name: value for name, value in element.attrs.items() if name in kept}
        for name in ("href", "src", "srcset"):
            if name in element.attrs:
                element[name] = led(str(element[name]), page)
    return piece.decode()


def led(address: str, page: str) -> str:
    """Write an address of a page as one of a deck.

    Examples
    --------
    >>> led("#here", "chapters/one"), led("two.html#there", "chapters/one")
    ('../chapters/one.html#here', '../chapters/two.html#there')
    >>> led("../_images/a.svg", "chapters/one"), led("https://doi.org/1", "chapters/one")
    ('../_images/a.svg', 'https://doi.org/1')
    """
    if re.match(r"[a-z]+:", address):
        return address
    path, anchor = urldefrag(address)
    to = (
        posixpath.normpath(posixpath.join(posixpath.dirname(page), path))
        if path
        else f"{page}.html"
    )
    return f"../{to}" + (f"#{anchor}" if anchor else "")
