"""The plays against another reader of Markdown; what happens when they are not there."""

import hashlib
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from primer import datasets


def test_there_are_38_plays_in_plain_text():
    plays = datasets.plays()
    assert len(plays) == 38
    assert {"Hamlet", "Measure for Measure", "Henry IV, Part 1", "The Tempest"} <= plays.keys()
    for title, text in plays.items():
        assert not re.search(r"[*_#\\<>]|&\w|[ \t]\n|\n\n\n|\r", text), title
        assert text == text.strip() + "\n"
        assert len(text) > 80_000


@pytest.mark.parametrize("name", ["Edward III", "Henry VIII", "The Merry Wives of Windsor"])
def test_paragraphs_are_those_of_a_markdown_parser(name):
    markdown = datasets.plays_in_markdown()[name]
    paragraphs = []
    for block in MarkdownIt().parse(markdown):
        if block.type == "inline":
            parts = [" " if "break" in part.type else part.content for part in block.children]
            # some marks of the files have no partner and are words to a parser
            paragraphs.append(" ".join("".join(parts).replace("_", "").split()))
    ours = [" ".join(part.split()) for part in datasets.plain_text(markdown).split("\n\n")]
    assert ours == paragraphs


@pytest.fixture
def another_file(monkeypatch, tmp_path):
    """The plays' file, elsewhere, and nothing read of it yet."""
    monkeypatch.setattr(datasets, "FILE", tmp_path / datasets.FILE.name)
    datasets._files.cache_clear()
    yield datasets.FILE
    datasets._files.cache_clear()


def test_without_the_file_the_message_says_what_to_do(another_file):
    with pytest.raises(FileNotFoundError, match=r"no such file: install the library anew"):
        datasets.plays()


@pytest.mark.parametrize(
    "change", [lambda whole: whole[:-1], lambda whole: b"", lambda _: b"plays"]
)
def test_a_file_that_was_changed_is_refused(another_file, change):
    whole = (Path(datasets.__file__).parent / another_file.name).read_bytes()
    another_file.write_bytes(change(whole))
    with pytest.raises(ValueError, match="not the file that the book was made with"):
        datasets.plays()


def test_the_split_is_by_play():
    training, validation = datasets.split_plays()
    assert len(training) == 34
    assert tuple(validation) == datasets.VALIDATION_PLAYS
    assert training | validation == datasets.plays()
    held_out = sum(map(len, validation.values()))
    assert held_out / (held_out + sum(map(len, training.values()))) == pytest.approx(
        0.09, abs=0.005
    )


def test_the_text_is_what_the_committed_model_was_trained_on():
    training, _ = datasets.split_plays()
    assert datasets.corpus_hash(training).startswith("a452ac8e048b706d")


def test_the_hash_is_sha256_of_lengths_and_contents():
    stream = b"\0\0\0\0\0\0\0\1a" + b"\0\0\0\0\0\0\0\2\xc3\xa9"
    assert datasets.corpus_hash({"a": "é"}) == hashlib.sha256(stream).hexdigest()


corpora = st.dictionaries(st.text("ab", max_size=3), st.text("ab", max_size=3), max_size=3)


@given(corpora, corpora)
def test_different_corpora_have_different_hashes(one, other):
    same = list(one.items()) == list(other.items())
    assert (datasets.corpus_hash(one) == datasets.corpus_hash(other)) == same
