"""Sphinx extension: a guess knows which of its choices is right.

A guess is an admonition of class ``guess`` that holds a dropdown for each choice; the reply to
exactly one of them begins with "Right.".  That reads well everywhere, in JupyterLab and on paper
too.  The build gives each choice the class ``right`` or ``wrong``, by which the style sheet colors
it once it is open, and one name to all choices of a guess, by which the browser keeps no more than
one of them open.  :file:`guesses.js` only remembers, in the reader's own browser, what was guessed
first.  A guess without a right choice, or with two, is a warning, so it stops our build.

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

from press.audit.form import faults_of_guess, is_right

logger = logging.getLogger(__name__)


def guesses_of(document: nodes.document) -> Iterator[nodes.admonition]:
    """Give the guesses of a page."""
    for box in document.findall(nodes.admonition):
        if "guess" in box["classes"]:
            yield box


def choices_of(guess: nodes.admonition) -> list[nodes.container]:
    """Return the choices of a guess, each a dropdown of sphinx-design."""
    return [node for node in guess.findall(nodes.container) if _is_dropdown(node)]


def _is_dropdown(node: nodes.Element) -> bool:
    return bool(node.get("design_component") == "dropdown" and node["has_title"])


def reply_to(choice: nodes.container) -> str:
    """Return the words behind a choice."""
    return " ".join(node.astext() for node in choice[1:])


def question_of(guess: nodes.admonition) -> str:
    """Return the words of a guess before its choices."""
    question = [node for node in guess[1:] if not _is_dropdown(node)]
    return " ".join(node.astext().replace("\n", " ") for node in question)


def mark_guesses(app: Sphinx, document: nodes.document) -> None:
    """Mark the choices of each guess, and report what is wrong with it."""
    for guess in guesses_of(document):
        choices = choices_of(guess)
        answers = [(choice[0].astext(), reply_to(choice)) for choice in choices]
        for sentence in faults_of_guess(question_of(guess), answers):
            logger.warning("%s", sentence, location=guess, type="guess")
        # What was guessed is remembered under this name: another question has another one.
        words = "\n".join([question_of(guess), *(choice for choice, _ in answers)])
        name = f"guess-{hashlib.sha256(words.encode()).hexdigest()[:8]}"
        guess["ids"].append(name)
        for choice, (_, reply) in zip(choices, answers, strict=True):
            choice["details_name"] = name
            choice["container_classes"] = ["choice", "right" if is_right(reply) else "wrong"]


class OwnStyle(SphinxPostTransform):
    """Take from the choices the classes of sphinx-design, whose style of a card is not theirs."""

    default_priority = 200  # after sphinx-design, at 199, has made <details> of them
    formats = ("html",)

    def run(self, **kwargs: Any) -> None:
        """Leave each choice three classes: of itself, of its words and of its reply."""
        for details in self.document.findall(dropdown_main):
            if "choice" in details["classes"]:
                summary, reply = details.children
                del summary[1:]  # the arrow
                details["classes"] = details["classes"][details["classes"].index("choice") :]
                summary["classes"], summary[0]["classes"] = [], ["words"]
                reply["classes"] = ["reply"]


def setup(app: Sphinx) -> dict[str, Any]:
    """Mark the guesses of each page once it is read."""
    app.connect("doctree-read", mark_guesses)
    app.add_post_transform(OwnStyle)
    app.add_css_file("guesses.css", priority=910)
    app.add_js_file("memory.js", priority=490, defer="defer")
    app.add_js_file("guesses.js", defer="defer")
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
