"""Sphinx extension: every node of a page belongs to the document of that page.

MyST reads an ``{eval-rst}`` block into a document of its own, whose settings hold the whole build
environment.  The nodes it hands over still name that document, so each page of the library
reference would be stored together with all that Sphinx knows: three megabytes a page, which every
later build reads again to number the figures.
"""

from __future__ import annotations

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx


def adopt(app: Sphinx, document: nodes.document) -> None:
    """Let the nodes name the document that holds them."""
    for node in document.findall():
        node.document = document


def setup(app: Sphinx) -> dict[str, Any]:
    """Look at each page once it is read."""
    app.connect("doctree-read", adopt)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
