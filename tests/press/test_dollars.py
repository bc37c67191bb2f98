"""`$$` that begins no display formula is a warning with its line, and so stops the build."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from docutils.core import publish_doctree
from myst_parser.parsers.docutils_ import Parser
from nbformat.v4 import new_markdown_cell
from tiny_book import CHAPTER, build, chapter_of, write_book

from press.pages.dollars import left_over

STRAY = {
    "text $$\na = b\n$$\nmore": 0,
    "text\n$$\na = b\n$$": 1,
    "two\nlines\n$$\na = b\n$$ (eq-a)\n": 2,
    "text $$a = b$$ more": 0,
    "text:$$\na\n$$ (eq-x)": 0,
    "a $x$ and\n$$a$$\nmore": 1,
    "$$\na = b\n$$ and text": 0,
    "- item\n  $$\n  a\n  $$": 1,
    "> quote\n> $$\n> a\n> $$": 1,
    "text\n$$\nnever ends": 1,
    "# Heading with $$a = b$$": 0,
    "words, *and some\nwith $$a = b$$ stress*": 1,
    "words\nand **$$a$$ so**": 1,
    "| a | b |\n|---|---|\n| $$x$$ | y |": 0,
    "$$\nnever ends": 0,
}
IN_ORDER = [
    "text\n\n$$\na = b\n$$\n\nmore",
    "text\n\n$$ a = b $$ (eq-a)\n\nmore",
    "it costs \\$5 or \\$\\$, and $x$ and $y$.",
    "`$$` is code, $a$$b$ are two",
    "```\ntext $$a$$\n```",
    "- item\n\n  $$\n  a\n  $$",
]


def found(text: str) -> list[int]:
    """Return the lines, below the first of their paragraphs, on which dollars are left over."""
    document = publish_doctree(
        text, parser=Parser(), settings_overrides={"myst_enable_extensions": ["dollarmath"]}
    )
    return [lines for _, lines, _ in left_over(document)]


@pytest.mark.parametrize(("text", "line"), STRAY.items())
def test_dollars_that_are_left_over_are_found(text: str, line: int) -> None:
    assert found(text) == [line]


@pytest.mark.parametrize("text", IN_ORDER)
def test_formulas_in_order_are_none(text: str) -> None:
    assert found(text) == []


def test_the_build_stops_and_names_the_line(tmp_path: Path) -> None:
    chapter = chapter_of([new_markdown_cell("# Tiny\n\nWords\n$$\na = b\n$$\n")])
    write_book(tmp_path, chapter, {"page": "# Page\n\nFirst.\n\nSecond\nline $$a$$\n"})
    done = build(tmp_path)
    assert done.returncode != 0
    said = done.stdout + done.stderr
    assert re.search(r"page\.md:6: WARNING: `\$\$` beside other text", said)
    # MyST-NB counts ten thousand lines for a cell, and the first of a notebook's as its second
    assert re.search(rf"{CHAPTER}\.ipynb:1000[45]: WARNING: `\$\$`", said)
