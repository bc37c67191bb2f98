"""The table of topics holds: each row names sections that are there, or why it is left out."""

import re
import shutil
from pathlib import Path

import nbformat
import pytest
from written import BOOK

from press.audit.coverage import notebook_of
from press.audit.topics import LEFT_OUT, STATES, faults_of_topics, read_places, read_topics

TABLE = "chapters/appendix/topics.csv"


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """Copy what the table is held to, to break it."""
    shutil.copytree(BOOK / "chapters", tmp_path / "chapters")
    return tmp_path


def test_every_row_is_borne_out_by_the_notebooks() -> None:
    assert faults_of_topics(BOOK) == []
    topics = read_topics(BOOK)
    assert len(topics) > 150
    assert {topic.status for topic in topics} == set(STATES)


def test_reasons_are_sentences_for_readers() -> None:
    for topic in read_topics(BOOK):
        assert topic.how == topic.how.strip(" ."), topic
        assert not re.search(r"\b(session|helper|issue)\b", topic.how), topic
        if topic.status == LEFT_OUT:
            assert len(topic.how.split()) > 1, topic


@pytest.mark.parametrize(
    ("row", "sentence"),
    [
        ("A,Bare, comma,taught,stat-clt,how", "line 2, Bare: it has 6 fields, not 5; a field with"),
        ("A,Short", "line 2, Short: it has 2 fields, not 5"),
        ("", "line 2, too short: it has 0 fields, not 5"),
        ("A,One,known,stat-clt,how", "One: the status 'known' is unknown; it is one of taught, "),
        ("A,One,taught,,how", "One: what is taught names the label of a section"),
        ("A,One,mentioned,,how", "One: what is mentioned names the label"),
        ("A,One,left out,stat-clt,how", "One: what is left out has no place"),
        ("A,One,left out,,", "One: the last field is empty"),
        (",One,left out,,why", "One: a row names its area and its topic"),
        ("A,One,left out,,why\nB,One,left out,,why", "line 3, One: this topic has a row already"),
    ],
)
def test_a_row_that_is_none_is_refused_in_a_sentence(copy: Path, row: str, sentence: str) -> None:
    (copy / TABLE).write_text(f"area,topic,status,where,how\n{row}\n", encoding="utf-8")
    with pytest.raises(ValueError, match=re.escape(sentence)):
        read_topics(copy)


@pytest.mark.parametrize("text", ["", "area,topic,status,where\nA,One,left out,\n"])
def test_other_columns_are_refused(copy: Path, text: str) -> None:
    (copy / TABLE).write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match="first line must read area,topic,status,where,how"):
        read_topics(copy)


def test_lost_labels_and_lost_checks_are_noticed(copy: Path) -> None:
    path = notebook_of(copy, "11-inference")
    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs = []
        cell.source = cell.source.replace("(inference-beam)=", "(inference-search)=")
    nbformat.write(notebook, path)
    faults = faults_of_topics(copy)
    assert any(fault.endswith("no section has the label inference-beam") for fault in faults)
    assert any(fault.endswith("but no check holds in inference-speculative") for fault in faults)


def test_a_section_has_the_checks_of_its_subsections() -> None:
    places = read_places(BOOK)
    assert places["inference-cache"].chapter == "11-inference"
    assert places["inference-cache"].checks >= places["inference-step"].checks > 0
