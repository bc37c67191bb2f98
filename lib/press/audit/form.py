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

from press.audit.asking import Box, boxes, faults_of_box, faults_of_numbers
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

ROWS_FILE = "chapters/appendix/coverage.csv"
_ROWS_TEXT = (Path(__file__).parents[3] / ROWS_FILE).read_text("utf-8")
ROWS = "|".join(dict.fromkeys([*re.findall(r"^([A-Z]+)-\d+,", _ROWS_TEXT, re.MULTILINE), "ERR"]))
"""What the names of rows and errata begin with: a subject is known with its first row."""
AUDIT = re.compile(rf"\b(?:{ROWS})-\d+")
ANSWERED = re.compile(r"→ ([\w-]+): (-?[\d,]+(?:\.\d+)?)(?: (.+))? \(within (\d+(?:\.\d+)?)\)")
"""What :func:`primer.notebook.answer_to` prints: name, number, unit, how near counts as right."""
_CHECKS = re.compile(r"\bverify(?:_\w+)?\(")
_SECTION = re.compile(r"^(?=## )", re.MULTILINE)  # the label above it says nothing here
_PLOTTING = re.compile(r"\bplt\.|\balt=|\bshow(?:_source)?\(")


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
        if (found := ANSWERED.fullmatch(line))
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
    return found + _faults_of_order(notebook) + _faults_of_answers(notebook)


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
            yield (
                f"`proves` names {row!r}, which is no row and no erratum: "
                f"write its line into {ROWS_FILE} first"
            )
        if not names:
            yield f"`proves` says of {row} by no check that it holds"
        if len(set(names)) < len(names):
            yield f"`proves` names a check of {row} twice"
        for name in names:
            if not holds(name, lines):
                yield f"`proves` names the check {name!r} for {row}, which printed no ✓"


def _faults_of_text(text: str) -> Iterator[str]:
    """Check the words of a markdown cell: no names for the auditor, boxes that ask soundly."""
    if name := AUDIT.search(text):
        yield f"{name[0]} is visible; rows and errata are named in metadata only"
    for box in boxes(text):
        yield from faults_of_box(box)


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


def sections(notebook: NotebookNode) -> Iterator[list[tuple[NotebookNode, str]]]:
    """Give the sections of a notebook, each as its cells with what of their text belongs to it.

    A section begins at a heading ``##``, and the text of one cell may end one and begin another.
    """
    section: list[tuple[NotebookNode, str]] = []
    for cell in notebook.cells:
        parts = _SECTION.split(cell.source) if cell.cell_type == "markdown" else [cell.source]
        for number, part in enumerate(parts):
            if number:
                yield section
                section = []
            section.append((cell, part))
    yield section


def asking(section: list[tuple[NotebookNode, str]]) -> list[Box]:
    """Return the boxes of a section that ask."""
    return [box for cell, text in section if cell.cell_type == "markdown" for box in boxes(text)]


def _faults_of_answers(notebook: NotebookNode) -> list[str]:
    """Check that names are not used twice, and that numbers and what asks for them belong."""
    found, seen = [], set()
    for section in sections(notebook):
        asked = asking(section)
        answers = [name for cell, _ in section for name in held_answers(cell)]
        for name in [name for name in answers if answers.count(name) > 1]:
            found.append(f"two checks answer {name}")
        found += faults_of_numbers(asked, dict.fromkeys(answers))
        for name in [box.name for box in asked if box.name]:
            if name in seen:
                found.append(f"the name {name} is used twice")
            seen.add(name)
    return list(dict.fromkeys(found))


def names_used_twice(paths: list[Path]) -> list[str]:
    """Say which names stand in more than one notebook."""
    places: dict[str, list[str]] = {}
    for path in paths:
        names = {box.name for section in sections(read_notebook(path)) for box in asking(section)}
        for name in names - {""}:
            places.setdefault(name, []).append(path.name)
    return [
        f"the name {name} is used in {' and in '.join(files)}"
        for name, files in sorted(places.items())
        if len(files) > 1
    ]


def main() -> int:
    """Print the faults of the notebooks named on the command line."""
    sentences = []
    sound = []
    for path in map(Path, sys.argv[1:]):
        try:
            sentences += faults_of(path)
            sound.append(path)
        except (NotANotebook, OSError) as error:
            sentences.append(str(error))
    sentences += names_used_twice(sound)
    faults = "1 fault" if len(sentences) == 1 else f"{len(sentences)} faults"
    print(*sentences, f"{faults} of form", sep="\n")
    return int(bool(sentences))


if __name__ == "__main__":
    sys.exit(main())
