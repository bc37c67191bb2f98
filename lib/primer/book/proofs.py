"""Read from the notebooks which claims they prove, where, and whether the check was seen to hold.

A check names what it proves by a literal string, ``verify(…, rows="FOU-03 ERR-22")``.  That string,
the section it stands in and the ``✓`` line in the cell's stored output are all the source map, the
list of errata and the coverage test go by: nobody keeps a second list by hand.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import nbformat
from IPython.core.inputtransformer2 import TransformerManager

CHECKS = frozenset({"verify", "verify_between", "verify_that", "verify_raises", "verify_simulated"})
LABEL = re.compile(r"\(([\w.:-]+)\)=\s*")
HEADING = re.compile(r"(#{1,6})\s+(.+)")
FENCE = re.compile(r"`{3,}|~{3,}")
PASSED = re.compile(r"✓ .*\[([A-Z0-9 -]+)\]\s*")


@dataclass(frozen=True)
class Section:
    """A heading of a notebook and the label written above it, ``""`` when there is none."""

    title: str
    label: str


@dataclass(frozen=True)
class Proof:
    """One name in the ``rows`` of one check: the claim, its place, and whether it was seen to hold.

    Attributes
    ----------
    row : str
        A row of the source map or an erratum, for example ``"FOU-03"``.
    document : str
        The chapter, for example ``"16-fourier"``.
    section : Section
        The innermost section with a label that the cell stands in; where no heading above it has
        one, the innermost section.
    cell : str
        The id of the cell.
    holds : bool
        Whether the cell's stored output has a ``✓`` line that ends with this name.
    """

    row: str
    document: str
    section: Section
    cell: str
    holds: bool


def claimed(source: str) -> list[str]:
    """List the names that the checks of a code cell claim to prove, in order.

    Raises
    ------
    ValueError
        When ``rows`` is not a literal string, so that nobody can read it without running the cell.

    Examples
    --------
    >>> claimed('verify("two", 1 + 1, 2, atol=0, rows="FOU-03 ERR-22")')
    ['FOU-03', 'ERR-22']
    >>> claimed('print("FOU-03")')
    []
    """
    names: list[str] = []
    for node in ast.walk(ast.parse(TransformerManager().transform_cell(source))):
        if not (isinstance(node, ast.Call) and _called(node) in CHECKS):
            continue
        for keyword in node.keywords:
            if keyword.arg != "rows":
                continue
            if not (
                isinstance(keyword.value, ast.Constant) and isinstance(keyword.value.value, str)
            ):
                raise ValueError(
                    f"line {node.lineno}: rows must be a literal string such as "
                    f'rows="FOU-03 ERR-22", got {ast.unparse(keyword.value)}'
                )
            names += keyword.value.value.split()
    return names


def _called(call: ast.Call) -> str:
    """Return the last name of what is called: ``verify`` for ``notebook.verify(…)``."""
    function = call.func
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def passed(text: str) -> set[str]:
    """Collect the names at the end of the ``✓`` lines of a printed output.

    Examples
    --------
    >>> sorted(passed("✓ a half: 0.5 = 0.5 (tolerance 0)  [FOU-03 ERR-22]"))
    ['ERR-22', 'FOU-03']
    >>> passed("✗ a half: got 0.4  [FOU-03]")
    set()
    """
    matches = (PASSED.fullmatch(line) for line in text.splitlines())
    return {name for match in matches if match for name in match[1].split()}


def _marks(markdown: str) -> Iterator[tuple[str, str]]:
    """Yield the labels, headings and other lines of a markdown cell, less what is in fences."""
    fence = ""  # the marks that opened the fence we are in
    for line in map(str.strip, markdown.splitlines()):
        if fence:
            if line.startswith(fence) and not line.strip(fence[0]):
                fence = ""
        elif opening := FENCE.match(line):
            fence = opening[0]
        elif not line:
            continue
        elif label := LABEL.fullmatch(line):
            yield "label", label[1]
        elif heading := HEADING.fullmatch(line):
            yield heading[1], heading[2]
        else:
            yield "text", line


def _linked(sections: list[Section]) -> Section:
    """Choose the innermost section that can be linked to."""
    labeled = [section for section in sections if section.label]
    return (labeled or sections or [Section("", "")])[-1]


def read_labels(notebook: Path) -> set[str]:
    """Collect every ``(label)=`` of a notebook."""
    cells = nbformat.read(notebook, as_version=4).cells
    return {
        name
        for cell in cells
        if cell.cell_type == "markdown"
        for kind, name in _marks(cell.source)
        if kind == "label"
    }


def read_proofs(notebook: Path) -> list[Proof]:
    """List what a notebook proves, in the order of its cells.

    Parameters
    ----------
    notebook : Path
        An executed notebook.

    Raises
    ------
    ValueError
        When a check's ``rows`` is not a literal string; the sentence names the cell.
    """
    proofs: list[Proof] = []
    sections: dict[str, Section] = {}  # the headings we are under, from "#" inwards
    label = ""
    for cell in nbformat.read(notebook, as_version=4).cells:
        if cell.cell_type == "markdown":
            for kind, text in _marks(cell.source):
                if kind.startswith("#"):
                    sections = {mark: held for mark, held in sections.items() if mark < kind}
                    sections[kind] = Section(text, label)
                label = text if kind == "label" else ""
        elif cell.cell_type == "code":
            label = ""
            try:
                names = claimed(cell.source)
            except ValueError as error:
                raise ValueError(f"{notebook.name}, cell {cell.id}, {error}") from None
            seen = set[str]().union(
                *(passed(output.text) for output in cell.outputs if output.output_type == "stream")
            )
            section = _linked([*sections.values()])
            proofs += [Proof(name, notebook.stem, section, cell.id, name in seen) for name in names]
    return proofs
