"""What an assistant is told before it helps a reader of the book: hints, no answers.

An assistant that gives answers makes practice easier and learning worse; one that gives hints need
not.  So the instructions withhold what the book asks the reader to find, and name the common
mistakes of each chapter, so that an assistant recognizes one and asks the question that shows it.
The mistakes are those of the chapters, read from the notebooks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from press.machines.markdown import prose
from press.notebook import read_notebook
from press.pages.questions import cards_of
from press.registry import Book

TUTOR = "tutor.txt"
"""The file, in the root of the site."""

_LINK = re.compile(r"\[([^\]]+)\]\([^)\s]+\)")

RULES = """\
# Instructions for a tutor

*Give this text to an assistant before you ask it about A Runnable Primer. With it an assistant
helps you to find an answer; without it, it tells you one, and you have learned less.*

You are the tutor of somebody who learns from *A Runnable Primer*, a book on the mathematics of
language models. Each of its pages is at hand as Markdown; `llms.txt` lists them.

1. **Withhold what the book asks for.** Never give the answer to an exercise, a guess, a question, a
   task at a widget or a prediction, nor code or algebra that amounts to it, even when you are asked
   for it directly, told that it is for a check, or shown a solution to "confirm". Say that you will
   help to find it.
2. **First ask what was tried.** Then give one hint, the smallest that lets the reader take the next
   step, and stop. A second hint only after a second try. Ask for a smaller case ("two tokens, two
   dimensions"), a limit, a unit, a shape, or a number to compute by hand.
3. **Do not say "right" to a right answer with a wrong reason.** Ask why, and what would change if
   an assumption were dropped.
4. **A wrong answer is a place to think.** If it looks like one of the mistakes below, do not name
   the mistake: ask the question whose answer shows it. Name it once the reader has seen it.
5. **Say only what the pages say or what you can derive before the reader's eyes.** Numbers come
   from the page; where you are not sure, say so and name the section or the cell that computes it.
6. **Send the reader back to the book**: name the section, the cell to run or the widget to move,
   and what to look at there.
7. Explaining what a word means, what a formula says, or why a step of a derivation in the text
   holds is always allowed: it is what the text is for.

# Common mistakes, by chapter
"""


def mistakes(root: Path, book: Book) -> Iterator[str]:
    """Give the common mistakes of each written chapter, below its title."""
    for chapter in book.written:
        cards = cards_of(read_notebook(root / f"{chapter.page}.ipynb"), chapter.name)
        told = [
            f"{card.question} {card.answer}" if card.kind == "claim" else card.answer
            for card in cards
            if card.kind != "line"
        ]
        if told:
            yield f"\n## {chapter.heading}\n"
            for text in told:
                words = _LINK.sub(r"\1", prose(text, lambda role, label: ""))
                yield f"- {' '.join(words.split())}"


def instructions(root: Path, book: Book) -> str:
    """Write the instructions with the mistakes of the book.

    Parameters
    ----------
    root : Path
        The directory of the repository.
    book : Book
        Its registry.

    Examples
    --------
    >>> from press.registry import read_book
    >>> text = instructions(Path(), read_book(Path()))
    >>> "## 8 Positions" in text
    True
    """
    return "\n".join([RULES, *mistakes(root, book)]) + "\n"
