"""Sphinx extension: a display formula that Markdown did not take for one is a warning.

``$$`` begins a display formula only behind an empty line, and ends it only at the end of a line.
Anywhere else the outer dollars stay in the text, and what is between them becomes a formula of the
line: the page looks nearly right, and no equation has a number.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util import logging

logger = logging.getLogger(__name__)

ADVICE = "put an empty line before the first `$$`, and nothing but a label behind the last"


def left_over(document: nodes.document) -> Iterator[tuple[nodes.Element, int, str]]:
    """Find the formulas between stray dollars, and those that never end.

    Parameters
    ----------
    document : nodes.document
        A page that was read.

    Yields
    ------
    tuple
        The paragraph or heading, how many lines below its first one it happens, and the text there.
    """
    for element in document.findall(nodes.TextElement):
        if isinstance(element, nodes.FixedTextElement | nodes.literal | nodes.math):
            continue  # code, and formulas themselves
        block, lines = _block(element)
        for part in element.children:
            before, behind = _neighbor(part, -1), _neighbor(part, 1)
            if isinstance(part, nodes.math) and before.endswith("$") and behind.startswith("$"):
                yield block, lines, f"${part.astext()}$"
            elif isinstance(part, nodes.Text) and part.startswith("$$") and before in {"", "\n"}:
                yield block, lines, str(part)
            lines += part.astext().count("\n")


def _block(element: nodes.Element) -> tuple[nodes.Element, int]:
    """Find the paragraph around emphasized or linked words, and how far down in it they begin."""
    lines = 0
    while isinstance(element, nodes.Inline) and element.parent is not None:
        before = element.parent[: element.parent.index(element)]
        lines += sum(part.astext().count("\n") for part in before)
        element = element.parent
    return element, lines


def _neighbor(part: nodes.Node, step: int) -> str:
    """Return the text beside a part of a paragraph, if text stands there."""
    place = part.parent.index(part) + step
    beside = part.parent[place] if 0 <= place < len(part.parent) else None
    return str(beside) if isinstance(beside, nodes.Text) else ""


def warn(app: Sphinx, document: nodes.document) -> None:
    """Name each of them with its line."""
    for paragraph, lines, text in left_over(document):
        formula = " ".join(text.split())
        logger.warning(
            "`$$` beside other text begins no formula, and stays on the page: %s; %s",
            formula[:60],
            ADVICE,
            location=(app.env.docname, (paragraph.line or 0) + lines),
            type="primer",
            subtype="dollars",
        )


def setup(app: Sphinx) -> dict[str, Any]:
    """Look at each page once it is read, before anything else does."""
    app.connect("doctree-read", warn, priority=100)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
