"""The form of a chapter, read from its notebook: what is folded, what is guessed, what is proved.

``python -m press.audit.form chapters/08-positions.ipynb`` prints, a sentence each, where a notebook
leaves the form that CONTRIBUTING describes; the tests ask the same of every committed notebook.
What a browser must measure (heights, sideways scrolling) is tested on the built pages instead.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from nbformat import NotebookNode

from press.audit.foreign import faults_of_foreign
from press.notebook import NotANotebook, read_notebook
from press.pages.questions import faults_of_cards

FOLDED = ("setup", "figure", "check", "solution")
"""Tags of cells whose code is closed at first: each cell has at most one of them."""
TAGS = (*FOLDED, "exercise", "draws")
"""All tags: ``exercise`` is a stub with its check, ``draws`` a simulation for other seeds."""
LINES, COLUMNS = 12, 79
"""How much a cell that is open on the page may hold."""
WHOLE_MODEL = 60
"""Lines of the one cell in the book that holds a complete model; its id follows."""
WHOLE_MODEL_CELL = "whole-model"

AUDIT = re.compile(r"\b(?:STAT|REG|OPT|NET|LM|REC|ATT|POS|TRF|BEY|INF|PRE|SCA|FT|ALN|FOU|ERR)-\d+")
ANSWER = re.compile(r"→ ([\w-]+): (-?[\d,]+(?:\.\d+)?)(?: (.+))? \(within (\d+(?:\.\d+)?)\)")
"""What :func:`primer.notebook.answer` prints: name, number, unit, how near counts as right."""
_CHECKS = re.compile(r"\bverify(?:_\w+)?\(")
_PLOTTING = re.compile(r"\bplt\.|\balt=|\bshow(?:_source)?\(")
_OPENING = re.compile(r"(:{3,}|`{3,})\{(\w[\w:-]*)\}[ \t]*(.*)")


def tags_of(cell: NotebookNode) -> list[str]:
    """Return the tags of a cell."""
    return list(cell.metadata.get("tags", []))


def held_checks(cell: NotebookNode) -> list[str]:
    """Return what the ``✓`` lines of a cell's stored output begin with, a name for each check.

    A name may itself hold a colon, so these are whole lines less the mark.
    """
    return [
        line[2:]
        for output in cell.get("outputs", [])
        if output.output_type == "stream"
        for line in output.text.splitlines()
        if line.startswith("✓ ")
    ]


def held_answers(cell: NotebookNode) -> list[str]:
    """Return the names of the questions whose numbers the ``→`` lines of a stored output give."""
    return [
        found[1]
        for output in cell.get("outputs", [])
        if output.output_type == "stream"
        for line in output.text.splitlines()
        if (found := ANSWER.fullmatch(line))
    ]


def holds(name: str, lines: list[str]) -> bool:
    """Say whether a check of this name is among the lines of :func:`held_checks`."""
    return any(line == name or line.startswith(f"{name}: ") for line in lines)


def faults(notebook: NotebookNode) -> list[str]:
    """List where a notebook leaves the form of a chapter.

    Parameters
    ----------
    notebook : NotebookNode
        An executed notebook.

    Returns
    -------
    list of str
        One sentence for each fault, which names the cell; empty when there is none.
    """
    found: list[str] = []
    for cell in notebook.cells:
        place = f"cell {cell.id}"
        found += [f"{place}: {sentence}" for sentence in _faults_of_metadata(cell)]
        found += [f"{place}: {sentence}" for sentence in faults_of_foreign(cell)]
        if cell.cell_type == "markdown":
            found += [f"{place}: {sentence}" for sentence in _faults_of_text(cell.source)]
        elif cell.cell_type == "code":
            found += [f"{place}: {sentence}" for sentence in _faults_of_code(cell)]
    found += [f"cell {cell}: {sentence}" for cell, sentence in faults_of_cards(notebook)]
    return found + _faults_of_order(notebook)


def faults_of(path: Path) -> list[str]:
    """List the faults of a file, with its name; a row named twice is seen only in the file itself.

    Parameters
    ----------
    path : Path
        A notebook.
    """
    twice: list[str] = []

    def note(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        """Remember names of rows that come twice in one object: JSON keeps the last in silence."""
        names = [name for name, _ in pairs if AUDIT.fullmatch(name)]
        twice.extend(sorted({name for name in names if names.count(name) > 1}))
        return dict(pairs)

    notebook = read_notebook(path)
    json.loads(path.read_text(encoding="utf-8"), object_pairs_hook=note)
    found = [f"`proves` of one cell names {name} twice" for name in twice]
    found += faults(notebook)
    return [f"{path.name}, {sentence}" for sentence in found]


def _faults_of_metadata(cell: NotebookNode) -> Iterator[str]:
    """Check tags and ``proves``."""
    tags = tags_of(cell)
    for tag in tags:
        if tag not in TAGS:
            yield f"the tag {tag!r} is unknown; one of {', '.join(TAGS)}"
    if sum(tag in FOLDED or tag == "exercise" for tag in tags) > 1:
        yield f"only one of the tags {', '.join(tags)} can decide what is folded"
    proves = cell.metadata.get("proves")
    if proves is None:
        return
    if "check" not in tags:
        yield "only a cell tagged 'check' has `proves`"
    lines = held_checks(cell)
    for row, names in proves.items():
        if not AUDIT.fullmatch(row):
            yield f"`proves` names {row!r}, which is no row and no erratum"
        if not names:
            yield f"`proves` says of {row} by no check that it holds"
        if len(set(names)) < len(names):
            yield f"`proves` names a check of {row} twice"
        for name in names:
            if not holds(name, lines):
                yield f"`proves` names the check {name!r} for {row}, which printed no ✓"


def _faults_of_text(text: str) -> Iterator[str]:
    """Check the words of a markdown cell: no names for the auditor, sound guesses."""
    if name := AUDIT.search(text):
        yield f"{name[0]} is visible; rows and errata are named in metadata only"
    for question, answers in guesses(text):
        yield from faults_of_guess(question, answers)


def faults_of_guess(question: str, answers: list[tuple[str, str]]) -> Iterator[str]:
    """Say what a guess lacks: three choices, a reply to each, exactly one that is right.

    Examples
    --------
    >>> answers = [("two.", "Right. Count."), ("three.", "One more."), ("four.", "")]
    >>> list(faults_of_guess("One and one is …", answers))
    ["the guess 'One and one is …' does not reply to 'four.'"]
    """
    right = [choice for choice, reply in answers if is_right(reply)]
    if len(answers) < 3:
        yield f"the guess {question!r} has {len(answers)} choices; three or four are asked for"
    if len(right) != 1:
        yield (
            f"the guess {question!r} has {len(right)} right choices: the reply to exactly one "
            "begins with 'Right.'"
        )
    for choice, reply in answers:
        if not reply.strip():
            yield f"the guess {question!r} does not reply to {choice!r}"


def _faults_of_code(cell: NotebookNode) -> Iterator[str]:
    """Check a code cell."""
    tags, lines = tags_of(cell), cell.source.splitlines()
    if "check" in tags and not held_checks(cell) and not held_answers(cell):
        yield "a check that printed no ✓ and no answer to a question"
    if set(tags) & set(FOLDED):
        return
    if any(len(line) > COLUMNS for line in lines):
        yield f"an open cell wider than {COLUMNS} columns"
    if "exercise" in tags:
        return
    most = WHOLE_MODEL if cell.id == WHOLE_MODEL_CELL else LINES
    if len(lines) > most:
        yield f"an open cell of {len(lines)} lines; {most} at most"
    if _CHECKS.search(cell.source):
        yield "an open cell that verifies: move it to the check at the end of the section"
    if _PLOTTING.search(cell.source):
        yield "an open cell that draws: tag it 'figure'"
    for output in cell.get("outputs", []):
        if output.output_type == "stream" and AUDIT.search(output.text):
            yield "the output names a row or an erratum"


def _faults_of_order(notebook: NotebookNode) -> list[str]:
    """Check that the checks of a section stand together, behind everything else in it."""
    found, checks = [], ""
    for cell in notebook.cells:
        begins = cell.cell_type == "markdown" and bool(
            re.match(r"(?:\([\w.:-]+\)=\s*\n)*#{1,6} ", cell.source)
        )
        exercise = cell.cell_type == "markdown" and cell.source.lstrip().startswith("```{exercise}")
        if begins or exercise:
            checks = ""
        elif "check" in tags_of(cell):
            checks = cell.id
        elif checks:
            found.append(
                f"cell {checks}: a check in the middle of a section; {cell.id} comes after it"
            )
            checks = ""
    return found


def is_right(reply: str) -> bool:
    """Say whether the reply to a choice tells the reader that the choice is right.

    Examples
    --------
    >>> is_right("Right. The same five words give the same five keys.")
    True
    >>> is_right("That is what we read.")
    False
    """
    return bool(re.match(r"\W*Right\b", reply.strip()))


def guesses(text: str) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    r"""Read the guesses of a markdown text: the question, and each choice with its reply.

    Examples
    --------
    >>> text = '''::::{admonition} Guess first
    ... :class: guess
    ... One and one is …
    ...
    ... :::{dropdown} two.
    ... Right. Count.
    ... :::
    ... :::{dropdown} three.
    ... That is one more.
    ... :::
    ... ::::'''
    >>> list(guesses(text))
    [('One and one is …', [('two.', 'Right. Count.'), ('three.', 'That is one more.')])]
    """
    lines = iter(text.splitlines())
    for line in lines:
        opened = _OPENING.fullmatch(line)
        if not (opened and opened[2] == "admonition"):
            continue
        body = []
        for inner in lines:
            if inner.strip() == opened[1]:
                break
            body.append(inner)
        if any(re.match(r":class:.*\bguess\b", inner) for inner in body[:3]):
            yield _choices([inner for inner in body if not re.match(r":\w+:", inner)])


def _choices(body: list[str]) -> tuple[str, list[tuple[str, str]]]:
    """Split the body of a guess into its question and its choices."""
    question: list[str] = []
    answers: list[tuple[str, str]] = []
    fence, title = "", ""
    reply: list[str] = []
    for line in body:
        opened = _OPENING.fullmatch(line)
        if not fence and opened and opened[2] == "dropdown":
            fence, title, reply = opened[1], opened[3], []
        elif fence and line.strip() == fence:
            answers.append((title, " ".join(reply).strip()))
            fence = ""
        elif fence:
            reply.append(line)
        elif line.strip():
            question.append(line.strip())
    return " ".join(question), answers


def main() -> int:
    """Print the faults of the notebooks named on the command line."""
    sentences = []
    for name in sys.argv[1:]:
        try:
            sentences += faults_of(Path(name))
        except (NotANotebook, OSError) as error:
            sentences.append(str(error))
    print(*sentences, f"{len(sentences)} faults of form", sep="\n")
    return int(bool(sentences))


if __name__ == "__main__":
    sys.exit(main())
