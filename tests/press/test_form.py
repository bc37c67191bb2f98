"""Every chapter has the form of CONTRIBUTING, and whatever leaves it is named with its cell."""

import base64
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode
from nbformat.v4 import (
    new_code_cell,
    new_markdown_cell,
    new_notebook,
    new_output,
    new_raw_cell,
)
from written import BOOK, NOTEBOOKS

from press.audit.asking import guesses
from press.audit.foreign import faults_of_foreign
from press.audit.form import faults, faults_of, main, tags_of

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
        (check({}, printed="~ 0.1 s\n"), "a check that printed no ✓ and no answer to a question"),
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


SCRIPT = "<script>alert(1)</script>"
FOREIGN = {
    "a script in an output": new_output("display_data", data={"text/html": f"<p>{SCRIPT}"}),
    "JavaScript": new_output("display_data", data={"application/javascript": "alert(1)"}),
    "JavaScript by its other name": new_output(
        "execute_result", data={"text/javascript; charset=utf-8": "alert(1)"}
    ),
    "a refresh": new_output(
        "display_data", data={"text/html": '<meta http-equiv="refresh" content="0">'}
    ),
    "a drawing": new_output("display_data", data={"image/svg+xml": f"<svg>{SCRIPT}</svg>"}),
    "Markdown": new_output("display_data", data={"text/markdown": f"a {SCRIPT}"}),
    "a second kind": new_output(
        "display_data", data={"text/plain": "a", "text/html": "<iframe srcdoc=a></iframe>"}
    ),
}
TEXTS = [
    f"a\n\n{SCRIPT}\n",
    f"a {SCRIPT} b",
    f"- a\n  - {SCRIPT}\n",
    f"> {SCRIPT}\n",
    f"```{{note}}\na {SCRIPT}\n```",
    f":::{{note}}\na {SCRIPT}\n:::",
    f"````{{note}}\n```{{tip}}\na {SCRIPT}\n```\n````",
    f"```{{raw}} html\n{SCRIPT}\n```",
    '<meta http-equiv="refresh" content="0;url=https://example.org">',
    '<a href="javascript:alert(1)">a</a>',
    '<img src="x.png" onerror=alert(1)>',
]


@pytest.mark.parametrize("output", FOREIGN.values(), ids=FOREIGN)
def test_an_output_that_runs_or_leads_away_is_a_fault(output: NotebookNode) -> None:
    cell = new_code_cell("1", id="cell", outputs=[output], metadata={"tags": ["figure"]})
    found = faults(new_notebook(cells=[cell]))
    assert found
    assert all(fault.startswith("cell cell: an output holds ") for fault in found)


@pytest.mark.parametrize("text", TEXTS)
def test_a_text_that_runs_or_leads_away_is_a_fault(text: str) -> None:
    for cell in (markdown(text), new_raw_cell(text, id="cell")):
        assert faults(new_notebook(cells=[cell]))[0].startswith("cell cell: the text holds ")


def test_an_attachment_that_runs_is_a_fault() -> None:
    drawing = base64.b64encode(f"<svg>{SCRIPT}</svg>".encode()).decode()
    cell = new_markdown_cell("![a](attachment:a.svg)", id="cell")
    cell["attachments"] = {"a.svg": {"image/svg+xml": drawing}}
    (fault,) = faults(new_notebook(cells=[cell]))
    assert fault.startswith("cell cell: the attachment 'a.svg' holds a script")


@pytest.mark.parametrize(
    "text",
    [
        f"`{SCRIPT}` and\n\n```html\n{SCRIPT}\n```\n\n    {SCRIPT}\n",
        f"```{{code-block}} html\n{SCRIPT}\n```",
        "[a](https://example.org) and <b>bold</b>, once = 1",
        r"$a<b$ and \<script>",
    ],
)
def test_a_text_that_only_shows_it_has_no_fault(text: str) -> None:
    assert faults(new_notebook(cells=[markdown(text)])) == []


@pytest.mark.parametrize("path", sorted((BOOK / "chapters").rglob("*.ipynb")), ids=str)
def test_no_notebook_holds_what_runs_or_leads_away(path: Path) -> None:
    cells = nbformat.read(path, as_version=4).cells
    assert [fault for cell in cells for fault in faults_of_foreign(cell)] == []


def test_a_file_that_is_no_notebook_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "empty.ipynb").write_text("")
    names = [str(tmp_path / name) for name in ("empty.ipynb", "missing.ipynb")]
    monkeypatch.setattr("sys.argv", ["form", *names])
    assert main() == 1
    said = capsys.readouterr().out.splitlines()
    assert said[0].startswith(f"{names[0]} is no notebook: it is empty")
    assert names[1] in said[1]
    assert said[2] == "2 faults of form"
