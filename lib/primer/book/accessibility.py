"""Sphinx extension: repair what Sphinx and its themes write and screen readers trip over."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx


def repair_citations(body: str) -> str:
    """Take away roles of a bibliography that contradict each other.

    Examples
    --------
    >>> repair_citations('<div role="list" class="citation-list"><div role="doc-biblioentry">')
    '<div class="citation-list"><div>'
    """
    return body.replace(
        '<div role="list" class="citation-list">', '<div class="citation-list">'
    ).replace(' role="doc-biblioentry"', "")


def repair_page(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: nodes.document
) -> None:
    """Repair the body of a page before the template takes it."""
    if "body" in context:
        context["body"] = repair_citations(context["body"])


def setup(app: Sphinx) -> dict[str, Any]:
    """Repair every page."""
    app.connect("html-page-context", repair_page)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
