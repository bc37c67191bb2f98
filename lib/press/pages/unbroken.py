"""Sphinx extension: a line does not begin with a comma, nor with the sign of a percentage.

A browser may break a line between a formula, which is a box to it, and the comma that follows: so a
short formula stays together with the punctuation at its sides.  And a number stays with its "%".
"""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

SHORT = 24
"""The most signs a reader sees: a longer formula may have to break inside."""

_COMMAND = re.compile(r"\\[A-Za-z]+|\\.")
_UNSEEN = re.compile(
    r"\\(?:math[a-z]+|operatorname|text|left|right|[bB]igg?[lr]?)(?![A-Za-z])|\\[,;!: ]"
)
_PERCENT = re.compile(r"(?<=\d) (?=%)")

_VERBATIM = (nodes.raw, nodes.literal, nodes.FixedTextElement, nodes.math, nodes.math_block)
"""What is no prose: HTML with an exercise's data in it, code, formulas."""

_OPENING = re.compile(r"[(\[‘“]+$")
_CLOSING = re.compile(r"[,.;:!?)\]’”]+")


def keep_together(app: Sphinx | None, document: nodes.document) -> None:
    """Put short formulas and their punctuation into elements of the class ``unbroken``."""
    for formula in list(document.findall(nodes.math)):
        if signs(formula.astext()) <= SHORT:
            _wrap(formula)
    for text in list(document.findall(nodes.Text)):
        joined = _PERCENT.sub("\u00a0", text)
        if joined != text and not isinstance(text.parent, _VERBATIM):
            text.parent.replace(text, nodes.Text(joined))


def signs(formula: str) -> int:
    r"""Count about how many signs a reader sees of a formula in TeX.

    Examples
    --------
    >>> signs(r"\hat\theta_{n+1} \le \operatorname{max}(x)")
    12
    """
    seen = _COMMAND.sub("x", _UNSEEN.sub("", formula))
    return len(re.sub(r"[{}^_\s]", "", seen))


def _wrap(formula: nodes.math) -> None:
    """Put one formula into such an element, if there is punctuation at its side."""
    parent = formula.parent
    place = parent.index(formula)
    before = _text(parent, place - 1)
    behind = _text(parent, place + 1)
    opening, closing = _OPENING.search(before), _CLOSING.match(behind)
    if not (opening or closing):
        return
    first = opening.start() if opening else len(before)
    last = closing.end() if closing else 0
    together = nodes.inline("", "", classes=["unbroken"])
    parent[place - bool(before) : place + 1 + bool(behind)] = _filled(
        before[:first], together, behind[last:]
    )
    together += _filled(before[first:], formula, behind[:last])


def _text(parent: nodes.Element, place: int) -> str:
    """Return the text that stands at a place, if a text stands there."""
    node = parent[place] if 0 <= place < len(parent) else None
    return str(node) if isinstance(node, nodes.Text) else ""


def _filled(before: str, node: nodes.Node, behind: str) -> list[nodes.Node]:
    """Return a node between two texts, without the texts that are empty."""
    parts = [nodes.Text(before), node, nodes.Text(behind)]
    return [part for part in parts if part is node or part.astext()]


def setup(app: Sphinx) -> dict[str, Any]:
    """Look at each page once it is read."""
    app.connect("doctree-read", keep_together)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
