"""The flash cards of a chapter, read from its notebook: what is asked, and what is the answer.

A line of the summary and a common mistake are answers; nobody types them twice.  The questions to
the lines of a summary stand in the metadata of its cell, in their order, each with the section that
explains it: ``"cards": [{"question": "What does RoPE turn, …?", "section": "positions-rope"}, …]``.
A mistake that begins with a claim in quotation marks asks by itself what is wrong with it; the cell
of any other has its question in the same place, without a section.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from nbformat import NotebookNode

from press.pages.headings import Headings, Section

_SUMMARY = re.compile(r"^## Summary\n(.*?)(?=^#|\Z)", re.MULTILINE | re.DOTALL)
_LINE = re.compile(r"^(?:[*-]|\d+\.) +(.*(?:\n[ \t]+\S.*)*)", re.MULTILINE)
_MISTAKE = re.compile(
    r"^(:{3,}|`{3,})\{admonition\}[^\n]*\n:class: mistake\n(.*?)\n\1$", re.MULTILINE | re.DOTALL
)
_CLAIM = re.compile(r'("[^"]+")\s+(.+)', re.DOTALL)


@dataclass(frozen=True)
class Card:
    """A question with its answer, both in Markdown.

    Attributes
    ----------
    id : str
        The chapter, the cell and the place in it, for example ``"08-positions/summary/4"``: it
        stays when the words change.
    kind : str
        ``"line"`` of a summary; ``"claim"``, which is wrong; or ``"mistake"``, whose answer tells
        the mistake.
    question, answer : str
        What is asked, or claimed, and what is right.
    section : str
        The label of the section that explains it.
    """

    id: str
    kind: str
    question: str
    answer: str
    section: str


@dataclass
class _Source:
    """A cell with answers: the lines of a summary, or mistakes, each with its section."""

    cell: NotebookNode
    kind: str
    answers: list[str] = field(default_factory=list)
    sections: list[str] = field(default_factory=list)

    @property
    def asked(self) -> list[dict[str, str]]:
        """What the metadata of the cell asks."""
        return list(self.cell.metadata.get("cards", []))


def summary_lines(text: str) -> list[str]:
    r"""Return the lines of the summary in a Markdown text, each on one line.

    Examples
    --------
    >>> summary_lines("## Summary\n\n* One thing\n  is so.\n* Another.\n\n[Errata](e.md)")
    ['One thing is so.', 'Another.']
    """
    found = _SUMMARY.search(text)
    lines = _LINE.findall(found[1]) if found else []
    return [" ".join(line.split()) for line in lines]


def claim_of(mistake: str) -> tuple[str, str]:
    """Split a mistake into the claim that it begins with, ``""`` if with none, and what follows.

    Examples
    --------
    >>> claim_of('"One is two." It is not.')
    ('"One is two."', 'It is not.')
    >>> claim_of("Taking one for two.")
    ('', 'Taking one for two.')
    """
    found = _CLAIM.fullmatch(mistake)
    return (found[1], found[2]) if found else ("", mistake)


def _read(notebook: NotebookNode) -> tuple[list[_Source], set[str]]:
    """Return the cells of a notebook that hold answers, and the labels of all its sections."""
    sources: list[_Source] = []
    labels: set[str] = set()
    headings = Headings()

    def go_on(text: str) -> Section:
        headings.read(text)
        labels.update(section.label for section in headings.open)
        return headings.linked

    for cell in notebook.cells:
        if cell.cell_type != "markdown":
            headings.pass_code()
            continue
        mistakes, read = _Source(cell, "mistake"), 0
        for mistake in _MISTAKE.finditer(cell.source):
            mistakes.sections.append(go_on(cell.source[read : mistake.start()]).label)
            mistakes.answers.append(mistake[2].strip())
            read = mistake.end()
        go_on(cell.source[read:])
        lines = _Source(cell, "line", summary_lines(cell.source))
        lines.sections = [card.get("section", "") for card in lines.asked]
        sources += [source for source in (lines, mistakes) if source.answers]
    return sources, labels


def _faults(source: _Source, labels: set[str]) -> Iterator[str]:
    """Say what a cell with answers lacks."""
    asked, wanted = source.asked, len(source.answers)
    if source.kind == "line":
        if len(asked) != wanted:
            yield (
                f"the summary has {wanted} lines and {len(asked)} questions in `cards` of its "
                "metadata; write one for each line"
            )
        for number, card in enumerate(asked, 1):
            if not card.get("question"):
                yield f"`cards` {number} of the summary lacks its question"
            if card.get("section") not in labels:
                yield (
                    f"`cards` {number} of the summary names the section {card.get('section')!r}; "
                    "give the label of a heading of this notebook"
                )
    elif asked and len(asked) != wanted:
        yield (
            f"{wanted} common mistakes and {len(asked)} questions in `cards`; write one for each, "
            "{} where the mistake begins with a claim in quotation marks"
        )
    else:
        for answer, card in zip(source.answers, asked or [{}] * wanted, strict=True):
            if not card.get("question") and not claim_of(answer)[0]:
                yield (
                    f"the mistake {answer[:30]!r}… neither begins with a claim in quotation marks "
                    "nor has a question in `cards` of the cell's metadata"
                )


def faults_of_cards(notebook: NotebookNode) -> Iterator[tuple[str, str]]:
    """Say where a card of a notebook lacks something, as pairs of a cell's id and a sentence."""
    sources, labels = _read(notebook)
    for source in sources:
        yield from ((source.cell.id, sentence) for sentence in _faults(source, labels))


def cards_of(notebook: NotebookNode, chapter: str) -> list[Card]:
    """Return the cards of a chapter: the lines of its summary, then its mistakes in their order.

    Parameters
    ----------
    notebook : NotebookNode
        The chapter.
    chapter : str
        Its name, for example ``"08-positions"``.

    Raises
    ------
    ValueError
        When a card lacks something; the sentence names the cell.
    """
    for cell, sentence in faults_of_cards(notebook):
        raise ValueError(f"{chapter}, cell {cell}: {sentence}")
    cards = []
    for source in _read(notebook)[0]:
        asked = source.asked or [{}] * len(source.answers)
        parts = zip(asked, source.answers, source.sections, strict=True)
        for number, (card, answer, section) in enumerate(parts, 1):
            name = f"{chapter}/{source.cell.id}/{number}"
            if question := card.get("question", ""):
                cards.append(Card(name, source.kind, question, answer, section))
            else:
                cards.append(Card(name, "claim", *claim_of(answer), section))
    return sorted(cards, key=lambda card: card.kind != "line")
