"""Sphinx extension: repair what Sphinx and its themes write and screen readers trip over."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

REPAIRS = {
    # a bibliography's roles contradict each other
    '<div role="list" class="citation-list">': '<div class="citation-list">',
    ' role="doc-biblioentry"': "",
    # an empty corner of a table is no header
    '<th class="head"><p></p></th>': "<td></td>",
    # the label of a hidden cell hides the words that are seen
    '<summary aria-label="Toggle hidden content">': "<summary>",
}


def repair(body: str) -> str:
    """Repair the text of a page.

    Examples
    --------
    >>> repair('<div role="list" class="citation-list"><div role="doc-biblioentry">')
    '<div class="citation-list"><div>'
    """
    for broken, whole in REPAIRS.items():
        body = body.replace(broken, whole)
    return body


def repair_page(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: nodes.document
) -> None:
    """Repair the body of a page before the template takes it."""
    if "body" in context:
        context["body"] = repair(context["body"])


def setup(app: Sphinx) -> dict[str, Any]:
    """Repair every page."""
    app.connect("html-page-context", repair_page)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
