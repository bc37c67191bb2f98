"""Sphinx extension: lines to put in order know their places, and which of them do not belong.

The lines are bullets, mixed, with one or two decoys among them; the fold ``In order`` numbers those
that belong and replies to each decoy in a paragraph of its own.  The build compares them and gives
each bullet its place as a class, ``place-2``, or ``place-0`` for a decoy, and each reply that of
its bullet.  :file:`orders.js` lets a reader move the lines.  Without scripts, and on paper, the
bullets and the fold stand as they were written.

Such exercises are known as Parsons problems: Ericson, Margulieux, Rick (2017), *Solving Parsons
problems versus fixing and writing code*.
"""

from __future__ import annotations

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util import logging

from press.audit.asking import ORDERED
from press.pages.guesses import boxes_of, folds_of

logger = logging.getLogger(__name__)

CHECK = (
    '<button type="button" class="check-order">Check</button>'
    '<div class="reply" role="status"></div>'
)
"""What stands below the lines where scripts run."""


def _words(node: nodes.Element) -> str:
    return " ".join(node.astext().split())


def mark_order(box: nodes.admonition) -> list[str]:
    """Give the lines of a box their places; return sentences about what does not fit."""
    folds = folds_of(box)
    bullets = next((node for node in box.children if isinstance(node, nodes.bullet_list)), None)
    if bullets is None or [fold[0].astext() for fold in folds] != [ORDERED]:
        return [f"lines to put in order are bullets, with one fold {ORDERED!r}"]
    fold = folds[0]
    fold["container_classes"] = ["fold", "fold-answer"]
    bullets.parent.insert(bullets.parent.index(bullets) + 1, nodes.raw("", CHECK, format="html"))
    lines = [_words(item) for numbered in fold.findall(nodes.enumerated_list) for item in numbered]
    known = [_words(bullet) for bullet in bullets]
    decoys = [line for line in known if line not in lines]
    for bullet, line in zip(bullets, known, strict=True):
        bullet["classes"].append(f"place-{lines.index(line) + 1 if line in lines else 0}")
    replies = {
        _words(first): paragraph
        for paragraph in fold.children
        if isinstance(paragraph, nodes.paragraph)
        and isinstance(first := paragraph[0], nodes.emphasis)
    }
    for line in decoys:
        if line in replies:
            replies[line]["classes"] += ["decoy", f"of-{known.index(line)}"]
    return [
        *(f"the line {line!r} is none of the bullets" for line in lines if line not in known),
        *(f"nothing replies to the decoy {line!r}" for line in decoys if line not in replies),
    ]


def mark_orders(app: Sphinx, document: nodes.document) -> None:
    """Mark the lines of each box of a page, and report what is wrong with it."""
    for box in boxes_of(document, "order"):
        for sentence in mark_order(box):
            logger.warning("%s", sentence, location=box, type="guess")


def setup(app: Sphinx) -> dict[str, Any]:
    """Mark the lines of each page once it is read."""
    app.connect("doctree-read", mark_orders)
    app.add_css_file("orders.css", priority=910)
    app.add_js_file("memory.js", priority=490, defer="defer")
    app.add_js_file("asking.js", priority=492, defer="defer")
    app.add_js_file("orders.js", defer="defer")
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
