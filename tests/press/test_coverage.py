"""The book owes its sources 530 claims and 107 corrections, and claims of its own: all proved."""

import random
import re
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import nbformat
import pytest
from written import BOOK, CHAPTERS

from press.audit.coverage import (
    gaps,
    notebook_of,
    proofs_in,
    proofs_of,
    read_entries,
    read_errata,
    read_rows,
)
from press.audit.proofs import Proof
from press.registry import read_book

NAMES = read_book(BOOK).names
ROWS_OF_SUBJECT = {
    "STAT": 46, "REG": 26, "OPT": 44, "NET": 59, "LM": 40, "REC": 49, "ATT": 37, "POS": 24,
    "TRF": 34, "BEY": 29, "INF": 21, "PRE": 27, "SCA": 30, "FT": 27, "ALN": 20, "FOU": 17,
}  # fmt: skip


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """Copy what coverage reads, to break it."""
    shutil.copytree(BOOK / "chapters", tmp_path / "chapters")
    return tmp_path


def test_every_row_is_there_once() -> None:
    rows = [row.id for row in read_rows(BOOK) if not row.own]
    expected = [f"{name}-{n:02d}" for name, k in ROWS_OF_SUBJECT.items() for n in range(1, k + 1)]
    assert sorted(rows) == sorted(expected), "the sources are read: no row of theirs comes or goes"
    assert len(rows) == 530


def test_the_books_own_rows_are_counted_from_one_a_subject_for_each_chapter() -> None:
    own = [row for row in read_rows(BOOK) if row.own]
    subjects = {row.chapter: row.id.partition("-")[0] for row in own}
    assert len({*subjects.values()}) == len(subjects), f"two chapters share a subject: {subjects}"
    for chapter, subject in subjects.items():
        found = [row.id for row in own if row.chapter == chapter]
        expected = [f"{subject}-{n:02d}" for n in range(1, len(found) + 1)]
        assert found == expected, (
            f"{chapter}: its rows of coverage.csv are called {subject}-01, {subject}-02, …, in "
            f"order and without a gap; instead of {sorted({*expected} - {*found})} there are "
            f"{sorted({*found} - {*expected})}"
        )


def test_a_row_with_a_bare_comma_is_named(copy: Path) -> None:
    rows = copy / "chapters/appendix/coverage.csv"
    text = rows.read_text(encoding="utf-8")
    line = text.splitlines()[1]
    rows.write_text(text.replace(line, line.replace('"', "")), encoding="utf-8")
    with pytest.raises(ValueError, match="line 2, STAT-01: it has 8 fields, not 6; a field with"):
        read_rows(copy)
    rows.write_text(text.replace("chapter,item", "chapter,claim"), encoding="utf-8")
    with pytest.raises(ValueError, match="the first line must read id,chapter,item,source"):
        read_rows(copy)


def test_a_chapter_owes_its_sources_or_itself() -> None:
    """Rows of the book's own stand in chapters that the sources do not have."""
    for chapter in NAMES:
        assert len({row.own for row in read_rows(BOOK) if row.chapter == chapter}) <= 1, chapter


def test_every_erratum_is_there_once_in_order() -> None:
    assert [erratum.id for erratum in read_errata(BOOK)] == [f"ERR-{n:02d}" for n in range(1, 108)]


def test_the_data_is_complete_and_names_chapters_and_sources() -> None:
    for row in read_rows(BOOK):
        assert all(vars(row).values()), row
        assert row.chapter in NAMES, row
        assert re.match(r"S[0-4]\b|this book(; |$)", row.source), row
    for erratum in read_errata(BOOK):
        assert all(vars(erratum).values()), erratum
        assert erratum.chapter in NAMES, erratum
        assert erratum.kind in {"wrong", "imprecise", "contradiction"}, erratum
        assert re.match(r"S[0-4]\b", erratum.where), erratum


def test_an_erratum_belongs_to_a_chapter_whose_rows_name_it() -> None:
    named = {
        (erratum, row.chapter)
        for row in read_rows(BOOK)
        for erratum in re.findall(r"ERR-\d+", row.item + row.check)
    }
    for erratum in read_errata(BOOK):
        homes = {chapter for name, chapter in named if name == erratum.id}
        assert not homes or erratum.chapter in homes, erratum


def test_written_chapters_owe_nothing() -> None:
    assert gaps(BOOK) == []


def test_positions_and_fourier_prove_their_41_rows_and_9_errata() -> None:
    chapters = {"08-positions", "16-fourier"}
    owed = {entry.id for entry in read_entries(BOOK) if entry.chapter in chapters}
    assert Counter(name.split("-")[0] for name in owed) == {"POS": 24, "FOU": 17, "ERR": 9}
    proved = proofs_of(BOOK, sorted(chapters))
    assert owed <= proved.keys()
    assert all(proof.holds and proof.section.label for proof in proved.values())


def edit(path: Path, cell_id: str, change: Callable[[nbformat.NotebookNode], object]) -> None:
    """Change one cell of a notebook."""
    notebook = nbformat.read(path, as_version=4)
    change(next(cell for cell in notebook.cells if cell.id == cell_id))
    nbformat.write(notebook, path)


def place_of(copy: Path, proof: Proof) -> Path:
    return copy / "chapters" / f"{proof.document}.ipynb"


def drawn(copy: Path, chapter: str, seed: int = 0) -> Proof:
    return random.Random(f"{chapter} {seed}").choice(proofs_in(copy, chapter))


@pytest.mark.parametrize("seed", range(4))
def test_a_removed_check_is_noticed(copy: Path, seed: int) -> None:
    chapter = random.Random(seed).choice(CHAPTERS)
    row = drawn(copy, chapter, seed).row
    cells = []
    for proof in proofs_in(copy, chapter):
        if proof.row == row:
            cells.append(f"{proof.document}, cell {proof.cell}")
            edit(place_of(copy, proof), proof.cell, lambda cell: cell.metadata.pop("proves"))
    complaint = f"{row}: no check in {chapter} proves it; without `proves` are "
    (found,) = [sentence for sentence in gaps(copy) if sentence.startswith(complaint)]
    assert all(cell in found for cell in cells), found


def test_renamed_checks_and_those_without_their_output_are_noticed(copy: Path) -> None:
    proofs = [drawn(copy, chapter) for chapter in CHAPTERS]
    complaints = {
        f"{proof.row}: a check named for it has no ✓ in the stored output "
        f"({proof.document}, cell {proof.cell})"
        for proof in proofs
    }
    before = {place_of(copy, proof): place_of(copy, proof).read_bytes() for proof in proofs}

    def rename(cell: nbformat.NotebookNode) -> None:
        for output in cell.outputs:
            output.text = output.text.replace("✓ ", "✓ another ")

    def clear(cell: nbformat.NotebookNode) -> None:
        cell.outputs.clear()

    for change in (rename, clear):
        assert not complaints.intersection(gaps(copy))
        for proof in proofs:
            edit(place_of(copy, proof), proof.cell, change)
        assert complaints <= set(gaps(copy))
        for path, whole in before.items():
            path.write_bytes(whole)


def test_unknown_rows_and_lost_labels_are_noticed(copy: Path) -> None:
    proofs = {chapter: proofs_in(copy, chapter)[0] for chapter in CHAPTERS}

    def claim_more(cell: nbformat.NotebookNode) -> None:
        cell.metadata["proves"]["FOU-99"] = ["one"]

    for chapter, proof in proofs.items():
        path = notebook_of(copy, chapter)
        edit(path, proof.cell, claim_more)
        notebook = nbformat.read(path, as_version=4)
        for cell in notebook.cells:
            if cell.cell_type == "markdown":
                cell.source = re.sub(r"^\(.*\)=$", "", cell.source, flags=re.MULTILINE)
        nbformat.write(notebook, path)
    complaints = gaps(copy)
    for chapter, proof in proofs.items():
        assert f"FOU-99: no such row or erratum ({chapter}, cell {proof.cell})" in complaints
        assert any(re.match(f"{proof.row}: the section .* has no label", c) for c in complaints)
