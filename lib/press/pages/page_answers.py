"""Sphinx extension: an exercise whose answer is a number or a choice is answered on the page.

Behind such an exercise stands a cell tagged ``exercise`` that hands the reader's answer to a check
of :mod:`primer.exercises`.  When that check is declared as data (``NumberExercise``,
``ChoiceExercise`` of :mod:`primer.notebook`), the page gets a form in front of the cell, and the
cell itself is closed.  The form carries the data and every sentence; :file:`numbers.js` reads what
a person types, :file:`page-answers.js` compares, and shows the sentence that Python would print.

The variants of an exercise, the same with other numbers, are written as a script beside the page,
:file:`_static/variants/<page>.js`, for whoever wants to try once more: a list for each exercise,
by its number, that begins with the one of the page.
"""

from __future__ import annotations

import ast
import contextlib
import html
import importlib
import json
import math
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util import logging

from press.pages.folds import cells_of, closed
from primer.notebook import ChoiceExercise, NumberExercise
from primer.notebook.page_answers import ROUNDED

logger = logging.getLogger(__name__)

PageExercise = NumberExercise | ChoiceExercise


def imported_names(sources: Iterable[str]) -> dict[str, str]:
    r"""Return what the names stand for that the cells of a page import.

    Examples
    --------
    >>> imported_names(["%config x = 1", "from primer.exercises import positions as checks"])
    {'checks': 'primer.exercises.positions'}
    """
    names: dict[str, str] = {}
    for source in sources:
        with contextlib.suppress(SyntaxError):  # a cell of IPython's own commands
            for node in ast.walk(ast.parse(source)):
                if isinstance(node, ast.ImportFrom):
                    for alias in node.names:
                        names[alias.asname or alias.name] = f"{node.module}.{alias.name}"
    return names


def called_checks(source: str, names: dict[str, str]) -> list[tuple[str, str]]:
    """Name the checks of ``primer.exercises`` that a cell calls: module and function.

    Parameters
    ----------
    source : str
        The cell.
    names : dict of str to str
        What the names that the page imports stand for.

    Examples
    --------
    >>> called_checks("checks.check_shift(...)", {"checks": "primer.exercises.positions"})
    [('primer.exercises.positions', 'check_shift')]
    """
    found: dict[tuple[str, str], None] = {}
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call):
            first, dot, rest = ast.unparse(node.func).partition(".")
            path = names.get(first, first) + dot + rest
            if path.startswith("primer.exercises."):
                module, _, name = path.rpartition(".")
                found[module, name] = None
    return list(found)


def sentences(exercise: PageExercise) -> dict[str, Any]:
    """Return what the page must know: the data, and the replies as Python prints them.

    Examples
    --------
    >>> check = ChoiceExercise(
    ...     "0.2", choices={"a": "It halves.", "b": "It stays."}, right="b",
    ...     replies={"a": "halving needs n/2 tokens", "b": "Nothing in it depends on n."},
    ... )
    >>> sentences(check)["replies"]["b"]
    '✓ Exercise 0.2 is solved. Nothing in it depends on n.'
    >>> sentences(check)["shown"]
    'The answer is (b). Nothing in it depends on n.'
    """
    number = exercise.number

    def solved(because: str) -> str:
        return f"✓ Exercise {number} is solved. {because}"

    def mistaken(sentence: str) -> str:
        return f"✗ Exercise {number}: {sentence}"

    if isinstance(exercise, ChoiceExercise):
        return {
            "number": number,
            "replies": {
                letter: solved(reply) if letter == exercise.right else mistaken(reply)
                for letter, reply in exercise.replies.items()
            },
            "expected": mistaken(exercise.expected),
            "shown": f"The answer is ({exercise.right}). {exercise.replies[exercise.right]}",
        }
    right, within = exercise.right, exercise.within
    digits = 0 if right == round(right) or within == 0 else max(0, math.ceil(-math.log10(within)))
    return {
        "number": number,
        "expects": exercise.expects,
        "right": exercise.right,
        "within": exercise.within,
        "low": exercise.low,
        "high": exercise.high,
        "solved": solved(exercise.because),
        "wrong": [[value, mistaken(sentence)] for value, sentence in exercise.wrong.items()],
        "reach": exercise.reach,
        "rounded": mistaken(ROUNDED),
        "otherwise": mistaken(exercise.otherwise),
        "expected": mistaken(exercise.expected),
        "shown": f"The answer is {right:,.{digits}f}. {exercise.because}",
    }


def variant(exercise: NumberExercise) -> dict[str, Any]:
    """Return what the page must know of a variant: besides, its question in words.

    Examples
    --------
    >>> check = NumberExercise(
    ...     "0.1", question="What is 1400/3?", right=1400 / 3, within=0.05, low=0, high=5000,
    ...     expects="a number", wrong={4200: "that is three times as much"}, otherwise="divide",
    ...     because="It is a third of 1400.",
    ... )
    >>> variant(check)["shown"]
    'The answer is 466.67. It is a third of 1400.'
    """
    return {"question": exercise.question, **sentences(exercise)}


def form(exercise: PageExercise, page: str) -> str:
    """Write the form of an exercise of a page; its text says what the letters of choices mean."""
    data = html.escape(json.dumps(sentences(exercise), ensure_ascii=False))
    name = f"answer-{exercise.number.replace('.', '-')}"
    if isinstance(exercise, ChoiceExercise):
        field = "".join(
            [
                "<fieldset><legend>Your answer</legend>",
                *(
                    f'<label><input type="radio" name="{name}" value="{html.escape(letter)}" '
                    f'aria-label="({html.escape(letter)}) {html.escape(text)}">'
                    f"({html.escape(letter)})</label>"
                    for letter, text in exercise.choices.items()
                ),
                "</fieldset>",
            ]
        )
    else:
        field = (
            f'<label for="{name}">Your answer: {html.escape(exercise.expects)}</label>'
            f'<input id="{name}" name="{name}" type="text" autocomplete="off" spellcheck="false">'
        )
    varied = isinstance(exercise, NumberExercise) and exercise.others
    beside = f' data-variants="{html.escape(page)}"' if varied else ""
    # outside a dialog this method sends nothing: an answer waits for the scripts of a slow line
    return (
        f'<form class="page-answer" data-exercise="{data}"{beside} method="dialog">{field}'
        '<button type="submit">Check</button><p class="reply" role="status"></p></form>'
    )


def exercises_of(
    app: Sphinx, cell: nodes.container, names: dict[str, str]
) -> Iterator[PageExercise]:
    """Give the exercises that a cell checks and that the page can check as well."""
    for path, name in called_checks(cell[0].astext(), names):
        module = importlib.import_module(path)
        check = getattr(module, name)
        if isinstance(check, NumberExercise | ChoiceExercise):
            app.env.note_dependency(str(module.__file__))  # the page is read again when it changes
            yield check


def add_forms(app: Sphinx, document: nodes.document) -> None:
    """Put a form in front of each cell whose answer the page can check, and fold the cell."""
    sources = [
        cell.astext()
        for cell in document.findall(nodes.container)
        if cell.get("nb_element") == "cell_code_source"
    ]
    names = imported_names(sources)
    variants = app.env.metadata[app.env.docname].setdefault("variants", {})
    for cell in cells_of(document, "exercise"):
        try:
            exercises = list(exercises_of(app, cell, names))
        except (SyntaxError, ImportError, AttributeError, ValueError) as error:
            logger.warning("the exercise's check: %s", error, location=cell, type="page-answer")
            continue
        if exercises:
            page = app.env.docname
            forms = [nodes.raw("", form(one, page), format="html") for one in exercises]
            for one in exercises:
                if isinstance(one, NumberExercise) and one.others:
                    variants[one.number] = [variant(other) for other in one.variants]
            parent, place = cell.parent, cell.parent.index(cell)
            parent.remove(cell)
            parent.insert(place, [*forms, closed("exercise", "In Jupyter", cell)])


def write_variants(
    app: Sphinx, page: str, template: str, context: dict[str, Any], tree: nodes.document | None
) -> None:
    """Write the variants of a page's exercises beside it."""
    variants = app.env.metadata[page].get("variants") if tree is not None else None
    if variants and app.builder.format == "html":
        file = Path(app.outdir) / "_static" / "variants" / f"{page}.js"
        file.parent.mkdir(parents=True, exist_ok=True)
        content = json.dumps(variants, ensure_ascii=False)
        script = f"(window.variants ??= {{}})[{json.dumps(page)}] = {content};\n"
        file.write_text(script, encoding="utf-8")


def setup(app: Sphinx) -> dict[str, Any]:
    """Add the forms to each page once it is read, and their variants when it is written."""
    app.connect("doctree-read", add_forms)
    app.connect("html-page-context", write_variants)
    app.add_css_file("page-answers.css", priority=910)
    app.add_js_file("memory.js", priority=490, defer="defer")
    app.add_js_file("asking.js", priority=492, defer="defer")
    app.add_js_file("beside.js", priority=490, defer="defer")
    app.add_js_file("numbers.js", defer="defer")
    app.add_js_file("page-answers.js", defer="defer")
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
