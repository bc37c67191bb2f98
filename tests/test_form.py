"""Every chapter has the form of CONTRIBUTING, and whatever leaves it is named with its cell."""

from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from written import NOTEBOOKS

from primer.book.form import faults, faults_of, guesses, tags_of

GUESS = """::::{admonition} Guess first
:class: guess
One and one is …

:::{dropdown} two.
Right. Count.
:::
:::{dropdown} three.
That is one more than two.
:::
:::{dropdown} four.
That is two and two.
:::
::::
"""


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
class TestChapters:
    def test_has_the_form(self, path: Path) -> None:
        assert faults_of(path) == []

    def test_asks_at_least_two_guesses(self, path: Path) -> None:
        cells = nbformat.read(path, as_version=4).cells
        asked = [guess for cell in cells for guess in guesses(cell.source)]
        assert len(asked) >= 2

    def test_opens_with_few_words_and_a_folded_setup(self, path: Path) -> None:
        cells = nbformat.read(path, as_version=4).cells
        assert cells[0].cell_type == "markdown"
        first = next(cell for cell in cells if cell.cell_type == "code")
        assert tags_of(first) == ["setup"]


def code(source: str, printed: str = "", **metadata: object) -> NotebookNode:
    outputs = [new_output("stream", text=printed)] if printed else []
    return new_code_cell(source, id="cell", outputs=outputs, metadata=metadata)


def check(proves: dict[str, list[str]], printed: str = "✓ one: 1 = 1\n") -> NotebookNode:
    return code("verify()", printed, tags=["check"], proves=proves)


def markdown(text: str) -> NotebookNode:
    return new_markdown_cell(text, id="cell")


def test_what_is_in_order_has_no_faults() -> None:
    cells = [
        markdown(GUESS),
        code("import primer", tags=["setup"]),
        code("print(1 + 1)", "2\n"),
        code("plt.plot()" + " " * 90, tags=["figure", "draws"]),
        check({"POS-01": ["one"]}),
    ]
    for number, cell in enumerate(cells):
        cell.id = f"cell-{number}"
    assert faults(new_notebook(cells=cells)) == []


@pytest.mark.parametrize(
    ("cell", "sentence"),
    [
        (code("1", tags=["hide-input"]), "the tag 'hide-input' is unknown"),
        (code("1", tags=["setup", "check"]), "only one of the tags"),
        (code("1", proves={"POS-01": ["one"]}), "only a cell tagged 'check' has `proves`"),
        (check({"POS-1x": ["one"]}), "which is no row and no erratum"),
        (check({"POS-01": []}), "by no check"),
        (check({"POS-01": ["one", "one"]}), "twice"),
        (check({"POS-01": ["two"]}), "names the check 'two' for POS-01, which printed no ✓"),
        (check({}, printed="~ 0.1 s\n"), "a check that printed no ✓"),
        (markdown("as POS-01 says"), "POS-01 is visible"),
        (code("print('x')", "[ERR-22]\n"), "the output names a row"),
        (code("x = 1  " + "#" * 80), "wider than 79 columns"),
        (code("x = 1\n" * 13), "an open cell of 13 lines; 12 at most"),
        (code("verify('a', 1, 1, atol=0)"), "an open cell that verifies"),
        (code("plt.plot(x)"), "an open cell that draws"),
        (code("show_source(f)"), "an open cell that draws"),
        (markdown(GUESS.replace("Right. ", "")), "has 0 right choices"),
        (markdown(GUESS.replace("That is two", "Right. That is two")), "has 2 right choices"),
        (markdown(GUESS.replace("That is two and two.", "")), "does not reply to 'four.'"),
        (markdown(GUESS.replace("dropdown} four", "note} four")), "has 2 choices"),
    ],
)
def test_a_fault_is_named_with_its_cell(cell: NotebookNode, sentence: str) -> None:
    found = faults(new_notebook(cells=[cell]))
    assert any(fault.startswith("cell cell: ") and sentence in fault for fault in found), found


def test_a_check_in_the_middle_of_a_section_is_a_fault() -> None:
    later = new_markdown_cell("And now for something else.", id="later")
    (fault,) = faults(new_notebook(cells=[check({}), later]))
    assert "a check in the middle of a section; later comes after it" in fault
    heading = new_markdown_cell("(label)=\n## Next", id="next")
    assert faults(new_notebook(cells=[check({}), heading])) == []


def test_a_row_named_twice_in_one_cell_is_a_fault(tmp_path: Path) -> None:
    path = tmp_path / "chapter.ipynb"
    nbformat.write(new_notebook(cells=[check({"POS-01": ["one"], "POS-02": ["one"]})]), path)
    path.write_text(path.read_text().replace("POS-02", "POS-01"))
    assert faults_of(path) == ["chapter.ipynb, `proves` of one cell names POS-01 twice"]
