"""The pages of the appendix are made from data: what they say follows the notebooks."""

import doctest
import re
import shutil
from pathlib import Path

import nbformat
import pytest
from sphinx.application import Sphinx
from sphinx.util.docutils import docutils_namespace
from tiny_book import write_registry
from written import BOOK

from primer.book.normalize import normalize
from primer.book.registry import read_book

APPENDIX = BOOK / "chapters/appendix"
TEXT = "# Fourier\n\n(fourier-dft)=\n## The transform of samples"
PAGES = {
    "index.md": "# Book\n\n```{toctree}\nmap\nerrata\nchapters/16-fourier\n```\n",
    "map.md": "# Map\n\n```{source-map}\n```\n",
    "errata.md": "# Errata\n\n```{errata}\n```\n",
}


def write_notebook(book: Path, *rows: str) -> None:
    """Write a chapter that proves rows and prints that it does."""
    cells = [nbformat.v4.new_markdown_cell(TEXT)]
    for row in rows:
        printed = nbformat.v4.new_output("stream", text="✓ one: 1 = 1 (tolerance 0)\n")
        call = 'verify("one", 1, 1, atol=0)'
        metadata = {"tags": ["check"], "proves": {row: ["one"]}}
        cells.append(nbformat.v4.new_code_cell(call, id=row, outputs=[printed], metadata=metadata))
    notebook = nbformat.v4.new_notebook(cells=cells)
    nbformat.write(normalize(notebook), book / "chapters/16-fourier.ipynb")


@pytest.fixture
def book(tmp_path: Path) -> Path:
    """A book of one chapter with the real data of the appendix."""
    (tmp_path / "chapters/appendix").mkdir(parents=True)
    for name in ("coverage.csv", "errata.yml"):
        shutil.copy(APPENDIX / name, tmp_path / "chapters/appendix")
    write_registry(tmp_path, ["16-fourier"])
    for name, text in PAGES.items():
        (tmp_path / name).write_text(text)
    write_notebook(tmp_path, "FOU-03", "ERR-22")
    return tmp_path


def build(book: Path) -> None:
    """Build the book as `make book` does: a warning is an error."""
    options = {
        "extensions": ["myst_nb", "primer.book.folds", "primer.book.appendix"],
        "myst_enable_extensions": ["dollarmath", "colon_fence"],
        "nb_execution_mode": "off",
        # a suffix of our own: else myst_nb would write its into the default of all later builds
        "source_suffix": {".md": "myst-nb", ".ipynb": "myst-nb"},
        "exclude_patterns": ["chapters/appendix", "_build", "jupyter_execute"],
    }
    with docutils_namespace():
        out = book / "_build"
        app = Sphinx(
            book, None, out, out / "doctrees", "html", options, status=None, warningiserror=True
        )
        app.build()
        assert app.statuscode == 0


def line_of(page: str, row: str) -> str:
    """Return the list item of a row."""
    return re.search(rf'<li id="{row}">.*?</li>', page, re.DOTALL)[0]


def test_the_map_links_what_is_proved_and_follows_the_notebook(book: Path) -> None:
    build(book)
    page = (book / "_build/map.html").read_text()
    assert page.count("<progress") == 1 + len(read_book(book).chapters)
    assert "1 of 530" in page
    assert "1 of 17" in page
    assert "46 to come" in page
    assert 'href="chapters/16-fourier.html#check-16-fourier-fou-03"' in line_of(page, "fou-03")
    assert "The transform of samples" in line_of(page, "fou-03")
    assert "to come" in line_of(page, "fou-04")
    assert 'href="errata.html#erratum-24"' in line_of(page, "fou-07")
    assert len(set(re.findall(r'<li id="([a-z]+-\d+)">', page))) == 530

    write_notebook(book, "FOU-04", "ERR-22")  # only the notebook changes
    build(book)
    page = (book / "_build/map.html").read_text()
    assert "to come" in line_of(page, "fou-03")
    assert 'href="chapters/16-fourier.html#check-16-fourier-fou-04"' in line_of(page, "fou-04")


def test_the_errata_link_to_the_box_that_proves_them(book: Path) -> None:
    build(book)
    page = (book / "_build/errata.html").read_text()
    entries = dict(re.findall(r'<dt id="(erratum-\d+)">(.*?)</dd>', page, re.DOTALL))
    assert len(entries) == 107
    assert 'href="chapters/16-fourier.html#check-16-fourier-err-22"' in entries["erratum-22"]
    assert "to come with chapter 16 Fourier analysis" in entries["erratum-23"]
    assert "1 of 107 are proved" in page


def test_the_page_of_errata_of_a_chapter_proves_what_its_text_does_not(book: Path) -> None:
    (book / "chapters/errata").mkdir()
    path = book / "chapters/16-fourier.ipynb"
    text = path.read_text().replace("fourier-dft", "errata-of-16")
    (book / "chapters/errata/16-fourier.ipynb").write_text(text)
    write_notebook(book, "FOU-03")
    with (book / "index.md").open("a") as index:
        index.write("\n```{toctree}\nchapters/errata/16-fourier\n```\n")
    build(book)
    page = (book / "_build/errata.html").read_text()
    entry = re.search(r'<dt id="erratum-22">(.*?)</dd>', page, re.DOTALL)[0]
    assert 'href="chapters/errata/16-fourier.html#check-errata-16-fourier-err-22"' in entry
    assert "on the errata page of chapter" in entry


def test_the_computations_on_the_page_of_conventions_hold() -> None:
    text = (APPENDIX / "conventions.md").read_text().replace("```\n", "\n")
    test = doctest.DocTestParser().get_doctest(text, {}, "conventions", "conventions.md", 0)
    assert len(test.examples) > 20
    assert doctest.DocTestRunner().run(test).failed == 0


def test_each_package_of_a_written_chapter_is_described_in_the_library() -> None:
    registry = read_book(BOOK)
    for package in registry.library:
        text = (APPENDIX / "library" / f"{package}.md").read_text()
        assert f".. automodule:: primer.{package}" in text
    for chapter in registry.written:
        text = (APPENDIX / "library" / f"{chapter.library[0]}.md").read_text()
        assert f"{{doc}}`/chapters/{chapter.name}`" in text


def test_the_glossary_is_in_alphabetical_order() -> None:
    terms = re.findall(r"^(\S.*)\n  \S", (APPENDIX / "glossary.md").read_text(), re.MULTILINE)
    assert len(terms) > 60
    assert terms == sorted(terms, key=str.casefold)
