"""The book owes its sources 530 claims and 107 corrections: what is listed as written is proved."""

import random
import re
import shutil
from collections import Counter
from pathlib import Path

import nbformat
import pytest

from primer.book.coverage import (
    CHAPTERS,
    gaps,
    listed_chapters,
    notebook_of,
    proofs_of,
    read_entries,
    read_errata,
    read_rows,
)
from primer.book.proofs import claimed, read_proofs

BOOK = Path(__file__).parents[1]
ROWS_OF_SUBJECT = {
    "STAT": 46, "REG": 26, "OPT": 44, "NET": 59, "LM": 40, "REC": 49, "ATT": 37, "POS": 24,
    "TRF": 34, "BEY": 29, "INF": 21, "PRE": 27, "SCA": 30, "FT": 27, "ALN": 20, "FOU": 17,
}  # fmt: skip


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """Copy what coverage reads, to break it."""
    shutil.copytree(BOOK / "chapters", tmp_path / "chapters")
    shutil.copy(BOOK / "_toc.yml", tmp_path)
    return tmp_path


def test_every_row_is_there_once() -> None:
    ids = [row.id for row in read_rows(BOOK)]
    expected = [
        f"{name}-{n:02d}" for name, count in ROWS_OF_SUBJECT.items() for n in range(1, count + 1)
    ]
    assert sorted(ids) == sorted(expected)
    assert len(ids) == 530


def test_every_erratum_is_there_once_in_order() -> None:
    assert [erratum.id for erratum in read_errata(BOOK)] == [f"ERR-{n:02d}" for n in range(1, 108)]


def test_the_data_is_complete_and_names_chapters_and_sources() -> None:
    for row in read_rows(BOOK):
        assert all(vars(row).values()), row
        assert row.chapter in CHAPTERS, row
        assert re.match(r"S[0-4]\b", row.source), row
    for erratum in read_errata(BOOK):
        assert all(vars(erratum).values()), erratum
        assert erratum.chapter in CHAPTERS, erratum
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


def test_chapters_listed_in_the_table_of_contents_owe_nothing() -> None:
    assert gaps(BOOK) == []


def test_positions_and_fourier_prove_their_41_rows_and_9_errata() -> None:
    chapters = {"08-positions", "16-fourier"}
    owed = {entry.id for entry in read_entries(BOOK) if entry.chapter in chapters}
    assert Counter(name.split("-")[0] for name in owed) == {"POS": 24, "FOU": 17, "ERR": 9}
    proved = proofs_of(BOOK, sorted(chapters))
    assert owed <= proved.keys()
    assert all(proof.holds and proof.section.label for proof in proved.values())


@pytest.mark.parametrize("seed", range(4))
def test_a_removed_check_is_noticed(copy: Path, seed: int) -> None:
    chance = random.Random(seed)
    chapter = chance.choice(listed_chapters(copy))
    own = [entry.id for entry in read_entries(copy) if entry.chapter == chapter]
    row = chance.choice(own)
    path = notebook_of(copy, chapter)
    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        if cell.cell_type == "code" and row in claimed(cell.source):
            cell.source, cell.outputs = "pass", []
    nbformat.write(notebook, path)
    assert f"{row}: no check in {chapter} proves it" in gaps(copy)


@pytest.mark.parametrize("chapter", listed_chapters(BOOK))
def test_a_check_without_its_output_is_noticed(copy: Path, chapter: str) -> None:
    path = notebook_of(copy, chapter)
    proof = random.Random(chapter).choice(read_proofs(path))
    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        if cell.id == proof.cell:
            cell.outputs = []
    nbformat.write(notebook, path)
    complaint = f"{proof.row}: no ✓ line in the stored output ({chapter}, cell {proof.cell})"
    assert complaint in gaps(copy)


@pytest.mark.parametrize("chapter", listed_chapters(BOOK))
def test_an_unknown_row_a_lost_label_and_a_lost_box_are_noticed(copy: Path, chapter: str) -> None:
    path = notebook_of(copy, chapter)
    proof = read_proofs(path)[0]
    erratum = next(erratum for erratum in read_errata(copy) if erratum.chapter == chapter)
    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            cell.source = re.sub(r"^\(.*\)=$", "", cell.source, flags=re.MULTILINE)
        elif cell.id == proof.cell:
            cell.source += '\nverify_that("no such row", True, rows="FOU-99")'
    nbformat.write(notebook, path)
    place = f"({chapter}, cell {proof.cell})"
    complaints = gaps(copy)
    assert f"FOU-99: no such row or erratum {place}" in complaints
    assert any(re.match(f"{proof.row}: the section .* has no label", text) for text in complaints)
    assert f"{erratum.id}: no box ({erratum.id.lower()})= in {chapter}" in complaints
