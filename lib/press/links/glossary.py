"""Sphinx extension: a line of letters above the glossary, each a link to its first term.

A letter with which no term begins stands there too, so that the line has the same shape always,
but is no link.
"""

from __future__ import annotations

from string import ascii_uppercase
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx


def first_terms(glossary: addnodes.glossary) -> dict[str, str]:
    """Return the id of the first term of each letter."""
    found: dict[str, str] = {}
    for term in glossary.findall(nodes.term):
        found.setdefault(term.astext()[0].upper(), term["ids"][0])
    return found


def add_letters(app: Sphinx, document: nodes.document) -> None:
    """Put the line of letters above each glossary."""
    for glossary in list(document.findall(addnodes.glossary)):
        first = first_terms(glossary)
        letters = nodes.bullet_list(classes=["letters"])
        for letter in [*ascii_uppercase, *sorted(set(first) - set(ascii_uppercase))]:
            text: nodes.Node = nodes.inline("", letter)
            if letter in first:
                text = nodes.reference("", letter, internal=True, refid=first[letter])
            letters += nodes.list_item("", nodes.paragraph("", "", text))
        place = glossary.parent.index(glossary)
        glossary.parent.insert(
            place,
            [
                nodes.raw("", '<nav aria-label="Letters of the glossary">', format="html"),
                letters,
                nodes.raw("", "</nav>", format="html"),
            ],
        )


def setup(app: Sphinx) -> dict[str, Any]:
    """Add the letters once the page is read."""
    app.connect("doctree-read", add_letters)
    app.add_css_file("appendix.css", priority=910)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
