"""Sphinx extension: ``{cite-this-book}``, the version of the book and how to cite it.

Both are read from ``CITATION.cff``, which GitHub and Zenodo read too, so that no page names an old
version; the address is that of ``_config.yml``, while there is one.
"""

from __future__ import annotations

import datetime
import re
from pathlib import Path
from typing import Any

import yaml
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

CITATION = "CITATION.cff"
CHANGES = "CHANGELOG.md"


def day(date: datetime.date) -> str:
    """Write a date as a sentence does.

    Examples
    --------
    >>> day(datetime.date(2026, 11, 3))
    'November 3, 2026'
    """
    return f"{date:%B} {date.day}, {date.year}"


def reference(book: dict[str, Any], address: str) -> str:
    """Write the book as an entry in a list of references.

    Parameters
    ----------
    book : dict
        What ``CITATION.cff`` says.
    address : str
        Where the book is, or nothing.

    Examples
    --------
    >>> book = {"title": "Sums", "authors": [{"name": "Ada"}], "version": "1.0"}
    >>> reference({**book, "date-released": datetime.date(2026, 11, 3)}, "https://a.example")
    'Ada (2026). Sums. Version 1.0. https://a.example'
    """
    authors = " and ".join(author["name"] for author in book["authors"])
    year, version = book["date-released"].year, book["version"]
    return f"{authors} ({year}). {book['title']}. Version {version}. {address}".strip()


def bibtex(book: dict[str, Any], address: str) -> str:
    """Write the book as an entry for BibTeX.

    Parameters
    ----------
    book : dict
        What ``CITATION.cff`` says.
    address : str
        Where the book is, or nothing.

    Examples
    --------
    >>> book = {"title": "Sums: of LLMs", "authors": [{"name": "Ada"}], "version": "1.0"}
    >>> print(bibtex({**book, "date-released": datetime.date(2026, 11, 3)}, ""))
    @misc{sums2026,
      author = {{Ada}},
      title = {{Sums: of LLMs}},
      year = {2026},
      note = {Version 1.0},
    }
    """
    year = book["date-released"].year
    key = "".join(re.findall("[a-z]+", book["title"].partition(":")[0].lower()))
    fields = {
        "author": " and ".join(f"{{{author['name']}}}" for author in book["authors"]),
        "title": f"{{{book['title']}}}",
        "year": str(year),
        "note": f"Version {book['version']}",
    }
    if address:
        fields["url"] = address
    lines = [f"  {name} = {{{value}}}," for name, value in fields.items()]
    return "\n".join([f"@misc{{{key}{year},", *lines, "}"])


class CiteThisBook(SphinxDirective):
    """``{cite-this-book}``: version, reference and entry for BibTeX."""

    def run(self) -> list[nodes.Node]:
        """Write them."""
        root = Path(self.env.srcdir)
        for name in (CITATION, CHANGES):
            self.env.note_dependency(str(root / name))
        book = yaml.safe_load((root / CITATION).read_text("utf-8"))
        options = self.config.html_theme_options
        address = self.config.html_baseurl or options.get("repository_url", "")
        version = f"This is version {book['version']} of {day(book['date-released'])}"
        if "\n## Unreleased\n" in (root / CHANGES).read_text("utf-8"):
            version += ", with the changes that stand below as “Unreleased”"
        entry = nodes.literal_block("", bibtex(book, address), language="bibtex")
        return [
            nodes.paragraph("", f"{version}. To cite it:"),
            nodes.block_quote("", nodes.paragraph("", reference(book, address))),
            entry,
        ]


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directive."""
    app.add_directive("cite-this-book", CiteThisBook)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
