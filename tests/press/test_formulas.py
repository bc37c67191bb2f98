"""Formulas as plain text, in the excerpts of the search."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from press.pages.formulas import LEFT_OUT, LONGEST, plain

HERE = Path(__file__).parents[2] / "chapters"
CHAPTERS = sorted(HERE.glob("*.ipynb"))
PAGES = sorted(path for kind in ("ipynb", "md") for path in HERE.rglob(f"*.{kind}"))


def inline_formulas(chapter: Path) -> list[str]:
    """List the formulas in the lines of a chapter."""
    text = chapter.read_text("utf-8")
    if chapter.suffix == ".ipynb":
        cells = json.loads(text)["cells"]
        sources = ("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
        text = "\n\n".join(sources)
    return re.findall(
        r"(?<![$\\])\$([^$\n]+)\$(?!\$)", re.sub(r"\$\$.*?\$\$", "", text, flags=re.S)
    )


@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda path: path.stem)
def test_nearly_every_formula_of_a_line_can_be_read(chapter: Path) -> None:
    formulas = inline_formulas(chapter)
    said = [plain(formula) for formula in formulas]
    assert sum(text == LEFT_OUT for text in said) <= 0.03 * len(said)
    for formula, text in zip(formulas, said, strict=True):
        assert 0 < len(text) <= LONGEST
        assert not re.search(r"\\(?![{}])|\$|~", text), (formula, text)


@pytest.mark.parametrize("page", PAGES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_no_command_is_torn_by_a_second_backslash(page: Path) -> None:
    r"""In a line ``\\sqrt`` is a break and the letters *sqrt*; only rows of a matrix end in two."""
    for formula in inline_formulas(page):
        outside = re.sub(r"\\begin\{(\w+)\}.*?\\end\{\1\}", "", formula)
        assert not re.search(r"\\\\[a-zA-Z]", outside), formula


@pytest.mark.parametrize(
    ("tex", "text"),
    [
        (r"\tfrac12", "1/2"),
        (r"\frac{a+b}{2n}", "(a+b)/(2n)"),
        (r"e^{-x^2/2}", "e^(-x^2/2)"),
        (r"x^{-1}", "x^(-1)"),
        (r"W_{QK}", "W_QK"),
        (r"\mathbb E\,R", "E R"),
        (r"\sqrt{d_k}", "√d_k"),
        (r"2/\frac23", LEFT_OUT),
        (r"a \\ b", LEFT_OUT),
        ("", LEFT_OUT),
    ],
)
def test_what_a_line_cannot_show_gets_parentheses(tex: str, text: str) -> None:
    assert plain(tex) == text
