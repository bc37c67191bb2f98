"""A page of the site as a page of an e-book: the same words, formulas in MathML, still pictures.

What needs a script goes, or becomes what it is on paper: a widget is its picture, a question keeps
its choices and replies in folds, and code of settings and checks stays on the site.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urldefrag
from xml.etree import ElementTree

from bs4.element import Tag

from press.site import article_of

WITHOUT = (
    "script, style, button, form, input, svg, .katex-html, .headerlink, .widget-view, "
    ".widget-embed, .run-place, .toggle-button, .sd-summary-state-marker, .reading-line, "
    ".fold-setup, .fold-figure, .fold-library, .fold-exercise, .fold-check, "
    ".tag_exercise .cell_output, .to-cards, iframe, audio, video, object"
)
"""What an e-book has no use for."""
KEPT = {
    "*": ("id", "class", "title", "lang"),
    "a": ("href",),
    "img": ("src", "alt"),
    "td": ("colspan", "rowspan"),
    "th": ("colspan", "rowspan", "scope"),
    "ol": ("start",),
}
"""The attributes that stay, by tag; those of formulas all stay."""
RENAMED = {"fieldset": "div", "legend": "p", "label": "span", "figcaption": "p", "figure": "div"}
IMAGES = "images"
SVG = "{http://www.w3.org/2000/svg}"
ElementTree.register_namespace("", SVG[1:-1])
ElementTree.register_namespace("xlink", "http://www.w3.org/1999/xlink")

_DOCUMENT = """<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE html>
<html xmlns="http://www.w3.org/1999/xhtml" lang="en" xml:lang="en">
<head><meta charset="utf-8"/><title>{title}</title><link rel="stylesheet" href="epub.css"/></head>
<body>{body}</body>
</html>
"""


@dataclass(frozen=True)
class Page:
    """A page of an e-book.

    Attributes
    ----------
    text : str
        XHTML.
    images : mapping of str to Path
        The pictures that it shows: the name in the e-book → the file of the site.
    sections : list of (str, str)
        Anchor and words of each section, for the contents.
    has_math : bool
        Whether it has formulas.
    """

    text: str
    images: Mapping[str, Path]
    sections: list[tuple[str, str]]
    has_math: bool


def bare_article(site: Path, page: str) -> Tag:
    """Read the article of a page, without what an e-book has no use for."""
    article = article_of(site, page)
    for picture in article.select("noscript"):  # of a widget
        picture.unwrap()
    for element in article.select(WITHOUT):
        element.decompose()
    for element in article.select("picture"):
        image = element.find("img")
        if isinstance(image, Tag):
            element.replace_with(image.extract())
    _formulas(article)
    _plain(article)
    return article


def _formulas(article: Tag) -> None:
    """Leave of a formula its MathML, with what was written in TeX as the words for it."""
    for formula in article.select(".katex-mathml > math"):
        source = formula.find("annotation")
        if isinstance(source, Tag):
            formula["alttext"] = source.get_text().strip()
            source.decompose()
        semantics = formula.find("semantics")
        if isinstance(semantics, Tag):
            semantics.unwrap()
        whole = formula.find_parent(class_="katex-display") or formula.find_parent(class_="katex")
        if isinstance(whole, Tag):
            whole.replace_with(formula.extract())

    for table in article.find_all("mtable", columnspacing=re.compile(r"^\s*$")):
        del table["columnspacing"]


def _plain(article: Tag) -> None:
    """Keep the tags and attributes that every reading system knows, and each anchor once."""
    seen: set[str] = set()
    for element in article.find_all(True):
        if element.find_parent("math") or element.name == "math":
            continue
        element.name = RENAMED.get(element.name, element.name)
        kept = (*KEPT["*"], *KEPT.get(element.name, ()))
        element.attrs = {name: value for name, value in element.attrs.items() if name in kept}
        if element.get("id") in seen:
            del element["id"]
        elif "id" in element.attrs:
            seen.add(str(element["id"]))


def picture(file: Path) -> bytes:
    """Read a picture; what e-books have no place for is left out of a drawing.

    That is its type and what it says of the program that drew it; lines without a shape get one.

    Raises
    ------
    ValueError
        When a drawing is none.
    """
    content = file.read_bytes()
    if file.suffix != ".svg":
        return content
    try:
        drawing = ElementTree.fromstring(content)
    except ElementTree.ParseError as error:
        raise ValueError(f"{file} is no drawing that XML reads: {error}") from None
    for element in list(drawing.iter()):
        for child in list(element):
            if child.tag == f"{SVG}metadata":
                element.remove(child)
            elif child.tag == f"{SVG}path":  # of a space between letters, for example
                child.set("d", child.get("d", "M0 0"))
    written: bytes = ElementTree.tostring(drawing, encoding="utf-8", xml_declaration=True)
    return written


def anchors(article: Tag) -> set[str]:
    """Return the places of a page that a link can lead to."""
    return {str(element["id"]) for element in article.find_all(id=True)}


def made(
    article: Tag, page: str, title: str, places: Mapping[str, set[str]], site: Path, address: str
) -> Page:
    """Make a page of the e-book.

    Parameters
    ----------
    article : Tag
        What :func:`bare_article` read; it is changed.
    page : str
        The page's name in the site, without its ending.
    title : str
        What it is called.
    places : mapping of str to set of str
        The anchors of each page that the e-book has.
    site : Path
        The folder of the built site.
    address : str
        Where the site is on the web, to which links to its other pages lead; ``""`` where it is
        nowhere, and they are words.

    Returns
    -------
    Page
        The page.
    """
    folder = posixpath.dirname(page)
    for link in article.find_all("a"):
        to = leads_to(str(link.get("href", "")), page, places, address)
        if to:
            link["href"] = to
        elif link.get("id"):
            link.name = "span"
            link.attrs.pop("href", None)
        else:
            link.unwrap()
    images: dict[str, Path] = {}
    for image in article.find_all("img"):
        source = str(image["src"])
        image["alt"] = str(image.get("alt", ""))
        if not source.startswith("data:"):  # else it is in the page
            file = site / posixpath.normpath(posixpath.join(folder, unquote(source)))
            image["src"] = name = f"{IMAGES}/{file.name}"
            images[name] = file
    sections = [
        (str(section["id"]), section.h2.get_text().strip())
        for section in article.select("section > section[id]")
        if section.h2 is not None
    ]
    article.name = "section"
    return Page(
        _DOCUMENT.format(title=escape(title), body=article.decode(formatter="minimal")),
        images,
        sections,
        article.find("math") is not None,
    )


def escape(text: str) -> str:
    """Write a text so that XML reads it.

    Examples
    --------
    >>> escape("a < b & c")
    'a &lt; b &amp; c'
    """
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def leads_to(href: str, page: str, places: Mapping[str, set[str]], address: str) -> str:
    """Return where a link of a page leads in the e-book; ``""`` if nowhere.

    Examples
    --------
    >>> places = {"chapters/a": {"one"}, "chapters/b": {"two"}}
    >>> leads_to("b.html#two", "chapters/a", places, "")
    'b.xhtml#two'
    >>> leads_to("b.html#gone", "chapters/a", places, "")
    'b.xhtml'
    >>> leads_to("#one", "chapters/a", places, "")
    'a.xhtml#one'
    >>> leads_to("library/c.html", "chapters/a", places, "https://book.example/")
    'https://book.example/chapters/library/c.html'
    >>> leads_to("library/c.html", "chapters/a", places, "")
    ''
    """
    if href.startswith(("http://", "https://", "mailto:")):
        return href
    path, anchor = urldefrag(href)
    target = posixpath.normpath(posixpath.join(posixpath.dirname(page), path)) if path else page
    target = target.removesuffix(".html")
    if target in places:
        known = f"#{anchor}" if anchor in places[target] else ""
        return f"{posixpath.basename(target)}.xhtml{known}"
    if not (address and path):
        return ""
    return f"{address}{target}.html" + (f"#{anchor}" if anchor else "")
