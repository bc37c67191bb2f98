"""Sphinx extension: the lines that ``primer.notebook`` prints stand out among the outputs.

A line that begins with ✓ is a check that held, ✗ one that did not, ○ an exercise that waits,
→ the answer to a question, and ~ a number that differs between machines.  Measured lines with gaps
in them are the rows of a table, which must not be broken.
"""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform

KINDS = {"✓": "held", "✗": "failed", "○": "waiting", "→": "answer", "~": "measured"}

_LINE = re.compile(r"(?P<mark>[✓✗○→~]) (?P<text>.+)")


def mark_line(line: str) -> list[nodes.Node]:
    """Turn one line of output into nodes: mark and text, or only text.

    Examples
    --------
    >>> [node.astext() for node in mark_line("✓ 2 = 2: holds")[0]]
    ['✓', ' 2 = 2: holds']
    >>> mark_line("an ordinary line")
    [<#text: 'an ordinary line'>]
    """
    found = _LINE.fullmatch(line)
    if not found:
        return [nodes.Text(line)]
    parts: list[nodes.Node] = [
        nodes.inline("", found["mark"], classes=["mark"]),
        nodes.Text(f" {found['text']}"),
    ]
    return [nodes.inline("", "", *parts, classes=["check", KINDS[found["mark"]]])]


class MarkChecks(SphinxPostTransform):
    """Mark the lines of every stream of output that holds a check."""

    default_priority = 400
    formats = ("html",)

    def run(self, **kwargs: Any) -> None:
        """Replace the text of the outputs by marked lines."""
        for block in self.document.findall(nodes.literal_block):
            lines = block.astext().removesuffix("\n").split("\n")  # a blank line may be the last
            if "stream" not in block["classes"] or not any(map(_LINE.fullmatch, lines)):
                continue
            block.clear()
            block["classes"].append("checks")
            if any(line.startswith("~") and "  " in line.strip() for line in lines):
                block["classes"].append("columns")
            for number, line in enumerate(lines):
                block += [nodes.Text("\n")] if number else []
                block += mark_line(line)
            block += nodes.Text("\n")
            block.rawsource = ""  # differs from the text: the writer then keeps our nodes


def setup(app: Sphinx) -> dict[str, Any]:
    """Mark the outputs when a page is written."""
    app.add_post_transform(MarkChecks)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
