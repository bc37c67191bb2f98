"""What a page says of itself before it is drawn: its fonts, its images' sizes, its description."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from docutils.core import publish_doctree
from docutils.nodes import document
from pygments.styles import get_style_by_name
from pygments.token import STANDARD_TYPES, Token
from written import BOOK

from press.pages.described import LONGEST, description, shortened
from press.pages.plain_code import PLAIN
from press.pages.sizes import size_of_drawing, with_sizes
from press.publish.stand_ins import STAND_INS, families, rule, style_sheet
from press.publish.style import first_fonts


def tree(text: str) -> document:
    found: document = publish_doctree(text)
    return found


def test_a_description_is_the_first_paragraph_that_says_something() -> None:
    sentence = (
        "Attention lets every token ask all others a question and take a mean of the answers."
    )
    page = tree(f"Title\n=====\n\nan hour\n\nA long formula :math:`x` {sentence}\n\n{sentence}\n")
    assert description(page) == sentence
    assert description(tree("Title\n=====\n\nWords.\n")) == ""
    long = " ".join(["word"] * 100)
    assert len(shortened(long)) <= LONGEST
    assert shortened(long).endswith("word …")


@pytest.mark.parametrize(
    ("svg", "size"),
    [
        (b'<?xml version="1.0"?><svg width="10pt" height="20pt" viewBox="0 0 10 20">', (13, 27)),
        (b'<svg height="30" width="40">', (40, 30)),
        (b'<svg width="100%" height="100%">', None),
        (b"<p>none</p>", None),
    ],
)
def test_a_drawing_says_its_size(svg: bytes, size: tuple[int, int] | None) -> None:
    assert size_of_drawing(svg) == size


def test_images_without_a_size_get_theirs(tmp_path: Path) -> None:
    (tmp_path / "a b.svg").write_bytes(b'<svg height="30" width="40">')
    files = {"a b.svg": tmp_path / "a b.svg", "gone.png": tmp_path / "gone.png"}
    page = (
        '<img alt="x" src="../_images/a%20b.svg" /><img src="gone.png"><img width="1" src="a.svg">'
    )
    assert with_sizes(page, files) == (
        '<img alt="x" src="../_images/a%20b.svg" width="40" height="30" />'
        '<img src="gone.png"><img width="1" src="a.svg">'
    )


def test_a_font_in_a_closed_fold_is_not_asked_for() -> None:
    code = "fonts/source-code-pro-latin-wght-normal.woff2"
    assert code in first_fonts("<p><code>x</code></p>")
    assert code not in first_fonts("<details><details><code>x</code></details></details>")


def test_each_font_of_the_book_has_a_stand_in_on_every_system() -> None:
    assert set(families()) == {one.own.family for one in STAND_INS}
    for one in STAND_INS:
        assert rule(one) in style_sheet()
        assert 0.85 < one.wanted / one.width < 1.2


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_what_loses_its_element_has_the_color_of_text(scheme: str) -> None:
    config = yaml.safe_load((BOOK / "_config.yml").read_text("utf-8"))
    name = config["sphinx"]["config"]["html_theme_options"][f"pygments_{scheme}_style"]
    style = get_style_by_name(name)
    kinds = {short: kind for kind, short in STANDARD_TYPES.items()}
    for short in PLAIN:
        assert style.style_for_token(kinds[short]) == style.style_for_token(Token.Text), short
