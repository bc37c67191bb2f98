"""Which pages axe-core reads in `make test`, and in which looks: every kind of element is read.

`make thorough` reads every page in all looks.
"""

from __future__ import annotations

import re

from axe import AT_A_DESK, CROSSED, LOOKS, ON_A_TELEPHONE, Look
from selectolax.lexbor import LexborHTMLParser

from press.site import SITE, page_names

PAGES = page_names(SITE) or ["the site is not built"]

SHORT = {
    "404.html",
    "index.html",
    "chapters/appendix/about.html",
    "chapters/errata/01-statistics.html",
}
LONG = {"chapters/13-scaling.html", "chapters/appendix/library/notebook.html"}
OF_EACH_TEMPLATE = SHORT | LONG
"""A page of each folder: the short ones are read in all looks, the long ones in two."""
ALIKE = re.compile(r"chapters/(\d\d-|errata/|appendix/library/)")
OF_ALL_KINDS = {
    *(f"chapters/{name}.html" for name in ("01-statistics", "02-regression", "03-optimization")),
    *(f"chapters/{name}.html" for name in ("07-attention", "09-transformers", "11-inference")),
    "chapters/16-fourier.html",
    "chapters/18-reasoning.html",
    *(
        f"chapters/appendix/library/{name}.html"
        for name in ("evaluation", "fourier", "regression", "scoreboard", "statistics")
    ),
}
"""Of pages that are much alike those that have, with one of each template, all that any has."""
READ = [name for name in PAGES if name in OF_EACH_TEMPLATE | OF_ALL_KINDS or not ALIKE.match(name)]


def looks(name: str, width: str) -> list[Look]:
    """Return the looks in which axe-core reads a page that was opened at this width.

    What is read at a desk is read after its exercises were answered.
    """
    if name in OF_EACH_TEMPLATE:
        few = LOOKS if name in SHORT else CROSSED
        return few if width == "desk" else []
    if name not in READ:
        return []
    few = ON_A_TELEPHONE if ALIKE.match(name) or READ.index(name) % 2 else AT_A_DESK
    return [look for look in few if look[1] == width]


def kinds(page: LexborHTMLParser) -> set[tuple[str, str]]:
    """Take the formulas out of a page, and return the tags and classes of its elements."""
    for formula in page.css(".katex"):
        formula.decompose()
    found = set()
    for element in page.css("body *"):
        names = (element.attributes.get("class") or "").split()
        own = [name for name in names if not re.match(r"tag_|cell_(?!input|output)", name)]
        found.add((element.tag, " ".join(own) or element.parent.tag))
    return found
