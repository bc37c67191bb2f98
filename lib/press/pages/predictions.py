"""Sphinx extension: a question or a task that a number answers gets a field to predict it in.

Its one fold, ``Answer``, says what the number means; the number itself is printed by a check of
the page (:func:`primer.notebook.answer_to`), so it is the library's.  In front of the fold the page
gets a field; :file:`predictions.js` compares, says how far the prediction is from the number, and
opens the fold.  Without scripts there is no field, and the fold opens by itself, as it always may.
"""

from __future__ import annotations

import html
from typing import Any, NamedTuple

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util import logging

from press.audit.asking import ANSWER, SEEN
from press.audit.form import ANSWERED
from press.pages.guesses import boxes_of, choices_of, folds_of

MEASURES = ("%", "bits", "bytes", "billion", "ms", "nats", "points", "powers of ten")
"""Units in which something is measured; of all others it is asked how many there are."""

logger = logging.getLogger(__name__)


class Number(NamedTuple):
    """What :func:`primer.notebook.answer_to` has printed, without the commas between thousands."""

    value: str
    unit: str
    within: str


def answers_of(document: nodes.document) -> dict[str, Number]:
    """Read the numbers that the checks of a page print, by the names of what they answer."""
    return {
        found[1]: Number(found[2].replace(",", ""), found[3] or "", found[4])
        for block in document.findall(nodes.literal_block)
        if "stream" in block["classes"]
        for line in block.astext().splitlines()
        if (found := ANSWERED.fullmatch(line))
    }


def field(name: str, number: Number) -> str:
    """Write the field for a prediction as HTML.

    Examples
    --------
    >>> field("ask-turns", Number("0.80", "turns", "0.05"))[:62]
    '<form class="prediction" data-value="0.80" data-unit="turns" d'
    >>> "Your prediction: how many turns?" in field("ask-turns", Number("0.80", "turns", "0.05"))
    True
    """
    data = {"value": number.value, "unit": number.unit, "within": number.within}
    written = " ".join(f'data-{key}="{html.escape(value)}"' for key, value in data.items())
    how = f", in {number.unit}" if number.unit in MEASURES else f": how many {number.unit}?"
    label = f"Your prediction{how if number.unit else ''}"
    # outside a dialog this method sends nothing: an answer waits for the scripts of a slow line
    return (
        f'<form class="prediction" {written} method="dialog">'
        f'<label for="{name}-said">{html.escape(label)}</label>'
        f'<input id="{name}-said" type="text" autocomplete="off" spellcheck="false">'
        '<button type="submit">Check</button><p class="reply" role="status"></p></form>'
    )


def add_fields(app: Sphinx, document: nodes.document) -> None:
    """Put a field in front of each answer that is a number, and mark the folds of answers."""
    numbers = answers_of(document)
    for box in boxes_of(document, "question", "task"):
        folds = folds_of(box)
        if choices_of(box) or not folds:
            continue
        (answer,) = folds
        answer["container_classes"] = ["fold", "fold-answer"]
        if answer[0].astext() == SEEN:
            continue
        name = box["ids"][-1] if box["ids"] else ""
        if name in numbers:
            place = answer.parent.index(answer)
            answer.parent.insert(place, nodes.raw("", field(name, numbers[name]), format="html"))
        else:
            sentence = f"no check of the page answers {name or 'a box without a name'}"
            logger.warning("%s, whose fold is %r", sentence, ANSWER, location=box, type="guess")


def setup(app: Sphinx) -> dict[str, Any]:
    """Add the fields to each page once it is read."""
    app.connect("doctree-read", add_fields)
    app.add_css_file("predictions.css", priority=910)
    app.add_js_file("memory.js", priority=490, defer="defer")
    app.add_js_file("asking.js", priority=492, defer="defer")
    app.add_js_file("numbers.js", defer="defer")
    app.add_js_file("predictions.js", defer="defer")
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
