"""What a notebook proves is read from its cells: metadata, sections, labels and outputs."""

from pathlib import Path

import nbformat
import pytest

from press.audit.form import held_checks, holds
from press.audit.proofs import Proof, read_proofs
from press.pages.headings import Section
from primer.notebook import verify, verify_between, verify_raises, verify_that


def notebook(folder: Path, *cells: nbformat.NotebookNode) -> Path:
    path = folder / "16-fourier.ipynb"
    nbformat.write(nbformat.v4.new_notebook(cells=list(cells)), path)
    return path


def markdown(text: str) -> nbformat.NotebookNode:
    return nbformat.v4.new_markdown_cell(text)


def check(
    proves: dict[str, list[str]], printed: str = "", name: str = "check"
) -> nbformat.NotebookNode:
    outputs = [nbformat.v4.new_output("stream", text=printed)] if printed else []
    metadata = {"tags": ["check"], "proves": proves}
    return nbformat.v4.new_code_cell("verify()", id=name, outputs=outputs, metadata=metadata)


def test_the_lines_of_every_kind_of_check_are_found(capsys: pytest.CaptureFixture[str]) -> None:
    verify("a: with a colon", [1.0, 2.0], [1.0, 2.0], atol=0)
    verify_between("b", 1, 0, 2)
    verify_between("b, measured", 1, 0, 2, machine=True)
    verify_that("c", True)
    verify_raises("d", ValueError, lambda: int("x"))
    output = nbformat.v4.new_output("stream", text=capsys.readouterr().out)
    lines = held_checks(nbformat.v4.new_code_cell("", outputs=[output]))
    assert len(lines) == 5
    assert all(holds(name, lines) for name in ["a: with a colon", "b", "b, measured", "c", "d"])
    assert not holds("e", lines)
    assert not holds("b, meas", lines)  # a name is whole
    assert not holds("", lines)


def test_place_and_result_of_a_proof(tmp_path: Path) -> None:
    path = notebook(
        tmp_path,
        markdown("(fourier)=\n# Fourier\n\nText.\n\n(fourier-dft)=\n\n## The DFT $W_N$"),
        check(
            {"FOU-03": ["a"], "FOU-04": ["a", "b"], "FOU-06": []},
            "✓ a: 1 = 1 (tolerance 0)\n✗ b: got 2\n",
            "dft",
        ),
        markdown("## No label\n\n```python\n(inside-a-fence)=\n# Not a heading\n```"),
        check({"FOU-05": ["b"]}, "", "other"),
    )
    dft, fourier = Section("The DFT $W_N$", "fourier-dft"), Section("Fourier", "fourier")
    assert read_proofs(path, "16-fourier") == [
        Proof("FOU-03", "16-fourier", dft, "dft", True),
        Proof("FOU-04", "16-fourier", dft, "dft", False),
        Proof("FOU-06", "16-fourier", dft, "dft", False),
        Proof("FOU-05", "16-fourier", fourier, "other", False),
    ]


def test_a_cell_is_linked_by_the_innermost_label_above_it(tmp_path: Path) -> None:
    path = notebook(
        tmp_path,
        markdown("# Fourier\n\n(windows)=\n## Windows\n\n### Without a label"),
        check({"FOU-03": ["a"]}, name="inner"),
        markdown("## Another\n\n(hann)=\n### Hann"),
        check({"FOU-04": ["a"]}, name="hann"),
        markdown("## A third"),
        check({"FOU-05": ["a"]}, name="outer"),
    )
    assert [proof.section for proof in read_proofs(path, "x")] == [
        Section("Windows", "windows"),
        Section("Hann", "hann"),
        Section("A third", ""),
    ]


def test_a_label_belongs_to_the_heading_right_below_it(tmp_path: Path) -> None:
    path = notebook(
        tmp_path,
        markdown("(eq-label)=\nSome text.\n\n## Heading"),
        check({"FOU-03": ["a"]}),
        markdown("(in-the-cell-above)="),
        markdown("## Another"),
        check({"FOU-04": ["a"]}, name="next"),
    )
    labels = [proof.section.label for proof in read_proofs(path, "x")]
    assert labels == ["", "in-the-cell-above"]
