r"""How long a chapter is: the words of its Markdown cells, shown and folded.

What a page *shows* is what everybody reads: its prose with the questions and their choices.  What a
fold hides (replies, answers, hints, solutions, proofs beside the way) is read by whoever opens it,
and counts for the whole only.  A formula in a line is one word; displayed formulas, labels, options
and the targets of links are none.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from nbformat import NotebookNode

FOLDS = ("dropdown",)
"""Directives whose contents are closed at first."""

_OPENING = re.compile(r"\s*(:{3,}|`{3,})\{([\w:-]+)\}(.*)")
_CLOSED = re.compile(r"\s*:class:.*\bdropdown\b.*")
_NO_WORDS = re.compile(r"\s*(:[\w-]+:.*|\([\w-]+\)=|\$\$.*)")
_FORMULA = re.compile(r"\$[^$]+\$")
_TARGET = re.compile(r"\]\([^)]*\)")


class Words(NamedTuple):
    """How many words a text has: those that its page shows at first, and all of them."""

    shown: int
    whole: int


def _count(line: str) -> int:
    """Count the words of a line."""
    plain = _TARGET.sub("]", _FORMULA.sub("x", line))
    return sum(any(sign.isalnum() for sign in word) for word in plain.split())


def words(text: str) -> Words:
    r"""Count the words of a Markdown text.

    Examples
    --------
    >>> words("One and [one](#sum) is $1 + 1$.\n\n$$\n2 = 1 + 1\n$$ (eq-sum)")
    Words(shown=5, whole=5)
    >>> words("How many?\n\n:::{dropdown} Two.\nRight. Count.\n:::")
    Words(shown=3, whole=5)
    >>> words(":::{admonition} Hint\n:class: dropdown tip\nCount.\n:::")
    Words(shown=1, whole=2)
    """
    shown = whole = 0
    opened: list[tuple[str, str]] = []
    displayed = False
    for line in text.splitlines():
        counted = line
        if displayed or line.lstrip().startswith("$$"):
            if line.count("$$") == 1:
                displayed = not displayed
            continue
        if opened and line.strip() == opened[-1][0]:
            opened.pop()
            continue
        hidden = any(name in FOLDS for _, name in opened)
        if found := _OPENING.fullmatch(line):
            opened.append((found[1], found[2]))
            counted = found[3]
        elif opened and _CLOSED.fullmatch(line):
            opened[-1] = (opened[-1][0], "dropdown")
        if _NO_WORDS.fullmatch(line) or any(name.startswith("math") for _, name in opened):
            continue
        number = _count(counted)
        whole += number
        shown += 0 if hidden else number
    return Words(shown, whole)


def length(notebook: NotebookNode) -> Words:
    """Count the words of a notebook's Markdown cells."""
    counts = [words(cell.source) for cell in notebook.cells if cell.cell_type == "markdown"]
    return Words(sum(count.shown for count in counts), sum(count.whole for count in counts))
