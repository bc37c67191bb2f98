"""Notebooks for students: the exercises of a chapter without their solutions, with new numbers.

``make student TERM=2027-spring CHAPTER=08`` writes one into ``_build/student``.  It holds what sets
a chapter up, and each exercise with its stub and its hint.  Where the answer is a number and the
book has a template for it, the numbers are such as no page asks, another set for most terms; the
check is left out there, for it belongs to other numbers.  Whoever knows the term and has the book
can compute the answer, so a term that ends in a word of the teacher's is a secret, and the
notebook itself does not name it.
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import importlib
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode

from press.notebook import read_notebook
from press.pages.page_answers import imported_names
from press.registry import read_book
from primer.notebook import ChoiceExercise, NumberExercise
from primer.saving import write_whole

KEY = "primer_homework"
"""Where a notebook and the cells to answer in keep, in their metadata, what they ask."""

_EXERCISE = re.compile(
    r"^(?P<fence>[`:]{3,})\{exercise\} *(?P<title>[^\n]*)\n"
    r"(?P<options>(?::[^\n]*\n)*)(?P<text>.*?)^(?P=fence)$",
    re.MULTILINE | re.DOTALL,
)
_ADMONITION = re.compile(
    r"^(?P<fence>[`:]{3,})\{admonition\} *(?P<title>[^\n]*)\n"
    r"(?P<options>(?::[^\n]*\n)*)(?P<text>.*?)^(?P=fence)$",
    re.MULTILINE | re.DOTALL,
)
_LABEL = re.compile(r"^\([\w-]+\)=\n", re.MULTILINE)
_LINK = re.compile(r"(?<!!)\[([^\]\n]+)\]\((?!https?:)[^)\s]+\)")
_ROLE = re.compile(r"(?:equation )?\{[a-z:]+\}(`[\w-]+`)")
_EQUATION = re.compile(r"(?<=\$\$) \(eq-[\w-]+\)$", re.MULTILINE)


@dataclass(frozen=True)
class Exercise:
    """An exercise of a homework.

    Attributes
    ----------
    number : str
        Its number in the book, for example ``"8.3"``.
    title : str
        What it is called.
    name : str
        The name under which its cell leaves the answer: ``answer``, or that of a function.
    module, check : str
        Where its check is found.
    asked : str
        Tells whether two notebooks ask the same, in the same words with the same numbers.
    declared : NumberExercise or ChoiceExercise or None
        The exercise as data, with the homework's numbers; None where the answer is a function.
    fresh : bool
        Whether its numbers are on no page of the book.
    """

    number: str
    title: str
    name: str
    module: str
    check: str
    asked: str
    declared: NumberExercise | ChoiceExercise | None
    fresh: bool


@dataclass(frozen=True)
class Homework:
    """The exercises of a chapter as one term gets them, and the notebook that asks them."""

    chapter: str
    setup: tuple[str, ...]
    exercises: tuple[Exercise, ...]
    notebook: NotebookNode = field(compare=False)


def find_chapter(book: Path, wanted: str) -> Path:
    """Return the notebook of a chapter, from its number or its name.

    Raises
    ------
    ValueError
        When there is no such chapter.

    Examples
    --------
    >>> find_chapter(Path(__file__).parents[3], "08").stem
    '08-positions'
    """
    found = sorted((book / "chapters").glob("[0-9]*.ipynb"))
    for path in found:
        if path.stem == wanted or path.stem[:2] == wanted.rjust(2, "0"):
            return path
    numbers = ", ".join(path.stem[:2] for path in found)
    raise ValueError(f"there is no chapter {wanted!r}; there are {numbers}")


def make_homework(chapter: Path, term: str) -> Homework:
    """Make the homework of a chapter.

    Parameters
    ----------
    chapter : Path
        Its notebook, with solutions.
    term : str
        The term, for example ``"2027-spring"``; it chooses the numbers.

    Raises
    ------
    ValueError
        When the term is empty, or the chapter has no exercises.
    """
    if not term.strip():
        raise ValueError("name the term, for example TERM=2027-spring: it chooses the numbers")
    cells = read_notebook(chapter).cells
    code = [cell.source for cell in cells if cell.cell_type == "code"]
    names = imported_names(code)
    # The first sets the notebook up; what later ones prepare, no stub of the book asks for.
    setup = tuple(c.source for c in cells if "setup" in c.metadata.get("tags", []))[:1]
    kept, exercises = [_text("setup-words", "## What the exercises use")], []
    kept += [_code(f"setup-{i}", source) for i, source in enumerate(setup, 1)]
    text, counted, within, fresh = "", 0, False, False
    for cell in cells:
        tags = cell.metadata.get("tags", [])
        if cell.cell_type == "markdown":
            text, asks = cell.source, _EXERCISE.search(cell.source)
            counted += bool(asks)
            if "summary)=" in cell.source:
                within = False
            elif within and not asks:
                kept.append(_text(cell.id, _hint(cell.source, fresh)))
            within |= bool(asks)
        elif "exercise" in tags:
            number = f"{int(chapter.stem[:2])}.{counted}"
            one, asked, stub = _exercise(number, text, cell.source, names, term)
            kept += [_text(f"{cell.id}-asks", asked), _code(cell.id, stub)]
            kept[-1].metadata[KEY] = {"exercise": number, "asked": one.asked}
            exercises.append(one)
            fresh = one.fresh
    if not exercises:
        raise ValueError(f"{chapter.stem} has no exercises")
    title = next(line[2:] for line in cells[0].source.splitlines() if line.startswith("# "))
    title_cell = _text("homework", _INTRODUCTION.format(title=title))
    notebook = nbformat.v4.new_notebook(
        cells=[title_cell, *kept],
        metadata={
            "kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"},
            "language_info": {"name": "python"},
            KEY: {"chapter": chapter.stem},
        },
    )
    return Homework(chapter.stem, setup, tuple(exercises), notebook)


_INTRODUCTION = """\
# {title}: homework

Put your answer in the place of each `...` and run the cell. Where a check follows, it says what is
wrong; where none does, the numbers are new, and the grading compares. Leave every cell to answer in
where it stands, and hand this file in with your name in that of the file. Your code should only
compute: where a notebook changes files, starts programs or asks the network, it is stopped when it
is graded."""


def _exercise(
    number: str, text: str, stub: str, names: dict[str, str], term: str
) -> tuple[Exercise, str, str]:
    """Read an exercise; return it, its text in the homework and its stub."""
    found = _EXERCISE.search(text)
    if not found:
        raise ValueError(f"exercise {number} has a cell to answer in and no text before it")
    title, asked = found["title"], found["text"].strip()
    path, name = _check_of(stub, names, number)
    module, _, check = path.rpartition(".")
    declared: Any = getattr(importlib.import_module(module), check)
    fresh = False
    if not isinstance(declared, NumberExercise | ChoiceExercise):
        declared = None
    elif isinstance(declared, NumberExercise) and (other := declared.unseen(term)):
        declared, fresh = other, True
        asked = other.question
        stub = f"{name} = ...  # {other.expects}"
    plain = _without_links(asked)
    digest = hashlib.sha256("\n".join([number, plain, stub]).encode()).hexdigest()[:12]
    one = Exercise(number, title, name, module, check, digest, declared, fresh)
    return one, f"## {number} {title}\n\n{plain}", stub


def _check_of(stub: str, names: dict[str, str], number: str) -> tuple[str, str]:
    """Return the check that a stub calls, by its full name, and the name that it hands over."""
    for node in reversed(ast.parse(stub).body):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            first, dot, rest = ast.unparse(node.value.func).partition(".")
            path = names.get(first, first) + dot + rest
            if path.startswith("primer.exercises."):
                return path, ast.unparse(node.value.args[0])
    raise ValueError(f"the stub of exercise {number} calls no check of primer.exercises")


def _without_links(text: str) -> str:
    """Write a text of the book so that it can stand alone in Jupyter."""
    plain = _EQUATION.sub("", _LINK.sub(r"\1", _LABEL.sub("", text)))
    return _ROLE.sub(r"the book's \1", plain)


def _hint(text: str, fresh: bool) -> str:
    """Fold the hints of a cell, in HTML, which Jupyter shows without any extension."""
    about = ", for the numbers of the book" if fresh else ""

    def fold(box: re.Match[str]) -> str:
        summary, inside = f"{box['title']}{about}", box["text"].strip()
        return f"<details><summary>{summary}</summary>\n\n{inside}\n\n</details>"

    return _without_links(_ADMONITION.sub(fold, text))


def _text(name: str, source: str) -> NotebookNode:
    return nbformat.v4.new_markdown_cell(source, id=name[:64])


def _code(name: str, source: str) -> NotebookNode:
    return nbformat.v4.new_code_cell(source, id=name[:64])


def main(arguments: list[str] | None = None) -> int:
    """Write the homework of one chapter or of all into a folder, and tell what is new in it."""
    parser = argparse.ArgumentParser(description="Write notebooks for students, without solutions.")
    parser.add_argument("chapters", nargs="*", help="numbers or names; all when none is given")
    parser.add_argument("--term", required=True, help="for example 2027-spring")
    parser.add_argument("--out", type=Path, default=Path("_build/student"))
    given = parser.parse_args(arguments)
    book = Path()
    try:
        for wanted in given.chapters or [chapter.name for chapter in read_book(book).written]:
            homework = make_homework(find_chapter(book, wanted), given.term)
            target = given.out / f"{homework.chapter}.ipynb"
            target.parent.mkdir(parents=True, exist_ok=True)
            write_whole(target, f"{nbformat.writes(homework.notebook)}\n".encode())
            fresh = [one.number for one in homework.exercises if one.fresh]
            said = f"new numbers in {', '.join(fresh)}" if fresh else "no exercise has new numbers"
            print(f"{target}: {len(homework.exercises)} exercises, {said}")
    except ValueError as error:
        print(error)
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
