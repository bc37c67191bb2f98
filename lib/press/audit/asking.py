r"""The boxes of a chapter that ask: guesses, questions, tasks at a widget, lines to put in order.

Each is an admonition of the class that names its kind.  A fold for each choice, or for the answer,
makes it whole in JupyterLab, on paper and without scripts.  A question whose answer is a number has
one fold, ``Answer``, and the number comes from :func:`primer.notebook.answer_to` in a check of the
same section.  All but guesses have a ``:name:``, under which the browser keeps what was answered.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

PREFIXES = {"guess": "", "question": "ask-", "task": "try-", "order": "order-"}
"""The kinds of boxes, and what the name of each begins with; a guess needs none."""
ANSWER, SEEN, ORDERED = "Answer", "What you should see", "In order"
"""Titles of folds: of a number, of what no number and no choice can say, of lines in order."""

_NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)+")
_OPENING = re.compile(r"(:{3,}|`{3,})\{(\w[\w:-]*)\}[ \t]*(.*)")
_LINE = re.compile(r"^([*-]|\d+[.)]) +(.*(?:\n(?![*-] |\d+[.)] )[ \t]+\S.*)*)", re.MULTILINE)
_DECOY = re.compile(r"(\*)(?P<line>(?:[^*$`]|\$[^$]*\$|`[^`]*`)+)\*(?!\*)\W*(?P<reply>.*)", re.S)


@dataclass(frozen=True)
class Fold:
    """What a box hides: a title, and the words behind it."""

    title: str
    text: str


@dataclass(frozen=True)
class Box:
    """A box that asks, read from a Markdown text.

    Attributes
    ----------
    kind : str
        One of :data:`PREFIXES`.
    name : str
        Its ``:name:``, ``""`` when it has none.
    text : str
        What stands before and between the folds.
    folds : tuple of Fold
        The choices with their replies, or the answer.
    """

    kind: str
    name: str
    text: str
    folds: tuple[Fold, ...]

    @property
    def lines(self) -> list[str]:
        """The lines to be put in order, as they stand in the text."""
        return [line for mark, line in _items(self.text) if mark in "*-"]

    @property
    def question(self) -> str:
        """What is asked, without such lines."""
        return " ".join(_LINE.sub("", self.text).split())

    @property
    def wants_number(self) -> bool:
        """Whether a number answers it."""
        titles = [fold.title for fold in self.folds]
        return self.kind in ("question", "task") and titles == [ANSWER]


def _items(text: str) -> list[tuple[str, str]]:
    """Return the items of lists in a text: mark, and words on one line."""
    return [(mark, " ".join(line.split())) for mark, line in _LINE.findall(text)]


def ordered(fold: str) -> tuple[list[str], dict[str, str]]:
    r"""Read the fold of lines in order: the lines, and the reply to each decoy.

    Examples
    --------
    >>> ordered("1. embed\n2. attend\n\n*drop $x*y$* – a decoy: it is needed.")
    (['embed', 'attend'], {'drop $x*y$': 'a decoy: it is needed.'})
    """
    lines = [line for mark, line in _items(fold) if mark not in "*-"]
    decoys = [_DECOY.fullmatch(part.strip()) for part in re.split(r"\n\s*\n", fold)]
    return lines, {
        " ".join(decoy["line"].split()): " ".join(decoy["reply"].split())
        for decoy in decoys
        if decoy
    }


def boxes(text: str) -> Iterator[Box]:
    r"""Read the boxes of a Markdown text that ask.

    Examples
    --------
    >>> text = '''::::{admonition} Question
    ... :class: question
    ... :name: ask-sums-one
    ... One and one is …
    ...
    ... :::{dropdown} two.
    ... Right. Count.
    ... :::
    ... ::::'''
    >>> (box,) = boxes(text)
    >>> box.kind, box.name, box.question
    ('question', 'ask-sums-one', 'One and one is …')
    >>> box.folds
    (Fold(title='two.', text='Right. Count.'),)
    """
    lines = iter(text.splitlines())
    for line in lines:
        opened = _OPENING.fullmatch(line)
        if not (opened and opened[2] == "admonition"):
            continue
        body: list[str] = []
        for inner in lines:
            if inner.strip() == opened[1]:
                break
            body.append(inner)
        options = dict(re.findall(r"^:(\w+): *(.*?) *$", "\n".join(body[:4]), re.MULTILINE))
        kinds = [kind for kind in options.get("class", "").split() if kind in PREFIXES]
        if kinds:
            words = [inner for inner in body if not re.match(r":\w+:", inner)]
            yield Box(kinds[0], options.get("name", ""), *_parts(words))


def _parts(body: list[str]) -> tuple[str, tuple[Fold, ...]]:
    """Split the body of a box into its text and its folds."""
    text: list[str] = []
    folds: list[Fold] = []
    fence, title = "", ""
    reply: list[str] = []
    for line in body:
        opened = _OPENING.fullmatch(line)
        if not fence and opened and opened[2] == "dropdown":
            fence, title, reply = opened[1], opened[3], []
        elif fence and line.strip() == fence:
            folds.append(Fold(title, "\n".join(reply).strip()))
            fence = ""
        elif fence:
            reply.append(line)
        else:
            text.append(line)
    return "\n".join(text).strip(), tuple(folds)


def guesses(text: str) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    r"""Read the guesses of a Markdown text: the question, and each choice with its reply.

    Examples
    --------
    >>> text = ":::{admonition} Guess first\n:class: guess\nOne and one is …\n:::"
    >>> list(guesses(text))
    [('One and one is …', [])]
    """
    for box in boxes(text):
        if box.kind == "guess":
            yield box.question, [(fold.title, fold.text) for fold in box.folds]


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


def faults_of_choices(kind: str, question: str, answers: list[tuple[str, str]]) -> Iterator[str]:
    """Say what choices lack: enough of them, a reply to each, exactly one that is right.

    Examples
    --------
    >>> answers = [("two.", "Right. Count."), ("three.", "One more."), ("four.", "")]
    >>> list(faults_of_choices("guess", "One and one is …", answers))
    ["the guess 'One and one is …' does not reply to 'four.'"]
    """
    right = [choice for choice, reply in answers if is_right(reply)]
    least, asked_for = (3, "three or four") if kind == "guess" else (2, "two or three")
    if len(answers) < least:
        yield f"the {kind} {question!r} has {len(answers)} choices; {asked_for} are asked for"
    if len(right) != 1:
        yield (
            f"the {kind} {question!r} has {len(right)} right choices: the reply to exactly one "
            "begins with 'Right.'"
        )
    for choice, reply in answers:
        if not reply.strip():
            yield f"the {kind} {question!r} does not reply to {choice!r}"


def faults_of_box(box: Box) -> Iterator[str]:
    """Say what a box lacks, besides the number that answers it."""
    called = f"the {box.kind} {box.name or box.question!r}"
    prefix = PREFIXES[box.kind]
    if prefix and not (box.name.startswith(prefix) and _NAME.fullmatch(box.name)):
        yield (
            f"{called} needs a `:name:` of small letters, digits and hyphens that begins with "
            f"{prefix!r}, and keeps it for good"
        )
    if not box.question:
        yield f"{called} asks nothing: write the question before its folds"
    titles = [fold.title for fold in box.folds]
    if box.kind == "order":
        yield from _faults_of_order(called, box)
    elif prefix and len(titles) == 1 and titles[0] in (ANSWER, SEEN):
        if titles[0] == SEEN and box.kind != "task":
            yield f"{called} is no task: its one fold is {ANSWER!r}, and a number answers it"
        if not box.folds[0].text:
            yield f"{called} has an empty fold {titles[0]!r}"
    else:
        if ANSWER in titles or SEEN in titles:
            yield f"{called} has choices beside {ANSWER!r}: one fold for an answer, or choices only"
        yield from faults_of_choices(
            box.kind, box.question, [(fold.title, fold.text) for fold in box.folds]
        )


def _faults_of_order(called: str, box: Box) -> Iterator[str]:
    """Say what lines to be put in order lack."""
    if [fold.title for fold in box.folds] != [ORDERED]:
        yield f"{called} has one fold, {ORDERED!r}, with the lines numbered"
        return
    lines, replies = ordered(box.folds[0].text)
    if len(lines) < 3:
        yield f"{called} puts {len(lines)} lines in order; three or more are asked for"
    if len(set(box.lines)) < len(box.lines):
        yield f"{called} has two bullets of the same words"
    for line in lines:
        if line not in box.lines:
            yield f"{called}: the numbered line {line!r} is none of its bullets, word for word"
    decoys = [line for line in box.lines if line not in lines]
    for line in decoys:
        if not replies.get(line):
            yield f"{called} does not reply to the decoy {line!r}: begin a paragraph with *{line}*"
    for line in replies:
        if line not in decoys:
            yield f"{called} replies to {line!r}, which is no bullet that is left out"
    if box.lines[: len(lines)] == lines:
        yield f"{called} has its bullets in order already"


def faults_of_numbers(wanted: Iterable[Box], answered: Collection[str]) -> Iterator[str]:
    """Say which boxes of a section lack their number, and which numbers answer nothing.

    Parameters
    ----------
    wanted : iterable of Box
        All boxes of the section.
    answered : collection of str
        The names for which its checks print a number.
    """
    names = [box.name for box in wanted if box.wants_number]
    for name in names:
        if name not in answered:
            yield (
                f"{name} asks for a number: compute it by `answer_to({name!r}, …, within=…)` in a "
                "check of its section"
            )
    for name in answered:
        if name not in names:
            yield f"a check answers {name}, which no question or task of its section asks for"
