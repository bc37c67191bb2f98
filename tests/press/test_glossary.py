"""The glossary: its letters, its terms in the chapters, and the way back to their sections."""

from __future__ import annotations

import io
import re
from pathlib import Path

import pytest
from bs4 import BeautifulSoup
from sphinx.application import Sphinx
from sphinx.util.docutils import docutils_namespace
from written import BESIDE, BOOK, CHAPTERS

from press.site import SITE

GLOSSARY = BOOK / "chapters/appendix/glossary.md"
TERMS = 10
"""The least number of terms that a chapter links."""


def entries() -> dict[str, str]:
    """Return the definition of each term."""
    text = GLOSSARY.read_text("utf-8").partition("```{glossary}\n")[2]
    found = re.findall(r"^(\S.*)\n((?:  .*\n|\n(?=  ))+)", text, re.MULTILINE)
    return dict(found)


def test_every_letter_leads_to_its_first_term(reading_site: Path) -> None:
    text = (reading_site / "chapters/appendix/glossary.html").read_text("utf-8")
    page = BeautifulSoup(text, "html.parser")
    letters = page.select("nav[aria-label='Letters of the glossary'] li")
    assert "".join(letter.text for letter in letters) == "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    links = {letter.text: letter.a["href"] for letter in letters if letter.a is not None}
    assert links == {
        "A": "#term-attention",
        "K": "#term-key",
        "S": "#term-softmax",
        "V": "#term-value",
    }


def test_a_term_without_an_entry_is_a_warning(tmp_path: Path) -> None:
    (tmp_path / "index.md").write_text(
        "# A page\n\n{term}`kye`\n\n```{glossary}\nkey\n  A vector.\n```\n"
    )
    warnings = io.StringIO()
    options = {"extensions": ["myst_parser", "press.links.glossary"]}
    with docutils_namespace():
        out = tmp_path / "out"
        app = Sphinx(tmp_path, None, out, out, "dummy", options, status=None, warning=warnings)
        app.build()
    assert "index.md:3: WARNING: term not in glossary: 'kye'" in warnings.getvalue()


def test_the_entries_are_read() -> None:
    found = entries()
    assert len(found) > 60
    assert found["attention"].lstrip().startswith("A weighted mean of")


def test_every_entry_leads_back_to_a_section() -> None:
    silent = [term for term, text in entries().items() if "{ref}`" not in text]
    assert silent == [], "end these entries with → {ref}`the-section-that-defines-the-term`"


@pytest.mark.parametrize("chapter", [*BESIDE, *CHAPTERS])
def test_a_chapter_links_its_terms(chapter: str) -> None:
    text = (SITE / "chapters" / f"{chapter}.html").read_text("utf-8")
    linked = set(re.findall(r'href="appendix/glossary\.html#(term-[^"]+)"', text))
    assert len(linked) >= TERMS, f"{chapter} links {len(linked)} terms; {TERMS} are asked for"
