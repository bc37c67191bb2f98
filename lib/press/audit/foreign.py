"""What of a notebook runs, leads away or tells in a browser, before it is a page.

Who reads a change of a notebook reads its text and code, seldom its outputs; a site shows them all.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator

from markdown_it import MarkdownIt
from markdown_it.token import Token
from nbformat import NotebookNode

from press.audit.markup import faults_of_markup

MARKUP = ("text/html", "image/svg+xml", "text/markdown")
"""Kinds of output that are markup, or may hold some."""
RUNS = ("application/javascript", "text/javascript", "application/x-javascript")
"""Kinds of output that are scripts."""
VERBATIM = ("code", "math", "literalinclude", "bibliography")
"""Directives that show what they hold, letter by letter."""

_MARKDOWN = MarkdownIt("commonmark")


def markup_of(text: str) -> Iterator[str]:
    r"""Give the HTML in a text in MyST, without what it only shows as code.

    Examples
    --------
    >>> list(markup_of("a <b>c</b>\n\n```html\n<i>\n```\n\n```{note}\n<p>d\n```"))
    ['<b>', '</b>', '<p>d\n']
    """
    for token in _MARKDOWN.parse(text):
        yield from _markup_in(token)


def _markup_in(token: Token) -> Iterator[str]:
    """Give the HTML in a piece of a text."""
    if token.type in {"html_block", "html_inline"}:
        yield token.content
    directive = token.info.removeprefix("{") if token.type == "fence" else ""
    if directive != token.info and directive.startswith("raw}"):
        yield token.content
    elif directive != token.info and directive and not directive.startswith(VERBATIM):
        yield from markup_of(token.content)
    for child in token.children or ():
        yield from _markup_in(child)


def faults_of_foreign(cell: NotebookNode) -> Iterator[str]:
    """Say what of a cell's text, attachments and outputs may be on no page.

    Parameters
    ----------
    cell : NotebookNode
        Of any kind.
    """
    if cell.cell_type == "markdown":
        for fault in faults_of_markup("\n".join(markup_of(cell.source))):
            yield f"the text holds {fault}"
    elif cell.cell_type == "raw":
        for fault in faults_of_markup(cell.source):
            yield f"the text holds {fault}"
    for name, kinds in cell.get("attachments", {}).items():
        for kind, data in kinds.items():
            yield from (f"the attachment {name!r} holds {fault}" for fault in _faults(kind, data))
    for output in cell.get("outputs", []):
        for kind, data in output.get("data", {}).items():
            yield from (f"an output holds {fault}" for fault in _faults(kind, data))


def _faults(kind: str, data: object) -> Iterator[str]:
    """Look at what a cell brings with it, of one kind."""
    kind = kind.partition(";")[0].strip().lower()
    if kind in RUNS:
        yield f"a script ({kind})"
    if kind not in MARKUP or not isinstance(data, str):
        return
    text = data
    if "<" not in data:  # attachments are written in base64
        try:
            text = base64.b64decode(data, validate=True).decode("utf-8", "replace")
        except (binascii.Error, ValueError):
            text = data
    yield from faults_of_markup("\n".join(markup_of(text)) if kind == "text/markdown" else text)
