"""What a notebook proves is read from its cells: names, sections, labels and outputs."""

from pathlib import Path

import nbformat
import pytest

from primer.book.proofs import Proof, Section, claimed, passed, read_labels, read_proofs
from primer.notebook import verify, verify_between, verify_raises, verify_that


def notebook(folder: Path, *cells: nbformat.NotebookNode) -> Path:
    path = folder / "16-fourier.ipynb"
    nbformat.write(nbformat.v4.new_notebook(cells=list(cells)), path)
    return path


def markdown(text: str) -> nbformat.NotebookNode:
    return nbformat.v4.new_markdown_cell(text)


def code(text: str, printed: str = "", name: str = "check") -> nbformat.NotebookNode:
    outputs = [nbformat.v4.new_output("stream", text=printed)] if printed else []
    return nbformat.v4.new_code_cell(text, id=name, outputs=outputs)


def test_every_kind_of_check_is_found_and_nothing_else() -> None:
    source = "\n".join(
        [
            "%matplotlib inline",
            'verify("a", 1, 1, atol=0, rows="FOU-01")',
            'notebook.verify_between("b", 1, 0, 2, rows="FOU-02 ERR-22")',
            'for x in range(2):\n    verify_that("c", True, rows="FOU-03")',
            'verify_raises("d", ValueError, f, rows="FOU-04")',
            'verify("without a name", 1, 1, atol=0)',
            'plot(x, rows="FOU-05")',
            '# verify("in a comment", 1, 1, atol=0, rows="FOU-06")',
            'text = """verify("in a string", 1, 1, atol=0, rows="FOU-07")"""',
        ]
    )
    assert sorted(claimed(source)) == ["ERR-22", "FOU-01", "FOU-02", "FOU-03", "FOU-04"]


@pytest.mark.parametrize("value", ["name", 'f"FOU-{n}"', '"FOU-01" + " FOU-02"', "3"])
def test_names_must_be_literal(tmp_path: Path, value: str) -> None:
    path = notebook(tmp_path, code(f'verify("a", 1, 1, atol=0, rows={value})', name="third"))
    with pytest.raises(ValueError, match=r"16-fourier.ipynb, cell third, line 1: .* literal"):
        read_proofs(path)


def test_the_lines_of_all_four_checks_are_read(capsys: pytest.CaptureFixture[str]) -> None:
    verify("a", [1.0, 2.0], [1.0, 2.0], atol=0, rows="FOU-01 ERR-22")
    verify_between("b", 1, 0, 2, rows="FOU-02")
    verify_between("b", 1, 0, 2, machine=True, rows="FOU-03")
    verify_that("c", True, rows="FOU-04")
    verify_raises("d", ValueError, lambda: int("x"), rows="FOU-05")
    verify("without a name [FOU-06] at the end", 1, 1, atol=0)
    assert passed(capsys.readouterr().out) == {
        *("FOU-01", "FOU-02", "FOU-03", "FOU-04", "FOU-05", "ERR-22")
    }


def test_place_and_result_of_a_proof(tmp_path: Path) -> None:
    path = notebook(
        tmp_path,
        markdown("(fourier)=\n# Fourier\n\nText.\n\n(fourier-dft)=\n\n## The DFT $W_N$"),
        markdown("(err-22)=\n:::{admonition} Where the notes slip\nText.\n:::"),
        code('verify("a", 1, 1, atol=0, rows="FOU-03 FOU-04")', "✓ a: 1 = 1  [FOU-03]\n", "dft"),
        markdown("## No label\n\n```python\n(inside-a-fence)=\n# Not a heading\n```"),
        code('verify("b", 1, 1, atol=0, rows="FOU-05")', "✗ b: got 2  [FOU-05]\n", "other"),
    )
    dft, fourier = Section("The DFT $W_N$", "fourier-dft"), Section("Fourier", "fourier")
    assert read_proofs(path) == [
        Proof("FOU-03", "16-fourier", dft, "dft", True),
        Proof("FOU-04", "16-fourier", dft, "dft", False),
        Proof("FOU-05", "16-fourier", fourier, "other", False),
    ]
    assert read_labels(path) == {"fourier", "fourier-dft", "err-22"}


def test_a_cell_is_linked_by_the_innermost_label_above_it(tmp_path: Path) -> None:
    path = notebook(
        tmp_path,
        markdown("# Fourier\n\n(windows)=\n## Windows\n\n### Without a label"),
        code('verify("a", 1, 1, atol=0, rows="FOU-03")', name="inner"),
        markdown("## Another\n\n(hann)=\n### Hann"),
        code('verify("a", 1, 1, atol=0, rows="FOU-04")', name="hann"),
        markdown("## A third"),
        code('verify("a", 1, 1, atol=0, rows="FOU-05")', name="outer"),
    )
    assert [proof.section for proof in read_proofs(path)] == [
        Section("Windows", "windows"),
        Section("Hann", "hann"),
        Section("A third", ""),
    ]


def test_a_label_belongs_to_the_heading_right_below_it(tmp_path: Path) -> None:
    path = notebook(
        tmp_path,
        markdown("(eq-label)=\nSome text.\n\n## Heading"),
        code('verify("a", 1, 1, atol=0, rows="FOU-03")'),
        markdown("(in-the-cell-above)="),
        markdown("## Another"),
        code('verify("a", 1, 1, atol=0, rows="FOU-04")', name="next"),
    )
    assert [proof.section.label for proof in read_proofs(path)] == ["", "in-the-cell-above"]
