"""Sphinx extension: what the head of a page says of it, to those who have not opened it.

A search engine and a link that is sent to a friend show a page's description: the beginning of its
first paragraph.  The theme and docutils each say how wide the page is on a telephone; once is
enough.
"""

from __future__ import annotations

import re
from html import escape
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

LONGEST = 200
"""Characters of a description; search engines show 150 or so."""
SHORTEST = 60
"""Characters from which on a paragraph says something: a link alone does not."""

_VIEWPORT = re.compile(r'\s*<meta (?=[^>]*name="viewport")[^>]*>')


def shortened(text: str, longest: int = LONGEST) -> str:
    """Return a text on one line, cut after a sentence or a word.

    Examples
    --------
    >>> shortened("One word. And two more words.", 20)
    'One word.'
    >>> shortened("One word and two more words.", 20)
    'One word and two …'
    """
    text = " ".join(text.split())
    if len(text) <= longest:
        return text
    start = text[: longest - 1]
    sentences = re.match(r".*[.?!](?= )", start)
    if sentences and len(sentences[0]) > longest // 3:
        return sentences[0]
    return f"{start.rpartition(' ')[0]} …"


def description(tree: nodes.document) -> str:
    """Return what a page says first, without its formulas; empty when it says nothing."""
    for paragraph in tree.findall(nodes.paragraph):
        if list(paragraph.findall(nodes.math)):
            continue
        if len(text := paragraph.astext()) >= SHORTEST:
            return shortened(text)
    return ""


def describe(
    app: Sphinx, page: str, template: str, context: dict[str, Any], tree: nodes.document | None
) -> None:
    """Write the description, and take the second word on the width away."""
    tags = _VIEWPORT.sub("", context.get("metatags") or "")
    words = description(tree) if tree is not None else ""
    if words and 'name="description"' not in tags:
        tags += f'\n    <meta name="description" content="{escape(words)}" />'
    context["metatags"] = tags


def setup(app: Sphinx) -> dict[str, Any]:
    """Come after the extension for Open Graph tags, which may describe the page already."""
    app.connect("html-page-context", describe, priority=600)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
