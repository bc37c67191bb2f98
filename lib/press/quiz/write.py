"""Write what a chapter asks as quizzes for Canvas and for Moodle.

Run ``python -m press.quiz.write [08 …] [--term 2027-spring]`` in the root of the book, or
``make quiz CHAPTER=08 TERM=2027-spring``.  With a term the exercises that have a template ask with
the numbers of its homework.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from press.homework.handout import find_chapter, make_homework
from press.publish.dating import written_at
from press.quiz.asked import Number, quiz_of
from press.quiz.canvas import canvas
from press.quiz.moodle import moodle
from press.registry import read_book
from primer.saving import write_whole

SITE = Path("_build/html")


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the quizzes of some chapters or of all, and tell what is in them."""
    parser = argparse.ArgumentParser(description="Write quizzes for Canvas and Moodle.")
    parser.add_argument("chapters", nargs="*", help="numbers or names; all when none is given")
    parser.add_argument("--term", default="", help="for example 2027-spring: chooses new numbers")
    parser.add_argument("--out", type=Path, default=Path("_build/quiz"))
    given = parser.parse_args(arguments)
    book = Path()
    try:
        moment = datetime.fromtimestamp(written_at(book), UTC)
        for wanted in given.chapters or [chapter.name for chapter in read_book(book).written]:
            chapter = find_chapter(book, wanted)
            homework = make_homework(chapter, given.term) if given.term.strip() else None
            quiz = quiz_of(SITE, chapter.stem, homework)
            given.out.mkdir(parents=True, exist_ok=True)
            write_whole(given.out / f"{quiz.chapter}-canvas.zip", canvas(quiz, moment))
            write_whole(given.out / f"{quiz.chapter}-moodle.xml", moodle(quiz))
            numbers = sum(isinstance(one.answer, Number) for one in quiz.questions)
            print(
                f"{given.out}/{quiz.chapter}: {len(quiz.questions)} questions, "
                f"{numbers} of them ask for a number"
            )
    except (ValueError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
