"""Sphinx extension: a guess, a question and a task know which of their choices is right.

Such a box is an admonition of class ``guess``, ``question`` or ``task`` that holds a dropdown for
each choice; the reply to exactly one of them begins with "Right.".  That reads well everywhere, in
JupyterLab and on paper too.  The build gives each choice the class ``right`` or ``wrong``, by which
the style sheet colors it once it is open, and one name to all choices of a box, by which the
browser keeps no more than one of them open.  :file:`guesses.js` and :file:`asking.js` only
remember, in the reader's own browser, what was chosen first.  A box without a right choice, or with
two, is a warning, so it stops our build.  (Questions and tasks that a number answers are the
business of :mod:`press.pages.predictions`, lines to put in order of :mod:`press.pages.orders`.)

`jupyterquiz <https://github.com/jmshea/jupyterquiz>`_ was looked at first.  Its questions are the
output of a code cell, so nothing is seen of them where no script runs, in print or in a notebook
that is not trusted; formulas in them want MathJax from another site, where ours are rendered when
the book is built; its replies are not announced to screen readers, and not remembered.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util import logging
from sphinx_design.dropdown import dropdown_main

from press.audit.asking import ANSWER, ORDERED, SEEN, faults_of_choices, is_right

logger = logging.getLogger(__name__)


def boxes_of(document: nodes.document, *kinds: str) -> Iterator[nodes.admonition]:
    """Give the boxes of a page that are of some kinds, ``guess`` or ``order``."""
    for box in document.findall(nodes.admonition):
        if set(kinds) & set(box["classes"]):
            yield box


def folds_of(box: nodes.admonition) -> list[nodes.container]:
    """Return the folds of a box, each a dropdown of sphinx-design."""
    return [node for node in box.findall(nodes.container) if _is_dropdown(node)]


def choices_of(box: nodes.admonition) -> list[nodes.container]:
    """Return the choices of a box: its folds, unless one of them holds the answer."""
    folds = folds_of(box)
    answers = "guess" not in box["classes"] and len(folds) == 1
    return [] if answers and folds[0][0].astext() in (ANSWER, SEEN, ORDERED) else folds


def _is_dropdown(node: nodes.Element) -> bool:
    return bool(node.get("design_component") == "dropdown" and node["has_title"])


def reply_to(choice: nodes.container) -> str:
    """Return the words behind a choice."""
    return " ".join(node.astext() for node in choice[1:])


def question_of(box: nodes.admonition) -> str:
    """Return the words of a box before its choices."""
    question = [node for node in box[1:] if not _is_dropdown(node)]
    return " ".join(node.astext().replace("\n", " ") for node in question)


def mark_choices(app: Sphinx, document: nodes.document) -> None:
    """Mark the choices of each box, and report what is wrong with it."""
    for box in boxes_of(document, "guess", "question", "task"):
        choices = choices_of(box)
        guess = "guess" in box["classes"]
        if not choices and not guess:
            continue
        kind = next(kind for kind in ("guess", "question", "task") if kind in box["classes"])
        answers = [(choice[0].astext(), reply_to(choice)) for choice in choices]
        for sentence in faults_of_choices(kind, question_of(box), answers):
            logger.warning("%s", sentence, location=box, type="guess")
        if guess:
            # What was guessed is remembered under this name: another question has another one.
            words = "\n".join([question_of(box), *(choice for choice, _ in answers)])
            box["ids"].append(f"guess-{hashlib.sha256(words.encode()).hexdigest()[:8]}")
        for choice, (_, reply) in zip(choices, answers, strict=True):
            choice["details_name"] = box["ids"][-1] if box["ids"] else kind
            choice["container_classes"] = ["choice", "right" if is_right(reply) else "wrong"]


class OwnStyle(SphinxPostTransform):
    """Take from choices and answers the classes of sphinx-design, whose cards are not theirs."""

    default_priority = 200  # after sphinx-design, at 199, has made <details> of them
    formats = ("html",)

    def run(self, **kwargs: Any) -> None:
        """Leave each fold three classes: of itself, of its words and of its reply."""
        for details in self.document.findall(dropdown_main):
            own = next((one for one in ("choice", "fold") if one in details["classes"]), "")
            if own:
                summary, reply = details.children
                del summary[1:]  # the arrow
                details["classes"] = details["classes"][details["classes"].index(own) :]
                summary["classes"], summary[0]["classes"] = [], ["words"]
                reply["classes"] = ["reply"]


def setup(app: Sphinx) -> dict[str, Any]:
    """Mark the choices of each page once it is read."""
    app.connect("doctree-read", mark_choices)
    app.add_post_transform(OwnStyle)
    app.add_css_file("guesses.css", priority=910)
    app.add_js_file("memory.js", priority=490, defer="defer")
    app.add_js_file("asking.js", priority=492, defer="defer")
    app.add_js_file("guesses.js", defer="defer")
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
