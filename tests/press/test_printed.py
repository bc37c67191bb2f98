"""Every line that a cell printed stands on the page as it was printed, letter by letter."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
import yaml
from nbformat.v4 import new_code_cell, new_markdown_cell, new_output
from printed import broken, printed, shown
from replay import executed
from tiny_book import BOOK, CHAPTER, build, build_book, chapter_of, write_book

from press.execution.execute import MARKDOWN
from press.execution.normalize import normalize
from press.registry import read_book
from press.site import SITE

TO_COME = {chapter.name for chapter in read_book(BOOK).chapters if not chapter.written}
NOTEBOOKS = [
    path.relative_to(BOOK).as_posix()
    for path in sorted((BOOK / "chapters").rglob("*.ipynb"))
    if path.stem not in TO_COME and ".ipynb_checkpoints" not in path.parts
]


def page_of(name: str) -> str:
    """Return the built page of a notebook."""
    page = (SITE / name).with_suffix(".html")
    if not page.exists():
        pytest.fail("the site is not built: run `make book`, then these tests")
    return page.read_text("utf-8")


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_page_shows_what_its_notebook_stores(name: str) -> None:
    stored = nbformat.read(BOOK / name, as_version=4)
    assert broken(stored, page_of(name)) == []


@pytest.mark.parametrize("page", MARKDOWN, ids=str)
def test_a_page_without_stored_outputs_shows_what_its_code_printed(page: Path) -> None:
    assert broken(executed(BOOK, page), page_of(page.as_posix())) == []


def test_the_book_prints() -> None:
    """Or a name in the pages changed, and nothing is compared any more."""
    assert sum(len(shown(page_of(name))) for name in NOTEBOOKS) > 500


PRINTED = {
    "a line": "191 levels; forgot 127: 3\n",
    "blank lines": "1.639\n\n1.622\n\n\n2\n",
    "a blank line first": "\nloop\n",
    "blank lines last": "the end\n\n\n",
    "spaces last": "Kneser–Ney 2.17 \n~ \n",
    "no newline": "100 % of a < b & c > d",
    "tabs": "a\tb\n\tc\n",
    "checks": "✓ a = b: holds\n\n✓ 100 % of it \n  beside\n\n",
    "a table": "~ a   1.0\n~ bb  2.0\n",
    "quotes and dashes": "\"a\" -- 'b' ... --- (c)\n",
    "only a newline": "\n",
    "Markdown": "# no heading\n*no stress* `no code` $no$ formula [no](link) {no}`role`\n",
}


def chapter_that_prints(pieces: int) -> nbformat.NotebookNode:
    """Write a chapter of which the kernel cut each output into so many pieces."""
    cells = [new_markdown_cell("# It prints\n\n## A section\n")]
    for number, text in enumerate(PRINTED.values(), 1):
        cut = [text[len(text) * k // pieces : len(text) * (k + 1) // pieces] for k in range(pieces)]
        outputs = [new_output("stream", name="stdout", text=piece) for piece in cut if piece]
        cells.append(new_code_cell(f"print({number})", outputs=outputs, execution_count=number))
    return chapter_of(cells)


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Build a page of outputs that are easily broken, each stored in one piece."""
    site = build_book(tmp_path_factory.mktemp("whole"), normalize(chapter_that_prints(3)))
    return (site / f"{CHAPTER}.html").read_text("utf-8")


def test_what_is_in_one_piece_stays_as_it_is(page: str) -> None:
    whole = normalize(chapter_that_prints(3))
    assert [text for _, text in printed(whole)] == [*PRINTED.values()]
    assert broken(whole, page) == []


def test_a_page_whose_lines_are_broken_is_found(tmp_path: Path) -> None:
    """MyST-NB's own merge of what a kernel sent in pieces makes a new line of each."""
    write_book(tmp_path, chapter_that_prints(3))
    config = tmp_path / "_config.yml"
    settings = yaml.safe_load(config.read_text("utf-8"))
    settings["sphinx"]["config"]["nb_merge_streams"] = True
    config.write_text(yaml.safe_dump(settings), encoding="utf-8")
    done = build(tmp_path)
    assert done.returncode == 0, done.stderr
    text = (tmp_path / f"_build/html/{CHAPTER}.html").read_text("utf-8")
    assert len(broken(normalize(chapter_that_prints(3)), text)) > 5


@pytest.mark.parametrize(
    ("right", "wrong"),
    [("levels;", "\nlevels;"), ("levels;", "\n\nlevels;"), ("levels;", "Levels;"), ("191 ", "")],
)
def test_one_wrong_letter_is_found(page: str, right: str, wrong: str) -> None:
    assert right in page
    (found,) = broken(normalize(chapter_that_prints(3)), page.replace(right, wrong, 1))
    assert "191 levels; forgot" in found
