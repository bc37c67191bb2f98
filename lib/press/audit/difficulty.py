"""Which questions are too hard: what a class answered first, item by item.

``python -m press.audit.difficulty FILES`` reads the files that the page *What this browser keeps*
saves, one of each reader, or the folders that hold them.  It asks the built book which items there
are and which guess is right, fits the two-parameter model of item response
(:func:`primer.evaluation.fit_items`) and prints of each item how many answered, how many of them
rightly, its difficulty and its discrimination, then the ten that an average reader is least likely
to answer.  Guesses and questions with choices count as they were answered first, an exercise of the
page as its first answer was; numbers and orders that a section asks for are not judged here.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit
from selectolax.lexbor import LexborHTMLParser

from press.site import SITE
from primer.evaluation import fit_items

BOOK = "runnable-primer"
"""What a saved file says it belongs to; :file:`kept.js` writes it."""
KEPT = "chapters/appendix/kept.html"
WORST = 10
WORDS = 44
"""How many letters of an item's words are printed."""
ENOUGH = 20
"""With fewer answers the numbers of an item say little."""
FLAT = 0.6
"""An item of less discrimination hardly tells those who can from those who cannot."""

Answers = dict[str, int]


class Item(NamedTuple):
    """What readers answer, as the built book has it.

    Attributes
    ----------
    id : str
        By which a browser keeps the answer.
    chapter, words : str
        Where it stands, and what it asks.
    right, choices : int
        Of a guess or a question its right choice and how many there are; of an exercise, whose
        first answer is kept as right or wrong, 1 and 2; 0 and 0 where nobody can judge it later.
    """

    id: str
    chapter: str
    words: str
    right: int = 1
    choices: int = 2


def items_of(site: Path) -> list[Item]:
    """Read from the built book what can be answered, in its order.

    Raises
    ------
    ValueError
        When there is no built book, or its page of what is kept lists nothing.
    """
    page = site / KEPT
    if not page.is_file():
        raise ValueError(f"there is no built book in {site}: run `make book` first")
    place = LexborHTMLParser(page.read_text("utf-8")).css_first("[data-chapters]")
    if place is None:
        raise ValueError(f"{page} does not list the chapters: run `make book` again")
    found = []
    for chapter in json.loads(place.attributes["data-chapters"] or "[]"):
        page = site / "chapters" / f"{chapter['name']}.html"
        tree = LexborHTMLParser(page.read_text("utf-8") if page.is_file() else "")
        words = words_in(tree)
        for number, guess in enumerate(chapter["guesses"], 1):
            said = words.get(guess["id"], f"guess {number}")
            found.append(Item(guess["id"], chapter["name"], said, guess["right"], guess["choices"]))
        for number in chapter["exercises"]:
            said = words.get(number, "")
            found.append(Item(number, chapter["name"], f"Exercise {number} {said}".strip()))
        for id in chapter.get("questions", []):
            choices = tree.css(f'.admonition[id="{id}"] > .choice')
            right = next((n for n, one in enumerate(choices) if "right" in _classes(one)), 0)
            found.append(Item(id, chapter["name"], words.get(id, id), right, len(choices)))
    return found


def words_in(tree: LexborHTMLParser) -> dict[str, str]:
    """Return of a page the first words of what it asks, and the titles of exercises, by id.

    A formula stands on the page three times (drawn, as MathML and in TeX); in TeX it is told.

    Examples
    --------
    >>> formula = '<i class="katex">n<b>n</b><annotation>n^2</annotation></i>'
    >>> page = f'<div class="admonition" id="ask-a-b"><p>How large is {formula}?</p></div>'
    >>> words_in(LexborHTMLParser(page))
    {'ask-a-b': 'How large is n^2?'}
    """
    found = {}
    for formula in tree.css(".katex"):
        written = formula.css_first("annotation")
        formula.replace_with(written.text() if written is not None else formula.text())
    for box in tree.css(".admonition[id]"):
        first = next((p for p in box.css("p") if "admonition-title" not in _classes(p)), None)
        if first is not None:
            found[box.attributes["id"] or ""] = " ".join(first.text().split())
    for title in tree.css(".exercise.admonition > .admonition-title"):
        _, number, *rest = title.text().replace("(", " ").replace(")", " ").split()
        found[number] = " ".join(rest)
    return found


def _classes(node: Any) -> list[str]:
    return (node.attributes.get("class") or "").split()


def answers_in(text: str, items: Iterable[Item]) -> tuple[Answers, int]:
    """Read a saved file: which items its reader answered rightly first, and what is unknown.

    Parameters
    ----------
    text : str
        What the file holds.
    items : iterable of Item
        What the book asks.

    Returns
    -------
    answers : dict
        1 for right, 0 for wrong, by item.
    unknown : int
        How many answers belong to no item of this book.

    Raises
    ------
    ValueError
        When that page has not saved the file.
    """
    try:
        kept = json.loads(text)
    except ValueError:
        raise ValueError(
            "is damaged, or not what the page *What this browser keeps* saves"
        ) from None
    if not isinstance(kept, dict) or kept.get("book") != BOOK:
        raise ValueError("is not what the page *What this browser keeps* saves")
    given: dict[str, Any] = {}
    for name in ("guesses", "firsts", "questions"):
        part = kept.get(name, {})
        if not isinstance(part, dict):
            raise ValueError(f"is damaged: its {name} are no table")
        given |= {
            id: _choice(value) if name == "questions" else value for id, value in part.items()
        }
    known = {item.id: item for item in items}
    given = {id: value for id, value in given.items() if id not in known or known[id].choices}
    answers = {
        id: int(value == known[id].right)
        for id, value in given.items()
        if id in known and type(value) is int and 0 <= value < known[id].choices
    }
    return answers, len(given) - len(answers)


def _choice(value: Any) -> Any:
    """Read the number of a choice, which the page keeps as text."""
    return int(value) if isinstance(value, str) and value.isdecimal() else value


def files_in(paths: Iterable[Path]) -> Iterator[Path]:
    """Give the files that were named, and of a folder all that end in ``.json``."""
    for path in paths:
        if path.is_dir():
            yield from sorted(path.glob("*.json"))
        else:
            yield path


def read_class(
    paths: Iterable[Path], items: Sequence[Item]
) -> tuple[dict[Path, Answers], list[str]]:
    """Read the files of a class.

    Returns
    -------
    answers : dict
        What each reader answered, by file.
    said : list of str
        A sentence for each file that is left out, wholly or in part.
    """
    found: dict[Path, Answers] = {}
    said = []
    for path in files_in(paths):
        try:
            answers, unknown = answers_in(path.read_text("utf-8"), items)
        except FileNotFoundError:
            said.append(f"{path} is left out: there is no such file")
            continue
        except (OSError, UnicodeDecodeError):
            said.append(f"{path} is left out: it cannot be read as text")
            continue
        except ValueError as error:
            said.append(f"{path} is left out: it {error}")
            continue
        twin = next((other for other, one in found.items() if one == answers), None)
        if not answers and unknown:
            said.append(f"{path} is left out: all it holds is of another edition of the book")
        elif not answers:
            said.append(f"{path} is left out: its reader has answered nothing yet")
        elif twin is not None and len(answers) >= 10:
            said.append(f"{path} is left out: it says the same as {twin}")
        else:
            found[path] = answers
            if unknown:
                said.append(f"{path}: {unknown} of its answers are of another edition: left out")
    return found, said


class Found(NamedTuple):
    """What a class tells of an item."""

    item: Item
    answers: int
    right: float
    difficulty: float
    discrimination: float

    @property
    def by_average(self) -> float:
        """The probability that a reader of average ability answers it rightly."""
        return float(expit(-self.discrimination * self.difficulty))

    def __str__(self) -> str:
        """Write it as a line of the table."""
        words = self.item.words
        words = words if len(words) <= WORDS else words[: WORDS - 2].rstrip() + " …"
        return (
            f"{self.difficulty:+10.1f} {self.discrimination:14.1f} {self.answers:7d} "
            f"{100 * self.right:5.0f} %  {self.item.chapter[:2]}  {words}"
        )


HEAD = "difficulty discrimination answers   right  in  item"


def measure(answers: Mapping[Path, Answers], items: Sequence[Item]) -> list[Found]:
    """Fit the model to a class; what nobody answered is left out.

    Raises
    ------
    ValueError
        When fewer than two readers are left.
    """
    if len(answers) < 2:
        number = "one reader" if answers else "no reader"
        raise ValueError(
            f"{number} is left, and a class needs two or more: what is hard for one may be easy "
            "for others"
        )
    asked = [item for item in items if any(item.id in one for one in answers.values())]
    table = np.array(
        [[one.get(item.id, np.nan) for item in asked] for one in answers.values()], dtype=float
    )
    fit = fit_items(table)
    return [
        Found(item, int((~np.isnan(column)).sum()), float(np.nanmean(column)), hard, steep)
        for item, column, hard, steep in zip(
            asked, table.T, fit.difficulty.tolist(), fit.discrimination.tolist(), strict=True
        )
    ]


def remark(found: Found) -> str:
    """Say what to look at first in an item that few answer rightly."""
    if found.answers < ENOUGH:
        return f"only {found.answers} answers: wait for more"
    if found.by_average >= 0.5:
        return "most solve it"
    if found.right * found.answers < 3:
        return "hardly anybody solves it: is its key right?"
    if found.discrimination < FLAT:
        return "good readers miss it as well: is it clear, and is its key right?"
    return "good readers solve it: what do the others lack?"


def report(found: Sequence[Found]) -> Iterator[str]:
    """Give the lines of the table, then the worst."""
    yield HEAD
    yield from map(str, found)
    worst = sorted(found, key=lambda one: one.by_average)[:WORST]
    yield f"\nThe {len(worst)} that a reader of average ability is least likely to answer rightly:"
    for one in worst:
        yield f"{100 * one.by_average:3.0f} %  {one.item.chapter}: {one.item.words[:WORDS]}"
        yield f"       {remark(one)}"


def main(arguments: Sequence[str] | None = None, site: Path = SITE) -> int:
    """Print how hard the items of the book were for a class."""
    parser = argparse.ArgumentParser(
        prog="python -m press.audit.difficulty",
        description="Which questions are too hard: what a class answered first, item by item.",
        epilog="Difficulty: the ability with which half succeed; the class has mean 0, spread 1. "
        "Discrimination: how steeply success rises with ability; below 0.6 look at the question.",
    )
    parser.add_argument("files", nargs="+", type=Path, help="saved files, or folders of them")
    asked = parser.parse_args(arguments)
    try:
        items = items_of(site)
        answers, said = read_class(asked.files, items)
        print(
            *(f"{sentence}." for sentence in said), sep="\n", file=sys.stderr, end="\n" * bool(said)
        )
        print(f"{len(answers)} readers read; fitting …", file=sys.stderr)
        found = measure(answers, items)
    except ValueError as error:
        print(f"{str(error)[0].upper()}{str(error)[1:]}.", file=sys.stderr)
        return 1
    print(*report(found), sep="\n")
    if len(answers) < ENOUGH:
        print(f"\nWith {len(answers)} readers all of this is rough; {ENOUGH} tell more.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
