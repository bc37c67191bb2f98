"""Builds by term, side by side: the book as a course began with it stays while the book goes on.

``make term TERM=2027-spring`` keeps a copy of the built site in ``_build/terms`` and shows it at
``terms/2027-spring/`` of the site.  Each page of a kept site says first which book it is, links its
own newest form, and asks search engines not to list it.  A term is kept once: a course that has
begun does not find other numbers in the middle.  ``make terms`` puts all that are kept onto the
site, after it was built anew.

Run ``python -m press.downloads.terms [TERM]`` in the root of the book.
"""

from __future__ import annotations

import html
import os
import re
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import yaml

from press.publish.theme_marks import ARTICLE
from press.site import SITE, TERMS, Place, page_names

KEPT = Path("_build/terms")
"""Where terms are kept; a new build of the site leaves it as it is."""
PAGE = Path("chapters/appendix/changes.html")

_ARTICLE = re.compile(rf'<article class="{ARTICLE}"[^>]*>')
_HEAD_ENDS = re.compile(r"(?=</head>)")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,40}")
_NOT_LISTED = '<meta name="robots" content="noindex">\n'
_MARK = "data-kept-term"


def keep(site: Path, kept: Path, term: str, version: str) -> Path:
    """Keep a copy of the built site for a term, each page marked as such.

    Parameters
    ----------
    site : Path
        The folder of the built site.
    kept : Path
        Where terms are kept.
    term : str
        Its public name, for example ``"2027-spring"``.
    version : str
        The version of the book.

    Returns
    -------
    Path
        The folder of the kept site.

    Raises
    ------
    ValueError
        When the name is no name of a folder, the site is not there, or the term is kept already.
    """
    if not _NAME.fullmatch(term):
        raise ValueError(
            f"TERM={term!r} is to be the name of a folder: letters, digits, dots and dashes, "
            "for example 2027-spring"
        )
    if not (site / "index.html").is_file():
        raise ValueError(f"{site} is not there yet: run `make book` first.")
    folder = kept / term
    if folder.exists():
        raise ValueError(
            f"{folder} is kept already, and a term does not change: choose another name, or "
            "delete the folder if nobody reads it yet"
        )
    kept.mkdir(parents=True, exist_ok=True)
    half = kept / f".{term}.half"  # a copy that is broken off is no term
    shutil.rmtree(half, ignore_errors=True)
    shutil.copytree(site, half, ignore=_without(site / TERMS))
    for page in page_names(half):
        file = half / page
        file.write_text(marked(file.read_text("utf-8"), page, term, version), encoding="utf-8")
    half.rename(folder)
    return folder


def _without(left_out: Path) -> Callable[[str, list[str]], list[str]]:
    """Leave one folder out of a copy."""
    return lambda folder, names: [name for name in names if Path(folder, name) == left_out]


def marked(text: str, page: str, term: str, version: str) -> str:
    """Say at the head of a page which term it belongs to, with a link to its newest form.

    Examples
    --------
    >>> page = '<head></head><article class="bd-article">Sums</article>'
    >>> print(marked(page, "chapters/01.html", "2027-spring", "0.2.0"))  # doctest: +ELLIPSIS
    <head><meta name="robots" content="noindex">
    </head><article class="bd-article">
    <aside ... href="../../../chapters/01.html">the newest form of this page</a>...
    """
    newest = os.path.relpath(page, Path(TERMS, term, page).parent).replace(os.sep, "/")
    note = (
        f'<aside class="admonition note" {_MARK} aria-label="Term">\n'
        f'<p class="admonition-title">The book of the term {html.escape(term)}</p>\n'
        f"<p>Version {html.escape(version)}, kept as it was when the course began. There is "
        f'<a href="{newest}">the newest form of this page</a>, too.</p>\n</aside>\n'
    )
    text = _HEAD_ENDS.sub(_NOT_LISTED, text, count=1)
    return _ARTICLE.sub(lambda begins: f"{begins[0]}\n{note}", text, count=1)


def show(site: Path, kept: Path) -> list[str]:
    """Put all terms that are kept onto the site, and list them on its page of changes.

    Parameters
    ----------
    site : Path
        The folder of the built site.
    kept : Path
        Where terms are kept.

    Returns
    -------
    list of str
        The terms, the latest name first.

    Raises
    ------
    ValueError
        When the page of changes is not there, or has no place for the list.
    """
    place = Place(site / PAGE, "terms")
    found = sorted(kept.glob("*/index.html"), reverse=True) if kept.is_dir() else []
    terms = [index.parent.name for index in found if not index.parent.name.startswith(".")]
    shutil.rmtree(site / TERMS, ignore_errors=True)
    for term in terms:
        shutil.copytree(kept / term, site / TERMS / term)
    up = "../" * (len(PAGE.parts) - 1)
    lines = [f'<li><p><a href="{up}{TERMS}/{one}/index.html">{one}</a></p></li>' for one in terms]
    if terms:
        place.fill('<ul class="simple">\n' + "\n".join(lines) + "\n</ul>\n")
    return terms


def main() -> int:
    """Keep a term, if one is named, and show all; or say what is missing."""
    try:
        if term := "".join(sys.argv[1:2]):
            version = yaml.safe_load(Path("CITATION.cff").read_text("utf-8"))["version"]
            print(f"{keep(SITE, KEPT, term, version)} keeps the site as it is.")
        terms = show(SITE, KEPT)
    except (ValueError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    shown = ", ".join(terms) or "none is kept: `make term TERM=2027-spring` keeps one"
    print(f"Terms beside the newest book: {shown}.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
